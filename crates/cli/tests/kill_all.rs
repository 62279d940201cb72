//! Programs of every kind that are killed at any moment: nothing that was acknowledged is lost, and a check finds nothing wrong.

use std::{
    cell::RefCell,
    collections::HashSet,
    fs,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use contexture_testkit::{Numbers, noise};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How many programs are killed, unless `CTX_KILLS` says otherwise: few enough for every day.
const KILLS: usize = 60;
/// How many are killed in one home: a purge writes the store anew, so more would take longer and longer.
const KILLS_OF_A_HOME: usize = 250;
/// How often all of a home is looked at.
const LOOKS: usize = 4;

/// What is killed. A command that changes the store has a row.
const ACTIONS: &[Action] = &[
    Action { name: "checkpoint", weight: 4, start: checkpoint },
    Action { name: "large checkpoint", weight: 2, start: large_checkpoint },
    Action { name: "hook", weight: 4, start: hook },
    Action { name: "import", weight: 2, start: import },
    Action { name: "run", weight: 2, start: run },
    Action { name: "gc", weight: 2, start: gc },
    Action { name: "purge", weight: 1, start: purge },
];

/// Something that a program does.
struct Action {
    name: &'static str,
    /// How often it comes up beside others.
    weight: usize,
    start: fn(&Home, &mut Numbers, usize) -> Child,
}

#[test]
fn nothing_acknowledged_is_lost_whatever_is_killed() {
    let wanted = std::env::var("CTX_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let mut numbers = Numbers(0x0dead);
    let mut tally = Tally::default();
    while tally.killed() < wanted {
        let home = Home::new();
        kill_some(&home, &mut numbers, KILLS_OF_A_HOME.min(wanted - tally.killed()), &mut tally);
    }
    let killed = ACTIONS.iter().zip(&tally.killed_of).map(|(action, killed)| format!("{} {killed}", action.name));
    let killed = killed.collect::<Vec<_>>().join(", ");
    println!("{} of {} programs were killed: {killed}", tally.killed(), tally.started);
    println!("{} ids were acknowledged in {} homes, and all are there", tally.acknowledged, tally.homes);
}

/// What was done to all homes.
struct Tally {
    homes: usize,
    started: usize,
    acknowledged: usize,
    killed_of: [usize; ACTIONS.len()],
    /// Microseconds, by action: about as long as it takes on this machine, so that it is killed anywhere in its life.
    lives: [usize; ACTIONS.len()],
}

impl Default for Tally {
    fn default() -> Self {
        let (killed_of, lives) = ([0; ACTIONS.len()], [40_000; ACTIONS.len()]);
        Self { homes: 0, started: 0, acknowledged: 0, killed_of, lives }
    }
}

impl Tally {
    fn killed(&self) -> usize {
        self.killed_of.iter().sum()
    }
}

/// Starts programs in a home until so many of them were killed, and looks at all that is there.
fn kill_some(home: &Home, numbers: &mut Numbers, kills: usize, tally: &mut Tally) {
    let mut acknowledged: Vec<String> = Vec::new();
    let mut killed = 0;
    while killed < kills {
        let round = tally.started;
        tally.started += 1;
        let chosen = choose(numbers);
        let action = &ACTIONS[chosen];
        let mut child = (action.start)(home, numbers, round);
        if numbers.below(8) > 0 {
            thread::sleep(Duration::from_micros(numbers.below(tally.lives[chosen]) as u64));
            // It may be done already.
            _ = child.kill();
        }
        let mut printed = String::new();
        child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        let ended = child.wait().unwrap();
        assert!(ended.success() || ended.code().is_none(), "{} ended with {ended}", action.name);
        if let Some(artifact) = home.purging.take() {
            home.purged.borrow_mut().push((artifact, ended.success()));
        }
        // An id that is printed whole is acknowledged, whether its program was killed then or not.
        let whole = printed.split_inclusive('\n').filter(|line| line.starts_with("ctx-") && line.ends_with('\n'));
        acknowledged.extend(whole.map(|line| line.trim().to_owned()));
        let life = &mut tally.lives[chosen];
        if ended.code().is_some() {
            *life -= *life / 16;
            continue;
        }
        *life += *life / 16;
        tally.killed_of[chosen] += 1;
        killed += 1;
        if killed % kills.div_ceil(LOOKS) == 0 {
            home.look(&acknowledged);
        }
    }
    // Nobody writes any more, so what nothing refers to was left by those that were killed.
    home.ctx(&["gc", "--grace", "0s"]).unwrap();
    home.look(&acknowledged);
    let report: Value = serde_json::from_str(&home.ctx(&["--json", "fsck"]).unwrap()).unwrap();
    assert_eq!(report["unreferenced"]["artifacts"], json!(0));
    tally.acknowledged += acknowledged.len();
    tally.homes += 1;
}

/// Chooses what is done, each by its weight.
fn choose(numbers: &mut Numbers) -> usize {
    let mut ticket = numbers.below(ACTIONS.iter().map(|action| action.weight).sum());
    let chosen = ACTIONS.iter().position(|action| {
        let is_chosen = ticket < action.weight;
        ticket = ticket.saturating_sub(action.weight);
        is_chosen
    });
    chosen.unwrap()
}

/// A home with a store.
struct Home {
    directory: TempDir,
    /// The artifact that is being purged.
    purging: RefCell<Option<String>>,
    /// Those that were, and whether that was acknowledged.
    purged: RefCell<Vec<(String, bool)>>,
}

impl Home {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), purging: RefCell::default(), purged: RefCell::default() }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn program(&self, arguments: &[&str]) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_ctx"));
        program.args(arguments).env_clear().env("HOME", self.path()).current_dir(self.path());
        program.envs([("USER", "ada"), ("CTX_MACHINE", "laptop")]).env("TMPDIR", self.path());
        program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        program
    }

    fn fed(&self, arguments: &[&str], input: &[u8]) -> Child {
        let mut child = self.program(arguments).stdin(Stdio::piped()).spawn().unwrap();
        // It may be gone already.
        _ = child.stdin.take().unwrap().write_all(input);
        child
    }

    fn ctx(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.program(arguments).stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            Ok(String::from_utf8(output.stdout).unwrap())
        } else {
            Err(format!("ctx {arguments:?} ended with {}: {stderr}", output.status))
        }
    }

    /// Checks that the store is whole, has every commit that was acknowledged, and has lost only what was to be purged.
    fn look(&self, acknowledged: &[String]) {
        let report: Value = serde_json::from_str(&self.ctx(&["--json", "fsck"]).unwrap()).unwrap();
        let withheld = report["checked"]["withheld"].as_u64().unwrap_or(0);
        let purged = self.purged.borrow();
        let meant: HashSet<&String> = purged.iter().map(|(artifact, _)| artifact).collect();
        assert!(withheld <= meant.len() as u64, "{withheld} are purged, {} were meant", meant.len());
        for (artifact, _) in purged.iter().filter(|(_, is_done)| *is_done) {
            assert!(self.ctx(&["artifact", "get", artifact]).unwrap_err().contains("was purged"));
        }
        let listed = self.ctx(&["--json", "list", "-n", "1000000"]).unwrap();
        let there: HashSet<String> = listed
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned())
            .collect();
        let lost: Vec<&String> = acknowledged.iter().filter(|id| !there.contains(*id)).collect();
        assert!(lost.is_empty(), "{lost:?} of {} are lost", acknowledged.len());
    }

    /// Writes some more turns of a session and returns where they are.
    fn session(&self, numbers: &mut Numbers, round: usize) -> (String, PathBuf) {
        let id = format!("0000000{}-0000-4000-8000-000000000000", numbers.below(5));
        let place = self.path().join(".claude/projects/project");
        fs::create_dir_all(&place).unwrap();
        let path = place.join(format!("{id}.jsonl"));
        let mut file = fs::File::options().create(true).append(true).open(&path).unwrap();
        for number in 0..=numbers.below(6) {
            // Which agent a session is of is told by its beginning.
            let is_first = file.metadata().unwrap().len() == 0;
            let len = if numbers.below(10) == 0 && !is_first { 600_000 } else { 200 };
            let message = json!({"role": "user", "content": noise(&format!("{round} {number}"), len)});
            let line = json!({
                "type": "user", "uuid": format!("{round}-{number}"), "parentUuid": null, "sessionId": id,
                "timestamp": "2026-01-02T03:04:05.000Z", "message": message,
            });
            writeln!(file, "{line}").unwrap();
        }
        (id, path)
    }
}

