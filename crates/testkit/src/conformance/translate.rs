//! Translate: a chain in another format, as faithfully as each stretch allows.

use contexture::{
    ContentMeaning, Contexture, Error, Materialized, RawArtifact, RawContent, Stop, Stretch, Tier, TranslationLoss,
    formats::{
        Dialogue, Replay, Target, codec,
        dialogue::{LossKind, text_of},
        encoder, read, summary_entry,
    },
};
use contexture_core::{ArtifactId, CommitId, CommitKind, Entry, EntryPart, Format, Role, ToolInput};
use serde_json::{Value, json};

use crate::{Backend, Harness, materialized, noise, write};

fn format(name: &str) -> Format {
    Format::new(name).unwrap()
}

/// Drafts a Claude Code line in which somebody says something.
fn claude(role: &str, id: u8, text: &str) -> String {
    let content = format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}"#);
    let uuid = format!("00000000-0000-4000-8000-0000000000{id:02x}");
    format!("{{\"type\":\"{role}\",\"uuid\":\"{uuid}\",\"message\":{content}}}\n")
}

fn chat(role: &str, text: &str) -> String {
    format!(r#"[{{"role":"{role}","content":"{text}"}}]"#)
}

/// A question and an answer of Claude Code, a commit each.
async fn question_and_answer(store: &Contexture) -> (CommitId, CommitId) {
    let question = write("claude-code-v1", claude("user", 1, "why?")).commit(store).await;
    (question, write("claude-code-v1", claude("assistant", 2, "because")).after(question).commit(store).await)
}

async fn translated(store: &Contexture, commit: CommitId, stop: Stop, name: &str) -> (String, Materialized) {
    let target = store.target_of(Some(commit)).await.unwrap();
    let translation = store.translate(Some(commit), stop, &format(name), &target).await.unwrap();
    let mut bytes = Vec::new();
    let materialization = store.materialize(Some(commit), stop, Some(format(name))).await.unwrap();
    let report = materialization.write_to(&mut bytes).await.unwrap();
    assert_eq!((&bytes, &report), (&translation.bytes, &translation.report), "both ways lead to the same");
    (String::from_utf8(bytes).unwrap(), report)
}

/// Returns who says what in OpenAI's chat, one `role: text` each.
async fn as_chat(store: &Contexture, commit: CommitId, stop: Stop) -> (Vec<String>, Materialized) {
    let (text, report) = translated(store, commit, stop, "openai-chat-v1").await;
    let messages: Vec<Value> = serde_json::from_str(&text).unwrap();
    let line = |message: &Value| {
        let words = match &message["content"] {
            Value::Array(parts) => {
                parts.iter().map(|part| part["text"].as_str().unwrap()).collect::<Vec<_>>().join("|")
            }
            content => content.as_str().unwrap().to_owned(),
        };
        format!("{}: {words}", message["role"].as_str().unwrap())
    };
    (messages.iter().map(line).collect(), report)
}

fn stretch(name: &str, commits: u64, tier: Tier) -> Stretch {
    Stretch { format: format(name), commits, tier }
}

pub async fn a_chain_is_mapped_entry_by_entry<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (question, answer) = question_and_answer(&store).await;
    let (text, report) = translated(&store, answer, Stop::Compaction, "openai-chat-v1").await;
    let expected = r#"[{"role":"user","content":"why?"},{"role":"assistant","content":"because"}]"#;
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), serde_json::from_str::<Value>(expected).unwrap());
    assert_eq!(
        report,
        Materialized {
            format: Some(format("openai-chat-v1")),
            tier: Tier::Mapped,
            segments: vec![stretch("claude-code-v1", 2, Tier::Mapped)],
            losses: vec![],
            commits: 2,
            messages: Some(2),
            bytes: text.len() as u64,
            tokens: (text.encode_utf16().count() as u64).div_ceil(4),
            token_counter: "chars4".to_owned(),
            raw: vec![],
            artifact: Some(ArtifactId::of(text.as_bytes())),
        }
    );
    let (messages, _) = as_chat(&store, answer, Stop::At(answer)).await;
    assert_eq!(messages, ["user: [the conversation starts here]", "assistant: because"]);
    let (messages, _) = as_chat(&store, question, Stop::Root).await;
    assert_eq!(messages, ["user: why?"]);
    let (narrative, report) = translated(&store, answer, Stop::Root, "text").await;
    assert_eq!(narrative, "User:\n  why?\n\nAssistant:\n  because\n");
    assert_eq!((report.tier, report.messages), (Tier::Rendered, None));
}

