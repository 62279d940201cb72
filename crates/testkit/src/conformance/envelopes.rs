//! Envelopes and what belongs to them: kept whole or not at all, once, and in order.

use std::{collections::HashMap, io, time::Duration};

use contexture::{
    Attachment, Contexture, CreateOutcome, EnvelopeFilter, Error, Event, Injection, JsonText, KeptEnvelope, Missing,
    MissingChange, MissingFilter, NewEnvelope, NewEvent, NewMissing, StoreError, StoredEnvelope,
    fsck::{EnvelopeFault, FsckProblem},
};
use contexture_core::{
    ArtifactId, CommitId, CounterName, EnvelopeId, EventKind, GapSeverity, GapStatus, InjectionId, JournalKind,
    MissingId, RecipeName, SpaceName, Stream, Subject,
};

use crate::{Backend, Harness, artifact, assert_sound, head, instant, journal, noise, observe, say, stored};

pub(super) fn stream(name: &str) -> Stream {
    Stream::new(name).unwrap()
}

pub(super) fn recipe(name: &str) -> RecipeName {
    RecipeName::new(name).unwrap()
}

pub(super) fn json(text: &str) -> JsonText {
    JsonText::new(text).unwrap()
}

pub(super) fn status(word: &str) -> GapStatus {
    GapStatus::new(word).unwrap()
}

/// An envelope of a document and nothing else.
pub(super) fn plain(document: &str) -> NewEnvelope {
    NewEnvelope {
        document: document.as_bytes().to_vec(),
        stream: stream("main"),
        recipe: recipe("turn"),
        commit: None,
        created_at: instant(0),
        artifacts: Vec::new(),
        injections: Vec::new(),
        missing: Vec::new(),
        events: Vec::new(),
    }
}