fn checkpoint(home: &Home, numbers: &mut Numbers, round: usize) -> Child {
    let head = format!("head-{}", numbers.below(3));
    home.fed(&["checkpoint", "--format", "text", "--head", &head, "-"], format!("turn {round}\n").as_bytes())
}

fn large_checkpoint(home: &Home, numbers: &mut Numbers, round: usize) -> Child {
    // Some of it is what others stored, or left.
    let content = noise(&format!("shared {}", numbers.below(3)), 1 << 20) + &noise(&round.to_string(), 1 << 20);
    home.fed(&["checkpoint", "--format", "text", "--head", "large", "-"], content.as_bytes())
}

fn hook(home: &Home, numbers: &mut Numbers, round: usize) -> Child {
    let (session_id, transcript_path) = home.session(numbers, round);
    let event = ["UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"][numbers.below(4)];
    let event = json!({
        "hook_event_name": event, "session_id": session_id, "transcript_path": transcript_path, "cwd": home.path(),
    });
    home.fed(&["hook", "claude-code"], event.to_string().as_bytes())
}

fn import(home: &Home, numbers: &mut Numbers, round: usize) -> Child {
    let (_, path) = home.session(numbers, round);
    home.program(&["import", path.to_str().unwrap()]).spawn().unwrap()
}

