//! A program around the library prints what the command line prints. The program is `examples/embedding`.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use contexture::{
    Checkpoint, Options, block_on,
    core::{Actor, Format, Machine, Principal, SpaceName, Timestamp},
};
use contexture_capture::{CaptureConfig, CurrentRequest};
use contexture_embedding as embedding;

use crate::cli::harness::{NOW, User};

impl User {
    /// Returns how a program opens the store that the command line uses.
    pub(crate) fn options(&self) -> Options {
        let now: Timestamp = NOW.parse().unwrap();
        let place = self.place.url();
        let place = if place.contains("://") { place } else { self.path(place).display().to_string() };
        Options {
            location: place.parse().unwrap(),
            space: SpaceName::new("default").unwrap(),
            actor: Actor::new("ada@laptop").unwrap(),
            clock: Arc::new(move || now),
            secrets: contexture_testkit::known_secrets(),
        }
    }

    /// Returns who uses the program.
    pub(crate) fn principal() -> Principal {
        Principal::new("ada@laptop").unwrap()
    }

    fn capture_config(&self) -> CaptureConfig {
        CaptureConfig {
            store: self.options(),
            is_store_chosen: true,
            postgres_login: std::sync::Arc::new(|url| url),
            state_directory: self.path(".local/state/contexture"),
            directory: Some(self.path(".")),
            declared: Vec::new(),
            kept_sessions: None,
            run: None,
            socket: None,
            file_clock: SystemTime::now,
        }
    }
}

#[test]
fn a_checkpoint_is_reported_alike() {
    let user = User::new();
    user.file("notes.txt", "The test races.\n");
    let printed = user.done(&["checkpoint", "--head", "main", "notes.txt", "--json"]);
    let mut request =
        Checkpoint { head: Some("main".parse().unwrap()), ..Checkpoint::new(Format::new("text").unwrap()) };
    request.provenance.principal = Some(User::principal());
    request.provenance.machine = Some(Machine::new("laptop").unwrap());
    let twin = Options { space: SpaceName::new("twin").unwrap(), ..user.options() };
    let made = block_on(embedding::checkpoint(twin, request, b"The test races.\n".to_vec())).unwrap().unwrap();
    assert_eq!(made, printed);
}

#[test]
fn every_commit_is_shown_alike() {
    let user = User::with_history();
    for commit in ["main", "main~1", "main~2", "main~3", "review"] {
        let shown = block_on(embedding::show(user.options(), &commit.parse().unwrap())).unwrap().unwrap();
        assert_eq!(shown, user.done(&["show", commit, "--json"]));
    }
}

#[test]
fn the_current_context_is_found_alike() {
    let user = User::with_history();
    let request = |session: Option<&str>| CurrentRequest {
        session: session.map(str::to_owned),
        principal: User::principal(),
        patience: Duration::from_secs(2),
    };
    let found = block_on(embedding::current(&user.capture_config(), &request(None))).unwrap().unwrap();
    assert_eq!(found, user.done(&["current", "--json"]));
    user.done(&["fork", "main", "--head", "session/s-1"]);
    let found = block_on(embedding::current(&user.capture_config(), &request(Some("s-1")))).unwrap().unwrap();
    assert_eq!(found, user.done(&["current", "--session", "s-1", "--json"]));
}
