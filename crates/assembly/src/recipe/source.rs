//! Sources: how they are written, and what holds where nothing is said.

use serde_json::Value;

use super::{Rule, SourceInput, SourceKind, SourceSpec, Stability, topic};
use crate::{
    candidate::Priority,
    mistake::MistakeKind,
    reader::{Fields, Reader, array, boolean, filled, line, positive, word, words},
};

/// The files that instructions come from where none are named.
const INSTRUCTION_FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// The results of a search where nobody says how many.
const RETRIEVAL_LIMIT: u64 = 5;
/// The most results that a search may be asked for.
const MAX_RETRIEVAL_LIMIT: u64 = 1000;

impl SourceInput {
    /// Returns of which kind it is.
    pub fn kind(&self) -> SourceKind {
        match self {
            Self::System { .. } => SourceKind::System,
            Self::Instructions { .. } => SourceKind::Instructions,
            Self::Text { .. } => SourceKind::Text,
            Self::History { .. } => SourceKind::History,
            Self::Files { .. } => SourceKind::Files,
            Self::Retrieval { .. } => SourceKind::Retrieval,
            Self::Missing => SourceKind::Missing,
            Self::Items => SourceKind::Items,
            Self::Trigger => SourceKind::Trigger,
            Self::Topic { .. } => SourceKind::Topic,
            Self::Channel { .. } => SourceKind::Channel,
            Self::SkipHints => SourceKind::SkipHints,
        }
    }

    /// Returns the files that it names.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let (one, several) = match self {
            Self::System { file, .. } => (file.as_deref(), [].as_slice()),
            Self::Instructions { files } | Self::Files { files } => (None, files.as_slice()),
            Self::Text { .. }
            | Self::History { .. }
            | Self::Retrieval { .. }
            | Self::Missing
            | Self::Items
            | Self::Trigger
            | Self::Channel { .. }
            | Self::SkipHints
            | Self::Topic { .. } => (None, [].as_slice()),
        };
        one.into_iter().chain(several.iter().map(String::as_str))
    }

    /// Returns how much its items matter where the recipe does not say.
    pub fn default_priority(&self) -> Priority {
        match self {
            Self::System { .. }
            | Self::Instructions { .. }
            | Self::Trigger
            | Self::SkipHints
            | Self::Text { instruction: true, .. } => Priority::Required,
            Self::Text { .. } | Self::Missing => Priority::High,
            Self::History { .. } | Self::Channel { .. } | Self::Files { .. } | Self::Items => Priority::Medium,
            Self::Retrieval { .. } => Priority::Low,
            Self::Topic { topic, .. } => topic::priority(topic),
        }
    }
}

impl SourceSpec {
    /// Returns a source about which nothing is said but what it reads.
    pub fn of(input: SourceInput) -> Self {
        let priority = input.default_priority();
        Self { input, priority, kind: None, title: None, visibility: None, trust: None, sensitivity: None }
    }

    /// Reads a source; nothing where nobody can tell what it reads.
    pub(super) fn read(reader: &mut Reader, path: &str, value: Value) -> Option<Self> {
        let mut fields = reader.object(path, value)?;
        let kind = reader.required(&mut fields, "source", word::<SourceKind>);
        let input = kind.and_then(|kind| input(reader, path, &mut fields, kind));
        if kind.is_none() {
            // Nobody knows which fields belong there, so only names that no source has are mistakes.
            for name in INPUT_FIELDS {
                fields.take(name);
            }
        }
        let priority = reader.optional(&mut fields, "priority", word);
        let kind = reader.optional(&mut fields, "kind", word);
        let title = reader.optional(&mut fields, "title", line);
        let visibility = reader.list(&mut fields, "visibility", filled, word);
        let trust = reader.optional(&mut fields, "trust", line);
        let sensitivity = reader.optional(&mut fields, "sensitivity", line);
        reader.nothing_else(&fields);
        let source = Self::of(input?);
        let priority = priority.unwrap_or(source.priority);
        Some(Self { priority, kind, title, visibility, trust, sensitivity, ..source })
    }

