//! A translation does not depend on how the chain was cut into commits.

use contexture::{
    Contexture, Stop, Tier,
    formats::{Dialogue, Replay, Target, codec, encoder, read},
};
use contexture_core::{CommitId, Entry, Format, Part, Role, ToolInput};
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

/// Content in one format and where to cut it, by how many records are in each commit.
#[derive(Debug, Clone)]
struct Stretch {
    format: &'static str,
    entries: Vec<Entry>,
    cuts: Vec<usize>,
}

fn parts() -> impl Strategy<Value = Part> {
    const IDS: [&str; 3] = ["call_1", "call_2", "call_3"];
    let text = "[a-z][a-z \n\"]{0,6}";
    let call = |id: &str| Part::ToolCall { id: id.into(), name: "run".into(), input: ToolInput::Json(json!({"a": 1})) };
    let result =
        |id: &str| Part::ToolResult { call: id.into(), content: vec![Part::text("done")], is_error: Some(false) };
    prop_oneof![
        4 => text.prop_map(Part::text),
        1 => text.prop_map(|text| Part::Thinking { text, seal: None }),
        1 => text.prop_map(|text| Part::Summary { text }),
        2 => sample::select(&IDS).prop_map(call),
        2 => sample::select(&IDS).prop_map(result),
    ]
}

fn stretches() -> impl Strategy<Value = Vec<Stretch>> {
    let role = sample::select(&[Role::System, Role::User, Role::User, Role::Assistant, Role::Assistant]);
    let entry = (role, vec(parts(), 1..3)).prop_map(|(role, parts)| Entry::new(role, parts));
    let stretch = (sample::select(&FORMATS), vec(entry, 1..8), vec(1..5usize, 1..6));
    vec(stretch.prop_map(|(format, entries, cuts)| Stretch { format, entries, cuts }), 1..4)
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
        let is_native = chain.iter().all(|(name, pieces)| *name == wanted || pieces.is_empty());
        let expected = encoder(&format(wanted)).unwrap().encode(&Dialogue::of(replay.into_entries()), &target(0));
        let best = if is_native { Tier::Mapped } else { Tier::Native };
        let (translation, commits) = block_on(async {
            let harness = Harness::<SqliteBackend>::new().await;
            let store = harness.open().await;
            let (mut tip, mut commits) = (None, 0);
            for (name, pieces) in chain {
                commits += pieces.len() as u64;
                tip = check_in(&store, name, pieces, tip).await;
            }
            let translation = store.translate_as(tip, Stop::Root, &format(wanted), &target(0), best).await.unwrap();
            (tip.map(|_| translation), commits)
        });
        let Some(translation) = translation else { return Ok(()) };
        prop_assert_eq!(String::from_utf8_lossy(&translation.bytes), String::from_utf8_lossy(&expected.bytes));
        prop_assert_eq!(translation.report.tier, Tier::Mapped);
        prop_assert_eq!(translation.report.segments.iter().map(|stretch| stretch.commits).sum::<u64>(), commits);
        prop_assert_eq!(translation.report.bytes, expected.bytes.len() as u64);
    }
}
