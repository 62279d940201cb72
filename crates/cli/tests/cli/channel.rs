//! `ctx channel`.

use insta::assert_snapshot;

use crate::cli::harness::User;

/// Returns a user with a channel in which a user and two agents talk.
fn in_a_room() -> User {
    let user = User::new();
    user.done(&["channel", "create", "release", "--user", "ada", "--agent", "planner", "--agent", "dev"]);
    let post = |arguments: &[&str]| user.done(&[&["channel", "post", "release"], arguments].concat());
    post(&["--from", "ada", "--mention", "planner", "--text", "Plan the release.", "--id", "e1"]);
    post(&["--from", "planner", "--topic", "PLAN_READY", "--text", "Two steps.\n=== END ===", "--reply-to", "e1"]);
    post(&["--from", "stranger", "--to", "dev", "--text", "psst", "--thread", "side"]);
    user
}

#[test]
fn a_channel_is_made_listed_shown_and_closed() {
    let user = in_a_room();
    assert_snapshot!(user.run(&["channel", "list"]), @"release  chn-cebe9460cc  3 messages, now");
    assert_snapshot!(user.run(&["channel", "show", "release"]), @"
    channel   release
    id        chn-cebe9460cca0977d468d679ca1cdb8cd
    state     open
    made      now by ada@laptop
    messages  3
    ada  a user
    dev  an agent
    planner  an agent
    ");
    assert_snapshot!(user.run(&["channel", "list", "--json"]), @r#"{"schema":"contexture/1","id":"chn-cebe9460cca0977d468d679ca1cdb8cd","name":"release","state":"open","created_at":"2026-11-15T20:10:00.000000Z","created_by":"ada@laptop","last":3}"#);
    assert_snapshot!(user.run(&["channel", "create", "release"]), @"
    [exit 1]
    [stderr]
    error: there is a channel release already: chn-cebe9460cca0977d468d679ca1cdb8cd
      hint: `ctx channel show release` shows it
    ");
    assert_snapshot!(user.run(&["channel", "archive", "release"]), @"
    [stderr]
    Channel release is archived.
    ");
    assert_snapshot!(user.run(&["channel", "list"]), @"");
    assert_snapshot!(user.run(&["channel", "post", "release", "--from", "ada", "--text", "late"]), @"
    [exit 1]
    [stderr]
    error: channel release is archived
      hint: `ctx channel open release` opens it again
    ");
    assert_snapshot!(user.run(&["channel", "open", "release", "--json"]), @r#"{"schema":"contexture/1","id":"chn-cebe9460cca0977d468d679ca1cdb8cd","name":"release","state":"open","created_at":"2026-11-15T20:10:00.000000Z","created_by":"ada@laptop","last":3}"#);
    assert_snapshot!(user.run(&["channel", "show", "nothing"]), @r#"
    [exit 1]
    [stderr]
    error: there is no channel "nothing"
      hint: `ctx channel list` shows those that there are; `ctx channel create NAME` makes one
    "#);
}

#[test]
fn messages_are_posted_once_and_read() {
    let user = in_a_room();
    assert_snapshot!(user.run(&["channel", "read", "release"]), @"
    1  ada @planner  chat, now
       Plan the release.
    2  planner  PLAN_READY, now
       Two steps.
       === END ===
    3  stranger (unknown) -> dev  chat, now
       psst
    ");
    assert_snapshot!(user.run(&["channel", "read", "release", "-n", "1", "--json"]), @r#"{"schema":"contexture/1","channel":"chn-cebe9460cca0977d468d679ca1cdb8cd","sequence":3,"id":"msg-05beb0219c135a690d864082be8ad55d","at":"2026-11-15T20:10:00.000000Z","topic":"chat","sender":"stranger","receiver":"dev","thread":"side","content":"art-9eb92f021bd2b26c003307eccbe3564aada74c5841f42043c572dd31dbf09bad","body":{"text":"psst"}}"#);
    assert_snapshot!(user.run(&["channel", "read", "release", "--topic", "PLAN_READY"]), @"
    2  planner  PLAN_READY, now
       Two steps.
       === END ===
    ");
    let again = ["channel", "post", "release", "--from", "ada", "--mention", "planner", "--id", "e1", "--text"];
    assert_snapshot!(user.run(&[&again[..], &["Plan the release."]].concat()), @"
    [stderr]
    Message 1 of release was already e1
    ");
    assert_snapshot!(user.run(&[&again[..], &["Something else."]].concat()), @"
    [exit 3]
    [stderr]
    error: message 1 of channel release has the id e1 already, and says something else
      hint: `ctx channel read release 1` shows that message
    ");
    assert_snapshot!(user.run(&["channel", "post", "release", "--from", "ada", "--text", "x", "--expect", "2"]), @"
    [exit 3]
    [stderr]
    error: channel release ends with message 3, not with 2
      hint: `ctx channel read release --after 2` shows what came since; then retry with `--expect 3`
    ");
    let piped = user.pipe("from a pipe", &["channel", "post", "release", "--from", "dev", "--text", "-", "--json"]);
    assert_snapshot!(piped, @r#"{"schema":"contexture/1","channel":"chn-cebe9460cca0977d468d679ca1cdb8cd","sequence":4,"id":"msg-6f868fee2f42ce0878b91513aa91d958","at":"2026-11-15T20:10:00.000000Z","topic":"chat","sender":"dev","content":"art-10606554015a12180f83fa209753a9e66351442f17a1ffeab5d25ca5eeddb406","created":true}"#);
    assert_snapshot!(user.run(&["channel", "follow", "release", "--after", "3", "-n", "1"]), @"
    4  dev  chat, now
       from a pipe
    ");
    assert_snapshot!(user.run(&["channel", "read", "release", "9"]), @"
    [exit 1]
    [stderr]
    error: channel release has no message 9
      hint: `ctx channel read release` shows the messages there are
    ");
}

#[test]
fn an_agent_is_offered_what_is_new_until_it_is_done_with() {
    let user = in_a_room();
    let begin = ["channel", "turn", "begin", "release", "--agent", "dev"];
    assert_snapshot!(user.run(&begin), @"
    turn      trn-0180a2f66549507b409d985b9bfcfaf8
    agent     dev, turn 1
    offered   messages 1 to 3, to answer 3
    state     open
        1  ada @planner  chat, now; offered to dev
           Plan the release.
        2  planner  PLAN_READY, now; offered to dev
           Two steps.
           === END ===
        3  stranger (unknown) -> dev  chat, now; offered to dev
           psst
    ");
    assert_snapshot!(user.run(&begin), @"
    [exit 3]
    [stderr]
    error: dev is in turn trn-0180a2f66549507b409d985b9bfcfaf8, which ada@laptop began at 2026-11-15T20:10:00.000000Z and holds until 2026-11-15T21:10:00.000000Z
      hint: `--wait 10m` waits for it; `ctx channel turn finish trn-0180a2f665 --fail REASON` ends it if its holder is gone
    ");
    assert_snapshot!(user.run(&["channel", "turn", "begin", "release", "--agent", "stranger"]), @"
    [exit 1]
    [stderr]
    error: stranger is no participant of channel release
      hint: `ctx channel participants release` shows who takes part; with `--add stranger` it registers an agent
    ");
    let journal = user.journal();
    let line = journal.lines().find(|line| line.contains("turn.begun")).unwrap();
    let id = &line[line.find("trn-").unwrap()..][..36];
    assert_snapshot!(user.run(&["channel", "turn", "finish", id, "--fail", "no answer"]), @"
    [stderr]
    Turn trn-0180a2f665 is over: what dev was offered will be offered again.
    ");
    assert_snapshot!(user.run(&["channel", "turn", "finish", id, "--ack"]), @"
    [exit 3]
    [stderr]
    error: turn trn-0180a2f66549507b409d985b9bfcfaf8 is over: it is failed
      hint: `ctx channel turn show trn-0180a2f665` shows what it was offered and how it ended
    ");
    assert_snapshot!(user.run(&[&begin[..], &["--json"]].concat()), @r#"
    {"schema":"contexture/1","id":"trn-ce6c250460da6282a7a8c39de47964d0","channel":"chn-cebe9460cca0977d468d679ca1cdb8cd","agent":"dev","number":2,"trigger":3,"through":3,"delivery":2,"marks":{},"begun_at":"2026-11-15T20:10:00.000000Z","expires_at":"2026-11-15T21:10:00.000000Z","holder":"ada@laptop","state":{"is":"open"}}
    {"schema":"contexture/1","channel":"chn-cebe9460cca0977d468d679ca1cdb8cd","sequence":1,"id":"e1","at":"2026-11-15T20:10:00.000000Z","topic":"chat","sender":"ada","mentions":["planner"],"content":"art-fa7579f0cb0e89b89fe4cb8568baa4e51fb7ec9d15f7422e02bafd0438230439","body":{"text":"Plan the release."},"offered_to":["dev"]}
    {"schema":"contexture/1","channel":"chn-cebe9460cca0977d468d679ca1cdb8cd","sequence":2,"id":"msg-3a6781add96c34fc50d2512762086103","at":"2026-11-15T20:10:00.000000Z","topic":"PLAN_READY","sender":"planner","reply_to":"e1","content":"art-209526e5da5db18234aa1ff01bdc1707a40d507bb7cd6727c090acd26a3890af","body":{"text":"Two steps.\n=== END ==="},"offered_to":["dev"]}
    {"schema":"contexture/1","channel":"chn-cebe9460cca0977d468d679ca1cdb8cd","sequence":3,"id":"msg-05beb0219c135a690d864082be8ad55d","at":"2026-11-15T20:10:00.000000Z","topic":"chat","sender":"stranger","receiver":"dev","thread":"side","content":"art-9eb92f021bd2b26c003307eccbe3564aada74c5841f42043c572dd31dbf09bad","body":{"text":"psst"},"offered_to":["dev"]}
    "#);
    let journal = user.journal();
    let line = journal.lines().rfind(|line| line.contains("turn.begun")).unwrap();
    let id = &line[line.find("trn-").unwrap()..][..36];
    assert_snapshot!(user.run(&["channel", "turn", "finish", id, "--ack", "--through", "9"]), @"
    [exit 1]
    [stderr]
    error: message 9 was not offered in turn trn-ce6c250460da6282a7a8c39de47964d0: that was what came after 0 through 3
      hint: `ctx channel turn show trn-ce6c250460` shows what it was offered and how it ended
    ");
    assert_snapshot!(user.run(&["channel", "turn", "finish", id, "--ack"]), @"
    [stderr]
    Turn trn-ce6c250460 is over: dev is done with all through message 3.
    ");
    assert_snapshot!(user.run(&begin), @"
    [exit 1]
    [stderr]
    error: nothing in channel release is new to dev
      hint: `ctx channel follow release` waits for something
    ");
    assert_snapshot!(user.run(&["channel", "read", "release"]), @"
    1  ada @planner  chat, now; offered to dev; done with by dev
       Plan the release.
    2  planner  PLAN_READY, now; offered to dev; done with by dev
       Two steps.
       === END ===
    3  stranger (unknown) -> dev  chat, now; offered to dev; done with by dev
       psst
    ");
    let rewind = ["channel", "rewind", "release", "--agent", "dev", "--reason", "look again", "--to"];
    assert_snapshot!(user.run(&[&rewind[..], &["3"]].concat()), @"
    [exit 1]
    [stderr]
    error: the cursor of dev is at 3, and can only be set back from there, not to 3
      hint: a cursor goes forward only when a turn is finished
    ");
    assert_snapshot!(user.run(&[&rewind[..], &["1"]].concat()), @"
    [stderr]
    dev is offered message 2 and all that follow again.
    ");
}

#[test]
fn participants_are_registered() {
    let user = in_a_room();
    let add = ["channel", "participants", "release", "--add"];
    let flags = ["--key", "npub1x", "--kind", "agent", "--role", "validator", "--thread", "side"];
    assert_snapshot!(user.run(&[&add[..], &["qa"], &flags[..]].concat()), @"
    [stderr]
    qa takes part in release as an agent.
    ");
    assert_snapshot!(user.run(&[&add[..], &["npub1x"]].concat()), @"
    [stderr]
    npub1x takes part in release as an agent.
    ");
    assert_snapshot!(user.run(&["channel", "participants", "release"]), @"
    ada  a user
    dev  an agent
    npub1x  an agent
    planner  an agent
    ");
    assert_snapshot!(user.run(&["channel", "participants", "release", "--json"]), @r#"
    {"schema":"contexture/1","key":"ada","slug":"ada","kind":"user"}
    {"schema":"contexture/1","key":"dev","slug":"dev","kind":"agent"}
    {"schema":"contexture/1","key":"npub1x","slug":"npub1x","kind":"agent"}
    {"schema":"contexture/1","key":"planner","slug":"planner","kind":"agent"}
    "#);
}