fn run(home: &Home, numbers: &mut Numbers, round: usize) -> Child {
    let session = format!("{round:08}-0000-4000-8000-000000000000");
    let lines = [
        json!({"type": "system", "subtype": "init", "session_id": session, "uuid": format!("{round}-0")}),
        json!({"type": "user", "session_id": session, "uuid": format!("{round}-1"),
               "message": {"role": "user", "content": "?"}}),
        json!({"type": "assistant", "session_id": session, "uuid": format!("{round}-2"),
               "message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "."}]}}),
    ];
    let printed: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    let file = home.path().join("printed");
    fs::write(&file, printed).unwrap();
    let script = format!("cat '{}'; sleep 0.0{}", file.display(), numbers.below(5));
    home.program(&["run", "--", "sh", "-c", &script]).spawn().unwrap()
}

fn gc(home: &Home, numbers: &mut Numbers, _: usize) -> Child {
    // Nobody else writes, so what is there was left.
    let grace = if numbers.below(2) == 0 { "0s" } else { "1h" };
    home.program(&["gc", "--grace", grace]).spawn().unwrap()
}

fn purge(home: &Home, numbers: &mut Numbers, _: usize) -> Child {
    let listed = home.ctx(&["--json", "list", "-n", "1000000"]).unwrap();
    let listed: Vec<&str> = listed.lines().collect();
    if listed.is_empty() {
        return home.program(&["list"]).spawn().unwrap();
    }
    let chosen: Value = serde_json::from_str(listed[numbers.below(listed.len())]).unwrap();
    let artifact = chosen["artifact"].as_str().unwrap().to_owned();
    let child = home.program(&["purge", &artifact, "--yes"]).spawn().unwrap();
    home.purging.replace(Some(artifact));
    child
}
