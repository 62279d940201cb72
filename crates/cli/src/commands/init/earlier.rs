//! The sessions that agents have kept from before they were set up.

use contexture::{Location, wire::ImportClosing};
use contexture_capture::{
    Capture, ComparisonTerms, Depth, FoundImport, OpenSessions, Runtime, SessionCandidate, SessionCompleteness,
    SessionFindings, SessionSearch, WantedSessions,
};

use crate::{
    error::Result,
    invocation::Invocation,
    output::{self, Output, Shape},
    sessions,
};

/// Sessions of which something is not in the store yet.
pub(super) struct EarlierSessions {
    found: SessionFindings,
    missing: u64,
    bytes: u64,
}

impl EarlierSessions {
    /// Looks for the sessions of some runtimes, or of all if none are named. Makes no store where there is none.
    pub(super) async fn find(invocation: &Invocation, runtimes: &[Runtime], output: &Output) -> Result<Self> {
        let wanted: Vec<_> = runtimes.iter().map(|runtime| WantedSessions::named(runtime.as_str())).collect();
        let search = SessionSearch { wanted: WantedSessions::any_of(&wanted), ..SessionSearch::default() };
        let found = search.everywhere(&invocation.environment.homes);
        let missing =
            if found.candidates.is_empty() { Vec::new() } else { missing(invocation, &found, output).await? };
        let bytes = missing.iter().map(|candidate| candidate.bytes).sum();
        Ok(Self { found, missing: missing.len() as u64, bytes })
    }

    pub(super) fn are_any(&self) -> bool {
        self.missing > 0
    }

    /// Says how many there are.
    pub(super) fn tell(&self) -> String {
        let sessions = output::counted(self.missing, "earlier session");
        format!("Found {sessions}, {}", output::size(self.bytes))
    }

    /// Returns the word that stands for them.
    pub(super) fn pronoun(&self) -> &'static str {
        if self.missing == 1 { "it" } else { "them" }
    }

    /// Takes them in.
    pub(super) async fn take_in(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let total: u64 = self.found.candidates.iter().map(|candidate| candidate.bytes).sum();
        let bar = output.progress("Importing", Some(total)).counter();
        // What comes out of a compressed file is more than the file.
        let progress = |at: u64| bar.set(at.min(total));
        let owner = invocation.environment.session_owner()?;
        let import = Capture::new(&engine).import_findings(self.found, &owner, &progress).await?;
        drop(bar);
        let FoundImport { runtimes, skipped, .. } = import;
        if output.shape() == Shape::Json {
            let left_out = skipped.iter().map(sessions::left_out).collect();
            return output.document(ImportClosing { runtimes, skipped: left_out });
        }
        let commits: u64 = runtimes.values().map(|sum| sum.new_commits).sum();
        let files: u64 = runtimes.values().map(|sum| sum.new_files + sum.grown_files).sum();
        let (files, commits) = (output::counted(files, "session"), output::counted(commits, "commit"));
        output.status(format_args!("Took in {files} as {commits}."));
        let unreadable = skipped.iter().filter(|skipped| skipped.is_unreadable()).count() as u64;
        if unreadable > 0 {
            let files = output::counted(unreadable, "file");
            output.status(format_args!("{files} could not be read: `ctx import` names them."));
        }
        Ok(())
    }
}

/// Returns the sessions that the store has not, or not wholly.
async fn missing(invocation: &Invocation, found: &SessionFindings, output: &Output) -> Result<Vec<SessionCandidate>> {
    if matches!(invocation.location()?, Location::Directory(directory) if !directory.exists()) {
        return Ok(found.candidates.clone());
    }
    let engine = invocation.open().await?;
    let machine = invocation.environment.machine()?;
    let open = OpenSessions::of(&invocation.recorder()?);
    let terms = ComparisonTerms { machine: &machine, depth: Depth::End, open: &open };
    let total = found.candidates.iter().map(|candidate| candidate.bytes).sum();
    let bar = output.progress("Comparing", Some(total)).counter();
    let candidates = SessionFindings { candidates: found.candidates.clone(), skipped: Vec::new() };
    let compared: SessionCompleteness = Capture::new(&engine).completeness(candidates, terms, &|at| bar.set(at)).await;
    Ok(compared.to_import().map(|(candidate, _)| candidate.clone()).collect())
}
