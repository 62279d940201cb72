//! `ctx search`.

use insta::assert_snapshot;

use crate::cli::harness::User;

/// Returns a user with two turns on `main` and a branch, and a summary.
fn user() -> User {
    let user = User::new();
    let turn = |clock: &str, content: &str, flags: &[&str]| {
        user.file("turn.json", content);
        let command = [&["checkpoint", "--format", "anthropic-messages-v1"], flags, &["turn.json"]].concat();
        let ran = user.ran(user.command(&command).env("CTX_TIME", format!("2026-11-15T{clock}:00Z")).output());
        assert_eq!(ran.code, 0, "{ran}");
    };
    let first = r#"[{"role":"user","content":"The build fails, look at src/main.rs"},
        {"role":"assistant","content":[{"type":"text","text":"I run the build."},
            {"type":"tool_use","id":"c","name":"Bash","input":{"command":"cargo build"}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"error[E0502]: cannot\n  borrow \u001b[31mx\u001b[0m"}]}]"#;
    turn("19:20", first, &["--head", "main", "--summary", "Found the failing build"]);
    turn(
        "19:30",
        r#"[{"role":"assistant","content":"Fixed: the build is green."}]"#,
        &["--head", "main", "--session", "s-1"],
    );
    turn(
        "19:40",
        r#"[{"role":"assistant","content":"Another build."}]"#,
        &["--head", "side", "--principal", "grace@desk"],
    );
    user
}

