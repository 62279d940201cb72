//! L3: what was made visible can be made again from the file, byte for byte.

use std::collections::HashMap;

use contexture_core::Timestamp;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::{
    input::{CheckedDocument, Entry},
    path::Path,
    references::Index,
    report::{FaultKind, Findings, Level},
};
use crate::{
    mistake::ActualValue,
    standard::{Binding, ContentDigest, ExportedContent, Object},
};

/// Checks that the contents prove the records.
pub(super) fn check(document: &CheckedDocument, index: &Index, findings: &mut Findings) {
    let is_readable = findings.allow(Level::Readable);
    let mut replay = Replay { contents: HashMap::new(), findings };
    match document.header.as_ref().and_then(|header| header.get("contents")).and_then(Value::as_object) {
        Some(contents) => replay.take(contents),
        None => replay.fault("contents", FaultKind::NoContents),
    }
    for entry in &document.entries {
        let path = entry.path();
        match entry.object {
            Object::Assembly => replay.assembly(entry),
            Object::Injection => replay.injection(entry, index),
            Object::SourceRef => replay.source(&entry.record, &path),
            Object::Item => {
                for (at, source) in entry.list("source_refs").iter().enumerate() {
                    if source.is_object() && source.get(Object::SourceRef.id_field()).is_some() {
                        replay.source(source, &path.field("source_refs").item(at));
                    }
                }
            }
            _ => {}
        }
        // What is not readable cannot come out as it went in, and is reported already.
        if !is_readable {
            continue;
        }
        match entry.object.rewrite(&entry.record) {
            Err(error) => {
                let error = error.to_string();
                // All the words of a vocabulary were listed before.
                let detail = error.split(", expected one of").next().unwrap_or(&error).to_owned();
                replay.fault(path, FaultKind::Altered { detail });
            }
            Ok(again) => replay.compare(&entry.record, &again, &path),
        }
    }
}

struct Replay<'f> {
    /// The bytes that are in the file, under each digest that they have.
    contents: HashMap<ContentDigest, Vec<u8>>,
    findings: &'f mut Findings,
}

