//! Search: what is found, and that the index follows what happens.

use contexture::{
    Contexture, FoundCommit, Indexed,
    PassageKind::{self, Label, Summary, Text, Thinking, ToolCall, ToolResult},
    SearchFilter, SearchRequest, Snippet,
};
use contexture_core::{
    Annotation, CommitId, CommitKind, Format, LabelKey, Principal, Role, RuntimeSessionId, Tag, Template,
};
use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use crate::{Backend, Draft, Harness, instant, noise, say, text, write};

async fn ask(store: &Contexture, query: &str, filter: SearchFilter) -> Vec<FoundCommit> {
    store.update_index(&mut |_| {}).await.unwrap();
    let request = SearchRequest { query: query.parse().unwrap(), filter, max_commits: 100, max_hits: 3 };
    store.search(&request).await.unwrap()
}

async fn find(store: &Contexture, query: &str) -> Vec<CommitId> {
    find_in(store, query, SearchFilter::default()).await
}

async fn find_in(store: &Contexture, query: &str, filter: SearchFilter) -> Vec<CommitId> {
    ask(store, query, filter).await.iter().map(|found| found.commit.id).collect()
}

async fn indexed(store: &Contexture) -> Indexed {
    store.update_index(&mut |_| {}).await.unwrap()
}

/// Drafts a message that somebody says.
fn message(role: &str, words: &str) -> Draft {
    let content = serde_json::json!([{"role": role, "content": words}]);
    write("anthropic-messages-v1", content.to_string())
}

/// Drafts a turn: a question, thinking, a call, its result, an answer.
fn turn() -> Draft {
    let content = serde_json::json!([
        {"role": "user", "content": "Why does the build fail?"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Perhaps the borrow checker", "signature": "c2lnbmF0dXJl"},
            {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "cargo build", "timeout": 60}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [
            {"type": "text", "text": "error[E0502]: cannot borrow `x`\n --> src/main.rs:3:7"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}},
        ]}]},
        {"role": "assistant", "content": "Fixed get_user_name."},
    ]);
    write("anthropic-messages-v1", content.to_string())
}

pub async fn everything_that_was_said_is_found<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let id = turn().summary("Repaired the lifetime").commit(&store).await;
    let annotations = vec![Annotation::Tag { tag: Tag::new("green").unwrap() }, label("ticket", "ENG 42")];
    store.annotate(id, annotations).await.unwrap();
    say("elsewhere").commit(&store).await;
    let cases = [
        ("BUILD fail", Some(1), Some(Role::User), Text),
        ("borrow checker", Some(2), Some(Role::Assistant), Thinking),
        ("bash cargo", Some(2), Some(Role::Assistant), ToolCall),
        ("E0502", Some(3), Some(Role::Tool), ToolResult),
        ("main", Some(3), Some(Role::Tool), ToolResult),
        ("src/main.rs", Some(3), Some(Role::Tool), ToolResult),
        ("\"cannot borrow\"", Some(3), Some(Role::Tool), ToolResult),
        ("get_user_name", Some(4), Some(Role::Assistant), Text),
        ("user", Some(4), Some(Role::Assistant), Text),
        ("get_user*", Some(4), Some(Role::Assistant), Text),
        ("lifetime", None, None, Summary),
        ("green", None, None, Label),
        ("eng 42", None, None, Label),
    ];
    for (query, entry, role, kind) in cases {
        let found = ask(&store, query, SearchFilter::default()).await;
        let spots: Vec<_> =
            found.iter().flat_map(|found| &found.passages).map(|hit| (hit.entry, hit.role, hit.kind)).collect();
        assert_eq!((found.len(), spots), (1, vec![(entry, role, kind)]), "{query}");
        assert_eq!(found[0].commit, store.show(id).await.unwrap());
    }
    for query in
        ["checker cargo", "signature", "c2lnbmF0dXJl", "aGVsbG8", "timeout", "60", "borro", "main.src", "why -fail"]
    {
        assert_eq!(find(&store, query).await, [], "{query}");
    }
}

