//! Commits as people read them in a log or a list.

use contexture::{
    StoredCommit,
    core::{CommitId, CommitKind, Timestamp, Trigger},
    wire::HeadsByCommit,
};

use crate::output::{self, Palette};

/// How commits are shown.
pub(crate) struct CommitText<'a> {
    pub(crate) palette: &'a Palette,
    pub(crate) labels: &'a HeadsByCommit,
    pub(crate) now: Timestamp,
}

/// Returns the first line of what a commit was summed up as.
pub(crate) fn summary(stored: &StoredCommit) -> Option<String> {
    stored.annotations.summary.as_ref().map(|text| output::first_line(text.as_str()).into_owned())
}

impl CommitText<'_> {
    /// Tells a commit in one line, with its gist.
    pub(crate) fn line(&self, stored: &StoredCommit, gist: Option<&str>) -> String {
        let faint = self.palette.faint;
        let mut line = self.title(stored);
        if let Some(gist) = gist {
            line.push(' ');
            line.push_str(gist);
        }
        format!("{line}  {faint}{}{faint:#}", self.origin(stored))
    }

    /// Tells a commit in a few lines, one of them its gist.
    pub(crate) fn block(&self, stored: &StoredCommit, gist: Option<&str>) -> String {
        let faint = self.palette.faint;
        let messages = stored.commit.message_count;
        let messages = messages.map(|count| format!(", {}", output::counted(count.get(), "message")));
        let occasion = match stored.commit.trigger {
            Trigger::ToolCall => ", at a tool call",
            Trigger::SessionEnd => ", at the end of the session",
            Trigger::TurnBoundary | Trigger::Compaction | Trigger::Explicit => "",
        };
        let details = format!("{faint}{}{}{occasion}{faint:#}", self.origin(stored), messages.unwrap_or_default());
        let mut lines = vec![self.title(stored), details];
        lines.extend(gist.map(str::to_owned));
        if !stored.commit.merges.is_empty() {
            let merges: Vec<_> = stored.commit.merges.iter().map(CommitId::short).collect();
            lines.push(format!("{faint}brings back {}{faint:#}", merges.join(", ")));
        }
        lines.join("\n")
    }

    /// Returns the mark of a commit in a graph.
    pub(crate) fn glyph(&self, kind: CommitKind) -> String {
        let Palette { compaction, snapshot, strong, .. } = self.palette;
        match kind {
            CommitKind::Delta => format!("{strong}○{strong:#}"),
            CommitKind::Compaction => format!("{compaction}◆{compaction:#}"),
            CommitKind::Snapshot => format!("{snapshot}■{snapshot:#}"),
        }
    }

    /// Returns the id, the kind where it is not the usual one, and the heads.
    fn title(&self, stored: &StoredCommit) -> String {
        let Palette { id, head, compaction, snapshot, .. } = self.palette;
        let mut words = vec![format!("{id}{}{id:#}", stored.id.short())];
        match stored.commit.kind {
            CommitKind::Delta => {}
            CommitKind::Compaction => words.push(format!("{compaction}compaction{compaction:#}")),
            CommitKind::Snapshot => words.push(format!("{snapshot}snapshot{snapshot:#}")),
        }
        let heads = self.labels.of(&stored.id);
        if !heads.is_empty() {
            let names: Vec<_> = heads.iter().map(|name| format!("{head}{name}{head:#}")).collect();
            words.push(format!("({})", names.join(", ")));
        }
        words.join(" ")
    }

    /// Returns who made a commit and when.
    fn origin(&self, stored: &StoredCommit) -> String {
        let when = output::relative(self.now, stored.commit.created_at);
        match &stored.commit.provenance.principal {
            Some(principal) => format!("{principal}, {when}"),
            None => when,
        }
    }
}
