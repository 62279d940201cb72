//! `ctx import`: sessions of other runtimes become chains of commits.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use contexture::{
    Contexture,
    capture::{self, FileOutcome, ImportSettings, ImportedFile, SessionFile, Verified, opencode},
    core::{Format, Machine, Timestamp},
    formats::{self, Framing},
};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    input::Input,
    invocation::Invocation,
    output::{self, Output, Shape},
    time::When,
};

const EXAMPLES: &str = "\
Examples:
  ctx import
      everything that the runtimes of this user have kept
  ctx import ~/.claude/projects --since '7 days ago'
  ctx import messages.json --runtime openai-chat-v1
      a conversation that could be in more than one format
  ctx import --verify
      proves that the store gives every file back byte for byte
  ctx log --graph --all
      shows what came in";

/// Most files that a report names for one reason.
const MAX_NAMED: usize = 5;

/// Takes in the sessions that agents have kept
///
/// Each turn becomes a commit, each session a chain with a head `session/…`; what was taken back or done by other
/// agents becomes a branch. Running it again adds only what is new. The files themselves are never changed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Import {
    /// Files, or directories to search; the usual places when there are none
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only sessions of this runtime or format; a file that is named and not recognised is taken for one
    #[arg(long, value_name = "R", value_parser = wanted_parser(), hide_possible_values = true)]
    runtime: Option<Wanted>,
    /// Every session in the usual places, which is also what no PATH means
    #[arg(long, conflicts_with = "paths")]
    all: bool,
    /// Only files that were written at or after this time
    #[arg(long, value_name = "T")]
    since: Option<When>,
    /// Shows what would be taken in and takes in nothing
    #[arg(long, conflicts_with = "verify")]
    dry_run: bool,
    /// Compares each file with what the store gives back and takes in nothing
    #[arg(long)]
    verify: bool,
}

/// The runtimes that have formats of their own; their first format is that of their sessions.
const RUNTIMES: &[(&str, &[&str])] = &[
    ("claude-code", &["claude-code-v1", "claude-stream-v1"]),
    ("codex", &["codex-v1", "codex-exec-v1"]),
    ("gemini", &["gemini-v1", "gemini-stream-v1"]),
    ("pi", &["pi-v1"]),
    ("opencode", &["opencode-v1"]),
];

/// What is to be taken in: the formats of a runtime, or one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    name: String,
    formats: Vec<Format>,
}

/// Accepts the names of runtimes and formats.
fn wanted_parser() -> impl clap::builder::TypedValueParser<Value = Wanted> {
    let formats = formats::known().iter().map(|known| known.name);
    let readable = formats.filter(|name| Format::new(*name).is_ok_and(|format| formats::codec(&format).is_some()));
    let names: Vec<&'static str> = RUNTIMES.iter().map(|(name, _)| *name).chain(readable).collect();
    PossibleValuesParser::new(names).map(|name| {
        let formats =
            RUNTIMES.iter().find(|(runtime, _)| *runtime == name).map_or(vec![name.as_str()], |(_, all)| all.to_vec());
        let formats = formats.into_iter().filter_map(|format| Format::new(format).ok()).collect();
        Wanted { name, formats }
    })
}

/// Returns what wrote a format: a runtime, or the format itself without its version.
fn runtime_of(format: &Format) -> String {
    let name = format.as_str();
    let runtime = RUNTIMES.iter().find(|(_, formats)| formats.contains(&name));
    runtime.map_or(name.strip_suffix("-v1").unwrap_or(name), |(runtime, _)| runtime).to_owned()
}

/// A path to look at.
struct Lead {
    path: PathBuf,
    /// Whether somebody named this very file.
    is_named: bool,
}

/// A file that is to be taken in.
struct Candidate {
    path: PathBuf,
    runtime: String,
    format: Format,
    bytes: u64,
}

/// A file that is not.
#[derive(Debug, Serialize)]
struct Skipped {
    path: PathBuf,
    reason: String,
}

/// What became of all files of a runtime.
#[derive(Debug, Default, Clone, Copy, Serialize)]
struct Sum {
    files: u64,
    new_files: u64,
    grown_files: u64,
    unchanged_files: u64,
    new_commits: u64,
    branches: u64,
    bytes: u64,
    bad_lines: u64,
}

#[derive(Debug, Serialize)]
struct Closing {
    runtimes: BTreeMap<String, Sum>,
    skipped: Vec<Skipped>,
}

