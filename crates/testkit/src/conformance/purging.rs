//! Purging: content goes for good, what is left says so, and the same bytes do not bring it back.

use contexture::{
    Contexture, Erasure, Error, PurgePlan, PurgeTarget, Stop, StoreError, WithheldCause, formats::dialogue::LossKind,
};
use contexture_core::{ArtifactId, EventKind, Fingerprint, JournalKind, RuleId, SecretCover, SecretFinding, SpaceName};
use contexture_store::{
    artifact::{self, Hot, LeftOut},
    finding,
};
use futures_util::FutureExt as _;

use super::import::{ImportedTranscript, import};
use crate::{
    Backend, Harness, artifact as read, assert_sound as assert_sound_in, exported, journal, materialized, noise,
    stored, write,
};

const LARGE: usize = 1024 * 1024;

async fn purge(store: &Contexture, target: PurgeTarget) -> PurgePlan {
    let plan = store.plan_purge(&target, &mut |_| {}).await.unwrap();
    assert_eq!(store.purge(&target, "asked for", &mut |_| {}).await.unwrap(), plan);
    plan
}

async fn assert_sound(store: &Contexture) {
    assert_sound_in(store, &SpaceName::new("default").unwrap()).await;
}

pub async fn a_purged_commit_is_gone_and_its_chain_goes_on<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for len in [40, LARGE] {
        let content = noise("purged", len);
        let one = write("text", "one\n").commit(&store).await;
        let two = write("text", content.clone()).after(one).summary("what it says").commit(&store).await;
        let three = write("text", "three\n").after(two).commit(&store).await;
        let plan = purge(&store, PurgeTarget::Commit(two)).await;
        assert_eq!((plan.commits, plan.artifacts, plan.bytes), (vec![two], 1, len as u64));
        let (bytes, report) = materialized(&store, three, Stop::Root).await;
        assert_eq!(bytes, b"one\nthree\n");
        let losses: Vec<_> = report.losses.iter().map(|loss| (loss.kind, loss.commit)).collect();
        assert_eq!(losses, [(LossKind::ContentWithheld, Some(two))]);
        let id = ArtifactId::of(content.as_bytes());
        let error = store.get_artifact(id, &mut Vec::new()).await.unwrap_err();
        assert!(
            matches!(&error, Error::Store(StoreError::Withheld(content)) if content.cause == WithheldCause::Purged),
            "{error:?}"
        );
        let shown = store.show(two).await.unwrap();
        assert_eq!(shown.annotations.summary.unwrap().as_str(), "[purged: asked for]");
        let kinds: Vec<JournalKind> = journal(&store).await.into_iter().map(|record| record.kind).collect();
        for kind in [
            JournalKind::ArtifactWithheld,
            JournalKind::AnnotationWithheld,
            JournalKind::Event(EventKind::RedactionApplied),
        ] {
            assert!(kinds.contains(&kind), "{kind:?}");
        }
        assert_sound(&store).await;
        assert_eq!(store.erase_purged().await.unwrap(), Erasure::Complete);
        assert_sound(&store).await;
    }
}

pub async fn the_same_bytes_do_not_bring_purged_content_back<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for len in [40, LARGE] {
        let content = noise("comes again", len);
        let id = stored(&store, content.as_bytes()).await;
        purge(&store, PurgeTarget::Artifact(id)).await;
        assert_eq!(stored(&store, content.as_bytes()).await, id);
        let commit = write("text", content.clone()).commit(&store).await;
        let (bytes, _) = materialized(&store, commit, Stop::Root).await;
        assert!(bytes.is_empty(), "{len} bytes");
        assert_sound(&store).await;
    }
}

pub async fn a_bundle_does_not_bring_purged_content_back<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let small = write("text", noise("small", 40)).commit(&store).await;
    let large = write("text", noise("large", LARGE)).after(small).summary("what it says").commit(&store).await;
    let bundle = exported(&store, &[large], &[]).await;
    for commit in [small, large] {
        purge(&store, PurgeTarget::Commit(commit)).await;
    }
    let summary = store.import_bundle(std::io::Cursor::new(bundle)).await.unwrap();
    assert_eq!((summary.purged_artifacts, summary.new_commits, summary.new_annotations), (2, 0, 0));
    let (bytes, _) = materialized(&store, large, Stop::Root).await;
    assert!(bytes.is_empty());
    assert_sound(&store).await;
}

