//! `ctx artifact`.

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn bytes_go_in_and_come_out() {
    let user = User::new();
    assert_snapshot!(user.pipe("abc", &["artifact", "put", "-"]), @"art-6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
    assert_snapshot!(user.pipe("abc", &["artifact", "put", "-", "--json"]), @r#"{"schema":"contexture/1","id":"art-6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85","size":3,"new_bytes":0}"#);
    assert_snapshot!(user.run(&["artifact", "get", "art-6437"]), @"abc");
    assert_snapshot!(user.run(&["artifact", "get", "6437", "-o", "abc.txt"]), @"
    [stderr]
    Wrote 3 bytes to abc.txt.
    ");
    assert_eq!(user.read("abc.txt"), "abc");
    assert_snapshot!(user.run(&["artifact", "stat", "art-6437"]), @"
    artifact   art-6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85
    size       3 bytes
    stored     3 bytes as raw
    ");
    assert_snapshot!(user.run(&["artifact", "stat", "art-6437", "--json"]), @r#"{"schema":"contexture/1","id":"art-6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85","size":3,"encoding":"raw","parts":0,"stored_bytes":3}"#);
}

#[test]
fn large_bytes_are_stored_in_parts_and_come_back_equal() {
    let user = User::new();
    let large: Vec<u8> = (0..600_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    user.file("large", &large);
    let id = user.done(&["artifact", "put", "large"]);
    assert_snapshot!(user.run(&["artifact", "stat", &id]), @"
    artifact   art-a704401431d1ede8a9ff6d22a8e763298c9593f0b029a1ab0152d2ef785c84f1
    size       2.4 MB
    stored     2.4 MB as parts
    parts      30
    ");
    assert_snapshot!(user.run(&["artifact", "get", &id, "-o", "again"]), @"
    [stderr]
    Wrote 2.4 MB to again.
    ");
    assert!(std::fs::read(user.path("again")).unwrap() == large);
}

#[test]
fn what_is_not_there_is_reported() {
    let user = User::new();
    assert_snapshot!(user.run(&["artifact", "get", "art-6437"]), @"
    [exit 1]
    [stderr]
    error: no artifact has an id that starts with art-6437
    ");
    assert_snapshot!(user.run(&["artifact", "stat", "art-64"]), @r#"
    [exit 2]
    [stderr]
    error: invalid value 'art-64' for '<ID>': "art-64" has 2 hex digits where 4 to 64 belong

    For more information, try '--help'.
    "#);
    assert_snapshot!(user.run(&["artifact", "put", "absent"]), @"
    [exit 1]
    [stderr]
    error: cannot read absent
      because: No such file or directory (os error 2)
    ");
    assert_snapshot!(user.run(&["artifact", "get", "art-6437", "--json"]), @r#"
    [exit 2]
    [stderr]
    {"schema":"contexture/1","error":{"code":"json-beside-content","message":"--json needs -o FILE here, because the artifact itself goes to standard output","causes":[]}}
    "#);
}