fn label(key: &str, value: &str) -> Annotation {
    Annotation::Label { key: LabelKey::new(key).unwrap(), value: text(value) }
}

pub async fn a_snippet_shows_the_match<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    message("user", "One\n two THREE four").commit(&store).await;
    let found = ask(&store, "three two", SearchFilter::default()).await;
    let expected = Snippet { text: "One two THREE four".into(), matches: vec![4..7, 8..13] };
    assert_eq!(found[0].passages[0].snippet, Some(expected));
}

pub async fn hits_of_one_commit_are_folded_and_the_newest_of_equals_comes_first<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let old = message("user", "needle").at(instant(5)).commit(&store).await;
    let new = message("user", "needle").at(instant(9)).commit(&store).await;
    let middle = message("user", "needle").at(instant(7)).commit(&store).await;
    assert_eq!(find(&store, "needle").await, [new, middle, old]);
    let many: Vec<_> = (0..5).map(|_| serde_json::json!({"role": "user", "content": "pin"})).collect();
    let id = write("anthropic-messages-v1", serde_json::to_vec(&many).unwrap()).commit(&store).await;
    let found = ask(&store, "pin", SearchFilter::default()).await;
    let counts: Vec<_> =
        found.iter().map(|found| (found.commit.id, found.passages.len(), found.matching_passages)).collect();
    assert_eq!(counts, [(id, 3, 5)]);
    let request = SearchRequest {
        query: "needle".parse().unwrap(),
        filter: SearchFilter::default(),
        max_commits: 2,
        max_hits: 3,
    };
    let ids: Vec<_> = store.search(&request).await.unwrap().iter().map(|found| found.commit.id).collect();
    assert_eq!(ids, [new, middle]);
}

pub async fn each_search_filter_keeps_what_it_names<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let mut draft = message("user", "word").by("ada").at(instant(10));
    draft.request.provenance.session = Some(RuntimeSessionId::new("s").unwrap());
    draft.request.provenance.template = Some(Template::new("codex/1.0").unwrap());
    let root = draft.commit(&store).await;
    let mut draft = message("assistant", "word").by("bob").after(root).at(instant(20));
    draft.request.provenance.template = Some(Template::new("codexer").unwrap());
    let tip = draft.commit(&store).await;
    let fork = turn().after(root).at(instant(30)).commit(&store).await;
    let side = write("notes", "word and build").after(fork).at(instant(40)).commit(&store).await;
    let none = SearchFilter::default;
    let cases = [
        (SearchFilter { ancestors_of: Some(tip), ..none() }, vec![tip, root]),
        (SearchFilter { ancestors_of: Some(side), ..none() }, vec![side, root]),
        (SearchFilter { ancestors_of: Some(root), ..none() }, vec![root]),
        (SearchFilter { role: Some(Role::Assistant), ..none() }, vec![tip]),
        (SearchFilter { kind: Some(PassageKind::ToolCall), ..none() }, vec![]),
        (SearchFilter { format: Some(Format::new("notes").unwrap()), ..none() }, vec![side]),
        (SearchFilter { runtime: Some("codex".into()), ..none() }, vec![root]),
        (SearchFilter { principal: Some(Principal::new("bob").unwrap()), ..none() }, vec![tip]),
        (SearchFilter { session: Some(RuntimeSessionId::new("s").unwrap()), ..none() }, vec![root]),
        (SearchFilter { since: Some(instant(20)), ..none() }, vec![tip, side]),
        (SearchFilter { since: Some(instant(10)), until: Some(instant(20)), ..none() }, vec![root]),
    ];
    for (filter, mut expected) in cases {
        let mut found = find_in(&store, "word", filter.clone()).await;
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{filter:?}");
    }
    let missing = SearchFilter { ancestors_of: Some(CommitId::from_bytes([7; 16])), ..none() };
    let request = SearchRequest { query: "word".parse().unwrap(), filter: missing, max_commits: 1, max_hits: 1 };
    assert!(matches!(
        store.search(&request).await.unwrap_err(),
        contexture::Error::Store(contexture::StoreError::NoCommit(_))
    ));
}

