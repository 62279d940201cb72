//! What encoders write: exact bytes for one dialogue, and what must survive for every dialogue.

use contexture_core::{
    BlobSource, Entry, EntryPart, Flags, Format, Role, Seal, SealScheme, Timestamp, ToolInput, Usage,
};
use contexture_formats::{
    Concatenation, Dialogue, EncodedDialogue, NativePrefix, RawRecord, Replay, Splitter, Target, appender,
    codec::{Link, RecordStep, codec},
    dialogue::{LossCount, LossKind, Speaker},
    encoder, entry_writer, read,
};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use crate::slices::check;

pub(crate) const FORMATS: [&str; 4] = ["claude-code-v1", "codex-v1", "gemini-v1", "pi-v1"];

/// All formats of which whole sessions are written.
const WHOLE: [&str; 7] =
    ["claude-code-v1", "codex-v1", "gemini-v1", "pi-v1", "opencode-v1", "events-v1", "bureau-agent-v1"];

fn format(name: &str) -> Format {
    Format::new(name).unwrap()
}

fn target() -> Target {
    Target {
        session: "0190f0e2-1111-7222-8333-444455556666".into(),
        directory: "/repo".into(),
        branch: Some("main".into()),
        version: Some("1.2.3".into()),
        model: Some("gpt-5".into()),
        provider: Some("openai".to_owned()),
        title: Some("The fix".into()),
        now: time("2026-11-15T12:00:00Z"),
    }
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn encode(name: &str, dialogue: &Dialogue) -> EncodedDialogue {
    encoder(&format(name)).unwrap().encode(dialogue, &target())
}

/// Reads a written session back.
fn decode(name: &str, bytes: &[u8]) -> Dialogue {
    let codec = codec(&format(name)).unwrap();
    let mut replay = Replay::default();
    let mut splitter = Splitter::new(codec.framing(), bytes.len() as u64);
    let mut take = |record: RawRecord<'_>| {
        codec.outline(record.bytes).unwrap();
        replay.take(codec.step(record.bytes).unwrap());
    };
    splitter.push(bytes, &mut take).and_then(|()| splitter.finish(&mut take)).unwrap();
    Dialogue::of(replay.into_entries())
}

fn call(id: &str, name: &str, input: ToolInput) -> EntryPart {
    EntryPart::ToolCall { id: id.into(), name: name.into(), input }
}

fn result(call: &str, text: &str, is_error: Option<bool>) -> EntryPart {
    EntryPart::ToolResult { call: call.into(), content: vec![EntryPart::text(text)], is_error }
}

fn image() -> EntryPart {
    EntryPart::Blob { media_type: "image/png".into(), source: BlobSource::Base64("AA==".into()) }
}

fn sealed(text: &str, scheme: SealScheme) -> EntryPart {
    EntryPart::Thinking { text: text.into(), seal: Some(Seal { scheme, data: "c2VhbA==".into() }) }
}

