//! `ctx recipe`: which there are, what is wrong with them, what is in them.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::cli::harness::{Ran, User};

const MINE: &str = "description = \"My own.\"\nsegments = [{ name = \"all\", sources = [{ source = \"trigger\" }] }]\n";

fn with_recipes(files: &[(&str, &str)]) -> User {
    let user = User::new();
    for (path, text) in files {
        fs::create_dir_all(user.path(path).parent().unwrap()).unwrap();
        user.file(path, text);
    }
    user
}

/// Runs a command in a directory below the user's, and calls the user's directory `~`; columns lose their width.
fn run_in(user: &User, directory: &str, arguments: &[&str]) -> Ran {
    fs::create_dir_all(user.path(directory)).unwrap();
    let ran = user.ran(user.command(arguments).current_dir(user.path(directory)).output());
    let home = user.path("").display().to_string();
    let short = |text: String| {
        let columns =
            |line: &str| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join("  ");
        text.replace(home.trim_end_matches('/'), "~").lines().map(columns).collect::<Vec<_>>().join("\n")
    };
    Ran { stdout: short(ran.stdout), stderr: short(ran.stderr), ..ran }
}

#[test]
fn recipes_that_come_with_the_program_are_listed_and_good() {
    let user = User::new();
    assert_snapshot!(user.run(&["recipe", "list"]), @"
    prompt  built in  art-8fcc54372e  A plain prompt: instructions, the conversation, given items, and the question.
    resume  built in  art-d54a6c2eb8  Goes on with a coding session where it was left.
    review  built in  art-32a6dcddef  Reviews work: the files and what led to them, with much room for the answer.
    ");
    assert_snapshot!(user.run(&["recipe", "check", "prompt", "resume", "review"]), @"
    prompt: good (prompt, 3 segments, 4 sources, art-8fcc54372e)
    resume: good (resume, 3 segments, 8 sources, art-d54a6c2eb8)
    review: good (review, 3 segments, 7 sources, art-32a6dcddef)
    ");
}

#[test]
fn the_nearest_recipe_of_a_name_counts() {
    let user = with_recipes(&[
        ("work/.git/HEAD", ""),
        ("work/.ctx/recipes/resume.json", r#"{"description": "The root's.", "segments": []}"#),
        ("work/.ctx/recipes/far.toml", MINE),
        ("work/sub/.ctx/recipes/resume.toml", MINE),
        ("work/sub/.ctx/recipes/resume.json", "{}"),
        ("work/sub/.ctx/recipes/README.md", "No recipe."),
        ("work/sub/.ctx/recipes/empty.toml", ""),
        (".ctx/recipes/outside.toml", MINE),
        (".config/contexture/recipes/far.toml", "x"),
        (".config/contexture/recipes/review.toml", "x"),
    ]);
    assert_snapshot!(run_in(&user, "work/sub", &["recipe", "list"]), @"
    far  ../.ctx/recipes/far.toml (not trusted)  art-e6037ed2c3  My own.
    far  ~/.config/contexture/recipes/far.toml  not good: it is not TOML
    prompt  built in  art-8fcc54372e  A plain prompt: instructions, the conversation, given items, and the question.
    resume  .ctx/recipes/resume.toml (not trusted)  art-43be5a52d6  My own.
    resume  ../.ctx/recipes/resume.json (not trusted)  not good: it has 1 mistake
    resume  built in  art-d54a6c2eb8  Goes on with a coding session where it was left.
    review  ~/.config/contexture/recipes/review.toml  not good: it is not TOML
    ");
    for recipe in [".ctx/recipes/resume.toml", "../.ctx/recipes/far.toml"] {
        run_in(&user, "work/sub", &["trust", "--yes", recipe]);
    }
    assert_snapshot!(run_in(&user, "work/sub", &["recipe", "list"]), @"
    far  ../.ctx/recipes/far.toml (trusted)  art-e6037ed2c3  My own.
    prompt  built in  art-8fcc54372e  A plain prompt: instructions, the conversation, given items, and the question.
    resume  .ctx/recipes/resume.toml (trusted)  art-43be5a52d6  My own.
    review  ~/.config/contexture/recipes/review.toml  not good: it is not TOML
    ");
    // The repository ends the search, and without one there is only the directory itself.
    assert_snapshot!(run_in(&user, "elsewhere", &["recipe", "list"]), @"
    far  ~/.config/contexture/recipes/far.toml  not good: it is not TOML
    prompt  built in  art-8fcc54372e  A plain prompt: instructions, the conversation, given items, and the question.
    resume  built in  art-d54a6c2eb8  Goes on with a coding session where it was left.
    review  ~/.config/contexture/recipes/review.toml  not good: it is not TOML
    ");
    let listed = run_in(&user, "work/sub", &["recipe", "list", "--json"]).stdout;
    assert_snapshot!(listed.lines().take(2).collect::<Vec<_>>().join("\n"), @r#"
    {"schema":"contexture/1","name":"far","origin":"project","path":"../.ctx/recipes/far.toml","trust":"trusted","description":"My own.","digest":"art-e6037ed2c3ea11a78e2a719dc244e60a506b1722bed889906ddd33221d2c9730"}
    {"schema":"contexture/1","name":"prompt","origin":"built-in","description":"A plain prompt: instructions, the conversation, given items, and the question.","digest":"art-8fcc54372e16d4f18fddb4e048223f99cd95f6af30030b3120a47527e3481ef8"}
    "#);
}

#[test]
fn a_recipe_of_the_program_can_be_made_ones_own() {
    let user = with_recipes(&[(".ctx/recipes/.keep", "")]);
    // The shell makes the file before the program looks for recipes.
    user.file(".ctx/recipes/review.toml", "");
    let toml = user.done(&["recipe", "show", "review"]);
    user.file(".ctx/recipes/review.toml", toml.replace("max_turns = 10", "max_turns = 3"));
    user.done(&["trust", "--yes"]);
    let shown: Value = serde_json::from_str(&user.done(&["recipe", "show", "review", "--json"])).unwrap();
    assert_eq!(shown["path"], ".ctx/recipes/review.toml");
    assert_eq!(shown["trust"], "trusted");
    assert_eq!(shown["recipe"]["segments"][1]["sources"][0]["max_turns"], 3);
}

#[test]
fn a_recipe_is_shown_with_all_that_holds_in_it() {
    let user = with_recipes(&[("mine.toml", MINE)]);
    assert_snapshot!(user.run(&["recipe", "show", "mine.toml"]), @r#"
    name = "mine"
    description = "My own."
    scope = "turn"
    target = "model:prompt"
    overflow = "summarize_oldest"

    [[segments]]
    name = "all"
    stability = "volatile"

    [[segments.sources]]
    source = "trigger"
    priority = "required"
    "#);
    let agent = r#"{"id": "worker", "contextStrategy": {"sources": [{"topic": "PLAN_READY", "amount": 1}]}}"#;
    assert_snapshot!(user.pipe(agent, &["recipe", "show", "-"]), @r#"
    name = "worker"
    scope = "turn"
    counter = "chars4"
    target = "model:prompt"
    overflow = "summarize_low_priority"

    [budget]
    max_tokens = 100000
    max_chars = 500000
    required = "include"

    [[segments]]
    name = "messages"
    stability = "volatile"

    [[segments.sources]]
    source = "topic"
    topic = "PLAN_READY"
    strategy = "latest"
    amount = 1
    compact_strategy = "latest"
    compact_amount = 1
    priority = "required"

    [[segments]]
    name = "trigger"
    stability = "volatile"

    [[segments.sources]]
    source = "trigger"
    priority = "required"
    "#);
    // What is shown is the same recipe again, and the digest says so.
    let digest = |shown: String| serde_json::from_str::<Value>(&shown).unwrap()["digest"].clone();
    user.file("again.toml", user.done(&["recipe", "show", "resume"]));
    assert_eq!(
        digest(user.done(&["recipe", "show", "again.toml", "--json"])),
        digest(user.done(&["recipe", "show", "resume", "--json"]))
    );
}

#[test]
fn every_mistake_of_every_file_is_a_line() {
    let user = with_recipes(&[
        ("good.toml", MINE),
        ("bad.toml", "scop = \"turn\"\nsegments = [{ name = \"all\", sources = [{ source = \"histroy\" }] }]\n"),
        ("torn.toml", "name = \"a\"\ncounter = \n"),
        ("torn.json", "{\n \"name\": }"),
    ]);
    let all = ["recipe", "check", "good.toml", "bad.toml", "torn.toml", "torn.json"];
    assert_snapshot!(user.run(&all), @r#"
    [exit 1]
    good.toml: good (good, 1 segment, 1 source, art-c9b1e2c988, named by its path, not trusted)
    bad.toml:segments[0].sources[0].source: "histroy" is not one of system, instructions, text, history, files, retrieval, missing, items, trigger, topic, channel, skip_hints; did you mean `history`?
    bad.toml:scop: nothing is known by this name; did you mean `scope`?
    torn.toml:2:11: it is not TOML: string values must be quoted, expected literal string
    torn.json:2:10: it is not JSON: expected value
    [stderr]
    error: 3 of 4 recipes are not good
      hint: `ctx recipe --help` shows what a recipe looks like
    "#);
    assert_snapshot!(user.run(&["recipe", "check", "torn.json", "bad.toml", "--json"]), @r#"
    [exit 1]
    {"schema":"contexture/1","file":"torn.json","origin":"project","path":"torn.json","trust":"named","good":false,"mistakes":[{"line":2,"column":10,"problem":"it is not JSON: expected value"}]}
    {"schema":"contexture/1","file":"bad.toml","origin":"project","path":"bad.toml","trust":"named","good":false,"mistakes":[{"path":"segments[0].sources[0].source","problem":"\"histroy\" is not one of system, instructions, text, history, files, retrieval, missing, items, trigger, topic, channel, skip_hints; did you mean `history`?"},{"path":"scop","problem":"nothing is known by this name; did you mean `scope`?"}]}
    [stderr]
    {"schema":"contexture/1","error":{"code":"bad-recipes","message":"2 of 2 recipes are not good","causes":[],"hint":"`ctx recipe --help` shows what a recipe looks like"}}
    "#);
    user.file("binary.toml", b"name = \"\xff\"");
    assert_snapshot!(user.run(&["recipe", "check", "binary.toml"]), @"
    [exit 1]
    binary.toml: it is not UTF-8: invalid utf-8 sequence of 1 bytes from index 8
    [stderr]
    error: the recipe is not good
      hint: `ctx recipe --help` shows what a recipe looks like
    ");
}

#[test]
fn what_is_no_recipe_is_refused_in_words() {
    let user = with_recipes(&[("bad.toml", "maxx = 1\nsegments = []\n")]);
    assert_snapshot!(user.run(&["recipe", "show", "bad.toml"]), @"
    [exit 2]
    [stderr]
    error: cannot take bad.toml as a recipe
      because: segments: it needs at least one
      because: maxx: nothing is known by this name; name, description, scope, counter, target, model, max_output, overflow, budget and segments are
      hint: `ctx recipe --help` shows what a recipe looks like
    ");
    assert_snapshot!(user.run(&["recipe", "show", "resum"]), @r#"
    [exit 2]
    [stderr]
    error: there is no recipe "resum"
      hint: did you mean `resume`? there are prompt, resume, review
    "#);
    assert_snapshot!(user.run(&["recipe", "show", "quarterly"]), @r#"
    [exit 2]
    [stderr]
    error: there is no recipe "quarterly"
      hint: there are prompt, resume, review; a path names a file
    "#);
    assert_snapshot!(user.run(&["recipe", "show", "./resume"]), @"
    [exit 1]
    [stderr]
    error: cannot read ./resume
      because: No such file or directory (os error 2)
    ");
    assert_snapshot!(user.run(&["recipe", "check", "."]), @"
    [exit 1]
    [stderr]
    error: cannot read .: it is a directory
    ");
    fs::File::create(user.path("large.toml")).unwrap().set_len(1024 * 1024 + 1).unwrap();
    assert_snapshot!(user.run(&["recipe", "show", "large.toml"]), @"
    [exit 2]
    [stderr]
    error: cannot take large.toml as a recipe: it has more than 1 MiB
      hint: `ctx recipe --help` shows what a recipe looks like
    ");
    assert_snapshot!(user.run(&["recipe", "check"]), @"
    [exit 2]
    [stderr]
    error: the following required arguments were not provided:
      <FILE>...

    Usage: ctx recipe check <FILE>...

    For more information, try '--help'.
    ");
}

#[test]
fn an_assembly_finds_its_recipe_the_same_way() {
    let user = with_recipes(&[(".ctx/recipes/mine.toml", MINE), ("given.toml", MINE)]);
    assert_snapshot!(user.run(&["assemble", "mine", "--trigger", "What now?"]), @r#"
    [exit 1]
    [stderr]
    error: the recipe "mine" of this project is not trusted
      hint: `ctx trust .ctx/recipes/mine.toml` shows and trusts it
    "#);
    user.done(&["trust", "--yes"]);
    for recipe in ["mine", "given.toml"] {
        let ran = user.run(&["assemble", recipe, "--trigger", "What now?", "--quiet"]);
        assert!(ran.code == 0 && ran.stdout.contains("What now?"), "{ran}");
    }
    assert_snapshot!(user.run(&["assemble", "mien", "--trigger", "What now?"]), @r#"
    [exit 2]
    [stderr]
    error: there is no recipe "mien"
      hint: did you mean `mine`? there are mine, prompt, resume, review
    "#);
}

#[test]
fn the_recipe_in_the_help_is_good() {
    let user = User::new();
    let help = user.done(&["recipe", "--help"]);
    let recipe = help.split("A recipe in TOML:").nth(1).and_then(|rest| rest.split("Sources are").next()).unwrap();
    assert_snapshot!(user.pipe(recipe, &["recipe", "check", "-"]), @"standard input: good (fix, 3 segments, 4 sources, art-1f207158ac)");
}

#[test]
fn the_sessions_in_the_docs_happen_as_they_are_written() {
    let user = User::new();
    let docs = include_str!("../../../../docs/recipes.md");
    let sessions: Vec<_> = docs.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!sessions.is_empty());
    for step in sessions.concat().split("$ ").skip(1) {
        let (command, printed) = step.split_once('\n').unwrap();
        let words: Vec<_> = command.split_whitespace().collect();
        match words.as_slice() {
            ["mkdir", "-p", directory] => fs::create_dir_all(user.path(directory)).unwrap(),
            ["cat", file] => user.file(file, printed),
            ["ctx", arguments @ ..] => {
                let Ran { stdout, stderr, .. } = user.run(arguments);
                // At a terminal what is said of a recipe that does not count comes first.
                let told = if printed.starts_with(&stderr) { stderr + &stdout } else { stdout + &stderr };
                assert_eq!(told, printed, "{command}");
            }
            other => panic!("{other:?} is not known here"),
        }
    }
}
