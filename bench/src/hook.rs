//! A hook that takes in the end of a long session, beside starting a program that does nothing.

use std::{
    env,
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    Result,
    rows::{Bar, Row},
    sample::median,
};

/// Bytes of the session before the first hook.
const SESSION_BYTES: usize = 100 * 1024 * 1024;
/// Bytes of a line, and of what is new to a hook.
const LINE_BYTES: usize = 4 * 1024;
/// Hooks in a round.
const HOOKS: usize = 40;

/// A session of Claude Code and a home around it.
struct HookedSession {
    home: PathBuf,
    path: PathBuf,
    lines: usize,
}

/// Measures hooks of a session that is 100 MB long and of one that has just begun.
pub(crate) fn measure(scratch: &Path, rounds: usize) -> Result<Vec<Row>> {
    eprintln!("Measuring hooks …");
    let program = env::current_exe()?.with_file_name("ctx");
    if !program.exists() {
        return Err(format!("{} is not there: `cargo build --profile dist` makes it", program.display()).into());
    }
    let long = HookedSession::of(&scratch.join("long"), SESSION_BYTES)?;
    let short = HookedSession::of(&scratch.join("short"), LINE_BYTES)?;
    Ok(vec![
        row("ctx hook, session of 100 MB, 4 KB new", &program, long, rounds)?,
        row("ctx hook, session of 4 KB, 4 KB new", &program, short, rounds)?,
    ])
}

fn row(what: &'static str, program: &Path, mut session: HookedSession, rounds: usize) -> Result<Row> {
    // The first one takes in all of the session; no agent would wait for so long.
    session.import(program)?;
    let (mut hooks, mut starts, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        let (mut hook, mut start) = (Vec::new(), Vec::new());
        for _ in 0..HOOKS {
            session.add_line()?;
            hook.push(session.hook(program)?.as_secs_f64());
            start.push(timed(&mut Command::new("/bin/true"), b"")?.as_secs_f64());
        }
        let (hook, start) = (median(hook), median(start));
        ratios.push(hook / start);
        hooks.push(hook);
        starts.push(start);
    }
    session.assert_taken_in(program)?;
    Ok(Row {
        what,
        ours: format!("{:.1} ms", median(hooks) * 1e3),
        peer: format!("starting /bin/true: {:.2} ms", median(starts) * 1e3),
        ratio: median(ratios),
        bar: Bar::AtMost(10.0),
        if_missed: "",
    })
}

impl HookedSession {
    fn of(home: &Path, bytes: usize) -> Result<Self> {
        let place = home.join(".claude/projects/project");
        fs::create_dir_all(&place)?;
        let path = place.join("00000000-0000-4000-8000-000000000000.jsonl");
        let mut session = Self { home: home.to_owned(), path, lines: 0 };
        let mut file = File::create(&session.path)?;
        let mut written = 0;
        while written < bytes {
            let line = session.next_line();
            file.write_all(line.as_bytes())?;
            written += line.len();
        }
        file.sync_all()?;
        Ok(session)
    }

    /// Returns a question or an answer, about as compressible as prose.
    fn next_line(&mut self) -> String {
        let (number, is_question) = (self.lines, self.lines.is_multiple_of(8));
        let mut text = String::new();
        while text.len() < LINE_BYTES - 300 {
            let word = (number * 7919 + text.len()).wrapping_mul(2_654_435_761) % 9973;
            text.extend(["word", &word.to_string(), " "]);
        }
        let message = if is_question {
            json!({"role": "user", "content": text})
        } else {
            json!({"role": "assistant", "model": "m", "content": [{"type": "text", "text": text}]})
        };
        let line = json!({
            "type": if is_question { "user" } else { "assistant" }, "uuid": number.to_string(),
            "parentUuid": number.checked_sub(1).map(|before| before.to_string()),
            "sessionId": "00000000-0000-4000-8000-000000000000", "timestamp": "2026-01-02T03:04:05.000Z",
            "message": message,
        });
        self.lines += 1;
        line.to_string() + "\n"
    }

    fn add_line(&mut self) -> Result<()> {
        let line = self.next_line();
        Ok(File::options().append(true).open(&self.path)?.write_all(line.as_bytes())?)
    }

    fn program(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", &self.home).envs([("USER", "ada"), ("CTX_MACHINE", "laptop")]);
        command
    }

    fn hook(&self, program: &Path) -> Result<Duration> {
        let event = json!({
            "hook_event_name": "PostToolUse", "session_id": "00000000-0000-4000-8000-000000000000",
            "transcript_path": self.path, "cwd": self.home,
        });
        timed(self.program(program).args(["hook", "claude-code"]), event.to_string().as_bytes())
    }

    fn import(&self, program: &Path) -> Result<()> {
        timed(self.program(program).arg("import"), b"").map(drop)
    }

    /// Makes sure that what was measured was done.
    fn assert_taken_in(&self, program: &Path) -> Result<()> {
        let verified = self.program(program).args(["--json", "import", "--verify"]).output()?;
        let expected = format!("\"bytes\":{},\"left\":0", fs::metadata(&self.path)?.len());
        if String::from_utf8(verified.stdout)?.contains(&expected) {
            Ok(())
        } else {
            Err("the hooks have not taken in the session".into())
        }
    }
}

/// Runs a program to its end.
fn timed(command: &mut Command, input: &[u8]) -> Result<Duration> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    // One that does nothing reads nothing.
    _ = child.stdin.take().map(|mut stdin| stdin.write_all(input));
    let ended = child.wait()?;
    if ended.success() { Ok(start.elapsed()) } else { Err(format!("{command:?} ended with {ended}").into()) }
}
