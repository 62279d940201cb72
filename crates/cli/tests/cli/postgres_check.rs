//! What `ctx store check` tells of a server.

use contexture_testkit::postgres::PostgresServer;
use insta::assert_snapshot;
use serde_json::Value;

use crate::cli::harness::User;

#[test]
fn a_check_tells_what_is_there() {
    let user = User::with_history();
    assert_snapshot!(user.check(&user.place.url()), @"
    server       PostgreSQL … at 127.0.0.1:PORT
    user         ctx
    database     contexture
    schema       SCHEMA
    encryption   none
    store        1 space, schema version 9
    access       reading and writing
    files        … MB
    durability   fsync on, full_page_writes on, synchronous_commit on, data_checksums off
    connections  … of … in use
    speed        connects in … ms, answers in … ms, commits in … ms
    ");
    let checked = user.ran(user.command(&["store", "check", "--json"]).env_remove("CTX_TIME").output());
    let mut document: Value = serde_json::from_str(&checked.stdout).unwrap();
    let bytes = document["store"]["database_bytes"].take().as_u64().unwrap();
    assert_eq!(
        bytes,
        serde_json::from_str::<Value>(&user.done(&["stats", "--json"])).unwrap()["files"]["database_bytes"]
    );
    let clock_ahead = document["clock_ahead_micros"].take().as_i64().unwrap();
    assert!(clock_ahead.abs() < 1_000_000, "{clock_ahead}");
    let timings = ["connect_micros", "round_trip_micros", "commit_micros"];
    for micros in timings.map(|name| document["timings"][name].take().as_u64().unwrap()) {
        assert!((1..60_000_000).contains(&micros), "{micros}");
    }
    assert!((1..200).contains(&document["connections"]["used"].take().as_u64().unwrap()));
    let version = document["server_version"].take();
    assert_eq!(version, user.place.backend.server().psql("SHOW server_version"));
    let port = user.place.backend.server().port().to_string();
    assert_snapshot!(document.to_string().replace(&port, "PORT").replace(user.place.backend.schema(), "SCHEMA"), @r#"{"access":{"mode":"read-write"},"clock_ahead_micros":null,"connections":{"max":200,"used":null},"database":"contexture","database_schema":"SCHEMA","durability":{"data_checksums":false,"fsync":true,"full_page_writes":true,"synchronous_commit":"on"},"engine":"postgres","path":"store","schema":"contexture/1","server":"127.0.0.1:PORT","server_address":"127.0.0.1:PORT","server_version":null,"store":{"database_bytes":null,"known_version":9,"spaces":1,"state":"present","version":9},"timings":{"commit_micros":null,"connect_micros":null,"round_trip_micros":null},"user":"ctx"}"#);
}

#[test]
fn a_check_makes_nothing_and_changes_nothing() {
    let user = User::new();
    let (server, schema) = (user.place.backend.server(), user.place.backend.schema());
    let checked = user.steady(&user.run(&["store", "check"]));
    assert_snapshot!(checked.lines().find(|line| line.starts_with("store")).unwrap(), @"store        none yet; the first command makes it");
    assert_eq!(server.psql(&format!("SELECT count(*) FROM pg_namespace WHERE nspname = '{schema}'")), "0");
    user.done(&["artifact", "put", "/dev/null"]);
    let rows = || server.psql(&format!("SELECT xmin, * FROM {schema}.spaces; SELECT xmin, * FROM {schema}.journal"));
    let before = rows();
    assert_eq!(user.run(&["store", "check"]).code, 0);
    assert_eq!(rows(), before);
}

#[test]
fn a_check_says_when_the_clocks_differ() {
    let user = User::new();
    let checked = user.command(&["store", "check"]).env("CTX_TIME", "2020-01-01").output();
    let checked = user.steady(&user.ran(checked));
    assert_snapshot!(checked.lines().find(|line| line.starts_with("clock")).unwrap(), @"clock        the server's is … days ahead of the one here");
}

#[test]
fn a_check_warns_of_a_server_that_may_lose_what_it_acknowledged() {
    let server = PostgresServer::start();
    for setting in ["fsync", "full_page_writes", "synchronous_commit"] {
        server.set(setting, "off");
    }
    let user = User::new();
    let checked = user.run(&["store", "check", &server.url()]).to_string();
    let telling = |line: &&str| line.starts_with("durability") || line.starts_with("warning");
    assert_snapshot!(checked.lines().filter(telling).collect::<Vec<_>>().join("\n"), @"
    durability   fsync off, full_page_writes off, synchronous_commit off (ctx turns it on for itself), data_checksums off
    warning      fsync is off: if the server's machine crashes, everything may be lost
    warning      full_page_writes is off: if the server's machine crashes, the store may be damaged
    ");
}