pub(super) fn gap(question: &str) -> NewMissing {
    NewMissing {
        id: MissingId::of(question.as_bytes()),
        status: status("open"),
        severity: GapSeverity::new("high").unwrap(),
        document: json(&format!(r#"{{"question":"{question}"}}"#)),
    }
}

pub(super) fn happened(kind: EventKind, subject: &str, document: &str) -> NewEvent {
    NewEvent { kind, subject: Subject::new(subject).unwrap(), document: json(document) }
}

pub(super) async fn keep(store: &Contexture, new: NewEnvelope) -> EnvelopeId {
    store.keep_envelope(new).await.unwrap().id
}

async fn list(store: &Contexture, filter: EnvelopeFilter) -> Vec<EnvelopeId> {
    store.envelopes().list(&filter, None, 100).await.unwrap().iter().map(|envelope| envelope.id).collect()
}

pub async fn an_envelope_is_kept_with_all_that_goes_with_it<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let commit = say("one").onto("main").commit(&store).await;
    let there = stored(&store, b"there already").await;
    let large = noise("large", 700_000).into_bytes();
    let document = format!(r#"{{"padding":"{}"}}"#, noise("document", 300_000));
    let id = EnvelopeId::of(document.as_bytes());
    let large_id = ArtifactId::of(&large);
    let before = store.journal_tip().await.unwrap();
    let new = NewEnvelope {
        commit: Some(commit),
        artifacts: vec![
            Attachment::bytes(b"input".to_vec()),
            Attachment::stream(large_id, Box::new(io::Cursor::new(large.clone()))),
            Attachment::stream(ArtifactId::of(b"short"), Box::new(io::Cursor::new(b"short"))),
            Attachment::stored(there),
            // The same once more is the same.
            Attachment::bytes(b"input".to_vec()),
        ],
        injections: vec![json(r#"{"point":"system"}"#)],
        missing: vec![gap("why?")],
        events: vec![
            happened(EventKind::SelectionCompleted, "sel-1", "{\"n\": 1}"),
            happened(EventKind::AssemblyCreated, &id.to_string(), "{}"),
        ],
        created_at: instant(-5),
        ..plain(&document)
    };
    let kept = store.keep_envelope(new).await.unwrap();
    assert_eq!(kept, KeptEnvelope { id, outcome: CreateOutcome::Created });
    let envelope = store.envelope(id).await.unwrap();
    let expected = StoredEnvelope {
        id,
        seq: before + 1,
        stream: stream("main"),
        recipe: recipe("turn"),
        commit: Some(commit),
        created_at: instant(-5),
        document: ArtifactId::of(document.as_bytes()),
    };
    assert_eq!(envelope, expected);
    assert_eq!(artifact(&store, envelope.document).await, document.as_bytes());
    let attached = store.envelope_artifacts(id).await.unwrap();
    assert_eq!(attached, [ArtifactId::of(b"input"), large_id, ArtifactId::of(b"short"), there]);
    assert_eq!(artifact(&store, large_id).await, large);
    assert_eq!(artifact(&store, attached[2]).await, b"short");
    let injections = store.injections(id, 0, 10).await.unwrap();
    let injection = Injection { envelope: id, created_at: instant(-5), document: json(r#"{"point":"system"}"#) };
    assert_eq!(injections.len(), 1);
    assert_eq!((injections[0].id, &injections[0].injection), (injection.id(), &injection));
    let missing = store.missing(MissingId::of(b"why?")).await.unwrap();
    assert_eq!((missing.missing.envelope, missing.missing.created_at), (Some(id), instant(-5)));
    let events = store.envelope_events(id, 0, 10).await.unwrap();
    let seen: Vec<_> = events.iter().map(|stored| (stored.event.kind, stored.event.document.as_str())).collect();
    assert_eq!(seen, [(EventKind::SelectionCompleted, "{\"n\": 1}"), (EventKind::AssemblyCreated, "{}")]);
    let kinds: Vec<_> = store.journal_after(before, 10).await.unwrap().iter().map(|record| record.kind).collect();
    let expected = [
        JournalKind::EnvelopeCreated,
        JournalKind::InjectionCreated,
        JournalKind::MissingCreated,
        JournalKind::Event(EventKind::SelectionCompleted),
        JournalKind::Event(EventKind::AssemblyCreated),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(store.stats().await.unwrap().envelopes, 1);
    let report = store.fsck(&mut |_| {}).await.unwrap();
    assert_eq!((report.problems, report.unreferenced.map(|unused| unused.artifacts)), (vec![], Some(0)));
}

pub async fn the_same_document_is_one_envelope<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let with_event = || NewEnvelope {
        events: vec![happened(EventKind::AssemblyCreated, "asm-1", "{}")],
        missing: vec![gap("why?")],
        ..plain("{}")
    };
    let again = || NewEnvelope { stream: stream("other"), created_at: instant(9), ..with_event() };
    let (first, second) = tokio::join!(store.keep_envelope(with_event()), store.keep_envelope(with_event()));
    let outcomes = [first.unwrap(), second.unwrap()].map(|kept| (kept.id, kept.outcome));
    let id = EnvelopeId::of(b"{}");
    assert!(outcomes.contains(&(id, CreateOutcome::Created)) && outcomes.contains(&(id, CreateOutcome::AlreadyThere)));
    let (envelope, before) = (store.envelope(id).await.unwrap(), observe(&store).await);
    harness.clock.advance(Duration::from_secs(1));
    let kept = store.keep_envelope(again()).await.unwrap();
    assert_eq!(kept, KeptEnvelope { id, outcome: CreateOutcome::AlreadyThere });
    assert_eq!(store.envelope(id).await.unwrap(), envelope);
    assert_eq!(observe(&store).await, before);
    let added = NewEnvelope { injections: vec![json("{}")], ..again() };
    keep(&store, added).await;
    let kinds: Vec<_> = journal(&store).await[before.journal.len()..].iter().map(|record| record.kind).collect();
    assert_eq!(kinds, [JournalKind::InjectionCreated], "only what is new is added");
    assert_sound(&store, &SpaceName::new("default").unwrap()).await;
}

pub async fn what_an_envelope_needs_must_be_there<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    say("one").commit(&store).await;
    let before = observe(&store).await;
    let commit = CommitId::from_bytes([7; CommitId::LEN]);
    let error = store.keep_envelope(NewEnvelope { commit: Some(commit), ..plain("{}") }).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::NoCommit(id)) if id == commit), "{error:?}");
    let absent = ArtifactId::of(b"absent");
    let attached = NewEnvelope { artifacts: vec![Attachment::stored(absent)], ..plain("{}") };
    let error = store.keep_envelope(attached).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::NoArtifact(id)) if id == absent), "{error:?}");
    let lying = Attachment::stream(absent, Box::new(io::Cursor::new(b"something else")));
    let error = store.keep_envelope(NewEnvelope { artifacts: vec![lying], ..plain("{}") }).await.unwrap_err();
    let found = ArtifactId::of(b"something else");
    assert!(matches!(error, Error::OtherContent { given, found: is } if given == absent && is == found), "{error:?}");
    let id = EnvelopeId::of(b"{}");
    let refusals = [
        store.envelope(id).await.map(drop).unwrap_err(),
        store.envelope_artifacts(id).await.map(drop).unwrap_err(),
        store.latest_envelope(&stream("main"), Some(id)).await.map(drop).unwrap_err(),
        store.record_injection(id, json("{}"), Vec::new()).await.map(drop).unwrap_err(),
        store.record_missing(gap("why?"), Some(id), Vec::new()).await.map(drop).unwrap_err(),
    ];
    for error in refusals {
        assert!(matches!(error, Error::Store(StoreError::NoEnvelope(missing)) if missing == id), "{error:?}");
    }
    assert_eq!(observe(&store).await, before);
}