/// One compared file.
#[derive(Debug, Serialize)]
struct Compared {
    path: PathBuf,
    #[serde(flatten)]
    result: Verified,
}

impl Import {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let (candidates, skipped) = self.candidates(invocation)?;
        if self.dry_run {
            return show_plan(&candidates, &skipped, output);
        }
        let engine = invocation.open().await?;
        if self.verify {
            return verify(&engine, &invocation.environment.machine()?, &candidates, output).await;
        }
        take_in(&engine, invocation, candidates, skipped, output).await
    }

    /// Lists what is to be taken in and what is not.
    fn candidates(&self, invocation: &Invocation) -> Result<(Vec<Candidate>, Vec<Skipped>)> {
        let now = invocation.now()?;
        let since = self.since.as_ref().map(|since| since.resolve(now)).transpose()?;
        let found = |path| Lead { path, is_named: false };
        let mut files: Vec<Lead> = Vec::new();
        if self.paths.is_empty() {
            files.extend(capture::discover(&invocation.environment.homes).into_iter().map(|lead| found(lead.path)));
        }
        for path in &self.paths {
            let unreadable = |source| Error::Read { input: Input::File(path.clone()), source };
            if fs::metadata(path).map_err(unreadable)?.is_dir() {
                files.extend(capture::session_files(path).into_iter().map(found));
            } else {
                files.push(Lead { path: path.clone(), is_named: true });
            }
        }
        let (mut candidates, mut skipped) = (Vec::new(), Vec::new());
        for Lead { path, is_named } in files {
            // The same file by whatever name it is given.
            let path = fs::canonicalize(&path).unwrap_or(path);
            if opencode::is_database(&path) {
                match self.in_database(&path, since) {
                    Ok(sessions) => candidates.extend(sessions),
                    Err(error) => skipped.push(Skipped { path, reason: error.to_string() }),
                }
                continue;
            }
            match self.judge(&path, is_named, since) {
                Ok(Some(candidate)) => candidates.push(candidate),
                Ok(None) => {}
                Err(reason) => skipped.push(Skipped { path, reason }),
            }
        }
        candidates.sort_by(|a, b| a.path.cmp(&b.path));
        candidates.dedup_by(|a, b| a.path == b.path);
        Ok((candidates, skipped))
    }

    /// Lists the sessions of a database.
    fn in_database(
        &self,
        database: &Path,
        since: Option<Timestamp>,
    ) -> Result<Vec<Candidate>, opencode::DatabaseError> {
        let format = Format::new("opencode-v1").expect("the names of formats are legal");
        if self.runtime.as_ref().is_some_and(|wanted| !wanted.formats.contains(&format)) {
            return Ok(Vec::new());
        }
        let mut sessions = opencode::sessions(database)?;
        sessions.retain(|session| {
            let updated = Timestamp::from_micros(session.updated.saturating_mul(1000));
            since.zip(updated).is_none_or(|(since, updated)| updated >= since)
        });
        let candidate = |session: opencode::DatabaseSession| Candidate {
            path: opencode::path_in(database, &session.id),
            runtime: runtime_of(&format),
            format: format.clone(),
            bytes: session.bytes,
        };
        Ok(sessions.into_iter().map(candidate).collect())
    }

    /// Decides about one file: nothing is said of those that the flags leave out.
    fn judge(&self, path: &Path, is_named: bool, since: Option<Timestamp>) -> Result<Option<Candidate>, String> {
        let metadata = fs::metadata(path).map_err(|error| format!("it cannot be read: {error}"))?;
        let written = metadata.modified().ok().and_then(|time| jiff::Timestamp::try_from(time).ok());
        if since.zip(written).is_some_and(|(since, written)| Timestamp::from(written) < since) {
            return Ok(None);
        }
        let Some(format) = self.format_of(path, is_named)? else {
            return Ok(None);
        };
        let runtime = runtime_of(&format);
        Ok(Some(Candidate { path: path.to_owned(), runtime, format, bytes: metadata.len() }))
    }

    /// Decides what a file is, by what it holds and by what the flags say.
    fn format_of(&self, path: &Path, is_named: bool) -> Result<Option<Format>, String> {
        let detected = match capture::detect(path) {
            Ok(format) => format,
            Err(capture::NotASession::Unknown) if is_named && self.runtime.is_some() => {
                return Ok(self.runtime.as_ref().and_then(|wanted| wanted.formats.first().cloned()));
            }
            // A document of any kind may lie below a directory.
            Err(_) if !is_named && capture::is_document(path) => return Ok(None),
            Err(capture::NotASession::Unreadable(source)) => return Err(format!("it cannot be read: {source}")),
            Err(reason) => return Err(reason.to_string()),
        };
        let Some(Wanted { name, formats }) = &self.runtime else {
            return Ok(Some(detected));
        };
        if formats.contains(&detected) {
            return Ok(Some(detected));
        }
        // Arrays of messages look alike.
        let framing = |format: &Format| formats::codec(format).map(formats::Codec::framing);
        let is_array = |format: &&Format| framing(format) == Some(Framing::JsonArray);
        match formats.first().filter(is_array).filter(|_| is_named && is_array(&&detected)) {
            Some(wanted) => Ok(Some(wanted.clone())),
            None if is_named => Err(format!("it is {detected}, and --runtime asks for {name}")),
            None => Ok(None),
        }
    }
}