    /// Returns a source that breaks no rule, to stand for one that cannot be read while other mistakes are looked for.
    pub(super) fn stand_in() -> Self {
        Self::of(SourceInput::Text { text: String::new(), compact: None, instruction: false })
    }
}

/// The fields of all kinds of sources.
const INPUT_FIELDS: [&str; 19] = [
    "text",
    "file",
    "files",
    "compact",
    "instruction",
    "beyond_compaction",
    "thinking",
    "max_turns",
    "query",
    "limit",
    "topic",
    "sender",
    "since",
    "strategy",
    "amount",
    "compact_strategy",
    "compact_amount",
    "if_missing",
    "max_messages",
];

fn input(reader: &mut Reader, path: &str, fields: &mut Fields, kind: SourceKind) -> Option<SourceInput> {
    Some(match kind {
        SourceKind::System => {
            match (fields.has("text"), fields.has("file")) {
                (true, true) => reader.add(path, Rule::TextAndFile),
                (false, false) => reader.add(path, Rule::NeitherTextNorFile),
                (true, false) | (false, true) => {}
            }
            let text = reader.optional(fields, "text", words);
            SourceInput::System { text, file: reader.optional(fields, "file", line) }
        }
        SourceKind::Instructions => {
            let files = reader.list(fields, "files", filled, line);
            let usual = || INSTRUCTION_FILES.map(str::to_owned).to_vec();
            SourceInput::Instructions { files: files.unwrap_or_else(usual) }
        }
        SourceKind::Text => {
            let text = reader.required(fields, "text", words);
            let compact = reader.optional(fields, "compact", words);
            let instruction = reader.optional(fields, "instruction", boolean).unwrap_or(false);
            SourceInput::Text { text: text?, compact, instruction }
        }
        SourceKind::History => SourceInput::History {
            beyond_compaction: reader.optional(fields, "beyond_compaction", boolean).unwrap_or(false),
            thinking: reader.optional(fields, "thinking", boolean).unwrap_or(false),
            max_turns: reader.optional(fields, "max_turns", positive),
        },
        SourceKind::Files => {
            SourceInput::Files { files: reader.list(fields, "files", array, line).unwrap_or_default() }
        }
        SourceKind::Retrieval => SourceInput::Retrieval {
            query: reader.optional(fields, "query", words),
            limit: reader.optional(fields, "limit", results).unwrap_or(RETRIEVAL_LIMIT),
        },
        SourceKind::Missing => SourceInput::Missing,
        SourceKind::Items => SourceInput::Items,
        SourceKind::Trigger => SourceInput::Trigger,
        SourceKind::Topic => topic::read(reader, fields, topic::OWN)?,
        SourceKind::Channel => SourceInput::Channel { max_messages: reader.optional(fields, "max_messages", positive) },
        SourceKind::SkipHints => SourceInput::SkipHints,
    })
}

fn results(value: Value) -> Result<u64, MistakeKind> {
    let number = value.as_u64().filter(|number| (1..=MAX_RETRIEVAL_LIMIT).contains(number));
    number.ok_or_else(|| MistakeKind::mistyped("a whole number from 1 to 1000", value))
}

/// Returns what changes in a segment where the recipe does not say: the history only grows, and what the recipe itself
/// says or names as instructions stays.
pub(super) fn default_stability<'s>(sources: impl Iterator<Item = &'s SourceSpec>) -> Stability {
    let kinds: Vec<_> = sources.map(|source| source.input.kind()).collect();
    let stays = |kind: &SourceKind| matches!(kind, SourceKind::System | SourceKind::Instructions | SourceKind::Text);
    if kinds.contains(&SourceKind::History) || kinds.contains(&SourceKind::Channel) {
        Stability::Append
    } else if kinds.iter().all(stays) {
        Stability::Stable
    } else {
        Stability::Volatile
    }
}
