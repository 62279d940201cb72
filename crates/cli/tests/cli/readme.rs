//! What README shows of a terminal: it is taken from the recording in `docs`, which a test replays.

/// A command and what a terminal shows after it.
#[derive(Debug, PartialEq, Eq)]
struct ShownCommand<'d> {
    line: &'d str,
    shown: Vec<&'d str>,
}

/// Stands for lines that are left out.
const LEFT_OUT: &str = "…";

/// Returns the commands in the console blocks of a document.
fn commands(document: &str) -> Vec<ShownCommand<'_>> {
    let (mut commands, mut in_console) = (Vec::<ShownCommand<'_>>::new(), false);
    for line in document.lines() {
        match (in_console, line.strip_prefix("$ "), commands.last_mut()) {
            _ if line.starts_with("```") => in_console = line == "```console",
            (true, Some(line), _) => commands.push(ShownCommand { line, shown: Vec::new() }),
            (true, None, Some(command)) => command.shown.push(line),
            _ => {}
        }
    }
    commands
}

/// Tells whether lines are those of a whole, apart from what is left out where it is said.
fn is_part_of(part: &[&str], whole: &[&str]) -> bool {
    let (mut at, mut may_skip) = (0, false);
    for line in part.iter().filter(|line| !line.is_empty()) {
        if *line == LEFT_OUT {
            may_skip = true;
            continue;
        }
        let rest = whole.get(at..).unwrap_or_default();
        let skipped = rest.iter().take_while(|shown| *shown != line && (may_skip || shown.is_empty())).count();
        if rest.get(skipped) != Some(line) {
            return false;
        }
        (at, may_skip) = (at + skipped + 1, false);
    }
    may_skip || whole[at..].iter().all(|line| line.is_empty())
}

#[test]
fn what_readme_shows_is_what_the_recording_shows() {
    let readme = commands(include_str!("../../../../README.md"));
    let recorded = commands(include_str!("../../../../docs/first-five-minutes.md"));
    assert_eq!(readme.first().map(|command| command.line), Some("ctx init"));
    for command in &readme {
        let same = recorded.iter().find(|it| it.line == command.line);
        // A command whose output is not shown may do what the recording only prints.
        let begun = || recorded.iter().find(|it| command.shown.is_empty() && it.line.starts_with(command.line));
        let recorded = same.or_else(begun).unwrap_or_else(|| panic!("`{}` was not recorded", command.line));
        let is_shown = command.shown.is_empty() || is_part_of(&command.shown, &recorded.shown);
        assert!(is_shown, "README is not what was recorded:\n{command:#?}\n{recorded:#?}");
    }
}

#[test]
fn lines_are_left_out_only_where_that_is_said() {
    let whole = ["a", "b", "", "c", "d"];
    for part in [&["a", "b", "", "c", "d"] as &[&str], &["a", LEFT_OUT, "d"], &["a", LEFT_OUT], &[LEFT_OUT, "c", "d"]] {
        assert!(is_part_of(part, &whole), "{part:?}");
    }
    for part in [&["a", "c", "d"] as &[&str], &["b", LEFT_OUT], &["a", "b"], &["a", LEFT_OUT, "x"]] {
        assert!(!is_part_of(part, &whole), "{part:?}");
    }
}
