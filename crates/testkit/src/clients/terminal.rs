//! A terminal that a program runs in, so that tests see what a person would.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::{self, Write as _},
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// How long something may take to appear.
const LIMIT: Duration = Duration::from_mins(3);
/// How long a program takes to show what was typed, when it listens.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);
/// What a program has said last stays to be seen when it has ended.
const CONFIGURATION: &str = "set -g remain-on-exit on\nset -g escape-time 0\n";
const SIZE: [&str; 4] = ["-x", "140", "-y", "100"];

/// A terminal of 140 columns and 100 lines. The program in it is ended when the value is dropped.
///
/// tmux is what shows it. It is a server of its own, which knows no configuration and nobody else's sessions.
pub struct Terminal {
    // Held for its `Drop`.
    _directory: TempDir,
    socket: PathBuf,
}

impl Terminal {
    /// Says whether there can be one; if not, tells whoever runs the tests that one was skipped.
    pub fn available_or_skip(test: &str) -> bool {
        let version = Command::new("tmux").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
        let available = version.is_ok_and(|status| status.success());
        if !available {
            // Past what the test runner captures, because it shows that of failed tests only.
            writeln!(io::stderr(), "SKIPPED {test}: there is no tmux").expect("standard error can be written");
        }
        available
    }

    /// Starts a command with the environment and in the directory that it names.
    pub fn start(command: &Command) -> Self {
        let directory = TempDir::with_prefix("tmux-").expect("a temporary directory can be made");
        fs::write(directory.path().join("configuration"), CONFIGURATION).expect("the directory can be written");
        let terminal = Self { socket: directory.path().join("socket"), _directory: directory };
        let mut words: Vec<OsString> = vec!["env".into(), "-i".into()];
        for (name, value) in command.get_envs() {
            let Some(value) = value else { continue };
            let value = if name == "TERM" { OsStr::new("xterm-256color") } else { value };
            words.push([name, OsStr::new("="), value].into_iter().collect());
        }
        words.push(command.get_program().to_owned());
        words.extend(command.get_args().map(OsStr::to_owned));
        let mut start = terminal.tmux(&["new-session", "-d"]);
        start.args(SIZE);
        if let Some(directory) = command.get_current_dir() {
            start.arg("-c").arg(directory);
        }
        said(start.args(["-s", "one", "--"]).args(words));
        terminal
    }

    /// Returns what the terminal shows, without colours.
    pub fn screen(&self) -> String {
        // When the program has ended there is nothing to show.
        let output = self.tmux(&["capture-pane", "-p", "-t", "one"]).output().expect("tmux starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits until a text is shown; panics when it does not come. Words may be broken into lines.
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |screen| shows(screen, text))
    }

    /// Waits until what is shown is as wanted; panics with what is shown instead.
    pub fn wait_until(&self, wanted: &str, is_wanted: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if is_wanted(&screen) {
                return screen;
            }
            assert!(start.elapsed() < LIMIT, "no {wanted:?} on the screen:\n{}", screen.trim_end());
            thread::sleep(PAUSE);
        }
    }

    /// Says something to the program and waits until an answer is shown; panics when none comes.
    ///
    /// A program that has drawn its screen may not listen yet, so what is not shown is typed again, and sent again.
    pub fn say(&self, text: &str, answer: &str) {
        let start = Instant::now();
        while !shows(&self.screen(), text) {
            assert!(start.elapsed() < LIMIT, "{text:?} cannot be typed:\n{}", self.screen().trim_end());
            self.type_text(text);
            self.shows_within(PATIENCE, text);
        }
        // Some take what comes at once for something that was pasted.
        thread::sleep(PAUSE * 4);
        while !shows(&self.screen(), answer) {
            assert!(start.elapsed() < LIMIT, "no {answer:?} after {text:?}:\n{}", self.screen().trim_end());
            self.press("Enter");
            self.shows_within(PATIENCE * 2, answer);
        }
    }

    /// Says something to the program until it ends; panics when it does not.
    ///
    /// What it has shown may be gone by then, so tmux is asked and not the screen.
    pub fn leave(&self, text: &str) {
        let start = Instant::now();
        while !self.has_ended() {
            assert!(start.elapsed() < LIMIT, "it goes on after {text:?}:\n{}", self.screen().trim_end());
            if !shows(&self.screen(), text) {
                self.type_text(text);
                self.shows_within(PATIENCE, text);
            }
            // Some take what comes at once for something that was pasted.
            thread::sleep(PAUSE * 4);
            self.press("Enter");
            let pressed = Instant::now();
            while !self.has_ended() && pressed.elapsed() < PATIENCE * 2 {
                thread::sleep(PAUSE);
            }
        }
    }

    fn has_ended(&self) -> bool {
        let output = self.tmux(&["list-panes", "-t", "one", "-F", "#{pane_dead}"]).output().expect("tmux starts");
        output.stdout.trim_ascii() == b"1"
    }

    fn shows_within(&self, limit: Duration, text: &str) {
        let start = Instant::now();
        while !shows(&self.screen(), text) && start.elapsed() < limit {
            thread::sleep(PAUSE);
        }
    }

    /// Types a text.
    pub fn type_text(&self, text: &str) {
        said(self.tmux(&["send-keys", "-t", "one", "-l", "--"]).arg(text));
    }

    /// Presses a key by tmux's name for it.
    pub fn press(&self, key: &str) {
        said(self.tmux(&["send-keys", "-t", "one"]).arg(key));
    }

    fn tmux(&self, arguments: &[&str]) -> Command {
        let mut tmux = Command::new("tmux");
        let configuration = self.socket.with_file_name("configuration");
        tmux.env_remove("TMUX").arg("-f").arg(configuration).arg("-S").arg(&self.socket).args(arguments);
        tmux
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It ends by itself with the program.
        _ = self.tmux(&["kill-server"]).stderr(Stdio::null()).status();
    }
}

/// Tells whether a screen shows a text, however it is broken into lines.
fn shows(screen: &str, text: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>();
    letters(screen).contains(&letters(text))
}

fn said(command: &mut Command) {
    let output = command.output().expect("tmux starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
