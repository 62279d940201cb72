//! Secrets in sessions: what everything shows of them, and what not.

use std::fs;

use serde_json::Value;

use crate::harness::User;

/// A secret, made of pieces so that nothing here looks like one.
struct Canary {
    rule: &'static str,
    value: String,
}

fn canaries() -> Vec<Canary> {
    let canary = |rule, parts: &[&str]| Canary { rule, value: parts.concat() };
    vec![
        canary("aws-access-key-id", &["AK", "IA", "Q3EGRZ7JW5M2XK4T"]),
        canary("anthropic-api-key", &["sk-", "ant-api03-", &"Zq7Rw2Xc9Lm4Tn8Vb3Kp".repeat(5)[..93], "AA"]),
        canary("stripe-secret-key", &["sk", "_live_", "51Hx9Tq2Lm8Vn4Rb7Kc3Wd6Zp"]),
        canary("slack-token", &["xo", "xb-", "2938475610293-3847561029384-Qw8Er2Ty6Ui4Op9As3Df7Gh1"]),
        canary("url-password", &["Tr7", "xQ9mWz4Lp"]),
    ]
}

/// A turn of a session in which secrets are read, said and written.
fn session(canaries: &[Canary]) -> String {
    let mut lines = String::new();
    let mut parent = Value::Null;
    for (number, Canary { rule, value }) in canaries.iter().enumerate() {
        let said =
            if *rule == "url-password" { format!("postgres://deploy:{value}@db.example/app") } else { value.clone() };
        for (role, content) in [
            ("user", Value::from(format!("The key is {said}, use it.\nThen go on."))),
            (
                "assistant",
                serde_json::json!([{
                    "type": "tool_use", "id": format!("call-{number}"), "name": "Bash",
                    "input": { "command": format!("export TOKEN=\"{said}\"\ncurl -H 'x: {said}' localhost") },
                }]),
            ),
        ] {
            let uuid = format!("00000000-0000-4000-8000-{number:06}{:06}", usize::from(role == "assistant"));
            let record = serde_json::json!({
                "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "5ec4e700-0000-4000-8000-000000000000",
                "timestamp": format!("2026-11-15T19:{number:02}:00.000Z"), "cwd": "/", "version": "2.0.0",
                "message": { "role": role, "content": content },
            });
            parent = uuid.into();
            lines.push_str(&record.to_string());
            lines.push('\n');
        }
    }
    lines
}

fn user_with_secrets() -> (User, Vec<Canary>) {
    let (user, canaries) = (User::new(), canaries());
    let home = user.path(".claude/projects/-");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("5ec4e700-0000-4000-8000-000000000000.jsonl"), session(&canaries)).unwrap();
    user.done(&["import"]);
    (user, canaries)
}

const HEAD: &str = "session/5ec4e700-0000-4000-8000-000000000000";

fn assert_hidden(shown: &str, canaries: &[Canary], what: &[&str]) {
    for Canary { rule, value } in canaries {
        assert!(!shown.contains(value.as_str()), "{what:?} shows the {rule}:\n{shown}");
        assert!(!shown.contains(&value[4..]), "{what:?} shows some of the {rule}:\n{shown}");
    }
}

#[test]
fn nothing_that_shows_text_shows_a_secret() {
    let (user, canaries) = user_with_secrets();
    for command in [
        &["log", "--all"][..],
        &["log", "--all", "--graph"],
        &["list"],
        &["show", HEAD],
        &["show", HEAD, "--entries"],
        &["cat", HEAD, "--full"],
        &["search", "key"],
        &["materialize", HEAD],
        &["materialize", HEAD, "--format", "codex-v1"],
        &["materialize", HEAD, "--format", "openai-chat-v1"],
        &["assemble", "resume", "--head", HEAD, "--trigger", &format!("Use {}.", canaries[0].value)],
        &["envelope", "show", "last", "--all"],
        &["envelope", "export", "last"],
        &["envelope", "replay", "last"],
        &["journal"],
        &["missing", "list"],
        &["stats"],
        &["doctor"],
    ] {
        for more in [&[][..], &["--json"]] {
            if !more.is_empty() && matches!(command[0], "materialize" | "assemble") {
                continue;
            }
            let ran = user.run(&[command, more].concat());
            assert_hidden(&format!("{}{}", ran.stdout, ran.stderr), &canaries, command);
        }
    }
    let cat = user.done(&["cat", HEAD, "--full"]);
    assert!(cat.contains("[secret:aws-access-key"), "{cat}");
}

#[test]
fn each_secret_is_listed_and_found_where_it_is() {
    let (user, canaries) = user_with_secrets();
    let listed = user.done(&["secrets", "list", "--json"]);
    assert_eq!(listed.lines().count(), canaries.len(), "{listed}");
    for Canary { rule, value } in &canaries {
        let ran = user.pipe(value, &["secrets", "where", "-", "--json"]);
        let document: Value = serde_json::from_str(ran.stdout.trim()).unwrap();
        assert_hidden(&ran.stdout, &canaries, &["secrets", "where"]);
        if *rule != "url-password" {
            assert!(!document["commits"].as_array().unwrap().is_empty(), "{rule}: {document}");
            assert_eq!(document["machines"], serde_json::json!(["laptop"]));
        }
    }
}

