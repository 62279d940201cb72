//! What to do next, with one command to type.

use std::io;

use contexture::{
    BundleProblem, ChannelError, Erasure, Error as EngineError, FileKind, FileRefusal, QueryError, StoreError,
    core::{Format, Principal, RecordError, TurnRefusal},
    formats,
    inspect::Obstacle,
};
use contexture_capture::{Error as CaptureError, Runtime, Untraced};

use super::Error;
use crate::shell::{self, quoted};

const COMMITS: &str = "`ctx log --all` shows the commits";
const DAMAGE: &str = "`ctx fsck` says what else is damaged";
const STORES: &str = "a store is a directory or postgres://USER@HOST/DATABASE[?schema=NAME]";
const UPGRADE: &str = "upgrade ctx";

/// Returns what helps after an error of a command.
pub(super) fn after(error: &Error) -> Option<String> {
    let hint: &str = match error {
        Error::Engine(source) | Error::Content { source, .. } => return after_operation(source),
        Error::Capture(source) => return after_capture(source),
        Error::Unprepared(unprepared) => return unprepared.hint(),
        Error::Untraced(untraced) => return of_untraced(untraced),
        Error::NoStore { obstacle, .. } => return past(obstacle),
        Error::NoFormat { .. } => {
            let known: Vec<_> = formats::known().iter().map(|format| format.name).collect();
            &format!("one of {}", known.join(", "))
        }
        Error::Packs { .. } | Error::LargePacks { .. } => "`ctx assemble --help` shows what packs look like",
        Error::TriggerData { .. } => "--data takes a file with one JSON value",
        Error::Recipe { .. } | Error::LargeRecipe { .. } | Error::BadRecipes { .. } => {
            "`ctx recipe --help` shows what a recipe looks like"
        }
        Error::Refused { source: FileRefusal::NotRegular(FileKind::Pipe | FileKind::Device), .. } => {
            "hand it over on standard input, where `-` stands for a file"
        }
        Error::UntrustedRecipe { path, .. } => &format!("`ctx trust {}` shows and trusts it", shell::quoted(path)),
        Error::NoRecipe { name, known } => &among_recipes(name, known),
        Error::Fingerprint(_) => "`ctx secrets list` shows the fingerprints",
        Error::SealKey { .. } => "`ctx secrets key --whole` prints one on a machine that has it",
        Error::NotSealed => "`ctx secrets seal` makes one",
        Error::NoEnvelopes => "`ctx assemble --help` says how",
        Error::NotReplayed { .. } => "`ctx fsck` says whether the store is damaged",
        Error::Location { .. } => STORES,
        Error::Configuration { .. } => {
            "it may say `store = \"DIR\"` or `store = \"postgres://USER@HOST/DATABASE\"`, and below `[capture]` how often: \
             `every = \"turn\"`"
        }
        Error::ExposedPassword { path, is_own: true, .. } => {
            &format!("`chmod 600 {}`", quoted(&path.to_string_lossy()))
        }
        Error::ExposedPassword { is_own: false, .. } => "make it anew as this user",
        Error::NoHome => "name a directory with `--store DIR`",
        Error::NothingKnown { principal, .. } => &all_of(principal),
        Error::Query(error) => match error {
            QueryError::OnlyExcluded { .. } => "add a word that must be there: `ctx search 'word -other'`",
            QueryError::OpenPhrase { .. } => "quote a phrase twice, for the shell too: `ctx search '\"a phrase\"'`",
            QueryError::Empty { .. } | QueryError::TooLong => "`ctx search --help` shows what a query may be",
        },
        Error::NothingFound { .. } => {
            "`*` finds words that start so: `ctx search 'migrat*'`; filters may leave something out"
        }
        Error::NotErased { erasure: Erasure::NoRights } => "have the owner of the tables type `ctx purge --finish`",
        Error::NotErased { .. } => "`ctx purge --finish` when nobody else uses the store",
        Error::NothingToPurge { .. } => "`ctx log --all` shows the commits, `ctx head list` the heads",
        Error::NoHeads => "`ctx log --all` shows commits to name instead",
        Error::NotEmpty { .. } => "name a new directory",
        Error::NotTakenIn { .. } => "`--runtime` says what a file is that is not recognised",
        Error::NotReproduced { .. } => "`ctx import` takes in what is new; then compare again",
        Error::Start { line, .. } => &format!("the session is written; this goes on with it: `{line}`"),
        Error::Spawn { program, .. } => &format!("`command -v {program}` says where it is, if it is on the PATH"),
        Error::NoFreshAgent => &format!("name it: {}", any_of("--in", Runtime::resumable())),
        Error::NoAgent { .. } => &format!("name the agent that it starts: {}", any_of("--in", Runtime::resumable())),
        // What helps with content does not help with summaries.
        Error::Summary { .. }
        | Error::Read { .. }
        | Error::Refused { .. }
        | Error::Directory { .. }
        | Error::Write { .. }
        | Error::Stdout(_)
        | Error::Terminal(_)
        | Error::JsonBesideContent { .. }
        | Error::LargeSummary { .. }
        | Error::BinarySummary { .. }
        | Error::LargeInput { .. }
        | Error::NoTarget { .. }
        | Error::LargeRecords { .. }
        | Error::BelowLevel { .. }
        | Error::Name { .. }
        | Error::Time { .. }
        | Error::Interval { .. }
        | Error::TimeRange { .. }
        | Error::Unequal { .. }
        | Error::Unsound { .. }
        | Error::Unwell { .. }
        | Error::Ended { .. }
        | Error::Passed { .. }
        | Error::Runtime(_) => return None,
    };
    Some(hint.to_owned())
}

