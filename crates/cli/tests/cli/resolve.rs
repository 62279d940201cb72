//! `ctx resolve`.

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn the_last_commit_at_or_before_a_time_is_found() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["resolve", "ada@laptop"]), @"ctx-beead0152a71de0963f456082660f6aa");
    assert_snapshot!(user.run(&["resolve", "ada@laptop", "--at", "40 minutes ago", "--json"]), @r#"{"schema":"contexture/1","id":"ctx-949736b60af91408ac3c03058ae8cabc","principal":"ada@laptop","at":"2026-11-15T19:30:00.000000Z"}"#);
    assert_snapshot!(user.run(&["resolve", "ada@laptop", "--at", "2026-11-15"]), @"
    [exit 1]
    [stderr]
    error: ada@laptop has no commit at or before 2026-11-15T00:00:00.000000Z
      hint: `ctx list --principal ada@laptop` shows all there is
    ");
    assert_snapshot!(user.run(&["resolve", "nobody", "--json"]), @r#"
    [exit 1]
    [stderr]
    {"schema":"contexture/1","error":{"code":"nothing-known","message":"nobody has no commit at or before 2026-11-15T20:10:00.000000Z","causes":[],"hint":"`ctx list --principal nobody` shows all there is"}}
    "#);
}
