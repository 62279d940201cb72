//! Passwords of stores: what keeps or shows one.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
};

use contexture_testkit::postgres::{GUARDED_PASSWORD, PostgresServer};
use serde_json::json;

use crate::harness::{Ran, User};

/// A password that no server knows, and that looks like nothing else.
const WRONG: &str = "wr0ng-P@ss/word";
/// What must not be found of a password.
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const SESSION: &str = "0c3f0000-0000-4000-8000-000000000000";

/// A user who has agents, and a store on a server.
struct Agents {
    user: User,
}

impl Agents {
    fn new() -> Self {
        let user = User::new();
        for directory in [".claude/projects/-work", ".codex", ".gemini", ".pi/agent", "tmp", ".config/contexture"] {
            fs::create_dir_all(user.path(directory)).unwrap();
        }
        let line = json!({
            "type": "user", "uuid": "u1", "parentUuid": null, "sessionId": SESSION, "cwd": user.path(""),
            "message": {"role": "user", "content": "Find the race"}, "timestamp": "2026-11-15T20:00:00.000Z",
        });
        user.file(format!(".claude/projects/-work/{SESSION}.jsonl"), format!("{line}\n"));
        user.file("turn.jsonl", "{\"turn\":1}\n");
        let git = Command::new("git").args(["init", "--quiet"]).current_dir(user.path("")).status();
        assert!(git.unwrap().success());
        Self { user }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.user.command(arguments);
        command.env_remove("CTX_STORE").env("TMPDIR", self.user.path("tmp")).env("PATH", "/usr/bin:/bin");
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.user.ran(self.command(arguments).output())
    }

    fn private(&self, name: &str, content: &str) {
        self.user.file(name, content);
        self.set_mode(name, 0o600);
    }

    fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.user.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Names the store in the user's configuration.
    fn configure(&self, store: &str) {
        self.private(".config/contexture/config.toml", &format!("store = {store:?}\n"));
    }

    /// Asserts that no file below the user's directory, nor its name, holds a password.
    fn assert_unkept(&self, password: &str, about: &str) {
        assert_unkept_below(&self.user.path(""), &forms(password), about);
    }
}

/// Returns how a password may be written.
fn forms(password: &str) -> Vec<String> {
    let json = serde_json::to_string(password).unwrap();
    let mut forms = vec![
        password.to_owned(),
        encoded(password),
        encoded(password).to_lowercase(),
        json[1..json.len() - 1].to_owned(),
    ];
    forms.extend((0..3).map(|before| base64(password.as_bytes(), before)));
    forms.push(password.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat());
    forms
}

fn encoded(text: &str) -> String {
    let encode =
        |byte: u8| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encode).collect()
}

/// Writes bytes in Base64 as they are found where so many bytes come before them, without what depends on others.
fn base64(bytes: &[u8], before: usize) -> String {
    let padded = [&vec![0; before][..], bytes].concat();
    let groups = padded.chunks_exact(3).map(|group| group.iter().fold(0_u32, |all, byte| all << 8 | u32::from(*byte)));
    let letter = |bits: u32| char::from(LETTERS.as_bytes()[(bits & 63) as usize]);
    let text: String = groups.flat_map(|bits| [18, 12, 6, 0].map(|shift| letter(bits >> shift))).collect();
    text[if before == 0 { 0 } else { 4 }..].to_owned()
}

fn assert_unshown(ran: &Ran, password: &str, about: &str) {
    let said = ran.to_string();
    for form in forms(password) {
        assert!(!said.contains(&form), "{about} shows {form}:\n{said}");
    }
}

fn assert_unkept_below(directory: &Path, forms: &[String], about: &str) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            assert_unkept_below(&path, forms, about);
        }
        let content = if kind.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for form in forms {
            let is_kept = content.windows(form.len()).any(|bytes| bytes == form.as_bytes()) || name.contains(form);
            assert!(!is_kept, "{about} keeps {form} in {}", path.display());
        }
    }
}