/// Returns the runtimes that may be named, the first with what is typed before it.
pub(super) fn any_of(typed: &str, runtimes: impl Iterator<Item = Runtime>) -> String {
    let mut names: Vec<_> = runtimes.map(|runtime| runtime.as_str().to_owned()).collect();
    if let Some(first) = names.first_mut() {
        *first = format!("`{typed} {first}`");
    }
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

fn after_capture(error: &CaptureError) -> Option<String> {
    let hint: &str = match error {
        CaptureError::Engine(error) => return after_operation(error),
        CaptureError::Untraced(untraced) => return of_untraced(untraced),
        CaptureError::Overtaken { .. } => "try again",
        CaptureError::NoPlace { .. } => "set HOME, or the variable of the agent",
        CaptureError::State(_) => "`ctx doctor` says where that is",
        CaptureError::Location(_) => STORES,
        CaptureError::NoSession { .. } => "`ctx sessions --all` shows the sessions there are",
        CaptureError::SeveralSessions { .. } => "`ctx current --session S` names one",
        CaptureError::NothingCaptured { .. } => "ask again after the first answer",
        CaptureError::NotStored { .. } => "it is kept in the spool; `ctx doctor` says what is wrong",
        CaptureError::NothingKnown { principal, .. } => &all_of(principal),
        CaptureError::NoRuntime { .. } => &format!("name one: {}", any_of("--in", Runtime::resumable())),
        CaptureError::Executor(_)
        | CaptureError::Discontinuous { .. }
        | CaptureError::Unreadable { .. }
        | CaptureError::NotATranscript { .. }
        | CaptureError::Io { .. } => return None,
    };
    Some(hint.to_owned())
}

/// Returns what helps when something cannot be led back to its context.
fn of_untraced(untraced: &Untraced) -> Option<String> {
    let hint: &str = match untraced {
        Untraced::Git(_) => "install git; `git --version` says whether it is there",
        Untraced::NoRepository => "`git init` makes one",
        Untraced::NoRevision { .. } => "`git log --oneline` shows the commits",
        Untraced::NoLine { file, count, .. } if *count > 0 => &format!("`ctx blame {file}` shows all of them"),
        Untraced::NoContext { .. } => "`ctx import` takes in what your agents have kept; then ask again",
        Untraced::MergeWithoutContext { commit } => &format!("ask for what it merges: `ctx why-commit {commit}^2`"),
        Untraced::GitRefused { .. }
        | Untraced::Read { .. }
        | Untraced::Refused { .. }
        | Untraced::Lines { .. }
        | Untraced::NoLine { .. } => return None,
    };
    Some(hint.to_owned())
}

/// Returns how to see what a principal did.
fn all_of(principal: &Principal) -> String {
    format!("`ctx list --principal {principal}` shows all there is")
}

fn after_operation(error: &EngineError) -> Option<String> {
    let hint: &str = match error {
        EngineError::Store(error) => return in_the_store(error),
        EngineError::SearchIndex(_) => "`ctx search --rebuild` makes it anew from what is stored",
        EngineError::Reference { .. } => COMMITS,
        EngineError::NoSessions { project: Some(_) } => {
            "name one: `ctx sessions --all` shows those of every project; `ctx import` takes in what agents have kept"
        }
        EngineError::NoSessions { project: None } => "`ctx import` takes in what your agents have kept",
        EngineError::NoSessionNumber { .. } => "`ctx sessions` shows them",
        EngineError::Empty => "`--allow-empty` makes a commit of nothing",
        EngineError::Malformed { .. } => "`--no-check` stores the bytes as they are",
        EngineError::Record(RecordError::NeedsParent(_)) => "name it with `--parent ID`",
        EngineError::Record(RecordError::Newer { .. })
        | EngineError::Bundle { problem: BundleProblem::Newer { .. } } => UPGRADE,
        EngineError::Record(RecordError::Json(_)) | EngineError::AbsentArtifact { .. } => DAMAGE,
        EngineError::NotAnAncestor { commit, .. } => &format!("`ctx log {}` shows its ancestors", commit.short()),
        EngineError::Assembly(_) => "`ctx assemble --help` shows what it takes",
        EngineError::NoSource { name, .. } => &format!("add `source = \"{name}\"` to a segment of the recipe"),
        EngineError::NotInEnvelope { envelope, .. } => {
            &format!("`ctx envelope show {} --all` lists all there was", envelope.short())
        }
        EngineError::Rejected(_) => {
            "raise the budget with `--max-tokens N`, let the recipe cut with `overflow = \"truncate_tail\"`, or let it take \
             what is required all the same with `required = \"include\"` in its `[budget]`"
        }
        EngineError::NotNative { .. } => "`--tier mapped` allows a translation, and no `--tier` the best there is",
        EngineError::Unwritable { .. } => &format!("name one of them: `--format {}`", Runtime::CLAUDE_CODE.format()),
        EngineError::Mixed { commit, found } => &format!(
            "`--format {}` translates all of it; `ctx log {}` shows where it changes",
            found.iter().find(|format| formats::encoder(format).is_some()).map_or("text", Format::as_str),
            commit.short()
        ),
        EngineError::Unjoinable { commit, .. } => &format!("`ctx show {}` tells where it came from", commit.short()),
        EngineError::NoSealKey { .. } => "`ctx secrets key --help` says how a machine gets it",
        EngineError::PolicyChanged => "try again",
        EngineError::SecretRules(_) => "`ctx secrets rules --help` shows what they look like",
        EngineError::SecretsInside { .. } => "`--masked` leaves them out, `--reveal` hands them out as they are",
        EngineError::NoAncestor { .. }
        | EngineError::Annotation(_)
        | EngineError::Name(_)
        | EngineError::Mentions(_)
        | EngineError::NoSummaryEntry(_)
        | EngineError::OtherContent { .. }
        | EngineError::JsonText(_)
        | EngineError::Bundle {
            problem:
                BundleProblem::Magic
                | BundleProblem::Truncated
                | BundleProblem::Digest
                | BundleProblem::Frame(_)
                | BundleProblem::Record(_),
        }
        | EngineError::Io { .. } => return None,
    };
    Some(hint.to_owned())
}

fn in_the_store(error: &StoreError) -> Option<String> {
    let hint: &str = match error {
        StoreError::Open { source, .. } => match source.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => "a store is a directory: `--store DIR`",
            _ => "`--store DIR` names another place",
        },
        StoreError::Newer { .. } => UPGRADE,
        StoreError::Foreign { .. } => {
            "`--store` names another directory, or another schema: postgres://USER@HOST/DATABASE?schema=NAME"
        }
        StoreError::Unreachable { server, source } => match source.downcast_ref::<io::Error>().map(io::Error::kind) {
            // What the system does not know is about encryption, and what the server said needs no hint.
            None | Some(io::ErrorKind::InvalidData | io::ErrorKind::Other) => return None,
            Some(_) => &format!("`pg_isready {}` asks whether a server is there", address(server)),
        },
        StoreError::Login { .. } => {
            "name the user as postgres://USER@HOST/DATABASE; `ctx store --help` says where a password can be kept"
        }
        StoreError::Unproven { source, .. } if source.to_string().contains("does not support TLS") => {
            "turn on the server's encryption; `sslmode=disable` in the address goes without, and anybody on the way reads along"
        }
        StoreError::Unproven { .. } => {
            "`sslrootcert=FILE` in the address names an authority that vouches for it; `sslmode=require` takes any server for it"
        }
        StoreError::NoDatabase { server, database } => &format!("`createdb {} {database}` makes it", address(server)),
        StoreError::Denied { grant, .. } => &to_owner(grant),
        StoreError::Lost { .. } => "run the same command again; with `--key` it cannot happen twice",
        StoreError::PartRemoved { .. } => "store it again; `ctx gc` had a shorter `--grace` than that takes",
        StoreError::Busy(_) => "nothing was written; run the same command again",
        StoreError::ReadOnly => "`ctx store check` says why",
        StoreError::Disk { .. } => "`ctx fsck` checks what the disk kept",
        StoreError::Replaced { .. } => "`ctx store check` says what is there now; then run the same command again",
        StoreError::Damaged { .. } | StoreError::DamagedArtifact(_) => DAMAGE,
        StoreError::NoCommit(_)
        | StoreError::NoParent(_)
        | StoreError::NoMerged(_)
        | StoreError::NoMatch { noun: "commit", .. } => COMMITS,
        StoreError::Ambiguous { .. } => "type more of the one you mean",
        StoreError::NoHead(_) => "`ctx head list` shows the heads",
        StoreError::HeadConflict { head, expected, actual } => {
            let log = format!("`ctx head log {head}` shows who");
            &match (expected, actual) {
                (None, _) => format!("{log} made it"),
                (Some(_), Some(actual)) => format!("{log} moved it; then retry with `--expect {actual}`"),
                (Some(_), None) => format!("{log} deleted it; then retry with `--expect none`"),
            }
        }
        StoreError::KeyConflict { commit, .. } => {
            &format!("`ctx show {}` shows what the key was used for", commit.short())
        }
        StoreError::Channel(error) => return in_a_channel(error),
        StoreError::Database { .. }
        | StoreError::DiskFull
        | StoreError::Poisoned { .. }
        | StoreError::Closed
        | StoreError::Input(_)
        | StoreError::NoArtifact(_)
        | StoreError::Withheld(_)
        | StoreError::NoEnvelope(_)
        | StoreError::TooManyArtifacts { .. }
        | StoreError::NoMissing(_)
        | StoreError::NoMatch { .. } => return None,
    };
    Some(hint.to_owned())
}

