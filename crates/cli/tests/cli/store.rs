//! `ctx store`, `ctx spaces`, `ctx stats` and `ctx fsck` of a sound store.

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn the_store_is_where_flag_variable_or_home_say() {
    let user = User::new();
    assert_snapshot!(user.run(&["store", "path"]), @"store");
    assert_snapshot!(user.run(&["store", "path", "--store", "elsewhere", "--json"]), @r#"{"schema":"contexture/1","path":"elsewhere"}"#);
    let home = user.command(&["store", "path"]).env_remove("CTX_STORE").env("HOME", "/home/ada").output().unwrap();
    assert_eq!(String::from_utf8(home.stdout).unwrap(), "/home/ada/.local/share/contexture\n");
    let data = user.command(&["store", "path"]).env_remove("CTX_STORE").env("XDG_DATA_HOME", "/data").output().unwrap();
    assert_eq!(String::from_utf8(data.stdout).unwrap(), "/data/contexture\n");
}

#[test]
fn spaces_see_nothing_of_each_other() {
    let user = User::with_history();
    user.file("a.txt", "a");
    user.done(&["--space", "team-b", "checkpoint", "a.txt"]);
    assert_snapshot!(user.run(&["spaces"]), @"
    default  made 50 minutes ago
    team-b   made now
    ");
    assert_snapshot!(user.run(&["spaces", "--json"]), @r#"
    {"schema":"contexture/1","name":"default","created_at":"2026-11-15T19:20:00.000000Z"}
    {"schema":"contexture/1","name":"team-b","created_at":"2026-11-15T20:10:00.000000Z"}
    "#);
    assert_eq!(user.done(&["--space", "team-b", "log", "--oneline"]).lines().count(), 1);
    assert_snapshot!(user.run(&["--space", "team-b", "show", "main"]), @"
    [exit 1]
    [stderr]
    error: there is no head main
      hint: `ctx head list` shows the heads
    ");
    assert_snapshot!(user.run(&["--space", "Team B", "log"]), @r#"
    [exit 2]
    [stderr]
    error: invalid value 'Team B' for '--space <NAME>': "Team B" cannot be a space name: only lower-case letters, digits, '-', '_' and '.' belong in it, a letter or digit first

    For more information, try '--help'.
    "#);
}

#[test]
fn a_sound_store_is_reported_sound() {
    let user = User::with_history();
    user.file("a.txt", "a");
    user.done(&["artifact", "put", "a.txt"]);
    assert_snapshot!(user.run(&["fsck"]), @"
    [stderr]
    Checked 6 commits, 7 artifacts (352 bytes), 2 heads, 5 annotations and 20 journal records: nothing is wrong.
    Nothing refers to 1 artifact (1 byte), which is no fault.
    ");
    assert_snapshot!(user.run(&["fsck", "--json"]), @r#"{"schema":"contexture/1","checked":{"artifacts":7,"bytes":352,"commits":6,"lines":2,"heads":2,"head_moves":7,"annotations":5,"requests":0,"envelopes":0,"envelope_artifacts":0,"injections":0,"missing":0,"events":0,"journal_records":20,"passages":0},"problems":[],"problems_left_out":0,"unreferenced":{"artifacts":1,"bytes":1}}"#);
}

#[test]
fn measures_are_a_table_or_a_document() {
    let user = User::with_history();
    let table = user.done(&["stats"]);
    let (files, measures): (Vec<_>, Vec<_>) = table.lines().partition(|line| line.starts_with("files"));
    assert_eq!(files.len(), 1);
    assert_snapshot!(measures.join("\n"), @"
    commits      6 (5 deltas, 1 compaction, 0 snapshots)
    made         first 50 minutes ago, last 5 minutes ago
    lines        2 (1 fork)
    heads        2
    content      351 bytes
    distinct     351 bytes in 6 rows
    compressed   339 bytes
    annotations  5
    keys         0
    journal      19 records
    principals   2 (ada@laptop 5, grace@desk 1)
    sessions     1 (s-1 1)
    formats      1 (claude-code-v1 6)
    ");
    let document: serde_json::Value = serde_json::from_str(&user.done(&["stats", "--json"])).unwrap();
    assert_eq!((&document["schema"], &document["commits"]["count"]), (&"contexture/1".into(), &6.into()));
}
