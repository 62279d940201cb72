//! What only a store on PostgreSQL can show: what goes wrong on the way there.

use std::net::TcpListener;

use contexture_testkit::postgres::GUARDED_PASSWORD;
use insta::assert_snapshot;
use serde_json::Value;

use crate::cli::{
    demo::steady,
    harness::{Ran, User},
};

impl User {
    /// Returns where the user's store is for another role.
    fn url_as(&self, role: &str, password: Option<&str>) -> String {
        let backend = &self.place.backend;
        format!("{}?schema={}", backend.server().url_as(role, password), backend.schema())
    }

    /// Makes a role of which nobody else knows, with no rights.
    fn make_stranger(&self) -> String {
        let role = format!("stranger_of_{}", self.place.backend.schema());
        self.place.backend.server().psql(&format!("CREATE ROLE {role} LOGIN"));
        role
    }

    /// Checks a store at the real time, so that only a clock that is wrong differs from the server's.
    pub(crate) fn check(&self, url: &str) -> String {
        let checked = self.command(&["store", "check", url]).env_remove("CTX_TIME").output();
        self.steady(&self.ran(checked))
    }

    /// Runs the program with another store.
    fn run_at(&self, url: &str, arguments: &[&str]) -> String {
        self.steady(&self.run(&[&["--store", url], arguments].concat()))
    }

    /// Puts words in the place of what is another one in every run.
    pub(crate) fn steady(&self, ran: &Ran) -> String {
        let backend = &self.place.backend;
        let text = ran.to_string().replace(&backend.server().port().to_string(), "PORT");
        let text = text.replace(&format!("stranger_of_{}", backend.schema()), "stranger");
        let text = text.replace(backend.schema(), "SCHEMA");
        text.lines().map(steady_line).collect::<Vec<_>>().join("\n")
    }
}

/// Puts a word in the place of the numbers in a line of `ctx store check`.
fn steady_line(line: &str) -> String {
    let steady = |word: &str| match word {
        "µs" | "µs," | "second" | "second," => word.replace("µs", "ms").replace("second", "ms"),
        _ if word.starts_with(|letter: char| letter.is_ascii_digit()) => "…".to_owned(),
        _ => word.to_owned(),
    };
    let (name, value) = line.split_at(line.len().min(13));
    match name.trim() {
        "server" => format!("{name}PostgreSQL … at{}", value.rsplit_once(" at").unwrap().1),
        "files" | "connections" | "speed" | "clock" => {
            format!("{name}{}", value.split(' ').map(steady).collect::<Vec<_>>().join(" "))
        }
        _ => line.to_owned(),
    }
}

