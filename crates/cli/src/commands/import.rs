//! `ctx import`: sessions of other runtimes become chains of commits.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use clap::Args;
use contexture::{
    Contexture,
    core::{Machine, Template},
    formats::{self, Framing},
    wire::{ComparedFile, ImportClosing, ImportTotals, PlannedFile, SkippedFile},
};
use contexture_capture::{
    Capture, Depth, FoundImport, KnownFiles, SessionCandidate, SessionFindings, SessionOwner, SessionSearch,
    SkippedSession, Verified, WantedSessions,
};

use crate::{
    error::{Error, Result},
    invocation::Invocation,
    output::{self, Output, Shape},
    sessions,
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

/// Most remarks on what is odd about files.
const MAX_REMARKS: usize = 10;
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
    #[arg(long, value_name = "R", value_parser = sessions::runtime_or_format(), hide_possible_values = true)]
    runtime: Option<WantedSessions>,
    /// The role that the agents of these sessions had; one that was taken in before keeps its own [env: CTX_TEMPLATE, where
    /// a PATH is named]
    #[arg(long, value_name = "NAME")]
    template: Option<Template>,
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

impl Import {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        if self.dry_run {
            let found = self.findings(invocation, KnownFiles::default())?;
            show_plan(&found, output)?;
            return self.expect_sessions(&found.skipped);
        }
        if self.verify {
            let found = self.findings(invocation, KnownFiles::default())?;
            let engine = invocation.open().await?;
            verify(&engine, &invocation.environment.machine()?, &found.candidates, output).await?;
            return self.expect_sessions(&found.skipped);
        }
        let engine = invocation.open().await?;
        let known = Capture::new(&engine).known_files(&invocation.environment.machine()?).await?;
        let found = self.findings(invocation, known)?;
        sessions::tell_rescued(sessions::rescue(&engine, invocation).await?, output);
        let owner = SessionOwner { role: self.role(invocation)?, ..invocation.environment.session_owner()? };
        let skipped = take_in(&engine, &owner, found, output).await?;
        self.expect_sessions(&skipped)
    }

    /// Returns the role of the agents. What an agent was told of itself does not hold for all sessions of a machine.
    fn role(&self, invocation: &Invocation) -> Result<Option<Template>> {
        match &self.template {
            Some(role) => Ok(Some(role.clone())),
            None if self.paths.is_empty() => Ok(None),
            None => invocation.environment.template(),
        }
    }

    /// Fails when a file was left out that somebody named, and not only a directory around it.
    fn expect_sessions(&self, skipped: &[SkippedSession]) -> Result<()> {
        let named: Vec<PathBuf> =
            self.paths.iter().map(|path| fs::canonicalize(path).unwrap_or_else(|_| path.clone())).collect();
        let left_out = skipped.iter().filter(|skipped| named.contains(&skipped.path)).map(sessions::left_out);
        let files: Vec<SkippedFile> = left_out.collect();
        if files.is_empty() { Ok(()) } else { Err(Error::NotTakenIn { files }) }
    }

    /// Lists what is to be taken in and what is not.
    fn findings(&self, invocation: &Invocation, known: KnownFiles) -> Result<SessionFindings> {
        let now = invocation.now()?;
        let since = self.since.as_ref().map(|since| since.resolve(now)).transpose()?;
        let search = SessionSearch { wanted: self.runtime.clone(), since, known };
        if self.paths.is_empty() {
            Ok(search.everywhere(&invocation.environment.homes))
        } else {
            Ok(search.at(&self.paths)?)
        }
    }
}