fn in_a_channel(error: &ChannelError) -> Option<String> {
    let hint: &str = match error {
        ChannelError::NoChannel(_) | ChannelError::NoSuchName(_) => {
            "`ctx channel list` shows those that there are; `ctx channel create NAME` makes one"
        }
        ChannelError::NameTaken { name, .. } => &format!("`ctx channel show {name}` shows it"),
        ChannelError::Closed { channel, .. } => &format!("`ctx channel open {channel}` opens it again"),
        ChannelError::Moved { channel, expected, last } => &format!(
            "`ctx channel read {channel} --after {expected}` shows what came since; then retry with `--expect {last}`"
        ),
        ChannelError::MessageConflict { channel, sequence, .. } => {
            &format!("`ctx channel read {channel} {sequence}` shows that message")
        }
        ChannelError::NoMessage { channel, .. } => {
            &format!("`ctx channel read {channel}` shows the messages there are")
        }
        ChannelError::LargeMessage { .. } => "`ctx artifact put FILE` keeps it; a message can name its id",
        ChannelError::SlugTaken { channel, .. }
        | ChannelError::NotAnAgent { channel, .. }
        | ChannelError::SessionElsewhere { channel, .. } => {
            &format!("`ctx channel participants {channel}` shows who takes part")
        }
        ChannelError::NotParticipant { channel, key } => &format!(
            "`ctx channel participants {channel}` shows who takes part; with `--add {key}` it registers an agent"
        ),
        ChannelError::NothingToAnswer { channel, .. } => &format!("`ctx channel follow {channel}` waits for something"),
        ChannelError::NotForAgent { channel, message, .. } => {
            &format!("`ctx channel read {channel} {message}` shows whom it is for")
        }
        ChannelError::NoTurn(_) => "`ctx channel turn begin` prints the id of each",
        ChannelError::Refused(refusal) => &of_turn(refusal),
        ChannelError::LargeBatch { .. } | ChannelError::Full(_) => return None,
    };
    Some(hint.to_owned())
}

