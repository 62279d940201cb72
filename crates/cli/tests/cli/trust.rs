//! `ctx trust`: what is shown, what is remembered, and what becomes of it.

use std::fs;

use insta::assert_snapshot;

use crate::cli::harness::{Ran, User};

const FIX: &str = r#"description = "Fixes a bug."
[[segments]]
name = "system"
[[segments.sources]]
source = "system"
text = "You fix bugs.\nFind the cause first."
[[segments.sources]]
source = "instructions"
[[segments]]
name = "now"
[[segments.sources]]
source = "files"
files = ["README.md", "docs/errors.md"]
[[segments.sources]]
source = "trigger"
"#;

/// Returns a user with a project that has a recipe, one that is not good, and one in a directory below.
fn with_project() -> User {
    let user = User::new();
    for directory in ["project/.git", "project/.ctx/recipes", "project/sub/.ctx/recipes"] {
        fs::create_dir_all(user.path(directory)).unwrap();
    }
    user.file("project/.ctx/recipes/fix.toml", FIX);
    user.file("project/.ctx/recipes/torn.toml", "name =");
    user.file("project/sub/.ctx/recipes/deep.toml", FIX);
    user
}

fn in_project(user: &User, arguments: &[&str]) -> Ran {
    let ran = user.ran(user.command(arguments).current_dir(user.path("project")).output());
    let home = user.path("").canonicalize().unwrap().display().to_string();
    let short = |text: String| text.replace(home.trim_end_matches('/'), "~");
    Ran { stdout: short(ran.stdout), stderr: short(ran.stderr), ..ran }
}

