//! `ctx export` and `ctx import-bundle`.

use std::fs;

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn a_bundle_carries_chains_to_another_store_with_their_ids() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["export", "--all", "-o", "all.bundle"]), @"
    [stderr]
    Exported 6 commits, 6 artifacts (351 bytes), 5 annotations and 2 heads to all.bundle.
    ");
    assert_snapshot!(user.run(&["--store", "copy", "import-bundle", "all.bundle"]), @"
    [stderr]
    Took in 6 of 6 commits and 5 annotations.
    2 heads made or moved:
      main
      review
    ");
    assert_snapshot!(user.run(&["--store", "copy", "import-bundle", "all.bundle", "--json"]), @r#"{"schema":"contexture/1","commits":6,"new_commits":0,"new_annotations":0,"envelopes":0,"new_envelopes":0,"moved_heads":[],"kept_heads":[]}"#);
    assert_eq!(user.done(&["--store", "copy", "log", "--graph"]), user.done(&["log", "--graph"]));
    assert_eq!(user.run(&["--store", "copy", "fsck"]).code, 0);
}

#[test]
fn a_bundle_passes_through_a_pipe() {
    let user = User::with_history();
    let bundle = user.command(&["export", "review", "-o", "-"]).output().unwrap();
    assert_snapshot!(user.pipe(bundle.stdout, &["--store", "copy", "import-bundle", "-"]), @"
    [stderr]
    Took in 3 of 3 commits and 3 annotations.
    1 head made or moved:
      review
    ");
}

#[test]
fn a_head_that_went_another_way_stays() {
    let user = User::with_history();
    user.done(&["export", "main", "-o", "main.bundle"]);
    user.done(&["head", "move", "main", "review"]);
    assert_snapshot!(user.run(&["import-bundle", "main.bundle"]), @"
    [stderr]
    Took in 0 of 6 commits and 0 annotations.
    1 head left where they are, because they went another way:
      main
    ");
}

#[test]
fn many_heads_are_counted_and_the_first_named() {
    let user = User::with_history();
    for number in 10..18 {
        user.done(&["fork", "main", "--head", &format!("try/{number}")]);
    }
    user.done(&["export", "--all", "-o", "all.bundle"]);
    assert_snapshot!(user.run(&["--store", "copy", "import-bundle", "all.bundle"]), @"
    [stderr]
    Took in 6 of 6 commits and 5 annotations.
    10 heads made or moved:
      main
      review
      try/10
      try/11
      try/12
      and 5 more: `ctx head list` shows all
    ");
}

#[test]
fn a_file_that_is_no_whole_bundle_is_refused_and_changes_nothing() {
    let user = User::with_history();
    user.done(&["export", "--all", "-o", "all.bundle"]);
    let whole = fs::read(user.path("all.bundle")).unwrap();
    user.file("torn.bundle", &whole[..whole.len() - 7]);
    let import = |name: &str| user.run(&["--store", "copy", "import-bundle", name]);
    assert_snapshot!(import("torn.bundle"), @"
    [exit 1]
    [stderr]
    error: cannot take in torn.bundle
      because: the bundle is cut off
    ");
    assert_snapshot!(import("summary.txt"), @"
    [exit 1]
    [stderr]
    error: cannot take in summary.txt
      because: the bundle does not start like a Contexture bundle
    ");
    assert_snapshot!(import("."), @"
    [exit 1]
    [stderr]
    error: cannot read .: it is a directory
    ");
    assert_snapshot!(user.run(&["--store", "copy", "spaces"]), @"");
}

#[test]
fn there_must_be_something_to_export_and_a_place_for_it() {
    let user = User::new();
    assert_snapshot!(user.run(&["export", "--all", "-o", "all.bundle"]), @"
    [exit 1]
    [stderr]
    error: there are no heads to export
      hint: `ctx log --all` shows commits to name instead
    ");
    assert_snapshot!(user.run(&["export", "main"]), @"
    [exit 2]
    [stderr]
    error: the following required arguments were not provided:
      --output <FILE>

    Usage: ctx export --output <FILE> <ID|HEAD|SESSION>...

    For more information, try '--help'.
    ");
    assert_snapshot!(user.run(&["export", "--all", "-o", "-", "--json"]), @r#"
    [exit 2]
    [stderr]
    {"schema":"contexture/1","error":{"code":"json-beside-content","message":"--json needs -o FILE here, because the bundle itself goes to standard output","causes":[]}}
    "#);
    assert!(!user.path("all.bundle").exists());
}