fn of_turn(refusal: &TurnRefusal) -> String {
    match refusal {
        TurnRefusal::Held { turn, .. } => {
            let turn = turn.short();
            format!(
                "`--wait 10m` waits for it; `ctx channel turn finish {turn} --fail REASON` ends it if its holder is gone"
            )
        }
        TurnRefusal::Acknowledged { .. } => "`ctx channel rewind` has messages offered again".to_owned(),
        TurnRefusal::NoMessage { .. } => "`ctx channel read` shows the messages there are".to_owned(),
        TurnRefusal::NotOffered { turn, .. } | TurnRefusal::Over { turn, .. } => {
            format!("`ctx channel turn show {}` shows what it was offered and how it ended", turn.short())
        }
        TurnRefusal::NotBack { .. } => "a cursor goes forward only when a turn is finished".to_owned(),
    }
}

/// Returns how a store can be made all the same.
fn past(obstacle: &Obstacle) -> Option<String> {
    match obstacle {
        Obstacle::Rights { grant } => Some(to_owner(grant)),
        Obstacle::ReadOnlyTransactions => Some("name a user that may write: postgres://USER@HOST/DATABASE".to_owned()),
        Obstacle::Standby => Some("make it on the server that this one follows".to_owned()),
        Obstacle::Files => None,
    }
}

fn among_recipes(name: &str, known: &[String]) -> String {
    let there = format!("there are {}", known.join(", "));
    match contexture_assembly::nearest(name, known.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`? {there}"),
        None => format!("{there}; a path names a file"),
    }
}

/// Returns what the owner of a database has to type.
fn to_owner(grant: &str) -> String {
    format!("the owner of the database can type `{grant}`")
}

/// Writes the first of a server's addresses as PostgreSQL's own programs take it.
fn address(server: &str) -> String {
    let first = server.split(',').next().unwrap_or(server);
    let (host, port) = first.rsplit_once(':').unwrap_or((first, "5432"));
    format!("-h {host} -p {port}")
}
