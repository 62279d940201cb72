//! Errors of every code.

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::Arc,
    time::Duration,
};

use contexture::{
    AssemblyProblem, BundleProblem, ChannelError, Erasure, Error as EngineError, FileKind, FileRefusal, JsonTextError,
    Location, LocationError, QueryError, SealKeyError, StoreError, UserRules, WithheldCause, WithheldContent,
    core::{
        Actor, ArtifactId, ChannelId, ChannelName, ChannelState, CommitId, CommitKind, EnvelopeId, Fingerprint, Format,
        GivenSessionId, HeadName, IdempotencyKey, MessageId, MessageSequence, MissingId, ParticipantKey,
        ParticipantSlug, Principal, RecordError, RuntimeSessionId, SummaryText, Timestamp, TurnId, TurnRefusal,
    },
    formats::{ContentPosition, FormatError, JoinError},
    inspect::Obstacle,
    wire::SkippedFile,
};
use contexture_assembly::{
    check::Level,
    packs::PackRefusal,
    pipeline::Rejected,
    recipe::{RecipeRefusal, RecipeTrust},
};
use contexture_capture::{CheckpointIntervalError, Error as CaptureError, Git, PossibleSessions, Runtime, Untraced};

use super::{Error, Unprepared};
use crate::{input::Input, setup::Misfit};

/// Makes at least one error of every code that a command can fail with.
pub(super) fn samples() -> Vec<Error> {
    let stored = store().into_iter().map(EngineError::from);
    let mut samples: Vec<Error> = stored.chain(engine()).map(Error::from).collect();
    samples.extend(capture().into_iter().map(Error::from));
    samples.extend(inputs());
    samples.extend(answers());
    samples.extend(programs());
    samples.extend(unprepared().into_iter().map(Error::from));
    samples.extend(untraced().into_iter().map(Error::from));
    // Only git makes its refusals.
    samples.extend(Git::new("git").ask(Path::new("."), "be asked", &["no-such-command"]).err().map(Error::from));
    samples
}

fn commit() -> CommitId {
    CommitId::from_bytes([1; 16])
}

fn envelope() -> EnvelopeId {
    EnvelopeId::of(b"{}")
}

fn text() -> String {
    "text".to_owned()
}

fn path() -> PathBuf {
    PathBuf::from("file")
}

fn format() -> Format {
    Format::new("text").unwrap()
}

fn failure() -> io::Error {
    io::Error::other("no")
}

fn json() -> serde_json::Error {
    serde_json::from_str::<u8>("").unwrap_err()
}

fn store() -> Vec<StoreError> {
    let source: Arc<dyn std::error::Error + Send + Sync> = Arc::new(failure());
    let cause = || Arc::clone(&source);
    let artifact = ArtifactId::of(b"content");
    let head = HeadName::new("main").unwrap();
    let key = IdempotencyKey::new("key").unwrap();
    vec![
        StoreError::Open { path: path(), source: failure() },
        StoreError::Newer { store: text(), found: 9, known: 4 },
        StoreError::Foreign { store: text() },
        StoreError::Unreachable { server: text(), source: cause() },
        StoreError::Unproven { server: text(), source: cause() },
        StoreError::Login { server: text(), user: text(), source: cause() },
        StoreError::NoDatabase { server: text(), database: text() },
        StoreError::Denied { store: text(), user: text(), grant: text(), source: cause() },
        StoreError::Lost { server: text(), limit: Duration::ZERO, source: cause() },
        StoreError::Database { attempt: "read", source: cause() },
        StoreError::Busy(Duration::ZERO),
        StoreError::ReadOnly,
        StoreError::DiskFull,
        StoreError::Disk { source: cause() },
        StoreError::Replaced { path: path() },
        StoreError::Poisoned { source: Arc::new(StoreError::DiskFull) },
        StoreError::Closed,
        StoreError::Damaged { what: text() },
        StoreError::DamagedArtifact(artifact),
        StoreError::NoArtifact(artifact),
        StoreError::PartRemoved { artifact, part: artifact },
        StoreError::Withheld(Arc::new(withheld(artifact))),
        StoreError::NoCommit(commit()),
        StoreError::NoEnvelope(envelope()),
        StoreError::TooManyArtifacts { envelope: envelope(), count: 1 },
        StoreError::NoMissing(MissingId::of(b"{}")),
        StoreError::NoMatch { noun: "commit", prefix: text() },
        StoreError::Ambiguous { prefix: text(), candidates: Vec::new() },
        StoreError::NoParent(commit()),
        StoreError::NoMerged(commit()),
        StoreError::NoHead(head.clone()),
        StoreError::HeadConflict { head, expected: None, actual: Some(commit()) },
        StoreError::KeyConflict { key, commit: commit() },
    ]
    .into_iter()
    .chain(channels().into_iter().map(StoreError::Channel))
    .collect()
}

