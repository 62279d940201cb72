//! What every decoder must hold on any bytes. The fuzz targets and a quick test on stable call the same functions.

use contexture::{
    core::{ArtifactPrefix, Commit, CommitPrefix, Format, HeadName, Timestamp},
    formats::{
        self, Checker, Codec, Concatenation, Framing, JoinPlan, Joiner, RecordProblem, SectionRule, Splitter,
        thread::Threader,
    },
};
use contexture_capture as capture;

/// A decoder under test: its name and what it must hold.
pub struct Decoder {
    /// Name of the fuzz target.
    pub name: &'static str,
    /// Panics when the decoder breaks its word on these bytes.
    pub hold: fn(&[u8]),
}

/// Every decoder.
pub const DECODERS: &[Decoder] = &[
    Decoder { name: "ids", hold: ids },
    Decoder { name: "time", hold: time },
    Decoder { name: "commit_record", hold: commit_record },
    Decoder { name: "lines", hold: lines },
    Decoder { name: "json_array", hold: json_array },
    Decoder { name: "cbor_array", hold: cbor_array },
    Decoder { name: "bundle", hold: bundle },
    Decoder { name: "outline", hold: outline },
    Decoder { name: "step", hold: step },
    Decoder { name: "splitter", hold: splitter },
    Decoder { name: "detect", hold: detect },
];

/// What parses is shown as something that parses to the same.
pub fn ids(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(prefix) = text.parse::<CommitPrefix>() {
        assert_eq!(prefix.to_string().parse(), Ok(prefix));
    }
    if let Ok(prefix) = text.parse::<ArtifactPrefix>() {
        assert_eq!(prefix.to_string().parse(), Ok(prefix));
    }
    if let Ok(head) = HeadName::new(text) {
        assert_eq!(head.as_str(), text);
    }
    if let Ok(reference) = text.parse::<contexture::Reference>() {
        assert_eq!(reference.to_string(), text);
    }
}

/// A time that parses is shown as the same time.
pub fn time(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(time) = text.parse::<Timestamp>() {
        assert_eq!(time.to_string().parse(), Ok(time));
    }
}

/// A record that decodes encodes to something with the same id.
pub fn commit_record(bytes: &[u8]) {
    if let Ok(commit) = Commit::decode(bytes) {
        let again = Commit::decode(&commit.encode()).expect("an encoded record decodes");
        assert_eq!(again.id(), commit.id());
    }
}

/// How lines are cut into slices does not matter, and joining one part gives it back.
pub fn lines(bytes: &[u8]) {
    check(Concatenation::Lines, JoinPlan::Lines, bytes);
}

/// The same for JSON arrays.
pub fn json_array(bytes: &[u8]) {
    check(Concatenation::JsonArray, JoinPlan::JsonArray { parts: 1 }, bytes);
    join_twice(Concatenation::JsonArray, |_| JoinPlan::JsonArray { parts: 2 }, bytes);
}

/// The same for CBOR arrays.
pub fn cbor_array(bytes: &[u8]) {
    check(Concatenation::CborArray, JoinPlan::CborArray { parts: 1, elements: 0 }, bytes);
    let plan = |elements: u64| JoinPlan::CborArray { parts: 2, elements: 2 * elements };
    join_twice(Concatenation::CborArray, plan, bytes);
}

/// No bytes are taken for a bundle unless their digest fits.
pub fn bundle(bytes: &[u8]) {
    // Refusing is all that is asked; the reader must not panic, hang or reserve without bound.
    drop(contexture::verify_bundle(bytes));
    // Most bytes are no compressed stream, so the frames are tried by themselves too.
    if let Ok(compressed) = zstd::encode_all(bytes, 1) {
        drop(contexture::verify_bundle([b"CTXBNDL\x03".as_slice(), &compressed].concat().as_slice()));
    }
}