pub async fn an_import_tells_of_purged_content_that_stays_so<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (first, copy) = (ImportedTranscript::new("one"), ImportedTranscript::new("other"));
    for transcript in [&first, &copy] {
        transcript.user("u1", "", "what goes").assistant("a1", "u1", &noise("an image", LARGE));
        transcript.user("u2", "a1", "what stays").assistant("a2", "u2", "so it is");
    }
    let taken = import(&store, &first).await;
    assert_eq!((taken.new_commits, taken.purged_artifacts), (2, 0));
    let tip = store.show(taken.tip.unwrap()).await.unwrap();
    purge(&store, PurgeTarget::Commit(tip.commit.parent.unwrap())).await;
    let again = import(&store, &copy).await;
    assert_eq!((again.known_commits, again.purged_artifacts), (2, 1));
    let other = import(&store, ImportedTranscript::new("third").user("u9", "", "something else")).await;
    assert_eq!((other.new_commits, other.purged_artifacts), (1, 0));
    assert_sound(&store).await;
}

pub async fn a_purged_secret_leaves_what_surrounds_it<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (rule, fingerprint) = (RuleId::new("test").unwrap(), Fingerprint::from_bytes([7; 8]));
    for len in [100, LARGE] {
        let (before, secret) = (noise("before", len), format!("hush-{len}-{}", noise("value", 20)));
        let content = format!("{before}{secret}after\n");
        let commit = write("text", content.clone()).summary(&format!("uses {secret}")).commit(&store).await;
        let other = write("text", format!("quotes {secret}\n")).after(commit).commit(&store).await;
        let (start, length) = (before.len() as u64, secret.len() as u64);
        let found = SecretFinding { start, length, rule: rule.clone(), fingerprint, cover: SecretCover::Named };
        let shown = found.placeholder();
        let finding = (ArtifactId::of(content.as_bytes()), found);
        let writing = store.store().write(store.scope(), finding, |tx, (id, found)| {
            async move { finding::add(tx, id, std::slice::from_ref(found)).await }.boxed()
        });
        writing.await.unwrap();
        let plan = purge(&store, PurgeTarget::Secret(fingerprint)).await;
        assert_eq!((plan.masked_artifacts, plan.annotations), (2, 1), "{plan:?}");
        let (bytes, report) = materialized(&store, other, Stop::Root).await;
        assert!(bytes == format!("{before}{shown}after\nquotes {shown}\n").as_bytes(), "{len} bytes");
        assert!(report.losses.iter().all(|loss| loss.kind == LossKind::PartWithheld) && report.losses.len() == 2);
        let summary = store.show(commit).await.unwrap().annotations.summary.unwrap();
        assert_eq!(summary.as_str(), format!("uses {shown}"));
        assert_sound(&store).await;
    }
}

pub async fn what_did_not_come_along_is_taken_in_when_it_comes<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for len in [40, LARGE] {
        let content = noise("left out", len);
        let (id, substitute) = (ArtifactId::of(content.as_bytes()), stored(&store, b"shown instead").await);
        let left_out = LeftOut { id, size: len as u64, reason: "masked".to_owned(), substitute: Some(substitute) };
        let leaving =
            store.store().write(store.scope(), left_out, |tx, left_out| artifact::leave_out(tx, left_out).boxed());
        leaving.await.unwrap();
        assert_eq!(read(&store, id).await, b"shown instead");
        let content_of = store.withheld_artifact(id).await.unwrap().unwrap();
        assert_eq!((content_of.cause, content_of.is_partial), (WithheldCause::LeftOut, true));
        assert_sound(&store).await;
        if len == LARGE {
            stored(&store, content.as_bytes()).await;
        } else {
            let hot = Hot::encode(content.clone().into_bytes());
            let bringing = store.store().write(store.scope(), hot, |tx, hot| {
                async move { artifact::ensure_all(tx, std::slice::from_ref(hot)).await }.boxed()
            });
            bringing.await.unwrap();
        }
        assert!(read(&store, id).await == content.as_bytes(), "{len} bytes");
        assert_eq!(store.withheld_artifact(id).await.unwrap(), None);
        assert_sound(&store).await;
    }
}