async fn take_in(
    engine: &Contexture,
    invocation: &Invocation,
    candidates: Vec<Candidate>,
    mut skipped: Vec<Skipped>,
    output: &mut Output,
) -> Result<()> {
    let environment = &invocation.environment;
    let (principal, machine) = (environment.principal()?, environment.machine()?);
    let total: u64 = candidates.iter().map(|candidate| candidate.bytes).sum();
    let bar = output.progress("Importing", Some(total)).counter();
    let mut runtimes: BTreeMap<String, Sum> = BTreeMap::new();
    let settings = |path: &Path, runtime: &str| ImportSettings {
        principal: Some(principal.clone()),
        machine: machine.clone(),
        runtime: runtime.to_owned(),
        agent: agent_of(path),
    };
    let file = |candidate: &Candidate| SessionFile {
        path: candidate.path.clone(),
        format: candidate.format.clone(),
        settings: settings(&candidate.path, &candidate.runtime),
    };
    // What comes out of a compressed file is more than the file.
    let files = engine.import_sessions(candidates.iter().map(file).collect(), &|at| bar.set(at.min(total))).await?;
    let mut imported = Vec::new();
    for (Candidate { path, runtime, .. }, file) in candidates.into_iter().zip(files) {
        match file {
            Ok(file) => {
                runtimes.entry(runtime).or_default().add(&file);
                imported.push(file);
            }
            // One file that cannot be read must not keep the others out.
            Err(source) => skipped.push(Skipped { path, reason: format!("it cannot be read: {source}") }),
        }
    }
    drop(bar);
    if runtimes.values().any(|sum| sum.new_commits > 0) {
        engine.link_sessions().await?;
    }
    if output.shape() == Shape::Json {
        for file in imported {
            output.document(file)?;
        }
        return output.document(Closing { runtimes, skipped });
    }
    for file in &imported {
        let framing = formats::codec(&file.format).map(formats::Codec::framing);
        let unit = if framing == Some(Framing::Lines) { "line" } else { "element" };
        if let Some(session) = &file.forked_from {
            let path = file.path.display();
            output
                .status(format_args!("{path}: it continues {session}, which is not here, so it is a chain of its own"));
        }
        if let Some(damage) = &file.damage {
            let reason = output::first_line(damage).into_owned();
            output.status(format_args!("{}: only the start could be read: {reason}", file.path.display()));
        }
        for bad in &file.bad_lines {
            let reason = output::first_line(&bad.reason).into_owned();
            output.status(format_args!("{}: {unit} {} is no record: {reason}", file.path.display(), bad.line));
        }
    }
    show_sums(&runtimes, output)?;
    show_skipped(&skipped, output);
    if runtimes.values().any(|sum| sum.new_commits > 0) {
        output.status("`ctx log --graph --all` shows what is there.");
    }
    Ok(())
}

impl Sum {
    fn add(&mut self, file: &ImportedFile) {
        self.files += 1;
        match file.outcome {
            FileOutcome::New | FileOutcome::Rewritten => self.new_files += 1,
            FileOutcome::Grown => self.grown_files += 1,
            FileOutcome::Unchanged => self.unchanged_files += 1,
        }
        self.new_commits += file.new_commits;
        self.branches += file.lanes.saturating_sub(1);
        self.bytes += file.bytes;
        self.bad_lines += file.bad_lines.len() as u64 + file.bad_lines_left_out;
    }
}

