//! Bundles without the secrets: ids stay, what is shown has placeholders, and exact content may come later.

use std::io;

use contexture::{BundleProblem, Contexture, Error, FrameProblem, ImportSummary, PurgeTarget, Stop, WithheldCause};
use contexture_core::{ArtifactId, CommitId, SecretFinding, SpaceName};
use contexture_store::finding;
use futures_util::FutureExt as _;

use crate::{Backend, Harness, artifact, assert_sound, exported, head, materialized, noise, write};

/// Larger than a row.
const LARGE: usize = 1024 * 1024;

/// A secret, made of pieces so that nothing here looks like one.
fn canary() -> String {
    ["AK", "IA", "Q3EGRZ7JW5M2XK4T"].concat()
}

async fn import(store: &Contexture, bundle: &[u8]) -> Result<ImportSummary, Error> {
    store.import_bundle(io::Cursor::new(bundle.to_vec())).await
}

/// Makes a small commit and a large one, each with a secret, and one without.
async fn chain(store: &Contexture) -> [CommitId; 3] {
    let small = write("text", format!("the key is {} here\n", canary())).onto("main").commit(store).await;
    let large = format!("{}\nthe key is {} here\n", noise("large", LARGE), canary());
    let large = write("text", large).onto("main").commit(store).await;
    let plain = write("text", "nothing to hide\n").onto("main").summary("plain words").commit(store).await;
    [small, large, plain]
}

async fn masked_bundle(store: &Contexture) -> Vec<u8> {
    let mut bundle = Vec::new();
    store.export_masked(&[], &[head("main")], &mut bundle).await.unwrap();
    bundle
}

/// Returns what is in the frames of a bundle.
fn unpacked(bundle: &[u8]) -> Vec<u8> {
    zstd::decode_all(&bundle[8..]).unwrap()
}

fn holds_canary(bytes: &[u8]) -> bool {
    let canary = canary();
    bytes.windows(canary.len()).any(|window| window == canary.as_bytes())
}

async fn found(store: &Contexture, id: ArtifactId) -> Vec<SecretFinding> {
    store.store().read(store.scope(), id, |tx, id| finding::of(tx, id).boxed()).await.unwrap()
}

async fn content(store: &Contexture, commit: CommitId) -> ArtifactId {
    store.show(commit).await.unwrap().commit.artifact
}

async fn sound(store: &Contexture, space: &str) {
    assert_sound(store, &SpaceName::new(space).unwrap()).await;
}

pub async fn a_masked_bundle_keeps_ids_and_holds_no_secret<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    let commits = chain(&here).await;
    let refused = here.export(&[], &[head("main")], &mut Vec::new()).await.unwrap_err();
    assert!(matches!(refused, Error::SecretsInside { secrets: 1 }), "{refused:?}");
    let bundle = masked_bundle(&here).await;
    assert_eq!(bundle[7], 3);
    assert!(!holds_canary(&unpacked(&bundle)));
    let summary = import(&there, &bundle).await.unwrap();
    assert_eq!((summary.new_commits, summary.left_out_artifacts), (3, 2));
    assert_eq!(there.head(&head("main")).await.unwrap(), Some(commits[2]));
    let (shown, _) = materialized(&here, commits[2], Stop::Root).await;
    let exact = there.exact().await.unwrap();
    for handle in [&there, &exact] {
        let (bytes, report) = materialized(handle, commits[2], Stop::Root).await;
        assert!(bytes == shown && !holds_canary(&bytes));
        assert_eq!(report.losses.len(), 2, "it says that originals did not come along: {:?}", report.losses);
    }
    for commit in &commits[..2] {
        let withheld = there.withheld_artifact(content(&there, *commit).await).await.unwrap().unwrap();
        assert_eq!((withheld.cause, withheld.is_partial), (WithheldCause::LeftOut, true));
    }
    assert_eq!(there.secrets().list(None, 10).await.unwrap().len(), 1);
    sound(&there, "there").await;
    // It goes on from there as it came.
    let onwards = harness.open_as("eve", "onwards").await;
    let again = exported(&there, &[], &[head("main")]).await;
    assert_eq!(import(&onwards, &again).await.unwrap(), ImportSummary { moved_heads: vec![head("main")], ..summary });
    assert!(materialized(&onwards, commits[2], Stop::Root).await.0 == shown);
    sound(&onwards, "onwards").await;
}

