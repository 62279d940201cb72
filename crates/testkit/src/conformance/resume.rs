//! Chains become sessions that a runtime goes on with, and what it adds goes onto the chain.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use contexture::{
    Compaction, Contexture, LogStart, Stop, Tier,
    formats::{Dialogue, NativePrefix, Target, appender, encoder},
};
use contexture_capture::{Capture, Homes, ImportSettings, ResumeRequest, ResumedSession, Runtime, Verified};
use contexture_core::{CommitId, Entry, EntryPart, Format, HeadName, Machine, Principal, Provenance, Role};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Backend, Harness, head, materialized, walked, write};

const SESSION: &str = "5f0c8a52-6a55-4b0e-9f38-3a1f0d5b7c11";

/// A machine with the homes of all runtimes.
struct ResumeDesk {
    directory: TempDir,
}

impl ResumeDesk {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn homes(&self) -> Homes {
        let home = |name: &str| self.directory.path().join(name);
        Homes::default()
            .with(Runtime::CLAUDE_CODE, home("claude"))
            .with(Runtime::CODEX, home("codex"))
            .with(Runtime::GEMINI, home("gemini"))
            .with(Runtime::PI, home("pi"))
    }

    /// Writes a session of Claude Code with two turns and takes it in. Returns its bytes and the last commit.
    async fn session(&self, store: &Contexture) -> (String, CommitId) {
        let path = self.directory.path().join("old.jsonl");
        let text =
            [line("user", "u1", "", "Go"), line("assistant", "a1", "u1", "Gone"), line("user", "u2", "a1", "On")];
        fs::write(&path, text.concat()).unwrap();
        import(store, &path, Runtime::CLAUDE_CODE).await;
        (text.concat(), store.head(&head("session/old")).await.unwrap().unwrap())
    }

    async fn resume(
        &self,
        store: &Contexture,
        commit: CommitId,
        name: Option<HeadName>,
        runtime: Runtime,
    ) -> ResumedSession {
        let directory = PathBuf::from("/home/ada/project");
        let session = SESSION.parse().unwrap();
        let request = ResumeRequest { commit, head: name, runtime, session, directory, arguments: Vec::new() };
        Capture::new(store).resume(&request, &self.homes(), &settings(runtime)).await.unwrap()
    }
}

