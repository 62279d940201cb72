//! A PostgreSQL server of the tests' own.

use std::{
    fs,
    io::Write as _,
    iter,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::{self, Command},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use tempfile::TempDir;

use super::{guard::DatabaseGuard, programs};
use crate::sqlite::MEMORY;

/// The password of the role `guarded`. Most of it has to be escaped in a URL.
pub const GUARDED_PASSWORD: &str = "p@ss/w:rd?#% '1'";

/// What a server may take with its write-ahead log. A container often has less in memory.
const ROOM_KIB: u64 = 2 << 20;

/// Orders text otherwise than by its bytes, so that statements which rely on that fail. A PostgreSQL that was built
/// without ICU, or is older than 15, gets the order of the bytes.
const INITDB: &str = "\
init() { initdb --pgdata=data --username=ctx --auth=trust --no-sync --encoding=UTF8 --locale=C.UTF-8 \"$@\"; }
init --locale-provider=icu --icu-locale=en-US || init";

const ACCESS: &str = "\
local all all trust
host all guarded 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
";

/// A private PostgreSQL server on a loopback port, empty at first.
///
/// It has a database `contexture` that belongs to the superuser `ctx`. The roles `guarded`, which needs
/// [`GUARDED_PASSWORD`], and `reader`, whose transactions are read-only by default, are no superusers but have all
/// other rights of `ctx`.
///
/// The server stops and its files go away when the value is dropped, and also when the process ends, however it ends.
pub struct PostgresServer {
    guard: Mutex<DatabaseGuard>,
    psql: PathBuf,
    port: u16,
}

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// Breaks off what runs and closes the database in order.
    Fast,
    /// Crashes: the next start has to recover from the log.
    Immediate,
}

impl PostgresServer {
    /// Says whether PostgreSQL is installed.
    pub fn available() -> bool {
        programs::directory().is_some()
    }

    /// Starts a server in memory, if there is room; that takes about a second.
    pub fn start() -> Self {
        let programs = installed_programs();
        Self::start_over(&make_directory(), &programs)
    }

    /// Starts a server whose files are in a new directory in `place`.
    ///
    /// Where this process is root, PostgreSQL runs as a user of its own, who must be able to enter `place` and may leave
    /// the empty directory behind.
    pub fn start_in(place: &Path) -> Self {
        let programs = installed_programs();
        let place = place.canonicalize().expect("the place is there");
        Self::start_over(&TempDir::new_in(place).expect("a directory can be made there").keep(), &programs)
    }

    fn start_over(directory: &Path, programs: &Path) -> Self {
        let mut guard = DatabaseGuard::over(directory, programs);
        guard.run(INITDB).unwrap_or_else(|log| panic!("initdb failed:\n{log}"));
        configure(directory);
        let port = start_on_free_port(&mut guard);
        let server = Self { guard: Mutex::new(guard), psql: programs.join("psql"), port };
        server.create_roles();
        server
    }

    /// Returns the server that all tests of this process share, and starts it if this is the first call.
    ///
    /// A test that stops or configures its server starts its own.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<PostgresServer> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// Returns the port, which stays the same as long as the value lives.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns where the database `contexture` is for the superuser `ctx`.
    pub fn url(&self) -> String {
        self.url_as("ctx", None)
    }

    /// Returns where the database `contexture` is for a role.
    pub fn url_as(&self, user: &str, password: Option<&str>) -> String {
        let password = password.map_or_else(String::new, |password| format!(":{}", percent_encoded(password)));
        format!("postgres://{}{password}@127.0.0.1:{}/contexture", percent_encoded(user), self.port)
    }

    /// Stops the server and starts it again.
    pub fn restart(&self, mode: Shutdown) {
        self.stop(mode);
        self.resume();
    }

    /// Stops the server, whoever is connected to it.
    pub fn stop(&self, mode: Shutdown) {
        let mode = match mode {
            Shutdown::Fast => "fast",
            Shutdown::Immediate => "immediate",
        };
        self.control(&format!("pg_ctl stop --pgdata=data --wait --mode={mode}"));
    }

    /// Starts the server after [`PostgresServer::stop`] and waits until it takes connections.
    pub fn resume(&self) {
        self.control(&start_command(self.port));
    }