/// Every command that touches a store, with what it needs.
fn commands() -> Vec<Vec<&'static str>> {
    [
        "checkpoint --format jsonl --head main turn.jsonl",
        "import",
        "hook claude-code",
        "git-hook post-commit",
        "git-hook prepare-commit-msg turn.jsonl",
        "doctor",
        "doctor --fix",
        "store check",
        "store path",
        "log",
        "log --all --graph",
        "show main",
        "list",
        "search race",
        "stats",
        "spaces",
        "fsck",
        "journal",
        "head list",
        "current",
        "materialize main",
        "cat main",
        "export --all -o all.bundle",
        "import-bundle all.bundle",
        "assemble resume --head main --max-tokens 4000 --trigger Go",
        "recipe list",
        "envelope list",
        "missing list",
        "resolve principal/ada@laptop",
        "artifact put turn.jsonl",
        "fork main --head other",
        "snapshot main",
        "annotate main --kind note turn.jsonl",
        "blame turn.jsonl",
        "resume main --print --in claude-code --cwd .",
        "run -- true",
        "demo",
        "init --dry-run",
        "init --yes --git",
    ]
    .map(|line| line.split(' ').collect())
    .into()
}

/// Runs every command with an address, in all the ways in which it can be given, and looks for the password.
fn assert_nothing_tells(address: &str, password: &str) {
    let agents = Agents::new();
    for (at, command) in commands().into_iter().enumerate() {
        let event = json!({
            "hook_event_name": "Stop", "session_id": SESSION, "cwd": agents.user.path(""),
            "transcript_path": agents.user.path(format!(".claude/projects/-work/{SESSION}.jsonl")),
        });
        agents.user.file("event.json", event.to_string());
        let shape: &[&str] = if at % 2 == 0 { &[] } else { &["--json"] };
        let by_flag = [&["--store", address], shape, &command[..]].concat();
        let by_variable = [shape, &command[..]].concat();
        for (arguments, variable) in [(by_flag, None), (by_variable, Some(address))] {
            let mut running = agents.command(&arguments);
            running.env("CTX_LOG", "trace").stdin(fs::File::open(agents.user.path("event.json")).unwrap());
            let ran = agents.user.ran(running.envs(variable.map(|address| ("CTX_STORE", address))).output());
            assert_unshown(&ran, password, &format!("{arguments:?}"));
        }
    }
    agents.assert_unkept(password, address);
}

fn guarded(server: &PostgresServer, schema: &str) -> String {
    format!("{}?schema={schema}", server.url_as("guarded", Some(GUARDED_PASSWORD)))
}

fn anonymous(server: &PostgresServer, schema: &str) -> String {
    format!("{}?schema={schema}", server.url_as("guarded", None))
}

#[test]
fn no_command_keeps_or_shows_the_password_that_it_was_given() {
    let server = PostgresServer::shared();
    assert_nothing_tells(&guarded(server, "told_to_all"), GUARDED_PASSWORD);
    // They did something there, and told the server no more than they should.
    assert_ne!(server.psql("SELECT count(*) FROM told_to_all.commits"), "0");
    let tables = server.psql("SELECT tablename FROM pg_tables WHERE schemaname = 'told_to_all'");
    for table in tables.lines() {
        let rows = server.psql(&format!("SELECT row_to_json(t) FROM told_to_all.{table} t"));
        for form in forms(GUARDED_PASSWORD) {
            assert!(!rows.contains(&form), "{table} holds {form}");
        }
    }
}

#[test]
fn no_command_that_fails_keeps_or_shows_a_password() {
    let server = PostgresServer::shared();
    assert_nothing_tells(&server.url_as("guarded", Some(WRONG)), WRONG);
}