#[test]
fn no_search_finds_a_secret() {
    let (user, canaries) = user_with_secrets();
    for Canary { value, .. } in &canaries {
        let ran = user.run(&["search", &format!("\"{value}\"")]);
        assert_ne!(ran.code, 0, "{ran}");
    }
}

#[test]
fn exact_bytes_are_given_to_who_asks_and_the_journal_says_so() {
    let (user, canaries) = user_with_secrets();
    let exact = user.run(&["materialize", HEAD, "--reveal"]);
    assert!(canaries.iter().all(|canary| exact.stdout.contains(&canary.value)), "{exact}");
    assert!(user.journal().contains("content.revealed"));
    assert!(user.done(&["import", "--verify"]).contains("bit-equal") || user.run(&["import", "--verify"]).code == 0);
}

#[test]
fn a_bundle_with_secrets_is_refused_until_somebody_says_what_becomes_of_them() {
    let (user, canaries) = user_with_secrets();
    let refused = user.run(&["export", "--all", "-o", "all.bundle"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert_hidden(&refused.stderr, &canaries, &["export"]);
    assert!(!user.path("all.bundle").exists());
    user.done(&["export", "--all", "--reveal", "-o", "all.bundle"]);
    assert!(user.journal().contains("export --all"));
}

#[test]
fn a_session_that_came_from_here_goes_on_exactly_and_elsewhere_masked() {
    let (user, canaries) = user_with_secrets();
    let written = |arguments: &[&str], machine: &str| {
        let command = [&["resume", HEAD, "--print", "--json", "--cwd", "."], arguments].concat();
        let ran = user.ran(user.command(&command).env("CTX_MACHINE", machine).output());
        let document: Value = serde_json::from_str(ran.stdout.trim()).unwrap_or_else(|_| panic!("{ran}"));
        fs::read_to_string(document["path"].as_str().unwrap()).unwrap()
    };
    let own = written(&[], "laptop");
    assert!(canaries.iter().all(|canary| own.contains(&canary.value)), "{own}");
    assert_hidden(&written(&[], "other"), &canaries, &["resume elsewhere"]);
    let told = user.ran(user.command(&["resume", HEAD, "--print", "--cwd", "."]).env("CTX_MACHINE", "other").output());
    assert!(told.stderr.contains("5 secrets masked"), "{told}");
    assert_hidden(&written(&["--in", "codex"], "laptop"), &canaries, &["resume in another agent"]);
}

#[test]
fn what_was_stored_before_a_rule_was_known_is_masked_after_a_scan() {
    let user = User::new();
    user.file("turn.txt", "the badge is corp-7f3a9c2e51d84b60\n");
    user.done(&["checkpoint", "--format", "text", "--head", "main", "turn.txt"]);
    assert!(user.done(&["cat", "main"]).contains("corp-7f3a"));
    user.file("rules.toml", "[[rule]]\nid = \"corp-badge\"\nprefix = \"corp-\"\nalphabet = \"hex\"\nlength = 16\n");
    user.done(&["secrets", "rules", "rules.toml"]);
    user.done(&["secrets", "scan"]);
    let cat = user.done(&["cat", "main"]);
    assert!(!cat.contains("7f3a9c2e51d84b60") && cat.contains("[secret:corp-badge:"), "{cat}");
}

#[test]
fn what_was_said_about_commits_before_a_rule_was_known_is_masked_by_a_scan() {
    let user = User::new();
    let badge = "corp-7f3a9c2e51d84b60";
    user.file("turn.txt", "one\n");
    user.done(&["checkpoint", "--format", "text", "--head", "main", "--summary", badge, "turn.txt"]);
    user.done(&["annotate", "main", "--label", &format!("badge=it is {badge}"), "--tag", "kept"]);
    user.done(&["search", "badge"]);
    user.file("rules.toml", "[[rule]]\nid = \"corp-badge\"\nprefix = \"corp-\"\nalphabet = \"hex\"\nlength = 16\n");
    user.done(&["secrets", "rules", "rules.toml"]);
    let scanned = user.done(&["secrets", "scan"]);
    assert!(scanned.contains("Masked 2 statements about commits"), "{scanned}");
    for command in [&["log", "main"][..], &["list"], &["show", "main"], &["show", "main", "--json"], &["search", "one"]]
    {
        let shown = user.run(command).to_string();
        assert!(!shown.contains(badge), "{command:?}\n{shown}");
    }
    assert!(user.done(&["log", "main"]).contains("[secret:corp-badge:"));
    user.done(&["fsck"]);
    let again: Value = serde_json::from_str(&user.done(&["secrets", "scan", "--json"])).unwrap();
    assert_eq!(again["masked_annotations"], 0, "{again}");
}

#[test]
fn a_sealed_store_holds_no_secret_in_any_file() {
    let (user, canaries) = (User::new(), canaries());
    user.done(&["secrets", "seal"]);
    let home = user.path(".claude/projects/-");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("5ec4e700-0000-4000-8000-000000000000.jsonl"), session(&canaries)).unwrap();
    user.done(&["import"]);
    user.done(&["assemble", "resume", "--head", HEAD, "--trigger", &format!("Use {}.", canaries[1].value)]);
    user.run(&["search", "key"]);
    for entry in fs::read_dir(user.path("store")).into_iter().flatten() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        for Canary { rule, value } in &canaries {
            let found = bytes.windows(12).any(|window| value.as_bytes().windows(12).any(|part| part == window));
            assert!(!found, "the {rule} is in a file of the store");
        }
    }
    let exact = user.run(&["materialize", HEAD, "--reveal"]);
    assert!(canaries.iter().all(|canary| exact.stdout.contains(&canary.value)), "{exact}");
    assert_eq!(user.run(&["import", "--verify"]).code, 0);
    assert_eq!(user.run(&["fsck"]).code, 0);
    user.done(&["secrets", "key", "--destroy", "--yes"]);
    let gone = user.run(&["materialize", HEAD, "--reveal"]);
    assert_hidden(&gone.stdout, &canaries, &["materialize without the key"]);
}

