//! The formats that are known by name: one table of what each of them can.
//!
//! A format that is added is a row here and what its row names: a codec in `codec`, an encoder in `encode`.

use contexture_core::Format;

use crate::{
    Appender, Codec, Concatenation, Encoder,
    codec::{
        BoundedCodec, aider, anthropic, atif, bureau, claude, claude_stream,
        codex::{self, RolloutPosition},
        codex_exec, copilot, crush, cursor, cursor_chat, droid, dsh, entire, events, gemini, gemini_stream, kiro,
        kiro_chat, openai_chat, openai_responses, opencode, pi, pi_stream, specstory, swe_agent,
    },
    encode::{self, EntryWriter},
    session::RenameRule,
    summary::{self, SummaryWriter},
};

/// A format that is known by name, and what can be done with it.
#[derive(Clone, Copy)]
pub struct KnownFormat {
    /// The name that a commit carries.
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// How its parts join.
    pub rule: Concatenation,
    /// How somebody reads it who has only the bytes; empty where nothing need be said.
    pub reading: &'static str,
    /// Reads its records.
    pub(crate) codec: Option<&'static dyn Codec>,
    /// Writes a conversation in it.
    pub(crate) encoder: Option<&'static dyn Encoder>,
    /// Writes a conversation after records that are there.
    pub(crate) appender: Option<&'static dyn Appender>,
    /// Writes entries as they are.
    pub(crate) entry_writer: Option<EntryWriter>,
    /// Whether a runtime goes on with what is written.
    pub(crate) is_session: bool,
    /// Writes a summary as the conversation so far.
    pub(crate) summary: Option<SummaryWriter>,
    /// Which of its records carry the id of their session.
    pub(crate) rename_rule: Option<RenameRule>,
    /// Whether its runtime finds records by the one that follows them.
    pub(crate) is_linked: bool,
    /// Reads where in its session a record stands, where records say so.
    pub(crate) position: Option<fn(record: &[u8]) -> RolloutPosition>,
}

impl KnownFormat {
    /// Returns what is known of a format.
    pub(crate) fn named(format: &Format) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.name == format.as_str())
    }

    /// A format that is stored and joined and of which nothing else is known.
    const fn stored(name: &'static str, description: &'static str, rule: Concatenation) -> Self {
        Self {
            name,
            description,
            rule,
            reading: "",
            codec: None,
            encoder: None,
            appender: None,
            entry_writer: None,
            is_session: false,
            summary: None,
            rename_rule: None,
            is_linked: false,
            position: None,
        }
    }

    const fn lines(name: &'static str, description: &'static str) -> Self {
        Self::stored(name, description, Concatenation::Lines)
    }

    const fn array(name: &'static str, description: &'static str) -> Self {
        Self::stored(name, description, Concatenation::JsonArray)
    }
}

/// Returns the formats that are known by name, for help texts.
pub fn known() -> &'static [KnownFormat] {
    KNOWN
}

