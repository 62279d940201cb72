//! What is said of the commits that an import makes.

use contexture_core::{Annotation, LabelKey, SummaryText};
use serde::{Deserialize, Serialize};

/// Label of the first commit of a sub-agent: the commit of the turn that started it.
pub(crate) const SPAWNED_BY: &str = "spawned-by";
/// Label of the same commit: the session of that turn.
pub(super) const PARENT_SESSION: &str = "parent-session";
/// Label of the first commit of a session that continues one that is not here: that session.
pub(super) const FORKED_FROM: &str = "forked-from";
/// Label of the last commit of a session: how it ended.
pub(super) const SESSION_END: &str = "session-end";
/// Label of the first commit of a session whose template is a role: the runtime that has it, and its version.
pub(crate) const AGENT: &str = "agent";
/// Longest summary that is made of a prompt.
const MAX_SUMMARY: usize = 200;

/// What is said of a commit when it is another than of the one before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Labels {
    pub(super) directory: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) model: Option<String>,
    /// The runtime and its version, where the template of the commits is a role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
}

impl Labels {
    /// Keeps what was known where nothing else is.
    pub(super) fn or(self, before: &Self) -> Self {
        Self {
            directory: self.directory.or_else(|| before.directory.clone()),
            branch: self.branch.or_else(|| before.branch.clone()),
            model: self.model.or_else(|| before.model.clone()),
            agent: self.agent.or_else(|| before.agent.clone()),
        }
    }

    /// Says what has changed.
    pub(super) fn changed_since(&self, before: &Self) -> Vec<Annotation> {
        let pairs = [
            ("cwd", &self.directory, &before.directory),
            ("branch", &self.branch, &before.branch),
            ("model", &self.model, &before.model),
            (AGENT, &self.agent, &before.agent),
        ];
        let changed = pairs.into_iter().filter(|(_, now, before)| now != before);
        changed.filter_map(|(key, now, _)| label(key, now.as_deref()?)).collect()
    }
}

pub(crate) fn label(key: &str, value: &str) -> Option<Annotation> {
    Some(Annotation::Label { key: LabelKey::new(key).ok()?, value: SummaryText::new(value).ok()? })
}

/// Returns the first line of a prompt, shortened, as what the step is about.
pub(super) fn summary(text: &str) -> Option<Annotation> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut short: String = line.chars().take(MAX_SUMMARY).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    Some(Annotation::Summary { text: SummaryText::new(short).ok()? })
}
