//! Transcripts of real agents, where they are at hand.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
};

use contexture_formats::{Concatenation, JoinPlan, Joiner};

use crate::slices::check_slices;

/// Files are dealt out to that many threads, as there are many megabytes of them.
const THREADS: usize = 2;

#[test]
fn real_transcripts_are_checked_and_come_out_of_the_joiner_byte_for_byte() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    if !folder.is_dir() {
        eprintln!("skipped: there are no transcripts in {}", folder.display());
        return;
    }
    for runtime in ["claude", "codex", "pi"] {
        let files = jsonl_files(&folder.join(runtime));
        let broken: usize = thread::scope(|scope| {
            let deal = |n| files.iter().skip(n).step_by(THREADS);
            let workers: Vec<_> = (0..THREADS)
                .map(|n| scope.spawn(move || deal(n).map(|file| check_and_join(file)).sum::<usize>()))
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        eprintln!("{runtime}: {broken} lines in {} files are not one object", files.len());
    }
}

/// Checks each line by itself, joins the lines again, and returns how many of them are not well formed.
fn check_and_join(file: &Path) -> usize {
    let content = fs::read(file).unwrap();
    let mut joiner = Joiner::new(JoinPlan::Lines);
    let mut out = Vec::with_capacity(content.len());
    let mut broken = 0;
    for (n, line) in content.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if let Err(error) = check_slices(Concatenation::Lines, line.chunks(64 * 1024)) {
            broken += 1;
            eprintln!("{}, line {}: {error}", file.file_name().unwrap().display(), n + 1);
        }
        let joined = joiner.push(line).unwrap();
        out.extend_from_slice(&joined.glue);
        out.extend_from_slice(joined.body);
        joiner.end_part().unwrap();
    }
    let measure = joiner.finish().unwrap().measure;
    assert!(out == content, "{} came out changed", file.display());
    assert_eq!(measure.bytes, content.len() as u64, "{}", file.display());
    broken
}

fn jsonl_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(jsonl_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
    files
}