/// A line of Claude Code.
fn line(kind: &str, uuid: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    let content = match kind {
        "user" => format!("\"{text}\""),
        _ => format!(r#"[{{"type":"text","text":"{text}"}}]"#),
    };
    format!(
        r#"{{"type":"{kind}","uuid":"{uuid}", "parentUuid":{parent},"sessionId":"old","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/home/ada/project","message":{{"role":"{kind}","content":{content}}}}}"#
    ) + "\n"
}

fn settings(runtime: Runtime) -> ImportSettings {
    ImportSettings {
        principal: Principal::new("ada@laptop").ok(),
        ..ImportSettings::new(Machine::new("laptop").unwrap(), runtime.as_str())
    }
}

async fn import(store: &Contexture, path: &Path, runtime: Runtime) -> u64 {
    let imported = Capture::new(store).import_session(path, runtime.format(), &settings(runtime), &mut |_| {}).await;
    imported.unwrap().new_commits
}

fn append(path: &Path, text: &str) {
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

pub async fn a_session_in_its_own_runtime_has_another_id_and_nothing_else<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (store, desk) = (harness.open().await, ResumeDesk::new());
    let (text, tip) = desk.session(&store).await;
    let resumed = desk.resume(&store, tip, None, Runtime::CLAUDE_CODE).await;
    assert_eq!(resumed.report.tier, Tier::Native);
    assert_eq!(fs::read_to_string(&resumed.path).unwrap(), text.replace(r#""old""#, &format!("\"{SESSION}\"")));
    let place = format!("claude/projects/-home-ada-project/{SESSION}.jsonl");
    assert_eq!(resumed.path, desk.directory.path().join(place));
    assert_eq!(fs::read_to_string(desk.directory.path().join("old.jsonl")).unwrap(), text);
    let stray = fs::read_dir(resumed.path.parent().unwrap()).unwrap().count();
    assert_eq!(stray, 1, "nothing else is left beside it");
}

pub async fn a_session_that_is_there_is_not_touched<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (store, desk) = (harness.open().await, ResumeDesk::new());
    let (_, tip) = desk.session(&store).await;
    let resumed = desk.resume(&store, tip, None, Runtime::CLAUDE_CODE).await;
    fs::write(&resumed.path, "mine").unwrap();
    let request = ResumeRequest {
        commit: tip,
        head: None,
        runtime: Runtime::CLAUDE_CODE,
        session: SESSION.parse().unwrap(),
        directory: "/home/ada/project".into(),
        arguments: Vec::new(),
    };
    Capture::new(&store).resume(&request, &desk.homes(), &settings(Runtime::CLAUDE_CODE)).await.unwrap_err();
    assert_eq!(fs::read_to_string(&resumed.path).unwrap(), "mine");
}

pub async fn what_a_resumed_session_adds_goes_onto_the_chain<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (store, desk) = (harness.open().await, ResumeDesk::new());
    let (_, tip) = desk.session(&store).await;
    store.fork(tip, &head("try")).await.unwrap();
    let resumed = desk.resume(&store, tip, Some(head("try")), Runtime::CLAUDE_CODE).await;
    assert_eq!(import(&store, &resumed.path, Runtime::CLAUDE_CODE).await, 0, "what was written is known");
    // The runtime notes something before the turn; that is no turn of its own.
    let note = format!("{{\"type\":\"mode\",\"sessionId\":\"{SESSION}\"}}\n");
    append(&resumed.path, &(note + &line("user", "u3", "u2", "Further") + &line("assistant", "a3", "u3", "Far")));
    assert_eq!(import(&store, &resumed.path, Runtime::CLAUDE_CODE).await, 1);
    let new = store.head(&head("try")).await.unwrap().unwrap();
    assert_eq!(store.show(new).await.unwrap().commit.parent, Some(tip));
    assert_eq!(store.head(&head(&format!("session/{SESSION}"))).await.unwrap(), Some(new));
    assert_eq!(store.head(&head("session/old")).await.unwrap(), Some(tip), "the origin stays where it is");
    let verified =
        Capture::new(&store).verify_source(&settings(Runtime::CLAUDE_CODE).machine, &resumed.path).await.unwrap();
    assert!(matches!(verified, Verified::Same { left: 0, .. }), "{verified:?}");
    // Going back to the first turn of the written part starts a branch there.
    append(&resumed.path, &line("user", "u4", "a1", "Otherwise"));
    assert_eq!(import(&store, &resumed.path, Runtime::CLAUDE_CODE).await, 1);
    let branch = store.head(&head(&format!("session/{SESSION}"))).await.unwrap().unwrap();
    let chain = walked(&store, LogStart::Commits(vec![tip])).await;
    assert_eq!(store.show(branch).await.unwrap().commit.parent, Some(chain[1]));
    assert_eq!(store.head(&head("try")).await.unwrap(), Some(new));
}

pub async fn going_back_in_a_resumed_session_branches_at_that_turn<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (store, desk) = (harness.open().await, ResumeDesk::new());
    let (_, second) = desk.session(&store).await;
    append(
        &desk.directory.path().join("old.jsonl"),
        &(line("user", "u3", "u2", "Yet") + &line("user", "u4", "u3", "Too")),
    );
    assert_eq!(import(&store, &desk.directory.path().join("old.jsonl"), Runtime::CLAUDE_CODE).await, 2);
    let tip = store.head(&head("session/old")).await.unwrap().unwrap();
    let resumed = desk.resume(&store, tip, None, Runtime::CLAUDE_CODE).await;
    append(&resumed.path, &line("user", "u5", "u2", "Otherwise"));
    assert_eq!(import(&store, &resumed.path, Runtime::CLAUDE_CODE).await, 1);
    let branch = store.head(&head(&format!("session/{SESSION}"))).await.unwrap().unwrap();
    assert_eq!(store.show(branch).await.unwrap().commit.parent, Some(second));
}

pub async fn a_head_that_somebody_else_has_moved_does_not_follow<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (store, desk) = (harness.open().await, ResumeDesk::new());
    let (_, tip) = desk.session(&store).await;
    store.fork(tip, &head("try")).await.unwrap();
    let resumed = desk.resume(&store, tip, Some(head("try")), Runtime::CLAUDE_CODE).await;
    let elsewhere = walked(&store, LogStart::Commits(vec![tip])).await[1];
    store.set_head(&head("try"), elsewhere, contexture::Expect::Anything).await.unwrap();
    append(&resumed.path, &line("user", "u3", "u2", "Further"));
    assert_eq!(import(&store, &resumed.path, Runtime::CLAUDE_CODE).await, 1);
    assert_eq!(store.head(&head("try")).await.unwrap(), Some(elsewhere));
    let own = store.head(&head(&format!("session/{SESSION}"))).await.unwrap().unwrap();
    assert_eq!(store.show(own).await.unwrap().commit.parent, Some(tip));
}

