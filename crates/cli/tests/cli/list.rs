//! `ctx list`.

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn filters_narrow_the_list() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["list"]), @"
    ctx-beead0152a (main)  ada@laptop, 5 minutes ago
    ctx-5cbf4c30a3 compaction The test races with the server.  ada@laptop, 10 minutes ago
    ctx-bacf8294d2 (review) Another fix  grace@desk, 20 minutes ago
    ctx-3ef668e0ea  ada@laptop, 30 minutes ago
    ctx-949736b60a Found the race  ada@laptop, 40 minutes ago
    ctx-dfafd1348f Found the failing test  ada@laptop, 50 minutes ago
    ");
    assert_snapshot!(user.run(&["list", "--principal", "grace@desk"]), @"ctx-bacf8294d2 (review) Another fix  grace@desk, 20 minutes ago");
    assert_snapshot!(user.run(&["list", "--session", "s-1"]), @"ctx-949736b60a Found the race  ada@laptop, 40 minutes ago");
    assert_snapshot!(user.run(&["list", "--ticket", "ENG-42", "--format", "claude-code-v1"]), @"ctx-3ef668e0ea  ada@laptop, 30 minutes ago");
    assert_snapshot!(user.run(&["list", "--since", "45m ago", "--until", "-30m"]), @"ctx-949736b60a Found the race  ada@laptop, 40 minutes ago");
    assert_snapshot!(user.run(&["list", "--missing-summary"]), @"
    ctx-beead0152a (main)  ada@laptop, 5 minutes ago
    ctx-3ef668e0ea  ada@laptop, 30 minutes ago
    ");
    let ids = |flags: &[&str]| {
        let listed = user.done(&[&["list"], flags].concat());
        listed.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--type", "compaction"]), ["ctx-5cbf4c30a3"]);
    assert_eq!(ids(&["--trigger", "compaction", "--machine", "laptop"]), ["ctx-5cbf4c30a3"]);
    assert_eq!(ids(&["--machine", "desk"]), [] as [&str; 0]);
    user.done(&["annotate", "main~1", "--tag", "good", "--label", "branch=fix"]);
    assert_eq!(ids(&["--tag", "good"]), ["ctx-5cbf4c30a3"]);
    assert_eq!(ids(&["--label", "branch=fix"]), ["ctx-beead0152a", "ctx-5cbf4c30a3"]);
    user.session_file("aaaa0001-0000-4000-8000-000000000000", "/srv/one", 10, &["Look"]);
    user.session_file("bbbb0002-0000-4000-8000-000000000000", "/srv/one/below", 20, &["Look", "Again"]);
    user.session_file("cccc0003-0000-4000-8000-000000000000", "/srv/other", 30, &["Look"]);
    user.done(&["import"]);
    let there =
        |directory: &str| ids(&["--directory", directory, "--session", "bbbb0002-0000-4000-8000-000000000000"]).len();
    assert_eq!([there("/srv/one"), there("/srv/one/below"), there("/srv/other")], [2, 2, 0]);
    // Chains of no session that name no directory are everywhere.
    assert_eq!(ids(&["--directory", "/srv/one"]).len(), 5 + 3);
    let session = ["--session", "bbbb0002-0000-4000-8000-000000000000"];
    let document = user.done(&[&["--json", "list", "--directory", "/srv/one", "-n", "1"], &session[..]].concat());
    assert!(document.contains("bbbb0002"), "{document}");
    assert_snapshot!(user.run(&["list", "--thread", "none", "--template", "none"]), @"");
}

#[test]
fn pages_follow_each_other_by_cursor() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["list", "-n", "4"]), @"
    ctx-beead0152a (main)  ada@laptop, 5 minutes ago
    ctx-5cbf4c30a3 compaction The test races with the server.  ada@laptop, 10 minutes ago
    ctx-bacf8294d2 (review) Another fix  grace@desk, 20 minutes ago
    ctx-3ef668e0ea  ada@laptop, 30 minutes ago
    [stderr]
    There are more: go on with --after 1794771600000000.8
    ");
    assert_snapshot!(user.run(&["list", "-n", "4", "--after", "1794772800000000.5"]), @"
    ctx-bacf8294d2 (review) Another fix  grace@desk, 20 minutes ago
    ctx-3ef668e0ea  ada@laptop, 30 minutes ago
    ctx-949736b60a Found the race  ada@laptop, 40 minutes ago
    ctx-dfafd1348f Found the failing test  ada@laptop, 50 minutes ago
    ");
    assert_snapshot!(user.run(&["list", "-n", "1", "--json"]), @r#"{"schema":"contexture/1","id":"ctx-beead0152a71de0963f456082660f6aa","parent":"ctx-5cbf4c30a3a277cd9ae068ce16e4b143","type":"delta","artifact":"art-e4fc72cf2dbd383a9e38e2d97c4d4550172e9b27587f58bbc6281473757cfc8f","format":"claude-code-v1","principal":"ada@laptop","machine":"laptop","trigger":"explicit","merges":["ctx-bacf8294d2ccae76ed055e62c8e46c63"],"message_count":1,"created_at":"2026-11-15T20:05:00.000000Z","seq":18,"depth":4,"heads":["main"],"cursor":"1794773100000000.18"}"#);
    assert_snapshot!(user.run(&["list", "--after", "the beginning"]), @"
    [exit 2]
    [stderr]
    error: invalid value 'the beginning' for '--after <CURSOR>': a cursor is what an earlier list ended with

    For more information, try '--help'.
    ");
}
