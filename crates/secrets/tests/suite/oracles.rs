//! How much of what is planted is found, and what other scanners find of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use contexture_secrets::{Alphabet, Scanner, families};
use serde_json::{Value, json};

use crate::generate::{Random, assigned, secret};

/// A secret and the line that it is planted in.
struct Planted {
    family: &'static str,
    secret: String,
    line: String,
}

/// Plants more than two thousand secrets in records such as agents write.
fn planted() -> Vec<Planted> {
    let mut random = Random::new(77);
    let mut planted = Vec::new();
    while planted.len() < 2400 {
        for family in families() {
            let (name, secret) = match assigned(family, &mut random) {
                Some(pair) => pair,
                None if family.shapes.is_empty() => continue,
                None => {
                    let shape = &family.shapes[random.below(family.shapes.len())];
                    ("ACME_KEY".to_owned(), secret(shape, &mut random))
                }
            };
            let line = record(&name, &secret, &mut random);
            planted.push(Planted { family: family.id, secret, line });
        }
    }
    planted
}

fn record(name: &str, secret: &str, random: &mut Random) -> String {
    let id = random.text(Alphabet::HEX, 24);
    let record = match random.below(5) {
        0 => {
            json!({"type": "user", "uuid": id, "message": {"role": "user", "content": format!("Use this:\n{name}={secret}\nthanks")}})
        }
        1 => {
            json!({"type": "tool_result", "content": [{"type": "text", "text": format!("     1→{name}=\"{secret}\"\n     2→PORT=80\n")}]})
        }
        2 => {
            let arguments = json!({"command": ["bash", "-lc", format!("export {name}='{secret}' && run")]}).to_string();
            json!({"type": "function_call", "name": "shell", "call_id": id, "arguments": arguments})
        }
        3 => {
            let settings = json!({"env": {name: secret}}).to_string();
            json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "input": {"content": settings}}]}})
        }
        _ => json!({"payload": {"output": format!("{name}: {secret}\r\nusage: {{\"input_tokens\": 12}}")}}),
    };
    record.to_string()
}

#[test]
fn what_is_planted_is_found() {
    let scanner = Scanner::new();
    let planted = planted();
    let mut missed: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &planted {
        let line = one.line.as_bytes();
        let found = scanner.scan(line).iter().any(|span| *scanner.value(line, span) == *one.secret.as_bytes());
        *missed.entry(one.family).or_default() += usize::from(!found);
    }
    missed.retain(|_, count| *count > 0);
    let misses: usize = missed.values().sum();
    println!("{} of {} planted secrets were found; missed: {missed:?}", planted.len() - misses, planted.len());
    assert!(planted.len() >= 2000 && misses * 50 <= planted.len(), "{missed:?}");
}

#[test]
fn false_alarms_are_counted_on_real_transcripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    if !folder.is_dir() {
        println!("SKIPPED: there are no transcripts beside the workspace");
        return;
    }
    let scanner = Scanner::new();
    let (mut bytes, mut rules) = (0, BTreeMap::<String, usize>::new());
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if entry.metadata().unwrap().len() < 1 << 20 {
                let content = fs::read(entry.path()).unwrap();
                bytes += content.len();
                for span in scanner.scan(&content) {
                    *rules.entry(span.rule.to_string()).or_default() += 1;
                }
            }
        }
    }
    let guesses: usize = rules.iter().filter(|(rule, _)| rule.starts_with("assigned-")).map(|(_, count)| count).sum();
    println!("{guesses} guesses in {} MB: {rules:?}", bytes / 1_000_000);
    assert!(guesses <= 1 + bytes / 500_000, "{rules:?}");
}

#[test]
fn other_scanners_find_nothing_planted_that_is_not_found_here() {
    let scanner = Scanner::new();
    let planted = planted();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("planted.jsonl");
    fs::write(&file, planted.iter().map(|one| one.line.clone() + "\n").collect::<String>()).unwrap();
    for (name, lines) in [("detect-secrets", detect_secrets(&file)), ("kingfisher", kingfisher(&file))] {
        let Some(lines) = lines else {
            println!("SKIPPED: {name} is not installed; `cargo xtask oracles` does it");
            continue;
        };
        let found = |one: &Planted| !scanner.scan(one.line.as_bytes()).is_empty();
        let theirs: Vec<&Planted> = lines.iter().filter_map(|line| planted.get(line - 1)).collect();
        let only_theirs: BTreeSet<&str> = theirs.iter().filter(|one| !found(one)).map(|one| one.family).collect();
        println!("{name} finds something in {} of {} lines; only it: {only_theirs:?}", theirs.len(), planted.len());
        assert!(!theirs.is_empty(), "{name} has found nothing");
        assert!(only_theirs.len() <= 3, "{only_theirs:?}");
    }
}

/// Finds a program in the environment that `cargo xtask oracles` makes.
fn oracle(name: &str) -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists())?;
    Some(target.join("oracles/bin").join(name)).filter(|program| program.exists())
}

fn detect_secrets(file: &Path) -> Option<BTreeSet<usize>> {
    let mut command = Command::new(oracle("detect-secrets")?);
    let output = command
        .current_dir(file.parent()?)
        .args(["scan", "--no-verify", "--all-files", "planted.jsonl"])
        .output()
        .ok()?;
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = report["results"].as_object().unwrap();
    let lines = results.values().flat_map(|found| found.as_array().unwrap());
    Some(lines.map(|found| usize::try_from(found["line_number"].as_u64().unwrap()).unwrap()).collect())
}

fn kingfisher(file: &Path) -> Option<BTreeSet<usize>> {
    let mut command = Command::new(oracle("kingfisher")?);
    let output =
        command.args(["scan", "--no-validate", "--no-update-check", "--format", "jsonl"]).arg(file).output().ok()?;
    let lines =
        output.stdout.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    Some(lines.filter_map(|found| usize::try_from(found["finding"]["line"].as_u64()?).ok()).collect())
}
