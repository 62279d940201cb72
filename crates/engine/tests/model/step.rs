//! The steps that the model and the store take together.

use contexture_core::{Annotation, CommitKind, SummaryText, Tag};
use contexture_testkit::{head, model::Body};
use proptest::{collection::vec, option, prelude::*, sample::Index};

/// One operation. Commits are chosen by index among those that are there when its turn comes.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Checkpoint(Checkpoint),
    /// Sends an earlier request with a key once more.
    Repeat(Index),
    SetHead(Branch, Index, Expected),
    MoveHead(Branch, Index, Expected),
    DeleteHead(Branch, Expected),
    Fork(Index, Branch),
    Annotate(Index, Vec<Annotation>),
    Compact(Index, Body, Option<Branch>),
    Snapshot(Index, Option<Branch>),
    Put(Vec<u8>),
    /// Takes some commits and all heads to another space and back.
    Copy(Vec<Index>),
    Reopen,
    /// Goes on with what a crash leaves, these bytes torn.
    Crash(Vec<u8>),
}

#[derive(Debug, Clone)]
pub(crate) struct Checkpoint {
    pub(crate) parent: Option<Index>,
    pub(crate) head: Option<Branch>,
    pub(crate) expect: Option<Expected>,
    pub(crate) kind: CommitKind,
    pub(crate) body: Body,
    pub(crate) principal: Option<&'static str>,
    pub(crate) key: Option<&'static str>,
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) merged: Option<Index>,
    /// Whether it carries the time of the first step and not its own.
    pub(crate) is_old: bool,
}

/// Where a head is said to be.
#[derive(Debug, Clone)]
pub(crate) enum Expected {
    Anything,
    Absent,
    /// Where it is.
    There,
    /// At some commit.
    At(Index),
}

pub(crate) type Branch = contexture_core::HeadName;

pub(crate) const PRINCIPALS: [&str; 2] = ["ada", "bob"];

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let index = || any::<Index>();
    prop_oneof![
        14 => checkpoint().prop_map(Step::Checkpoint),
        1 => index().prop_map(Step::Repeat),
        2 => (branch(), index(), expected()).prop_map(|(head, to, expected)| Step::SetHead(head, to, expected)),
        1 => (branch(), index(), expected()).prop_map(|(head, to, expected)| Step::MoveHead(head, to, expected)),
        1 => (branch(), expected()).prop_map(|(head, expected)| Step::DeleteHead(head, expected)),
        2 => (index(), branch()).prop_map(|(from, head)| Step::Fork(from, head)),
        3 => (index(), vec(annotation(), 0..3)).prop_map(|(commit, said)| Step::Annotate(commit, said)),
        2 => (index(), Body::any(), option::of(branch())).prop_map(|(at, body, head)| Step::Compact(at, body, head)),
        2 => (index(), option::of(branch())).prop_map(|(commit, head)| Step::Snapshot(commit, head)),
        2 => prop_oneof![vec(any::<u8>(), 0..3), vec(any::<u8>(), 300_000..300_002)].prop_map(Step::Put),
        1 => vec(index(), 0..3).prop_map(Step::Copy),
        1 => Just(Step::Reopen),
        2 => vec(any::<u8>(), 0..5000).prop_map(Step::Crash),
    ]
}

fn checkpoint() -> impl Strategy<Value = Checkpoint> {
    let kind = prop_oneof![
        8 => Just(CommitKind::Delta),
        1 => Just(CommitKind::Compaction),
        1 => Just(CommitKind::Snapshot),
    ];
    let place =
        (option::weighted(0.3, any::<Index>()), option::weighted(0.7, branch()), option::weighted(0.3, expected()));
    let origin =
        (option::of(prop::sample::select(&PRINCIPALS)), option::weighted(0.2, prop::sample::select(&["k", "l"])));
    let extras = (vec(annotation(), 0..2), option::weighted(0.1, any::<Index>()), prop::bool::weighted(0.1));
    (place, kind, Body::any(), origin, extras).prop_map(|(place, kind, body, origin, extras)| {
        let ((parent, head, expect), (principal, key)) = (place, origin);
        let (annotations, merged, is_old) = extras;
        Checkpoint { parent, head, expect, kind, body, principal, key, annotations, merged, is_old }
    })
}

fn branch() -> impl Strategy<Value = Branch> {
    prop::sample::select(&["main", "side", "session/1"]).prop_map(head)
}

fn expected() -> impl Strategy<Value = Expected> {
    prop_oneof![
        2 => Just(Expected::Anything),
        1 => Just(Expected::Absent),
        4 => Just(Expected::There),
        1 => any::<Index>().prop_map(Expected::At),
    ]
}

fn annotation() -> impl Strategy<Value = Annotation> {
    let tag = || prop::sample::select(&["green", "red"]).prop_map(|word| Tag::new(word).unwrap());
    prop_oneof![
        "[a-z]{0,2}".prop_map(|words| Annotation::Summary { text: SummaryText::new(words).unwrap() }),
        tag().prop_map(|tag| Annotation::Tag { tag }),
        tag().prop_map(|tag| Annotation::Untag { tag }),
    ]
}