pub async fn a_label_holds_until_it_is_set_anew<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let mut chain = vec![message("user", "word 0").commit(&store).await];
    for number in 1..5 {
        let parent = *chain.last().unwrap();
        chain.push(message("user", &format!("word {number}")).after(parent).commit(&store).await);
    }
    let fork = message("user", "word fork").after(chain[2]).commit(&store).await;
    let behind = message("user", "word behind").after(fork).commit(&store).await;
    store.annotate(chain[1], vec![label("model", "x"), label("mode", "x")]).await.unwrap();
    store.annotate(chain[3], vec![label("model", "y")]).await.unwrap();
    store.annotate(behind, vec![label("model", "y"), label("model", "z")]).await.unwrap();
    let cases = [
        ("model", "x", vec![chain[1], chain[2], fork]),
        ("model", "y", vec![chain[3], chain[4]]),
        ("model", "z", vec![behind]),
        ("mode", "x", vec![chain[1], chain[2], chain[3], chain[4], fork, behind]),
        ("mode", "", vec![]),
    ];
    for (key, value, mut expected) in cases {
        let label = Some((LabelKey::new(key).unwrap(), text(value)));
        let mut found = find_in(&store, "word", SearchFilter { label, ..SearchFilter::default() }).await;
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{key}={value}");
    }
}

pub async fn the_index_takes_in_what_is_new_and_nothing_twice<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    assert_eq!(indexed(&store).await, Indexed::default());
    assert_eq!(store.journal_tip().await.unwrap(), 0, "searching makes no space");
    let one = message("user", "alpha").commit(&store).await;
    assert_eq!(find(&store, "alpha").await, [one]);
    let tip = store.journal_tip().await.unwrap();
    let before = indexed(&store).await;
    assert_eq!((before.passages, before.records_behind), (1, 0));
    assert_eq!((indexed(&store).await, store.journal_tip().await.unwrap()), (before, tip), "searching is no change");
    let mut steps = Vec::new();
    let two = message("user", "alpha beta").after(one).commit(&store).await;
    store.update_index(&mut |step| steps.push((step.done, step.total))).await.unwrap();
    assert_eq!(steps, [(tip, tip + 1)], "only the new record is taken in");
    assert_eq!(find(&store, "beta").await, [two]);
    let other = harness.open_as("tester", "elsewhere").await;
    assert_eq!(find(&other, "alpha").await, [], "nothing crosses a space");
}

pub async fn only_what_is_in_force_is_found<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let id = message("user", "word").summary("first guess").commit(&store).await;
    store.annotate(id, vec![Annotation::Tag { tag: Tag::new("red").unwrap() }]).await.unwrap();
    assert_eq!((find(&store, "guess").await, find(&store, "red").await), (vec![id], vec![id]));
    let annotations =
        vec![Annotation::Summary { text: text("second try") }, Annotation::Untag { tag: Tag::new("red").unwrap() }];
    store.annotate(id, annotations).await.unwrap();
    assert_eq!((find(&store, "guess").await, find(&store, "red").await), (vec![], vec![]));
    assert_eq!((find(&store, "second").await, find(&store, "word").await), (vec![id], vec![id]));
    assert_eq!(indexed(&store).await.passages, 2);
}

pub async fn a_snapshot_repeats_nothing_and_a_compaction_is_found<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let root = message("user", "original").kind(CommitKind::Snapshot).commit(&store).await;
    let copy = message("user", "original").kind(CommitKind::Snapshot).after(root).commit(&store).await;
    let compaction = message("user", "condensed").kind(CommitKind::Compaction).after(copy).commit(&store).await;
    assert_eq!(find(&store, "original").await, [root]);
    assert_eq!(find(&store, "condensed").await, [compaction]);
}