pub async fn what_was_purged_travels_as_what_it_is<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    let one = write("text", "one\n").onto("main").commit(&here).await;
    let two = write("text", "two\n").onto("main").commit(&here).await;
    here.purge(&PurgeTarget::Commit(one), "asked for", &mut |_| {}).await.unwrap();
    let summary = import(&there, &exported(&here, &[], &[head("main")]).await).await.unwrap();
    assert_eq!((summary.new_commits, summary.left_out_artifacts), (2, 1));
    let withheld = there.withheld_artifact(content(&there, one).await).await.unwrap().unwrap();
    assert_eq!(
        (withheld.cause, withheld.reason.as_str(), withheld.is_partial),
        (WithheldCause::LeftOut, "asked for", false)
    );
    assert_eq!(materialized(&there, two, Stop::Root).await.0, b"two\n");
    sound(&there, "there").await;
}

pub async fn exact_content_that_comes_later_is_taken_in_and_looked_through<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    let commits = chain(&here).await;
    import(&there, &masked_bundle(&here).await).await.unwrap();
    let exact = here.exact().await.unwrap();
    import(&there, &exported(&exact, &[], &[head("main")]).await).await.unwrap();
    for commit in &commits[..2] {
        let id = content(&there, *commit).await;
        assert_eq!(there.withheld_artifact(id).await.unwrap(), None);
        assert_eq!(found(&there, id).await.len(), 1);
        assert!(!holds_canary(&artifact(&there, id).await));
        assert!(artifact(&there.exact().await.unwrap(), id).await == artifact(&exact, id).await);
    }
    sound(&there, "there").await;
}

pub async fn exact_content_that_is_checked_in_is_taken_in_as_well<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    let commits = chain(&here).await;
    import(&there, &masked_bundle(&here).await).await.unwrap();
    let exact = here.exact().await.unwrap();
    for commit in &commits[..2] {
        let id = content(&there, *commit).await;
        let original = artifact(&exact, id).await;
        write("text", original.clone()).onto("again").commit(&there).await;
        assert_eq!(there.withheld_artifact(id).await.unwrap(), None, "{} bytes", original.len());
        assert_eq!(found(&there, id).await.len(), 1);
        assert!(artifact(&there.exact().await.unwrap(), id).await == original);
    }
    sound(&there, "there").await;
}

pub async fn what_is_here_stays_exact<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let here = harness.open_as("ada", "here").await;
    let commits = chain(&here).await;
    let before = here.journal_tip().await.unwrap();
    let summary = import(&here, &masked_bundle(&here).await).await.unwrap();
    assert_eq!(summary.new_commits, 0);
    let exact = here.exact().await.unwrap();
    assert!(holds_canary(&materialized(&exact, commits[2], Stop::Root).await.0));
    assert!(here.journal_tip().await.unwrap() >= before);
    sound(&here, "here").await;
}

pub async fn what_a_bundle_brings_is_looked_through<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    let commits = chain(&here).await;
    let bundle = exported(&here.exact().await.unwrap(), &[], &[head("main")]).await;
    for _ in 0..2 {
        import(&there, &bundle).await.unwrap();
        for commit in &commits[..2] {
            assert_eq!(found(&there, content(&there, *commit).await).await.len(), 1);
        }
        assert!(!holds_canary(&materialized(&there, commits[2], Stop::Root).await.0));
    }
    let exact = there.exact().await.unwrap();
    assert!(holds_canary(&materialized(&exact, commits[2], Stop::Root).await.0));
    sound(&there, "there").await;
}

