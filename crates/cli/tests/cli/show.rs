//! `ctx show`.

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn every_field_is_shown() {
    let user = User::new();
    user.file("turn.json", "[{\"role\":\"user\",\"content\":\"hi\"}]");
    let flags = "--format openai-chat-v1 --type snapshot --head session/7 --template coder --session 7 --trigger \
                 tool_call --ticket ENG-42 --thread T1 --tag green --label cwd=/src --messages 3 --tokens 12 \
                 --at 2026-11-15T19:00:00+01:00";
    let mut command = vec!["checkpoint", "--summary", "First words\nand more"];
    command.extend(flags.split_whitespace());
    user.done(&[&command[..], &["turn.json"]].concat());
    user.done(&["annotate", "session/7", "--summary", "Better words", "--untag", "green"]);
    assert_snapshot!(user.run(&["show", "session/7"]), @"
    commit     ctx-0c685c60c9b8bec7576b67c6d547be73
    type       snapshot
    parent     none
    depth      0
    artifact   art-c20f7400b13fc83b91195440643ba1520b602a3ec3ed5693549a5afc813eb6a5
    size       32 bytes
    format     openai-chat-v1
    messages   3
    tokens     12
    created    2026-11-15T18:00:00.000000Z (2 hours ago)
    trigger    tool_call
    template   coder
    principal  ada@laptop
    machine    laptop
    session    7
    ticket     ENG-42
    thread     T1
    journal    record 2
    children   0
    head       session/7
    head       thread/T1
    label      cwd=/src

    summary by ada@laptop, 2026-11-15T20:10:00.000000Z (now)
        Better words

    earlier summary by ada@laptop, 2026-11-15T20:10:00.000000Z (now)
        First words
        and more
    ");
    assert_snapshot!(user.run(&["show", "session/7", "--json"]), @r#"{"schema":"contexture/1","id":"ctx-0c685c60c9b8bec7576b67c6d547be73","type":"snapshot","artifact":"art-c20f7400b13fc83b91195440643ba1520b602a3ec3ed5693549a5afc813eb6a5","format":"openai-chat-v1","template":"coder","principal":"ada@laptop","machine":"laptop","session":"7","ticket":"ENG-42","thread":"T1","trigger":"tool_call","message_count":3,"token_count":12,"created_at":"2026-11-15T18:00:00.000000Z","seq":2,"depth":0,"summary":"Better words","labels":{"cwd":"/src"},"heads":["session/7","thread/T1"],"annotation_history":[{"kind":"summary","text":"First words\nand more","author":"ada@laptop","at":"2026-11-15T20:10:00.000000Z"},{"kind":"tag","tag":"green","author":"ada@laptop","at":"2026-11-15T20:10:00.000000Z"},{"kind":"label","key":"cwd","value":"/src","author":"ada@laptop","at":"2026-11-15T20:10:00.000000Z"},{"kind":"summary","text":"Better words","author":"ada@laptop","at":"2026-11-15T20:10:00.000000Z"},{"kind":"untag","tag":"green","author":"ada@laptop","at":"2026-11-15T20:10:00.000000Z"}],"size":32,"children":0}"#);
}

#[test]
fn a_compaction_tells_what_it_covers_and_leaves_out() {
    assert_snapshot!(User::with_history().run(&["show", "main~1"]), @"
    commit     ctx-5cbf4c30a3a277cd9ae068ce16e4b143
    type       compaction
    parent     ctx-3ef668e0ea200517dff5554f701907ee
    depth      3
    artifact   art-9ae336f687d06ce97ed85b5cb85fc157a992c3771411071a5511b047c94c453b
    size       266 bytes
    format     claude-code-v1
    messages   1
    created    2026-11-15T20:00:00.000000Z (10 minutes ago)
    trigger    compaction
    principal  ada@laptop
    machine    laptop
    journal    record 14
    children   1
    covers     3 commits from ctx-dfafd1348f to ctx-3ef668e0ea with 3 messages, 51 bytes
    leaves out the stack traces

    summary by ada@laptop, 2026-11-15T20:00:00.000000Z (10 minutes ago)
        The test races with the server.
        It should wait.
    ");
}

#[test]
fn what_is_not_there_is_reported() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["show", "ctx-0000"]), @"
    [exit 1]
    [stderr]
    error: no commit has an id that starts with ctx-0000
      hint: `ctx log --all` shows the commits
    ");
    assert_snapshot!(user.run(&["show", "main~9"]), @"
    [exit 1]
    [stderr]
    error: ctx-beead0152a71de0963f456082660f6aa has 4 ancestors, so it has no ~9
    ");
    assert_snapshot!(user.run(&["show", "ctx-12"]), @r#"
    [exit 2]
    [stderr]
    error: invalid value 'ctx-12' for '[ID|HEAD|SESSION]': "ctx-12" names neither a commit nor a head

    For more information, try '--help'.
    "#);
}
