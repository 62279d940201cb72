//! A translation does not depend on how the chain was cut into commits.

use contexture::{
    Contexture, Stop, Tier,
    formats::{Dialogue, Renamer, Replay, Target, codec, dialogue, encoder, read},
};
use contexture_core::{CommitId, Entry, EntryPart, Format, Role, ToolInput};
use contexture_testkit::{Harness, SqliteBackend, block_on, write};
use proptest::{collection::vec, prelude::*, sample};
use serde_json::{Value, json};

const FORMATS: [&str; 7] = [
    "claude-code-v1",
    "codex-v1",
    "gemini-v1",
    "pi-v1",
    "anthropic-messages-v1",
    "openai-chat-v1",
    "openai-responses-v1",
];

/// The formats of sessions that go on line by line.
const LINES: [&str; 4] = ["claude-code-v1", "codex-v1", "gemini-v1", "pi-v1"];

/// Content in one format and where to cut it, by how many records are in each commit.
#[derive(Debug, Clone)]
struct Stretch {
    format: &'static str,
    entries: Vec<Entry>,
    cuts: Vec<usize>,
}

fn parts() -> impl Strategy<Value = EntryPart> {
    const IDS: [&str; 3] = ["call_1", "call_2", "call_3"];
    let text = "[a-z][a-z \n\"]{0,6}";
    let call =
        |id: &str| EntryPart::ToolCall { id: id.into(), name: "run".into(), input: ToolInput::Json(json!({"a": 1})) };
    let result = |id: &str| EntryPart::ToolResult {
        call: id.into(),
        content: vec![EntryPart::text("done")],
        is_error: Some(false),
    };
    prop_oneof![
        4 => text.prop_map(EntryPart::text),
        1 => text.prop_map(|text| EntryPart::Thinking { text, seal: None }),
        1 => text.prop_map(|text| EntryPart::Summary { text }),
        2 => sample::select(&IDS).prop_map(call),
        2 => sample::select(&IDS).prop_map(result),
    ]
}

fn stretch(format: impl Strategy<Value = &'static str>) -> impl Strategy<Value = Stretch> {
    let role = sample::select(&[Role::System, Role::User, Role::User, Role::Assistant, Role::Assistant]);
    let entry = (role, vec(parts(), 1..3)).prop_map(|(role, parts)| Entry::new(role, parts));
    let stretch = (format, vec(entry, 1..8), vec(1..5usize, 1..6));
    stretch.prop_map(|(format, entries, cuts)| Stretch { format, entries, cuts })
}

fn stretches() -> impl Strategy<Value = Vec<Stretch>> {
    vec(stretch(sample::select(&FORMATS)), 1..4)
}

/// Gives the calls of a stretch ids that no other stretch has.
fn call_apart(entries: &mut [Entry], number: usize) {
    for part in entries.iter_mut().flat_map(|entry| &mut entry.parts) {
        if let EntryPart::ToolCall { id, .. } | EntryPart::ToolResult { call: id, .. } = part {
            *id = format!("{id}_{number}");
        }
    }
}

/// Returns who says, calls and answers what in content, one line each. Thinking is written in each format's own way.
fn said(name: &str, content: &[u8]) -> Vec<String> {
    let mut replay = Replay::default();
    replayed(&mut replay, name, content);
    let dialogue = Dialogue::of(replay.into_entries());
    let turns = dialogue.turns.iter().flat_map(|turn| turn.parts.iter().map(move |part| (turn.speaker, part)));
    let lines = turns.filter_map(|(speaker, part)| match part {
        EntryPart::Text { text } if text.starts_with("<thinking>") => None,
        EntryPart::Text { text } | EntryPart::Summary { text } => Some(format!("{speaker:?}: {text}")),
        EntryPart::ToolCall { id, name, input } => Some(format!("{speaker:?} calls {name} {input:?} as {id}")),
        EntryPart::ToolResult { call, content, .. } => Some(format!("{call} answers {}", dialogue::text_of(content))),
        EntryPart::Thinking { .. } | EntryPart::Blob { .. } | EntryPart::Native { .. } => None,
    });
    dialogue.system.iter().map(|text| format!("User: {text}")).chain(lines).collect()
}

fn format(name: &str) -> Format {
    Format::new(name).unwrap()
}

fn target(number: usize) -> Target {
    Target {
        session: format!("0193c5a0-0000-7000-8000-{number:012}"),
        directory: "/work".into(),
        branch: None,
        version: None,
        model: None,
        provider: Some("openai".to_owned()),
        title: None,
        now: "2026-11-15T10:00:00Z".parse().unwrap(),
    }
}

fn replayed(replay: &mut Replay, name: &str, content: &[u8]) {
    let codec = codec(&format(name)).unwrap();
    read(codec, content, &mut |reading| replay.take(reading.step.unwrap())).unwrap();
}

/// Cuts content between its records.
fn cut(content: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
    let text = std::str::from_utf8(content).unwrap();
    let is_array = text.starts_with('[');
    let records: Vec<String> = if is_array {
        serde_json::from_str::<Vec<Value>>(text).unwrap().iter().map(Value::to_string).collect()
    } else {
        text.lines().map(|line| format!("{line}\n")).collect()
    };
    let mut left = records.as_slice();
    let mut cuts = cuts.iter().cycle();
    let mut pieces = Vec::new();
    while !left.is_empty() {
        let (piece, rest) = left.split_at((*cuts.next().unwrap()).min(left.len()));
        pieces.push(if is_array { format!("[{}]", piece.join(",")) } else { piece.concat() }.into_bytes());
        left = rest;
    }
    pieces
}

