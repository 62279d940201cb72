//! Finding commits: who knew what when, and lists by every filter.

use contexture::{Contexture, Filter, Moment, PageAfter};
use contexture_core::{
    Annotation, CommitId, CommitKind, Format, LabelKey, Machine, Principal, RuntimeSessionId, Tag, Template, Thread,
    Ticket, Timestamp, Trigger,
};

use crate::{Backend, Harness, instant, say, text, write};

async fn resolve(store: &Contexture, principal: &str, at: Timestamp) -> Option<CommitId> {
    store.resolve(&Moment { principal: Principal::new(principal).unwrap(), at }).await.unwrap()
}

pub async fn resolve_finds_the_last_commit_at_or_before_an_instant<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let just_before = Timestamp::from_micros(instant(20).as_micros() - 1).unwrap();
    // Made in another order than the times they carry.
    let twenty = say("twenty").by("ada").at(instant(20)).commit(&store).await;
    let ten = say("ten").by("ada").at(instant(10)).commit(&store).await;
    let fifteen = say("fifteen").by("bob").at(instant(15)).commit(&store).await;
    say("nobody").at(instant(12)).commit(&store).await;
    for (principal, at, expected) in [
        ("ada", instant(9), None),
        ("ada", instant(10), Some(ten)),
        ("ada", instant(15), Some(ten)),
        ("ada", just_before, Some(ten)),
        ("ada", instant(20), Some(twenty)),
        ("ada", instant(1_000_000), Some(twenty)),
        ("bob", instant(14), None),
        ("bob", instant(20), Some(fifteen)),
        ("carol", instant(20), None),
        ("Ada", instant(20), None),
    ] {
        assert_eq!(resolve(&store, principal, at).await, expected, "{principal} at {at}");
    }
}

pub async fn resolve_breaks_ties_by_sequence<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let mut last = None;
    for word in ["b", "a", "d", "c"] {
        last = Some(say(word).by("ada").at(instant(10)).commit(&store).await);
        assert_eq!(resolve(&store, "ada", instant(10)).await, last);
    }
    say("b").by("ada").at(instant(10)).commit(&store).await;
    assert_eq!(resolve(&store, "ada", instant(10)).await, last, "a commit that was there is not the last made");
}

pub async fn each_filter_keeps_what_it_names<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let mut fields = say("fields").by("ada").at(instant(10)).request;
    fields.provenance.session = Some(RuntimeSessionId::new("s").unwrap());
    fields.provenance.ticket = Some(Ticket::new("t").unwrap());
    fields.provenance.thread = Some(Thread::new("th").unwrap());
    fields.provenance.template = Some(Template::new("te").unwrap());
    fields.provenance.machine = Some(Machine::new("m").unwrap());
    fields.trigger = Trigger::ToolCall;
    let mut draft = say("fields");
    draft.request = fields;
    let full = draft.clone().commit(&store).await;
    // The same values, each in a field where it does not belong.
    draft.request.provenance.session = Some(RuntimeSessionId::new("t").unwrap());
    draft.request.provenance.ticket = Some(Ticket::new("s").unwrap());
    draft.request.provenance.thread = Some(Thread::new("te").unwrap());
    draft.request.provenance.template = Some(Template::new("th").unwrap());
    draft.request.provenance.machine = Some(Machine::new("th").unwrap());
    draft.request.trigger = Trigger::TurnBoundary;
    draft.by("s").at(instant(9)).commit(&store).await;
    let mut sum = say("sum").kind(CommitKind::Compaction).after(full).at(instant(0));
    sum.request.trigger = Trigger::Compaction;
    let sum = sum.commit(&store).await;
    let bare = write("codex-v1", "{}\n").at(instant(20)).commit(&store).await;
    let none = Filter::default;
    let cases = [
        (Filter { principal: Some(Principal::new("ada").unwrap()), ..none() }, vec![full]),
        (Filter { session: Some(RuntimeSessionId::new("s").unwrap()), ..none() }, vec![full]),
        (Filter { ticket: Some(Ticket::new("t").unwrap()), ..none() }, vec![full]),
        (Filter { thread: Some(Thread::new("th").unwrap()), ..none() }, vec![full]),
        (Filter { template: Some(Template::new("te").unwrap()), ..none() }, vec![full]),
        (Filter { format: Some(Format::new("codex-v1").unwrap()), ..none() }, vec![bare]),
        (Filter { machine: Some(Machine::new("m").unwrap()), ..none() }, vec![full]),
        (Filter { machine: Some(Machine::new("s").unwrap()), ..none() }, vec![]),
        (Filter { trigger: Some(Trigger::ToolCall), ..none() }, vec![full]),
        (Filter { trigger: Some(Trigger::Compaction), ..none() }, vec![sum]),
        (Filter { kind: Some(CommitKind::Compaction), ..none() }, vec![sum]),
        (Filter { kind: Some(CommitKind::Snapshot), ..none() }, vec![]),
        (Filter { since: Some(instant(10)), ..none() }, vec![bare, full]),
        (Filter { since: Some(instant(10)), until: Some(instant(20)), ..none() }, vec![full]),
        (Filter { until: Some(instant(9)), ..none() }, vec![sum]),
        (
            Filter {
                principal: Some(Principal::new("ada").unwrap()),
                session: Some(RuntimeSessionId::new("s").unwrap()),
                format: Some(Format::new("claude-code-v1").unwrap()),
                since: Some(instant(0)),
                missing_summary: true,
                ..none()
            },
            vec![full],
        ),
        (
            Filter {
                principal: Some(Principal::new("ada").unwrap()),
                session: Some(RuntimeSessionId::new("t").unwrap()),
                ..none()
            },
            vec![],
        ),
    ];
    for (filter, expected) in cases {
        let listed = store.list(&filter, None, 100).await.unwrap();
        assert_eq!(listed.iter().map(|commit| commit.id).collect::<Vec<_>>(), expected, "{filter:?}");
    }
}

