//! What all commands share: usage, errors as documents, exit codes, closed pipes.

use std::io::Read as _;

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn a_typing_error_is_answered_with_what_was_meant() {
    let user = User::new();
    assert_snapshot!(user.run(&["materialise", "main"]), @"
    [exit 2]
    [stderr]
    error: there is no command `ctx materialise`
      hint: did you mean `ctx materialize`? `ctx --help` lists the commands
    ");
    assert_snapshot!(user.run(&["lgo"]), @"
    [exit 2]
    [stderr]
    error: there is no command `ctx lgo`
      hint: did you mean `ctx log`? `ctx --help` lists the commands
    ");
    assert_snapshot!(user.run(&["recipe", "lst"]), @"
    [exit 2]
    [stderr]
    error: there is no command `ctx recipe lst`
      hint: did you mean `ctx recipe list`? `ctx recipe --help` lists the commands
    ");
    assert_snapshot!(user.run(&["branch", "--list"]), @"
    [exit 2]
    [stderr]
    error: there is no command `ctx branch`
      hint: `ctx head list` lists the heads, `ctx fork ID --head NAME` starts a branch
    ");
    assert_snapshot!(user.run(&["x\u{1b}[2Jy\nz"]), @"
    [exit 2]
    [stderr]
    error: there is no command `ctx x�[2Jy�z`
      hint: `ctx --help` lists the commands
    ");
    assert_snapshot!(user.run(&["status", "--json"]), @r#"
    [exit 2]
    [stderr]
    {"schema":"contexture/1","error":{"code":"usage","message":"there is no command `ctx status`","causes":[],"hint":"`ctx sessions` says what was done last, `ctx doctor` whether all is captured"}}
    "#);
    assert_snapshot!(user.run(&["log", "--grpah"]), @"
    [exit 2]
    [stderr]
    error: unexpected argument '--grpah' found

      tip: a similar argument exists: '--graph'

    Usage: ctx log --graph [ID|HEAD|SESSION]...

    For more information, try '--help'.
    ");
    assert_snapshot!(user.run(&["log", "--grpah", "--json"]), @r#"
    [exit 2]
    [stderr]
    {"schema":"contexture/1","error":{"code":"usage","message":"unexpected argument '--grpah' found","causes":["tip: a similar argument exists: '--graph'"]}}
    "#);
}

#[test]
fn errors_are_documents_for_programs() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["show", "nobody", "--json"]), @r#"
    [exit 1]
    [stderr]
    {"schema":"contexture/1","error":{"code":"no-head","message":"there is no head nobody","causes":[],"hint":"`ctx head list` shows the heads"}}
    "#);
    assert_snapshot!(user.pipe("oops", &["checkpoint", "--head", "main", "--json", "-"]), @r#"
    [exit 1]
    [stderr]
    {"schema":"contexture/1","error":{"code":"malformed","message":"cannot take in standard input","causes":["the content is not claude-code-v1","line 1, column 1: expected a JSON object, as every line that is not blank holds one"],"hint":"`--no-check` stores the bytes as they are"}}
    "#);
}

#[test]
fn an_ambiguous_id_lists_what_it_may_mean() {
    let user = User::new();
    // Found by trying: the ids of these two start with the same four digits.
    for content in ["151", "470"] {
        assert_eq!(user.pipe(content, &["checkpoint", "--format", "text", "-"]).code, 0);
    }
    assert_snapshot!(user.run(&["show", "5044"]), @"
    [exit 1]
    [stderr]
    error: ctx-5044 is ambiguous: ctx-504400d577cf407f50089ac7fa5e6499, ctx-504438e2fc695e5d365853b03ec6bc69
      hint: type more of the one you mean
    ");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let user = User::new();
    user.file("large.txt", "x".repeat(3_000_000));
    user.done(&["checkpoint", "--head", "main", "large.txt"]);
    let mut child = user.command(&["materialize", "main"]).spawn().unwrap();
    let mut start = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr), (Some(0), Vec::new()));
}

#[test]
fn variables_are_checked_like_flags() {
    let user = User::new();
    let with = |name: &str, value: &str| user.ran(user.command(&["log"]).env(name, value).output());
    assert_snapshot!(with("CTX_TIME", "noon"), @r#"
    [exit 2]
    [stderr]
    error: cannot use what CTX_TIME says
      because: "noon" is not a time: write 2026-11-15T20:10:00Z, with an offset such as +02:00, or a date
    "#);
    assert_snapshot!(with("CTX_SPACE", "Not A Space"), @r#"
    [exit 2]
    [stderr]
    error: cannot use what CTX_SPACE says
      because: "Not A Space" cannot be a space name: only lower-case letters, digits, '-', '_' and '.' belong in it, a letter or digit first
    "#);
    assert_snapshot!(with("CTX_ACTOR", " "), @r#"
    [exit 2]
    [stderr]
    error: cannot use what CTX_ACTOR says
      because: " " cannot be an actor: it starts or ends with white space
    "#);
}