pub async fn our_own_format_holds_all_that_a_chain_says<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (question, _) = question_and_answer(&store).await;
    let sealed = "{\"type\":\"assistant\",\"uuid\":\"00000000-0000-4000-8000-000000000005\",\"parentUuid\":\
                  \"00000000-0000-4000-8000-000000000001\",\"message\":{\"role\":\"assistant\",\"model\":\"claude-x\",\
                  \"content\":[{\"type\":\"redacted_thinking\",\"data\":\"eA==\"},{\"type\":\"beam\",\"at\":1},\
                  {\"type\":\"tool_use\",\"id\":\"open\",\"name\":\"a.b\",\"input\":[1]}]}}\n";
    let sealed = write("claude-code-v1", sealed).after(question).commit(&store).await;
    let tip = write("openai-chat-v1", chat("user", "and then?")).after(sealed).commit(&store).await;
    let (events, report) = translated(&store, tip, Stop::Root, "events-v1").await;
    assert_eq!((report.tier, report.losses.as_slice(), report.messages), (Tier::Mapped, &[][..], Some(3)));
    let replayed = |content: &[u8]| {
        let mut replay = Replay::default();
        read(codec(&format("events-v1")).unwrap(), content, &mut |reading| replay.take(reading.step.unwrap())).unwrap();
        replay.into_entries()
    };
    let mut said = Replay::default();
    let mut entries = store.entries(Some(tip), Stop::Root).await.unwrap();
    while let Some(content) = entries.next().await.unwrap() {
        let ContentMeaning::Steps { steps, .. } = content.said else { panic!("{:?}", content.said) };
        for step in steps {
            said.take(step);
        }
    }
    assert_eq!(replayed(events.as_bytes()), said.into_entries());
    // Whoever goes on from it is given the same as whoever goes on from the chain.
    let copy = write("events-v1", events).commit(&store).await;
    for name in ["openai-chat-v1", "anthropic-messages-v1", "text"] {
        let (there, of_copy) = translated(&store, copy, Stop::Root, name).await;
        let (here, of_chain) = translated(&store, tip, Stop::Root, name).await;
        assert_eq!((there, of_copy.losses), (here, of_chain.losses), "{name}");
    }
    // A narrative is one message here too.
    let rendered = store.target_of(Some(tip)).await.unwrap();
    let rendered = store.translate_as(Some(tip), Stop::Root, &format("events-v1"), &rendered, Tier::Rendered).await;
    assert_eq!(replayed(&rendered.unwrap().bytes).len(), 1);
}

pub async fn sessions_of_bureau_and_opencode_are_written<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (_, answer) = question_and_answer(&store).await;
    let tip = write("openai-chat-v1", chat("user", "and then?")).after(answer).commit(&store).await;
    for name in ["bureau-agent-v1", "opencode-v1"] {
        let target = store.target_of(Some(tip)).await.unwrap();
        let translation = store.translate(Some(tip), Stop::Root, &format(name), &target).await.unwrap();
        assert_eq!((translation.report.tier, translation.report.losses.as_slice()), (Tier::Mapped, &[][..]), "{name}");
        // It can be checked in again, and says the same.
        let copy = write(name, translation.bytes).commit(&store).await;
        let (said, _) = as_chat(&store, copy, Stop::Root).await;
        assert_eq!(said, ["user: why?", "assistant: because", "user: and then?"], "{name}");
    }
}

pub async fn a_chain_in_the_wanted_format_is_not_touched<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (_, answer) = question_and_answer(&store).await;
    let (native, counted) = materialized(&store, answer, Stop::Compaction).await;
    let (text, report) = translated(&store, answer, Stop::Compaction, "claude-code-v1").await;
    assert_eq!((text.as_bytes(), &report), (&*native, &counted));
    assert_eq!(report.segments, [stretch("claude-code-v1", 2, Tier::Native)]);
    let target = store.target_of(None).await.unwrap();
    let nothing = store.translate(None, Stop::Compaction, &format("openai-chat-v1"), &target).await.unwrap();
    assert_eq!((&*nothing.bytes, nothing.report.tier, nothing.report.segments), (&b"[]"[..], Tier::Native, vec![]));
}