/// Every codec tells what a record is, or why it is none, and every record finds a lane.
pub fn outline(bytes: &[u8]) {
    for codec in codecs() {
        let mut threader = Threader::default();
        for record in records(codec.framing(), &[bytes]).0 {
            if let Ok(outline) = codec.outline(&record) {
                threader.place(&outline);
                threader = Threader::resume(threader.state());
            }
        }
        drop(codec.outline(bytes));
    }
}

/// Every codec tells what a record says, or why it says nothing.
pub fn step(bytes: &[u8]) {
    for codec in codecs() {
        drop(codec.step(bytes));
        for record in records(codec.framing(), &[bytes]).0 {
            drop(codec.step(&record));
        }
    }
}

/// How bytes are cut into slices does not change their records.
pub fn splitter(bytes: &[u8]) {
    let (first, second) = bytes.split_at(bytes.len() / 3);
    let sections = [SectionRule::Aider, SectionRule::SpecStory].map(Framing::Sections);
    for framing in
        [Framing::Lines, Framing::JsonArray, Framing::CborArray, Framing::Document].into_iter().chain(sections)
    {
        assert_eq!(records(framing, &[bytes]), records(framing, &[first, second]), "{framing:?}");
    }
    let (lines, _) = records(Framing::Lines, &[bytes]);
    assert_eq!(lines.concat(), bytes);
    for framing in sections {
        assert_eq!(records(framing, &[bytes]).0.concat(), bytes, "{framing:?}");
    }
}

/// Whatever a file holds, it is taken for some format or for none, and records of a format are found in it.
pub fn detect(bytes: &[u8]) {
    if let Some(name) = capture::detect_start(bytes) {
        let format = Format::new(name).expect("the names of formats are legal");
        assert!(formats::codec(&format).is_some(), "{name}");
    }
}

fn codecs() -> impl Iterator<Item = &'static dyn Codec> {
    formats::known().iter().filter_map(|known| formats::codec(&Format::new(known.name).ok()?))
}

fn records(framing: Framing, slices: &[&[u8]]) -> (Vec<Vec<u8>>, Result<(), RecordProblem>) {
    let mut splitter = Splitter::new(framing, 1 << 20);
    let mut found = Vec::new();
    let mut take = |record: formats::RawRecord<'_>| found.push(record.bytes.to_vec());
    let pushed = slices.iter().try_for_each(|slice| splitter.push(slice, &mut take));
    let ended = pushed.and_then(|()| splitter.finish(&mut take));
    (found, ended)
}

fn check(rule: Concatenation, plan: JoinPlan, bytes: &[u8]) {
    let whole = measure(rule, &[bytes]);
    let cut = bytes.len() / 3;
    assert_eq!(whole, measure(rule, &[&bytes[..cut], &bytes[cut..]]), "cut at {cut}");
    if whole.is_ok() {
        assert_eq!(join(plan, &[bytes]), bytes);
    }
}

/// Joining a well-formed part with itself is well formed and holds twice as many messages.
fn join_twice(rule: Concatenation, plan: impl Fn(u64) -> JoinPlan, bytes: &[u8]) {
    let Ok(Some(messages)) = measure(rule, &[bytes]) else { return };
    let joined = join(plan(messages), &[bytes, bytes]);
    assert_eq!(measure(rule, &[&joined]), Ok(Some(2 * messages)));
}

fn measure(rule: Concatenation, slices: &[&[u8]]) -> Result<Option<u64>, contexture::formats::FormatError> {
    let mut checker = Checker::new(rule);
    for slice in slices {
        checker.push(slice)?;
    }
    checker.finish().map(|measure| measure.messages)
}

fn join(plan: JoinPlan, parts: &[&[u8]]) -> Vec<u8> {
    let mut joiner = Joiner::new(plan);
    let mut out = Vec::new();
    for part in parts {
        let joined = joiner.push(part).expect("the part was checked");
        out.extend_from_slice(&joined.glue);
        out.extend_from_slice(joined.body);
        joiner.end_part().expect("the part was checked");
    }
    out.extend_from_slice(&joiner.finish().expect("the plan was counted").glue);
    out
}