impl Replay<'_> {
    fn fault(&mut self, path: impl std::fmt::Display, problem: FaultKind) {
        self.findings.fault(Level::Replayable, path, problem);
    }

    fn take(&mut self, contents: &Map<String, Value>) {
        let root = Path::root("");
        let all = root.field("contents");
        for (key, value) in contents {
            let path = all.field(key);
            let content = ExportedContent::deserialize(value).ok().and_then(|content| content.to_bytes());
            let Some(bytes) = content else {
                self.fault(path, FaultKind::Content);
                continue;
            };
            match key.parse::<ContentDigest>() {
                Err(digest) => self.fault(path, FaultKind::NotADigest { digest }),
                Ok(digest) => {
                    let found = digest.of_other(&bytes);
                    if found != digest {
                        self.fault(path, FaultKind::OtherContent { digest: found });
                    }
                }
            }
            self.contents.insert(ContentDigest::sha256(&bytes), bytes.clone());
            self.contents.insert(ContentDigest::blake3(&bytes), bytes);
        }
    }

    /// Checks that the bytes of every block are there, in an order that nothing contradicts.
    fn assembly(&mut self, entry: &Entry) {
        let path = entry.path();
        let blocks = path.field("ordered_blocks");
        let mut before: Option<u64> = None;
        for (index, block) in entry.list("ordered_blocks").iter().enumerate() {
            let path = blocks.item(index);
            if let Some(digest) = self.digest(block, "hash", &path)
                && self.is_there(digest, &path.field("hash"), FaultKind::NoContent)
            {
                self.same(block, "content_ref", digest, &path);
            }
            let position = block.get("position").and_then(Value::as_u64);
            if let (Some(before), Some(position)) = (before, position)
                && position <= before
            {
                self.fault(path.field("position"), FaultKind::Position { before });
            }
            before = position.or(before);
        }
    }

    /// Checks that what was sent is there, or is the blocks of its assembly one after another.
    fn injection(&mut self, entry: &Entry, index: &Index) {
        let path = entry.path();
        let Some(digest) = self.digest(&entry.record, "hash", &path) else { return };
        let assembly = entry.get("assembly_id").and_then(|id| index.find(id, Object::Assembly));
        let is_blocks =
            assembly.and_then(|assembly| self.blocks(assembly)).is_some_and(|bytes| digest.of_other(&bytes) == digest);
        if is_blocks || self.is_there(digest, &path.field("hash"), FaultKind::NotRendered) {
            self.same(&entry.record, "final_ref", digest, &path);
        }
    }

    /// Returns the blocks of an assembly one after another, if all are there.
    fn blocks(&self, assembly: &Entry) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for block in assembly.list("ordered_blocks") {
            let digest = block.get("hash")?.as_str()?.parse::<ContentDigest>().ok()?;
            bytes.extend_from_slice(self.contents.get(&digest)?);
        }
        Some(bytes)
    }

    /// Checks that a source says what was read and whether that can change.
    fn source(&mut self, source: &Value, path: &Path) {
        self.digest(source, "digest", path);
        let binding = source.get("metadata").and_then(|metadata| metadata.get(Binding::KEY)).and_then(Value::as_str);
        if binding.is_none_or(|word| word.parse::<Binding>().is_err()) {
            self.fault(path.field("metadata").field(Binding::KEY), FaultKind::Unbound);
        }
    }

    /// Reads the digest in a field.
    fn digest(&mut self, value: &Value, field: &str, path: &Path) -> Option<ContentDigest> {
        match value.get(field) {
            None => self.fault(path.field(field), FaultKind::Missing),
            Some(Value::String(text)) => match text.parse() {
                Ok(digest) => return Some(digest),
                Err(digest) => self.fault(path.field(field), FaultKind::NotADigest { digest }),
            },
            Some(other) => {
                let problem = FaultKind::Type { expected: "a text", found: ActualValue::from(other) };
                self.fault(path.field(field), problem);
            }
        }
        None
    }

    fn is_there(&mut self, digest: ContentDigest, path: &Path, otherwise: FaultKind) -> bool {
        let is_there = self.contents.contains_key(&digest);
        if !is_there {
            self.fault(path, otherwise);
        }
        is_there
    }

    /// Checks that a reference that is a digest names the same bytes as the hash beside it.
    fn same(&mut self, value: &Value, field: &str, hash: ContentDigest, path: &Path) {
        let Some(Ok(named)) = value.get(field).and_then(Value::as_str).map(str::parse::<ContentDigest>) else { return };
        let is_same = match (self.contents.get(&named), self.contents.get(&hash)) {
            (Some(named), Some(hash)) => named == hash,
            _ => named == hash,
        };
        if !is_same {
            self.fault(path.field(field), FaultKind::OtherBytes { field: "hash" });
        }
    }

    /// Compares a record with what comes out when it was read.
    fn compare(&mut self, before: &Value, after: &Value, path: &Path) {
        match (before, after) {
            (Value::Object(before), Value::Object(after)) => {
                for (name, value) in before {
                    match after.get(name) {
                        Some(after) => self.compare(value, after, &path.field(name)),
                        None if is_empty(value) => {}
                        None => self.fault(path.field(name), FaultKind::Altered { detail: "it is gone".to_owned() }),
                    }
                }
            }
            (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
                for (index, (before, after)) in before.iter().zip(after).enumerate() {
                    self.compare(before, after, &path.item(index));
                }
            }
            (Value::String(before), Value::String(after)) if before == after || is_same_time(before, after) => {}
            (before, after) if before == after => {}
            (_, after) => self.fault(path, FaultKind::Altered { detail: format!("it became {after}") }),
        }
    }
}

/// Tells whether nothing is lost when a value is left out.
fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}

/// Tells whether two texts are the same instant, and no digits of it were lost.
fn is_same_time(before: &str, after: &str) -> bool {
    let fraction = before.split_once('.').map_or("", |(_, rest)| rest);
    let digits = fraction.trim_end_matches(|c: char| !c.is_ascii_digit());
    let digits = digits.find(|c: char| !c.is_ascii_digit()).map_or(digits, |end| &digits[..end]);
    let is_exact = digits.trim_end_matches('0').len() <= 6;
    matches!((before.parse::<Timestamp>(), after.parse::<Timestamp>()), (Ok(before), Ok(after)) if before == after)
        && is_exact
}
