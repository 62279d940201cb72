//! Translations are kept and given again, in bounds, and never where what is shown has changed.

use std::time::Duration;

use contexture::{
    CollectMode, Collection, Contexture, Materialized, PurgeTarget, Stop, Tier, TranslationLoss,
    formats::dialogue::LossKind, stats::RenderingStats,
};
use contexture_core::{ArtifactId, CommitId, Fingerprint, Format, RuleId, SecretCover, SecretFinding};
use contexture_store::{
    finding,
    rendering::{self, Rendering},
};
use futures_util::FutureExt as _;

use crate::{Backend, Harness, noise, write};

const LARGE: usize = 200 << 10;

/// A chat message, and where the words are in it.
fn message(words: &str) -> (String, usize) {
    let opening = r#"[{"role":"user","content":""#;
    (format!("{opening}{words}\"}}]"), opening.len())
}

async fn translated(store: &Contexture, commit: CommitId, stop: Stop, name: &str) -> (Vec<u8>, Materialized) {
    let format = Some(Format::new(name).unwrap());
    let mut bytes = Vec::new();
    let report = store.materialize(Some(commit), stop, format).await.unwrap().write_to(&mut bytes).await.unwrap();
    assert_eq!((report.bytes, report.artifact), (bytes.len() as u64, Some(ArtifactId::of(&bytes))));
    (bytes, report)
}

async fn kept(store: &Contexture) -> RenderingStats {
    store.stats().await.unwrap().renderings
}

/// A chain of two messages, the second of which holds many words.
async fn chain(store: &Contexture) -> (CommitId, CommitId, ArtifactId) {
    let first = write("openai-chat-v1", message("first").0).commit(store).await;
    let (content, _) = message(&noise("words", LARGE));
    let id = ArtifactId::of(content.as_bytes());
    (first, write("openai-chat-v1", content).after(first).commit(store).await, id)
}

pub async fn a_translation_is_made_once<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (first, tip, content) = chain(&store).await;
    let made = translated(&store, tip, Stop::Compaction, "codex-v1").await;
    let stats = kept(&store).await;
    assert_eq!((stats.count, stats.bytes), (1, made.1.bytes));
    assert!(stats.stored_bytes > 0);
    // What is asked for otherwise is something else, and what is small is not kept.
    let others = [
        translated(&store, tip, Stop::Root, "codex-v1").await,
        translated(&store, tip, Stop::At(tip), "codex-v1").await,
        translated(&store, tip, Stop::Compaction, "events-v1").await,
        translated(&store, first, Stop::Compaction, "codex-v1").await,
    ];
    assert_eq!(kept(&store).await.count, 4);
    assert!(others[1].0 != made.0 && others[2].0 != made.0);
    let format = || Some(Format::new("codex-v1").unwrap());
    let rendered = async || {
        let mut bytes = Vec::new();
        let materialization = store.materialize_as(Some(tip), Stop::Root, format(), Tier::Rendered).await.unwrap();
        (materialization.write_to(&mut bytes).await.unwrap(), bytes)
    };
    let told = rendered().await;
    assert_eq!((told.0.tier, kept(&store).await.count), (Tier::Rendered, 5));
    // From now on nothing can be translated any more, only given again, also to another program.
    harness.backend.lose_artifact(content).await;
    let other = harness.open().await;
    for store in [&store, &other] {
        assert_eq!(translated(store, tip, Stop::Compaction, "codex-v1").await, made);
        assert_eq!(translated(store, tip, Stop::At(tip), "codex-v1").await, others[1]);
    }
    assert_eq!(rendered().await, told);
    assert!(store.materialize(Some(tip), Stop::Compaction, Some(Format::new("pi-v1").unwrap())).await.is_err());
}

