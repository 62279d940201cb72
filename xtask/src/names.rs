//! Public type names, each of which stands for one thing in the whole workspace.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// Where the sources of the workspace lie.
const ROOTS: [&str; 5] = ["bench", "crates", "examples", "fuzz", "xtask"];

/// Names that a module path makes plain, so that many modules may have one.
const SHARED: [&str; 3] = ["Error", "Filter", "Result"];

/// The public types of the workspace by their names, with the places that define them.
#[derive(Default)]
struct Definitions(BTreeMap<String, Vec<String>>);

/// Fails with a list of the public type names that are defined more than once.
pub(crate) fn check() -> Result<(), String> {
    let mut definitions = Definitions::default();
    for root in ROOTS {
        for file in sources(Path::new(root))? {
            let text = fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            definitions.add(&file, &text);
        }
    }
    let repeated = definitions.repeated();
    if repeated.is_empty() {
        return Ok(());
    }
    let mut message = "a public type name stands for one thing; say of what these are:".to_owned();
    for (name, places) in repeated {
        write!(message, "\n  {name}").expect("a string takes all that is written");
        for place in places {
            write!(message, "\n    {place}").expect("a string takes all that is written");
        }
    }
    Err(message)
}

impl Definitions {
    /// Adds what a file defines.
    fn add(&mut self, file: &Path, text: &str) {
        for (index, line) in text.lines().enumerate() {
            if let Some(name) = public_type(line) {
                let place = format!("{}:{}", file.display(), index + 1);
                self.0.entry(name.to_owned()).or_default().push(place);
            }
        }
    }

    /// Returns the names that are defined more than once and may not be.
    fn repeated(&self) -> Vec<(&str, &[String])> {
        self.0
            .iter()
            .filter(|(name, places)| places.len() > 1 && !SHARED.contains(&name.as_str()))
            .map(|(name, places)| (name.as_str(), places.as_slice()))
            .collect()
    }
}

/// Returns the name of the public type that a line begins to define.
///
/// A formatted source has each definition at the beginning of a line, so no parser is needed.
fn public_type(line: &str) -> Option<&str> {
    let (keyword, rest) = line.trim_start().strip_prefix("pub ")?.split_once(' ')?;
    if !matches!(keyword, "struct" | "enum" | "trait" | "type" | "union") {
        return None;
    }
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    // A macro's `$name` is named where the macro is used.
    (end > 0).then(|| &rest[..end])
}

/// Returns the Rust files under a folder in the order of their paths, without what was built.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = folder.read_dir().map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            if !path.ends_with("target") {
                files.extend(sources(&path)?);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_types_of_every_kind_are_seen_at_any_depth() {
        let named: Vec<Option<&str>> = [
            "pub struct Commit {",
            "    pub enum Kind<'a> {",
            "pub trait Codec: Sync {",
            "pub type Pairs = Vec<(u8, u8)>;",
            "pub struct Id(u64);",
        ]
        .map(public_type)
        .into();
        assert_eq!(named, ["Commit", "Kind", "Codec", "Pairs", "Id"].map(Some));
    }

    #[test]
    fn what_is_not_public_or_not_a_type_is_passed_over() {
        for line in [
            "struct Commit;",
            "pub(crate) struct Commit;",
            "pub fn commit() {",
            "// pub struct Commit;",
            "pub struct $name;",
        ] {
            assert_eq!(public_type(line), None, "{line}");
        }
    }

    #[test]
    fn a_name_defined_twice_is_listed_with_its_places() {
        let mut definitions = Definitions::default();
        definitions.add(Path::new("a.rs"), "pub struct Place;\npub enum Error {}\n");
        definitions.add(Path::new("b.rs"), "pub enum Error {}\npub struct Other;\npub type Place = u8;\n");
        let places = ["a.rs:1".to_owned(), "b.rs:3".to_owned()];
        assert_eq!(definitions.repeated(), [("Place", &places[..])]);
    }
}
