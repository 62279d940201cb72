//! A store and a directory in which every name and text was chosen by an enemy.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    process::{Command, Output, Stdio},
    time::Duration,
};

use serde_json::json;
use tokio::io::AsyncReadExt as _;

use crate::harness::User;

/// How long a command may take on a slow machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// A text with all that terminals and readers obey, and a line that pretends to be of the program.
const EVIL: &str = "evil\u{1b}[31m\u{1b}[8mhidden\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\u{1b}]8;;http:a\u{1b}\\link\u{9b}2J\u{85}\
\u{8}\u{7f}\u{202e}\u{202a}\u{2066}\u{2069}\u{200f}\u{200b}\u{feff}\u{2028}\u{2029}e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\
\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\rFORGED\nFORGED line";
/// The same where a line feed is refused anyway.
const EVIL_LINE: &str = "evil\u{1b}[8m\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\u{9b}2J\u{8}\u{202e}\u{2066}\u{200b}\u{2028}";
/// The name of a file in no encoding.
const EVIL_BYTES: &[u8] = b"evil\xff\xfe\x1b[2J\x9b2J.jsonl";

/// The world of the attacks.
pub(super) struct HostileWorld {
    pub(super) user: User,
    artifact: String,
    gap: String,
    turn: String,
}

impl HostileWorld {
    pub(super) fn new() -> Self {
        let user = User::new();
        for (name, content) in [
            ("turn.jsonl", session()),
            ("recipe.toml", RECIPE.to_owned()),
            ("bad.toml", format!("name = {}\n[budget]\nmax_tokens = \"x\"\n[{}]\n", json!(EVIL), json!(EVIL))),
            ("summary.txt", EVIL.to_owned()),
            ("items.json", json!([{"content": EVIL, "title": EVIL, "id": "item-1"}]).to_string()),
            ("records.json", json!([{"kind": EVIL, (EVIL): EVIL}]).to_string()),
            ("packs.json", json!({(EVIL): EVIL}).to_string()),
        ] {
            user.file(name, content);
        }
        for directory in ["repo", ".ctx/recipes", ".claude", "empty"] {
            fs::create_dir_all(user.path(directory)).unwrap();
        }
        user.file(OsStr::from_bytes(EVIL_BYTES), "\u{1b}[2J not a session\n");
        user.file(format!("{EVIL}.jsonl"), "not a session\n");
        user.file(format!("{EVIL}.txt"), EVIL);
        user.file(format!(".ctx/recipes/{EVIL}.toml"), format!("{}\n", json!(EVIL)));
        let project = user.path(format!(".claude/projects/-{EVIL}"));
        fs::create_dir_all(&project).unwrap();
        fs::write(project.join(format!("{EVIL}.jsonl")), session()).unwrap();
        fs::write(project.join(OsStr::from_bytes(EVIL_BYTES)), session()).unwrap();
        fs::write(project.join(format!("{}.jsonl", "long".repeat(60))), "{}\n").unwrap();
        let world = Self { user, artifact: String::new(), gap: String::new(), turn: String::new() };
        world.fill()
    }

    /// Puts hostile texts into the store wherever one may be put.
    fn fill(mut self) -> Self {
        let checkpoint = |more: &[&str]| {
            let start = ["checkpoint", "--format", "claude-code-v1", "--head", "main", "--allow-empty"];
            self.user.run(&[&start, more, &["turn.jsonl"]].concat()).code
        };
        assert_eq!(checkpoint(&["--summary", EVIL]), 0);
        for flag in ["--session", "--ticket", "--thread", "--template", "--machine", "--principal"] {
            // What may be a name is theirs to say; what is refused is refused.
            _ = checkpoint(&[flag, EVIL]) + checkpoint(&[flag, EVIL_LINE]);
            _ = checkpoint(&[flag, "evil\u{202e}\u{200b}\u{2028}"]);
        }
        self.user.done(&["annotate", "main", "--summary", EVIL, "--label", &format!("reviewer={EVIL}")]);
        for name in ["evil\u{202e}\u{200b}", "evil\u{2066}\u{feff}"] {
            _ = self.user.run(&["fork", "main", "--head", name]);
            _ = self.user.run(&["annotate", "main", "--tag", name]);
        }
        self.user.done(&["fork", "main", "--head", "other"]);
        self.user.done(&["compact", "other", "--summary", "summary.txt", "--loss", EVIL]);
        let file = format!("{EVIL}.txt");
        for stream in ["one", EVIL] {
            let start = ["assemble", "./recipe.toml", "--head", "main", "--trigger", EVIL, "--items", "items.json"];
            let more = ["--file", &file, "--file", "absent\u{1b}[2J\u{202e}", "--id", "turn=\u{1b}[2J\u{202e}"];
            let ran = self.user.run(&[&start[..], &more, &["--stream", stream]].concat());
            assert!(ran.code == 0 || stream == EVIL, "{ran}");
        }
        self.artifact = self.user.done(&["artifact", "put", &file]);
        let gaps = self.user.done(&["missing", "list", "--json"]);
        let gap: serde_json::Value = serde_json::from_str(gaps.lines().next().unwrap()).unwrap();
        gap["missing_id"].as_str().unwrap().clone_into(&mut self.gap);
        self.turn = self.talk();
        self.user.done(&["envelope", "export", "last", "-o", "context.json"]);
        self.user.done(&["export", "--all", "-o", "all.ctxb"]);
        fs::write(self.user.path(format!("repo/{EVIL}")), "evil \u{1b}[2J\u{202e}\n").unwrap();
        self.git(&["init", "--quiet", "--initial-branch", "main"]);
        self.git(&["add", "repo"]);
        let context = self.user.done(&["log", "main", "--json"]);
        let context: serde_json::Value = serde_json::from_str(context.lines().next().unwrap()).unwrap();
        let context = format!("Context-Id: {}", context["id"].as_str().unwrap());
        self.git(&["commit", "--quiet", "--message", EVIL, "--message", &context]);
        self
    }