/// A conversation in which everything happens once.
fn dialogue() -> Dialogue {
    let at = |entry: Entry, minute: u32| Entry { at: Some(time(&format!("2026-11-15T10:{minute:02}:00Z"))), ..entry };
    let meta = Flags { meta: true, ..Flags::default() };
    let claude = |parts| Entry { model: Some("claude-opus-4-5".into()), ..Entry::new(Role::Assistant, parts) };
    Dialogue::of(vec![
        Entry::new(Role::System, vec![EntryPart::text("Be brief.")]),
        at(Entry::new(Role::User, vec![EntryPart::Summary { text: "We fixed half of it.".into() }]), 0),
        at(Entry::new(Role::User, vec![EntryPart::text("/src is broken: see \"this\""), image()]), 1),
        at(
            claude(vec![
                sealed("Let me look.", SealScheme::AnthropicSignature),
                sealed("", SealScheme::OpenaiEncrypted),
                EntryPart::text("I will look."),
                call("toolu_1", "Read", ToolInput::Json(json!({"file_path": "/src/a.rs", "limit": 2}))),
                call("call_2|fc_2", "mcp.wiki/ask", ToolInput::Json(json!({}))),
                EntryPart::text("And patch."),
                call("c3", "apply_patch", ToolInput::Text("*** Begin Patch\n*** End Patch".into())),
            ]),
            2,
        ),
        at(Entry::new(Role::Tool, vec![result("toolu_1", "fn main() {}", Some(false))]), 3),
        at(Entry::new(Role::Tool, vec![result("call_2|fc_2", "no such page", Some(true))]), 3),
        at(
            Entry::new(
                Role::Tool,
                vec![EntryPart::ToolResult {
                    call: "c3".into(),
                    content: vec![EntryPart::text("ok"), image()],
                    is_error: None,
                }],
            ),
            3,
        ),
        at(
            Entry {
                flags: meta,
                ..Entry::new(Role::User, vec![EntryPart::text("<system-reminder>go on</system-reminder>")])
            },
            4,
        ),
        at(
            claude(vec![
                EntryPart::text("Done."),
                EntryPart::Native { kind: "hologram".into(), value: json!({"beam": 1}) },
            ]),
            5,
        ),
        at(Entry::new(Role::User, vec![EntryPart::text("Thanks")]), 6),
    ])
}

