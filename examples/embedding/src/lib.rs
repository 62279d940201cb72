//! What a program does with the library: each operation gives the text that `ctx --json` prints for it.
//!
//! No type is defined here and no JSON is put together: the documents are the library's.

use std::{ffi::OsStr, path::Path};

use contexture::{
    Checkpoint, CheckpointContent, Contexture, Options, Reference,
    wire::{MadeCommit, ShownCommit, Versioned},
};
use contexture_capture::{CaptureConfig, CurrentRequest, Git, LineTarget, OriginSources, Result};

/// Checks in what an agent has come to know, as `ctx checkpoint` does.
pub async fn checkpoint(store: Options, request: Checkpoint, content: Vec<u8>) -> Result<String> {
    let engine = Contexture::open(store).await?;
    let made = engine.checkpoint(request, CheckpointContent::Bytes(content)).await?;
    Ok(Versioned::new(MadeCommit::from(&made)).to_json())
}

/// Shows a commit, as `ctx show` does.
pub async fn show(store: Options, commit: &Reference) -> Result<String> {
    let engine = Contexture::open(store).await?;
    let id = engine.find(commit).await?;
    Ok(Versioned::new(ShownCommit::load(&engine, id).await?).to_json())
}

/// Finds the commit that is the caller's understanding now, as `ctx current` does.
pub async fn current(config: &CaptureConfig, request: &CurrentRequest) -> Result<String> {
    Ok(Versioned::new(contexture_capture::current(config, request).await?).to_json())
}

/// Finds which context made lines of a file, as `ctx blame` does: a document for each run of lines.
pub async fn why_lines(store: Options, lines: &OsStr) -> Result<Vec<String>> {
    let engine = Contexture::open(store).await?;
    let sources = OriginSources { engine: &engine, git: &Git::new("git") };
    let target = LineTarget::parse(lines, Path::is_file)?;
    let runs = contexture_capture::why_lines(sources, &target, &mut |_| {}).await?;
    Ok(runs.into_iter().map(|run| Versioned::new(run).to_json()).collect())
}

/// Finds which contexts made a commit of the repository around a directory, as `ctx why-commit` does.
pub async fn why_commit(store: Options, directory: &Path, revision: &str) -> Result<String> {
    let engine = Contexture::open(store).await?;
    let sources = OriginSources { engine: &engine, git: &Git::new("git") };
    let origin = contexture_capture::why_commit(sources, directory, revision, &mut |_| {}).await?;
    Ok(Versioned::new(origin).to_json())
}
