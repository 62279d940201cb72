//! `ctx sessions`: the runs of agents, the newest first.

use clap::Args;
use contexture::{
    Contexture, ListedSession, SessionMeasures,
    core::{SummaryText, Template, Timestamp},
    wire::{SessionCursor, SessionDocument},
};
use contexture_capture::{Runtime, SessionActivities};

use crate::{
    conversation,
    error::Result,
    invocation::Invocation,
    output::{self, Output, Shape},
    session_text::SessionText,
    time::When,
    values,
};

const EXAMPLES: &str = "\
Examples:
  ctx sessions
      the last sessions of this repository; outside of one, of every directory
  ctx sessions --all --agent codex --since '2 days ago'
  ctx sessions 'flaky test'
      those whose first request, directory, branch or id has these words
  ctx sessions -n 5
      the last five; what is printed below them goes on behind them
  ctx cat 2
      what was said in the second of the list; `ctx cat last` and `ctx cat 0c3f` name one too

A session is named by its number, by the beginning of its id (4 letters at least) or by `last`,
wherever a commit is named, and stands for its newest commit then.
The number 1 is the newest session here, whatever the list leaves out; numbers move up by one
when a session begins or goes on. Those of other projects and of sub-agents have none.";

/// Lists the sessions of agents, newest first: what was asked, where, how far it came
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Sessions {
    /// Only those whose first request, directory, branch or id holds this text
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// Only those of this directory, or of the repository around it [default in a repository]
    #[arg(long, conflicts_with = "all")]
    here: bool,
    /// Those of every directory [default outside of a repository]
    #[arg(long)]
    all: bool,
    /// Only those of this agent
    #[arg(long, value_name = "A", value_parser = values::any_runtime())]
    agent: Option<Runtime>,
    /// Only those whose agent has this role
    #[arg(long, value_name = "NAME")]
    template: Option<Template>,
    /// Only those that went on at or after this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<When>,
    /// Those of sub-agents too
    #[arg(long)]
    sub_agents: bool,
    /// Lists so many at most
    #[arg(short = 'n', value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Goes on where an earlier list ended
    #[arg(long, value_name = "CURSOR", allow_hyphen_values = true)]
    after: Option<SessionCursor>,
}

/// Which sessions are listed.
struct Wanted {
    is_all: bool,
    text: Option<String>,
    agent: Option<Runtime>,
    template: Option<Template>,
    since: Option<Timestamp>,
    sub_agents: bool,
}

/// What is known of sessions, and by whom.
pub(crate) struct SessionCatalog<'e> {
    engine: &'e Contexture,
    activities: SessionActivities,
}