pub async fn stretches_of_several_formats_become_one_conversation<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (_, answer) = question_and_answer(&store).await;
    let more = write("openai-chat-v1", chat("user", "sure?")).after(answer).commit(&store).await;
    let yes = write("openai-chat-v1", chat("assistant", "yes")).after(more).commit(&store).await;
    let tip = write("claude-code-v1", claude("user", 3, "thanks")).after(yes).commit(&store).await;
    let (messages, report) = as_chat(&store, tip, Stop::Compaction).await;
    assert_eq!(messages, ["user: why?", "assistant: because", "user: sure?", "assistant: yes", "user: thanks"]);
    let mapped = |name, commits| stretch(name, commits, Tier::Mapped);
    let expected = [mapped("claude-code-v1", 2), mapped("openai-chat-v1", 2), mapped("claude-code-v1", 1)];
    assert_eq!((&*report.segments, report.tier, report.commits), (&expected[..], Tier::Mapped, 5));
    let (messages, report) = as_chat(&store, tip, Stop::At(more)).await;
    assert_eq!((messages.len(), report.commits), (3, 3));
    let error = store.materialize(Some(tip), Stop::Root, None).await.err().unwrap();
    assert!(matches!(error, Error::Mixed { commit, .. } if commit == tip), "{error:?}");
}

/// The formats of sessions that go on line by line.
const SESSIONS: [&str; 4] = ["claude-code-v1", "codex-v1", "gemini-v1", "pi-v1"];
const OLD: &str = "0190f0e2-0000-7222-8333-444455556666";

/// Writes a session as its runtime might, with a space in each record that nothing else writes.
fn session(name: &str, id: &str, entries: Vec<Entry>) -> String {
    let target = Target {
        session: id.to_owned(),
        directory: "/work".into(),
        branch: None,
        version: None,
        model: None,
        provider: Some("openai".to_owned()),
        title: None,
        now: "2026-01-02T03:04:05Z".parse().unwrap(),
    };
    let written = encoder(&format(name)).unwrap().encode(&Dialogue::of(entries), &target).bytes;
    let written = String::from_utf8(written).unwrap();
    written.lines().flat_map(|line| ["{ ", &line[1..], "\n"]).collect()
}

/// A question, a look at something, and an answer.
fn looked_up() -> Vec<Entry> {
    let call = EntryPart::ToolCall { id: "call_1".into(), name: "run".into(), input: ToolInput::Json(json!({"a": 1})) };
    let result =
        EntryPart::ToolResult { call: "call_1".into(), content: vec![EntryPart::text("green")], is_error: None };
    vec![
        Entry::new(Role::User, vec![EntryPart::text("which?")]),
        Entry::new(Role::Assistant, vec![call]),
        Entry::new(Role::Tool, vec![result]),
        Entry::new(Role::Assistant, vec![EntryPart::text("the green one")]),
    ]
}

/// Returns what content says, one `role: text`, `+call` or `-result` each.
fn spoken(name: &str, content: &str) -> Vec<String> {
    let mut replay = Replay::default();
    read(codec(&format(name)).unwrap(), content.as_bytes(), &mut |reading| replay.take(reading.step.unwrap())).unwrap();
    let dialogue = Dialogue::of(replay.into_entries());
    assert_eq!(dialogue.losses.counts(), [], "{name}: {content}");
    let parts = dialogue.turns.iter().flat_map(|turn| turn.parts.iter().map(move |part| (turn.speaker, part)));
    let spoken = parts.map(|(speaker, part)| match part {
        EntryPart::ToolCall { id, .. } => format!("+{id}"),
        EntryPart::ToolResult { call, content, .. } => format!("-{call} {}", text_of(content)),
        part => format!("{speaker:?}: {}", text_of(std::slice::from_ref(part))),
    });
    spoken.collect()
}

