//! The grammar of the command line.

mod groups;

use std::ffi::OsString;

use clap::{Args as ClapArgs, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use contexture::core::SpaceName;

use crate::{
    commands::{
        annotate::Annotate, artifact::Artifact, assemble::Assemble, blame::Blame, cat::Cat, channel::Channel,
        check::Check, checkpoint::Checkpoint, children::Children, compact::Compact, complete::Complete,
        completions::Completions, current::Current, demo::Demo, diff::Diff, doctor::Doctor, envelope::Envelope,
        export::Export, fork::Fork, formats::Formats, fsck::Fsck, gc::Gc, git_hook::GitHook, head::Head, hook::Hook,
        import::Import, import_bundle::ImportBundle, init::Init, journal::Journal, list::List, log::Log, man::Man,
        materialize::Materialize, missing::Missing, purge::Purge, recipe::Recipe, resolve::Resolve, resume::Resume,
        run::Run, schema::Schema, search::Search, secrets::Secrets, sessions::Sessions, show::Show, snapshot::Snapshot,
        spaces::Spaces, stats::Stats, store::Store, trust::Trust, watch::Watch, why_commit::WhyCommit,
    },
    error::Result,
    invocation::Invocation,
    output::Output,
};

const ABOUT: &str = "\
Version control for what LLM agents know.

What your agents say and do becomes chains of commits, a turn each: see it, lead a line of code back to the \
conversation that wrote it, go on from any turn in any agent, and get back the exact bytes, on any machine.";

macro_rules! first_steps {
    () => {
        "\
First steps:
  ctx init
      has every turn of your agents kept from now on, and takes in their earlier sessions
  ctx sessions
      shows what they did, once there is something
  ctx resume
      goes on with a session that you choose
  ctx demo
      shows all of it at work in a throw-away store"
    };
}

const CONVENTIONS: &str = concat!(
    first_steps!(),
    "

Naming things:
  A commit is named by its id, by the first digits of its id (4 at least), or by a head.
  A session is named by its number in `ctx sessions`, by the first letters of its id (4 at
  least) or by `last`, and stands for its newest commit.
  HEAD~3 is three steps before it. `-` stands for standard input or output.
  Times are written 2026-11-15T20:10:00Z, 2026-11-15, `now`, `2h ago` or `-2h`.

Stores:
  A store is a directory of this machine, or a schema of a PostgreSQL database that many
  machines share: postgres://USER@HOST/DATABASE. `ctx store check` says whether it can be used,
  `ctx store --help` says more, and where to keep a password.

Exit codes:
  0  done
  1  failed
  2  the command line was not understood
  3  conflict: a head or key was used by somebody else; read again and retry
  4  the store is damaged

Environment:
  CTX_STORE      the store, as --store
  CTX_SPACE      the space, as --space
  CTX_PRINCIPAL  who runs the agent (default: user@host)
  CTX_MACHINE    where the agent runs (default: the host's name)
  CTX_TICKET     the ticket that captured sessions belong to
  CTX_THREAD     the thread that captured sessions belong to
  CTX_TEMPLATE   the role that the agent has, such as `reviewer`
  CTX_EVERY      how often sessions are captured, such as `turn`; `ctx hook --help` says more
  CTX_ACTOR      who asks for changes, as the journal records it (default: the principal)
  CTX_CONTEXT_METRICS
                 with `1`, shows the figures of each assembly on standard error; docs/assembly.md
  CTX_LOG        shows operations on standard error as they end, such as `debug`; docs/tracing.md
  PGPASSWORD     lets the user in at a PostgreSQL server when the URL holds no password;
                 PGPASSFILE, PGSERVICE, PGSERVICEFILE, PGSSLMODE and PGSSLROOTCERT are read too
  PAGER          shows `ctx log` and `ctx cat` page by page (default: less -FRX)
  NO_COLOR       set to anything, turns colours off"
);

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "ctx", version, about = "Version control for what LLM agents know", long_about = ABOUT)]
#[command(after_help = first_steps!(), after_long_help = CONVENTIONS)]
#[command(max_term_width = 100)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command understands.
#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// Where the store is: a directory or postgres://USER@HOST/DATABASE [env: CTX_STORE] [default: the user's data directory]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) store: Option<OsString>,
    /// The tenant to work in [env: CTX_SPACE] [default: default]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) space: Option<SpaceName>,
    /// Prints JSON documents, one a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    pub(crate) color: Color,
    /// Leaves out what is not data: status lines and progress
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(Demo),
    Init(Init),
    Import(Import),
    Run(Box<Run>),
    Watch(Watch),
    Doctor(Doctor),
    Current(Current),
    Hook(Hook),
    #[command(hide = true)]
    GitHook(GitHook),
    Checkpoint(Box<Checkpoint>),
    Materialize(Materialize),
    Resume(Resume),
    Cat(Cat),
    Sessions(Sessions),
    Log(Log),
    Diff(Diff),
    Show(Show),
    Children(Children),
    List(List),
    Search(Box<Search>),
    Resolve(Resolve),
    Blame(Blame),
    WhyCommit(WhyCommit),
    Assemble(Assemble),
    Recipe(Recipe),
    Trust(Trust),
    Channel(Channel),
    Envelope(Envelope),
    Missing(Missing),
    Check(Check),
    Annotate(Annotate),
    Fork(Fork),
    Compact(Compact),
    Snapshot(Snapshot),
    Head(Head),
    Artifact(Artifact),
    Journal(Journal),
    Secrets(Secrets),
    Export(Export),
    ImportBundle(ImportBundle),
    Fsck(Fsck),
    Gc(Gc),
    Purge(Purge),
    Stats(Stats),
    Store(Store),
    Spaces(Spaces),
    Formats(Formats),
    Schema(Schema),
    Completions(Completions),
    #[command(hide = true)]
    Complete(Complete),
    Man(Man),
}