impl Sessions {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = if self.here { invocation.open_here().await? } else { invocation.open().await? };
        let catalog = SessionCatalog::of(&engine, invocation)?;
        let sessions = engine.sessions().await?;
        let (total, is_all) = (sessions.len(), self.all || engine.project().is_none());
        let limit = self.limit;
        let first = self.after.as_ref().map_or(0, |cursor| cursor.place_in(&sessions));
        let wanted = self.wanted(invocation, is_all)?;
        output.page(invocation.environment.pager().as_ref());
        let (palette, columns) = (output.palette, output.table_columns());
        let text = SessionText {
            palette: &palette,
            columns,
            now: engine.now(),
            project: engine.project().filter(|_| !is_all),
            home: invocation.environment.home.as_deref(),
        };
        let (mut shown, mut left_out, mut last) = (0, 0, None);
        for listed in sessions.into_iter().skip(first) {
            if !wanted.may_have(&listed) {
                continue;
            }
            if shown == limit && wanted.text.is_none() {
                left_out += 1;
                continue;
            }
            let measures = engine.measure_session(&listed.session).await?;
            if !wanted.has(&listed, &measures) {
                continue;
            }
            if shown == limit {
                // To count all that have the words would mean to look into all.
                left_out += 1;
                break;
            }
            shown += 1;
            let document = catalog.document(listed, measures);
            last = Some(document.cursor.clone());
            if output.shape() == Shape::Json {
                output.document(document)?;
                continue;
            }
            let gist = catalog.gist(&document).await;
            output.lines(text.block(&document, gist.as_deref()))?;
        }
        let scope = engine.project().filter(|_| !is_all);
        let of_all = if wanted.is_narrow() { " that match" } else { "" };
        match (shown, scope) {
            (0, _) if total == 0 => output.status(invocation.emptiness()?),
            (0, _) if self.after.is_some() => output.status("There are no more."),
            (0, Some(project)) => output.status(format_args!(
                "No sessions{of_all} in {}; `ctx sessions --all` looks at those of every project, which are {}.",
                project.display(),
                output::count(total as u64)
            )),
            (0, None) => output.status(format_args!("No sessions{of_all}.")),
            (_, Some(project)) => output
                .remark(format_args!("Those of {}; `--all` shows the sessions of every project.", project.display())),
            (_, None) => {}
        }
        if total as u64 >= u64::from(ListedSession::MAX) {
            let most = output::count(u64::from(ListedSession::MAX));
            output.status(format_args!("Only the newest {most} are listed; older ones are known by their ids."));
        }
        match (left_out, last) {
            (0, _) | (_, None) => {}
            (1, Some(last)) if wanted.text.is_none() => {
                output.status(format_args!("There is 1 more: go on with --after {last}"));
            }
            (_, Some(last)) => {
                let number = wanted.text.is_none().then(|| format!(" {}", output::count(left_out)));
                let number = number.unwrap_or_default();
                output.status(format_args!("There are{number} more: go on with --after {last}"));
            }
        }
        Ok(())
    }

    fn wanted(&self, invocation: &Invocation, is_all: bool) -> Result<Wanted> {
        let now = invocation.now()?;
        Ok(Wanted {
            is_all,
            text: self.text.as_ref().map(|text| text.to_lowercase()),
            agent: self.agent,
            template: self.template.clone(),
            since: self.since.as_ref().map(|since| since.resolve(now)).transpose()?,
            sub_agents: self.sub_agents,
        })
    }
}

impl Wanted {
    fn is_narrow(&self) -> bool {
        self.text.is_some() || self.agent.is_some() || self.template.is_some() || self.since.is_some()
    }

    /// Decides by what is known without measuring.
    fn may_have(&self, listed: &ListedSession) -> bool {
        let session = &listed.session;
        (self.is_all || listed.is_here)
            && (self.sub_agents || session.parent.is_none())
            && self.agent.is_none_or(|agent| Runtime::of(&session.format) == Some(agent))
            && (self.template.is_none() || self.template == session.template)
            && self.since.is_none_or(|since| session.tip.at >= since)
    }

    fn has(&self, listed: &ListedSession, measures: &SessionMeasures) -> bool {
        let Some(text) = &self.text else { return true };
        let request = measures.request.as_ref().map(SummaryText::as_str);
        let branch = measures.branch.as_ref().map(SummaryText::as_str);
        let fields = [Some(listed.session.id.as_str()), listed.session.directory.as_deref(), request, branch];
        fields.into_iter().flatten().any(|field| field.to_lowercase().contains(text))
    }
}

impl<'e> SessionCatalog<'e> {
    /// Looks at which sessions agents are in.
    pub(crate) fn of(engine: &'e Contexture, invocation: &Invocation) -> Result<Self> {
        let activities = invocation.recorder_if_any()?.map(|recorder| SessionActivities::of(&recorder));
        Ok(Self { engine, activities: activities.unwrap_or_default() })
    }

    /// Returns what is known of a session.
    pub(crate) fn document(&self, listed: ListedSession, measures: SessionMeasures) -> SessionDocument {
        let state = self.activities.of_session(&listed.session.id, &measures);
        let format = &listed.session.format;
        let agent = Runtime::of(format).map_or_else(|| format.as_str().to_owned(), |it| it.as_str().to_owned());
        SessionDocument::new(listed, measures, agent, state)
    }

    /// Returns what is done in a session in which nothing was asked.
    pub(crate) async fn gist(&self, session: &SessionDocument) -> Option<String> {
        if session.request.is_some() {
            return None;
        }
        let stored = self.engine.show(session.tip).await.ok()?;
        conversation::gist(self.engine, &stored).await
    }
}
