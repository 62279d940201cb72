//! What runtimes are about to delete though it is not in the store.

use std::{fs, path::PathBuf};

use contexture::core::Timestamp;
use contexture_capture::{Homes, Runtime};
use serde::{Deserialize, Serialize};

use super::{
    DAY_MICROS,
    completeness::{Completeness, Incomplete},
    problem::{Check, FIX, Problem},
};
use crate::output;

/// How long runtimes keep sessions when their settings do not say.
const USUAL_DAYS: i64 = 30;
/// How soon a deletion is to be feared.
const SOON_MICROS: i64 = 7 * DAY_MICROS;

/// The sessions that are not wholly in the store and will be deleted, the first to go first.
#[derive(Debug, Serialize)]
pub(super) struct Retention {
    /// Whether it is known what is in the store.
    is_known: bool,
    expiring: Vec<Expiring>,
}

/// A session that will be deleted.
#[derive(Debug, Serialize)]
struct Expiring {
    path: PathBuf,
    runtime: String,
    /// When its runtime may delete it.
    at: Timestamp,
    is_soon: bool,
}

/// Claude Code's settings, as far as they matter here.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaudeSettings {
    cleanup_period_days: Option<i64>,
}

/// Gemini CLI's settings, as far as they matter here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GeminiSettings {
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

impl Retention {
    pub(super) fn of(homes: &Homes, sessions: &Completeness, now: Timestamp) -> Self {
        let periods = [(Runtime::ClaudeCode, claude_period(homes)), (Runtime::Gemini, gemini_period(homes))];
        let period = |runtime: &str| periods.iter().find(|(it, _)| it.as_str() == runtime).and_then(|(_, days)| *days);
        let expiring = |session: &Incomplete| {
            let at = session.written?.as_micros().checked_add(period(&session.runtime)?)?;
            let is_soon = at.saturating_sub(now.as_micros()) <= SOON_MICROS;
            let (path, runtime) = (session.path.clone(), session.runtime.clone());
            Some(Expiring { path, runtime, at: Timestamp::from_micros(at)?, is_soon })
        };
        let mut expiring: Vec<Expiring> = sessions.missing().filter_map(expiring).collect();
        expiring.sort_by_key(|session| session.at);
        Self { is_known: sessions.is_compared(), expiring }
    }

    pub(super) fn line(&self, now: Timestamp) -> String {
        match self.expiring.first() {
            None if !self.is_known => "not known, because nothing was compared".to_owned(),
            None => "nothing that is missing will be deleted".to_owned(),
            Some(Expiring { at, is_soon: false, .. }) => {
                format!("the first of what is missing will be deleted {}", when(now, *at))
            }
            Some(Expiring { at, .. }) => {
                let soon = output::counted(self.soon(), "session");
                format!("{soon} not wholly in the store will be deleted, the first {}", when(now, *at))
            }
        }
    }

    /// Returns a line for each session that goes soon, the first to go first.
    pub(super) fn details(&self, now: Timestamp) -> Vec<String> {
        let soon = self.expiring.iter().filter(|session| session.is_soon);
        let name = |session: &Expiring| session.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        soon.map(|session| format!("{}: {} {}", when(now, session.at), session.runtime, name(session))).collect()
    }

    pub(super) fn problems(&self) -> Option<Problem> {
        let soon = self.soon();
        let (sessions, verb) = (output::counted(soon, "session"), if soon == 1 { "is" } else { "are" });
        let what = format!("{sessions} not wholly in the store {verb} about to be deleted");
        (soon > 0).then(|| Problem::new(Check::Retention, what, FIX))
    }

    fn soon(&self) -> u64 {
        self.expiring.iter().filter(|session| session.is_soon).count() as u64
    }
}

/// Says when a session goes.
fn when(now: Timestamp, at: Timestamp) -> String {
    if at <= now { "at any moment".to_owned() } else { output::relative(now, at) }
}

/// Returns how long Claude Code keeps a session after its last line, in microseconds.
fn claude_period(homes: &Homes) -> Option<i64> {
    let text = fs::read(homes.claude.as_ref()?.join("settings.json")).unwrap_or_default();
    // It deletes nothing while it cannot read its settings, but they may be repaired.
    let settings: ClaudeSettings = serde_json::from_slice(&text).unwrap_or_default();
    settings.cleanup_period_days.unwrap_or(USUAL_DAYS).checked_mul(DAY_MICROS)
}

/// Returns how long Gemini CLI keeps a session after its last line, in microseconds; nothing when it deletes none.
fn gemini_period(homes: &Homes) -> Option<i64> {
    let text = fs::read(homes.gemini.as_ref()?.join("settings.json")).unwrap_or_default();
    let settings: GeminiSettings = serde_json::from_slice(&text).unwrap_or_default();
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

    #[test]
    fn settings_say_how_long_sessions_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let homes =
            Homes { claude: Some(home.path().to_owned()), gemini: Some(home.path().to_owned()), ..Homes::default() };
        let days = |settings: &str| {
            fs::write(home.path().join("settings.json"), settings).unwrap();
            [claude_period(&homes), gemini_period(&homes)].map(|period| period.map(|micros| micros / DAY_MICROS))
        };
        assert_eq!(days("{}"), [Some(30), Some(30)]);
        assert_eq!(days("no settings"), [Some(30), Some(30)]);
        assert_eq!(
            days(r#"{"cleanupPeriodDays":90,"general":{"sessionRetention":{"maxAge":"1w"}}}"#),
            [Some(90), Some(7)]
        );
        assert_eq!(days(r#"{"general":{"sessionRetention":{"enabled":false}}}"#), [Some(30), None]);
    }
}