/// Makes a bundle of version 3 of frames.
fn sealed(frames: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut stream = Vec::new();
    let mut write = |kind: u8, payload: &[u8]| {
        stream.push(kind);
        stream.extend_from_slice(&u32::try_from(payload.len()).unwrap().to_le_bytes());
        stream.extend_from_slice(payload);
        *blake3::hash(&stream).as_bytes()
    };
    let mut digest = *blake3::hash(b"").as_bytes();
    for (kind, payload) in frames {
        digest = write(*kind, payload);
    }
    write(b'e', &digest);
    [b"CTXBNDL\x03".as_slice(), &zstd::encode_all(stream.as_slice(), 1).unwrap()].concat()
}

fn whole(content: &[u8]) -> [(u8, Vec<u8>); 2] {
    let start = [ArtifactId::of(content).as_bytes().as_slice(), &(content.len() as u64).to_le_bytes()].concat();
    [(b'a', start), (b'b', content.to_vec())]
}

fn placeholder(start: u64, length: u64) -> String {
    format!(r#"{{"start":{start},"length":{length},"rule":"test","fingerprint":"0707070707070707","cover":"named"}}"#)
}

pub async fn what_a_bundle_says_of_placeholders_is_proved<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let content = b"a [secret:test:0707070707070707] and more".to_vec();
    let mine = crate::stored(&store, b"words that somebody wants hidden").await;
    let true_one = (b'f', format!("[{}]", placeholder(2, 30)).into_bytes());
    let [start, bytes] = whole(&content);
    for (lies, refused) in [
        (format!("[{}]", placeholder(0, 30)), "where it is not"),
        (format!("[{}]", placeholder(2, 39)), "more than there is"),
        (format!("[{}]", placeholder(2, 3_000_000)), "behind the end"),
        (format!("[{}]", placeholder(2, u64::MAX)), "no number"),
        (format!("[{},{}]", placeholder(2, 30), placeholder(2, 30)), "twice"),
    ] {
        let lying = sealed(&[(b'f', lies.into_bytes()), start.clone(), bytes.clone()]);
        let error = import(&store, &lying).await.unwrap_err();
        let is_told = matches!(error, Error::Bundle { problem: BundleProblem::Frame(FrameProblem::Placeholders) });
        assert!(is_told, "{refused}: {error:?}");
    }
    let [start_of_mine, bytes_of_mine] = whole(b"words that somebody wants hidden");
    let lying = sealed(&[(b'f', format!("[{}]", placeholder(0, 32)).into_bytes()), start_of_mine, bytes_of_mine]);
    import(&store, &lying).await.unwrap_err();
    assert_eq!(artifact(&store, mine).await, b"words that somebody wants hidden");
    let stray = sealed(&[true_one.clone(), (b'h', br#"{"name":"main","commit":"ctx-00"}"#.to_vec())]);
    import(&store, &stray).await.unwrap_err();
    // A size that is not true harms nobody: content that comes brings its own.
    let original = b"the original";
    let left_out = |size: u64| {
        let (id, substitute) = (ArtifactId::of(original), ArtifactId::of(&content));
        let json = format!(r#"{{"artifact":"{id}","size":{size},"reason":"r","substitute":"{substitute}"}}"#);
        (b'l', json.into_bytes())
    };
    import(&store, &sealed(&[left_out(u64::MAX)])).await.unwrap_err();
    import(&store, &sealed(&[left_out(7)])).await.unwrap_err();
    let summary = import(&store, &sealed(&[true_one, start, bytes, left_out(7)])).await.unwrap();
    assert_eq!(summary.left_out_artifacts, 1);
    assert_eq!(artifact(&store, ArtifactId::of(original)).await, content);
    import(&store, &sealed(&whole(original))).await.unwrap();
    assert_eq!(artifact(&store, ArtifactId::of(original)).await, original);
    sound(&store, "default").await;
}
