//! Where Gemini CLI keeps what belongs to a directory.

use std::path::{Path, PathBuf};

use contexture::read_found;
use serde_json::Value;

/// The file in such a place that names the directory.
pub(super) const MARKER: &str = ".project_root";

/// Directories between a session and what it keeps for the directory of the session, at most.
const MAX_DEPTH: usize = 3;

/// Returns the directory that a session was made in.
pub(super) fn noted(session: &Path) -> Option<String> {
    let mut places = session.ancestors().skip(1).take(MAX_DEPTH);
    let root = places.find_map(|place| read_found(&place.join(MARKER)).ok())?;
    let root = std::str::from_utf8(root.trim_ascii()).ok()?;
    Path::new(root).is_absolute().then(|| root.to_owned())
}

/// Returns where it keeps what belongs to a directory: where it says, or a place of that name that is free.
pub(super) fn place(home: &Path, directory: &str) -> PathBuf {
    let places = home.join("tmp");
    let registry = read_found(&home.join("projects.json")).unwrap_or_default();
    let registry: Value = serde_json::from_slice(&registry).unwrap_or_default();
    if let Some(slug) = registry["projects"][directory].as_str() {
        return places.join(slug);
    }
    let base = Path::new(directory).file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let slug = base.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let slug = slug.trim_matches('-');
    let slug = if slug.is_empty() { "project" } else { slug };
    let taken = |slug: &str| registry["projects"].as_object().is_some_and(|all| all.values().any(|name| name == slug));
    let is_own = |place: &Path| match read_found(&place.join(MARKER)) {
        Ok(root) => root.trim_ascii() == directory.as_bytes(),
        Err(_) => !place.exists(),
    };
    let names = std::iter::once(slug.to_owned()).chain((1..1000).map(|number| format!("{slug}-{number}")));
    let free = names.map(|name| (places.join(&name), name)).find(|(place, name)| !taken(name) && is_own(place));
    free.map_or_else(|| places.join(slug), |(place, _)| place)
}