#[test]
fn commits_come_with_what_was_found_in_them() {
    let user = user();
    assert_snapshot!(user.run(&["search", "build"]), @"
    ctx-e968c02dbd (side)  grace@desk, 30 minutes ago
      assistant: Another build.

    ctx-77ab89dac7 Found the failing build  ada@laptop, 50 minutes ago
      assistant: I run the build.
      tool-call: Bash cargo build
      summary: Found the failing build
      and 1 more

    ctx-6c355a15c5 (main)  ada@laptop, 40 minutes ago
      assistant: Fixed: the build is green.
    [stderr]
    `ctx cat ctx-e968c02dbd` shows the conversation up to there, `ctx resume ctx-e968c02dbd` goes on with it.
    ");
    assert_snapshot!(user.run(&["search", "e0502", "borrow", "--role", "tool", "--color", "always"]), @"
    \u{1b}[33mctx-77ab89dac7\u{1b}[0m Found the failing build  \u{1b}[2mada@laptop, 50 minutes ago\u{1b}[0m
      \u{1b}[1mtool-result:\u{1b}[0m error[\u{1b}[1m\u{1b}[31mE0502\u{1b}[0m]: cannot \u{1b}[1m\u{1b}[31mborrow\u{1b}[0m \u{fffd}[31mx\u{fffd}[0m
    [stderr]
    `ctx cat ctx-77ab89dac7` shows the conversation up to there, `ctx resume ctx-77ab89dac7` goes on with it.
    ");
    let found = user.done(&["search", "src/main.rs", "--json"]);
    // How well something matches is each engine's own opinion.
    let (start, score) = found.split_once(r#""score":"#).unwrap();
    let (_, end) = score.split_once(',').unwrap();
    assert_snapshot!(format!("{start}{end}"), @r#"{"schema":"contexture/1","commit":"ctx-77ab89dac7fcaff571e337fb666ec6a1","created_at":"2026-11-15T19:20:00.000000Z","matching_passages":1,"entry":1,"role":"user","kind":"text","snippet":{"text":"The build fails, look at src/main.rs","matches":[{"start":25,"end":36}]}}"#);
}

#[test]
fn filters_narrow_a_search() {
    let user = user();
    assert_snapshot!(user.run(&["search", "build", "--head", "main~1", "--kind", "text", "-q"]), @"
    ctx-77ab89dac7 Found the failing build  ada@laptop, 50 minutes ago
      user: The build fails, look at src/main.rs
      assistant: I run the build.
    ");
    assert_snapshot!(user.run(&["search", "build", "--principal", "grace@desk", "-q"]), @"
    ctx-e968c02dbd (side)  grace@desk, 30 minutes ago
      assistant: Another build.
    ");
    assert_snapshot!(user.run(&["search", "build -run -cargo -another", "--since", "45m ago", "-q"]), @"
    ctx-6c355a15c5 (main)  ada@laptop, 40 minutes ago
      assistant: Fixed: the build is green.
    ");
    user.done(&["annotate", "main", "--label", "model=x"]);
    assert_snapshot!(user.run(&["search", "build", "--label", "model=x", "-q"]), @"
    ctx-6c355a15c5 (main)  ada@laptop, 40 minutes ago
      assistant: Fixed: the build is green.
    ");
}

#[test]
fn what_is_not_found_is_said_with_how_much_was_searched() {
    let user = user();
    assert_snapshot!(user.run(&["search", "nowhere"]), @r#"
    [exit 1]
    [stderr]
    error: nothing matches "nowhere" in 7 passages (171 bytes of text)
      hint: `*` finds words that start so: `ctx search 'migrat*'`; filters may leave something out
    "#);
    assert_snapshot!(user.run(&["search", "nowhere", "--json"]), @r#"
    [exit 1]
    [stderr]
    {"schema":"contexture/1","error":{"code":"nothing-found","message":"nothing matches \"nowhere\" in 7 passages (171 bytes of text)","causes":[],"hint":"`*` finds words that start so: `ctx search 'migrat*'`; filters may leave something out"}}
    "#);
    assert_snapshot!(User::new().run(&["search", "nowhere"]), @r#"
    [exit 1]
    [stderr]
    error: nothing matches "nowhere" in 0 passages (0 bytes of text)
      hint: `*` finds words that start so: `ctx search 'migrat*'`; filters may leave something out
    "#);
}

#[test]
fn what_is_no_query_is_refused() {
    let user = user();
    assert_snapshot!(user.run(&["search", "--", "-build"]), @r#"
    [exit 2]
    [stderr]
    error: "-build" only says what must not be there
      hint: add a word that must be there: `ctx search 'word -other'`
    "#);
    assert_snapshot!(user.run(&["search", "\"build"]), @r#"
    [exit 2]
    [stderr]
    error: the phrase "build does not end with a quotation mark
      hint: quote a phrase twice, for the shell too: `ctx search '"a phrase"'`
    "#);
    assert_snapshot!(user.run(&["search", "*", "--json"]), @r#"
    [exit 2]
    [stderr]
    {"schema":"contexture/1","error":{"code":"bad-query","message":"\"*\" holds no word to look for","causes":[],"hint":"`ctx search --help` shows what a query may be"}}
    "#);
    assert_snapshot!(user.run(&["search"]), @"
    [exit 2]
    [stderr]
    error: the following required arguments were not provided:
      <TEXT>...

    Usage: ctx search <TEXT>...

    For more information, try '--help'.
    ");
    assert_snapshot!(user.run(&["search", "build", "--kind", "song"]), @"
    [exit 2]
    [stderr]
    error: invalid value 'song' for '--kind <K>'
      [possible values: text, thinking, tool-call, tool-result, summary, label]

    For more information, try '--help'.
    ");
    assert_snapshot!(user.run(&["search", "build", "--head", "nowhere"]), @"
    [exit 1]
    [stderr]
    error: there is no head nowhere
      hint: `ctx head list` shows the heads
    ");
}

#[test]
fn an_index_is_rebuilt() {
    let user = user();
    let before = user.journal();
    assert_snapshot!(user.run(&["search", "--rebuild"]), @"
    [stderr]
    Indexed 7 passages (171 bytes of text).
    ");
    assert_snapshot!(user.run(&["search", "--rebuild", "--json"]), @r#"{"schema":"contexture/1","index":{"passages":7,"bytes":171}}"#);
    assert_eq!(user.run(&["search", "--rebuild", "green"]).code, 0);
    assert_eq!(user.journal(), before);
    let stats = user.done(&["stats"]);
    assert_snapshot!(stats.lines().find(|line| line.starts_with("searchable")).unwrap(), @"searchable   7 passages (171 bytes of text)");
}