pub async fn the_oldest_stretch_stays_as_it_was_stored<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let elsewhere = r#"[{"role":"user","content":"sure?"},
        {"role":"assistant","content":"I look","tool_calls":[{"id":"call_2","type":"function","function":{"name":"run","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"call_2","content":"green again"},
        {"role":"assistant","content":"yes"}]"#;
    for name in SESSIONS {
        let stored = session(name, OLD, looked_up());
        let (first, rest) = stored.split_at(stored.find('\n').unwrap() + 1);
        let root = write(name, first).commit(&store).await;
        let answer = write(name, rest).after(root).commit(&store).await;
        let away = write("openai-chat-v1", elsewhere).after(answer).commit(&store).await;
        let note = write("note", "by hand").after(away).commit(&store).await;
        let thanks = session(name, "0190f0e2-1111", vec![Entry::new(Role::User, vec![EntryPart::text("thanks")])]);
        let tip = write(name, thanks).after(note).commit(&store).await;
        let (text, report) = translated(&store, tip, Stop::Compaction, name).await;
        let target = store.target_of(Some(tip)).await.unwrap();
        let kept = stored.replace(OLD, &target.session);
        assert!(text.starts_with(&kept), "{name}: {text}");
        let added = &text[kept.len()..];
        assert!(!added.contains("{ ") && !added.contains(OLD), "{name}: {added}");
        let expected = [
            "User: which?",
            "+call_1",
            "-call_1 green",
            "Assistant: the green one",
            "User: sure?",
            "Assistant: I look",
            "+call_2",
            "-call_2 green again",
            "Assistant: yes",
            "User: [content in the format note, as text]\nby hand",
            "User: thanks",
        ];
        assert_eq!(spoken(name, &text), expected, "{name}");
        let segments = [
            stretch(name, 2, Tier::Native),
            stretch("openai-chat-v1", 1, Tier::Mapped),
            stretch("note", 1, Tier::Rendered),
            stretch(name, 1, Tier::Mapped),
        ];
        assert_eq!((&*report.segments, report.tier, report.commits), (&segments[..], Tier::Rendered, 5), "{name}");
        assert_eq!((report.losses, report.bytes), (vec![], text.len() as u64), "{name}");
        assert_eq!(report.messages, Some(text.lines().count() as u64), "{name}");
        let mapped = store.translate_as(Some(tip), Stop::Root, &format(name), &target, Tier::Mapped).await.unwrap();
        assert_eq!(mapped.report.segments[0], stretch(name, 2, Tier::Mapped), "{name}");
        let mapped = String::from_utf8(mapped.bytes).unwrap();
        assert!(!mapped.contains("{ "), "{name}: {mapped}");
        assert_eq!(spoken(name, &mapped), expected, "{name}");
        // Only a session from its beginning on is one that the runtime knows.
        let (_, report) = translated(&store, tip, Stop::At(answer), name).await;
        assert_eq!(report.segments[0], stretch(name, 1, Tier::Mapped), "{name}");
    }
}

pub async fn a_call_that_waits_at_the_border_goes_with_its_result<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    // Gemini CLI writes a call together with its result.
    for name in ["claude-code-v1", "codex-v1", "pi-v1"] {
        let stored = session(name, OLD, looked_up());
        let asking = stored.split_inclusive('\n').take_while(|line| !line.contains("call_1")).collect::<String>();
        let calling = stored[asking.len()..].split_inclusive('\n').next().unwrap();
        let root = write(name, asking.as_str()).commit(&store).await;
        let call = write(name, calling).after(root).commit(&store).await;
        let result = r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"green"}]}]"#;
        let tip = write("anthropic-messages-v1", result).after(call).commit(&store).await;
        let (text, report) = translated(&store, tip, Stop::Compaction, name).await;
        let target = store.target_of(Some(tip)).await.unwrap();
        assert!(text.starts_with(&asking.replace(OLD, &target.session)) && !text.contains(calling), "{name}: {text}");
        assert_eq!(spoken(name, &text), ["User: which?", "+call_1", "-call_1 green"], "{name}");
        let segments = [
            stretch(name, 1, Tier::Native),
            stretch(name, 1, Tier::Mapped),
            stretch("anthropic-messages-v1", 1, Tier::Mapped),
        ];
        assert_eq!(report.segments, segments, "{name}");
    }
}