async fn take_in(
    engine: &Contexture,
    owner: &SessionOwner,
    found: SessionFindings,
    output: &mut Output,
) -> Result<Vec<SkippedSession>> {
    let total: u64 = found.candidates.iter().map(|candidate| candidate.bytes).sum();
    let bar = output.progress("Importing", Some(total)).counter();
    // What comes out of a compressed file is more than the file.
    let progress = |at: u64| bar.set(at.min(total));
    let import = Capture::new(engine).import_findings(found, owner, &progress).await?;
    drop(bar);
    let has_grown = import.has_grown();
    let FoundImport { files, runtimes, skipped } = import;
    if output.shape() == Shape::Json {
        for file in files {
            output.document(file)?;
        }
        let left_out = skipped.iter().map(sessions::left_out).collect();
        output.document(ImportClosing { runtimes, skipped: left_out })?;
        return Ok(skipped);
    }
    let mut remarks = Vec::new();
    for file in &files {
        let framing = formats::codec(&file.format).map(formats::Codec::framing);
        let unit = if framing == Some(Framing::Lines) { "line" } else { "element" };
        if let Some(session) = &file.forked_from {
            let path = file.path.display();
            remarks.push(format!("{path}: it continues {session}, which is not here, so it is a chain of its own"));
        }
        if file.purged_artifacts > 0 {
            let (path, artifacts) = (file.path.display(), output::counted(file.purged_artifacts, "artifact"));
            remarks.push(format!("{path}: the content of {artifacts} was purged here and stays so"));
        }
        if let Some(damage) = &file.damage {
            let reason = output::first_line(damage).into_owned();
            remarks.push(format!("{}: only the start could be read: {reason}", file.path.display()));
        }
        for bad in &file.bad_lines {
            let reason = output::first_line(&bad.reason).into_owned();
            let (path, line) = (file.path.display(), bad.line);
            remarks.push(match reason.strip_prefix("it ").filter(|_| bad.is_kept) {
                Some(size) => format!("{path}: {unit} {line} {size}"),
                None => format!("{path}: {unit} {line} is no record: {reason}"),
            });
        }
    }
    remarks.iter().take(MAX_REMARKS).for_each(|remark| output.status(remark));
    if let Some(more @ 1..) = remarks.len().checked_sub(MAX_REMARKS) {
        let lines = output::counted(more as u64, "more line");
        output.status(format_args!("… and {lines} like these; a first `ctx --json import` tells all"));
    }
    show_sums(&runtimes, output)?;
    show_skipped(&skipped, output);
    if has_grown {
        output.status("`ctx log --graph --all` shows what is there.");
    }
    Ok(skipped)
}

fn show_sums(runtimes: &BTreeMap<String, ImportTotals>, output: &mut Output) -> Result<()> {
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
fn show_skipped(skipped: &[SkippedSession], output: &mut Output) {
    let mut reasons: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for SkippedFile { path, reason } in skipped.iter().map(sessions::left_out) {
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

fn show_plan(found: &SessionFindings, output: &mut Output) -> Result<()> {
    for SessionCandidate { path, runtime, bytes, .. } in &found.candidates {
        if output.shape() == Shape::Json {
            output.document(PlannedFile { path: path.clone(), runtime: runtime.clone(), bytes: *bytes })?;
        } else {
            let size = output::size(*bytes);
            output.line(format_args!("{runtime:<12} {size:>10}  {}", path.display()))?;
        }
    }
    show_skipped(&found.skipped, output);
    Ok(())
}

async fn verify(
    engine: &Contexture,
    machine: &Machine,
    candidates: &[SessionCandidate],
    output: &mut Output,
) -> Result<()> {
    let total: u64 = candidates.iter().map(|candidate| candidate.bytes).sum();
    let bar = output.progress("Comparing", Some(total)).counter();
    let paths: Vec<PathBuf> = candidates.iter().map(|candidate| candidate.path.clone()).collect();
    let done = AtomicU64::new(0);
    let advance = |at: usize| bar.set(done.fetch_add(candidates[at].bytes, Ordering::Relaxed) + candidates[at].bytes);
    let results = Capture::new(engine).verify_sources(machine, &paths, Depth::Whole, &advance).await;
    drop(bar);
    let (mut compared, mut differ) = (Vec::new(), 0);
    for (path, result) in paths.into_iter().zip(results) {
        let result = result?;
        differ += u64::from(!matches!(result, Verified::Same { .. }));
        compared.push(ComparedFile { path, result });
    }
    let (mut same, mut same_bytes, mut left_bytes) = (0, 0, 0);
    for ComparedFile { path, result } in compared {
        if output.shape() == Shape::Json {
            output.document(ComparedFile { path: path.clone(), result })?;
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