static KNOWN: &[KnownFormat] = &[
    KnownFormat {
        codec: Some(&BoundedCodec(&claude::ClaudeCode)),
        encoder: Some(&encode::claude::ClaudeCodeEncoder),
        appender: Some(&encode::claude::ClaudeCodeEncoder),
        is_session: true,
        summary: Some(summary::claude_code),
        rename_rule: Some(RenameRule::Claude),
        is_linked: true,
        reading: "each line has a `type`; those of `user` and `assistant` hold `message` with `role` and `content` (a text, or blocks `text`, `thinking`, `tool_use`, `tool_result`), `uuid` names a line and `parentUuid` the one before it",
        ..KnownFormat::lines("claude-code-v1", "Claude Code transcript (JSONL)")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&claude_stream::ClaudeStream)),
        reading: "each line has a `type`; `system` opens, `user` and `assistant` hold `message` as in a transcript, `result` ends",
        ..KnownFormat::lines("claude-stream-v1", "Claude Code's stream-json output (JSONL)")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&codex::CODEC)),
        encoder: Some(&encode::codex::Codex),
        appender: Some(&encode::codex::Codex),
        is_session: true,
        summary: Some(summary::codex),
        rename_rule: Some(RenameRule::Codex),
        position: Some(codex::place),
        reading: "each line has `type` and `payload`: `session_meta` describes the session, `response_item` holds messages, reasoning, calls and their outputs as OpenAI's Responses API has them, `event_msg` is for the screen, `compacted` replaces what came before",
        ..KnownFormat::lines("codex-v1", "Codex rollout (JSONL)")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&codex_exec::CODEC)),
        reading: "each line has a `type`; `item.completed` holds in `item` what was said or done",
        ..KnownFormat::lines("codex-exec-v1", "output of codex exec --json (JSONL)")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&gemini::CODEC)),
        encoder: Some(&encode::gemini::Gemini),
        appender: Some(&encode::gemini::Gemini),
        is_session: true,
        summary: Some(summary::gemini),
        rename_rule: Some(RenameRule::Gemini),
        reading: "the first line describes the session; lines with `type` `user` or `gemini` are messages, the latter with `thoughts` and `toolCalls`; a line with an `id` that was there replaces that one, `$set` and `$rewindTo` change what came before",
        ..KnownFormat::lines("gemini-v1", "Gemini CLI session (JSONL)")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&gemini_stream::CODEC)),
        reading: "each line has a `type`: `message` with `role` and `content`, `tool_use`, `tool_result`, `result`",
        ..KnownFormat::lines("gemini-stream-v1", "Gemini CLI's stream-json output (JSONL)")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&pi::CODEC)),
        encoder: Some(&encode::pi::Pi),
        appender: Some(&encode::pi::Pi),
        is_session: true,
        summary: Some(summary::pi),
        rename_rule: Some(RenameRule::Pi),
        is_linked: true,
        reading: "the first line is the `session`; lines of `type` `message` hold `message` with `role` and `content`, `id` and `parentId` tell the order, `compaction` sums up",
        ..KnownFormat::lines("pi-v1", "pi session (JSONL)")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&pi_stream::CODEC)),
        reading: "each line has a `type`; `message_end` holds a whole `message`",
        ..KnownFormat::lines("pi-stream-v1", "pi's event stream (JSONL)")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&copilot::CODEC)),
        reading: "each line has `type` and `data`: `user.message` and `assistant.message` are what was said, `tool.execution_complete` what a tool answered",
        ..KnownFormat::lines("copilot-v1", "GitHub Copilot CLI's log of events (JSONL)")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&cursor::CODEC)),
        reading: "each line has `role` and `message` with `content`; results of tools are seldom there",
        ..KnownFormat::lines("cursor-v1", "Cursor's transcript of an agent (JSONL)")
    },
    // A chat in one of Cursor's databases is written as one object, {"cursor", "messages"}.
    KnownFormat {
        codec: Some(&BoundedCodec(&cursor_chat::CursorChat)),
        reading: "`messages` are in order; each is what Cursor's database holds of it",
        ..KnownFormat::stored("cursor-chat-v1", "chat in Cursor's database, one JSON object", Concatenation::Bytes)
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&droid::CODEC)),
        reading: "the first line is the session; lines of `type` `message` hold `message` with `role` and blocks as Anthropic's API has them",
        ..KnownFormat::lines("droid-v1", "Factory Droid session (JSONL)")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&dsh::CODEC)),
        reading: "the first line is the session; `user/message`, `assistant/message` and `tool/result` say in `data`, or its `message`, what was said, and a `surfaceOp` of `replace` what it stands for",
        ..KnownFormat::lines("dsh-v1", "DeepSeek Harness session (JSONL)")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&dsh::STREAM)),
        reading: "each line of `type` `session_event` holds an `event` as the session's own file has it",
        ..KnownFormat::lines("dsh-stream-v1", "what DeepSeek Harness prints as it works (JSONL)")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&kiro::CODEC)),
        reading: "each line has a `kind`: `Prompt`, `AssistantMessage`, `ToolResults`, with what was said in `data.content`",
        ..KnownFormat::lines("kiro-v1", "Kiro CLI session (JSONL)")
    },
    // A conversation in the database of older versions is one object, {"conversation_id", "history"}.
    KnownFormat {
        codec: Some(&BoundedCodec(&kiro_chat::KiroChat)),
        reading: "`history` is in order: pairs of `user`, a `Prompt` or `ToolUseResults`, and `assistant`, a `Response` or a `ToolUse`",
        ..KnownFormat::stored(
            "kiro-chat-v1",
            "conversation of an older Kiro CLI, one JSON object",
            Concatenation::Bytes,
        )
    },
    // A session in Crush's database is written as one object, {"session", "messages"}.
    KnownFormat {
        codec: Some(&BoundedCodec(&crush::Crush)),
        reading: "`session` describes it, `messages` are in order, each with `role` and `parts`",
        ..KnownFormat::stored("crush-v1", "Crush session, one JSON object", Concatenation::Bytes)
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&aider::Aider)),
        reading: "`# aider chat started at` opens a chat, `####` stands before what the user says, `>` before what Aider says of itself; the rest is the model's",
        ..KnownFormat::stored("aider-v1", "Aider's chat history (Markdown)", Concatenation::Bytes)
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&entire::CODEC)),
        reading: "each line has a `type` and what was said or done, shortened",
        ..KnownFormat::lines("entire-condensed-v1", "transcript as Entire condenses it (JSONL)")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&specstory::SpecStory)),
        reading: "headings `_**User**_` and `_**Agent**_` say who speaks below them",
        ..KnownFormat::stored("specstory-v1", "session as SpecStory writes it (Markdown)", Concatenation::Bytes)
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&swe_agent::SweAgent)),
        reading: "`history` has messages with `role` and `content`; `trajectory` has steps with `thought`, `action` and `observation`",
        ..KnownFormat::stored("swe-agent-v1", "SWE-agent's trajectory, one JSON object", Concatenation::Bytes)
    },
    // An export is one object, {"info", "messages"}, and two objects do not add up to one.
    KnownFormat {
        codec: Some(&BoundedCodec(&opencode::Opencode)),
        encoder: Some(&encode::opencode::OpencodeEncoder),
        is_session: true,
        reading: "`info` describes the session; each of `messages` has `info` with `role` and `parts`: `text`, `reasoning`, and `tool` with its call and its result in `state`",
        ..KnownFormat::stored("opencode-v1", "OpenCode export, one JSON object", Concatenation::Bytes)
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&events::EventsCodec)),
        encoder: Some(&encode::events::Events),
        entry_writer: Some(encode::events::write_entries),
        summary: Some(summary::events),
        reading: "each line is an entry with `role` and `parts`: `text`, `thinking`, `tool_call`, `tool_result`, `blob`, `summary`, `native`",
        ..KnownFormat::lines("events-v1", "Contexture's own capture (JSONL)")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&bureau::Bureau)),
        encoder: Some(&encode::bureau::BureauEncoder),
        is_session: true,
        summary: Some(summary::bureau),
        reading: "each item is a map with `Role` and `Content`, blocks of a `Type` (`text`, `tool_use`, `tool_result`); `Input` is JSON in a string of bytes",
        ..KnownFormat::stored("bureau-agent-v1", "Bureau's agent messages, a CBOR array", Concatenation::CborArray)
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&anthropic::Anthropic)),
        encoder: Some(&encode::anthropic::AnthropicEncoder),
        summary: Some(summary::anthropic),
        reading: "each element has `role` and `content`: a text, or blocks `text`, `thinking`, `tool_use`, `tool_result`",
        ..KnownFormat::array("anthropic-messages-v1", "messages of Anthropic's API, a JSON array")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&openai_chat::OpenaiChat)),
        encoder: Some(&encode::openai_chat::OpenaiChatEncoder),
        summary: Some(summary::openai_chat),
        reading: "each element has `role` and `content`; `tool_calls` are answered by elements of the role `tool`",
        ..KnownFormat::array("openai-chat-v1", "messages of OpenAI's Chat Completions, a JSON array")
    },
    KnownFormat {
        codec: Some(&BoundedCodec(&openai_responses::OpenaiResponses)),
        encoder: Some(&encode::openai_responses::OpenaiResponsesEncoder),
        summary: Some(summary::openai_responses),
        reading: "each element has a `type`: `message`, `reasoning`, `function_call`, `function_call_output`",
        ..KnownFormat::array("openai-responses-v1", "items of OpenAI's Responses API, a JSON array")
    },
    // Like an export, a trajectory is one object.
    KnownFormat {
        codec: Some(&BoundedCodec(&atif::Atif)),
        encoder: Some(&encode::atif::AtifEncoder),
        reading: "`steps` are in order, each with `source` and `message`, `tool_calls`, and their results in `observation`",
        ..KnownFormat::stored("atif-v1", "Harbor's trajectory (ATIF), one JSON object", Concatenation::Bytes)
    },
    KnownFormat::lines("jsonl", "JSON objects, one a line; so is every name that ends in -jsonl"),
    KnownFormat {
        encoder: Some(&encode::text::Text),
        summary: Some(summary::text),
        ..KnownFormat::stored("text", "plain text", Concatenation::Bytes)
    },
];
