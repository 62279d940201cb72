//! The user's configuration, `config.toml` where the user keeps settings.

use std::path::Path;

use contexture_capture::CheckpointInterval;
use serde::Deserialize;

use crate::{
    error::{Error, Result},
    private_file::PrivateFile,
};

/// What the file is called.
pub(crate) const FILE: &str = "config.toml";

/// What it may say. It has no text form, because it may hold a password.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Configuration {
    /// Where the store is, when nobody says.
    pub(crate) store: Option<String>,
    /// How live capture works.
    #[serde(default)]
    pub(crate) capture: CaptureSettings,
}

/// What the file may say of live capture.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaptureSettings {
    /// How often sessions are captured.
    pub(crate) every: Option<CheckpointInterval>,
}

/// The table of the file that is about capture.
const CAPTURE: &str = "[capture]";
/// The setting in it that says how often.
const EVERY: &str = "every";

impl Configuration {
    /// Returns the text of the file with another interval in it, or without one. All else stays as it is; nothing is
    /// returned where the file says it in another way than line by line.
    pub(crate) fn with_interval(text: &str, every: Option<CheckpointInterval>) -> Option<String> {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let header = lines.iter().position(|line| line.trim() == CAPTURE);
        let first = header.map_or(lines.len(), |header| header + 1);
        let is_header = |line: &String| line.trim_start().starts_with('[');
        let end = lines[first..].iter().position(is_header).map_or(lines.len(), |end| first + end);
        let says = |line: &String| {
            line.trim_start().strip_prefix(EVERY).is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        let place = lines[first..end].iter().position(says).map(|at| first + at);
        match (every.map(|every| format!("{EVERY} = \"{every}\"")), place, header) {
            (Some(line), Some(place), _) => lines[place] = line,
            (Some(line), None, Some(header)) => lines.insert(header + 1, line),
            (Some(line), None, None) => {
                if !lines.is_empty() {
                    lines.push(String::new());
                }
                lines.extend([CAPTURE.to_owned(), line]);
            }
            (None, Some(place), Some(header)) => {
                lines.remove(place);
                if lines[first..end - 1].iter().all(|line| line.trim().is_empty()) {
                    lines.drain(header..end - 1);
                }
                while lines.last().is_some_and(|line| line.trim().is_empty()) {
                    lines.pop();
                }
            }
            (None, _, _) => return Some(text.to_owned()),
        }
        let after: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        let read: Self = toml::from_str(&after).ok()?;
        (read.capture.every == every).then_some(after)
    }

    /// Reads the file in a directory. Where there is none, nothing is said.
    pub(crate) fn read(directory: &Path) -> Result<Option<(PrivateFile, Self)>> {
        let path = directory.join(FILE);
        let Some((file, text)) = PrivateFile::read(&path)? else { return Ok(None) };
        // What the parser says may hold a part of the file.
        let wrong = |error: toml::de::Error| {
            let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            Error::Configuration { path: path.clone(), line }
        };
        let configuration = toml::from_str(&text).map_err(wrong)?;
        file.demand_authorship()?;
        Ok(Some((file, configuration)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, every: &str) -> Option<String> {
        Configuration::with_interval(text, every.parse().ok())
    }

    #[test]
    fn an_interval_is_set_where_it_stands_and_taken_out_again() {
        assert_eq!(with("", "turn").unwrap(), "[capture]\nevery = \"turn\"\n");
        let store = "# mine\nstore = \"/srv/store\"\n";
        let set = with(store, "5 turns").unwrap();
        assert_eq!(set, "# mine\nstore = \"/srv/store\"\n\n[capture]\nevery = \"5 turns\"\n");
        assert_eq!(with(&set, "turn").unwrap(), set.replace("5 turns", "turn"));
        assert_eq!(with(&set, "").unwrap(), store, "what was added goes");
        assert_eq!(with(store, "").unwrap(), store);
        assert_eq!(with("[capture]\n", "call").unwrap(), "[capture]\nevery = \"call\"\n");
        // What says it in another way is the user's to change.
        assert_eq!(with("capture = { every = \"turn\" }\n", "call"), None);
        assert_eq!(with("capture.every = \"turn\"\n", ""), Some("capture.every = \"turn\"\n".to_owned()));
    }
}