#[test]
fn sessions_have_exactly_these_bytes() {
    for name in FORMATS {
        let encoded = encode(name, &dialogue());
        let path = format!("{}/tests/suite/golden/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let golden = std::fs::read_to_string(path).unwrap();
        assert_eq!(String::from_utf8(encoded.bytes).unwrap(), golden, "{name}");
    }
}

fn losses(name: &str) -> Vec<(LossKind, u64)> {
    encode(name, &dialogue()).losses.counts().iter().map(|LossCount { loss, count }| (*loss, *count)).collect()
}

#[test]
fn what_is_lost_is_counted() {
    let changed = [(LossKind::IdChanged, 1), (LossKind::ToolRenamed, 1)];
    let codex = [&[(LossKind::ThinkingAsText, 1)], &changed[..], &[(LossKind::NativePart, 1)]].concat();
    assert_eq!(losses("codex-v1"), codex);
    let wrapped = [(LossKind::InputWrapped, 1), (LossKind::NativePart, 1)];
    let gemini = [&[(LossKind::SystemAsUser, 1), (LossKind::SealedThinking, 1)], &changed[..], &wrapped].concat();
    assert_eq!(losses("gemini-v1"), gemini);
    assert_eq!(losses("pi-v1"), gemini, "Claude's thinking keeps its seal, OpenAI's goes");
}

#[test]
fn sessions_read_back_as_what_they_say() {
    for name in FORMATS {
        let encoded = encode(name, &dialogue());
        let back = decode(name, &encoded.bytes);
        assert_eq!(back.losses.counts(), [], "{name}");
        assert!(back.turns[0].parts.contains(&EntryPart::Summary { text: "We fixed half of it.".into() }), "{name}");
        assert!(back.turns[0].parts.contains(&image()), "{name}");
        let Said { calls, results, .. } = Said::of(&back);
        assert_eq!(calls.len(), 3, "{name}");
        assert_eq!(results[1], ("no such page".to_owned(), true), "{name}");
        // Codex keeps the model beside the conversation.
        let model = if name == "codex-v1" { None } else { Some("claude-opus-4-5") };
        assert_eq!(back.turns[1].model.as_deref(), model, "{name}");
    }
}

#[test]
fn the_session_tells_whose_it_is() {
    for name in FORMATS {
        let encoded = encode(name, &dialogue());
        let first = encoded.bytes.split(|byte| *byte == b'\n').next().unwrap();
        let facts = codec(&format(name)).unwrap().outline(first).unwrap().facts;
        assert_eq!(facts.session, Some(target().session), "{name}");
        let last = encoded.bytes.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap();
        let at = codec(&format(name)).unwrap().outline(last).unwrap().at;
        assert_eq!(at, Some(target().now), "{name}");
    }
}

#[test]
fn sealed_thinking_goes_back_to_whoever_sealed_it() {
    let seal_of = |name: &str, model: &str, part: EntryPart| {
        let answer =
            Entry { model: Some(model.into()), ..Entry::new(Role::Assistant, vec![part, EntryPart::text("a")]) };
        let dialogue = Dialogue::of(vec![Entry::new(Role::User, vec![EntryPart::text("q")]), answer]);
        let back = decode(name, &encode(name, &dialogue).bytes);
        back.turns[1].parts.iter().find_map(|part| match part {
            EntryPart::Thinking { seal, .. } => seal.as_ref().map(|seal| (seal.scheme, seal.data.clone())),
            _ => None,
        })
    };
    let kept = |scheme| Some((scheme, "c2VhbA==".to_owned()));
    let openai = SealScheme::OpenaiEncrypted;
    assert_eq!(seal_of("codex-v1", "gpt-5", sealed("", openai)), kept(openai));
    assert_eq!(seal_of("pi-v1", "gpt-5", sealed("s", openai)), kept(openai));
    assert_eq!(seal_of("pi-v1", "claude-opus-4-5", sealed("s", openai)), None);
    for scheme in [SealScheme::AnthropicSignature, SealScheme::AnthropicRedacted] {
        assert_eq!(seal_of("pi-v1", "claude-opus-4-5", sealed("t", scheme)), kept(scheme));
        assert_eq!(seal_of("codex-v1", "claude-opus-4-5", sealed("t", scheme)), None);
    }
    let google = SealScheme::GeminiSignature;
    assert_eq!(seal_of("pi-v1", "gemini-3-pro", sealed("t", google)), kept(google));
}

#[test]
fn codex_gets_its_own_items_back() {
    let compaction = json!({"type": "compaction", "encrypted_content": "gAAA"});
    let native = EntryPart::Native { kind: "compaction".into(), value: compaction };
    let dialogue = Dialogue::of(vec![Entry::new(Role::User, vec![EntryPart::text("q"), native.clone()])]);
    let encoded = encode("codex-v1", &dialogue);
    assert_eq!(encoded.losses.counts(), []);
    assert!(decode("codex-v1", &encoded.bytes).turns[0].parts.contains(&native));
}

#[test]
fn a_session_in_which_nobody_typed_anything_is_still_listed_by_codex() {
    let summary = Entry::new(Role::User, vec![EntryPart::Summary { text: "so far".into() }]);
    let encoded = encode("codex-v1", &Dialogue::of(vec![summary]));
    assert!(String::from_utf8(encoded.bytes).unwrap().contains("\"user_message\""));
}

#[test]
fn only_what_begins_a_session_is_missing_where_one_goes_on() {
    let lead = Dialogue::of(vec![Entry::new(Role::User, vec![EntryPart::text("q")])]);
    let more = || {
        vec![
            Entry::new(Role::System, vec![EntryPart::text("be kind")]),
            Entry::new(Role::Assistant, vec![EntryPart::text("a")]),
        ]
    };
    for name in FORMATS {
        let (_, added) = go_on(name, &lead, more());
        let added = String::from_utf8(added).unwrap();
        let headed = ["session_meta", "projectHash", "custom-title", "session_info", "\"type\":\"session\""];
        assert!(headed.iter().all(|head| !added.contains(head)), "{name}: {added}");
        assert!(added.contains("be kind") && !added.contains("[the conversation starts here]"), "{name}: {added}");
    }
    assert!(appender(&format("openai-chat-v1")).is_none());
}

#[test]
fn a_turn_of_codex_that_is_open_is_ended_where_a_session_goes_on() {
    let event = json!({"type": "task_started", "turn_id": "t1"});
    let event = json!({"timestamp": "t", "ordinal": 7, "type": "event_msg", "payload": event});
    let mut lead = NativePrefix::default();
    lead.follow(&format("codex-v1"), event.to_string().as_bytes());
    let answer = Dialogue::going_on(vec![Entry::new(Role::Assistant, vec![EntryPart::text("a")])]);
    let added = appender(&format("codex-v1")).unwrap().append(&answer, &target(), &lead).bytes;
    let last: Value =
        serde_json::from_slice(added.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!(last["payload"], json!({"type": "task_complete", "turn_id": "t1", "last_agent_message": "a"}));
    // Codex refuses a rollout that begins with numbered records and ends with another one.
    assert_eq!(last["ordinal"], 10);
}

/// What must survive a translation.
#[derive(Debug, Clone, PartialEq)]
struct Said {
    texts: Vec<(bool, String)>,
    calls: Vec<(String, Value)>,
    results: Vec<(String, bool)>,
}

impl Said {
    fn of(dialogue: &Dialogue) -> Self {
        // Targets without a place for instructions let the user say them first.
        let mut texts: Vec<_> = dialogue.system.iter().map(|text| (true, text.clone())).collect();
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for turn in &dialogue.turns {
            let is_user = turn.speaker == Speaker::User;
            for part in &turn.parts {
                match part {
                    // What targets add: the mark of thinking, and the guard before what looks like a command.
                    EntryPart::Text { text } if text.starts_with("<thinking>") || text == "The user wrote:\n" => {}
                    EntryPart::Text { text } => texts.push((is_user, text.clone())),
                    EntryPart::ToolCall { name, input, .. } => calls.push((name.clone(), named(input))),
                    EntryPart::ToolResult { content, is_error, .. } => {
                        results.push((contexture_formats::dialogue::text_of(content), *is_error == Some(true)));
                    }
                    _ => {}
                }
            }
        }
        Self { texts, calls, results }
    }

    fn extend(&mut self, more: Self) {
        self.texts.extend(more.texts);
        self.calls.extend(more.calls);
        self.results.extend(more.results);
    }
}

/// Returns what a tool is given as targets write it that take named values only.
fn named(input: &ToolInput) -> Value {
    match input {
        ToolInput::Json(object @ Value::Object(_)) => object.clone(),
        ToolInput::Json(value) => json!({"input": value}),
        ToolInput::Text(text) => json!({"input": text}),
    }
}

/// Tells what is different in a dialogue after it was written in a format and read back.
pub(crate) fn difference(name: &str, dialogue: &Dialogue) -> Option<String> {
    change(Said::of(dialogue), Said::of(&decode(name, &encode(name, dialogue).bytes)))
}

/// Tells what is different in what was said.
fn change(before: Said, after: Said) -> Option<String> {
    let (before, after) = (without_notes(before), without_notes(after));
    let first = |a: &[String], b: &[String]| {
        let differs = a.iter().zip(b).find(|(a, b)| a != b);
        differs
            .map(|(a, b)| format!("{a}\nbecame\n{b}"))
            .or((a.len() != b.len()).then(|| format!("{a:?}\nbecame\n{b:?}")))
    };
    let lists = |said: &Said| {
        let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>();
        [
            list(&mut said.texts.iter().map(|text| format!("{text:?}"))),
            list(&mut said.calls.iter().map(|call| format!("{call:?}"))),
            list(&mut said.results.iter().map(|result| format!("{result:?}"))),
        ]
    };
    lists(&before).iter().zip(lists(&after)).find_map(|(before, after)| first(before, &after))
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~\n\u{e9}\u{1f600}\u{2028}]{0,12}[!-~]",
        prop::sample::select(vec!["/help", "?", "<session_context>", "<environment_context>", "\u{0}\"\\"])
            .prop_map(str::to_owned),
    ]
}