pub async fn a_large_commit_is_taken_in_piece_by_piece<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let before = message("user", "needle before").commit(&store).await;
    // Some 12 MB of text in entries of 20 kB, several steps' worth; a hex digit in each 64 keeps runs from being blobs.
    let filler: String = noise("filler", 16_000)
        .as_bytes()
        .chunks(40)
        .flat_map(|word| [" ", std::str::from_utf8(word).unwrap()])
        .collect();
    let mut lines = Vec::new();
    for number in 0..600 {
        lines.push(serde_json::json!({"role": "user", "content": format!("needle{number} needle {filler}")}));
    }
    let large = write("anthropic-messages-v1", serde_json::to_vec(&lines).unwrap()).after(before).commit(&store).await;
    let after = message("user", "needle after").after(large).commit(&store).await;
    // Whoever is overtaken in the middle of the commit goes on from there.
    let others = [harness.open().await, harness.open().await, harness.open().await];
    futures_util::future::join_all(others.iter().map(indexed)).await;
    let mut found = find(&store, "needle").await;
    found.sort();
    let mut expected = vec![before, large, after];
    expected.sort();
    assert_eq!(found, expected);
    for number in [0, 1, 299, 598, 599] {
        let found = ask(&store, &format!("needle{number}"), SearchFilter::default()).await;
        assert_eq!((found.len(), found[0].passages[0].entry, found[0].matching_passages), (1, Some(number + 1), 1));
        let snippet = found[0].passages[0].snippet.as_ref().unwrap();
        assert!(snippet.text.starts_with(&format!("needle{number} needle")), "{}", snippet.text);
    }
    assert_eq!(
        ask(&store, "needle", SearchFilter { ancestors_of: Some(large), ..SearchFilter::default() })
            .await
            .iter()
            .map(|found| found.matching_passages)
            .sum::<u64>(),
        601
    );
}

pub async fn a_long_text_is_found_from_its_start_to_its_end<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let words = format!("start {} the very end", "again and again ".repeat(20_000));
    let id = write("notes", words).commit(&store).await;
    for query in ["start", "\"very end\"", "again", "\"again and again again\""] {
        assert_eq!(find(&store, query).await, [id], "{query}");
    }
    let found = ask(&store, "\"very end\"", SearchFilter::default()).await;
    assert!(found[0].passages[0].snippet.as_ref().unwrap().text.ends_with("the very end"));
}

pub async fn an_index_is_made_anew<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let other = harness.open_as("tester", "elsewhere").await;
    store.discard_index().await.unwrap();
    let here = message("user", "word").summary("sum").commit(&store).await;
    let there = message("user", "word").commit(&other).await;
    let before = indexed(&store).await;
    assert_eq!(find(&other, "word").await, [there]);
    store.discard_index().await.unwrap();
    assert_eq!(indexed(&store).await, before);
    assert_eq!((find(&store, "word").await, find(&other, "word").await), (vec![here], vec![there]));
    other.discard_index().await.unwrap();
    assert_eq!((find(&other, "word").await, find(&store, "sum").await), (vec![there], vec![here]));
}

pub async fn content_that_cannot_be_read_is_passed_over<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let lost = write("notes", "lost word").summary("a summary").commit(&store).await;
    let damaged = write("notes", "damaged word").commit(&store).await;
    let whole = write("notes", "whole word").commit(&store).await;
    for (words, is_lost) in [("lost word", true), ("damaged word", false)] {
        let id = contexture_core::ArtifactId::of(words.as_bytes());
        if is_lost {
            harness.backend.lose_artifact(id).await;
        } else {
            harness.backend.damage_artifact(id).await;
        }
    }
    assert_eq!(indexed(&store).await.unreadable_commits, 2);
    assert_eq!((find(&store, "word").await, find(&store, "summary").await), (vec![whole], vec![lost]));
    // What was indexed while it was whole is found, without a snippet.
    harness.backend.lose_artifact(contexture_core::ArtifactId::of(b"whole word")).await;
    let found = ask(&store, "whole", SearchFilter::default()).await;
    assert_eq!((found[0].commit.id, &found[0].passages[0].snippet), (whole, &None));
    assert_ne!(damaged, whole);
}