pub async fn more_small_artifacts_than_are_held_are_all_there<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    // Six and a half megabytes in pieces that each fit a row.
    let pieces: Vec<Vec<u8>> = (0..26).map(|number| noise(&number.to_string(), 250_000).into_bytes()).collect();
    let artifacts = pieces.iter().cloned().map(Attachment::bytes).collect();
    let id = keep(&store, NewEnvelope { artifacts, ..plain("{}") }).await;
    let attached = store.envelope_artifacts(id).await.unwrap();
    assert_eq!(attached, pieces.iter().map(|piece| ArtifactId::of(piece)).collect::<Vec<_>>());
    for (id, piece) in attached.iter().zip(&pieces) {
        assert!(artifact(&store, *id).await == *piece);
    }
    assert_sound(&store, &SpaceName::new("default").unwrap()).await;
}

pub async fn envelopes_are_listed_newest_first<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let commit = say("one").commit(&store).await;
    let mut ids = Vec::new();
    for number in 0..9 {
        let new = NewEnvelope {
            stream: stream(if number % 2 == 0 { "even" } else { "odd" }),
            recipe: recipe(if number < 6 { "turn" } else { "review" }),
            commit: (number == 3 || number == 7).then_some(commit),
            // The times go backwards: they order nothing.
            created_at: instant(-number),
            ..plain(&number.to_string())
        };
        ids.push(keep(&store, new).await);
    }
    let expect = |numbers: &[usize]| numbers.iter().map(|number| ids[*number]).collect::<Vec<_>>();
    let even = EnvelopeFilter { stream: Some(stream("even")), ..EnvelopeFilter::default() };
    let review = EnvelopeFilter { recipe: Some(recipe("review")), ..EnvelopeFilter::default() };
    let made_from = EnvelopeFilter { commit: Some(commit), ..EnvelopeFilter::default() };
    let both = EnvelopeFilter { recipe: Some(recipe("review")), ..even.clone() };
    assert_eq!(list(&store, EnvelopeFilter::default()).await, expect(&[8, 7, 6, 5, 4, 3, 2, 1, 0]));
    assert_eq!(list(&store, even.clone()).await, expect(&[8, 6, 4, 2, 0]));
    assert_eq!(list(&store, review).await, expect(&[8, 7, 6]));
    assert_eq!(list(&store, made_from).await, expect(&[7, 3]));
    assert_eq!(list(&store, both).await, expect(&[8, 6]));
    for filter in [EnvelopeFilter::default(), even] {
        let whole = store.envelopes().list(&filter, None, 100).await.unwrap();
        let mut paged: Vec<StoredEnvelope> = Vec::new();
        loop {
            let page = store.envelopes().list(&filter, paged.last().map(|last| last.seq), 2).await.unwrap();
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, whole);
    }
}

