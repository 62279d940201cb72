//! `ctx journal`.

use std::io::{BufRead as _, BufReader};

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn every_change_is_a_record() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["journal"]), @"
     1  space.created     default  ada@laptop, 50 minutes ago
     2  commit.created    ctx-dfafd1348f70809e150042c3ab9ac3a5  ada@laptop, 50 minutes ago
     3  commit.annotated  ctx-dfafd1348f70809e150042c3ab9ac3a5  ada@laptop, 50 minutes ago
     4  head.moved        main  ada@laptop, 50 minutes ago
     5  commit.created    ctx-949736b60af91408ac3c03058ae8cabc  ada@laptop, 40 minutes ago
     6  commit.annotated  ctx-949736b60af91408ac3c03058ae8cabc  ada@laptop, 40 minutes ago
     7  head.moved        main  ada@laptop, 40 minutes ago
     8  commit.created    ctx-3ef668e0ea200517dff5554f701907ee  ada@laptop, 30 minutes ago
     9  head.moved        main  ada@laptop, 30 minutes ago
    10  head.moved        review  ada@laptop, 25 minutes ago
    11  commit.created    ctx-bacf8294d2ccae76ed055e62c8e46c63  grace@desk, 20 minutes ago
    12  commit.annotated  ctx-bacf8294d2ccae76ed055e62c8e46c63  grace@desk, 20 minutes ago
    13  head.moved        review  grace@desk, 20 minutes ago
    14  commit.created    ctx-5cbf4c30a3a277cd9ae068ce16e4b143  ada@laptop, 10 minutes ago
    15  commit.annotated  ctx-5cbf4c30a3a277cd9ae068ce16e4b143  ada@laptop, 10 minutes ago
    16  commit.annotated  ctx-5cbf4c30a3a277cd9ae068ce16e4b143  ada@laptop, 10 minutes ago
    17  head.moved        main  ada@laptop, 10 minutes ago
    18  commit.created    ctx-beead0152a71de0963f456082660f6aa  ada@laptop, 5 minutes ago
    19  head.moved        main  ada@laptop, 5 minutes ago
    ");
    assert_snapshot!(user.run(&["journal", "--since", "3", "-n", "2"]), @"
    18  commit.created    ctx-beead0152a71de0963f456082660f6aa  ada@laptop, 5 minutes ago
    19  head.moved        main  ada@laptop, 5 minutes ago
    ");
    assert_snapshot!(user.run(&["journal", "-n", "1", "--json"]), @r#"{"schema":"contexture/1","seq":19,"at":"2026-11-15T20:05:00.000000Z","actor":"ada@laptop","kind":"head.moved","subject":"main","digest":"3096df14ca5c81a16157e53dbdc923c91bf5f31ef83587445a61dd59e265564d","chain":"5e1de08ec5d6cd76b06e4181e677153d2bd91ab6b83fedc46eedf1142653a7bd"}"#);
    assert_snapshot!(User::new().run(&["journal"]), @"");
}

#[test]
fn a_follower_is_told_of_changes_as_they_happen() {
    let user = User::with_history();
    let mut follower = user.command(&["journal", "--follow", "--since", "19"]).spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    user.done(&["annotate", "main", "--tag", "first"]);
    assert_snapshot!(lines.next().unwrap().unwrap(), @"    20  commit.annotated  ctx-beead0152a71de0963f456082660f6aa  ada@laptop, now");
    user.done(&["annotate", "review", "--tag", "second"]);
    assert_snapshot!(lines.next().unwrap().unwrap(), @"    21  commit.annotated  ctx-bacf8294d2ccae76ed055e62c8e46c63  ada@laptop, now");
    follower.kill().unwrap();
    follower.wait().unwrap();
}