pub async fn a_purge_takes_the_translations_with_it<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (_, tip, _) = chain(&store).await;
    let (before, _) = translated(&store, tip, Stop::Root, "codex-v1").await;
    store.purge(&PurgeTarget::Commit(tip), "asked for", &mut |_| {}).await.unwrap();
    assert_eq!(kept(&store).await, RenderingStats::default());
    let (after, report) = translated(&store, tip, Stop::Root, "codex-v1").await;
    assert!(after.len() < 10_000 && before.len() > LARGE);
    assert_eq!(report.losses, [TranslationLoss { kind: LossKind::ContentWithheld, count: 1, commit: Some(tip) }]);
    // Who began before the purge does not bring back what it took.
    let late = Rendering::compress(tip, &before, "{}".to_owned(), store.now()).unwrap();
    let begun = store.store().read(store.scope(), (), |tx, ()| rendering::find(tx, &[1; 32]).boxed()).await.unwrap().1;
    let other = write("openai-chat-v1", message("other words").0).commit(&store).await;
    let args = (late.clone(), begun);
    let keep = async |args| {
        let writing = store.store().write(store.scope(), args, |tx, (late, begun): &(Rendering, _)| {
            rendering::keep(tx, &[1; 32], late, *begun).boxed()
        });
        writing.await.unwrap()
    };
    assert!(keep(args.clone()).await, "what others add to the space does not matter");
    store.purge(&PurgeTarget::Commit(other), "asked for", &mut |_| {}).await.unwrap();
    assert!(!keep(args).await && kept(&store).await.count == 0);
}

pub async fn secrets_are_never_taken_from_what_was_kept<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let words = noise("words", LARGE);
    let (content, at) = message(&format!("opensesame {words}"));
    let id = ArtifactId::of(content.as_bytes());
    let tip = write("openai-chat-v1", content).commit(&store).await;
    let shows = |bytes: &[u8]| bytes.windows(10).any(|window| window == b"opensesame");
    let (open, _) = translated(&store, tip, Stop::Root, "pi-v1").await;
    assert!(shows(&open) && kept(&store).await.count == 1);
    // What is found later is hidden from then on.
    let found = SecretFinding {
        start: at as u64,
        length: 10,
        rule: RuleId::new("test").unwrap(),
        fingerprint: Fingerprint::from_bytes([7; 8]),
        cover: SecretCover::Named,
    };
    let finding = store
        .store()
        .write(store.scope(), (id, vec![found]), |tx, (id, findings)| finding::add(tx, id, findings).boxed());
    assert_eq!(finding.await.unwrap(), 1);
    assert_eq!(kept(&store).await.count, 0);
    let masked = translated(&store, tip, Stop::Root, "pi-v1").await;
    assert!(!shows(&masked.0) && kept(&store).await.count == 1);
    // Who may see all is given all, and leaves nothing of it for the others.
    let exact = store.exact().await.unwrap();
    assert!(shows(&translated(&exact, tip, Stop::Root, "pi-v1").await.0));
    assert_eq!(translated(&store, tip, Stop::Root, "pi-v1").await, masked);
    assert_eq!(kept(&store).await.count, 1);
}

pub async fn translations_that_nobody_uses_go<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (_, tip, _) = chain(&store).await;
    let collect = async |mode| {
        let collection = Collection { grace: Duration::from_hours(24), mode };
        store.collect(collection, &mut |_| {}).await.unwrap().renderings
    };
    translated(&store, tip, Stop::Root, "codex-v1").await;
    translated(&store, tip, Stop::Root, "pi-v1").await;
    assert_eq!(collect(CollectMode::Remove).await, 0);
    harness.clock.advance(Duration::from_hours(23));
    translated(&store, tip, Stop::Root, "pi-v1").await;
    harness.clock.advance(Duration::from_hours(2));
    assert_eq!(collect(CollectMode::DryRun).await, 1);
    assert_eq!((collect(CollectMode::Remove).await, kept(&store).await.count), (1, 1));
    // Of many the newest stay.
    let begun = store.store().read(store.scope(), (), |tx, ()| rendering::find(tx, &[1; 32]).boxed()).await.unwrap().1;
    for number in 0..=rendering::MAX_RENDERINGS {
        harness.clock.advance(Duration::from_secs(1));
        let late = Rendering::compress(tip, b"said", "{}".to_owned(), store.now()).unwrap();
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_be_bytes());
        let keeping = store.store().write(store.scope(), (key, late, begun), |tx, (key, late, begun)| {
            rendering::keep(tx, key, late, *begun).boxed()
        });
        assert!(keeping.await.unwrap());
    }
    assert_eq!(kept(&store).await.count, rendering::MAX_RENDERINGS as u64);
    let report = store.fsck(&mut |_| {}).await.unwrap();
    assert_eq!((report.problems, report.checked.renderings), (vec![], rendering::MAX_RENDERINGS as u64));
}
