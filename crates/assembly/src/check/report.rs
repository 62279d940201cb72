//! What a check found.

use std::{collections::BTreeMap, fmt};

use contexture_core::{EventKind, UnknownWord, vocabulary};
use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use crate::{
    mistake::{ActualValue, meant},
    standard::{ContentDigest, NotADigest, Object, VERSION},
};

/// How many faults of a level, and how many notes, are kept.
const MAX_KEPT: usize = 10_000;

vocabulary! {
    /// How much records of the standard are good for. Each level needs those before it.
    Level {
        /// Every record has the fields and types that the standard demands.
        Readable = "L0",
        /// Every step from what was available to what was made visible is there, and all that is named is in the file.
        TurnTrace = "L1",
        /// Every change has its event, and nothing was changed or replaced in silence.
        Lifecycle = "L2",
        /// What was made visible can be made again from the file, byte for byte.
        Replayable = "L3",
    }
}

impl Level {
    /// Returns what people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Readable => "readable",
            Self::TurnTrace => "turn trace",
            Self::Lifecycle => "lifecycle",
            Self::Replayable => "replayable",
        }
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// The level that was reached; none where not everything is readable.
    pub level: Option<Level>,
    /// How many records of each kind there are.
    pub records: BTreeMap<Object, u64>,
    /// What stands against each level that was not reached, lowest level first.
    pub faults: Vec<Fault>,
    /// What could be better and stands against no level. A strict check has none.
    pub notes: Vec<Fault>,
    /// How many more faults and notes there are.
    pub left_out: u64,
}

/// Something that stands against a level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct Fault {
    /// The level.
    pub level: Level,
    /// Where it is, such as `records[3].record.ordered_blocks[0].hash`; `$` is the whole document.
    pub path: String,
    /// What is wrong there.
    pub problem: FaultKind,
}

