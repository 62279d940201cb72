//! Stores that are damaged, newer, or not stores.

use std::fs;

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn a_damaged_artifact_is_named_and_nothing_is_written() {
    let user = User::with_history();
    user.place.alter_artifacts("19:50", "19:51");
    assert_snapshot!(user.run(&["materialize", "review", "-o", "out.jsonl"]), @"
    [exit 4]
    [stderr]
    error: artifact art-e89868b4d34d08a0083eb46a48a4eb0eb351063bea115ba56d1a19db47523cb8 is damaged: its bytes do not have that digest
      hint: `ctx fsck` says what else is damaged
    ");
    assert!(!user.path("out.jsonl").exists());
    assert_snapshot!(user.run(&["fsck"]), @"
    [exit 4]
    artifact art-e89868b4d34d08a0083eb46a48a4eb0eb351063bea115ba56d1a19db47523cb8 holds bytes that do not have that digest
    [stderr]
    error: the store is damaged in 1 place
    ");
    assert_snapshot!(user.run(&["fsck", "--json"]), @r#"
    [exit 4]
    {"schema":"contexture/1","checked":{"artifacts":6,"bytes":334,"commits":6,"lines":2,"heads":2,"head_moves":7,"annotations":5,"requests":0,"envelopes":0,"envelope_artifacts":0,"injections":0,"missing":0,"events":0,"journal_records":19,"passages":0},"problems":[{"thing":"artifact","artifact":"art-e89868b4d34d08a0083eb46a48a4eb0eb351063bea115ba56d1a19db47523cb8","fault":"damaged"}],"problems_left_out":0,"unreferenced":{"artifacts":0,"bytes":0}}
    [stderr]
    {"schema":"contexture/1","error":{"code":"unsound","message":"the store is damaged in 1 place","causes":[]}}
    "#);
    assert_eq!(user.run(&["export", "review", "-o", "out.bundle"]).code, 4);
    assert!(!user.path("out.bundle").exists());
}

#[test]
fn an_absent_artifact_is_named() {
    let user = User::with_history();
    user.place.lose_artifacts("19:50");
    assert_snapshot!(user.run(&["materialize", "review"]), @r#"
    [exit 4]
    {"turn":"19:20"}
    {"turn":"19:30"}
    [stderr]
    error: commit ctx-bacf8294d2ccae76ed055e62c8e46c63 refers to art-e89868b4d34d08a0083eb46a48a4eb0eb351063bea115ba56d1a19db47523cb8, which is not in the store
      hint: `ctx fsck` says what else is damaged
    "#);
}

#[test]
fn what_is_left_of_a_damaged_commit_is_shown() {
    let user = User::with_history();
    user.place.lose_artifacts("19:50");
    let shown = user.done(&["show", "review"]);
    assert_snapshot!(shown.lines().find(|line| line.starts_with("size")).unwrap(), @"size       not in the store");
}

#[test]
fn a_store_of_a_newer_program_is_refused_by_number() {
    let user = User::with_history();
    user.place.set_version(99);
    assert_snapshot!(user.run(&["log"]), @"
    [exit 1]
    [stderr]
    error: the store at store has schema version 99; this program knows versions up to 9
      hint: upgrade ctx
    ");
}

#[test]
fn what_is_not_a_store_is_refused() {
    let user = User::new();
    user.file("a-file", "");
    fs::create_dir(user.path("odd")).unwrap();
    user.file("odd/contexture.db", "this is not a database, though it has its name".repeat(30));
    assert_snapshot!(user.run(&["--store", "a-file", "log"]), @"
    [exit 1]
    [stderr]
    error: cannot open the store at a-file
      because: File exists (os error 17)
      hint: a store is a directory: `--store DIR`
    ");
    assert_snapshot!(user.run(&["--store", "odd", "log"]), @"
    [exit 4]
    [stderr]
    error: the store is damaged: the database could not open the store: file is not a database
      hint: `ctx fsck` says what else is damaged
    ");
    let homeless = user.command(&["log"]).env_remove("CTX_STORE").env_remove("HOME").output();
    assert_snapshot!(user.ran(homeless), @"
    [exit 1]
    [stderr]
    error: there is no home directory to keep a store in
      hint: name a directory with `--store DIR`
    ");
}