fn channels() -> Vec<ChannelError> {
    let channel = ChannelName::new("release").unwrap();
    let (id, sequence) = (MessageId::new("e1").unwrap(), MessageSequence::FIRST);
    let (key, slug) = (|| ParticipantKey::new("dev").unwrap(), || ParticipantSlug::new("dev").unwrap());
    let turn = TurnId::from_bytes([1; TurnId::LEN]);
    vec![
        ChannelError::NoSuchName(text()),
        ChannelError::NameTaken { name: channel.clone(), channel: ChannelId::of(b"{}") },
        ChannelError::Closed { channel: channel.clone(), state: ChannelState::Closed },
        ChannelError::Moved { channel: channel.clone(), expected: 1, last: 2 },
        ChannelError::MessageConflict { channel: channel.clone(), id, sequence },
        ChannelError::NoMessage { channel: channel.clone(), message: text() },
        ChannelError::LargeMessage { bytes: 9 },
        ChannelError::SlugTaken { channel: channel.clone(), slug: slug(), by: key() },
        ChannelError::NotParticipant { channel: channel.clone(), key: key() },
        ChannelError::NothingToAnswer { channel: channel.clone(), agent: slug() },
        ChannelError::NotForAgent { channel: channel.clone(), message: sequence, agent: slug() },
        ChannelError::SessionElsewhere { session: RuntimeSessionId::new("s").unwrap(), agent: key(), channel },
        ChannelError::NoTurn(turn),
        ChannelError::Refused(Box::new(TurnRefusal::Over { turn, state: "failed" })),
        ChannelError::Refused(Box::new(TurnRefusal::NotOffered { asked: sequence, turn, after: 1, through: sequence })),
        ChannelError::Refused(Box::new(TurnRefusal::Held {
            agent: key(),
            turn,
            holder: Actor::new("ada").unwrap(),
            since: Timestamp::from_micros(0).unwrap(),
            expires_at: Timestamp::from_micros(1).unwrap(),
        })),
    ]
}

fn withheld(artifact: ArtifactId) -> WithheldContent {
    WithheldContent {
        artifact,
        cause: WithheldCause::Purged,
        reason: text(),
        by: Actor::new("ada").unwrap(),
        at: Timestamp::from_micros(0).unwrap(),
        is_partial: false,
    }
}

fn engine() -> Vec<EngineError> {
    let artifact = ArtifactId::of(b"content");
    let commit = commit();
    let not_text = FormatError::NotUtf8 { place: ContentPosition::Byte { offset: 0 } };
    let too_long = SummaryText::new("x".repeat(SummaryText::MAX_BYTES + 1)).unwrap_err();
    vec![
        EngineError::SearchIndex(StoreError::Damaged { what: text() }),
        EngineError::Reference { text: text() },
        EngineError::NoSessions { project: None },
        EngineError::NoSessionNumber { number: 7, sessions: 3 },
        EngineError::NoAncestor { commit, depth: 1, back: 2 },
        EngineError::Empty,
        EngineError::Malformed { format: format(), source: not_text },
        EngineError::Record(RecordError::NeedsParent(CommitKind::Compaction)),
        EngineError::Record(RecordError::Newer { found: 9 }),
        EngineError::Annotation(too_long),
        EngineError::NoSummaryEntry(format()),
        EngineError::NotAnAncestor { stop: commit, commit },
        EngineError::AbsentArtifact { commit, artifact },
        EngineError::OtherContent { given: artifact, found: artifact },
        EngineError::Assembly(AssemblyProblem::SameItem { id: text() }),
        EngineError::NoSource { recipe: text(), name: "items" },
        EngineError::NotInEnvelope { envelope: envelope(), thing: text() },
        EngineError::Rejected(Rejected::TooLong { target: "model".parse().unwrap(), chars: 2, max: 1 }),
        EngineError::JsonText(JsonTextError::TooLong { bytes: 1 }),
        EngineError::NotNative { commit, found: vec![format()], wanted: format() },
        EngineError::Unwritable { wanted: format(), writable: Vec::new() },
        EngineError::Mixed { commit, found: vec![format()] },
        EngineError::Unjoinable { commit, source: JoinError::Parts { planned: 1, found: 2 } },
        EngineError::Bundle { problem: BundleProblem::Newer { found: 9, known: 2 } },
        EngineError::Bundle { problem: BundleProblem::Truncated },
        EngineError::NoSealKey { recipient: "00".repeat(32).try_into().unwrap() },
        EngineError::PolicyChanged,
        EngineError::SecretRules(UserRules::parse("[").unwrap_err()),
        EngineError::SecretsInside { secrets: 2 },
        EngineError::Io { attempt: "read", source: failure() },
    ]
}