fn any_input() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-z]{1,4}", any_value(), 0..3)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any_text().prop_map(Value::String),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_part() -> impl Strategy<Value = EntryPart> {
    // Some ids are none that targets take.
    let id = || prop::sample::select(vec!["1", "2", "call_3", "a|b", "é"]);
    let name = prop::sample::select(vec!["Read", "shell", "mcp__wiki__ask", "Bash-2"]);
    let content = || vec(prop_oneof![any_text().prop_map(EntryPart::text), Just(image())], 0..3);
    prop_oneof![
        3 => any_text().prop_map(EntryPart::text),
        3 => (id(), name, any_input()).prop_map(|(id, name, input)| call(id, name, ToolInput::Json(input))),
        3 => (id(), content(), any::<Option<bool>>())
            .prop_map(|(id, content, is_error)| EntryPart::ToolResult { call: id.into(), content, is_error }),
        1 => any_text().prop_map(|text| EntryPart::Thinking { text, seal: None }),
        1 => Just(sealed("", SealScheme::AnthropicRedacted)),
        1 => Just(image()),
        1 => Just(EntryPart::Native { kind: "hologram".into(), value: json!({"beam": 1}) }),
    ]
}

fn any_entries() -> impl Strategy<Value = Vec<Entry>> {
    let role = prop::sample::select(vec![Role::User, Role::Assistant, Role::Tool]);
    let entry = (role, vec(any_part(), 0..5), any::<bool>());
    vec(entry, 0..10).prop_map(|entries| {
        let entry =
            |(role, parts, meta)| Entry { flags: Flags { meta, ..Flags::default() }, ..Entry::new(role, parts) };
        entries.into_iter().map(entry).collect()
    })
}

