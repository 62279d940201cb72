//! Takes out of transcripts what belongs to the machine or to the vendors.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Our own texts are shorter; what is longer are the vendors' prompts.
const LONGEST_TEXT: usize = 1500;

/// Lines in which Claude Code repeats the prompts, and how long a text may be there.
const PROMPTS: [&str; 3] = ["\"type\":\"prompt_snapshot\"", "\"type\":\"api-request-", "_listing"];
const LONGEST_PROMPT: usize = 120;

/// What has to go.
pub(crate) struct Tidy {
    /// What stands for it instead, which is mostly nothing.
    replacements: Vec<(String, &'static str)>,
}

impl Tidy {
    /// Makes paths in a workplace start at the root of the file system.
    pub(crate) fn of(workplace: &Path) -> Self {
        let path = workplace.to_str().expect("the path is UTF-8").to_owned();
        // Clients name directories after the project's path.
        let slug = path.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        let kernel = Command::new("uname").arg("-r").output().expect("there is a uname").stdout;
        let kernel = String::from_utf8(kernel).expect("a version is UTF-8").trim().to_owned();
        Self { replacements: vec![(path, ""), (slug, ""), (kernel, "6.1.0")] }
    }

    /// Tidies the path of a file.
    pub(crate) fn name(&self, path: &Path) -> PathBuf {
        self.replace(path.to_str().expect("a transcript's path is UTF-8")).into()
    }

    /// Tidies the content of a file. What is JSON stays JSON.
    pub(crate) fn text(&self, text: &str) -> String {
        let lines = self.replace(text);
        lines.split_inclusive('\n').map(without_long_texts).collect()
    }

    fn replace(&self, text: &str) -> String {
        self.replacements.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}

/// Cuts the long strings of a line of JSON, and leaves every other byte as it is.
fn without_long_texts(line: &str) -> String {
    let is_prompt = PROMPTS.iter().any(|kind| line.contains(kind));
    let longest = if is_prompt { LONGEST_PROMPT } else { LONGEST_TEXT };
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(opening) = rest.find('"') {
        let (before, string) = rest.split_at(opening + 1);
        let Some(closing) = closing_quote(string) else { break };
        kept.push_str(before);
        kept.push_str(&shortened(&string[..closing], longest));
        kept.push('"');
        rest = &string[closing + 1..];
    }
    kept + rest
}

fn closing_quote(string: &str) -> Option<usize> {
    let mut escaped = false;
    string.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })
}

fn shortened(string: &str, longest: usize) -> String {
    if string.len() <= longest {
        return string.to_owned();
    }
    // A space is never part of an escape sequence.
    let start = &string[..string.floor_char_boundary(longest)];
    start.rfind(' ').map_or_else(|| string.to_owned(), |end| format!("{}… [cut]", &start[..end]))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_long_text_is_cut_and_the_rest_of_the_line_stays() {
        let text = r#"A \"word\" ü \\ "#.repeat(500);
        let cut = without_long_texts(&format!(r#"{{"a": 1.0, "b" :"{text}","c":"\\"}}"#));
        let parsed: Value = serde_json::from_str(&cut).unwrap();
        assert!(cut.len() < 2 * LONGEST_TEXT);
        assert!(parsed["b"].as_str().is_some_and(|text| text.ends_with("… [cut]")));
        assert!(cut.starts_with(r#"{"a": 1.0, "b" :"A \"word\""#) && cut.ends_with(r#"","c":"\\"}"#), "{cut}");
    }

    #[test]
    fn the_directory_of_the_machine_is_gone_from_paths_and_names() {
        let tidy = Tidy::of(Path::new("/tmp/ctx-Ab1"));
        assert_eq!(tidy.text(r#"{"cwd":"/tmp/ctx-Ab1/home/ada"}"#), r#"{"cwd":"/home/ada"}"#);
        assert_eq!(tidy.name(Path::new("-tmp-ctx-Ab1-home-ada/a.jsonl")), Path::new("-home-ada/a.jsonl"));
    }
}