#[test]
fn what_is_to_be_trusted_is_shown_first() {
    let user = with_project();
    assert_snapshot!(in_project(&user, &["trust", "--dry-run"]), @"
    .ctx/recipes/fix.toml  art-ef4d83ec55  new
      Fixes a bug.
      system: system You fix bugs.
      system: instructions AGENTS.md, CLAUDE.md
      now: files README.md, docs/errors.md
      now: trigger
    [stderr]
    Passed over: cannot take .ctx/recipes/torn.toml as a recipe: it is not TOML: string values must be quoted, expected literal string at line 1 column 7.
    ");
    assert_snapshot!(in_project(&user, &["trust", "--dry-run", "--json", "sub"]), @r#"
    {"schema":"contexture/1","project":"~/project","path":"sub/.ctx/recipes/deep.toml","digest":"art-bded4ef7e5ba21a5a8080aeff216bde224adca34b5a289894c25a25aa5adcb02","state":"new","description":"Fixes a bug.","files":["AGENTS.md","CLAUDE.md","README.md","docs/errors.md"]}
    {"schema":"contexture/1","project":"~/project","path":".ctx/recipes/fix.toml","digest":"art-ef4d83ec55777f092f508caa6ff9b191d0ac09cf8918830c8b3fc935c7cc4156","state":"new","description":"Fixes a bug.","files":["AGENTS.md","CLAUDE.md","README.md","docs/errors.md"]}
    [stderr]
    Passed over: cannot take ../.ctx/recipes/torn.toml as a recipe: it is not TOML: string values must be quoted, expected literal string at line 1 column 7.
    "#);
    assert_snapshot!(in_project(&user, &["trust"]), @"
    [exit 2]
    .ctx/recipes/fix.toml  art-ef4d83ec55  new
      Fixes a bug.
      system: system You fix bugs.
      system: instructions AGENTS.md, CLAUDE.md
      now: files README.md, docs/errors.md
      now: trigger
    [stderr]
    Passed over: cannot take .ctx/recipes/torn.toml as a recipe: it is not TOML: string values must be quoted, expected literal string at line 1 column 7.
    error: nothing was changed, because nobody can be asked
      hint: `--yes` makes the changes, `--dry-run` only shows them
    ");
    assert_eq!(in_project(&user, &["trust", "--list"]).stdout, "", "nothing was trusted by any of it");
}

#[test]
fn trust_is_listed_as_it_stands_and_taken_back() {
    let user = with_project();
    assert_snapshot!(in_project(&user, &["trust", "--yes", "--quiet", "sub"]), @"
    sub/.ctx/recipes/deep.toml  art-bded4ef7e5  new
      Fixes a bug.
      system: system You fix bugs.
      system: instructions AGENTS.md, CLAUDE.md
      now: files README.md, docs/errors.md
      now: trigger
    .ctx/recipes/fix.toml  art-ef4d83ec55  new
      Fixes a bug.
      system: system You fix bugs.
      system: instructions AGENTS.md, CLAUDE.md
      now: files README.md, docs/errors.md
      now: trigger
    ");
    assert_snapshot!(in_project(&user, &["trust", "--yes", ".ctx/recipes/fix.toml"]), @"
    .ctx/recipes/fix.toml  art-ef4d83ec55  trusted
      Fixes a bug.
      system: system You fix bugs.
      system: instructions AGENTS.md, CLAUDE.md
      now: files README.md, docs/errors.md
      now: trigger
    [stderr]
    It is trusted already.
    ");
    assert_snapshot!(in_project(&user, &["trust", "--list"]), @"
    ~/project  .ctx/recipes/fix.toml  art-ef4d83ec55  trusted
    ~/project  sub/.ctx/recipes/deep.toml  art-bded4ef7e5  trusted
    ");
    user.file("project/.ctx/recipes/fix.toml", FIX.replace("Fixes", "Finds"));
    fs::remove_file(user.path("project/sub/.ctx/recipes/deep.toml")).unwrap();
    assert_snapshot!(in_project(&user, &["trust", "--list"]), @"
    ~/project  .ctx/recipes/fix.toml  art-ef4d83ec55  changed
    ~/project  sub/.ctx/recipes/deep.toml  art-bded4ef7e5  gone
    ");
    assert_snapshot!(in_project(&user, &["trust", "--list", "--json"]), @r#"
    {"schema":"contexture/1","project":"~/project","path":".ctx/recipes/fix.toml","digest":"art-ef4d83ec55777f092f508caa6ff9b191d0ac09cf8918830c8b3fc935c7cc4156","state":"changed"}
    {"schema":"contexture/1","project":"~/project","path":"sub/.ctx/recipes/deep.toml","digest":"art-bded4ef7e5ba21a5a8080aeff216bde224adca34b5a289894c25a25aa5adcb02","state":"gone"}
    "#);
    assert_snapshot!(in_project(&user, &["trust", "--dry-run", ".ctx/recipes/fix.toml"]), @"
    .ctx/recipes/fix.toml  art-64f0ad70b8  changed
      Finds a bug.
      system: system You fix bugs.
      system: instructions AGENTS.md, CLAUDE.md
      now: files README.md, docs/errors.md
      now: trigger
    ");
    assert_snapshot!(in_project(&user, &["recipe", "show", "fix"]), @r#"
    [exit 1]
    [stderr]
    error: the recipe "fix" of this project is changed since it was trusted
      hint: `ctx trust .ctx/recipes/fix.toml` shows and trusts it
    "#);
    assert_snapshot!(in_project(&user, &["trust", "--revoke", ".ctx/recipes/fix.toml"]), @".ctx/recipes/fix.toml  revoked");
    assert_snapshot!(in_project(&user, &["trust", "--revoke"]), @"sub/.ctx/recipes/deep.toml  revoked");
    assert_snapshot!(in_project(&user, &["trust", "--revoke"]), @"
    [stderr]
    None of it was trusted.
    ");
}

#[test]
fn trust_in_a_project_that_is_gone_can_be_taken_back() {
    let user = with_project();
    assert_eq!(in_project(&user, &["trust", "--yes", "fix"]).code, 0);
    fs::rename(user.path("project"), user.path("gone")).unwrap();
    let top = user.path("").canonicalize().unwrap().join("project");
    assert_eq!(user.done(&["trust", "--revoke", top.to_str().unwrap()]), ".ctx/recipes/fix.toml  revoked");
    assert_eq!(user.done(&["trust", "--list"]), "");
}

#[test]
fn what_is_no_recipe_of_a_project_is_not_trusted() {
    let user = with_project();
    assert_snapshot!(in_project(&user, &["trust", ".ctx/recipes/torn.toml"]), @"
    [exit 2]
    [stderr]
    error: cannot take .ctx/recipes/torn.toml as a recipe
      because: it is not TOML
      because: string values must be quoted, expected literal string at line 1 column 7
      hint: `ctx recipe --help` shows what a recipe looks like
    ");
    assert_snapshot!(in_project(&user, &["trust", "absent"]), @"
    [exit 1]
    [stderr]
    error: cannot read absent
      because: No such file or directory (os error 2)
    ");
    fs::create_dir(user.path("empty")).unwrap();
    assert_snapshot!(in_project(&user, &["trust", "../empty"]), @"
    [stderr]
    There is no recipe to trust in ~/empty.
    ");
}