/// An entry with all that one can have.
fn any_whole_entry() -> impl Strategy<Value = Entry> {
    let word = || prop::option::of("[a-c]");
    let flags = any::<[bool; 4]>().prop_map(|[side_chain, synthetic, compact_summary, meta]| Flags {
        side_chain,
        synthetic,
        compact_summary,
        meta,
    });
    let role = prop::sample::select(Role::ALL.to_vec());
    let usage = prop::option::of(any::<Option<u64>>().prop_map(|input| Usage { input, ..Usage::default() }));
    let at = prop::option::of((0..1_i64 << 40).prop_map(|micros| Timestamp::from_micros(micros).unwrap()));
    let names = (word(), word(), word(), word());
    (names, role, flags, usage, at, vec(any_part(), 0..4)).prop_map(|(names, role, flags, usage, at, parts)| {
        let (id, group, author, model) = names;
        Entry { id, parent: None, group, role, author, model, at, parts, flags, usage }
    })
}

fn any_dialogue() -> impl Strategy<Value = Dialogue> {
    any_entries().prop_map(Dialogue::of)
}

/// Gives calls and their results other ids, as another session has them.
fn called_elsewhere(mut entries: Vec<Entry>) -> Vec<Entry> {
    for part in entries.iter_mut().flat_map(|entry| &mut entry.parts) {
        match part {
            EntryPart::ToolCall { id, .. } | EntryPart::ToolResult { call: id, .. } => id.insert(0, 'x'),
            _ => {}
        }
    }
    entries
}

/// Writes what goes on with a session that another one wrote, and returns the session and what was added.
fn go_on(name: &str, lead: &Dialogue, entries: Vec<Entry>) -> (Vec<u8>, Vec<u8>) {
    let before = Target { session: "0190f0e2-0000-7222-8333-444455556666".into(), ..target() };
    let written = encoder(&format(name)).unwrap().encode(lead, &before).bytes;
    let mut lead = NativePrefix::default();
    lead.follow(&format(name), &written);
    assert!(!lead.has_open_call(), "{name}");
    let added = appender(&format(name)).unwrap().append(&Dialogue::going_on(entries), &target(), &lead).bytes;
    (written, added)
}

