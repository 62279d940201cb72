//! Which format follows which rule of concatenation.

use std::fmt;

use contexture_core::Format;

/// How the parts of a conversation become one conversation in the same format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Concatenation {
    /// Every line is a JSON object; parts are appended line after line.
    Lines,
    /// A part is one JSON array; the elements are appended.
    JsonArray,
    /// A part is one CBOR array (RFC 8949); the elements are appended.
    CborArray,
    /// A part is anything; the bytes are appended as they are.
    Bytes,
}

/// A format whose rule is known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownFormat {
    /// The name that a commit carries.
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// How its parts join.
    pub rule: Concatenation,
}

impl Concatenation {
    /// Returns the rule of a format; names that are not known are stored as they are.
    pub fn of(format: &Format) -> Self {
        let name = format.as_str();
        match KNOWN.iter().find(|known| known.name == name) {
            Some(known) => known.rule,
            None if name.ends_with("-jsonl") => Self::Lines,
            None => Self::Bytes,
        }
    }
}

impl fmt::Display for Concatenation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Lines => "lines",
            Self::JsonArray => "JSON array",
            Self::CborArray => "CBOR array",
            Self::Bytes => "bytes",
        })
    }
}

/// Returns the formats that are known by name, for help texts.
pub fn known() -> &'static [KnownFormat] {
    KNOWN
}

const fn row(name: &'static str, description: &'static str, rule: Concatenation) -> KnownFormat {
    KnownFormat { name, description, rule }
}

const KNOWN: &[KnownFormat] = &[
    row("claude-code-v1", "Claude Code transcript (JSONL)", Concatenation::Lines),
    row("claude-stream-v1", "Claude Code's stream-json output (JSONL)", Concatenation::Lines),
    row("codex-v1", "Codex rollout (JSONL)", Concatenation::Lines),
    row("codex-exec-v1", "output of codex exec --json (JSONL)", Concatenation::Lines),
    row("gemini-v1", "Gemini CLI session (JSONL)", Concatenation::Lines),
    row("gemini-stream-v1", "Gemini CLI's stream-json output (JSONL)", Concatenation::Lines),
    row("pi-v1", "pi session (JSONL)", Concatenation::Lines),
    // An export is one object, {"info", "messages"}, and two objects do not add up to one.
    row("opencode-v1", "OpenCode export, one JSON object", Concatenation::Bytes),
    row("events-v1", "Contexture's own capture (JSONL)", Concatenation::Lines),
    row("bureau-agent-v1", "Bureau's agent messages, a CBOR array", Concatenation::CborArray),
    row("anthropic-messages-v1", "messages of Anthropic's API, a JSON array", Concatenation::JsonArray),
    row("openai-chat-v1", "messages of OpenAI's Chat Completions, a JSON array", Concatenation::JsonArray),
    row("openai-responses-v1", "items of OpenAI's Responses API, a JSON array", Concatenation::JsonArray),
    // Like an export, a trajectory is one object.
    row("atif-v1", "Harbor's trajectory (ATIF), one JSON object", Concatenation::Bytes),
    row("jsonl", "JSON objects, one a line; so is every name that ends in -jsonl", Concatenation::Lines),
    row("text", "plain text", Concatenation::Bytes),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str) -> Concatenation {
        Concatenation::of(&Format::new(name).unwrap())
    }

    #[test]
    fn names_that_end_in_jsonl_are_lines_and_unknown_names_are_bytes() {
        assert_eq!(rule("goose-jsonl"), Concatenation::Lines);
        for name in ["jsonlx", "my.jsonl", "claude-code-v2", "xjsonl"] {
            assert_eq!(rule(name), Concatenation::Bytes, "{name}");
        }
    }

    #[test]
    fn every_known_format_has_a_legal_name_of_its_own_and_its_listed_rule() {
        for (n, format) in known().iter().enumerate() {
            assert_eq!(rule(format.name), format.rule, "{}", format.name);
            assert!(known()[..n].iter().all(|earlier| earlier.name != format.name), "{}", format.name);
        }
    }
}