fn show_sums(runtimes: &BTreeMap<String, Sum>, output: &mut Output) -> Result<()> {
    if runtimes.is_empty() {
        output.status("There are no sessions to take in.");
        return Ok(());
    }
    let strong = output.palette.strong;
    let width = runtimes.keys().map(String::len).fold(12, usize::max);
    output.line(format_args!(
        "{strong}{:<width$} {:>8} {:>8} {:>8} {:>10} {:>10} {:>9}{strong:#}",
        "runtime", "files", "new", "grown", "commits", "read", "branches"
    ))?;
    for (runtime, sum) in runtimes {
        output.line(format_args!(
            "{:<width$} {:>8} {:>8} {:>8} {:>10} {:>10} {:>9}",
            runtime,
            output::count(sum.files),
            output::count(sum.new_files),
            output::count(sum.grown_files),
            output::count(sum.new_commits),
            output::size(sum.bytes),
            output::count(sum.branches),
        ))?;
    }
    Ok(())
}

/// Tells which files were left out, by reason.
fn show_skipped(skipped: &[Skipped], output: &mut Output) {
    let mut reasons: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    for Skipped { path, reason } in skipped {
        reasons.entry(reason).or_default().push(path);
    }
    for (reason, paths) in reasons {
        output.status(format_args!("Left out {}: {reason}", output::counted(paths.len() as u64, "file")));
        for path in paths.iter().take(MAX_NAMED) {
            output.status(format_args!("  {}", path.display()));
        }
        if paths.len() > MAX_NAMED {
            output.status(format_args!("  and {} more", output::count((paths.len() - MAX_NAMED) as u64)));
        }
    }
}

fn show_plan(candidates: &[Candidate], skipped: &[Skipped], output: &mut Output) -> Result<()> {
    for Candidate { path, runtime, bytes, .. } in candidates {
        if output.shape() == Shape::Json {
            #[derive(Serialize)]
            struct Planned<'p> {
                path: &'p Path,
                runtime: &'p str,
                bytes: u64,
            }
            output.document(Planned { path, runtime, bytes: *bytes })?;
        } else {
            let size = output::size(*bytes);
            output.line(format_args!("{runtime:<12} {size:>10}  {}", path.display()))?;
        }
    }
    show_skipped(skipped, output);
    Ok(())
}

async fn verify(engine: &Contexture, machine: &Machine, candidates: &[Candidate], output: &mut Output) -> Result<()> {
    let total: u64 = candidates.iter().map(|candidate| candidate.bytes).sum();
    let bar = output.progress("Comparing", Some(total)).counter();
    let (mut compared, mut differ, mut done) = (Vec::new(), 0, 0);
    for Candidate { path, bytes, .. } in candidates {
        let result = engine.verify_source(machine, path).await?;
        differ += u64::from(!matches!(result, Verified::Same { .. }));
        done += bytes;
        bar.set(done);
        compared.push(Compared { path: path.clone(), result });
    }
    drop(bar);
    let (mut same, mut same_bytes, mut left_bytes) = (0, 0, 0);
    for Compared { path, result } in compared {
        if output.shape() == Shape::Json {
            output.document(Compared { path: path.clone(), result })?;
        }
        match result {
            Verified::Same { bytes, left } => {
                (same, same_bytes, left_bytes) = (same + 1, same_bytes + bytes, left_bytes + left);
            }
            _ if output.shape() == Shape::Json => {}
            Verified::Differs { at } => {
                output.line(format_args!("{}: the store gives something else from byte {at} on", path.display()))?;
            }
            Verified::Unknown => output.line(format_args!("{}: it was never taken in", path.display()))?,
        }
    }
    output.status(format_args!(
        "Byte for byte the same: {} ({}){}.",
        output::counted(same, "file"),
        output::size(same_bytes),
        if left_bytes == 0 {
            String::new()
        } else {
            format!("; {} that were written since are not taken in yet", output::size(left_bytes))
        },
    ));
    if differ == 0 { Ok(()) } else { Err(Error::NotReproduced { files: differ }) }
}

/// Returns the agent that a whole file belongs to, when it is one that another agent started.
fn agent_of(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_string_lossy();
    stem.strip_prefix("agent-").map(str::to_owned)
}
