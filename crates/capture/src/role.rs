//! Roles: what kind of agent somebody has said that one is.

use std::path::Path;

use contexture::StoredCommit;
use contexture_core::{CommitId, HeadName, Template};

use crate::{Capture, Result, Runtime, input::id_in_name, steps::AGENT};

/// How what a program prints is written down that is no known agent. Its template is what the program is called.
const PRINTED: &str = "events-v1";

/// Returns the template if it is a role: one that somebody has named, and not a runtime with its version.
pub fn role_of(template: Option<&Template>) -> Option<&Template> {
    template.filter(|template| {
        let name = template.as_str();
        Runtime::named(name.split('/').next().unwrap_or(name)).is_none()
    })
}

impl Capture<'_> {
    /// Returns the role of the agent that made a commit, which whoever goes on from there has too.
    pub async fn role_at(self, commit: CommitId) -> Result<Option<Template>> {
        let StoredCommit { commit: record, .. } = self.engine.show(commit).await?;
        let Some(role) = role_of(record.provenance.template.as_ref()).cloned() else { return Ok(None) };
        let is_program = record.format.as_str() == PRINTED && self.engine.label_before(commit, AGENT).await?.is_none();
        Ok(Some(role).filter(|_| !is_program))
    }

    /// Returns the role that the store knows for a file that it does not: its session may have been taken in from another
    /// place, and has the same commits then, or it goes on from a commit.
    pub(crate) async fn role_in_store(self, path: &Path, base: Option<CommitId>) -> Result<Option<Template>> {
        let named = id_in_name(path).and_then(|id| HeadName::new(format!("session/{}", id.as_str())).ok());
        let known = match named {
            Some(head) => self.engine.head(&head).await?,
            None => None,
        };
        match known.or(base) {
            Some(commit) => self.role_at(commit).await,
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_with_its_version_is_no_role() {
        let role = |name: &str| role_of(Some(&Template::new(name).unwrap())).is_some();
        assert_eq!(["claude-code", "codex/0.146.0", "pi"].map(role), [false; 3]);
        assert_eq!(["reviewer", "claude-code-reviewer", "team/codex"].map(role), [true; 3]);
    }
}
