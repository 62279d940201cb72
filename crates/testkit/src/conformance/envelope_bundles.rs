//! Envelopes in bundles: the same there as here, in the same order, and never twice.

use std::{io, time::Duration};

use contexture::{
    Attachment, Contexture, EnvelopeFilter, Event, ImportSummary, MissingChange, NewEnvelope, StoredEnvelope,
};
use contexture_core::{ArtifactId, CommitId, EnvelopeId, EventKind, MissingId, SpaceName};

use super::envelopes::{gap, happened, json, keep, plain, status, stream};
use crate::{Backend, Harness, SqliteBackend, artifact, assert_whole, exported, head, instant, noise, observe, say};

async fn import(store: &Contexture, bundle: Vec<u8>) -> ImportSummary {
    store.import_bundle(io::Cursor::new(bundle)).await.unwrap()
}

async fn exported_all(store: &Contexture) -> Vec<u8> {
    let mut bundle = Vec::new();
    let summary = store.export_all(&mut bundle).await.unwrap();
    assert_eq!(contexture::verify_bundle(bundle.as_slice()).unwrap(), summary);
    bundle
}

/// The version of a bundle.
fn version(bundle: &[u8]) -> u8 {
    bundle[7]
}

/// An envelope with something of everything.
fn full(document: &str, commit: Option<CommitId>) -> NewEnvelope {
    NewEnvelope {
        commit,
        artifacts: vec![
            Attachment::bytes(format!("input of {document}").into_bytes()),
            Attachment::bytes(b"shared".to_vec()),
            Attachment::bytes(noise("large", 600_000).into_bytes()),
        ],
        injections: vec![json(&format!("[\"{document}\"]"))],
        missing: vec![gap(document)],
        // The same twice, which is not once.
        events: vec![happened(EventKind::ItemAdded, "it", "{}"), happened(EventKind::ItemAdded, "it", "{}")],
        ..plain(document)
    }
}

/// Everything that can be seen of envelopes, without where it is in the journal.
async fn seen(store: &Contexture) -> Vec<String> {
    let mut lines = Vec::new();
    let envelopes = store.envelopes().list(&EnvelopeFilter::default(), None, 100).await.unwrap();
    for StoredEnvelope { id, stream, recipe, commit, created_at, document, .. } in envelopes {
        lines.push(format!("{id} {stream} {recipe} {commit:?} {created_at} {document}"));
        for attached in store.envelope_artifacts(id).await.unwrap() {
            assert_eq!(ArtifactId::of(&artifact(store, attached).await), attached);
            lines.push(attached.to_string());
        }
        for stored in store.injections(id, 0, 100).await.unwrap() {
            lines.push(format!("{} {:?}", stored.id, stored.injection));
        }
        for stored in store.envelope_events(id, 0, 100).await.unwrap() {
            lines.push(format!("{:?}", stored.event));
        }
    }
    for stored in store.list_missing(&contexture::MissingFilter::default(), None, 100).await.unwrap() {
        lines.push(format!("{:?}", stored.missing));
    }
    lines
}

async fn ids(store: &Contexture) -> Vec<EnvelopeId> {
    let listed = store.envelopes().list(&EnvelopeFilter::default(), None, 100).await.unwrap();
    listed.iter().rev().map(|envelope| envelope.id).collect()
}

pub async fn envelopes_go_along_with_their_commits<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    let one = say("one").onto("main").commit(&here).await;
    let two = say("two").onto("main").commit(&here).await;
    let apart = say("apart").after(one).commit(&here).await;
    // Not in the order of the commits: the latest of the stream is made from the first commit.
    let second = keep(&here, full("second", Some(two))).await;
    keep(&here, full("apart", Some(apart))).await;
    keep(&here, full("loose", None)).await;
    let first = keep(&here, full("first", Some(one))).await;
    let mut bundle = Vec::new();
    let summary = here.export(&[], &[head("main")], &mut bundle).await.unwrap();
    // Two commits; two documents, two inputs, and what the envelopes share.
    assert_eq!((summary.commits, summary.envelopes, summary.artifacts), (2, 2, 2 + 2 + 2 + 2));
    assert_eq!((contexture::verify_bundle(bundle.as_slice()).unwrap(), version(&bundle)), (summary, 2));
    let imported = import(&there, bundle).await;
    assert_eq!((imported.envelopes, imported.new_envelopes), (2, 2));
    assert_eq!(ids(&there).await, [second, first]);
    let latest = there.latest_envelope(&stream("main"), None).await.unwrap();
    assert_eq!(latest.map(|envelope| envelope.id), Some(first));
    assert!(seen(&there).await.iter().all(|line| !line.contains("loose") && !line.contains("apart")));
    let bundle = exported(&here, &[apart], &[]).await;
    assert_eq!(import(&there, bundle).await.new_envelopes, 1, "its own, and the one of the first commit is there");
    assert_whole(&there, &SpaceName::new("there").unwrap()).await;
}

