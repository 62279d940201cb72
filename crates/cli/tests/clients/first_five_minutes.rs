//! The first five minutes of somebody new, as `docs/first-five-minutes.md` tells them.

use std::{fs, path::Path};

use contexture_testkit::{clients::Client, model_server::ScriptStep};
use serde_json::json;

use crate::{
    recording::{self, Recording},
    stage::{CTX, Stage, said},
};

const PROGRAM: &str = "fn main() {\n    println!(\"Hello, world!\");\n}\n";
const GREETS: &str =
    "    let name = std::env::args().nth(1).unwrap_or(\"world\".into());\n    println!(\"Hello, {name}!\");";

#[test]
fn the_first_five_minutes_are_as_they_are_told() {
    for client in [Client::ClaudeCode, Client::Codex] {
        if !client.available_or_skip("the_first_five_minutes") {
            return;
        }
    }
    let stage = with_a_program();
    let (edit, commit) = script(&stage);
    stage.server.script([
        ScriptStep::new().text("I look at the program.").call("Read", json!({"file_path": edit["file_path"]})),
        ScriptStep::new().thinking("Without a name it should greet the world, as it does.").call("Edit", edit),
        ScriptStep::new().call("Bash", commit),
        ScriptStep::new().text("`main.rs` greets whoever is named, or the world. It is committed."),
    ]);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/first-five-minutes.md");
    let recorded = fs::read_to_string(&path).unwrap();
    let home = stage.workplace.home();
    let shown = Recording::read(&recorded).replay(|line, answers| {
        let mut shell = stage.workplace.program(Path::new("/bin/sh"));
        // A person who looks at a recording needs no pages.
        shell.args(["-c", line]).envs([("PAGER", ""), ("GIT_PAGER", "cat")]);
        shell.envs([("CTX_PRINCIPAL", "ada@laptop"), ("CTX_MACHINE", "laptop")]);
        let shown = recording::at_terminal(shell, answers);
        shown.replace(home.to_str().unwrap(), "/home/ada")
    });
    assert_eq!(stage.server.remaining_steps(), 0, "{shown}");
    recording::compare(&path, &recorded, &shown);
}

/// Ada's machine, with both clients and a program under git.
fn with_a_program() -> Stage {
    let stage = Stage::new();
    stage.workplace.put_on_path(Path::new(CTX));
    stage.put_on_path(Client::ClaudeCode);
    stage.put_on_path(Client::Codex);
    let project = stage.workplace.project();
    fs::remove_file(project.join("notes.txt")).unwrap();
    fs::write(project.join("main.rs"), PROGRAM).unwrap();
    let git = |arguments: &[&str]| said(stage.workplace.program(Path::new("git")).args(arguments));
    git(&["config", "user.name", "Ada"]);
    git(&["config", "user.email", "ada@example.org"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--amend", "--message=Greet the world"]);
    let settings = stage.workplace.home().join(".claude/settings.json");
    let allowed = json!({"permissions": {"allow": ["Read", "Edit", "Bash(git commit:*)"]}});
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(settings, format!("{allowed:#}\n")).unwrap();
    stage
}

/// Returns what the model does: an edit and a commit.
fn script(stage: &Stage) -> (serde_json::Value, serde_json::Value) {
    let file = stage.workplace.project().join("main.rs");
    let old = "    println!(\"Hello, world!\");";
    let edit = json!({"file_path": file, "old_string": old, "new_string": GREETS});
    let commit = json!({"command": "git commit --quiet --all --message 'Greet whoever is named'"});
    (edit, commit)
}