pub async fn what_is_changed_later_does_not_stay_as_it_was_stored<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let back = |turns: u8| {
        let event = json!({"type": "thread_rolled_back", "num_turns": turns});
        json!({"timestamp": "2026-01-02T03:04:05Z", "type": "event_msg", "payload": event}).to_string()
    };
    let again = r#"[{"role":"tool","tool_call_id":"call_1","content":"rather blue"}]"#.to_owned();
    let later = [
        ("codex-v1", back(1), Tier::Native, "User: which?|+call_1|-call_1 green|Assistant: the green one"),
        ("codex-v1", back(2), Tier::Mapped, ""),
        (
            "openai-chat-v1",
            again,
            Tier::Mapped,
            "User: which?|+call_1|-call_1 rather blue|Assistant: the green one|User: sure?",
        ),
    ];
    for name in SESSIONS {
        for (change, content, tier, expected) in &later {
            let root = write(name, session(name, OLD, looked_up())).commit(&store).await;
            let away = write("openai-chat-v1", chat("user", "sure?")).after(root).commit(&store).await;
            let tip = write(change, content.as_str()).after(away).commit(&store).await;
            let (text, report) = translated(&store, tip, Stop::Compaction, name).await;
            assert_eq!(spoken(name, &text).join("|"), *expected, "{name} {content}");
            assert_eq!(report.segments[0], stretch(name, 1, *tier), "{name} {content}");
        }
    }
}

pub async fn records_without_the_session_that_they_belong_to_are_mapped<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for name in ["codex-v1", "gemini-v1", "pi-v1"] {
        let stored = session(name, OLD, looked_up());
        let headless = &stored[stored.find('\n').unwrap() + 1..];
        let root = write(name, headless).commit(&store).await;
        let tip = write("openai-chat-v1", chat("user", "sure?")).after(root).commit(&store).await;
        let (text, report) = translated(&store, tip, Stop::Compaction, name).await;
        assert_eq!(report.segments[0], stretch(name, 1, Tier::Mapped), "{name}");
        assert_eq!(spoken(name, &text).last().unwrap(), "User: sure?", "{name}");
    }
}

pub async fn a_summary_comes_first_whatever_its_format<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for name in ["text", "anthropic-messages-v1", "claude-code-v1", "codex-v1", "bureau-agent-v1"] {
        let summary = summary_entry(&format(name), "so far").unwrap();
        let (_, answer) = question_and_answer(&store).await;
        let sum = write(name, summary).kind(CommitKind::Compaction).after(answer).commit(&store).await;
        let tip = write("claude-code-v1", claude("assistant", 9, "on")).after(sum).commit(&store).await;
        let (messages, report) = as_chat(&store, tip, Stop::Compaction).await;
        assert_eq!(messages, ["user: so far", "assistant: on"], "{name}");
        assert_eq!((report.tier, report.losses, report.commits), (Tier::Mapped, vec![], 2), "{name}");
        let (narrative, _) = translated(&store, tip, Stop::Compaction, "text").await;
        assert_eq!(narrative, "Summary of the conversation so far:\n  so far\n\nAssistant:\n  on\n", "{name}");
        let (messages, report) = as_chat(&store, tip, Stop::Root).await;
        assert_eq!(messages, ["user: why?", "assistant: because|on"], "a root never repeats what was compacted");
        assert_eq!((report.segments, report.commits), (vec![stretch("claude-code-v1", 3, Tier::Mapped)], 4));
    }
}

pub async fn what_a_compaction_keeps_is_found_before_it<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let line = |id: &str, parent: &str, role: &str, text: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-01-01T00:00:00.000Z\",\
             \"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
        )
    };
    let one = write("pi-v1", line("00000001", "null", "user", "one")).commit(&store).await;
    let two = write("pi-v1", line("00000002", "\"00000001\"", "user", "two")).after(one).commit(&store).await;
    let compaction = "{\"type\":\"compaction\",\"id\":\"00000003\",\"parentId\":\"00000002\",\
                      \"timestamp\":\"2026-01-01T00:00:00.000Z\",\"summary\":\"sum\",\"firstKeptEntryId\":\"00000002\",\
                      \"tokensBefore\":9}\n";
    let sum = write("pi-v1", compaction).kind(CommitKind::Compaction).after(two).commit(&store).await;
    let tip = write("pi-v1", line("00000004", "\"00000003\"", "user", "four")).after(sum).commit(&store).await;
    let (messages, report) = as_chat(&store, tip, Stop::Compaction).await;
    assert_eq!(messages, ["user: sum|two|four"]);
    assert_eq!((report.commits, report.segments), (4, vec![stretch("pi-v1", 4, Tier::Mapped)]));
    let (messages, _) = as_chat(&store, tip, Stop::At(sum)).await;
    assert_eq!(messages, ["user: sum|four"], "a stop that was named is kept");
}

