//! What of Codex's settings its sessions name.
//!
//! It refuses a session that names another provider of models than the one it is to use, and one that names none.

use std::{collections::HashMap, ffi::OsString, path::Path};

use contexture::read_found;
use serde::Deserialize;

use crate::runtime::arguments;

#[derive(Default, Deserialize)]
#[serde(default)]
struct CodexSettings {
    model_provider: Option<String>,
    profile: Option<String>,
    profiles: HashMap<String, CodexProfile>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CodexProfile {
    model_provider: Option<String>,
}

/// Returns who serves the models: as the arguments say, or the chosen profile, or the settings for all.
pub(super) fn provider(home: &Path, arguments: &[OsString]) -> Option<String> {
    let settings = read_found(&home.join("config.toml")).unwrap_or_default();
    of(&settings, arguments)
}

fn of(settings: &[u8], arguments: &[OsString]) -> Option<String> {
    // Settings that Codex cannot read either are none.
    let CodexSettings { model_provider, profile, mut profiles } = toml::from_slice(settings).unwrap_or_default();
    let last = |names: &[&str]| arguments::values(arguments, names).pop();
    let given = arguments::values(arguments, &["-c", "--config"]).into_iter().rev().find_map(|setting| {
        let (name, value) = setting.split_once('=')?;
        (name.trim() == "model_provider").then(|| value.trim().trim_matches(['"', '\'']).to_owned())
    });
    let profile = last(&["-p", "--profile"]).or(profile);
    let chosen = || profile.and_then(|profile| profiles.remove(&profile)?.model_provider);
    let provider = given.or_else(|| last(&["--local-provider"])).or_else(chosen).or(model_provider);
    provider.filter(|provider| !provider.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_on_the_provider_counts() {
        let provider = |settings: &str, words: &str| {
            let arguments: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
            of(settings.as_bytes(), &arguments)
        };
        let one = "model_provider = \"azure\"\n";
        let profiled =
            format!("{one}profile = \"work\"\n[profiles.work]\nmodel_provider = \"gateway\"\n[profiles.home]\n");
        assert_eq!(provider("model = \"o3\"", ""), None);
        assert_eq!(provider(one, "").as_deref(), Some("azure"));
        assert_eq!(provider(&profiled, "").as_deref(), Some("gateway"));
        assert_eq!(provider(&profiled, "--profile home").as_deref(), Some("azure"));
        assert_eq!(provider(&profiled, "-c model_provider=\"mine\"").as_deref(), Some("mine"));
        assert_eq!(provider(&profiled, "--config=model_provider=mine --oss").as_deref(), Some("mine"));
        assert_eq!(provider(one, "--oss --local-provider lmstudio").as_deref(), Some("lmstudio"));
        assert_eq!(provider(one, "-- -c model_provider=mine").as_deref(), Some("azure"));
        assert_eq!(provider("model_provider = 7", ""), None);
        assert_eq!(provider("[", "-p work"), None);
    }
}
