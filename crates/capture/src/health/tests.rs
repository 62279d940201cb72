use std::{fs, path::PathBuf, sync::Arc, time::SystemTime};

use contexture::{
    Contexture, Location, Options, SecretMeans,
    wire::{SessionState, SessionsTally, UnreadTail},
};
use contexture_core::{Actor, Machine, Principal, SpaceName, Timestamp};

use super::{ComparisonTerms, DAY_MICROS, OpenSessions, SessionCompleteness};
use crate::{
    Capture, CaptureConfig, CaptureReason, Depth, Homes, Recorder, RescuedSessions, Runtime, SessionCandidate,
    SessionOwner, SessionSearch, TroubleLog,
};

/// A machine with one runtime, its session and a store.
struct Stage {
    directory: tempfile::TempDir,
    homes: Homes,
    owner: SessionOwner,
    recorder: Recorder,
    engine: Contexture,
}

impl Stage {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Options {
            location: Location::Directory(directory.path().join("store")),
            space: SpaceName::new("default").unwrap(),
            actor: Actor::new("ada").unwrap(),
            clock: Arc::new(now),
            secrets: SecretMeans::without_keys(|bytes| bytes.fill(7)),
        };
        let engine = Contexture::open(store.clone()).await.unwrap();
        let recorder = Recorder::new(&CaptureConfig {
            store,
            is_store_chosen: true,
            postgres_login: std::sync::Arc::new(|url| url),
            state_directory: directory.path().join("state"),
            directory: None,
            declared: Vec::new(),
            kept_sessions: None,
            run: None,
            socket: None,
            file_clock: SystemTime::now,
        });
        let owner = SessionOwner {
            principal: Principal::new("ada").unwrap(),
            machine: Machine::new("laptop").unwrap(),
            role: None,
        };
        let homes = Homes::default().with(Runtime::CLAUDE_CODE, directory.path().join("claude"));
        let stage = Self { directory, homes, owner, recorder, engine };
        fs::create_dir_all(stage.session().parent().unwrap()).unwrap();
        stage.write(1);
        stage
    }

    fn session(&self) -> PathBuf {
        self.directory.path().join("claude/projects/p/0c3f.jsonl")
    }

    /// Gives the session some turns.
    fn write(&self, turns: usize) {
        let line = |turn: usize| {
            let parent = if turn == 0 { "null".to_owned() } else { format!(r#""u{}""#, turn - 1) };
            format!(
                r#"{{"type":"user","uuid":"u{turn}","parentUuid":{parent},"sessionId":"0c3f","timestamp":"2026-11-15T20:10:00Z","message":{{"role":"user","content":"turn {turn}"}}}}"#
            ) + "\n"
        };
        fs::write(self.session(), (0..turns).map(line).collect::<String>()).unwrap();
    }

    fn open(&self) -> OpenSessions {
        OpenSessions::of(&self.recorder)
    }

    async fn completeness(&self) -> SessionCompleteness {
        let terms = ComparisonTerms { machine: &self.owner.machine, depth: Depth::Whole, open: &self.open() };
        let found = SessionSearch::default().everywhere(&self.homes);
        Capture::new(&self.engine).completeness(found, terms, &|_| {}).await
    }
}

fn now() -> Timestamp {
    "2026-11-18T12:00:00Z".parse().unwrap()
}

fn states(sessions: &SessionCompleteness) -> Vec<&SessionState> {
    sessions.incomplete.iter().map(|session| &session.state).collect()
}

#[tokio::test]
async fn a_session_is_missing_behind_and_complete_as_the_store_takes_it_in() {
    let stage = Stage::new().await;
    let capture = Capture::new(&stage.engine);
    let never = stage.completeness().await;
    assert_eq!((states(&never), never.is_complete()), (vec![&SessionState::Never], false));
    let found = SessionSearch::default().everywhere(&stage.homes);
    assert_eq!(SessionCompleteness::of_empty_store(found, &stage.open()), never);

    let repaired = capture.repair(&stage.recorder, &stage.owner, &never, &|_| {}).await.unwrap();
    assert_eq!((repaired.sessions, repaired.new_commits), (1, 1));
    let complete = stage.completeness().await;
    let bytes = fs::metadata(stage.session()).unwrap().len();
    assert_eq!(complete.total(), SessionsTally { sessions: 1, bytes, complete: 1, ..SessionsTally::default() });
    assert!(complete.is_complete() && complete.to_import().next().is_none());

    stage.write(2);
    let tail = UnreadTail { bytes: fs::metadata(stage.session()).unwrap().len() - bytes, lines: 1 };
    assert_eq!(states(&stage.completeness().await), [&SessionState::Behind(tail)]);
}

#[tokio::test]
async fn what_a_runtime_deletes_soon_is_told_unless_it_is_in_the_store() {
    let stage = Stage::new().await;
    let retention = stage.completeness().await.retention(&stage.homes, now());
    let written = SessionSearch::default().everywhere(&stage.homes).candidates[0].written.unwrap();
    let period = Runtime::CLAUDE_CODE.retention_micros(&stage.homes).unwrap();
    let at = Timestamp::from_micros(written.as_micros() + period).unwrap();
    assert_eq!(retention.expiring.iter().map(|session| session.at).collect::<Vec<_>>(), [at]);

    let late = Timestamp::from_micros(at.as_micros() - DAY_MICROS).unwrap();
    let soon = |sessions: &SessionCompleteness| sessions.retention(&stage.homes, late).expiring;
    let missing = stage.completeness().await;
    assert!(soon(&missing).iter().all(|session| session.is_soon));
    Capture::new(&stage.engine).repair(&stage.recorder, &stage.owner, &missing, &|_| {}).await.unwrap();
    assert_eq!(soon(&stage.completeness().await), []);
}

#[tokio::test]
async fn what_waits_in_the_spool_is_rescued_and_its_trouble_is_over() {
    let stage = Stage::new().await;
    let candidate: SessionCandidate = SessionSearch::default().everywhere(&stage.homes).candidates.remove(0);
    let file = stage.owner.file(&candidate);
    stage.recorder.spool.add(&file, &CaptureReason::default(), 0, now()).unwrap();
    stage.recorder.write_down("hook", None, "the store is away", true);
    let log = |log: &TroubleLog, sessions: &SessionCompleteness| {
        let troubles = log.examine(now(), &stage.recorder.spool.health(), sessions);
        troubles.into_iter().map(|trouble| trouble.is_safe).collect::<Vec<_>>()
    };
    let sessions = stage.completeness().await;
    assert_eq!((stage.recorder.is_rescue_needed(), log(&stage.recorder.log, &sessions)), (true, vec![false]));

    let rescued = stage.recorder.rescue(&stage.engine).await.unwrap();
    assert_eq!((rescued.spool.taken, rescued.spool.kept, rescued.closed), (1, 0, 0));
    assert_eq!((stage.recorder.is_rescue_needed(), log(&stage.recorder.log, &sessions)), (false, vec![true]));
    assert_eq!(stage.recorder.rescue(&stage.engine).await.unwrap(), RescuedSessions::default());
    assert!(stage.completeness().await.is_complete());
}
