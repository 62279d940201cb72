//! `ctx head`.

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn heads_are_listed_by_name_and_prefix() {
    let user = User::with_history();
    user.done(&["fork", "main", "--head", "branch/other"]);
    assert_snapshot!(user.run(&["head", "list"]), @"
    branch/other  ctx-beead0152a  moved now
    main          ctx-beead0152a  moved 5 minutes ago
    review        ctx-bacf8294d2  moved 20 minutes ago
    ");
    assert_snapshot!(user.run(&["head", "list", "bra", "--json"]), @r#"{"schema":"contexture/1","name":"branch/other","commit":"ctx-beead0152a71de0963f456082660f6aa","moved_at":"2026-11-15T20:10:00.000000Z"}"#);
    assert_snapshot!(user.run(&["head", "list", "nothing/"]), @"");
}

#[test]
fn heads_are_set_moved_and_deleted_with_a_log_of_it() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["head", "set", "release", "main", "--expect", "none"]), @"
    [stderr]
    Head release starts at ctx-beead0152a
    ");
    assert_snapshot!(user.run(&["head", "move", "release", "main~1", "--expect", "main"]), @"
    [stderr]
    Head release moved from ctx-beead0152a to ctx-5cbf4c30a3
    ");
    assert_snapshot!(user.run(&["head", "set", "release", "main~1"]), @"
    [stderr]
    Head release is at ctx-5cbf4c30a3
    ");
    assert_snapshot!(user.run(&["head", "delete", "release", "--json"]), @r#"{"schema":"contexture/1","name":"release","from":"ctx-5cbf4c30a3a277cd9ae068ce16e4b143","to":null}"#);
    assert_snapshot!(user.run(&["head", "log", "release"]), @"
    22  deleted, was at ctx-5cbf4c30a3  ada@laptop, now
    21  ctx-beead0152a to ctx-5cbf4c30a3  ada@laptop, now
    20  made at ctx-beead0152a  ada@laptop, now
    ");
    assert_snapshot!(user.run(&["head", "log", "release", "-n", "1", "--json"]), @r#"{"schema":"contexture/1","seq":22,"from":"ctx-5cbf4c30a3a277cd9ae068ce16e4b143","to":null,"actor":"ada@laptop","at":"2026-11-15T20:10:00.000000Z"}"#);
}

#[test]
fn a_head_elsewhere_is_a_conflict_and_one_that_is_not_there_a_failure() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["head", "move", "main", "review", "--expect", "review"]), @"
    [exit 3]
    [stderr]
    error: head main is at ctx-beead0152a71de0963f456082660f6aa, not at ctx-bacf8294d2ccae76ed055e62c8e46c63
      hint: `ctx head log main` shows who moved it; then retry with `--expect ctx-beead0152a71de0963f456082660f6aa`
    ");
    assert_snapshot!(user.run(&["head", "delete", "main", "--expect", "review", "--json"]), @r#"
    [exit 3]
    [stderr]
    {"schema":"contexture/1","error":{"code":"head-conflict","message":"head main is at ctx-beead0152a71de0963f456082660f6aa, not at ctx-bacf8294d2ccae76ed055e62c8e46c63","causes":[],"hint":"`ctx head log main` shows who moved it; then retry with `--expect ctx-beead0152a71de0963f456082660f6aa`"}}
    "#);
    assert_snapshot!(user.run(&["head", "move", "nobody", "review"]), @"
    [exit 1]
    [stderr]
    error: there is no head nobody
      hint: `ctx head list` shows the heads
    ");
    assert_snapshot!(user.run(&["head", "log", "nobody"]), @"
    [exit 1]
    [stderr]
    error: there is no head nobody
      hint: `ctx head list` shows the heads
    ");
    assert_snapshot!(user.run(&["head", "set", "ctx-1234", "main"]), @r#"
    [exit 2]
    [stderr]
    error: invalid value 'ctx-1234' for '<NAME>': "ctx-1234" cannot be a head name: it starts like an id

    For more information, try '--help'.
    "#);
}