/// Takes out what is only a note: images of a model, and turns of which nothing else is left. Images of tools may change
/// their place among the words.
fn without_notes(said: Said) -> Said {
    let unnoted =
        |text: String| text.replace("\n[image/png]", "").replace("[image/png]\n", "").replace("[image/png]", "");
    let is_note_line = |line: &str| line.starts_with('[') && line.ends_with(']') && !line.contains(' ');
    let is_note = |text: &str| text.lines().all(is_note_line);
    // Anthropic wants to know what went wrong, even if the tool did not say.
    let unfilled = |text: String| if text == "(no content)" || is_note(&text) { String::new() } else { text };
    Said {
        texts: said.texts.into_iter().filter(|(_, text)| !is_note(text)).collect(),
        calls: said.calls,
        results: said.results.into_iter().map(|(text, is_error)| (unfilled(unnoted(text)), is_error)).collect(),
    }
}

proptest! {
    #[test]
    fn our_own_format_keeps_every_dialogue_as_it_is(dialogue in any_dialogue()) {
        let encoded = encode("events-v1", &dialogue);
        prop_assert_eq!(encoded.losses.counts(), []);
        let read = decode("events-v1", &encoded.bytes);
        prop_assert_eq!((&read.system, &read.turns), (&dialogue.system, &dialogue.turns));
        prop_assert_eq!(read.losses.counts(), []);
    }

    #[test]
    fn our_own_format_keeps_every_entry_as_it_is(entries in vec(any_whole_entry(), 0..12)) {
        let mut replay = Replay::default();
        for entry in entries {
            replay.take(RecordStep::append(entry));
        }
        let entries = replay.into_entries();
        let bytes = entry_writer(&format("events-v1")).unwrap()(&entries);
        check(Concatenation::Lines, &bytes).unwrap();
        let mut again = Replay::default();
        let codec = codec(&format("events-v1")).unwrap();
        read(codec, &bytes, &mut |reading| again.take(reading.step.unwrap())).unwrap();
        prop_assert_eq!(again.into_entries(), entries);
    }

    #[test]
    fn words_calls_and_results_survive_every_target(dialogue in any_dialogue()) {
        for name in WHOLE {
            let encoded = encode(name, &dialogue);
            check(Concatenation::of(&format(name)), &encoded.bytes).unwrap();
            prop_assert_eq!(difference(name, &dialogue), None, "{}", name);
            prop_assert_eq!(encode(name, &dialogue), encoded, "{} is not the same twice", name);
        }
    }

    #[test]
    fn what_goes_on_with_a_session_reads_as_if_all_was_written_at_once(lead in any_entries(), more in any_entries()) {
        // A session goes on where somebody has asked something.
        let asked = Entry::new(Role::User, vec![EntryPart::text("q")]);
        let lead = Dialogue::of([vec![asked], lead].concat());
        let more = called_elsewhere(more);
        let mut said = Said::of(&lead);
        said.extend(Said::of(&Dialogue::going_on(more.clone())));
        for name in FORMATS {
            let (written, added) = go_on(name, &lead, more.clone());
            let whole = [written, added.clone()].concat();
            check(Concatenation::Lines, &whole).unwrap();
            prop_assert_eq!(change(said.clone(), Said::of(&decode(name, &whole))), None, "{}", name);
            let codec = codec(&format(name)).unwrap();
            let outlines = whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            let outlines: Vec<_> = outlines.map(|line| codec.outline(line).unwrap()).collect();
            let ids: Vec<_> = outlines.iter().filter_map(|outline| outline.id.as_ref()).collect();
            for (n, id) in ids.iter().enumerate() {
                prop_assert!(!ids[..n].contains(id), "{}: {} is there twice", name, id);
            }
            // Each record names the one before, over the border too.
            if ["claude-code-v1", "pi-v1"].contains(&name) {
                let linked = outlines.iter().filter(|outline| outline.id.is_some());
                for (before, outline) in [None].into_iter().chain(ids.iter().copied().map(Some)).zip(linked) {
                    prop_assert_eq!(&outline.link, &before.map_or(Link::Root, |id| Link::To(id.clone())), "{}", name);
                }
            }
        }
    }
}