pub async fn a_session_in_another_runtime_goes_on_with_the_same_chain<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (store, desk) = (harness.open().await, ResumeDesk::new());
    let (_, tip) = desk.session(&store).await;
    for runtime in [Runtime::CODEX, Runtime::GEMINI, Runtime::PI] {
        let resumed = desk.resume(&store, tip, None, runtime).await;
        assert_eq!(resumed.report.tier, Tier::Mapped);
        let text = fs::read_to_string(&resumed.path).unwrap();
        assert!(text.contains("Gone") && text.contains(SESSION), "{runtime}: {text}");
        assert_eq!(import(&store, &resumed.path, runtime).await, 0, "{runtime}");
        let (written, _) = materialized(&store, tip, Stop::Root).await;
        assert!(!written.is_empty());
    }
    // Gemini CLI knows a project by a mark beside its sessions.
    let mark = fs::read_to_string(desk.directory.path().join("gemini/tmp/project/.project_root")).unwrap();
    assert_eq!(mark, "/home/ada/project");
}

/// Describes a session of a runtime.
fn target(session: &str) -> Target {
    Target {
        session: session.to_owned(),
        directory: "/home/ada/project".into(),
        branch: None,
        version: None,
        model: None,
        provider: Some("openai".to_owned()),
        title: None,
        now: "2026-01-02T03:04:05Z".parse().unwrap(),
    }
}

fn said(role: Role, text: &str) -> Entry {
    Entry::new(role, vec![EntryPart::text(text)])
}

/// Returns what a runtime adds to a session when somebody asks something.
fn more(runtime: Runtime, session: &[u8], question: &str) -> String {
    let format = runtime.format();
    let mut lead = NativePrefix::default();
    lead.follow(&format, session);
    let asked = Dialogue::going_on(vec![said(Role::User, question), said(Role::Assistant, "Indeed")]);
    let added = appender(&format).unwrap().append(&asked, &target(question), &lead).bytes;
    String::from_utf8(added).unwrap()
}

/// Returns what a runtime adds to a session when somebody takes back all from a place on, and asks something else.
fn otherwise(runtime: Runtime, session: &[u8], place: usize, turns: u64) -> String {
    let mut asked = more(runtime, &session[..place], "Otherwise?");
    // Those that are not named here name the record that comes before.
    if runtime == Runtime::CODEX {
        let event = json!({"type": "thread_rolled_back", "num_turns": turns});
        let event = json!({"timestamp": "2026-01-02T03:04:06Z", "type": "event_msg", "payload": event});
        asked.insert_str(0, &format!("{event}\n"));
    } else if runtime == Runtime::GEMINI {
        let next: Value =
            serde_json::from_slice(session[place..].split(|byte| *byte == b'\n').next().unwrap()).unwrap();
        asked.insert_str(0, &format!("{}\n", json!({"$rewindTo": next["id"]})));
    }
    asked
}

