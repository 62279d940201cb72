//! `ctx list`: commits by who made them, when, and what for.

use std::{
    collections::HashSet,
    fs,
    path::{self, Path, PathBuf},
};

use clap::Args;
use contexture::{
    Contexture, Filter, StoredCommit,
    core::{CommitKind, Format, Machine, Principal, RuntimeSessionId, Tag, Template, Thread, Ticket, Trigger},
    wire::{HeadsByCommit, ListCursor, ListedCommit},
};

use crate::{
    commit_text::CommitText,
    conversation,
    error::{Error, Result},
    input::Input,
    invocation::Invocation,
    output::{Output, Shape},
    time::When,
    values::{self, LabelValue},
};

/// Commits that are read at once.
const COMMITS_PER_PAGE: u64 = 256;

const EXAMPLES: &str = "\
Examples:
  ctx list --principal ada@laptop --since '2 days ago'
  ctx list --missing-summary -n 20
      commits that nobody has summed up yet
  ctx list --all --type compaction --machine laptop
  ctx list --label branch=main --trigger turn_boundary
      turns of agents that worked on that branch
  ctx list --ticket ENG-42 --json
      with a cursor in each record; `--after CURSOR` goes on behind it";

/// Lists commits that pass a filter, newest first by the time they carry
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct List {
    /// Only those of this principal
    #[arg(long, value_name = "P")]
    principal: Option<Principal>,
    /// Only those of this session
    #[arg(long, value_name = "S")]
    session: Option<RuntimeSessionId>,
    /// Only those for this work item
    #[arg(long, value_name = "T")]
    ticket: Option<Ticket>,
    /// Only those in this thread
    #[arg(long, value_name = "T")]
    thread: Option<Thread>,
    /// Only those of this kind of agent
    #[arg(long, value_name = "T")]
    template: Option<Template>,
    /// Only those made on this machine
    #[arg(long, value_name = "M")]
    machine: Option<Machine>,
    /// Only those of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = values::commit_kind())]
    kind: Option<CommitKind>,
    /// Only those that this caused
    #[arg(long, value_name = "T", value_parser = values::trigger())]
    trigger: Option<Trigger>,
    /// Only those that have this tag
    #[arg(long, value_name = "T")]
    tag: Option<Tag>,
    /// Only those with this label, and those after them until it is set anew
    #[arg(long, value_name = "KEY=VALUE")]
    label: Option<LabelValue>,
    /// Only what was done in this directory or below it, here or on another machine
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    directory: Option<PathBuf>,
    /// Only those in this format
    #[arg(long, value_name = "F")]
    format: Option<Format>,
    /// Only those made at or after this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<When>,
    /// Only those made before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: Option<When>,
    /// Only those that nobody has summed up yet
    #[arg(long)]
    missing_summary: bool,
    /// Lists those of every directory; in a repository, only what was done in it is listed otherwise
    #[arg(long)]
    all: bool,
    /// Lists so many at most
    #[arg(short = 'n', value_name = "N", default_value_t = 50)]
    limit: u64,
    /// Goes on where an earlier list ended
    #[arg(long, value_name = "CURSOR", allow_hyphen_values = true)]
    after: Option<ListCursor>,
}

/// Which commits are of the project that somebody stands in.
struct SessionsHere {
    here: HashSet<RuntimeSessionId>,
    elsewhere: HashSet<RuntimeSessionId>,
}

impl SessionsHere {
    async fn of(engine: &Contexture) -> Result<Self> {
        let (mut here, mut elsewhere) = (HashSet::new(), HashSet::new());
        for listed in engine.sessions().await? {
            let of = if listed.is_here { &mut here } else { &mut elsewhere };
            of.insert(listed.session.id);
        }
        Ok(Self { here, elsewhere })
    }

    async fn has(&self, engine: &Contexture, stored: &StoredCommit) -> Result<bool> {
        match &stored.commit.provenance.session {
            Some(session) if self.here.contains(session) => Ok(true),
            Some(session) if self.elsewhere.contains(session) => Ok(false),
            Some(_) | None => Ok(engine.is_of_project(stored.id).await?),
        }
    }
}

impl List {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let engine = match &self.directory {
            Some(directory) => engine.standing_in(Some(place(directory)?.into())),
            None => engine,
        };
        let labels = HeadsByCommit::load(&engine).await?;
        let palette = output.palette;
        let text = CommitText { palette: &palette, labels: &labels, now: engine.now() };
        let (mut after, mut left) = (self.after.map(|cursor| cursor.0), self.limit);
        let scope = match engine.project().filter(|_| self.directory.is_some() || !self.all && self.session.is_none()) {
            Some(project) => {
                if self.directory.is_none() {
                    output.status(format_args!(
                        "What was done in {}; `--all` lists that of every project.",
                        project.display()
                    ));
                }
                Some(SessionsHere::of(&engine).await?)
            }
            None => None,
        };
        let filter = self.filter(invocation)?;
        while left > 0 {
            // What is left out does not count, so a page may have to be a whole one.
            let size = if scope.is_some() { COMMITS_PER_PAGE } else { left.min(COMMITS_PER_PAGE) };
            let page = engine.list(&filter, after, u32::try_from(size).unwrap_or(u32::MAX)).await?;
            let ended = (page.len() as u64) < size;
            for stored in page {
                let cursor = ListCursor::from(&stored);
                if left == 0 {
                    break;
                }
                after = Some(cursor.0);
                if let Some(scope) = &scope
                    && !scope.has(&engine, &stored).await?
                {
                    continue;
                }
                left -= 1;
                match output.shape() {
                    Shape::Text => {
                        let gist = conversation::gist(&engine, &stored).await;
                        output.line(text.line(&stored, gist.as_deref()))?;
                    }
                    Shape::Json => output.document(ListedCommit { commit: labels.document(stored), cursor })?,
                }
            }
            if ended {
                return Ok(());
            }
        }
        if let (Shape::Text, Some(last)) = (output.shape(), after)
            && !engine.list(&filter, after, 1).await?.is_empty()
        {
            output.status(format_args!("There are more: go on with --after {}", ListCursor(last)));
        }
        Ok(())
    }

    fn filter(self, invocation: &Invocation) -> Result<Filter> {
        let now = invocation.now()?;
        Ok(Filter {
            principal: self.principal,
            session: self.session,
            ticket: self.ticket,
            thread: self.thread,
            template: self.template,
            machine: self.machine,
            kind: self.kind,
            trigger: self.trigger,
            tag: self.tag,
            label: self.label.map(LabelValue::into_parts),
            format: self.format,
            since: self.since.map(|since| since.resolve(now)).transpose()?,
            until: self.until.map(|until| until.resolve(now)).transpose()?,
            missing_summary: self.missing_summary,
        })
    }
}

/// Returns a directory as sessions name it. One of another machine need not be here.
fn place(directory: &Path) -> Result<PathBuf> {
    let unreadable = |source| Error::Read { input: Input::File(directory.to_owned()), source };
    fs::canonicalize(directory).or_else(|_| path::absolute(directory)).map_err(unreadable)
}
