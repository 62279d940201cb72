//! Secrets: what was found in content is hidden from whoever reads it, unless they ask for the exact bytes.

use contexture::{Contexture, Stop};
use contexture_core::{ArtifactId, Fingerprint, JournalKind, RuleId, SecretCover, SecretFinding};
use contexture_store::finding;
use futures_util::FutureExt as _;

use crate::{Backend, Harness, artifact, journal, noise, stored, write};

/// Larger than a row.
const LARGE: usize = 1024 * 1024;

fn found(start: usize, length: usize) -> SecretFinding {
    SecretFinding {
        start: start as u64,
        length: length as u64,
        rule: RuleId::new("test").unwrap(),
        fingerprint: Fingerprint::from_bytes([7; 8]),
        cover: SecretCover::Named,
    }
}

async fn record(store: &Contexture, id: ArtifactId, findings: Vec<SecretFinding>) -> u64 {
    let writing =
        store.store().write(store.scope(), (id, findings), |tx, (id, findings)| finding::add(tx, id, findings).boxed());
    writing.await.unwrap()
}

fn place(number: u64) -> usize {
    usize::try_from(number).unwrap()
}

fn masked(content: &[u8], findings: &[SecretFinding]) -> Vec<u8> {
    let mut shown = Vec::new();
    let mut copied = 0;
    for finding in findings {
        shown.extend_from_slice(&content[copied..place(finding.start)]);
        shown.extend_from_slice(finding.placeholder().as_bytes());
        copied = place(finding.end());
    }
    shown.extend_from_slice(&content[copied..]);
    shown
}

pub async fn what_was_found_in_artifacts_of_any_size_is_hidden<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for len in [1000, LARGE] {
        let content = noise("secret", len).into_bytes();
        let id = stored(&store, &content).await;
        let findings = vec![found(0, 10), found(len / 2, len / 3), found(len - 5, 5)];
        assert_eq!(record(&store, id, findings.clone()).await, 3);
        assert!(artifact(&store, id).await == masked(&content, &findings), "{len} bytes");
        assert!(artifact(&store.exact().await.unwrap(), id).await == content, "{len} bytes");
    }
}

pub async fn what_was_found_in_commits_is_hidden_in_the_conversation<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let mut tip = None;
    let (mut exact, mut shown) = (Vec::new(), Vec::new());
    // More commits than a page has.
    for number in 0..150 {
        let content = format!("{number:03} and a secret\n").into_bytes();
        let draft = write("text", content.clone());
        let draft = match tip {
            Some(parent) => draft.after(parent),
            None => draft,
        };
        tip = Some(draft.commit(&store).await);
        let findings = if number % 7 == 0 { vec![found(10, 6)] } else { Vec::new() };
        record(&store, ArtifactId::of(&content), findings.clone()).await;
        shown.extend(masked(&content, &findings));
        exact.extend(content);
    }
    for (handle, expected) in [(store.masking(), shown), (store.exact().await.unwrap(), exact)] {
        let mut bytes = Vec::new();
        let conversation = handle.materialize(tip, Stop::Root, None).await.unwrap();
        conversation.write_to(&mut bytes).await.unwrap();
        assert!(bytes == expected, "{:?}", handle.disclosure());
    }
}

pub async fn findings_are_recorded_once_and_journaled<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let id = stored(&store, b"a secret").await;
    assert_eq!(record(&store, id, vec![found(2, 6)]).await, 1);
    let before = journal(&store).await;
    let last = before.last().unwrap();
    assert_eq!((last.kind, last.subject.as_str()), (JournalKind::SecretsFound, id.to_string().as_str()));
    assert_eq!(record(&store, id, vec![found(2, 6)]).await, 0);
    assert_eq!(journal(&store).await, before);
}

pub async fn who_reveals_content_is_in_the_journal<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    stored(&store, b"a secret").await;
    let before = journal(&store).await;
    store.record_reveal("main").await.unwrap();
    assert_eq!(journal(&store).await, before);
    store.exact().await.unwrap().record_reveal("main").await.unwrap();
    let after = journal(&store).await;
    let last = after.last().unwrap();
    assert_eq!(
        (after.len(), last.kind, last.subject.as_str()),
        (before.len() + 1, JournalKind::ContentRevealed, "main")
    );
}