    /// Runs statements as `ctx` in the database `contexture`, in one transaction, and returns the rows: one per line,
    /// columns separated by `|`.
    pub fn psql(&self, sql: &str) -> String {
        self.try_psql(&self.url(), sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Does what [`PostgresServer::psql`] does at any URL; fails with what psql says.
    pub fn try_psql(&self, url: &str, sql: &str) -> Result<String, String> {
        self.run_psql(url, &[sql])
    }

    /// Changes a setting for all sessions, old and new. Some settings take effect only after a restart.
    pub fn set(&self, name: &str, value: &str) {
        const LOADED: &str = "SELECT pg_conf_load_time()";
        let before = self.psql(LOADED);
        self.psql(&format!("ALTER SYSTEM SET {name} = '{}'", value.replace('\'', "''")));
        self.psql("SELECT pg_reload_conf()");
        // The server reloads some time after it was told to. A new session has what the server has.
        assert!((0..1000).any(|_| self.psql(LOADED) != before), "{name} = {value} is not taken");
    }

    fn run_psql(&self, url: &str, commands: &[&str]) -> Result<String, String> {
        let mut psql = Command::new(&self.psql);
        // What the environment says about PostgreSQL is about another one.
        psql.env_clear().args(["--no-psqlrc", "--no-password", "--quiet", "--no-align", "--tuples-only"]);
        psql.args(["--set=ON_ERROR_STOP=1", "--dbname", url]);
        let ran = psql.args(commands.iter().flat_map(|sql| ["--command", sql])).output().expect("psql can be run");
        let text = |bytes| String::from_utf8(bytes).expect("psql writes UTF-8").trim_end_matches('\n').to_owned();
        if ran.status.success() { Ok(text(ran.stdout)) } else { Err(text(ran.stderr)) }
    }

    fn create_roles(&self) {
        let guarded =
            format!("CREATE ROLE guarded LOGIN IN ROLE ctx PASSWORD '{}'", GUARDED_PASSWORD.replace('\'', "''"));
        let commands = [
            &guarded,
            "CREATE ROLE reader LOGIN IN ROLE ctx",
            "ALTER ROLE reader SET default_transaction_read_only = on",
            "CREATE DATABASE contexture OWNER ctx",
        ];
        let maintenance = format!("postgres://ctx@127.0.0.1:{}/postgres", self.port);
        self.run_psql(&maintenance, &commands).unwrap_or_else(|error| panic!("cannot create roles: {error}"));
    }

    fn control(&self, command: &str) {
        let ran = self.guard.lock().unwrap_or_else(PoisonError::into_inner).run(command);
        ran.unwrap_or_else(|log| panic!("{command} failed:\n{log}"));
    }
}

fn installed_programs() -> PathBuf {
    programs::directory().expect("PostgreSQL is not installed: run `cargo xtask test`, it does that")
}

/// Makes a directory that outlives the value it is returned as; the guard removes it.
fn make_directory() -> PathBuf {
    let made = if free_kib(MEMORY) >= ROOM_KIB { TempDir::new_in(MEMORY) } else { TempDir::new() };
    made.expect("a temporary directory can be made").keep()
}

/// Returns how much fits into a file system, 0 if there is none.
fn free_kib(place: &str) -> u64 {
    let said = Command::new("df").args(["-Pk", place]).output().expect("there is a df");
    let table = String::from_utf8_lossy(&said.stdout);
    table.lines().nth(1).and_then(|row| row.split_whitespace().nth(3)?.parse().ok()).unwrap_or(0)
}

fn configure(directory: &Path) {
    let settings = format!(
        "listen_addresses = '127.0.0.1'\n\
         unix_socket_directories = '{}'\n\
         max_connections = 200\n\
         shared_buffers = 64MB\n\
         password_encryption = scram-sha-256\n",
        directory.display()
    );
    let data = directory.join("data");
    // The last of equal settings counts.
    let file = fs::OpenOptions::new().append(true).open(data.join("postgresql.conf"));
    file.and_then(|mut file| file.write_all(settings.as_bytes())).expect("initdb wrote settings");
    fs::write(data.join("pg_hba.conf"), ACCESS).expect("the data directory is there");
}

fn start_on_free_port(guard: &mut DatabaseGuard) -> u16 {
    let mut failure = String::new();
    // A port may be taken between the look and the start.
    for port in free_ports().take(5) {
        match guard.run(&start_command(port)) {
            Ok(()) => return port,
            Err(log) => failure = log,
        }
    }
    panic!("PostgreSQL does not start:\n{failure}")
}

fn start_command(port: u16) -> String {
    format!("pg_ctl start --pgdata=data --log=log --wait --options='-p {port}'")
}

/// Returns free ports below those that the system hands out by itself. Otherwise a client that calls a stopped server
/// again and again would at some time be given that very port as its own, and keep the server from coming back.
fn free_ports() -> impl Iterator<Item = u16> {
    static TRIED: AtomicU32 = AtomicU32::new(0);
    let candidates = iter::repeat_with(|| {
        let number = process::id().wrapping_mul(37).wrapping_add(TRIED.fetch_add(1, Ordering::Relaxed));
        15_000 + u16::try_from(number % 17_000).expect("it is below 17,000")
    });
    candidates.filter(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
}

fn percent_encoded(text: &str) -> String {
    let encode =
        |byte: u8| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encode).collect()
}
