//! How long Gemini CLI keeps a session.

use std::path::Path;

use contexture::read_found;
use serde::Deserialize;

use super::super::descriptor::DAY_MICROS;

/// How long it keeps sessions when its settings do not say.
const USUAL_DAYS: i64 = 30;

/// Its settings, as far as they matter here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RetentionSettings {
    general: General,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct General {
    session_retention: SessionRetention,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SessionRetention {
    enabled: Option<bool>,
    max_age: Option<String>,
}

/// Returns how long it keeps a session after its last line; nothing when it deletes none.
pub(super) fn micros(home: &Path) -> Option<i64> {
    let text = read_found(&home.join("settings.json")).unwrap_or_default();
    let settings: RetentionSettings = serde_json::from_slice(&text).unwrap_or_default();
    let SessionRetention { enabled, max_age } = settings.general.session_retention;
    if enabled == Some(false) {
        return None;
    }
    max_age.map_or(Some(USUAL_DAYS * DAY_MICROS), |age| age_micros(&age))
}

/// Reads an age as Gemini CLI writes it: 24h, 7d, 4w, 3m. One that it does not understand it does not act on.
fn age_micros(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "h" => DAY_MICROS / 24,
        "d" => DAY_MICROS,
        "w" => 7 * DAY_MICROS,
        "m" => 30 * DAY_MICROS,
        _ => return None,
    };
    number.parse::<i64>().ok().filter(|number| *number > 0)?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read_as_gemini_cli_reads_them() {
        let days = |text: &str| age_micros(text).map(|micros| micros / DAY_MICROS);
        assert_eq!(["48h", "7d", "4w", "2m"].map(days), [Some(2), Some(7), Some(28), Some(60)]);
        assert_eq!(["", "d", "0d", "7", "7y", "-7d", "7€"].map(days), [None; 7]);
    }
}
