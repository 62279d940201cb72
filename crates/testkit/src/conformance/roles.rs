//! Roles: the kind of agent that somebody has said one is, in every commit of its session and of what goes on from there.

use std::{fs, path::Path};

use contexture::{Compaction, Contexture, LogStart, Snapshot};
use contexture_capture::{Capture, FileOutcome, ImportSettings, ImportedFile};
use contexture_core::{Annotation, CommitId, Format, LabelKey, Provenance, Template};

use super::import::{ImportedTranscript, settings};
use crate::{Backend, Harness, head, say, text, walked, write};

async fn import(store: &Contexture, path: &Path, role: Option<&str>) -> ImportedFile {
    let settings = ImportSettings { role: role.map(|role| Template::new(role).unwrap()), ..settings() };
    let format = Format::new("claude-code-v1").unwrap();
    Capture::new(store).import_session(path, format, &settings, &mut |_| {}).await.unwrap()
}

/// Returns the templates of a chain, the newest first.
async fn templates(store: &Contexture, tip: CommitId) -> Vec<String> {
    let mut templates = Vec::new();
    for commit in walked(store, LogStart::Commits(vec![tip])).await {
        templates.push(store.show(commit).await.unwrap().commit.provenance.template.unwrap().as_str().to_owned());
    }
    templates
}

async fn tip(store: &Contexture) -> CommitId {
    store.head(&head("session/s-1")).await.unwrap().unwrap()
}

pub async fn a_session_keeps_its_role_until_another_is_named<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    transcript.user("u1", "", "Look at it").assistant("a1", "u1", "It has a race");
    import(&store, &transcript.path(), Some("reviewer")).await;
    let labels = store.show(tip(&store).await).await.unwrap().annotations.labels;
    let agent = labels.iter().find(|(key, _)| key.as_str() == "agent").map(|(_, value)| value.as_str());
    assert_eq!(agent, Some("claude-code/2.1.0"));
    transcript.user("u2", "a1", "Where?").assistant("a2", "u2", "There");
    import(&store, &transcript.path(), None).await;
    assert_eq!(templates(&store, tip(&store).await).await, ["reviewer", "reviewer"]);
    transcript.user("u3", "a2", "Mend it").assistant("a3", "u3", "Done");
    import(&store, &transcript.path(), Some("author")).await;
    assert_eq!(templates(&store, tip(&store).await).await, ["author", "reviewer", "reviewer"]);
}

pub async fn a_session_with_a_role_is_known_wherever_its_file_lies<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1-0c3f0000-0000-4000-8000-000000000000");
    let session = "\"sessionId\":\"0c3f0000-0000-4000-8000-000000000000\"";
    transcript.user("u1", "", "Look at it").assistant("a1", "u1", "It has a race");
    let written = fs::read_to_string(transcript.path()).unwrap().replace("\"sessionId\":\"s-1\"", session);
    fs::write(transcript.path(), &written).unwrap();
    import(&store, &transcript.path(), Some("reviewer")).await;
    let moved = transcript.path().with_file_name("archived-0c3f0000-0000-4000-8000-000000000000.jsonl");
    fs::rename(transcript.path(), &moved).unwrap();
    let again = import(&store, &moved, None).await;
    assert_eq!((again.outcome, again.new_commits, again.known_commits), (FileOutcome::New, 0, 1));
    // One that is written anew is the same agent's.
    fs::write(&moved, written.replace("It has a race", "It has two races")).unwrap();
    let anew = import(&store, &moved, None).await;
    assert_eq!((anew.outcome, anew.new_commits), (FileOutcome::Rewritten, 1));
    assert_eq!(templates(&store, anew.tip.unwrap()).await, ["reviewer"]);
}

pub async fn what_stands_for_a_history_has_its_role<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let mut draft = say("one");
    draft.request.provenance.template = Template::new("reviewer").ok();
    let one = draft.commit(&store).await;
    let compaction = |provenance| Compaction {
        commit: one,
        summary: b"so far".to_vec(),
        format: None,
        losses: Vec::new(),
        provenance,
        head: None,
        annotations: Vec::new(),
    };
    let sum = store.compact(compaction(Provenance::default())).await.unwrap().id;
    let provenance = Provenance { template: Template::new("summarizer").ok(), ..Provenance::default() };
    let other = store.compact(compaction(provenance)).await.unwrap().id;
    let snapshot = Snapshot { commit: sum, provenance: Provenance::default(), head: None, annotations: Vec::new() };
    let whole = store.snapshot(snapshot).await.unwrap().id;
    assert_eq!(templates(&store, whole).await, ["reviewer"; 3]);
    assert_eq!(templates(&store, other).await, ["summarizer", "reviewer"]);
}

pub async fn whoever_goes_on_from_a_commit_has_its_role<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let role = async |template: &str, format: &str, labelled: bool| {
        let mut draft = write(format, "{\"type\":\"x\"}\n").unchecked();
        draft.request.provenance.template = Template::new(template).ok();
        if labelled {
            let key = LabelKey::new("agent").unwrap();
            draft.request.annotations.push(Annotation::Label { key, value: text("my-agent") });
        }
        let commit = draft.commit(&store).await;
        Capture::new(&store).role_at(commit).await.unwrap().map(|role| role.as_str().to_owned())
    };
    assert_eq!(role("reviewer", "claude-code-v1", false).await.as_deref(), Some("reviewer"));
    assert_eq!(role("claude-code/2.1.0", "claude-code-v1", false).await, None);
    // What a program is called is no role of it.
    assert_eq!(role("my-agent", "events-v1", false).await, None);
    assert_eq!(role("reviewer", "events-v1", true).await.as_deref(), Some("reviewer"));
}