    /// Has hostile texts said in a channel, and returns a turn in which they are to be answered.
    fn talk(&self) -> String {
        for channel in ["room", "closed"] {
            self.user.done(&["channel", "create", channel, "--user", "ada", "--agent", "dev", "--agent", "qa"]);
        }
        let post = ["channel", "post", "room", "--from", "ada", "--text", EVIL];
        self.user.done(&post);
        self.user.file("data.json", json!({(EVIL): EVIL}).to_string());
        self.user.done(&[&post[..], &["--data", "data.json"]].concat());
        for more in [["--topic", EVIL], ["--thread", EVIL], ["--phase", EVIL_LINE], ["--id", "evil\u{202e}\u{200b}"]] {
            // What may be a name is theirs to say; what is refused is refused.
            _ = self.user.run(&[&post[..], &more].concat());
        }
        let begun = self.user.done(&["channel", "turn", "begin", "room", "--agent", "dev", "--json"]);
        let begun = begun.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        begun.filter_map(|one| Some(one["id"].as_str()?.to_owned())).find(|id| id.starts_with("trn-")).unwrap()
    }

    fn git(&self, arguments: &[&str]) {
        let author = "user.name=evil\u{1b}[2J\u{9b}2J\u{202e}";
        let ended = Command::new("git")
            .args(["-c", author, "-c", "user.email=evil@example.com"])
            .args(arguments)
            .current_dir(self.user.path(""))
            .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")])
            .output()
            .unwrap();
        assert!(ended.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&ended.stderr));
    }

    /// Puts hostile texts and names for what stands for them in a command line.
    pub(super) fn words<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> Vec<OsString> {
        let word = |word: &str| match word {
            "%B" => OsString::from_vec(EVIL_BYTES.to_vec()),
            "%T" => self.user.path("turn.jsonl").into_os_string(),
            other => other
                .replace("%E", EVIL)
                .replace("%L", EVIL_LINE)
                .replace("%A", &self.artifact)
                .replace("%G", &self.gap)
                .replace("%U", &self.turn)
                .into(),
        };
        words.into_iter().map(word).collect()
    }

    /// Runs the program with pipes.
    pub(super) fn piped(&self, line: &[OsString], more: &[&str]) -> Output {
        // What follows `--` is another program's.
        self.user.command(more).args(line).env("PATH", path()).output().unwrap()
    }

    /// Runs the program with all it prints on a terminal, and returns that.
    pub(super) fn on_terminal(&self, line: &[OsString]) -> Vec<u8> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let showing = async {
            let (mut terminal, program_side) = pty_process::open().unwrap();
            let known = self.user.command(&[]);
            let mut command = pty_process::Command::new(known.get_program()).env_clear().args(line);
            command = command.current_dir(self.user.path("")).stdin(Stdio::null());
            for (name, value) in known.get_envs() {
                command = command.env(name, value.unwrap());
            }
            let command = command.env("PAGER", "cat").env("TERM", "xterm").env("PATH", path());
            let mut child = command.spawn(program_side).unwrap();
            let (mut shown, mut buffer) = (Vec::new(), [0; 4096]);
            // A terminal whose program has gone cannot be read any more.
            while let Ok(count @ 1..) = terminal.read(&mut buffer).await {
                shown.extend_from_slice(&buffer[..count]);
            }
            child.wait().await.unwrap();
            shown
        };
        runtime.block_on(async { tokio::time::timeout(PATIENCE, showing).await }).expect("the command ends")
    }
}

fn path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// Returns a session of Claude Code.
fn session() -> String {
    let line = |role: &str, number: u32, content: &serde_json::Value| {
        let about = json!({
            "type": role, "uuid": format!("u-{number}"), "timestamp": "2026-11-15T20:00:00.000Z", "sessionId": EVIL,
            "cwd": EVIL, "gitBranch": EVIL, "version": EVIL, "message": {"role": role, "model": EVIL, "content": content}
        });
        about.to_string() + "\n"
    };
    let call = json!({"type": "tool_use", "id": "call-1", "name": EVIL, "input": {(EVIL): EVIL, "file_path": EVIL}});
    let result = json!({"type": "tool_result", "tool_use_id": "call-1", "content": EVIL});
    [
        line("user", 0, &json!(EVIL)),
        line("assistant", 1, &json!([{"type": "thinking", "thinking": EVIL}, {"type": "text", "text": EVIL}, call])),
        line("user", 2, &json!([result])),
        json!({"type": "summary", "summary": EVIL, "leafUuid": "u-1"}).to_string() + "\n",
    ]
    .concat()
}

const RECIPE: &str = r#"
name = "small"
counter = "chars4"
target = "prompt"
[budget]
max_tokens = 4000
[[segments]]
name = "system"
[[segments.sources]]
source = "system"
text = "You fix bugs.\u001b[2J\u202e"
[[segments]]
name = "history"
[[segments.sources]]
source = "history"
[[segments]]
name = "now"
reserve = 60
[[segments.sources]]
source = "files"
[[segments.sources]]
source = "items"
[[segments.sources]]
source = "trigger"
"#;