pub async fn the_latest_of_a_stream_goes_before_the_next<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    assert_eq!(store.latest_envelope(&stream("main"), None).await.unwrap(), None);
    let one = keep(&store, plain("1")).await;
    let other = keep(&store, NewEnvelope { stream: stream("other"), ..plain("2") }).await;
    let two = keep(&store, plain("3")).await;
    let latest = async |name: &str, before| {
        let found = store.latest_envelope(&stream(name), before).await.unwrap();
        found.map(|envelope| envelope.id)
    };
    assert_eq!(latest("main", None).await, Some(two));
    assert_eq!(latest("main", Some(two)).await, Some(one));
    assert_eq!(latest("main", Some(other)).await, Some(one), "also before one of another stream");
    assert_eq!(latest("main", Some(one)).await, None);
    assert_eq!(latest("other", Some(two)).await, Some(other));
    assert_eq!(latest("nobody's", None).await, None);
}

pub async fn an_envelope_is_found_by_an_abbreviated_id<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    // Two documents whose ids start with the same four digits.
    let mut seen: HashMap<String, u32> = HashMap::new();
    let shared = |id: EnvelopeId| id.to_string()[..8].to_owned();
    let (first, second) = (0..)
        .find_map(|number: u32| {
            let id = EnvelopeId::of(number.to_string().as_bytes());
            seen.insert(shared(id), number).map(|earlier| (earlier, number))
        })
        .unwrap();
    let one = keep(&store, plain(&first.to_string())).await;
    let prefix = shared(one);
    assert_eq!(store.find_envelope(&prefix.parse().unwrap()).await.unwrap(), one);
    let two = keep(&store, plain(&second.to_string())).await;
    let error = store.find_envelope(&prefix.parse().unwrap()).await.unwrap_err();
    let mut ids = [one, two].map(|id| id.to_string());
    ids.sort();
    assert!(
        matches!(&error, Error::Store(StoreError::Ambiguous { candidates, .. }) if *candidates == ids),
        "{error:?}"
    );
    assert_eq!(store.find_envelope(&two.into()).await.unwrap(), two);
    let absent = EnvelopeId::of(b"absent");
    let error = store.find_envelope(&absent.into()).await.unwrap_err();
    let expected = format!("no envelope has an id that starts with {absent}");
    assert_eq!(error.to_string(), expected);
}

pub async fn an_injection_is_recorded_once<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (one, two) = (keep(&store, plain("1")).await, keep(&store, plain("2")).await);
    let applied = || vec![happened(EventKind::InjectionApplied, "inj", "{}")];
    let first = store.record_injection(one, json("{}"), applied()).await.unwrap();
    assert_eq!(first, InjectionId::of(&one, b"{}"));
    harness.clock.advance(Duration::from_secs(1));
    assert_eq!(store.record_injection(one, json("{}"), applied()).await.unwrap(), first);
    let second = store.record_injection(one, json("[]"), applied()).await.unwrap();
    let other = store.record_injection(two, json("{}"), Vec::new()).await.unwrap();
    let listed = store.injections(one, 0, 10).await.unwrap();
    let seen: Vec<_> = listed.iter().map(|stored| (stored.id, stored.injection.created_at)).collect();
    assert_eq!(seen, [(first, instant(0)), (second, instant(1))]);
    assert_eq!(store.injections(one, listed[0].seq, 10).await.unwrap(), listed[1..]);
    assert_eq!(store.injections(two, 0, 10).await.unwrap()[0].id, other);
    assert_eq!(store.envelope_events(one, 0, 10).await.unwrap().len(), 2);
    assert_sound(&store, &SpaceName::new("default").unwrap()).await;
}