macro_rules! problems {
    ($($(#[$doc:meta])* $code:literal, $message:literal $(, $argument:expr)* => $name:ident
        $({ $($(#[$field_doc:meta])* $field:ident: $type:ty),+ $(,)? })?;)+) => {
        /// What is wrong with a part of a document.
        #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
        pub enum FaultKind {
            $($(#[$doc])* #[error($message $(, $argument)*)] $name $({ $($(#[$field_doc])* $field: $type),+ })?),+
        }

        impl FaultKind {
            /// Returns a word for it that programs can rely on.
            pub const fn code(&self) -> &'static str {
                match self { $(Self::$name { .. } => $code),+ }
            }
        }
    };
}

problems! {
    /// It is no JSON.
    "not-json", "it is not JSON: {detail}" => NotJson {
        /// What the parser says.
        detail: String,
    };
    /// There is nothing to check.
    "no-records", "there is no record in it" => NoRecords;
    /// A field stands there twice, so readers may see different values.
    "twice", "it stands there more than once" => Twice;
    /// Nothing tells what kind of record it is.
    "no-record", "it is no record of the standard: it has no id such as context_id, item_id or event_id" => NoRecord;
    /// It must be there.
    "missing", "it is missing" => Missing;
    /// It is something else.
    "type", "expected {expected}, found {found}" => Type {
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: ActualValue,
    };
    /// Nothing can be named by it.
    "empty-id", "an id needs at least one character" => EmptyId;
    /// It is no time.
    "time", "{text:?} is no time of RFC 3339: write it like 2026-05-12T09:00:00Z" => Time {
        /// What is there.
        text: String,
    };
    /// The word is not in its vocabulary.
    "word", "{word}" => Word {
        /// Which words there are.
        word: UnknownWord,
    };
    /// Nothing says what `custom` stands for.
    "custom", "it is custom, and metadata.{field} does not say what that is" => Custom {
        /// The field.
        field: String,
    };
    /// The standard knows no such field.
    "unknown-field", "the standard has no such field; what is your own belongs into metadata{}",
        meant(*nearest) => UnknownField {
        /// A field that may have been meant.
        nearest: Option<&'static str>,
    };
    /// The standard says that it should be there.
    "recommended", "the standard recommends it, and it is not there" => Recommended;
    /// It is written in a version that is not known.
    "version", "version {found:?} is not known; it was checked as {VERSION}" => Version {
        /// The version.
        found: String,
    };
    /// The content is not where the mode says it is.
    "content-mode", "it should be there, because content_mode is {mode}" => ContentMode {
        /// The mode.
        mode: String,
    };

    /// A kind of record is not there at all.
    "no-object", "there is no {object}" => NoObject {
        /// The kind.
        object: Object,
    };
    /// An envelope does not name something that belongs to a turn.
    "not-named", "the envelope names no {object}" => NotNamed {
        /// What.
        object: Object,
    };
    /// A reference has no id in it.
    "no-id", "it names nothing: expected an id, or an object with one" => NoId;
    /// A reference leads nowhere.
    "unresolved", "{id:?} is not the id of any {what} here" => Unresolved {
        /// The id.
        id: String,
        /// What it should be.
        what: &'static str,
    };
    /// Something that lies outside is not marked as such.
    "not-outside", "what lies outside is named by an object with kind and id" => NotOutside;
    /// Nothing says why an item was left out.
    "no-reason", "it was left out without a reason" => NoReason;
    /// A candidate was forgotten.
    "undecided", "{id:?} was neither selected nor omitted" => Undecided {
        /// The item.
        id: String,
    };
    /// An item is in and out.
    "decided-twice", "{id:?} was both selected and omitted" => DecidedTwice {
        /// The item.
        id: String,
    };
    /// An item came from nowhere.
    "no-candidate", "{id:?} is not among the candidates" => NoCandidate {
        /// The item.
        id: String,
    };

    /// A change has no event.
    "no-event", "no event {event} names it" => NoEvent {
        /// The event.
        event: EventKind,
    };
    /// Nobody knows what was lost.
    "no-loss-notes", "neither the compaction nor its summary says what was lost" => NoLossNotes;
    /// A record was changed under its id.
    "changed", "{first} has the same id with other content" => Changed {
        /// The record that came first.
        first: String,
    };
    /// A record says what is not for context to say.
    "declares", "a record of context must not declare {what}" => Declares {
        /// What.
        what: &'static str,
    };

    /// There is nothing to prove it with.
    "no-contents", "there are no contents: only an export can be replayed" => NoContents;
    /// It is no digest.
    "not-a-digest", "{digest}" => NotADigest {
        /// What is there.
        digest: NotADigest,
    };
    /// A content is no content.
    "content", "expected one field, text or base64" => Content;
    /// A content is not what its key says.
    "other-content", "the content has another digest: {digest}" => OtherContent {
        /// The digest that it has.
        digest: ContentDigest,
    };
    /// The bytes are not there.
    "no-content", "no content here has this digest" => NoContent;
    /// The bytes that were sent are not there.
    "not-rendered", "neither the blocks one after another nor any content here has this digest" => NotRendered;
    /// Two digests that should be of the same bytes are not.
    "other-bytes", "it names other bytes than {field} does" => OtherBytes {
        /// The other digest.
        field: &'static str,
    };
    /// A block says that it stands elsewhere.
    "position", "it stands after position {before}" => Position {
        /// The position of the block before it.
        before: u64,
    };
    /// Nobody knows whether a source can change.
    "unbound", "it must say whether the source is pinned or live" => Unbound;
    /// It is not the same after it was read and written.
    "altered", "it is not the same after it was read and written: {detail}" => Altered {
        /// Why.
        detail: String,
    };
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Fault", 4)?;
        fields.serialize_field("level", &self.level)?;
        fields.serialize_field("path", &self.path)?;
        fields.serialize_field("code", self.problem.code())?;
        fields.serialize_field("message", &self.problem.to_string())?;
        fields.end()
    }
}

/// How much is asked of records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Strictness {
    /// What the standard demands. The rest is noted.
    #[default]
    Demanded,
    /// Also what the standard recommends: its words, its fields, and those that should be there.
    Recommended,
}

/// Gathers what is found.
#[derive(Debug)]
pub(super) struct Findings {
    strictness: Strictness,
    faults: BTreeMap<Level, Vec<Fault>>,
    notes: Vec<Fault>,
    left_out: u64,
}

impl Findings {
    pub(super) fn new(strictness: Strictness) -> Self {
        let faults = Level::ALL.iter().map(|level| (*level, Vec::new())).collect();
        Self { strictness, faults, notes: Vec::new(), left_out: 0 }
    }

    /// Adds what stands against a level.
    pub(super) fn fault(&mut self, level: Level, path: impl fmt::Display, problem: FaultKind) {
        let kept = self.faults.entry(level).or_default();
        Self::keep(kept, &mut self.left_out, level, path, problem);
    }

    /// Adds what stands against a level only where recommendations count.
    pub(super) fn note(&mut self, level: Level, path: impl fmt::Display, problem: FaultKind) {
        match self.strictness {
            Strictness::Recommended => self.fault(level, path, problem),
            Strictness::Demanded => Self::keep(&mut self.notes, &mut self.left_out, level, path, problem),
        }
    }

    /// Tells whether nothing was found yet that stands against a level.
    pub(super) fn allow(&self, level: Level) -> bool {
        self.faults.get(&level).is_none_or(Vec::is_empty)
    }

    fn keep(kept: &mut Vec<Fault>, left_out: &mut u64, level: Level, path: impl fmt::Display, problem: FaultKind) {
        if kept.len() < MAX_KEPT {
            kept.push(Fault { level, path: path.to_string(), problem });
        } else {
            *left_out += 1;
        }
    }

    pub(super) fn into_report(self, records: BTreeMap<Object, u64>) -> CheckReport {
        let level = Level::ALL.iter().take_while(|level| self.allow(**level)).last().copied();
        let Self { faults, notes, left_out, .. } = self;
        CheckReport { level, records, faults: faults.into_values().flatten().collect(), notes, left_out }
    }
}