pub async fn a_session_that_went_on_elsewhere_comes_back_to_its_own_records<B: Backend>() {
    for runtime in [Runtime::CLAUDE_CODE, Runtime::CODEX, Runtime::GEMINI, Runtime::PI] {
        // No two sessions of a store have one id.
        let harness = Harness::<B>::new().await;
        let (store, desk) = (harness.open().await, ResumeDesk::new());
        let (old, format) = ("0190f0e2-0000-7222-8333-444455556666", runtime.format());
        let path = desk.directory.path().join(format!("{runtime}-{old}.jsonl"));
        let turns = ["Go", "On"].map(|question| vec![said(Role::User, question), said(Role::Assistant, "Well")]);
        let written = encoder(&format).unwrap().encode(&Dialogue::of(turns.concat()), &target(old)).bytes;
        fs::write(&path, &written).unwrap();
        assert_eq!(import(&store, &path, runtime).await, 2, "{runtime}");
        let tip = store.head(&head(&format!("session/{old}"))).await.unwrap().unwrap();
        let away = r#"[{"role":"user","content":"Sure?"},{"role":"assistant","content":"Sure."}]"#;
        let away = write("openai-chat-v1", away).after(tip).commit(&store).await;
        let name = head(&format!("try/{runtime}"));
        store.fork(away, &name).await.unwrap();
        let resumed = desk.resume(&store, away, Some(name.clone()), runtime).await;
        let tiers: Vec<_> = resumed.report.segments.iter().map(|segment| (segment.commits, segment.tier)).collect();
        assert_eq!(tiers, [(2, Tier::Native), (1, Tier::Mapped)], "{runtime}");
        let session = fs::read(&resumed.path).unwrap();
        let own = String::from_utf8(written).unwrap().replace(old, SESSION);
        assert!(session.starts_with(own.as_bytes()), "{runtime}: {}", String::from_utf8_lossy(&session));
        assert!(String::from_utf8_lossy(&session[own.len()..]).contains("Sure."), "{runtime}");
        assert_eq!(import(&store, &resumed.path, runtime).await, 0, "{runtime}: what was written is known");
        append(&resumed.path, &more(runtime, &session, "Further?"));
        assert_eq!(import(&store, &resumed.path, runtime).await, 1, "{runtime}");
        let new = store.head(&name).await.unwrap().unwrap();
        assert_eq!(store.show(new).await.unwrap().commit.parent, Some(away), "{runtime}");
        // What was said elsewhere is taken back, and with it what followed.
        append(&resumed.path, &otherwise(runtime, &session, own.len(), 2));
        assert!(import(&store, &resumed.path, runtime).await > 0, "{runtime}");
        let branch = store.head(&head(&format!("session/{SESSION}"))).await.unwrap().unwrap();
        let chain = walked(&store, LogStart::Commits(vec![branch])).await;
        assert!(chain.contains(&tip) && !chain.contains(&away), "{runtime}: {chain:?}");
        assert_eq!(store.head(&name).await.unwrap(), Some(new), "{runtime}");
        let verified = Capture::new(&store).verify_source(&settings(runtime).machine, &resumed.path).await.unwrap();
        assert!(matches!(verified, Verified::Same { left: 0, .. }), "{runtime}: {verified:?}");
    }
}