pub async fn missing_context_changes_under_one_id<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let envelope = keep(&store, NewEnvelope { missing: vec![gap("one"), gap("two")], ..plain("{}") }).await;
    assert_eq!(store.record_missing(gap("loose"), None, Vec::new()).await.unwrap(), CreateOutcome::Created);
    let tip = store.journal_tip().await.unwrap();
    let detected = Event {
        kind: EventKind::MissingDetected,
        subject: Subject::new("mis").unwrap(),
        envelope: None,
        document: json("{}"),
    };
    let again = store.record_missing(gap("one"), None, vec![detected.clone()]).await.unwrap();
    assert_eq!((again, store.journal_tip().await.unwrap()), (CreateOutcome::AlreadyThere, tip));
    harness.clock.advance(Duration::from_secs(3));
    let one = MissingId::of(b"one");
    let change = MissingChange { status: status("resolved"), document: json(r#"{"answer":1}"#) };
    let resolved = Event { kind: EventKind::MissingResolved, envelope: Some(envelope), ..detected };
    store.change_missing(one, change.clone(), vec![resolved]).await.unwrap();
    let stored = store.missing(one).await.unwrap();
    let expected = Missing {
        id: one,
        envelope: Some(envelope),
        created_at: instant(0),
        changed_at: instant(3),
        status: status("resolved"),
        severity: GapSeverity::new("high").unwrap(),
        document: json(r#"{"answer":1}"#),
    };
    assert_eq!((stored.missing, stored.changed_seq), (expected, tip + 1));
    let list = async |filter: MissingFilter, before| {
        let listed = store.list_missing(&filter, before, 10).await.unwrap();
        listed.into_iter().map(|stored| (stored.missing.id, stored.seq)).collect::<Vec<_>>()
    };
    let all = list(MissingFilter::default(), None).await;
    let ids = |listed: &[(MissingId, u64)]| listed.iter().map(|(id, _)| *id).collect::<Vec<_>>();
    let (two, loose) = (MissingId::of(b"two"), MissingId::of(b"loose"));
    assert_eq!(ids(&all), [loose, two, one]);
    assert_eq!(list(MissingFilter::default(), Some(all[0].1)).await, all[1..]);
    let open = MissingFilter { status: Some(status("open")), ..MissingFilter::default() };
    assert_eq!(ids(&list(open, None).await), [loose, two]);
    let of_envelope = MissingFilter { envelope: Some(envelope), ..MissingFilter::default() };
    assert_eq!(ids(&list(of_envelope.clone(), None).await), [two, one]);
    let both = MissingFilter { status: Some(status("resolved")), ..of_envelope };
    assert_eq!(ids(&list(both, None).await), [one]);
    let absent = MissingId::of(b"absent");
    let refusals = [
        store.change_missing(absent, change, Vec::new()).await.unwrap_err(),
        store.missing(absent).await.map(drop).unwrap_err(),
    ];
    for error in refusals {
        assert!(matches!(error, Error::Store(StoreError::NoMissing(id)) if id == absent), "{error:?}");
    }
    assert_sound(&store, &SpaceName::new("default").unwrap()).await;
}

pub async fn events_are_journaled_and_found_by_envelope<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open_as("ada", "default").await;
    let envelope = keep(&store, plain("{}")).await;
    let event = |kind, envelope, document: &str| Event {
        kind,
        subject: Subject::new("it").unwrap(),
        envelope,
        document: json(document),
    };
    let mut events: Vec<Event> = EventKind::ALL.iter().map(|kind| event(*kind, None, &format!("\"{kind}\""))).collect();
    events[3].envelope = Some(envelope);
    events[20].envelope = Some(envelope);
    harness.clock.advance(Duration::from_secs(2));
    let numbers = store.append_events(events.clone()).await.unwrap();
    let tip = store.journal_tip().await.unwrap();
    assert_eq!(numbers, (tip - 20..=tip).collect::<Vec<_>>());
    let listed = store.events_after(0, 100).await.unwrap();
    assert_eq!(listed.iter().map(|stored| stored.event.clone()).collect::<Vec<_>>(), events);
    assert!(listed.iter().all(|stored| stored.actor.as_str() == "ada" && stored.at == instant(2)));
    assert_eq!(store.events_after(numbers[1], 3).await.unwrap(), listed[2..5]);
    let own = store.envelope_events(envelope, 0, 100).await.unwrap();
    assert_eq!(own, [listed[3].clone(), listed[20].clone()]);
    assert_eq!(store.envelope_events(envelope, own[0].seq, 100).await.unwrap(), own[1..]);
    let records = store.journal_after(numbers[0] - 1, 100).await.unwrap();
    let seen: Vec<_> = records.iter().map(|record| (record.kind, record.subject.as_str())).collect();
    assert_eq!(seen, EventKind::ALL.iter().map(|kind| (JournalKind::Event(*kind), "it")).collect::<Vec<_>>());
    let absent = EnvelopeId::of(b"absent");
    let refused = vec![event(EventKind::Exported, None, "{}"), event(EventKind::Exported, Some(absent), "{}")];
    let error = store.append_events(refused).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::NoEnvelope(id)) if id == absent), "{error:?}");
    assert_eq!(store.journal_tip().await.unwrap(), tip, "all or none");
    assert_sound(&store, &SpaceName::new("default").unwrap()).await;
}

