//! What reaches a terminal: every command, over names and texts that try to steer it, shows none of what would.

mod commands;
mod hostile_world;
mod screen;

use std::collections::BTreeSet;

use self::{
    commands::{CASES, Case, Printed},
    hostile_world::HostileWorld,
    screen::{Stream, offences},
};

/// Returns every command of the program that has none below it, from the script that completes them.
fn leaves(world: &HostileWorld) -> BTreeSet<String> {
    // What bash completes is asked of the program; this script lists it.
    let script = world.user.done(&["completions", "elvish"]);
    let listed = script.lines().filter_map(|line| line.trim().strip_prefix("&'ctx;")?.strip_suffix("'= {"));
    let commands: BTreeSet<String> = listed.map(|words| words.replace(';', " ")).collect();
    let has_none_below = |name: &&String| {
        let below = format!("{name} ");
        !commands.iter().any(|other| other.starts_with(&below) && other != &format!("{name} help"))
    };
    let is_help = |name: &str| name.split(' ').any(|word| word == "help");
    commands.iter().filter(has_none_below).filter(|name| !is_help(name)).cloned().collect()
}

#[test]
fn every_command_has_a_case() {
    let world = HostileWorld::new();
    let cased: BTreeSet<String> = CASES.iter().map(|case| case.command.to_owned()).collect();
    assert_eq!(leaves(&world), cased, "a command without a case in commands.rs, or a case without a command");
}

/// Runs a part of the cases, so that tests share the cores.
fn attack(is_ours: impl Fn(&str) -> bool) {
    let world = HostileWorld::new();
    let mut found = Vec::new();
    for Case { command, runs, printed } in CASES.iter().filter(|case| is_ours(case.command)) {
        let mut has_succeeded = false;
        let refused = [&["--\u{1b}[2J\u{202e}"][..], &["%E", "%E", "%E", "%E"]];
        for arguments in runs.iter().copied().chain(refused) {
            let words = command.split(' ').chain(arguments.iter().copied());
            let line = world.words(words);
            let mut report = |how: &str, offences: Vec<String>| {
                found.extend(offences.into_iter().map(|offence| format!("{command} {arguments:?} {how}: {offence}")));
            };
            let ran = world.piped(&line, &[]);
            has_succeeded |= ran.status.success() || !ran.stdout.is_empty();
            let is_json = arguments.contains(&"--json");
            if *printed == Printed::Text && !is_json {
                report("stdout", offences(&ran.stdout, Stream::Plain));
            }
            if !is_json {
                report("stderr", offences(&ran.stderr, Stream::Plain));
            }
            let coloured = world.piped(&line, &["--color", "always"]);
            if *printed == Printed::Text && !is_json {
                report("coloured stdout", offences(&coloured.stdout, Stream::Coloured));
            }
            if !is_json {
                report("coloured stderr", offences(&coloured.stderr, Stream::Coloured));
            }
            let terminal = if *printed == Printed::Text { Stream::Terminal } else { Stream::TerminalWithContent };
            report("terminal", offences(&world.on_terminal(&line), terminal));
        }
        if !has_succeeded {
            found.push(format!("{command}: none of its runs succeeds, so nothing was shown"));
        }
    }
    assert!(found.is_empty(), "{} offences:\n{}", found.len(), found.join("\n"));
}

fn is_before(letter: char) -> impl Fn(&str) -> bool {
    move |command| command < letter.to_string().as_str()
}

#[test]
fn nothing_steers_the_terminal_from_annotate_to_fsck() {
    attack(is_before('g'));
}

#[test]
fn nothing_steers_the_terminal_from_git_hook_to_missing() {
    attack(|command| !is_before('g')(command) && is_before('n')(command));
}

#[test]
fn nothing_steers_the_terminal_from_recipe_to_why_commit() {
    attack(|command| !is_before('n')(command));
}

#[test]
fn data_is_exact_where_no_person_looks() {
    let world = HostileWorld::new();
    for line in [&["materialize", "main"][..], &["artifact", "get", "%A"], &["envelope", "show", "last", "--bytes"]] {
        let exact = world.piped(&world.words(line.iter().copied()), &[]);
        assert!(exact.status.success(), "{line:?}");
        let text = String::from_utf8_lossy(&exact.stdout);
        assert!(text.contains('\u{202e}'), "{line:?}: {text}");
    }
    let shown = world.on_terminal(&world.words(["artifact", "get", "%A"]));
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("\nWhat could steer the terminal was replaced"), "who looks is told: {shown}");
}

#[test]
fn documents_on_a_terminal_are_the_same_documents() {
    let world = HostileWorld::new();
    let line = world.words(["show", "main", "--json"]);
    let piped = world.piped(&line, &[]).stdout;
    let on_terminal = world.on_terminal(&line);
    let value = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
    assert_eq!(value(&on_terminal), value(&piped));
    assert!(String::from_utf8(piped).unwrap().contains('\u{202e}'));
}