#[test]
fn no_command_without_a_server_keeps_or_shows_a_password() {
    assert_nothing_tells(&format!("postgres://ada:{}@127.0.0.1:1/work?retry=0", encoded(WRONG)), WRONG);
}

#[test]
fn neither_another_database_nor_a_certificate_makes_one_tell() {
    let server = PostgresServer::shared();
    let agents = Agents::new();
    let addresses = [
        guarded(server, "told").replace("/contexture?", "/nowhere?"),
        guarded(server, "told") + "&sslmode=require",
        guarded(server, "told") + "&sslmode=verify-full",
        guarded(server, "told") + "&sslrootcert=/nowhere/at.all",
        guarded(server, "told") + "&sslmode=verify-ca",
    ];
    for address in &addresses {
        for command in [&["log"][..], &["store", "check"], &["doctor"], &["--json", "list"], &["import"]] {
            let ran = agents.run(&[&["--store", address], command].concat());
            assert_unshown(&ran, GUARDED_PASSWORD, address);
        }
    }
    agents.assert_unkept(GUARDED_PASSWORD, "a failure");
}

#[test]
fn an_address_that_cannot_be_read_is_not_repeated() {
    let agents = Agents::new();
    // What is looked for is in each of them as it is, because what cannot be read cannot be decoded.
    for address in [
        "postgres://ada:hunter2hunter2",
        "postgres://ada:hunter2hunter2@",
        "postgres://ada:hunter2hunter2@/work",
        "postgres://:hunter2hunter2@db.example/work",
        "postgres://ada:x@hunter2hunter2@db.example/work",
        "postgres://ada:x@hunter2hunter2/y@db.example/work",
        "postgres://ada:x@hunter2?hunter2hunter2@db.example/work",
        "postgres://ada:x?hunter2hunter2=y",
        "postgres://ada:x/hunter2hunter2@db.example/work?colour=red",
        "postgres://ada:x#hunter2hunter2@db.example/work?colour=red",
        "postgres://ada:hunter2hunter2@db.example:port/work",
        "postgres://ada:hunter2hunter2@db.example:99999999/work",
        "postgres://ada:hunter2hunter2@[::1/work",
        "postgres://ada:hunter2hunter2@db.example/work?colour=red",
        "postgres://ada@db.example/work?password=hunter2hunter2&colour=red",
        "postgres://ada@db.example/work?pasword=hunter2hunter2",
        "postgres://ada@db.example/work?hunter2hunter2",
        "postgres://ada@db.example/work?schema=hunter2hunter2@",
        "postgres://ada:%zzhunter2hunter2@db.example/work?schema=Mine",
        "postgres://ada:hunter2hunter2%@db.example/work?schema=Mine",
        "postgres://ada:hunter2hunter2@db.example/work?retry=soon",
        "postgres://ada:hunter2hunter2@db.example/work?connect_timeout=x",
        "postgres://ada:hunter2hunter2@db.example/work?service=absent",
        "postgres:ada:hunter2hunter2@db.example/work",
        "postgres:/ada:hunter2hunter2@db.example/work",
        "postgresql:ada:hunter2hunter2@db.example/work",
        "POSTGRES://ada:hunter2hunter2@db.example/work",
        "postgress://ada:hunter2hunter2@db.example/work",
        "mysql://ada:hunter2hunter2@db.example/work",
        "ada:hunter2hunter2@db.example://work",
        "ada:hunter2hunter2@db.example/work",
        "//ada:hunter2hunter2@db.example/work",
        "host=db.example user=ada password=hunter2hunter2",
        " postgres://ada:hunter2hunter2@db.example/work",
        "'postgres://ada:hunter2hunter2@db.example/work'",
    ] {
        for command in [&["log"][..], &["store", "path"], &["--json", "log"], &["init", "--dry-run"], &["demo"]] {
            let ran = agents.run(&[&["--store", address], command].concat());
            assert!(ran.code != 0, "{address}\n{ran}");
            assert!(!ran.to_string().contains("hunter2hunter2"), "{address} {command:?}\n{ran}");
        }
        let ran = agents.run(&["store", "check", address]);
        assert!(!ran.to_string().contains("hunter2hunter2") && ran.code != 0, "{address}\n{ran}");
        let ran = agents.user.ran(agents.command(&["log"]).env("CTX_STORE", address).output());
        assert!(!ran.to_string().contains("hunter2hunter2") && ran.code != 0, "{address}\n{ran}");
    }
    agents.assert_unkept("hunter2hunter2", "an address that cannot be read");
}