pub async fn what_has_no_commit_goes_along_with_everything<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    keep(&here, full("before", None)).await;
    let one = say("one").onto("main").commit(&here).await;
    keep(&here, full("made", Some(one))).await;
    here.record_missing(gap("nobody's"), None, Vec::new()).await.unwrap();
    let bundle = exported_all(&here).await;
    assert_eq!(import(&there, bundle).await.new_envelopes, 2);
    assert_eq!(seen(&there).await, seen(&here).await);
    assert_eq!(there.head(&head("main")).await.unwrap(), Some(one));
    assert_whole(&there, &SpaceName::new("there").unwrap()).await;
    let only_missing = harness.open_as("ada", "gaps").await;
    only_missing.record_missing(gap("nobody's"), None, Vec::new()).await.unwrap();
    let elsewhere = harness.open_as("ada", "elsewhere").await;
    import(&elsewhere, exported_all(&only_missing).await).await;
    assert_eq!(seen(&elsewhere).await, seen(&only_missing).await);
}

pub async fn a_bundle_without_envelopes_stays_readable_for_older_programs<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    say("one").onto("main").commit(&store).await;
    assert_eq!(version(&exported_all(&store).await), 1);
    keep(&store, plain("{}")).await;
    assert_eq!(version(&exported(&store, &[], &[head("main")]).await), 1, "none goes along");
    assert_eq!(version(&exported_all(&store).await), 2);
}

pub async fn taking_in_envelopes_again_changes_nothing<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    let one = say("one").onto("main").commit(&here).await;
    keep(&here, full("made", Some(one))).await;
    keep(&here, full("loose", None)).await;
    let bundle = exported_all(&here).await;
    import(&there, bundle.clone()).await;
    let unchanged = [(observe(&here).await, seen(&here).await), (observe(&there).await, seen(&there).await)];
    for (store, before) in [&here, &there].into_iter().zip(unchanged) {
        harness.clock.advance(Duration::from_secs(1));
        let imported = import(store, bundle.clone()).await;
        assert_eq!(imported, ImportSummary { commits: 1, envelopes: 2, ..ImportSummary::default() });
        assert_eq!((observe(store).await, seen(store).await), before);
    }
    assert_eq!(exported_all(&there).await, bundle, "and it is the same bundle from there");
}

pub async fn what_was_added_elsewhere_is_added_here<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    let id = keep(&here, full("loose", None)).await;
    import(&there, exported_all(&here).await).await;
    let applied = vec![happened(EventKind::InjectionApplied, "inj", "{}")];
    there.record_injection(id, json("{\"there\":1}"), applied).await.unwrap();
    // Once more what happened twice.
    let again = happened(EventKind::ItemAdded, "it", "{}");
    let again = Event { kind: again.kind, subject: again.subject, envelope: Some(id), document: again.document };
    there.append_events(vec![again]).await.unwrap();
    let imported = import(&here, exported_all(&there).await).await;
    assert_eq!((imported.envelopes, imported.new_envelopes), (1, 0));
    assert_eq!(seen(&here).await, seen(&there).await);
    assert_eq!(here.envelope_events(id, 0, 100).await.unwrap().len(), 4);
}

pub async fn the_later_state_of_missing_context_counts<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    keep(&here, full("loose", None)).await;
    let id = MissingId::of(b"loose");
    let before = exported_all(&here).await;
    import(&there, before.clone()).await;
    harness.clock.advance(Duration::from_secs(1));
    let change = MissingChange { status: status("resolved"), document: json("{\"answer\":1}") };
    here.change_missing(id, change, Vec::new()).await.unwrap();
    import(&there, exported_all(&here).await).await;
    let changed = there.missing(id).await.unwrap().missing;
    assert_eq!((changed.status.as_str(), changed.changed_at), ("resolved", instant(1)));
    import(&here, before).await;
    assert_eq!(here.missing(id).await.unwrap().missing, changed, "an older state replaces nothing");
    assert_whole(&there, &SpaceName::new("there").unwrap()).await;
}

pub async fn envelopes_go_from_one_engine_to_the_other_and_back<B: Backend>() {
    let (embedded, other) = (Harness::<SqliteBackend>::new().await, Harness::<B>::new().await);
    let (here, there) = (embedded.open_as("ada", "here").await, other.open_as("bob", "there").await);
    let one = say("one").onto("main").commit(&here).await;
    keep(&here, full("made", Some(one))).await;
    keep(&here, full("loose", None)).await;
    import(&there, exported_all(&here).await).await;
    assert_eq!(seen(&there).await, seen(&here).await);
    assert_whole(&there, &SpaceName::new("there").unwrap()).await;
    let back = embedded.open_as("ada", "back").await;
    import(&back, exported_all(&there).await).await;
    assert_eq!(seen(&back).await, seen(&here).await);
    assert_whole(&back, &SpaceName::new("back").unwrap()).await;
}