pub async fn text_that_is_not_understood_is_rendered_within_bounds<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (_, answer) = question_and_answer(&store).await;
    let one = write("somebody-elses-v9", "a > b\n").after(answer).commit(&store).await;
    let two = write("somebody-elses-v9", "c > d\n").after(one).commit(&store).await;
    let (messages, report) = as_chat(&store, two, Stop::Compaction).await;
    let expected = "user: [content in the format somebody-elses-v9, as text]\na > b\nc > d\n";
    assert_eq!(messages, ["user: why?", "assistant: because", expected]);
    let foreign = |commits| stretch("somebody-elses-v9", commits, Tier::Rendered);
    let native = || stretch("claude-code-v1", 2, Tier::Mapped);
    assert_eq!((report.tier, report.segments), (Tier::Rendered, vec![native(), foreign(2)]));
    assert_eq!(report.losses, []);
    let long = format!("begin{}end", noise("long", 300_000));
    let three = write("somebody-elses-v9", long).after(two).commit(&store).await;
    let (messages, report) = as_chat(&store, three, Stop::Compaction).await;
    let clipped = &messages[2];
    assert!(clipped.len() < 70_000 && clipped.ends_with("end") && clipped.contains("begin"), "{}", clipped.len());
    assert_eq!(report.segments, [native(), foreign(3)]);
    let kinds: Vec<_> = report.losses.iter().map(|loss| (loss.kind, loss.count, loss.commit)).collect();
    assert_eq!(kinds, [(LossKind::Clipped, 1, Some(three)), (LossKind::Clipped, 1, Some(one))]);
}

pub async fn what_is_no_text_is_named_with_the_way_to_it<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (_, answer) = question_and_answer(&store).await;
    let binary = write("core-dump", b"\x7fELF\0\xff".as_slice()).after(answer).commit(&store).await;
    let artifact = store.show(binary).await.unwrap().commit.artifact;
    let (messages, report) = as_chat(&store, binary, Stop::Compaction).await;
    let note = format!(
        "user: [6 bytes in the format core-dump, checked in as {binary}; `ctx artifact get {artifact}` gives them]"
    );
    let [place, what] = messages[2].split('\n').collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(place, note);
    assert!(what.starts_with("[what it is: a program or a core dump (ELF); its records: none"), "{what}");
    let [raw] = <[RawContent; 1]>::try_from(report.raw).unwrap();
    assert_eq!(
        (raw.description.format.as_str(), raw.description.what.as_str()),
        ("core-dump", "a program or a core dump (ELF)")
    );
    assert_eq!(raw.artifacts, [RawArtifact { commit: binary, artifact, bytes: 6 }]);
    assert_eq!((report.tier, report.segments.last()), (Tier::Raw, Some(&stretch("core-dump", 1, Tier::Raw))));
    assert_eq!(report.losses, [TranslationLoss { kind: LossKind::ContentAsNote, count: 1, commit: Some(binary) }]);
}

pub async fn broken_records_and_provider_secrets_are_reported<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (_, answer) = question_and_answer(&store).await;
    let broken = format!("not json\n{}", claude("user", 4, "go on"));
    let broken = write("claude-code-v1", broken).unchecked().after(answer).commit(&store).await;
    let sealed = "{\"type\":\"assistant\",\"uuid\":\"00000000-0000-4000-8000-000000000005\",\"message\":\
                  {\"role\":\"assistant\",\"content\":[{\"type\":\"redacted_thinking\",\"data\":\"eA==\"},\
                  {\"type\":\"text\",\"text\":\"done\"}]}}\n";
    let tip = write("claude-code-v1", sealed).after(broken).commit(&store).await;
    let (messages, report) = as_chat(&store, tip, Stop::Compaction).await;
    assert_eq!(messages[2..], ["user: go on", "assistant: done"]);
    let expected = [
        TranslationLoss { kind: LossKind::SealedThinking, count: 1, commit: None },
        TranslationLoss { kind: LossKind::RecordUnreadable, count: 1, commit: Some(broken) },
    ];
    assert_eq!(report.losses, expected);
}

