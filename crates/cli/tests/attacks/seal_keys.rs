//! The keys of sealed spaces: what each part of one can do, and who can read the file.

use std::{fs, io::Write as _, os::unix::fs::PermissionsExt as _, path::Path, process::Stdio};

use crate::harness::{Ran, User};

/// What is sealed, made of pieces so that nothing here looks like a secret.
fn secret() -> String {
    ["AK", "IA", "Q3EGRZ7JW5M2XK4T"].concat()
}

/// Returns a user with a sealed space and a commit on `main` that has a secret in it.
fn user_who_seals() -> User {
    let user = User::new();
    user.done(&["secrets", "seal"]);
    checkpoint(&user);
    user
}

fn checkpoint(user: &User) -> Ran {
    user.file("turn.txt", format!("The key is {}.\n", secret()));
    user.run(&["checkpoint", "--format", "text", "--head", "main", "turn.txt"])
}

/// Has another machine use the store of a user, and hands it a key on standard input.
fn machine_with(user: &User, key: &str) -> User {
    let other = User::new();
    fs::remove_dir_all(other.path("store")).ok();
    std::os::unix::fs::symlink(user.path("store"), other.path("store")).unwrap();
    let mut install = other
        .command(&["secrets", "key", "--install", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    install.stdin.take().unwrap().write_all(key.as_bytes()).unwrap();
    assert!(install.wait().unwrap().success());
    other
}

fn revealed(user: &User) -> bool {
    let ran = user.run(&["materialize", "main", "--reveal"]);
    ran.stdout.contains(&secret())
}

#[test]
fn with_the_writing_part_content_is_stored_and_none_is_opened() {
    let user = user_who_seals();
    assert!(revealed(&user));
    let writing = user.done(&["secrets", "key", "--writing"]);
    assert!(writing.contains("recipient") && writing.contains("fingerprints") && !writing.contains("opening"));
    let builder = machine_with(&user, &writing);
    let made = checkpoint(&builder);
    assert_eq!(made.code, 0, "{made}");
    assert!(!revealed(&builder));
    assert!(builder.done(&["materialize", "main"]).contains("[secret:"));
    assert!(builder.done(&["secrets", "key"]).contains("only seals"));
    assert!(revealed(&user), "who has all of it opens what the other machine has stored");
}

#[test]
fn with_the_whole_key_another_machine_opens_what_was_sealed() {
    let user = user_who_seals();
    let laptop = machine_with(&user, &user.done(&["secrets", "key", "--whole"]));
    assert!(revealed(&laptop));
    user.done(&["secrets", "key", "--destroy", "--yes"]);
    assert!(!revealed(&user));
    assert!(revealed(&laptop), "a key that was destroyed on one machine is still on the other");
}

#[test]
fn without_a_key_nothing_is_stored() {
    let user = user_who_seals();
    let stranger = User::new();
    fs::remove_dir_all(stranger.path("store")).ok();
    std::os::unix::fs::symlink(user.path("store"), stranger.path("store")).unwrap();
    let refused = checkpoint(&stranger);
    assert!(refused.code == 1 && refused.stderr.contains("ctx secrets key --help"), "{refused}");
    assert!(!refused.to_string().contains(&secret()));
}

#[test]
fn a_key_is_its_owners_alone_and_not_in_the_store() {
    let user = user_who_seals();
    let shown = user.done(&["secrets", "key"]);
    let file = shown.trim().rsplit_once("in ").unwrap().1;
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600, "{shown}");
    assert!(!Path::new(file).starts_with(user.path("store")));
    let whole = user.done(&["secrets", "key", "--whole"]);
    let opening = whole.lines().find_map(|line| line.strip_prefix("opening")).unwrap();
    let opening = opening.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
    for entry in fs::read_dir(user.path("store")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(opening.len()).any(|window| window == opening.as_bytes()));
    }
}

#[test]
fn what_is_no_key_is_not_installed() {
    let user = user_who_seals();
    user.file("key", "recipient = 00\n");
    let refused = user.run(&["secrets", "key", "--install", "key"]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(revealed(&user));
}
