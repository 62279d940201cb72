//! What can be said of content that is not read, so that whoever is given its bytes can make sense of them.

use contexture_core::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Concatenation, KnownFormat};

/// How many of the first bytes a description looks at and shows.
pub const DESCRIBED_BYTES: usize = 16;

/// What content is and how to read it, for a person or a model that has only the bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContentDescription {
    /// The name that the content was checked in with.
    pub format: Format,
    /// What it is, as far as its name or its first bytes tell.
    pub what: String,
    /// How its records are told apart.
    pub framing: String,
    /// How to read it.
    pub reading: String,
}

/// Kinds of files that begin with bytes of their own, and what to do with one.
const BEGINNINGS: [(&[u8], &str, &str); 12] = [
    (b"\x1f\x8b", "data that gzip compressed", "decompress it (`gzip -d`) and look at what comes out"),
    (b"\x28\xb5\x2f\xfd", "data that zstd compressed", "decompress it (`zstd -d`) and look at what comes out"),
    (b"\xfd7zXZ\0", "data that xz compressed", "decompress it (`xz -d`) and look at what comes out"),
    (b"PK\x03\x04", "a ZIP archive", "list and unpack it (`unzip`)"),
    (b"SQLite format 3\0", "a SQLite database", "open it with `sqlite3`; `.schema` shows its tables"),
    (b"CTXBNDL", "a bundle of Contexture", "take it in (`ctx import-bundle`), into a store of its own if need be"),
    (b"\x89PNG", "a PNG image", "show it"),
    (b"\xff\xd8\xff", "a JPEG image", "show it"),
    (b"GIF8", "a GIF image", "show it"),
    (b"%PDF-", "a PDF document", "show it, or take the text out (`pdftotext`)"),
    (b"\x7fELF", "a program or a core dump (ELF)", "look at its parts (`readelf -a`, `strings`)"),
    (b"\xff\xfe", "text in UTF-16", "convert it (`iconv -f utf-16`)"),
];

/// Describes content by the name of its format and its first bytes, as far as those are known.
pub fn describe(format: &Format, first: &[u8]) -> ContentDescription {
    let first = &first[..first.len().min(DESCRIBED_BYTES)];
    let framing = match Concatenation::of(format) {
        Concatenation::Lines => "lines, each a JSON object",
        Concatenation::JsonArray => "the elements of a JSON array",
        Concatenation::CborArray => "the items of a CBOR array (RFC 8949)",
        Concatenation::Bytes => "none that is known: all of it is one thing",
    };
    let (what, reading) = match (KnownFormat::named(format), begun_with(first)) {
        (Some(known), _) if !known.reading.is_empty() => (known.description.to_owned(), known.reading.to_owned()),
        (_, Some((what, reading))) => (what.to_owned(), reading.to_owned()),
        (Some(known), None) => (known.description.to_owned(), "look at the bytes".to_owned()),
        (None, None) if Concatenation::of(format) == Concatenation::Lines => {
            let what = "somebody's own records; nothing else is known of this format".to_owned();
            (
                what,
                "read it line by line and go by the names of the keys: who speaks, what is said, which tools"
                    .to_owned(),
            )
        }
        (None, None) => (unknown(first), "look for texts in it (`strings`), and ask whoever checked it in".to_owned()),
    };
    ContentDescription { format: format.clone(), what, framing: framing.to_owned(), reading }
}

fn begun_with(first: &[u8]) -> Option<(&'static str, &'static str)> {
    BEGINNINGS.iter().find(|(beginning, ..)| first.starts_with(beginning)).map(|(_, what, reading)| (*what, *reading))
}

/// Says of bytes that nothing is known of how they begin.
fn unknown(first: &[u8]) -> String {
    let hex: Vec<String> = first.iter().map(|byte| format!("{byte:02x}")).collect();
    let begin = if hex.is_empty() { String::new() } else { format!("; it begins with the bytes {}", hex.join(" ")) };
    format!("nothing is known of this format{begin}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(name: &str, first: &[u8]) -> [String; 3] {
        let ContentDescription { what, framing, reading, .. } = describe(&Format::new(name).unwrap(), first);
        [what, framing, reading]
    }

    #[test]
    fn every_format_with_records_says_how_to_read_them() {
        for known in crate::known() {
            let is_described = !known.reading.is_empty() || matches!(known.name, "text" | "jsonl");
            assert!(is_described, "{}", known.name);
        }
        let [what, framing, reading] = described("codex-v1", b"");
        assert_eq!((what.as_str(), framing.as_str()), ("Codex rollout (JSONL)", "lines, each a JSON object"));
        assert!(reading.contains("payload"), "{reading}");
    }

    #[test]
    fn what_has_no_known_name_is_known_by_its_first_bytes() {
        assert_eq!(described("core-dump", b"\x7fELF\0\xff")[0], "a program or a core dump (ELF)");
        assert_eq!(described("mine", b"SQLite format 3\0and more")[0], "a SQLite database");
        let [what, framing, _] = described("mine", &[0, 1, 255]);
        assert_eq!(what, "nothing is known of this format; it begins with the bytes 00 01 ff");
        assert_eq!(framing, "none that is known: all of it is one thing");
        assert_eq!(described("mine", &[])[0], "nothing is known of this format");
        assert_eq!(described("mine", &[7; 100])[0].matches("07").count(), DESCRIBED_BYTES);
        assert_eq!(described("mine-jsonl", b"\0")[1], "lines, each a JSON object");
    }
}