pub async fn its_own_compaction_stays_in_a_session_that_went_on_elsewhere<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (store, desk) = (harness.open().await, ResumeDesk::new());
    let (text, _) = desk.session(&store).await;
    let boundary = r#"{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null,"sessionId":"old"}"#;
    let summary = line("user", "s1", "b1", "In short")
        .replace("\"type\":\"user\"", "\"isCompactSummary\":true,\"type\":\"user\"");
    let compacted = format!("{boundary}\n{summary}{}", line("assistant", "a3", "s1", "Right"));
    append(&desk.directory.path().join("old.jsonl"), &compacted);
    import(&store, &desk.directory.path().join("old.jsonl"), Runtime::CLAUDE_CODE).await;
    let tip = store.head(&head("session/old")).await.unwrap().unwrap();
    let away = write("openai-chat-v1", r#"[{"role":"user","content":"Sure?"}]"#).after(tip).commit(&store).await;
    let resumed = desk.resume(&store, away, None, Runtime::CLAUDE_CODE).await;
    let written = fs::read_to_string(&resumed.path).unwrap();
    let own = (text + &compacted).replace(r#""old""#, &format!("\"{SESSION}\""));
    assert!(written.starts_with(&own), "{written}");
    assert_eq!(resumed.report.segments[0].tier, Tier::Native);
    assert!(written[own.len()..].contains(r#""parentUuid":"a3""#), "{written}");
    // A summary that comes after it takes its place.
    let short = Compaction {
        commit: away,
        summary: b"All went well.".to_vec(),
        format: Format::new("text").ok(),
        losses: Vec::new(),
        provenance: Provenance::default(),
        head: None,
        annotations: Vec::new(),
    };
    let short = store.compact(short).await.unwrap();
    fs::remove_file(&resumed.path).unwrap();
    let resumed = desk.resume(&store, short.id, None, Runtime::CLAUDE_CODE).await;
    let written = fs::read_to_string(&resumed.path).unwrap();
    assert!(written.contains("All went well.") && !written.contains("Gone"), "{written}");
}

pub async fn a_summary_of_ours_is_where_a_session_begins<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (store, desk) = (harness.open().await, ResumeDesk::new());
    let (_, tip) = desk.session(&store).await;
    let summary = Compaction {
        commit: tip,
        summary: b"All went well.".to_vec(),
        format: Format::new("text").ok(),
        losses: Vec::new(),
        provenance: Provenance::default(),
        head: None,
        annotations: Vec::new(),
    };
    let short = store.compact(summary).await.unwrap();
    let resumed = desk.resume(&store, short.id, None, Runtime::CLAUDE_CODE).await;
    assert_eq!(resumed.report.tier, Tier::Mapped);
    let text = fs::read_to_string(&resumed.path).unwrap();
    assert!(text.contains("All went well.") && !text.contains("Gone"), "{text}");
}

pub async fn a_file_in_which_nobody_speaks_does_not_stand_for_its_session<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (store, desk) = (harness.open().await, ResumeDesk::new());
    let header = "{\"sessionId\":\"g\",\"projectHash\":\"h\",\"startTime\":\"2026-01-02T03:04:05.000Z\"}\n";
    let asked = r#"{"id":"u1","timestamp":"2026-01-02T03:04:05.000Z","type":"user","content":[{"text":"Go"}]}"#;
    let (whole, stub) = (desk.directory.path().join("a.jsonl"), desk.directory.path().join("b.jsonl"));
    fs::write(&whole, format!("{header}{asked}\n")).unwrap();
    fs::write(&stub, header).unwrap();
    import(&store, &whole, Runtime::GEMINI).await;
    let tip = store.head(&head("session/g")).await.unwrap();
    import(&store, &stub, Runtime::GEMINI).await;
    assert_eq!(store.head(&head("session/g")).await.unwrap(), tip);
    let format = Format::new("gemini-v1").unwrap();
    assert_eq!(store.show(tip.unwrap()).await.unwrap().commit.format, format);
}

pub async fn a_session_in_a_shape_that_its_runtime_no_longer_reads_is_written_anew<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (store, desk) = (harness.open().await, ResumeDesk::new());
    let old = "0190f0e2-0000-7222-8333-444455556666";
    let asked = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Go"}]}"#;
    let head = format!(r#"{{"id":"{old}","timestamp":"2025-05-01T10:00:00.000Z","instructions":null}}"#);
    let path = desk.directory.path().join(format!("rollout-2025-05-01T10-00-00-{old}.jsonl"));
    fs::write(&path, format!("{head}\n{asked}\n")).unwrap();
    import(&store, &path, Runtime::CODEX).await;
    let name = HeadName::new(format!("session/{old}")).unwrap();
    let tip = store.head(&name).await.unwrap().unwrap();
    let resumed = desk.resume(&store, tip, None, Runtime::CODEX).await;
    assert_eq!(resumed.report.tier, Tier::Mapped);
    let written = fs::read_to_string(&resumed.path).unwrap();
    let first: Value = serde_json::from_str(written.lines().next().unwrap()).unwrap();
    assert_eq!((&first["type"], &first["payload"]["id"]), (&json!("session_meta"), &json!(SESSION)));
    assert!(written.contains("Go"), "{written}");
}

pub async fn what_a_runtime_tells_its_model_of_itself_stays_in_it<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (store, desk) = (harness.open().await, ResumeDesk::new());
    let message = |role: &str, texts: &[&str]| {
        let content: Vec<Value> = texts.iter().map(|text| json!({"type": "input_text", "text": text})).collect();
        let payload = json!({"type": "message", "role": role, "content": content});
        json!({"timestamp": "2026-01-02T03:04:05.000Z", "type": "response_item", "payload": payload}).to_string() + "\n"
    };
    let lines = [
        message(
            "developer",
            &["<skills_instructions>\nS\n</skills_instructions>", "<tools>\nT\n</tools>", "Be brief."],
        ),
        message("user", &["# AGENTS.md instructions for /w\n\nUse tabs.", "<environment_context>\n<cwd>/w</cwd>"]),
        message("user", &["Go"]),
        message("developer", &["<collaboration_mode>\nPlan\n</collaboration_mode>"]),
    ];
    let tip = write("codex-v1", lines.concat()).commit(&store).await;
    for runtime in [Runtime::CLAUDE_CODE, Runtime::GEMINI, Runtime::PI] {
        let resumed = desk.resume(&store, tip, None, runtime).await;
        let written = fs::read_to_string(&resumed.path).unwrap();
        for note in ["skills_instructions", "\\nT\\n", "environment_context", "Plan"] {
            assert!(!written.contains(note), "{runtime} is told {note}: {written}");
        }
        for said in ["Be brief.", "Use tabs.", "Go"] {
            assert!(written.contains(said), "{runtime} is not told {said}: {written}");
        }
    }
}