pub async fn several_that_index_at_once_duplicate_nothing<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for number in 0..40 {
        message("user", &format!("word number{number}")).summary("sum").commit(&store).await;
    }
    let mut handles = Vec::new();
    for _ in 0..4 {
        handles.push(harness.open().await);
    }
    let all = futures_util::future::join_all(handles.iter().map(indexed)).await;
    assert_eq!(all.iter().map(|indexed| indexed.records_behind).sum::<u64>(), 0);
    assert_eq!(indexed(&store).await.passages, 80);
    let found = ask(&store, "word", SearchFilter::default()).await;
    assert_eq!((found.len(), found.iter().map(|found| found.matching_passages).max()), (40, Some(1)));
    let report = store.fsck(&mut |_| {}).await.unwrap();
    assert_eq!((report.problems, report.checked.passages), (vec![], 80));
}

/// Words as they are typed, of which many are parts of others, and what parts them.
const WORDS: [&str; 12] = ["a", "ab", "abc", "B", "a_b", "x/ab.rs", "E0502", "É", "東京", "ab-abc", "don't", "42"];
const BETWEEN: [&str; 4] = [" ", "\n", ", ", " -- "];

/// Cuts a text as a person would: at everything that is neither letter nor digit, and between signs that are words.
fn naive_words(text: &str) -> Vec<String> {
    let spaced: String = text
        .chars()
        .map(|letter| if letter > '\u{4e00}' { format!(" {letter} ") } else { letter.to_string() })
        .collect();
    let words = spaced.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Tells whether a text holds the words of a term one after the other.
fn naive_match(text: &str, term: &str, is_prefix: bool) -> bool {
    let (words, term) = (naive_words(text), naive_words(term));
    words.windows(term.len()).any(|words| {
        let exact = words.len() - usize::from(is_prefix);
        words[..exact] == term[..exact]
            && words.iter().zip(&term).skip(exact).all(|(word, start)| word.starts_with(start.as_str()))
    })
}

/// What one term of a query is: its words, and how it is written.
#[derive(Debug, Clone)]
struct AskedQuery {
    words: String,
    is_prefix: bool,
    is_excluded: bool,
}

impl AskedQuery {
    fn written(&self) -> String {
        let Self { words, is_prefix, is_excluded } = self;
        format!("{}\"{words}\"{}", if *is_excluded { "-" } else { "" }, if *is_prefix { "*" } else { "" })
    }
}

pub async fn equal_queries_find_equal_commits<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let word = proptest::sample::select(&WORDS[..]);
    let text = proptest::collection::vec((word.clone(), proptest::sample::select(&BETWEEN[..])), 1..8)
        .prop_map(|words| words.into_iter().flat_map(|(word, between)| [word, between]).collect::<String>());
    let term = (proptest::collection::vec(word, 1..3), any::<bool>(), proptest::bool::weighted(0.3))
        .prop_map(|(words, is_prefix, is_excluded)| AskedQuery { words: words.join(" "), is_prefix, is_excluded });
    let query = proptest::collection::vec(term, 1..4);
    let mut corpus = Vec::new();
    for number in 0..60 {
        let text = text.new_tree(&mut runner).unwrap().current();
        corpus.push((write("notes", text.clone()).at(instant(number)).commit(&store).await, text));
    }
    let mut found_something = 0;
    for _ in 0..300 {
        let mut terms = query.new_tree(&mut runner).unwrap().current();
        terms[0].is_excluded = false;
        let written: Vec<_> = terms.iter().map(AskedQuery::written).collect();
        let fits =
            |text: &str| terms.iter().all(|term| naive_match(text, &term.words, term.is_prefix) != term.is_excluded);
        let mut expected: Vec<_> = corpus.iter().filter(|(_, text)| fits(text)).map(|(id, _)| *id).collect();
        let mut found = find(&store, &written.join(" ")).await;
        expected.sort();
        expected.dedup();
        found.sort();
        found_something += usize::from(!found.is_empty());
        assert_eq!(found, expected, "{written:?}");
    }
    assert!(found_something > 100, "the queries ask for too much: {found_something}");
}