#[test]
fn a_command_line_that_is_not_understood_is_repeated_without_its_password() {
    let agents = Agents::new();
    for arguments in [
        &["store", "postgres://ada:hunter2hunter2@db.example/work", "check"][..],
        &["postgres://ada:hunter2hunter2@db.example/work"],
        &["log", "postgres://ada:hunter2hunter2@db.example/work", "x"],
        &["--stor=postgres://ada:hunter2hunter2@db.example/work", "log"],
        &["--space", "postgres://ada:hunter2hunter2@db.example/work", "log"],
        &["--json", "store", "postgres://ada:hunter2hunter2@db.example/work"],
    ] {
        let ran = agents.run(arguments);
        assert!(ran.code != 0 && !ran.to_string().contains("hunter2hunter2"), "{arguments:?}\n{ran}");
    }
}

#[test]
fn hooks_are_given_no_address_with_a_password() {
    let agents = Agents::new();
    let address = "postgres://ada:hunter2hunter2@db.example/work";
    for arguments in
        [&["init", "--yes"][..], &["init", "--yes", "--project"], &["init", "--yes", "--git"], &["init", "--dry-run"]]
    {
        let ran = agents.run(&[&["--store", address], arguments].concat());
        assert_eq!(ran.code, 1, "{ran}");
        for way in ["config.toml", "PGPASSFILE", "PGSERVICE", "0600"] {
            assert!(ran.stderr.contains(way), "{way}\n{ran}");
        }
        assert!(!ran.to_string().contains("hunter2hunter2"), "{ran}");
    }
    let refused = agents.run(&["--store", address, "init", "--yes", "--json"]);
    assert!(refused.stderr.contains("\"code\":\"password-in-address\""), "{refused}");
    assert!(!agents.user.path(".claude/settings.json").exists());
    agents.assert_unkept("hunter2hunter2", "ctx init");
    // Without one, they name the store.
    let ran =
        agents.run(&["--store", "postgres://ada@db.example/work?retry=5", "init", "--yes", "--runtime", "claude-code"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(agents.user.read(".claude/settings.json").contains("postgres://ada@db.example/work?retry=5"));
}

#[test]
fn a_password_that_hooks_were_given_before_is_reported_and_taken_out_unseen() {
    let agents = Agents::new();
    let ran = agents.run(&["--store", "postgres://ada@db.example/work", "init", "--yes", "--runtime", "claude-code"]);
    assert_eq!(ran.code, 0, "{ran}");
    let settings = agents.user.read(".claude/settings.json").replace("ada@", "ada:hunter2hunter2@");
    agents.user.file(".claude/settings.json", settings);
    let unwell = agents.run(&["doctor"]);
    assert!(unwell.stdout.contains("a password stands in"), "{unwell}");
    for arguments in [
        &["--store", "postgres://ada@db.example/work", "init", "--dry-run", "--runtime", "claude-code"][..],
        &["--store", "postgres://ada@db.example/work", "init", "--yes", "--runtime", "claude-code"],
    ] {
        let ran = agents.run(arguments);
        assert!(ran.code == 0 && !ran.to_string().contains("hunter2hunter2"), "{ran}");
    }
    agents.assert_unkept("hunter2hunter2", "ctx init");
}

#[test]
fn what_a_run_starts_is_given_no_password() {
    let server = PostgresServer::shared();
    let agents = Agents::new();
    let address = guarded(server, "told_to_runs");
    let by_flag = agents.run(&["--store", &address, "run", "--", "env"]);
    let by_variable = agents.user.ran(agents.command(&["run", "--", "env"]).env("CTX_STORE", &address).output());
    agents.configure(&address);
    let by_configuration = agents.run(&["run", "--", "env"]);
    for ran in [by_flag, by_variable, by_configuration] {
        assert_eq!(ran.code, 0, "{ran}");
        assert_unshown(&ran, GUARDED_PASSWORD, "ctx run");
    }
}

#[test]
fn an_agent_that_goes_on_with_a_session_is_given_no_password() {
    let server = PostgresServer::shared();
    let agents = Agents::new();
    let address = guarded(server, "told_to_agents");
    agents.user.file("claude", "#!/bin/sh\nenv\n");
    agents.set_mode("claude", 0o755);
    let search = format!("{}:/usr/bin:/bin", agents.user.path("").display());
    let run = |arguments: &[&str]| {
        agents.user.ran(agents.command(arguments).env("CTX_STORE", &address).env("PATH", &search).output())
    };
    assert_eq!(run(&["import"]).code, 0);
    let ran = run(&["resume", &format!("session/{SESSION}"), "--in", "claude-code", "--cwd", "."]);
    assert!(ran.stdout.contains("CTX_STORE=postgres://guarded@"), "{ran}");
    assert_unshown(&ran, GUARDED_PASSWORD, "ctx resume");
}

#[test]
fn a_password_on_a_command_line_is_warned_of_once() {
    let server = PostgresServer::shared();
    let agents = Agents::new();
    let warned = |ran: &Ran| ran.stderr.lines().filter(|line| line.contains("can be seen by others")).count();
    let by_flag = agents.run(&["--store", &guarded(server, "seen"), "spaces"]);
    assert_eq!((by_flag.code, warned(&by_flag)), (0, 1), "{by_flag}");
    let by_argument = agents.run(&["store", "check", &guarded(server, "seen")]);
    assert_eq!((by_argument.code, warned(&by_argument)), (0, 1), "{by_argument}");
    let by_variable = agents.user.ran(agents.command(&["spaces"]).env("CTX_STORE", guarded(server, "seen")).output());
    assert_eq!((by_variable.code, warned(&by_variable)), (0, 0), "{by_variable}");
}

#[test]
fn a_configuration_file_names_the_store_and_is_the_users_alone() {
    let server = PostgresServer::shared();
    let agents = Agents::new();
    let address = guarded(server, "configured");
    agents.configure(&address);
    let checkpoint = ["checkpoint", "--format", "jsonl", "--head", "main", "turn.jsonl"];
    let made = agents.run(&checkpoint);
    assert_eq!(made.code, 0, "{made}");
    let there = agents.run(&["--store", &address, "log", "--oneline"]);
    assert_eq!(agents.run(&["log", "--oneline"]).stdout, there.stdout);
    // Hooks need no address then.
    let set_up = agents.run(&["init", "--yes", "--runtime", "claude-code"]);
    assert_eq!(set_up.code, 0, "{set_up}");
    assert!(!agents.user.read(".claude/settings.json").contains("--store"));
    for mode in [0o644, 0o640, 0o604, 0o660] {
        agents.set_mode(".config/contexture/config.toml", mode);
        let refused = agents.run(&["log"]);
        assert_eq!(refused.code, 1, "{mode:o}\n{refused}");
        assert!(refused.stderr.contains("chmod 600"), "{refused}");
        assert_unshown(&refused, GUARDED_PASSWORD, "a configuration that others can read");
    }
    // Who names another store is not held up, and neither is an address without a password.
    let elsewhere = agents.run(&["--store", "elsewhere", "log"]);
    assert_eq!(elsewhere.code, 0, "{elsewhere}");
    agents.configure("elsewhere");
    agents.set_mode(".config/contexture/config.toml", 0o644);
    assert_eq!(agents.run(&["store", "path"]).stdout, "elsewhere\n");
}

#[test]
fn a_configuration_file_of_somebody_else_is_refused() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only the superuser can give a file to somebody else");
        return;
    }
    let agents = Agents::new();
    agents.configure("postgres://ada:hunter2hunter2@db.example/work");
    let file = agents.user.path(".config/contexture/config.toml");
    std::os::unix::fs::chown(&file, Some(12_345), None).unwrap();
    let refused = agents.run(&["log"]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(refused.stderr.contains("config.toml") && refused.stderr.contains("belongs to somebody else"), "{refused}");
    assert_unshown(&refused, "hunter2hunter2", "a configuration of somebody else");
}

#[test]
fn a_configuration_file_that_is_wrong_is_refused_without_a_word_of_it() {
    let agents = Agents::new();
    for content in [
        "store = postgres://ada:hunter2hunter2@db.example/work\n",
        "store = \"postgres://ada:hunter2hunter2@db.example/work\n",
        "store = [\"postgres://ada:hunter2hunter2@db.example/work\"]\n",
        "stor = \"postgres://ada:hunter2hunter2@db.example/work\"\n",
        "store = \"postgres://ada:hunter2hunter2@db.example/work?colour=red\"\n",
        "store = \"x\"\nstore = \"postgres://ada:hunter2hunter2@db.example/work\"\n",
        "hunter2hunter2",
    ] {
        agents.private(".config/contexture/config.toml", content);
        let ran = agents.run(&["log"]);
        assert!(ran.code != 0 && ran.stderr.contains("config.toml"), "{content}\n{ran}");
        assert!(!ran.to_string().contains("hunter2hunter2"), "{content}\n{ran}");
    }
}

#[test]
fn a_password_comes_from_a_password_file() {
    let server = PostgresServer::shared();
    let agents = Agents::new();
    let (address, port) = (anonymous(server, "by_file"), server.port());
    let escaped = GUARDED_PASSWORD.replace('\\', "\\\\").replace(':', "\\:");
    let spaces = || agents.run(&["--store", &address, "spaces"]);
    assert_eq!(spaces().code, 1);
    agents.private(".pgpass", &format!("# mine\nelsewhere:*:*:*:x\n127.0.0.1:{port}:contexture:guarded:{escaped}\n"));
    let usual = spaces();
    assert_eq!(usual.code, 0, "{usual}");
    agents.set_mode(".pgpass", 0o640);
    let open = spaces();
    assert!(open.code == 1 && open.stderr.contains(".pgpass") && open.stderr.contains("chmod 600"), "{open}");
    fs::remove_file(agents.user.path(".pgpass")).unwrap();
    agents.private("passwords", &format!("*:*:*:guarded:{escaped}\n"));
    let named =
        agents.command(&["--store", &address, "spaces"]).env("PGPASSFILE", agents.user.path("passwords")).output();
    let named = agents.user.ran(named);
    assert_eq!(named.code, 0, "{named}");
    // The first line that fits is the one that counts.
    agents.private("passwords", &format!("*:{port}:*:*:{WRONG}\n*:*:*:guarded:{escaped}\n"));
    let first =
        agents.command(&["--store", &address, "spaces"]).env("PGPASSFILE", agents.user.path("passwords")).output();
    let first = agents.user.ran(first);
    assert_eq!(first.code, 1, "{first}");
    assert_unshown(&first, WRONG, "a password file");
}

#[test]
fn an_address_comes_from_a_service_file() {
    let server = PostgresServer::shared();
    let agents = Agents::new();
    let (port, password) = (server.port(), GUARDED_PASSWORD);
    let section = format!(
        "[other]\nhost=nowhere\n\n# ours\n[team]\nhost=127.0.0.1\nport={port}\ndbname=contexture\nuser=guarded\npassword={password}\n"
    );
    agents.private(".pg_service.conf", &section);
    let by_address = agents.run(&["--store", "postgres://?service=team&schema=by_service", "spaces"]);
    assert_eq!(by_address.code, 0, "{by_address}");
    let by_variable = |address: &str| {
        let file = agents.user.path("services");
        let mut command = agents.command(&["--store", address, "spaces"]);
        agents.user.ran(command.env("PGSERVICE", "team").env("PGSERVICEFILE", file).output())
    };
    fs::rename(agents.user.path(".pg_service.conf"), agents.user.path("services")).unwrap();
    let variable = by_variable("postgres://?schema=by_service");
    assert_eq!(variable.code, 0, "{variable}");
    // Another server is told nothing of this one's password, and neither is another user.
    let other = by_variable(&format!("postgres://guarded@localhost:{port}/contexture?schema=by_service"));
    assert!(other.code == 1 && other.stderr.contains("password"), "{other}");
    agents.set_mode("services", 0o644);
    let open = by_variable("postgres://?schema=by_service");
    assert!(open.code == 1 && open.stderr.contains("chmod 600"), "{open}");
    assert_unshown(&open, password, "a service file");
    // What is not used may lie open.
    let unused = by_variable(&format!("postgres://guarded@localhost:{port}/contexture?schema=by_service"));
    assert!(unused.code == 1 && !unused.stderr.contains("chmod"), "{unused}");
    let absent = agents.run(&["--store", "postgres://?service=absent", "spaces"]);
    assert!(absent.code == 2 && absent.stderr.contains("absent"), "{absent}");
    // Hooks can name it.
    agents.private(".pg_service.conf", &section);
    let set_up = agents.run(&["--store", "postgres://?service=team", "init", "--yes", "--runtime", "claude-code"]);
    assert_eq!(set_up.code, 0, "{set_up}");
    assert!(agents.user.read(".claude/settings.json").contains("'postgres://?service=team'"));
}

#[test]
fn a_server_that_proves_nothing_is_left_with_the_reason_and_the_parameter() {
    let server = PostgresServer::start();
    let make = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=test -keyout server.key -out server.crt \
                -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE";
    let agents = Agents::new();
    let spaces = |settings: &str| agents.run(&["--store", &format!("{}?{settings}", server.url()), "spaces"]);
    let bare = spaces("sslmode=verify-full");
    assert!(bare.code == 1 && bare.stderr.contains("server does not support TLS"), "{bare}");
    assert!(bare.stderr.contains("sslmode=disable"), "{bare}");
    server.psql(&format!("COPY (SELECT 1) TO PROGRAM '{make}'"));
    server.set("ssl", "on");
    let stranger = spaces("sslmode=verify-full");
    for word in ["does not prove", "sslrootcert=FILE", "sslmode=require"] {
        assert!(stranger.code == 1 && stranger.stderr.contains(word), "{word}\n{stranger}");
    }
    let json = agents.run(&["--json", "--store", &format!("{}?sslmode=verify-full", server.url()), "spaces"]);
    assert!(json.stderr.contains("\"code\":\"unproven-server\""), "{json}");
    let certificate = format!("{}/server.crt", server.psql("SHOW data_directory"));
    assert_eq!(spaces(&format!("sslrootcert={certificate}")).code, 0);
    assert_eq!(spaces("sslmode=require").code, 0);
    // A variable asks as the address does, and less than the address.
    let by_variable = |settings: &str, mode: &str| {
        let mut command = agents.command(&["--store", &format!("{}?{settings}", server.url()), "spaces"]);
        agents.user.ran(command.env("PGSSLMODE", mode).stdout(Stdio::piped()).output()).code
    };
    assert_eq!(
        [by_variable("", "verify-full"), by_variable("sslmode=prefer", "verify-full"), by_variable("", "require")],
        [1, 0, 0]
    );
}