impl Args {
    /// Reads the command line of this process.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let mut grammar = groups::grammar();
        let matches = grammar.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut grammar))
    }
}

/// Returns the grammar with all that a command inherits.
pub(crate) fn whole_grammar() -> clap::Command {
    let mut grammar = Args::command();
    grammar.build();
    grammar
}

impl Command {
    /// Tells whether somebody calls it who is not to be disturbed.
    pub(crate) fn is_hook(&self) -> bool {
        matches!(self, Self::Hook(_) | Self::GitHook(_))
    }

    /// Does it.
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        match self {
            Self::Demo(command) => command.run(invocation, output).await,
            Self::Init(command) => command.run(invocation, output).await,
            Self::Import(command) => command.run(invocation, output).await,
            Self::Run(command) => Box::pin(command.run(invocation, output)).await,
            Self::Watch(command) => command.run(invocation, output).await,
            Self::Doctor(command) => command.run(invocation, output).await,
            Self::Current(command) => command.run(invocation, output).await,
            // These two never fail: somebody else's work would.
            Self::Hook(command) => {
                command.run(invocation);
                Ok(())
            }
            Self::GitHook(command) => {
                command.run(invocation).await;
                Ok(())
            }
            Self::Checkpoint(command) => command.run(invocation, output).await,
            Self::Materialize(command) => command.run(invocation, output).await,
            Self::Resume(command) => Box::pin(command.run(invocation, output)).await,
            Self::Cat(command) => command.run(invocation, output).await,
            Self::Sessions(command) => command.run(invocation, output).await,
            Self::Log(command) => command.run(invocation, output).await,
            Self::Diff(command) => command.run(invocation, output).await,
            Self::Show(command) => command.run(invocation, output).await,
            Self::Children(command) => command.run(invocation, output).await,
            Self::List(command) => command.run(invocation, output).await,
            Self::Search(command) => command.run(invocation, output).await,
            Self::Resolve(command) => command.run(invocation, output).await,
            Self::Blame(command) => command.run(invocation, output).await,
            Self::WhyCommit(command) => command.run(invocation, output).await,
            Self::Assemble(command) => command.run(invocation, output).await,
            Self::Recipe(command) => command.run(invocation, output),
            Self::Trust(command) => command.run(invocation, output),
            Self::Channel(command) => Box::pin(command.run(invocation, output)).await,
            Self::Envelope(command) => command.run(invocation, output).await,
            Self::Missing(command) => command.run(invocation, output).await,
            Self::Check(command) => command.run(output),
            Self::Annotate(command) => command.run(invocation, output).await,
            Self::Fork(command) => command.run(invocation, output).await,
            Self::Compact(command) => command.run(invocation, output).await,
            Self::Snapshot(command) => command.run(invocation, output).await,
            Self::Head(command) => command.run(invocation, output).await,
            Self::Artifact(command) => command.run(invocation, output).await,
            Self::Journal(command) => command.run(invocation, output).await,
            Self::Secrets(command) => command.run(invocation, output).await,
            Self::Export(command) => command.run(invocation, output).await,
            Self::ImportBundle(command) => command.run(invocation, output).await,
            Self::Purge(command) => command.run(invocation, output).await,
            Self::Fsck(command) => command.run(invocation, output).await,
            Self::Gc(command) => command.run(invocation, output).await,
            Self::Stats(command) => command.run(invocation, output).await,
            Self::Store(command) => command.run(invocation, output).await,
            Self::Spaces(command) => command.run(invocation, output).await,
            Self::Formats(_) => Formats::run(output),
            Self::Schema(command) => command.run(output),
            Self::Completions(command) => command.run(output),
            Self::Complete(command) => command.run(invocation, output).await,
            Self::Man(command) => command.run(output),
        }
    }
}
