//! What codecs make of the transcripts of real agents, where they are at hand.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use contexture_core::{Entry, EntryPart, Format};
use contexture_formats::{
    Codec, Dialogue, Replay, codec,
    codec::{Outline, RecordMark},
    dialogue::LossKind,
    thread::{Placement, Start, Threader},
};
use serde_json::Value;

use crate::encode;

/// Speeds are those of the fastest of so many rounds, as other programs run beside this one.
const ROUNDS: usize = 3;

/// What was seen in the transcripts of a runtime.
#[derive(Debug, Default)]
struct Seen {
    files: usize,
    records: usize,
    bytes: usize,
    broken: usize,
    turns: usize,
    calls: u64,
    results: u64,
    /// Calls without a result and results without a call, in what a model would see at the end of each file.
    unpaired: u64,
}

#[test]
fn every_line_of_real_transcripts_is_understood_and_what_they_say_survives_every_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    if !folder.is_dir() {
        eprintln!("skipped: there are no transcripts in {}", folder.display());
        return;
    }
    for (runtime, format) in
        [("claude", "claude-code-v1"), ("codex", "codex-v1"), ("gemini", "gemini-v1"), ("pi", "pi-v1")]
    {
        let codec = codec(&Format::new(format).unwrap()).unwrap();
        let mut seen = Seen::default();
        let contents: Vec<(PathBuf, Vec<u8>)> = files(&folder.join(runtime));
        for (path, content) in &contents {
            look(codec, &records(path, content), &mut seen, path);
        }
        let all: Vec<&[u8]> = contents.iter().flat_map(|(path, content)| records(path, content)).collect();
        let parsing = fastest(&all, |record| drop(serde_json::from_slice::<Value>(record)));
        let outlining = fastest(&all, |record| drop(codec.outline(record)));
        let Seen { files, records, bytes, broken, turns, calls, results, unpaired } = seen;
        let ratio = parsing.as_secs_f64() / outlining.as_secs_f64();
        eprintln!(
            "{runtime}: {files} files, {records} records, {bytes} bytes, {broken} broken; {turns} turns, {calls} calls, \
             {results} results, {unpaired} unpaired at the end; outlines at {ratio:.2} × the speed of serde_json's values"
        );
        assert!(records > 0, "there is nothing of {runtime}");
        assert!(unpaired * 100 <= calls, "{unpaired} of {calls} calls are unpaired");
    }
}

fn look(codec: &dyn Codec, records: &[&[u8]], seen: &mut Seen, path: &Path) {
    let mut good = Vec::new();
    for record in records {
        match codec.outline(record) {
            Ok(outline) => good.push((*record, outline)),
            Err(_) if !serde_json::from_slice::<Value>(record).is_ok_and(|value| value.is_object()) => seen.broken += 1,
            Err(problem) => panic!("{}: {problem}", path.display()),
        }
    }
    seen.files += 1;
    seen.records += records.len();
    seen.bytes += records.iter().map(|record| record.len()).sum::<usize>();
    seen.turns += good.iter().filter(|(_, outline)| matches!(outline.mark, RecordMark::Turn(_))).count();

    let mut replay = Replay::default();
    let conversation = conversation(&good);
    for (n, (record, _)) in good.iter().enumerate() {
        let step = codec.step(record).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        for part in step.entries.iter().flat_map(|entry: &Entry| &entry.parts) {
            seen.calls += u64::from(matches!(part, EntryPart::ToolCall { .. }));
            seen.results += u64::from(matches!(part, EntryPart::ToolResult { .. }));
        }
        if conversation[n] {
            replay.take(step);
        }
    }
    let dialogue = Dialogue::of(replay.into_entries());
    for target in encode::FORMATS {
        if let Some(difference) = encode::difference(target, &dialogue) {
            panic!("{} in {target}: {difference}", path.display());
        }
    }
    let is_unpaired = |loss| matches!(loss, LossKind::ResultInvented | LossKind::ResultAsText);
    seen.unpaired +=
        dialogue.losses.counts().iter().filter(|count| is_unpaired(count.loss)).map(|count| count.count).sum::<u64>();
}

/// Tells which records belong to the conversation that the last one belongs to.
fn conversation(records: &[(&[u8], Outline)]) -> Vec<bool> {
    let mut threader = Threader::default();
    let mut starts = Vec::new();
    let mut places = Vec::new();
    for (_, outline) in records {
        let place = match threader.place(outline) {
            Placement::Aside => None,
            Placement::Lane(place) => {
                starts.extend(place.start);
                Some((place.lane, place.turn))
            }
        };
        places.push(place);
    }
    // The lanes that lead to the last record, each with the last turn that counts.
    let mut lanes = HashMap::new();
    let mut next = places.iter().rev().flatten().next().map(|(lane, _)| (*lane, u32::MAX));
    while let Some((lane, turn)) = next {
        lanes.insert(lane, turn);
        next = match &starts[lane] {
            Start::Branch { lane, turn, .. } => Some((*lane, *turn)),
            Start::Root | Start::Side { .. } => None,
        };
    }
    let counts = |(lane, turn): (usize, u32)| lanes.get(&lane).is_some_and(|last| turn <= *last);
    places.into_iter().map(|place| place.is_some_and(counts)).collect()
}

fn records<'a>(path: &Path, content: &'a [u8]) -> Vec<&'a [u8]> {
    if path.extension().is_some_and(|extension| extension == "json") {
        return vec![content];
    }
    content.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect()
}

fn fastest(records: &[&[u8]], read: impl Fn(&[u8])) -> Duration {
    let round = || {
        let start = Instant::now();
        for record in records {
            read(record);
        }
        start.elapsed()
    };
    (0..ROUNDS).map(|_| round()).min().unwrap()
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let content = fs::read(&path).unwrap();
        (path, content)
    };
    paths.into_iter().map(read).collect()
}