async fn check_in(store: &Contexture, name: &str, pieces: Vec<Vec<u8>>, mut tip: Option<CommitId>) -> Option<CommitId> {
    for piece in pieces {
        let mut draft = write(name, piece);
        draft.request.parent = tip;
        tip = Some(draft.commit(store).await);
    }
    tip
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn translating_a_cut_chain_is_encoding_the_uncut_content(stretches in stretches(), wanted in sample::select(&FORMATS)) {
        let mut replay = Replay::default();
        let mut chain = Vec::new();
        for (number, Stretch { format: name, entries, cuts }) in stretches.into_iter().enumerate() {
            let encoder = encoder(&format(name)).unwrap();
            // Each stretch is a session of its own; otherwise its ids would be those of the one before.
            let content = encoder.encode(&Dialogue::of(entries), &target(number + 1)).bytes;
            replayed(&mut replay, name, &content);
            chain.push((name, cut(&content, &cuts)));
        }
        let expected = encoder(&format(wanted)).unwrap().encode(&Dialogue::of(replay.into_entries()), &target(0));
        let (translation, commits) = block_on(async {
            let harness = Harness::<SqliteBackend>::new().await;
            let store = harness.open().await;
            let (mut tip, mut commits) = (None, 0);
            for (name, pieces) in chain {
                commits += pieces.len() as u64;
                tip = check_in(&store, name, pieces, tip).await;
            }
            let translation = store.translate_as(tip, Stop::Root, &format(wanted), &target(0), Tier::Mapped).await.unwrap();
            (tip.map(|_| translation), commits)
        });
        let Some(translation) = translation else { return Ok(()) };
        prop_assert_eq!(String::from_utf8_lossy(&translation.bytes), String::from_utf8_lossy(&expected.bytes));
        prop_assert_eq!(translation.report.tier, Tier::Mapped);
        prop_assert_eq!(translation.report.segments.iter().map(|stretch| stretch.commits).sum::<u64>(), commits);
        prop_assert_eq!(translation.report.bytes, expected.bytes.len() as u64);
    }

    #[test]
    fn what_stays_native_is_what_was_stored_and_the_whole_says_the_same(
        first in stretch(sample::select(&LINES)),
        more in vec(stretch(sample::select(&FORMATS)), 1..4),
        cut_off in 0..4usize,
        is_called_apart in prop::bool::weighted(0.8),
    ) {
        let wanted = first.format;
        let mut chain = Vec::new();
        for (number, Stretch { format: name, mut entries, cuts }) in std::iter::once(first).chain(more).enumerate() {
            if is_called_apart {
                call_apart(&mut entries, number);
            }
            let content = encoder(&format(name)).unwrap().encode(&Dialogue::of(entries), &target(number + 1)).bytes;
            let mut pieces = cut(&content, &cuts);
            // A session that was interrupted may wait for its tools.
            if number == 0 {
                pieces.truncate(pieces.len().saturating_sub(cut_off).max(1));
            }
            chain.push((name, pieces));
        }
        let pieces: Vec<_> = chain.iter().flat_map(|(_, pieces)| pieces.clone()).collect();
        let (led, mapped) = block_on(async {
            let harness = Harness::<SqliteBackend>::new().await;
            let store = harness.open().await;
            let mut tip = None;
            for (name, pieces) in chain {
                tip = check_in(&store, name, pieces, tip).await;
            }
            let led = store.translate(tip, Stop::Root, &format(wanted), &target(0)).await.unwrap();
            let mapped = store.translate_as(tip, Stop::Root, &format(wanted), &target(0), Tier::Mapped).await.unwrap();
            (led, mapped)
        });
        prop_assert_eq!(said(wanted, &led.bytes), said(wanted, &mapped.bytes));
        prop_assert_eq!(led.report.commits, mapped.report.commits);
        prop_assert_eq!(led.report.bytes, led.bytes.len() as u64);
        let Some(native) = led.report.segments.first().filter(|segment| segment.tier == Tier::Native) else {
            return Ok(());
        };
        let stored = String::from_utf8(pieces[..usize::try_from(native.commits).unwrap()].concat()).unwrap();
        let (format, session) = (format(wanted), target(0).session);
        let mut renamer = Renamer::new(&format, &session);
        let renamed: Vec<_> = stored.split_inclusive('\n').map(|line| renamer.rename(line.as_bytes())).collect();
        let renamed = String::from_utf8(renamed.concat()).unwrap();
        let mut replay = Replay::default();
        replayed(&mut replay, wanted, renamed.as_bytes());
        let lost = Dialogue::of(replay.into_entries()).losses;
        let is_open = lost.counts().iter().any(|lost| lost.loss == dialogue::LossKind::ResultInvented);
        prop_assert!(!is_open || led.report.segments.len() == 1, "a call waits at the border: {}", renamed);
        let text = String::from_utf8(led.bytes).unwrap();
        prop_assert!(text.starts_with(&renamed) || led.report.segments.len() == 1, "{}\n{}", renamed, text);
    }
}
