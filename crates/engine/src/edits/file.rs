//! Which paths in tool calls name a file.

use contexture_store::search::Query;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file whose edits are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedFile {
    /// Where it lies, as absolute paths: one for each working tree of its repository.
    pub places: Vec<String>,
    /// Its path in the repository, or its name when it is in none.
    pub inside: String,
}

/// How sure it is that a path names the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Nearness {
    /// It is the file.
    Same,
    /// It ends like the file's: the same file in another copy of the repository, or one that is called the same.
    Alike,
    /// It is another file: the text was moved or copied from there.
    Elsewhere,
}

impl TracedFile {
    /// Returns the words of its name, as searches take them.
    pub(super) fn query(&self) -> Option<Query> {
        let name = components(&self.inside).pop()?.replace('"', " ");
        format!("\"{name}\"").parse().ok()
    }

    /// Tells whether a path ends with the file's name.
    pub(super) fn may_be(&self, path: &str) -> bool {
        components(path).last() == components(&self.inside).last()
    }

    /// Compares a path that a call names with the file's. A relative one is relative to a directory, if that is known.
    ///
    /// In a chain of which it is known that it made the file, one name in common is enough.
    pub(super) fn nearness(&self, path: &str, directory: Option<&str>, is_chain: bool) -> Option<Nearness> {
        let is_absolute = path.starts_with('/');
        let placed = match directory {
            Some(directory) if !is_absolute => format!("{directory}/{path}"),
            Some(_) | None => path.to_owned(),
        };
        let (named, whole) = (components(path), components(&placed));
        let places: Vec<_> = self.places.iter().map(|place| components(place)).collect();
        if (is_absolute || directory.is_some()) && places.contains(&whole) {
            return Some(Nearness::Same);
        }
        let inside = components(&self.inside);
        let is_alike = if is_absolute {
            whole.ends_with(&inside) && (is_chain || inside.len() > 1)
        } else {
            places.iter().any(|place| place.ends_with(&named)) && (is_chain || named.len() > 1)
        };
        is_alike.then_some(Nearness::Alike)
    }
}

/// Returns the names that a path is made of, without those that lead nowhere.
fn components(path: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_compared_name_by_name() {
        let file = TracedFile { places: vec!["/w/src/a.rs".into(), "/t/src/a.rs".into()], inside: "src/a.rs".into() };
        let (same, alike) = (Some(Nearness::Same), Some(Nearness::Alike));
        for (path, directory, in_space, in_chain) in [
            ("/w/src/a.rs", None, same, same),
            ("/w/./lib/../src/a.rs", None, same, same),
            ("/t/src/a.rs", Some("/w"), same, same),
            ("src/a.rs", Some("/w"), same, same),
            ("a.rs", Some("/w/src/"), same, same),
            ("src/a.rs", None, alike, alike),
            ("src/a.rs", Some("/elsewhere"), alike, alike),
            ("/x/src/a.rs", None, alike, alike),
            ("a.rs", None, None, alike),
            ("/x/lib/a.rs", None, None, None),
            ("/x/other-src/a.rs", None, None, None),
            ("lib/a.rs", Some("/w"), None, None),
        ] {
            let found = [false, true].map(|is_chain| file.nearness(path, directory, is_chain));
            assert_eq!(found, [in_space, in_chain], "{path} in {directory:?}");
        }
        assert!(file.may_be("x/a.rs") && !file.may_be("x/aa.rs"));
    }
}
