//! The page of every code, `docs/errors.md`, made from the table of codes and compared with what is there.

use std::{collections::BTreeSet, env, fs, path::Path};

use contexture::{Coded as _, ErrorCode};

use super::{Exit, samples};

/// Set to `always`, it lets the page be written again, as it does snapshots.
const UPDATE: &str = "INSTA_UPDATE";

const START: &str = "\
# Exit codes and errors

| exit code | meaning | what to do |
|---|---|---|
| 0 | done | |
| 1 | failed | read the message; nothing was changed |
| 2 | usage | read the command's `--help` |
| 3 | conflict | somebody else was faster, or a key was used for something else: look again and retry |
| 4 | the store is damaged | `ctx fsck` says what is hit; restore that part from a bundle or a backup |

An error says what failed, why, and where it can one thing to type next.
With `--json` it is one JSON object on standard error with a stable `code`.
Nothing is half done: an operation that fails has changed nothing that you can see.
The one exception says so: when the connection to a PostgreSQL server is lost during a commit and the server stays away (`lost`), the change was made whole or not at all, and a retry with the same `--key` makes it once.
Large content that was refused or cut off may leave pieces in the store that nothing refers to; the next try uses them again.

## Codes

Programs may rely on a code: it keeps its meaning, and none goes away.
New ones may come.

| code | exit code | meaning | what to do |
|---|---|---|---|
";

fn page() -> String {
    let rows = ErrorCode::ALL.iter().map(|&code| {
        let exit = match code {
            ErrorCode::ProgramFailed => "the program's".to_owned(),
            _ => Exit::of(code).number().to_string(),
        };
        format!("| `{code}` | {exit} | {} | {} |\n", code.meaning(), code.remedy())
    });
    START.to_owned() + &rows.collect::<String>()
}

#[test]
fn the_page_of_errors_is_the_one_that_the_table_makes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    if env::var(UPDATE).is_ok_and(|mode| mode == "always") {
        fs::write(&path, page()).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), page(), "{UPDATE}=always writes it again");
}

#[test]
fn every_code_is_that_of_an_error() {
    // Arguments are refused before there is a command that could fail.
    let mut made = BTreeSet::from([ErrorCode::Usage]);
    for error in samples::samples() {
        assert_eq!(error.exit().number(), Exit::of(error.code()).number(), "{error}");
        made.insert(error.code());
    }
    assert_eq!(ErrorCode::ALL.iter().find(|code| !made.contains(code)), None);
}
