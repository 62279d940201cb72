//! The private PostgreSQL server and the proxy in front of it.

use std::{
    env,
    io::{BufRead as _, BufReader, Read as _},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use contexture_testkit::postgres::{GUARDED_PASSWORD, PostgresServer, Proxy, Shutdown};

/// Makes an empty table of one column.
fn make_table(server: &PostgresServer, name: &str) {
    server.psql(&format!("CREATE TABLE {name} (number int)"));
}

fn rows(server: &PostgresServer, table: &str) -> String {
    server.psql(&format!("SELECT count(*) FROM {table}"))
}

fn through(proxy: &Proxy) -> String {
    format!("postgres://ctx@127.0.0.1:{}/contexture", proxy.port())
}

#[test]
fn a_server_has_the_settings_that_tests_rely_on() {
    let server = PostgresServer::shared();
    let shown = ["listen_addresses", "max_connections", "shared_buffers", "fsync", "server_encoding"]
        .map(|name| server.psql(&format!("SHOW {name}")));
    assert_eq!(shown, ["127.0.0.1", "200", "64MB", "on", "UTF8"]);
    assert_eq!(server.psql("SHOW port"), server.port().to_string());
    assert_eq!(server.psql("SELECT 1, 'b'; SELECT 2"), "1|b\n2");
}

#[test]
fn text_is_not_ordered_by_its_bytes() {
    let server = PostgresServer::shared();
    assert_eq!(server.psql("SELECT 'a' < 'B', 'a' < 'B' COLLATE \"C\""), "t|f");
}

#[test]
fn each_role_gets_in_as_it_should() {
    let server = PostgresServer::shared();
    let asked = "SELECT current_user, rolsuper, current_database() FROM pg_roles WHERE rolname = current_user";
    let ask = |user, password| server.try_psql(&server.url_as(user, password), asked);
    assert_eq!(ask("ctx", None), Ok("ctx|t|contexture".to_owned()));
    assert_eq!(ask("reader", None), Ok("reader|f|contexture".to_owned()));
    assert_eq!(ask("guarded", Some(GUARDED_PASSWORD)), Ok("guarded|f|contexture".to_owned()));
    let refused = ask("guarded", Some("wrong")).expect_err("the password is wrong");
    assert!(refused.contains("password authentication failed"), "{refused}");
    let refused = ask("guarded", None).expect_err("there is no password");
    assert!(refused.contains("no password supplied"), "{refused}");
}

#[test]
fn the_reader_reads_and_guarded_writes() {
    let server = PostgresServer::shared();
    make_table(server, "roles");
    let guarded = server.url_as("guarded", Some(GUARDED_PASSWORD));
    assert_eq!(
        server.try_psql(&guarded, "INSERT INTO roles VALUES (1); CREATE TABLE of_guarded ()"),
        Ok(String::new())
    );
    let reader = server.url_as("reader", None);
    assert_eq!(server.try_psql(&reader, "SELECT number FROM roles"), Ok("1".to_owned()));
    let refused = server.try_psql(&reader, "INSERT INTO roles VALUES (2)").expect_err("it may only read");
    assert!(refused.contains("read-only transaction"), "{refused}");
}

#[test]
fn a_restart_keeps_what_was_committed() {
    let server = PostgresServer::start();
    let url = server.url();
    make_table(&server, "kept");
    for (mode, crashes) in [(Shutdown::Fast, 0), (Shutdown::Immediate, 1)] {
        server.psql("INSERT INTO kept VALUES (1)");
        let started = server.psql("SELECT pg_postmaster_start_time()");
        server.restart(mode);
        assert_ne!(server.psql("SELECT pg_postmaster_start_time()"), started);
        let log = server.psql("SELECT pg_read_file('../log')");
        assert_eq!(log.matches("was not properly shut down").count(), crashes, "{log}");
    }
    assert_eq!(rows(&server, "kept"), "2");
    assert_eq!(server.url(), url);
}

#[test]
fn a_stopped_server_answers_nobody_until_it_is_resumed() {
    let server = PostgresServer::start();
    server.stop(Shutdown::Fast);
    let refused = server.try_psql(&server.url(), "SELECT 1").expect_err("it is stopped");
    assert!(refused.contains("Connection refused"), "{refused}");
    server.resume();
    assert_eq!(server.psql("SELECT 1"), "1");
}

#[test]
fn a_setting_holds_for_the_next_session() {
    let server = PostgresServer::start();
    server.set("log_line_prefix", "it's %m ");
    assert_eq!(server.psql("SHOW log_line_prefix"), "it's %m ");
    server.set("deadlock_timeout", "20ms");
    assert_eq!(server.psql("SHOW deadlock_timeout"), "20ms");
}

#[test]
fn a_dropped_server_leaves_nothing() {
    let server = PostgresServer::start();
    let (port, data) = (server.port(), server.psql("SHOW data_directory"));
    drop(server);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    let directory = Path::new(&data).parent().expect("the data is in a directory");
    assert!(!directory.exists());
}

#[test]
fn a_killed_process_leaves_no_server() {
    const HOLD: &str = "CTX_TEST_HOLD_SERVER";
    if env::var_os(HOLD).is_some() {
        let server = PostgresServer::shared();
        println!("\nheld {} {}", server.port(), server.psql("SHOW data_directory"));
        loop {
            thread::park();
        }
    }
    let mut holder = Command::new(env::current_exe().expect("this is a program"));
    holder.args(["--exact", "a_killed_process_leaves_no_server", "--nocapture"]).env(HOLD, "1");
    let mut holder = holder.stdout(Stdio::piped()).spawn().expect("this program can be run");
    let said = BufReader::new(holder.stdout.take().expect("its output is piped"));
    let held = said.lines().map_while(Result::ok).find(|line| line.starts_with("held "));
    let held: Vec<String> = held.expect("it says what it holds").split(' ').map(str::to_owned).collect();
    let port: u16 = held[1].parse().expect("it says a port");
    let directory = Path::new(&held[2]).parent().expect("the data is in a directory");
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok() && directory.exists());

    holder.kill().expect("it runs");
    holder.wait().expect("it was killed");
    let killed = Instant::now();
    while directory.exists() {
        assert!(killed.elapsed() < Duration::from_secs(30), "{} is still there", directory.display());
        thread::sleep(Duration::from_millis(10));
    }
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn a_proxy_hands_on_everything_and_counts_it() {
    let server = PostgresServer::shared();
    let proxy = Proxy::to(server.port());
    let answer = server.try_psql(&through(&proxy), "SELECT repeat('x', 1000000)");
    assert_eq!(answer.map(|text| text.len()), Ok(1_000_000));
    let (sent, received) = proxy.counts();
    assert!((50..1000).contains(&sent), "{sent}");
    assert!((1_000_000..1_001_000).contains(&received), "{received}");
}

#[test]
fn a_statement_is_lost_if_its_last_byte_is() {
    /// What psql says last: a Terminate message.
    const GOODBYE: u64 = 5;
    let server = PostgresServer::shared();
    make_table(server, "unsent");
    let proxy = Proxy::to(server.port());
    let insert = || server.try_psql(&through(&proxy), "INSERT INTO unsent VALUES (1)");
    assert_eq!(insert(), Ok(String::new()));
    let (whole, _) = proxy.counts();

    for short in [1, 2, 10] {
        proxy.cut_after_sent(whole - GOODBYE - short);
        let (before, _) = proxy.counts();
        insert().expect_err("it was cut");
        assert_eq!(proxy.counts().0 - before, whole - GOODBYE - short);
    }
    assert_eq!(rows(server, "unsent"), "1");
    assert_eq!(insert(), Ok(String::new()), "only one cut per call");
    assert_eq!(rows(server, "unsent"), "2");
}

#[test]
fn a_commit_stands_though_its_answer_is_lost() {
    let server = PostgresServer::shared();
    make_table(server, "unheard");
    let proxy = Proxy::to(server.port());
    let insert = || server.try_psql(&through(&proxy), "INSERT INTO unheard VALUES (1)");
    assert_eq!(insert(), Ok(String::new()));
    let (_, whole) = proxy.counts();

    proxy.cut_after_received(whole - 1);
    insert().expect_err("it was cut");
    assert_eq!(proxy.counts().1, whole + whole - 1);
    assert_eq!(rows(server, "unheard"), "2");

    proxy.cut_after_received(0);
    insert().expect_err("it was cut before the server said anything");
    assert_eq!(rows(server, "unheard"), "2");
    assert_eq!(insert(), Ok(String::new()), "only one cut per call");
}

#[test]
fn a_cut_ends_the_connections_there_are_and_no_others() {
    let server = PostgresServer::shared();
    let proxy = Proxy::to(server.port());
    let url = format!("{}?application_name=sleeper", through(&proxy));
    let sleepers = || server.psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sleeper'");
    thread::scope(|scope| {
        let sleeping: Vec<_> = (0..3).map(|_| scope.spawn(|| server.try_psql(&url, "SELECT pg_sleep(600)"))).collect();
        while sleepers() != "3" {}
        proxy.cut();
        for sleeper in sleeping {
            sleeper.join().expect("psql ran").expect_err("it was cut");
        }
    });
    assert_eq!(server.try_psql(&url, "SELECT 1"), Ok("1".to_owned()));
    // The server does not look at a connection while it sleeps.
    server.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sleeper'");
}

#[test]
fn a_limit_that_one_connection_uses_up_cuts_all() {
    let server = PostgresServer::shared();
    let proxy = Proxy::to(server.port());
    let url = format!("{}?application_name=bystander", through(&proxy));
    let bystanders = || server.psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bystander'");
    thread::scope(|scope| {
        let bystander = scope.spawn(|| server.try_psql(&url, "SELECT pg_sleep(600)"));
        while bystanders() != "1" {}
        proxy.cut_after_received(500_000);
        server.try_psql(&through(&proxy), "SELECT repeat('x', 1000000)").expect_err("it was cut");
        bystander.join().expect("psql ran").expect_err("it was cut");
    });
    server.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bystander'");
}

#[test]
fn a_refusing_proxy_hangs_up_until_it_does_not_refuse() {
    let server = PostgresServer::shared();
    let proxy = Proxy::to(server.port());
    proxy.refuse(true);
    server.try_psql(&through(&proxy), "SELECT 1").expect_err("it is refused");
    proxy.refuse(false);
    assert_eq!(server.try_psql(&through(&proxy), "SELECT 1"), Ok("1".to_owned()));
}

#[test]
fn nobody_listens_where_a_dropped_proxy_was() {
    let proxy = Proxy::to(PostgresServer::shared().port());
    let port = proxy.port();
    let mut connected = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    drop(proxy);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    let ended = connected.read(&mut [0]);
    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
}