pub async fn a_tier_may_be_forced<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (question, answer) = question_and_answer(&store).await;
    let chat = Some(format("openai-chat-v1"));
    let as_tier = async |format: Option<Format>, tier| {
        let materialization = store.materialize_as(Some(answer), Stop::Root, format, tier).await?;
        let mut bytes = Vec::new();
        let report = materialization.write_to(&mut bytes).await?;
        Ok::<_, Error>((String::from_utf8(bytes).unwrap(), report))
    };
    let error = as_tier(chat.clone(), Tier::Native).await.unwrap_err();
    assert!(matches!(&error, Error::NotNative { commit, .. } if *commit == answer), "{error:?}");
    let (native, _) = as_tier(None, Tier::Native).await.unwrap();
    assert_eq!(native.as_bytes(), materialized(&store, answer, Stop::Root).await.0);
    let (mapped, report) = as_tier(None, Tier::Mapped).await.unwrap();
    assert!(mapped != native && report.tier == Tier::Mapped, "{mapped}");
    let (rendered, report) = as_tier(chat.clone(), Tier::Rendered).await.unwrap();
    let messages: Vec<Value> = serde_json::from_str(&rendered).unwrap();
    let narrative = "[an earlier conversation, told as text]\n\nUser:\n  why?\n\nAssistant:\n  because\n";
    assert_eq!((messages.len(), messages[0]["content"].as_str()), (1, Some(narrative)));
    assert_eq!(report.segments, [stretch("claude-code-v1", 2, Tier::Rendered)]);
    let (raw, report) = as_tier(chat, Tier::Raw).await.unwrap();
    assert!(raw.contains(&question.to_string()) && raw.contains(&answer.to_string()) && !raw.contains("why"), "{raw}");
    assert_eq!((report.tier, report.losses.len()), (Tier::Raw, 2));
    // What both are is told once.
    assert_eq!(raw.matches("how to read it").count(), 1);
    let [described] = <[RawContent; 1]>::try_from(report.raw).unwrap();
    assert_eq!((described.artifacts.len(), described.description.what.as_str()), (2, "Claude Code transcript (JSONL)"));
}

pub async fn a_format_that_nothing_writes_is_refused_with_those_that_can_be<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (_, answer) = question_and_answer(&store).await;
    for name in ["droid-v1", "nobodys-v1"] {
        let error = store.materialize(Some(answer), Stop::Root, Some(format(name))).await.err().unwrap();
        match error {
            Error::Unwritable { wanted, writable } => {
                assert_eq!(wanted, format(name));
                assert!(writable.contains(&"codex-v1") && !writable.contains(&name), "{writable:?}");
            }
            other => panic!("{other:?}"),
        }
    }
}

pub async fn each_commit_of_a_chain_is_read_by_its_own_format<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (question, answer) = question_and_answer(&store).await;
    let large = noise("large", 400_000);
    let three = write("openai-chat-v1", chat("user", &large)).after(answer).commit(&store).await;
    let four = write("note", "by hand").after(three).commit(&store).await;
    let mut entries = store.entries(Some(four), Stop::Root).await.unwrap();
    let mut read = Vec::new();
    while let Some(content) = entries.next().await.unwrap() {
        let text = match content.said {
            ContentMeaning::Steps { steps, unreadable: 0 } => {
                steps.iter().flat_map(|step| &step.entries).map(contexture_core::Entry::text).collect()
            }
            ContentMeaning::Text { text, left_out: 0 } => text,
            other => panic!("{other:?}"),
        };
        read.push((content.commit.id, text));
    }
    let text = str::to_owned;
    assert_eq!(read, [(question, text("why?")), (answer, text("because")), (three, large), (four, text("by hand"))]);
}
