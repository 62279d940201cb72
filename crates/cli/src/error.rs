//! How a run of the program ends, and what it says when that is not well.

mod code;
mod exit;
mod hint;
#[cfg(test)]
mod page;
#[cfg(test)]
mod samples;
mod suggestion;
mod unprepared;

use std::{
    env,
    io::{self, Write as _},
    path::PathBuf,
    process::{ExitCode, ExitStatus},
};

use anstream::{AutoStream, ColorChoice};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use contexture::{
    Coded as _, Erasure, Error as EngineError, ErrorCode, FileRefusal, Location, LocationError, QueryError,
    SealKeyError, StoreError,
    core::{EnvelopeId, FingerprintError, NameError, Principal, TimeError, Timestamp},
    inspect::Obstacle,
    wire::{self, FailureBody, FailureDocument, SkippedFile, Versioned},
};
use contexture_assembly::{check::Level, packs, recipe};
use contexture_capture::{CheckpointIntervalError, Error as CaptureError, Untraced};

use crate::{
    args::Color,
    input::Input,
    output::{self, Palette, Passing, Shape},
    recipes,
};
pub(crate) use exit::Exit;
pub(crate) use unprepared::Unprepared;

/// Result of a command.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The operation failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A session was not taken in, compared or written.
    #[error(transparent)]
    Capture(CaptureError),
    /// The operation failed because of a file, or while it was read.
    #[error("cannot take in {input}")]
    Content { input: Input, source: EngineError },
    /// A content cannot stand for a history.
    #[error("cannot take {input} as a summary")]
    Summary { input: Input, source: EngineError },
    /// A file cannot be read.
    #[error("cannot read {input}")]
    Read { input: Input, source: io::Error },
    /// Something that was named is not to be read.
    #[error("cannot read {input}: {source}")]
    Refused { input: Input, source: FileRefusal },
    /// A directory stands where a file belongs.
    #[error("cannot read {}: it is a directory", path.display())]
    Directory { path: PathBuf },
    /// A file cannot be written.
    #[error("cannot write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// Standard output cannot be written.
    #[error("cannot write to standard output")]
    Stdout(#[source] io::Error),
    /// The terminal cannot be used.
    #[error("cannot use the terminal")]
    Terminal(#[source] io::Error),
    /// Nothing says how the content is written.
    #[error("nothing tells the format of {}: name it with --format", input.as_ref().map_or_else(|| "the artifact".to_owned(), ToString::to_string))]
    NoFormat { input: Option<Input> },
    /// Counts and content cannot share standard output.
    #[error("--json needs -o FILE here, because the {content} itself goes to standard output")]
    JsonBesideContent { content: &'static str },
    /// A summary is too large to be one.
    #[error("cannot take {input} as a summary: it has more than {max_mebibytes} MiB")]
    LargeSummary { input: Input, max_mebibytes: u64 },
    /// An annotation is not text.
    #[error("cannot take {input} as a summary: it is not UTF-8")]
    BinarySummary { input: Input },
    /// A file does not hold packs.
    #[error("cannot take {input} as packs")]
    Packs { input: Input, source: packs::PackRefusal },
    /// A file is too large to hold packs.
    #[error("cannot take {input} as packs: it has more than {max_mebibytes} MiB")]
    LargePacks { input: Input, max_mebibytes: u64 },
    /// What belongs to a trigger is not JSON.
    #[error("cannot take {input} as data")]
    TriggerData { input: Input, source: serde_json::Error },
    /// A file is too large for what it is.
    #[error("cannot take in {input}: it has more than {max_mebibytes} MiB")]
    LargeInput { input: Input, max_mebibytes: u64 },
    /// A file does not hold a recipe.
    #[error("cannot take {input} as a recipe")]
    Recipe { input: Input, source: recipe::RecipeRefusal },
    /// A file is too large to hold a recipe.
    #[error("cannot take {input} as a recipe: it has more than {max_mebibytes} MiB")]
    LargeRecipe { input: Input, max_mebibytes: u64 },
    /// Nothing is known by the name of a recipe.
    #[error("there is no recipe {name:?}")]
    NoRecipe { name: String, known: Vec<String> },
    /// Only a recipe of the project is known by a name, and nobody trusts it.
    #[error("the recipe {name:?} of this project is {}", recipes::trust_text(*trust))]
    UntrustedRecipe { name: String, path: String, trust: recipe::RecipeTrust },
    /// A text names no secret.
    #[error(transparent)]
    Fingerprint(#[from] FingerprintError),
    /// A file does not hold the key of a sealed space.
    #[error("cannot take {input} as a key")]
    SealKey { input: Input, source: SealKeyError },
    /// The space has no key, because nothing is sealed there.
    #[error("the secrets of this space are not sealed, so it has no key")]
    NotSealed,
    /// Some recipes are not good.
    #[error("{} not good", if *checked == 1 { "the recipe is".to_owned() } else { format!("{bad} of {checked} recipes are") })]
    BadRecipes { bad: u64, checked: u64 },
    /// An envelope has no such target.
    #[error("{envelope} was not made for {target}; it was made for {made}")]
    NoTarget { envelope: EnvelopeId, target: String, made: String },
    /// There are no envelopes.
    #[error("nothing was assembled yet")]
    NoEnvelopes,
    /// An envelope cannot be made again as it was.
    #[error("{envelopes} envelope{} came out differently", if *envelopes == 1 { "" } else { "s" })]
    NotReplayed { envelopes: u64 },
    /// A file is too large to be checked.
    #[error("cannot check {input}: it has more than {max_mebibytes} MiB")]
    LargeRecords { input: Input, max_mebibytes: u64 },
    /// Records are not good for what was demanded.
    #[error("{input} does not reach {demanded} {}", demanded.name())]
    BelowLevel { input: Input, demanded: Level },
    /// The environment holds a text that cannot be a name.
    #[error("cannot use what {origin} says")]
    Name { origin: &'static str, source: NameError },
    /// The environment or a flag holds a text that is not a time.
    #[error("cannot use what {origin} says")]
    Time { origin: &'static str, source: TimeError },
    /// A relative time leads out of the calendar.
    #[error("{text:?} leads to a time outside the years -9999 to 9999")]
    TimeRange { text: String },
    /// A flag or variable holds a text that says of no store where it is.
    #[error("cannot use what {origin} says as a store")]
    Location { origin: &'static str, source: LocationError },
    /// The environment says of no interval what it is.
    #[error("cannot use what CTX_EVERY says")]
    Interval { source: CheckpointIntervalError },
    /// The user's configuration is not as expected. It may hold a password, so what is wrong is not shown.
    #[error("cannot use what {} says in line {line}", path.display())]
    Configuration { path: PathBuf, line: usize },
    /// Others can read or change a file that holds a password, or says where the store is.
    #[error("{} is not this user's alone: {}", path.display(), exposure(*mode, *is_own))]
    ExposedPassword { path: PathBuf, mode: u32, is_own: bool },
    /// There is no store, and nothing can be written where it would be.
    #[error("there is no store at {place}, and none can be made")]
    NoStore { place: Location, obstacle: Obstacle },
    /// There is no place for a store.
    #[error("there is no home directory to keep a store in")]
    NoHome,
    /// A principal had not made a commit by then.
    #[error("{principal} has no commit at or before {at}")]
    NothingKnown { principal: Principal, at: Timestamp },
    /// A text is no query.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Nothing matches a query.
    #[error("nothing matches {text:?} in {} ({} of text)", output::counted(*passages, "passage"), output::size(*bytes))]
    NothingFound { text: String, passages: u64, bytes: u64 },
    /// There is nothing to export.
    #[error("there are no heads to export")]
    NoHeads,
    /// A directory holds something already.
    #[error("{} is not empty", path.display())]
    NotEmpty { path: PathBuf },
    /// A copy is not equal to its original.
    #[error("the copy differs from the original in {what}")]
    Unequal { what: &'static str },
    /// The store is not what it claims to be.
    #[error("the store is damaged in {problems} place{}", if *problems == 1 { "" } else { "s" })]
    Unsound { problems: u64 },
    /// Some files do not come back as they are.
    #[error("the store does not give back {files} file{} as they are", if *files == 1 { "" } else { "s" })]
    NotReproduced { files: u64 },
    /// Files that were named are no sessions, or cannot be read.
    #[error("{}", not_taken_in(files))]
    NotTakenIn { files: Vec<SkippedFile> },
    /// Not everything that was looked at is well.
    #[error("{problems} problem{}", if *problems == 1 { " is left" } else { "s are left" })]
    Unwell { problems: u64 },
    /// An agent cannot be started.
    #[error("cannot start {program}")]
    Start { program: &'static str, line: String, source: io::Error },
    /// An agent ended badly.
    #[error("{program} ended with {status}")]
    Ended { program: &'static str, status: ExitStatus },
    /// A program cannot be started.
    #[error("cannot start {program}")]
    Spawn { program: String, source: io::Error },
    /// A program that was run has ended badly, and has said why itself.
    #[error("{program} ended with {code}")]
    Passed { program: String, code: u8 },
    /// A program is no agent that could go on with a session.
    #[error("{program} is no agent that is known, so it cannot go on from a commit")]
    NoAgent { program: String },
    /// Nothing says which agent is to start afresh.
    #[error("a fresh start comes from no agent, so nothing tells which one is to start")]
    NoFreshAgent,
    /// Agents cannot be set up.
    #[error(transparent)]
    Unprepared(#[from] Unprepared),
    /// Something cannot be led back to its context.
    #[error(transparent)]
    Untraced(#[from] Untraced),
    /// What was purged is in files of the store still.
    #[error("what was purged is gone for whoever asks the store, but its files hold it still, {}", match erasure {
        Erasure::NoRights => "because the user does not own the tables",
        Erasure::InUse | Erasure::Complete => "because somebody else is using it",
    })]
    NotErased { erasure: Erasure },
    /// A text names nothing that could be purged.
    #[error("{text:?} names no head, commit, session or artifact")]
    NothingToPurge { text: String },
    /// The program itself could not start.
    #[error("cannot start")]
    Runtime(#[source] io::Error),
}

fn not_taken_in(files: &[SkippedFile]) -> String {
    match files {
        [SkippedFile { path, reason }] => format!("cannot take in {}: {reason}", path.display()),
        files => format!("cannot take in {}", output::counted(files.len() as u64, "file")),
    }
}

impl From<CaptureError> for Error {
    fn from(error: CaptureError) -> Self {
        match error {
            CaptureError::Engine(error) => Self::Engine(error),
            CaptureError::Untraced(untraced) => Self::Untraced(untraced),
            CaptureError::NothingKnown { principal, at } => Self::NothingKnown { principal, at },
            CaptureError::Location(source) => Self::Location { origin: "--store", source },
            CaptureError::Unreadable { path, source } => Self::Read { input: Input::File(path), source },
            other => Self::Capture(other),
        }
    }
}

impl Error {
    /// Names the content where an operation failed because of it.
    pub(crate) fn about(input: Input, error: EngineError) -> Self {
        match error {
            EngineError::Empty
            | EngineError::Malformed { .. }
            | EngineError::NoSummaryEntry(_)
            | EngineError::Bundle { .. }
            | EngineError::Io { .. }
            | EngineError::Store(StoreError::Input(_)) => Self::Content { input, source: error },
            other => Self::Engine(other),
        }
    }

    /// Names the summary where a compaction failed because of it.
    pub(crate) fn about_summary(input: Input, error: EngineError) -> Self {
        match Self::about(input, error) {
            Self::Content { input, source } => Self::Summary { input, source },
            other => other,
        }
    }

    /// Returns how the program ends because of this.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Passed { code, .. } => Exit::Passed(*code),
            _ => Exit::of(self.code()),
        }
    }

    /// Tells whether whoever has failed has said so.
    pub(crate) fn is_reported(&self) -> bool {
        matches!(self, Self::Passed { .. })
    }

    /// Tells whether the reader of standard output has gone away, which is its right.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Stdout(source) if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns the lines that tell a person what failed, why, and what to type next. Further lines of a text are moved in,
    /// so that none passes for the start of another.
    pub(crate) fn to_text(&self, palette: &Palette) -> String {
        let Palette { error, hint, .. } = palette;
        let shown = |text: &str| output::clean(text.trim_end(), Passing::LINES).replace('\n', "\n    ");
        let mut lines = vec![format!("{error}error:{error:#} {}", shown(&self.to_string()))];
        lines.extend(self.causes().iter().map(|cause| format!("  because: {}", shown(cause))));
        lines.extend(hint::after(self).map(|text| format!("  {hint}hint:{hint:#} {}", shown(&text))));
        lines.join("\n")
    }

    /// Returns what failed and why, in one line.
    pub(crate) fn in_one_line(&self) -> String {
        let parts: Vec<String> = std::iter::once(self.to_string()).chain(self.causes()).collect();
        parts.join(": ")
    }

    /// Returns the document that tells a program the same.
    pub(crate) fn to_document(&self) -> Versioned<FailureDocument> {
        let (message, causes, hint) = (self.to_string(), self.causes(), hint::after(self));
        Versioned::new(FailureDocument { error: FailureBody { code: self.code(), message, causes, hint } })
    }

    /// Returns what led to this, nearest first, without what was said already.
    fn causes(&self) -> Vec<String> {
        if let Self::Packs { source: packs::PackRefusal::Mistakes { mistakes }, .. }
        | Self::Recipe { source: recipe::RecipeRefusal::Mistakes { mistakes }, .. } = self
        {
            return mistakes.iter().map(ToString::to_string).collect();
        }
        wire::causes(self)
    }
}

fn exposure(mode: u32, is_own: bool) -> String {
    if is_own { format!("its mode is {mode:o}") } else { "it belongs to somebody else".to_owned() }
}

/// Answers a command line that was not understood, or one that asks for help.
pub(crate) fn refuse(mut refusal: clap::Error, shape: Shape) -> ExitCode {
    let helps = matches!(refusal.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) =
        (refusal.kind(), refusal.get(ContextKind::InvalidSubcommand))
    {
        return no_command(word, shape);
    }
    let reason = clean_arguments(&mut refusal);
    // The text of the value's own parser is the one part that the error does not let go of.
    let clean_reason = |text: String| match &reason {
        Some(reason) => text.replace(reason, &output::clean(reason, Passing::LINE)),
        None => text,
    };
    // Nobody is left to tell when a stream is closed.
    let _printed = if helps {
        let is_coloured = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
        io::stdout().write_all(rendered(&refusal, is_coloured, clean_reason).as_bytes())
    } else if shape == Shape::Json {
        let text = rendered(&refusal, false, clean_reason);
        let text = output::without_passwords(&text);
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let message = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let causes = lines.filter(|line| !line.starts_with("Usage:") && !line.starts_with("For more")).map(Into::into);
        let error = FailureBody { code: ErrorCode::Usage, message, causes: causes.collect(), hint: None };
        let document = serde_json::to_string(&Versioned::new(FailureDocument { error }));
        writeln!(io::stderr(), "{}", document.expect("texts have a JSON form"))
    } else {
        let is_coloured = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
        let text = rendered(&refusal, is_coloured, clean_reason);
        io::stderr().write_all(output::without_passwords(&text).as_bytes())
    };
    if helps { Exit::Done.into() } else { Exit::Usage.into() }
}

/// Answers a command that there is not with the one that was probably meant.
fn no_command(word: &str, shape: Shape) -> ExitCode {
    let (typed, hint) = suggestion::of(word, env::args_os());
    let typed = output::without_passwords(&typed);
    let message = format!("there is no command `{}`", output::clean(&typed, Passing::LINE));
    // Nobody is left to tell when the stream is closed.
    let _printed = if shape == Shape::Json {
        let error = FailureBody { code: ErrorCode::Usage, message, causes: Vec::new(), hint: Some(hint) };
        let document = serde_json::to_string(&Versioned::new(FailureDocument { error }));
        writeln!(io::stderr(), "{}", document.expect("texts have a JSON form"))
    } else {
        let Palette { error, hint: mark, .. } = Palette::for_stream(Color::Auto, &io::stderr());
        writeln!(io::stderr(), "{error}error:{error:#} {message}\n  {mark}hint:{mark:#} {hint}")
    };
    Exit::Usage.into()
}

/// Makes each argument that an error repeats one harmless line. Returns why a value was refused, which stays as it is.
fn clean_arguments(refusal: &mut clap::Error) -> Option<String> {
    let line = |text: &str| output::clean(text, Passing::LINE).into_owned();
    let repeated: Vec<_> = refusal.context().map(|(kind, value)| (kind, value.clone())).collect();
    for (kind, value) in repeated {
        let cleaned = match value {
            ContextValue::String(text) => ContextValue::String(line(&text)),
            ContextValue::Strings(texts) => ContextValue::Strings(texts.iter().map(|text| line(text)).collect()),
            // These are of the grammar.
            _ => continue,
        };
        refusal.insert(kind, cleaned);
    }
    std::error::Error::source(refusal).map(ToString::to_string)
}

fn rendered(refusal: &clap::Error, is_coloured: bool, clean_reason: impl Fn(String) -> String) -> String {
    let text = refusal.render();
    let text = if is_coloured { text.ansi().to_string() } else { text.to_string() };
    output::clean(&clean_reason(text), Passing { styles: is_coloured, line_feeds: true }).into_owned()
}