pub async fn a_list_shows_commits_as_they_are_newest_first<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let new = say("new").at(instant(10)).summary("new").commit(&store).await;
    let old = say("old").at(instant(5)).commit(&store).await;
    let tie = say("tie").at(instant(5)).after(new).commit(&store).await;
    let mut expected = Vec::new();
    for id in [new, tie, old] {
        expected.push(store.show(id).await.unwrap());
    }
    assert_eq!(store.list(&Filter::default(), None, 100).await.unwrap(), expected);
}

pub async fn pages_cover_a_list_exactly_once<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for n in 0..23 {
        // Few distinct times, so that pages end among equal ones.
        say(&n.to_string()).by(if n % 3 == 0 { "ada" } else { "bob" }).at(instant(n * 7 % 4)).commit(&store).await;
    }
    let ada = Filter { principal: Some(Principal::new("ada").unwrap()), ..Filter::default() };
    for (filter, count) in [(Filter::default(), 23), (ada, 8)] {
        let whole = store.list(&filter, None, 100).await.unwrap();
        assert_eq!(whole.len(), count);
        for size in [1, 2, 5, 8, 23] {
            let mut paged = Vec::new();
            let mut after = None;
            loop {
                let page = store.list(&filter, after, size).await.unwrap();
                let Some(last) = page.last() else {
                    break;
                };
                after = Some(PageAfter { created_at: last.commit.created_at, seq: last.seq });
                paged.extend(page);
            }
            assert_eq!(paged, whole, "pages of {size}");
        }
    }
}

pub async fn a_summary_is_missing_until_given_and_after_it_is_withdrawn<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let missing = async || {
        let filter = Filter { missing_summary: true, ..Filter::default() };
        let listed = store.list(&filter, None, 100).await.unwrap();
        listed.into_iter().map(|commit| commit.id).collect::<Vec<_>>()
    };
    let summary = |words| vec![Annotation::Summary { text: text(words) }];
    let given = say("given").at(instant(2)).summary("said").commit(&store).await;
    let later = say("later").at(instant(1)).commit(&store).await;
    store.annotate(later, vec![Annotation::Tag { tag: Tag::new("summary").unwrap() }]).await.unwrap();
    assert_eq!(missing().await, [later]);
    store.annotate(later, summary("said")).await.unwrap();
    assert_eq!(missing().await, []);
    store.annotate(given, summary("")).await.unwrap();
    assert_eq!(missing().await, [given]);
    store.annotate(given, summary("said again")).await.unwrap();
    assert_eq!(missing().await, []);
}

pub async fn a_tag_or_label_is_found_as_long_as_it_holds<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let tag = |name: &str| Tag::new(name).unwrap();
    let label = |value: &str| Annotation::Label { key: LabelKey::new("branch").unwrap(), value: text(value) };
    let one = say("one").at(instant(1)).commit(&store).await;
    let two = say("two").after(one).at(instant(2)).commit(&store).await;
    let three = say("three").after(two).at(instant(3)).commit(&store).await;
    let four = say("four").after(three).at(instant(4)).commit(&store).await;
    let fork = say("fork").after(two).at(instant(5)).commit(&store).await;
    store.annotate(two, vec![label("fix"), Annotation::Tag { tag: tag("good") }]).await.unwrap();
    store.annotate(four, vec![label("main"), Annotation::Tag { tag: tag("good") }]).await.unwrap();
    let listed = async |filter: Filter| {
        let listed = store.list(&filter, None, 100).await.unwrap();
        listed.into_iter().map(|commit| commit.id).collect::<Vec<_>>()
    };
    let tagged = |name: &str| Filter { tag: Some(tag(name)), ..Filter::default() };
    let labelled =
        |value: &str| Filter { label: Some((LabelKey::new("branch").unwrap(), text(value))), ..Filter::default() };
    assert_eq!(listed(tagged("good")).await, [four, two]);
    assert_eq!(listed(tagged("goo")).await, []);
    assert_eq!(listed(labelled("fix")).await, [fork, three, two]);
    assert_eq!(listed(labelled("main")).await, [four]);
    assert_eq!(listed(Filter { since: Some(instant(3)), ..labelled("fix") }).await, [fork, three]);
    store.annotate(two, vec![Annotation::Untag { tag: tag("good") }]).await.unwrap();
    assert_eq!(listed(tagged("good")).await, [four]);
    assert_eq!(listed(Filter { tag: Some(tag("good")), ..labelled("main") }).await, [four]);
}