pub async fn what_is_kept_in_one_space_another_does_not_see<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("ada", "there").await);
    let full = || NewEnvelope {
        injections: vec![json("{}")],
        missing: vec![gap("why?")],
        events: vec![happened(EventKind::AssemblyCreated, "asm", "{}")],
        ..plain("{}")
    };
    let id = keep(&here, full()).await;
    assert_eq!(list(&there, EnvelopeFilter::default()).await, []);
    assert!(there.envelope(id).await.is_err() && there.missing(MissingId::of(b"why?")).await.is_err());
    assert_eq!(there.events_after(0, 10).await.unwrap(), []);
    assert_eq!(there.journal_tip().await.unwrap(), 0);
    assert_eq!(there.keep_envelope(full()).await.unwrap(), KeptEnvelope { id, outcome: CreateOutcome::Created });
    assert_sound(&here, &SpaceName::new("here").unwrap()).await;
    assert_sound(&there, &SpaceName::new("there").unwrap()).await;
}

pub async fn token_counts_are_known_in_every_space<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("ada", "there").await);
    say("one").onto("main").commit(&here).await;
    let (first, second) = (CounterName::new("chars4").unwrap(), CounterName::new("other").unwrap());
    let digest = |number: u32| *ArtifactId::of(&number.to_le_bytes()).as_bytes();
    // More than one statement asks for, every third unknown, the first one twice.
    let known = (0..1300).filter(|number| number % 3 != 0).map(|number| (digest(number), u64::from(number)));
    let tip = here.journal_tip().await.unwrap();
    here.remember_token_counts(&first, known.chain([(digest(1), 1)]).collect()).await.unwrap();
    here.remember_token_counts(&first, vec![(digest(1), 99), (digest(3000), 7)]).await.unwrap();
    assert_eq!(here.journal_tip().await.unwrap(), tip);
    let mut asked: Vec<_> = (0..1300).rev().map(digest).collect();
    asked.extend([digest(3000), digest(1), digest(0)]);
    let mut expected: Vec<Option<u64>> = (0..1300).rev().map(|number| (number % 3 != 0).then_some(number)).collect();
    expected.extend([Some(7), Some(1), None]);
    assert_eq!(there.token_counts(&first, asked).await.unwrap(), expected);
    assert_eq!(here.token_counts(&second, vec![digest(1)]).await.unwrap(), [None]);
    assert_eq!(here.token_counts(&first, Vec::new()).await.unwrap(), []);
    assert!(here.head(&head("main")).await.unwrap().is_some());
}

pub async fn a_check_names_lost_artifacts_of_envelopes<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let artifacts = vec![Attachment::bytes(b"lost".to_vec()), Attachment::bytes(b"damaged".to_vec())];
    let id = keep(&store, NewEnvelope { artifacts, ..plain("lost document") }).await;
    let (lost, damaged) = (ArtifactId::of(b"lost"), ArtifactId::of(b"damaged"));
    let document = ArtifactId::of(b"lost document");
    harness.backend.lose_artifact(lost).await;
    harness.backend.lose_artifact(document).await;
    harness.backend.damage_artifact(damaged).await;
    let problems = store.fsck(&mut |_| {}).await.unwrap().problems;
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(matches!(&problems[0], FsckProblem::Artifact { artifact, .. } if *artifact == damaged));
    let fault = |fault| FsckProblem::Envelope { envelope: id, fault };
    assert_eq!(problems[1], fault(EnvelopeFault::NoDocument { artifact: document }));
    assert_eq!(problems[2], fault(EnvelopeFault::NoArtifact { artifact: lost }));
}