#[test]
fn a_masked_bundle_carries_everything_but_the_secrets() {
    let (user, canaries) = user_with_secrets();
    user.done(&["assemble", "resume", "--head", HEAD, "--trigger", &format!("Use {}.", canaries[1].value)]);
    user.done(&["export", "--all", "--masked", "-o", "all.bundle"]);
    assert!(!user.journal().contains("content.revealed"));
    let bundle = fs::read(user.path("all.bundle")).unwrap();
    assert_eq!(bundle[7], 3, "only version 3 leaves content out");
    let other = User::new();
    fs::write(other.path("all.bundle"), &bundle).unwrap();
    let taken = other.run(&["import-bundle", "all.bundle"]);
    assert!(taken.code == 0 && taken.stderr.contains("without the original content"), "{taken}");
    let ids = |user: &User| -> Vec<Value> {
        let log = user.done(&["log", HEAD, "--json"]);
        log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect()
    };
    assert!(!ids(&user).contains(&Value::Null));
    assert_eq!(ids(&user), ids(&other));
    for command in [
        &["materialize", HEAD][..],
        &["materialize", HEAD, "--reveal"],
        &["cat", HEAD, "--full"],
        &["show", HEAD, "--entries"],
        &["search", "key"],
        &["envelope", "export", "last"],
        &["assemble", "resume", "--head", HEAD, "--trigger", "Go on."],
        &["journal"],
        &["export", "--all", "-o", "again.bundle"],
    ] {
        let ran = other.run(command);
        assert_eq!(ran.code, 0, "{ran}");
        assert_hidden(&format!("{}{}", ran.stdout, ran.stderr), &canaries, command);
    }
    assert!(other.done(&["materialize", HEAD]).contains("[secret:"));
    assert!(other.done(&["show", HEAD]).contains("came along in part"));
    for entry in fs::read_dir(other.path("store")).into_iter().flatten() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        for Canary { rule, value } in &canaries {
            let is_in = bytes.windows(value.len()).any(|window| window == value.as_bytes());
            assert!(!is_in, "the {rule} is in a file of the store");
        }
    }
    assert_eq!(other.run(&["fsck"]).code, 0);
}

#[test]
fn secrets_in_a_bundle_are_found_as_it_is_taken_in() {
    let (user, canaries) = user_with_secrets();
    user.done(&["export", "--all", "--reveal", "-o", "all.bundle"]);
    for treatment in ["mark", "seal"] {
        let other = User::new();
        other.done(&["secrets", treatment]);
        fs::copy(user.path("all.bundle"), other.path("all.bundle")).unwrap();
        other.done(&["import-bundle", "all.bundle"]);
        assert_hidden(&other.done(&["materialize", HEAD]), &canaries, &["materialize", treatment]);
        let exact = other.run(&["materialize", HEAD, "--reveal"]).stdout;
        assert!(canaries.iter().all(|canary| exact.contains(&canary.value)), "{treatment}");
        assert_eq!(other.run(&["fsck"]).code, 0);
    }
}

#[test]
fn a_sealed_chain_goes_along_as_it_is_stored() {
    let (user, canaries) = (User::new(), canaries());
    user.done(&["secrets", "seal"]);
    let home = user.path(".claude/projects/-");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("5ec4e700-0000-4000-8000-000000000000.jsonl"), session(&canaries)).unwrap();
    user.done(&["import"]);
    for flag in ["--masked", "--reveal"] {
        user.done(&["export", "--all", flag, "-o", "all.bundle"]);
        let other = User::new();
        fs::copy(user.path("all.bundle"), other.path("all.bundle")).unwrap();
        other.done(&["import-bundle", "all.bundle"]);
        assert_eq!(user.done(&["materialize", HEAD]), other.done(&["materialize", HEAD, "--reveal"]), "{flag}");
        assert_eq!(other.run(&["fsck"]).code, 0);
    }
}