fn capture() -> Vec<CaptureError> {
    vec![
        CaptureError::Overtaken { path: path() },
        CaptureError::NoPlace { runtime: Runtime::CODEX },
        CaptureError::State(failure()),
        CaptureError::NoSession { name: text() },
        CaptureError::SeveralSessions { candidates: PossibleSessions(Vec::new()) },
        CaptureError::NothingCaptured { session: GivenSessionId::new(text()) },
        CaptureError::NotStored { problem: text() },
        CaptureError::NoRuntime { commit: commit(), format: format() },
    ]
}

/// What is wrong with what a command was given.
fn inputs() -> Vec<Error> {
    let input = Input::Stdin;
    let max_mebibytes = 1;
    vec![
        Error::Read { input: input.clone(), source: failure() },
        Error::Refused { input: input.clone(), source: FileRefusal::LeadsOut },
        Error::Refused { input: input.clone(), source: FileRefusal::NotRegular(FileKind::Pipe) },
        Error::Directory { path: path() },
        Error::NoFormat { input: Some(input.clone()) },
        Error::JsonBesideContent { content: "bundle" },
        Error::LargeSummary { input: input.clone(), max_mebibytes },
        Error::BinarySummary { input: input.clone() },
        Error::Packs { input: input.clone(), source: PackRefusal::Json(json()) },
        Error::TriggerData { input: input.clone(), source: json() },
        Error::LargeInput { input: input.clone(), max_mebibytes },
        Error::Recipe { input: input.clone(), source: RecipeRefusal::Json(json()) },
        Error::LargeRecords { input: input.clone(), max_mebibytes },
        Error::BelowLevel { input, demanded: Level::ALL[0] },
        Error::BadRecipes { bad: 1, checked: 2 },
        Error::UntrustedRecipe { name: text(), path: text(), trust: RecipeTrust::Untrusted },
        Error::NoRecipe { name: text(), known: Vec::new() },
        Error::Fingerprint("x".parse::<Fingerprint>().unwrap_err()),
        Error::SealKey { input: Input::Stdin, source: SealKeyError::Line(1) },
        Error::NotSealed,
        Error::Name { origin: "CTX_SPACE", source: HeadName::new("").unwrap_err() },
        Error::TimeRange { text: text() },
        Error::Location { origin: "--store", source: LocationError::Scheme { scheme: text() } },
        Error::Query(QueryError::TooLong),
    ]
}

/// What a command found, or did not find.
fn answers() -> Vec<Error> {
    let (principal, at) = (Principal::new("ada").unwrap(), Timestamp::from_micros(0).unwrap());
    vec![
        Error::Write { path: path(), source: failure() },
        Error::NoTarget { envelope: envelope(), target: text(), made: text() },
        Error::NoEnvelopes,
        Error::NotReplayed { envelopes: 1 },
        Error::Interval { source: CheckpointIntervalError },
        Error::Configuration { path: path(), line: 1 },
        Error::ExposedPassword { path: path(), mode: 0o644, is_own: true },
        Error::NoStore { place: Location::Directory(path()), obstacle: Obstacle::Files },
        Error::NoHome,
        Error::NothingKnown { principal, at },
        Error::NothingFound { text: text(), passages: 1, bytes: 1 },
        Error::NoHeads,
        Error::NoFreshAgent,
        Error::NotErased { erasure: Erasure::InUse },
        Error::NothingToPurge { text: text() },
        Error::NotEmpty { path: path() },
        Error::Unequal { what: "commits" },
        Error::Unsound { problems: 1 },
        Error::NotReproduced { files: 1 },
        Error::NotTakenIn { files: vec![SkippedFile { path: path(), reason: text() }] },
        Error::Unwell { problems: 1 },
    ]
}

/// What is wrong with agents and other programs.
fn programs() -> Vec<Error> {
    vec![
        Error::Start { program: "codex", line: text(), source: failure() },
        Error::Ended { program: "codex", status: ExitStatus::default() },
        Error::Spawn { program: text(), source: failure() },
        Error::Passed { program: text(), code: 1 },
        Error::NoAgent { program: text() },
        Error::Runtime(failure()),
    ]
}

fn unprepared() -> Vec<Unprepared> {
    let runtime = Runtime::CODEX;
    vec![
        Unprepared::NoAgents,
        Unprepared::NoSettings { runtime },
        Unprepared::Settings { path: path(), runtime, source: Misfit::Syntax(json()) },
        Unprepared::NotOurs { path: path() },
        Unprepared::Occupied { path: path(), aside: path() },
        Unprepared::Unconfirmed,
        Unprepared::NoProgram(failure()),
        Unprepared::NotText { what: "the path" },
        Unprepared::PasswordInAddress { configuration: path() },
    ]
}

fn untraced() -> Vec<Untraced> {
    vec![
        Untraced::Git(failure()),
        Untraced::NoRepository,
        Untraced::NoRevision { revision: text() },
        Untraced::Lines { text: text() },
        Untraced::NoLine { file: text(), line: 2, count: 1 },
        Untraced::NoContext { what: text() },
    ]
}