#[test]
fn who_is_not_let_in_is_told_so_and_no_password_is_shown() {
    let user = User::new();
    assert_snapshot!(user.run_at(&user.url_as("guarded", Some("s3cret")), &["log"]), @r#"
    [exit 1]
    [stderr]
    The password in --store can be seen by others on this machine while this runs; `ctx store --help` says where to keep it.
    error: the PostgreSQL server at 127.0.0.1:PORT does not let user guarded in
      because: password authentication failed for user "guarded"
      hint: name the user as postgres://USER@HOST/DATABASE; `ctx store --help` says where a password can be kept
    "#);
    assert_snapshot!(user.run_at(&user.url_as("guarded", None), &["log"]), @"
    [exit 1]
    [stderr]
    error: the PostgreSQL server at 127.0.0.1:PORT does not let user guarded in
      because: password missing
      hint: name the user as postgres://USER@HOST/DATABASE; `ctx store --help` says where a password can be kept
    ");
    assert_snapshot!(user.run_at(&user.url_as("nobody", Some("s3cret")), &["log"]), @r#"
    [exit 1]
    [stderr]
    The password in --store can be seen by others on this machine while this runs; `ctx store --help` says where to keep it.
    error: the PostgreSQL server at 127.0.0.1:PORT does not let user nobody in
      because: role "nobody" does not exist
      hint: name the user as postgres://USER@HOST/DATABASE; `ctx store --help` says where a password can be kept
    "#);
    assert_snapshot!(user.run_at(&user.url_as("guarded", Some("s3cret")), &["log", "--json"]), @r#"
    [exit 1]
    [stderr]
    The password in --store can be seen by others on this machine while this runs; `ctx store --help` says where to keep it.
    {"schema":"contexture/1","error":{"code":"login","message":"the PostgreSQL server at 127.0.0.1:PORT does not let user guarded in","causes":["password authentication failed for user \"guarded\""],"hint":"name the user as postgres://USER@HOST/DATABASE; `ctx store --help` says where a password can be kept"}}
    "#);
}

#[test]
fn a_password_comes_from_the_url_or_the_environment() {
    let user = User::with_history();
    let within = user.run(&["--store", &user.url_as("guarded", Some(GUARDED_PASSWORD)), "head", "list", "--json"]);
    let without = user.url_as("guarded", None);
    let beside =
        user.command(&["--store", &without, "head", "list", "--json"]).env("PGPASSWORD", GUARDED_PASSWORD).output();
    let beside = user.ran(beside);
    assert_eq!((within.code, &within.stdout), (beside.code, &beside.stdout));
    assert_eq!(within.stdout.trim_end(), user.done(&["head", "list", "--json"]));
    let wrong = user.command(&["--store", &without, "log"]).env("PGPASSWORD", "s3cret").output();
    assert_snapshot!(user.steady(&user.ran(wrong)), @r#"
    [exit 1]
    [stderr]
    error: the PostgreSQL server at 127.0.0.1:PORT does not let user guarded in
      because: password authentication failed for user "guarded"
      hint: name the user as postgres://USER@HOST/DATABASE; `ctx store --help` says where a password can be kept
    "#);
}

#[test]
fn a_database_that_is_not_there_is_named() {
    let user = User::new();
    let elsewhere = user.url_as("ctx", None).replace("/contexture?", "/nowhere?");
    assert_snapshot!(user.run_at(&elsewhere, &["log"]), @"
    [exit 1]
    [stderr]
    error: the PostgreSQL server at 127.0.0.1:PORT has no database nowhere
      hint: `createdb -h 127.0.0.1 -p PORT nowhere` makes it
    ");
}

#[test]
fn a_server_that_does_not_answer_is_named() {
    let user = User::new();
    assert_snapshot!(user.run_at("postgres://ada:s3cret@127.0.0.1:1/work", &["log"]), @"
    [exit 1]
    [stderr]
    The password in --store can be seen by others on this machine while this runs; `ctx store --help` says where to keep it.
    error: cannot reach the PostgreSQL server at 127.0.0.1:1
      because: Connection refused (os error 111)
      hint: `pg_isready -h 127.0.0.1 -p 1` asks whether a server is there
    ");
    // It accepts calls and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let said = user.run_at(&format!("postgres://ada:s3cret@127.0.0.1:{port}/work?connect_timeout=1"), &["log"]);
    assert_snapshot!(said.replace(&port.to_string(), "PORT"), @"
    [exit 1]
    [stderr]
    The password in --store can be seen by others on this machine while this runs; `ctx store --help` says where to keep it.
    error: cannot reach the PostgreSQL server at 127.0.0.1:PORT
      because: it does not answer
      hint: `pg_isready -h 127.0.0.1 -p PORT` asks whether a server is there
    ");
    assert_snapshot!(user.run_at(&(user.url_as("ctx", None) + "&sslmode=require"), &["log"]), @"
    [exit 1]
    [stderr]
    error: cannot reach the PostgreSQL server at 127.0.0.1:PORT
      because: server does not support TLS
    ");
}

#[test]
fn a_schema_of_somebody_else_is_refused_and_left_alone() {
    let user = User::new();
    let (server, schema) = (user.place.backend.server(), user.place.backend.schema());
    server.psql(&format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.theirs (a int)"));
    assert_snapshot!(user.run_at(&user.place.url(), &["log"]), @"
    [exit 1]
    [stderr]
    error: schema SCHEMA of database contexture at 127.0.0.1:PORT is not a Contexture store
      hint: `--store` names another directory, or another schema: postgres://USER@HOST/DATABASE?schema=NAME
    ");
    assert_eq!(user.run(&["store", "check"]).to_string(), user.run(&["log"]).to_string());
    let tables = server.psql(&format!("SELECT tablename FROM pg_tables WHERE schemaname = '{schema}'"));
    assert_eq!(tables, "theirs");
}

#[test]
fn a_store_that_may_only_be_read_is_read() {
    let user = User::with_history();
    user.file("turn.jsonl", "{}\n");
    let reader = user.url_as("reader", None);
    assert_eq!(user.done(&["--store", &reader, "log", "--graph"]), user.done(&["log", "--graph"]));
    assert_eq!(user.done(&["--store", &reader, "materialize", "main"]), user.done(&["materialize", "main"]));
    assert_eq!(user.run(&["--store", &reader, "fsck"]).code, 0);
    assert_snapshot!(user.run_at(&reader, &["checkpoint", "--head", "main", "turn.jsonl"]), @"
    [exit 1]
    [stderr]
    error: the store is read-only
      hint: `ctx store check` says why
    ");
    assert_snapshot!(user.check(&reader), @"
    server       PostgreSQL … at 127.0.0.1:PORT
    user         reader
    database     contexture
    schema       SCHEMA
    encryption   none
    store        1 space, schema version 9
    access       read-only: the server makes this user's transactions read-only
    files        … MB
    durability   fsync on, full_page_writes on, synchronous_commit on, data_checksums off
    connections  … of … in use
    speed        connects in … ms, answers in … ms
    ");
}

#[test]
fn who_may_only_read_searches_what_others_have_indexed() {
    let user = User::new();
    let note = |words: &str| {
        user.file("note.txt", words);
        user.done(&["checkpoint", "--format", "notes", "note.txt"]);
    };
    note("the first word");
    let reader = user.url_as("reader", None);
    assert_snapshot!(user.run_at(&reader, &["search", "word"]), @r#"
    [exit 1]
    [stderr]
    The index cannot be written here and is 2 journal records behind.
    error: nothing matches "word" in 0 passages (0 bytes of text)
      hint: `*` finds words that start so: `ctx search 'migrat*'`; filters may leave something out
    "#);
    user.done(&["search", "word"]);
    note("the second word");
    assert_snapshot!(user.run_at(&reader, &["search", "word"]), @"
    ctx-73f1926f08  ada@laptop, now
      text: the first word
    [stderr]
    The index cannot be written here and is 1 journal record behind.
    `ctx cat ctx-73f1926f08` shows the conversation up to there, `ctx resume ctx-73f1926f08` goes on with it.
    ");
}

#[test]
fn a_store_that_cannot_be_made_is_reported() {
    let user = User::new();
    let reader = user.url_as("reader", None);
    assert_snapshot!(user.run_at(&reader, &["log"]), @"
    [exit 1]
    [stderr]
    error: the store is read-only
      hint: `ctx store check` says why
    ");
    assert_snapshot!(user.check(&reader), @"
    [exit 1]
    server       PostgreSQL … at 127.0.0.1:PORT
    user         reader
    database     contexture
    schema       SCHEMA
    encryption   none
    store        none, and none can be made: the server makes this user's transactions read-only
    durability   fsync on, full_page_writes on, synchronous_commit on, data_checksums off
    connections  … of … in use
    speed        connects in … ms, answers in … ms
    [stderr]
    error: there is no store at postgres://reader@127.0.0.1:PORT/contexture?schema=SCHEMA, and none can be made
      hint: name a user that may write: postgres://USER@HOST/DATABASE
    ");
}

#[test]
fn a_user_with_too_few_rights_is_told_which_ones_would_do() {
    let user = User::new();
    let (server, schema) = (user.place.backend.server(), user.place.backend.schema());
    let role = user.make_stranger();
    let url = user.url_as(&role, None);
    assert_snapshot!(user.run_at(&url, &["log"]), @"
    [exit 1]
    [stderr]
    error: user stranger has too few rights at postgres://stranger@127.0.0.1:PORT/contexture?schema=SCHEMA
      because: permission denied for database contexture
      hint: the owner of the database can type `GRANT CREATE ON DATABASE contexture TO stranger`
    ");
    assert_snapshot!(user.check(&url), @"
    [exit 1]
    server       PostgreSQL … at 127.0.0.1:PORT
    user         stranger
    database     contexture
    schema       SCHEMA
    encryption   none
    store        none, and none can be made: this user needs `GRANT CREATE ON DATABASE contexture TO stranger`
    durability   fsync on, full_page_writes on, synchronous_commit on, data_checksums off
    connections  … of … in use
    speed        connects in … ms, answers in … ms
    [stderr]
    error: there is no store at postgres://stranger@127.0.0.1:PORT/contexture?schema=SCHEMA, and none can be made
      hint: the owner of the database can type `GRANT CREATE ON DATABASE contexture TO stranger`
    ");

    server.psql(&format!("CREATE SCHEMA {schema}"));
    assert_snapshot!(user.run_at(&url, &["log"]), @"
    [exit 1]
    [stderr]
    error: user stranger has too few rights at postgres://stranger@127.0.0.1:PORT/contexture?schema=SCHEMA
      because: no schema has been selected to create in
      hint: the owner of the database can type `GRANT USAGE, CREATE ON SCHEMA SCHEMA TO stranger`
    ");
    let checked = user.check(&url);
    assert_snapshot!(checked.lines().find(|line| line.starts_with("store")).unwrap(), @"store        none, and none can be made: this user needs `GRANT USAGE, CREATE ON SCHEMA SCHEMA TO stranger`");

    user.done(&["log"]);
    assert_snapshot!(user.check(&url), @"
    [exit 1]
    [stderr]
    error: user stranger has too few rights at postgres://stranger@127.0.0.1:PORT/contexture?schema=SCHEMA
      because: permission denied for schema SCHEMA
      hint: the owner of the database can type `GRANT USAGE ON SCHEMA SCHEMA TO stranger; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA SCHEMA TO stranger`
    ");
    server.psql(&format!(
        "GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}"
    ));
    assert_eq!(user.run(&["--store", &url, "log"]).code, 0);
    let checked = user.check(&url);
    assert_snapshot!(checked.lines().find(|line| line.starts_with("access")).unwrap(), @"access       read-only: this user needs `GRANT USAGE ON SCHEMA SCHEMA TO stranger; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA SCHEMA TO stranger`");
    assert_snapshot!(user.run_at(&url, &["artifact", "put", "/dev/null"]), @"
    [exit 1]
    [stderr]
    error: user stranger has too few rights at postgres://stranger@127.0.0.1:PORT/contexture?schema=SCHEMA
      because: permission denied for table spaces
      hint: the owner of the database can type `GRANT USAGE ON SCHEMA SCHEMA TO stranger; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA SCHEMA TO stranger`
    ");
}

#[test]
fn the_rights_that_are_named_are_enough() {
    let user = User::new();
    let server = user.place.backend.server();
    let url = user.url_as(&user.make_stranger(), None);
    let checked: Value = serde_json::from_str(&user.run(&["store", "check", &url, "--json"]).stdout).unwrap();
    server.psql(checked["access"]["grant"].as_str().unwrap());
    assert_eq!(user.done(&["--store", &url, "log"]), "");
    assert_eq!(user.run(&["--store", &url, "artifact", "put", "/dev/null"]).code, 0);

    let user = User::with_history();
    let url = user.url_as(&user.make_stranger(), None);
    let refused = user.run(&["--store", &url, "--json", "log"]);
    let document: Value = serde_json::from_str(&refused.stderr).unwrap();
    let hint = document["error"]["hint"].as_str().unwrap();
    server.psql(hint.split('`').nth(1).unwrap());
    user.file("turn.jsonl", "{}\n");
    assert_eq!(user.done(&["--store", &url, "log"]), user.done(&["log"]));
    user.done(&[
        "--store",
        &url,
        "--space",
        "team-b",
        "checkpoint",
        "--format",
        "jsonl",
        "--head",
        "main",
        "turn.jsonl",
    ]);
    user.done(&["--store", &url, "--space", "team-b", "head", "delete", "main"]);
    assert!(user.done(&["--store", &url, "store", "check"]).contains("reading and writing"));
}

#[test]
fn who_does_not_own_the_tables_is_told_who_finishes_a_purge() {
    let user = User::with_history();
    let url = user.url_as(&user.make_stranger(), None);
    let checked: Value =
        serde_json::from_str(&user.run(&["store", "check", &url, "--json"]).stdout).unwrap_or_default();
    assert_eq!(checked, Value::Null, "it has no rights yet");
    let (server, schema) = (user.place.backend.server(), user.place.backend.schema());
    let role = format!("stranger_of_{schema}");
    server.psql(&format!(
        "GRANT USAGE ON SCHEMA {schema} TO {role}; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}"
    ));
    let purged = user.run(&["--store", &url, "purge", "main~1", "--yes"]);
    assert_eq!(purged.code, 1, "{purged}");
    assert!(purged.stderr.contains("ctx purge --finish"), "{purged}");
    assert!(user.done(&["show", "main~1"]).contains("purged"));
    assert_eq!(user.run(&["purge", "--finish"]).code, 0);
    assert_eq!(user.run(&["fsck"]).code, 0);
}

#[test]
fn what_says_of_no_store_where_it_is_is_refused() {
    let user = User::new();
    assert_snapshot!(user.run_at("mysql://ada:s3cret@host/work", &["log"]), @r#"
    [exit 2]
    [stderr]
    error: cannot use what --store says as a store
      because: "mysql" stores are not supported
      hint: a store is a directory or postgres://USER@HOST/DATABASE[?schema=NAME]
    "#);
    assert_snapshot!(user.run_at("postgres://host/work", &["log"]), @"
    [exit 2]
    [stderr]
    error: cannot use what --store says as a store
      because: it names no user
      hint: a store is a directory or postgres://USER@HOST/DATABASE[?schema=NAME]
    ");
    assert_snapshot!(user.run_at("postgres://ada:s3cret@/work", &["log"]), @"
    [exit 2]
    [stderr]
    error: cannot use what --store says as a store
      because: it names no server
      hint: a store is a directory or postgres://USER@HOST/DATABASE[?schema=NAME]
    ");
    assert_snapshot!(user.run_at("postgres://ada:s3cret@host:port/work", &["log"]), @"
    [exit 2]
    [stderr]
    error: cannot use what --store says as a store
      because: it is no PostgreSQL URL: invalid value for option `port`
      hint: a store is a directory or postgres://USER@HOST/DATABASE[?schema=NAME]
    ");
    assert_snapshot!(user.run_at("postgres://ada:s3cret@host/work?colour=red", &["log"]), @"
    [exit 2]
    [stderr]
    error: cannot use what --store says as a store
      because: it is no PostgreSQL URL: unknown option `colour`
      hint: a store is a directory or postgres://USER@HOST/DATABASE[?schema=NAME]
    ");
    assert_snapshot!(user.run_at("postgres://ada:s3@cret@host/work", &["log"]), @"
    [exit 2]
    [stderr]
    error: cannot use what --store says as a store
      because: a password in it holds an @, which is written %40 there
      hint: a store is a directory or postgres://USER@HOST/DATABASE[?schema=NAME]
    ");
    assert_snapshot!(user.run_at("postgres://ada:s3cret@host/work?schema=My%20Own", &["log"]), @"
    [exit 2]
    [stderr]
    error: cannot use what --store says as a store
      because: schema=My%20Own cannot be: it must be a name of small letters, digits and _, at most 63, that does not start with pg_
      hint: a store is a directory or postgres://USER@HOST/DATABASE[?schema=NAME]
    ");
    assert_snapshot!(user.run(&["store", "check", "redis://ada:s3cret@host/work"]), @r#"
    [exit 2]
    [stderr]
    error: cannot use what URL says as a store
      because: "redis" stores are not supported
      hint: a store is a directory or postgres://USER@HOST/DATABASE[?schema=NAME]
    "#);
    let variable = user.command(&["log"]).env("CTX_STORE", "s3://bucket").output();
    assert_snapshot!(user.ran(variable), @r#"
    [exit 2]
    [stderr]
    error: cannot use what CTX_STORE says as a store
      because: "s3" stores are not supported
      hint: a store is a directory or postgres://USER@HOST/DATABASE[?schema=NAME]
    "#);
}

#[test]
fn the_place_is_shown_without_its_password() {
    let user = User::new();
    let url = user.url_as("guarded", Some(GUARDED_PASSWORD));
    assert_snapshot!(user.run_at(&url, &["store", "path"]), @"
    postgres://guarded@127.0.0.1:PORT/contexture?schema=SCHEMA
    [stderr]
    The password in --store can be seen by others on this machine while this runs; `ctx store --help` says where to keep it.
    ");
    assert_snapshot!(user.run_at(&url, &["log"]), @"
    [stderr]
    The password in --store can be seen by others on this machine while this runs; `ctx store --help` says where to keep it.
    Space default of the store at postgres://guarded@127.0.0.1:PORT/contexture?schema=SCHEMA is empty; `ctx demo` shows what to do.
    ");
}

/// Returns a walk without where it was made, which its list of sessions tells.
fn anywhere(walk: &str) -> String {
    let place = walk.split("claude-code · ended · ").nth(1).and_then(|rest| rest.split(" · ").next());
    steady(place.expect("the walk lists its session"), walk)
}

#[test]
fn the_walk_is_the_same_on_a_server_and_leaves_nothing_there() {
    let user = User::new();
    let server = user.place.backend.server();
    let in_directory = user.done(&["--store", "directory", "demo"]);
    let walking = user.command(&["demo"]).spawn().unwrap();
    let schema = format!("ctx_demo_{}", walking.id());
    let on_server = user.ran(walking.wait_with_output()).to_string();
    assert_eq!(anywhere(on_server.trim_end()), anywhere(&in_directory));
    assert_eq!(server.psql(&format!("SELECT count(*) FROM pg_namespace WHERE nspname = '{schema}'")), "0");

    let kept = user.done(&["demo", "--keep", "kept"]);
    let (walk, place) = kept.split_once("The files are in kept, and the store is at\n").unwrap();
    assert!(anywhere(&in_directory).starts_with(anywhere(walk).trim_end()));
    assert_eq!(user.done(&["--store", place, "log", "--oneline"]).lines().count(), 5);
    let schema = place.split_once("schema=").unwrap().1;
    server.psql(&format!("SET client_min_messages = error; DROP SCHEMA {schema} CASCADE"));
}
