//! `ctx log` and `ctx children`.

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn the_graph_shows_forks_compactions_merges_and_heads() {
    let user = User::with_history();
    user.done(&["snapshot", "review"]);
    assert_snapshot!(user.run(&["log", "--graph"]), @"
    ■  ctx-deb109a631 snapshot (review)
    │  ada@laptop, now, 3 messages
    │  (3 messages of claude-code-v1, without words)
    │
    │ ○  ctx-beead0152a (main)
    ╭─┤  ada@laptop, 5 minutes ago, 1 message
    │ │  (1 message of claude-code-v1, without words)
    │ │  brings back ctx-bacf8294d2
    │ │
    │ ◆  ctx-5cbf4c30a3 compaction
    │ │  ada@laptop, 10 minutes ago, 1 message
    │ │  The test races with the server. …
    │ │
    ○ │  ctx-bacf8294d2
    │ │  grace@desk, 20 minutes ago, 1 message
    │ │  Another fix
    │ │
    │ ○  ctx-3ef668e0ea
    ├─╯  ada@laptop, 30 minutes ago, 1 message
    │    (1 message of claude-code-v1, without words)
    │
    ○  ctx-949736b60a
    │  ada@laptop, 40 minutes ago, 1 message
    │  Found the race
    │
    ○  ctx-dfafd1348f
       ada@laptop, 50 minutes ago, 1 message
       Found the failing test
    ");
    assert_snapshot!(user.run(&["log", "--graph", "--oneline"]), @"
    ■  ctx-deb109a631  now  (snapshot, review) (3 messages of claude-code-v1, without words)
    │ ○  ctx-beead0152a   5m  (main) (1 message of claude-code-v1, without words)
    ╭─┤
    │ ◆  ctx-5cbf4c30a3  10m  (compaction) The test races with the server. …
    ○ │  ctx-bacf8294d2  20m  Another fix
    │ ○  ctx-3ef668e0ea  30m  (1 message of claude-code-v1, without words)
    ├─╯
    ○  ctx-949736b60a  40m  Found the race
    ○  ctx-dfafd1348f  50m  Found the failing test
    ");
}

#[test]
fn a_log_starts_where_it_is_told_and_ends_after_so_many() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["log", "review"]), @"
    ctx-bacf8294d2  20m  (review) Another fix
    ctx-949736b60a  40m  Found the race
    ctx-dfafd1348f  50m  Found the failing test
    ");
    assert_snapshot!(user.run(&["log", "-n", "2", "--oneline"]), @"
    ctx-beead0152a   5m  (main) (1 message of claude-code-v1, without words)
    ctx-5cbf4c30a3  10m  (compaction) The test races with the server. …
    ");
    assert_snapshot!(user.run(&["log", "-n", "2", "--graph"]), @"
    ○    ctx-beead0152a (main)
    ├─╮  ada@laptop, 5 minutes ago, 1 message
    │ │  (1 message of claude-code-v1, without words)
    │ │  brings back ctx-bacf8294d2
    │ │
    ◆ │  ctx-5cbf4c30a3 compaction
    │ │  ada@laptop, 10 minutes ago, 1 message
    │ │  The test races with the server. …
    │ │
    ");
    assert_snapshot!(user.run(&["log", "-n", "0"]), @"");
}

#[test]
fn everything_includes_what_no_head_reaches() {
    let user = User::with_history();
    user.done(&["head", "delete", "review"]);
    user.file("alone.txt", "alone");
    user.done(&["checkpoint", "alone.txt"]);
    assert_eq!(user.done(&["log", "--oneline"]).lines().count(), 5);
    assert_eq!(user.done(&["log", "--oneline", "--all"]).lines().count(), 7);
}

#[test]
fn colours_are_used_when_asked_for() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["log", "main", "-n", "2", "--graph", "--color", "always"]), @"
    [1m○[0m  [33mctx-beead0152a[0m ([1m[32mmain[0m)
    │  [2mada@laptop, 5 minutes ago, 1 message[0m
    │  (1 message of claude-code-v1, without words)
    │  [2mbrings back ctx-bacf8294d2[0m
    │
    [1m[35m◆[0m  [33mctx-5cbf4c30a3[0m [1m[35mcompaction[0m
    │  [2mada@laptop, 10 minutes ago, 1 message[0m
    │  The test races with the server. …
    │
    ");
}

#[test]
fn documents_carry_every_field() {
    assert_snapshot!(User::with_history().run(&["log", "main", "-n", "2", "--json"]), @r#"
    {"schema":"contexture/1","id":"ctx-beead0152a71de0963f456082660f6aa","parent":"ctx-5cbf4c30a3a277cd9ae068ce16e4b143","type":"delta","artifact":"art-e4fc72cf2dbd383a9e38e2d97c4d4550172e9b27587f58bbc6281473757cfc8f","format":"claude-code-v1","principal":"ada@laptop","machine":"laptop","trigger":"explicit","merges":["ctx-bacf8294d2ccae76ed055e62c8e46c63"],"message_count":1,"created_at":"2026-11-15T20:05:00.000000Z","seq":18,"depth":4,"heads":["main"]}
    {"schema":"contexture/1","id":"ctx-5cbf4c30a3a277cd9ae068ce16e4b143","parent":"ctx-3ef668e0ea200517dff5554f701907ee","type":"compaction","artifact":"art-9ae336f687d06ce97ed85b5cb85fc157a992c3771411071a5511b047c94c453b","format":"claude-code-v1","principal":"ada@laptop","machine":"laptop","trigger":"compaction","message_count":1,"created_at":"2026-11-15T20:00:00.000000Z","seq":14,"depth":3,"summary":"The test races with the server.\nIt should wait.","coverage":{"first":"ctx-dfafd1348f70809e150042c3ab9ac3a5","last":"ctx-3ef668e0ea200517dff5554f701907ee","commits":3,"messages":3,"bytes":51,"losses":["the stack traces"]}}
    "#);
}

#[test]
fn a_newcomer_is_told_that_there_is_nothing_yet() {
    let user = User::new();
    assert_snapshot!(user.run(&["log"]), @"
    [stderr]
    Space default of the store at store is empty; `ctx demo` shows what to do.
    ");
    assert_snapshot!(user.run(&["log", "--graph", "--all", "--quiet"]), @"");
}

#[test]
fn a_summary_cannot_steer_the_terminal() {
    let user = User::new();
    user.file("a.txt", "a");
    user.done(&["checkpoint", "--summary", "red \u{1b}[31malert\u{7}\nsecond line", "a.txt"]);
    assert_snapshot!(user.run(&["log", "--oneline"]), @"ctx-dcc77e7dda  now  red �[31malert� …");
}

#[test]
fn children_are_the_commits_that_go_on_from_one() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["children", "review~1"]), @"
    ctx-3ef668e0ea  ada@laptop, 30 minutes ago
    ctx-bacf8294d2 (review) Another fix  grace@desk, 20 minutes ago
    ");
    assert_snapshot!(user.run(&["children", "main"]), @"");
    assert_eq!(user.done(&["children", "review~1", "--json"]).lines().count(), 2);
}
