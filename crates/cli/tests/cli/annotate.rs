//! `ctx annotate`.

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn statements_are_added_from_flags_and_standard_input() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["annotate", "review", "--tag", "good", "--label", "by=grace"]), @"
    [stderr]
    Annotated ctx-bacf8294d2 with 2 statements.
    ");
    assert_snapshot!(user.pipe("From a pipe\n", &["annotate", "review", "--summary", "-", "--json"]), @r#"{"schema":"contexture/1","id":"ctx-bacf8294d2ccae76ed055e62c8e46c63","parent":"ctx-949736b60af91408ac3c03058ae8cabc","type":"delta","artifact":"art-e89868b4d34d08a0083eb46a48a4eb0eb351063bea115ba56d1a19db47523cb8","format":"claude-code-v1","principal":"grace@desk","machine":"laptop","trigger":"explicit","message_count":1,"created_at":"2026-11-15T19:50:00.000000Z","seq":11,"depth":2,"summary":"From a pipe","tags":["good"],"labels":{"by":"grace"},"heads":["review"]}"#);
    assert_snapshot!(user.run(&["annotate", "review", "--summary", "", "--json"]), @r#"{"schema":"contexture/1","id":"ctx-bacf8294d2ccae76ed055e62c8e46c63","parent":"ctx-949736b60af91408ac3c03058ae8cabc","type":"delta","artifact":"art-e89868b4d34d08a0083eb46a48a4eb0eb351063bea115ba56d1a19db47523cb8","format":"claude-code-v1","principal":"grace@desk","machine":"laptop","trigger":"explicit","message_count":1,"created_at":"2026-11-15T19:50:00.000000Z","seq":11,"depth":2,"tags":["good"],"labels":{"by":"grace"},"heads":["review"]}"#);
}

#[test]
fn what_cannot_be_said_is_refused_and_changes_nothing() {
    let user = User::with_history();
    let before = user.journal();
    assert_snapshot!(user.run(&["annotate", "review"]), @"
    [exit 2]
    [stderr]
    error: the following required arguments were not provided:
      <--summary <TEXT|->|--tag <T>|--untag <T>|--label <K=V>>

    Usage: ctx annotate <--summary <TEXT|->|--tag <T>|--untag <T>|--label <K=V>> <ID|HEAD>

    For more information, try '--help'.
    ");
    assert_snapshot!(user.run(&["annotate", "review", "--tag", "two words"]), @r#"
    [exit 2]
    [stderr]
    error: invalid value 'two words' for '--tag <T>': "two words" cannot be a tag: it has white space or '='

    For more information, try '--help'.
    "#);
    assert_snapshot!(user.pipe(b"\xff\xfe", &["annotate", "review", "--summary", "-"]), @"
    [exit 1]
    [stderr]
    error: cannot take standard input as a summary: it is not UTF-8
    ");
    assert_snapshot!(user.pipe("x".repeat(70_000), &["annotate", "review", "--summary", "-"]), @"
    [exit 1]
    [stderr]
    error: the text has 70000 bytes; at most 65536 are kept
    ");
    assert_eq!(user.journal(), before);
}
