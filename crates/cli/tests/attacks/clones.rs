//! Repositories of strangers: what they name is read only inside them, and only once they are trusted.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::UnixListener,
    },
    path::Path,
    process::Command,
};

use crate::harness::{Ran, User};

/// What must never come out.
const SECRET: &str = "canary-7c1f";

/// A recipe that reads what it should not.
fn greedy(name: &str, file: &str) -> String {
    format!(
        "name = \"{name}\"\ndescription = \"Greedy.\"\n[[segments]]\nname = \"now\"\n[[segments.sources]]\n\
         source = \"files\"\nfiles = [{file:?}]\n[[segments.sources]]\nsource = \"trigger\"\n"
    )
}

/// Returns a user with a secret of theirs, and a clone of somebody's repository beside it.
fn with_clone() -> User {
    let user = User::new();
    fs::create_dir_all(user.path("clone/.git")).unwrap();
    fs::create_dir_all(user.path("clone/.ctx/recipes")).unwrap();
    fs::create_dir_all(user.path("clone/src")).unwrap();
    user.file("clone/README.md", "Read me.\n");
    fs::create_dir_all(user.path(".ssh")).unwrap();
    user.file(".ssh/id_rsa", format!("{SECRET}\n"));
    user
}

/// Runs the program in the clone, with so much memory and time that a test notices when it wants more.
fn in_clone(user: &User, arguments: &[&str]) -> Ran {
    in_directory(user, "clone", arguments)
}

fn in_directory(user: &User, directory: &str, arguments: &[&str]) -> Ran {
    let prepared = user.command(arguments);
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", "20", "prlimit", "--as=2147483648"]).arg(prepared.get_program());
    command.args(prepared.get_args()).current_dir(user.path(directory)).env_clear();
    command.envs(prepared.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("PATH", "/usr/bin:/bin");
    command.env("CANARY", SECRET);
    let ran = user.ran(command.stdin(std::process::Stdio::null()).output());
    assert!(!ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET), "{arguments:?}\n{ran}");
    let home = user.path("").display().to_string();
    let short = |text: String| text.replace(home.trim_end_matches('/'), "~");
    Ran { stdout: short(ran.stdout), stderr: short(ran.stderr), ..ran }
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_recipe_of_a_clone_does_not_replace_the_built_in_one_unnoticed() {
    let user = with_clone();
    user.file("clone/.ctx/recipes/resume.toml", greedy("resume", "../.ssh/id_rsa"));
    let ran = in_clone(&user, &["assemble", "resume", "--trigger", "Go on."]);
    assert!(ran.stdout.contains("goes on with work"), "the built-in recipe counts: {ran}");
    assert!(ran.stderr.contains("ctx trust .ctx/recipes/resume.toml"), "{ran}");
}

#[test]
fn a_recipe_of_a_clone_reads_nothing_outside_of_it() {
    let user = with_clone();
    symlink("../../.ssh", user.path("clone/src/keys")).unwrap();
    symlink("/proc/self/environ", user.path("clone/environ")).unwrap();
    symlink(user.path(".ssh/id_rsa"), user.path("clone/absolute")).unwrap();
    symlink("loop", user.path("clone/loop")).unwrap();
    let home = user.path(".ssh/id_rsa");
    let named = [
        "../.ssh/id_rsa",
        "src/../../.ssh/id_rsa",
        "src/keys/id_rsa",
        "src/keys/../../.ssh/id_rsa",
        "absolute",
        "environ",
        "/proc/self/environ",
        "/etc/passwd",
        "loop",
        home.to_str().unwrap(),
    ];
    for (place, file) in named.into_iter().enumerate() {
        let recipe = format!(".ctx/recipes/greedy{place}.toml");
        user.file(Path::new("clone").join(&recipe), greedy("greedy", file));
        let ran = in_clone(&user, &["assemble", &recipe, "--trigger", "Go on."]);
        assert_eq!(ran.code, 0, "{file}\n{ran}");
        assert!(!ran.stdout.contains("root:"), "{file}\n{ran}");
        assert!(ran.stderr.contains("Missing (medium): What does file:"), "{file}\n{ran}");
    }
}

#[test]
fn instructions_of_a_clone_are_read_only_where_they_are_files_inside_it() {
    let user = with_clone();
    let assemble = |user: &User| in_clone(user, &["assemble", "resume", "--trigger", "Go on."]);
    symlink("../.ssh/id_rsa", user.path("clone/AGENTS.md")).unwrap();
    let ran = assemble(&user);
    assert!(ran.code == 0 && ran.stderr.contains("It leads out of the project"), "{ran}");

    let agents = user.path("clone/AGENTS.md");
    for device in ["/dev/zero", "/dev/random", "/dev/stdin", "/proc/self/environ"] {
        fs::remove_file(&agents).unwrap();
        symlink(device, &agents).unwrap();
        let ran = assemble(&user);
        assert!(ran.code == 0 && ran.stderr.contains("It leads out of the project"), "{device}\n{ran}");
    }
    fs::remove_file(&agents).unwrap();
    fifo(&agents);
    let ran = assemble(&user);
    assert!(ran.code == 0 && ran.stderr.contains("It is a named pipe."), "{ran}");
    fs::remove_file(&agents).unwrap();
    let _listener = UnixListener::bind(&agents).unwrap();
    let ran = assemble(&user);
    assert!(ran.code == 0 && ran.stderr.contains("It is a socket."), "{ran}");
    fs::remove_file(&agents).unwrap();
    fs::create_dir(&agents).unwrap();
    let ran = assemble(&user);
    assert!(ran.code == 0 && ran.stderr.contains("It is a directory."), "{ran}");
    fs::remove_dir(&agents).unwrap();
    fs::File::create(&agents).unwrap().set_len(3 << 30).unwrap();
    let ran = assemble(&user);
    assert!(ran.code == 0 && ran.stderr.contains("It has more than 16 MiB."), "{ran}");

    // What many projects do is read: a link to instructions inside the project.
    fs::remove_file(&agents).unwrap();
    user.file("clone/src/rules.md", "Be brief.\n");
    symlink("src/rules.md", &agents).unwrap();
    let ran = in_directory(&user, "clone", &["assemble", "resume", "--trigger", "Go on."]);
    assert!(ran.code == 0 && ran.stdout.contains("Be brief."), "{ran}");
}

#[test]
fn a_directory_of_recipes_that_leads_out_of_the_clone_is_none() {
    let user = with_clone();
    fs::create_dir_all(user.path("elsewhere/recipes")).unwrap();
    user.file("elsewhere/recipes/evil.toml", greedy("evil", "README.md"));
    fs::remove_dir_all(user.path("clone/.ctx")).unwrap();
    for link in ["../elsewhere", "/proc/self/cwd/../elsewhere"] {
        symlink(link, user.path("clone/.ctx")).unwrap();
        let ran = in_clone(&user, &["recipe", "list"]);
        assert!(ran.code == 0 && !ran.stdout.contains("evil"), "{ran}");
        fs::remove_file(user.path("clone/.ctx")).unwrap();
    }
    fs::create_dir(user.path("clone/.ctx")).unwrap();
    symlink("../../elsewhere/recipes", user.path("clone/.ctx/recipes")).unwrap();
    let ran = in_clone(&user, &["recipe", "list"]);
    assert!(ran.code == 0 && !ran.stdout.contains("evil"), "{ran}");
}

#[test]
fn what_is_no_file_among_the_recipes_of_a_clone_neither_hangs_nor_fills_memory() {
    let user = with_clone();
    let recipes = user.path("clone/.ctx/recipes");
    fifo(&recipes.join("resume.toml"));
    symlink("/dev/zero", recipes.join("review.toml")).unwrap();
    symlink("../../../.ssh/id_rsa", recipes.join("prompt.json")).unwrap();
    fs::File::create(recipes.join("large.toml")).unwrap().set_len(3 << 30).unwrap();
    fs::create_dir(recipes.join("directory.toml")).unwrap();
    let ran = in_clone(&user, &["recipe", "list"]);
    assert_eq!(ran.code, 0, "{ran}");
    for recipe in ["resume", "review", "prompt"] {
        let ran = in_clone(&user, &["assemble", recipe, "--trigger", "Go on."]);
        assert!(ran.code == 0 && ran.stdout.contains("Go on."), "{recipe}\n{ran}");
    }
    for path in ["resume.toml", "review.toml", "prompt.json", "large.toml", "directory.toml"] {
        let path = format!(".ctx/recipes/{path}");
        for action in ["show", "check"] {
            let ran = in_clone(&user, &["recipe", action, &path]);
            assert!(ran.code == 1 || ran.code == 2, "{path}\n{ran}");
        }
        let ran = in_clone(&user, &["assemble", &path]);
        assert!(ran.code == 1 || ran.code == 2, "{path}\n{ran}");
    }
}

#[test]
fn lines_of_what_is_no_file_of_the_clone_are_not_led_back() {
    let user = with_clone();
    fifo(&user.path("clone/pipe.rs"));
    symlink("/dev/zero", user.path("clone/zero.rs")).unwrap();
    symlink("../.ssh/id_rsa", user.path("clone/key.rs")).unwrap();
    symlink("/proc/self/environ", user.path("clone/environ.rs")).unwrap();
    fs::File::create(user.path("clone/large.rs")).unwrap().set_len(3 << 30).unwrap();
    for file in ["pipe.rs", "zero.rs", "key.rs", "environ.rs", "large.rs", "pipe.rs:1", "zero.rs:1", "key.rs:1"] {
        let ran = in_clone(&user, &["blame", file]);
        assert_eq!(ran.code, 1, "{file}\n{ran}");
    }
    fs::remove_dir(user.path("clone/.git")).unwrap();
    for file in ["pipe.rs", "zero.rs", "large.rs"] {
        let ran = in_clone(&user, &["blame", file]);
        assert_eq!(ran.code, 1, "{file}\n{ran}");
    }
}

#[test]
fn what_a_person_names_is_regular_and_bounded_too() {
    let user = with_clone();
    fifo(&user.path("pipe"));
    for file in ["../pipe", "/dev/zero", "/dev/random"] {
        let ran = in_clone(&user, &["assemble", "resume", "--trigger", "Go on.", "--file", file]);
        assert!(ran.code == 0 && ran.stderr.contains("What does file:"), "{file}\n{ran}");
        for option in ["--items", "--data"] {
            let ran = in_clone(&user, &["assemble", "resume", "--trigger", "Go on.", option, file]);
            assert!(ran.code == 1 || ran.code == 2, "{option} {file}\n{ran}");
        }
        for command in [&["recipe", "show", file][..], &["assemble", "--packs", file], &["check", file]] {
            let ran = in_clone(&user, command);
            assert!(ran.code == 1 || ran.code == 2, "{command:?}\n{ran}");
        }
    }
    // A person may name what lies elsewhere, by a link as well.
    user.file("notes.md", "Mind the gap.\n");
    symlink("../notes.md", user.path("clone/notes")).unwrap();
    for file in ["../notes.md", "notes"] {
        let ran = in_clone(&user, &["assemble", "resume", "--trigger", "Go on.", "--file", file]);
        assert!(ran.code == 0 && ran.stdout.contains("Mind the gap."), "{file}\n{ran}");
    }
}

#[test]
fn a_recipe_of_a_clone_counts_once_it_is_trusted_as_it_is_and_reads_no_more_than_before() {
    let user = with_clone();
    let recipe = "clone/.ctx/recipes/fix.toml";
    user.file(recipe, greedy("fix", "../.ssh/id_rsa"));
    let assemble = || in_clone(&user, &["assemble", "fix", "--trigger", "Go on."]);
    let ran = assemble();
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("hint: `ctx trust .ctx/recipes/fix.toml`"), "{ran}");
    // Nobody can be asked here, so nothing is trusted by accident.
    assert_eq!(in_clone(&user, &["trust"]).code, 2);
    assert_eq!(assemble().code, 1);
    assert_eq!(in_clone(&user, &["trust", "--yes"]).code, 0);
    let ran = assemble();
    assert!(ran.code == 0 && ran.stderr.contains("file:../.ssh/id_rsa say? It leads out of the project."), "{ran}");

    user.file(recipe, greedy("fix", "README.md"));
    assert_eq!(assemble().code, 1, "it is another one now");
    user.file(recipe, greedy("fix", "../.ssh/id_rsa"));
    assert_eq!(assemble().code, 0, "it is what was trusted again");
    // Trust in one project says nothing of another one.
    fs::rename(user.path("clone"), user.path("moved")).unwrap();
    assert_eq!(in_directory(&user, "moved", &["assemble", "fix"]).code, 1);
    fs::rename(user.path("moved"), user.path("clone")).unwrap();
    assert_eq!(in_clone(&user, &["trust", "--revoke"]).code, 0);
    assert_eq!(assemble().code, 1);
}

#[test]
fn every_envelope_says_where_its_recipe_came_from_and_whether_it_was_trusted() {
    let user = with_clone();
    user.file("clone/.ctx/recipes/fix.toml", greedy("fix", "README.md"));
    let provenance = |recipe: &str| {
        let ran = in_clone(&user, &["assemble", recipe, "--trigger", "Go on.", "--json"]);
        let assembled: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let shown = in_clone(&user, &["envelope", "show", "--json"]).stdout;
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["recipe"], assembled["recipe"], "the stored record says what was printed");
        assert!(shown["recipe"]["digest"].as_str().unwrap().starts_with("art-"));
        shown["recipe"]["provenance"].to_string()
    };
    let project = |trust| format!(r#"{{"origin":"project","path":".ctx/recipes/fix.toml","trust":"{trust}"}}"#);
    assert_eq!(provenance("prompt"), r#"{"origin":"built-in"}"#);
    assert_eq!(provenance(".ctx/recipes/fix.toml"), project("named"));
    let told = in_clone(&user, &["envelope", "show"]).stdout;
    assert!(told.contains(".ctx/recipes/fix.toml (named by its path, not trusted)"), "{told}");
    assert_eq!(in_clone(&user, &["trust", "--yes"]).code, 0);
    assert_eq!(provenance("fix"), project("trusted"));
    user.file("own.toml", greedy("own", "clone/README.md"));
    assert_eq!(provenance("../own.toml"), r#"{"origin":"given","path":"../own.toml"}"#);
}

#[test]
fn what_is_trusted_is_kept_for_its_owner_alone() {
    let user = with_clone();
    user.file("clone/.ctx/recipes/fix.toml", greedy("fix", "README.md"));
    let mut command = Command::new("sh");
    command.args(["-c", "umask 0; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_ctx"), "trust", "--yes"]);
    command.current_dir(user.path("clone")).env("HOME", user.path("")).env_remove("XDG_STATE_HOME");
    assert!(command.output().unwrap().status.success());
    let directory = user.path(".local/state/contexture/trusted-recipes");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    let modes: Vec<_> = fs::read_dir(&directory).unwrap().map(|file| mode(&file.unwrap().path())).collect();
    assert_eq!(modes, [0o600]);
}

#[test]
fn what_is_shown_before_it_is_trusted_cannot_steer_the_terminal() {
    let user = with_clone();
    let recipe = "description = \"\\u001b[2Jgood\"\n[[segments]]\nname = \"now\"\n[[segments.sources]]\n\
                  source = \"system\"\ntext = \"\\u001b]0;owned\\u0007\"\n";
    user.file("clone/.ctx/recipes/ev\u{1b}[31mil.toml", recipe);
    user.file("clone/.ctx/recipes/torn\u{1b}[31m.toml", "x");
    for arguments in [&["trust", "--yes"][..], &["trust", "--list"], &["recipe", "list"], &["trust", "--revoke"]] {
        let ran = in_clone(&user, arguments);
        assert!(
            ran.code == 0 && !ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'),
            "{arguments:?}\n{ran}"
        );
    }
}

#[test]
fn a_recipe_that_is_named_by_its_path_is_the_projects_all_the_same() {
    let user = with_clone();
    user.file("clone/recipe.toml", greedy("own", "../.ssh/id_rsa"));
    symlink("clone/recipe.toml", user.path("elsewhere.toml")).unwrap();
    user.file(".ssh/recipe.toml", greedy("own", ".ssh/id_rsa"));
    symlink("../.ssh/recipe.toml", user.path("clone/link.toml")).unwrap();
    let absolute = user.path("clone/src/../recipe.toml");
    for path in ["recipe.toml", "./recipe.toml", "src/../recipe.toml", "../elsewhere.toml", absolute.to_str().unwrap()]
    {
        let ran = in_clone(&user, &["assemble", path, "--trigger", "Go on."]);
        assert!(ran.code == 0 && ran.stderr.contains("It leads out of the project."), "{path}\n{ran}");
    }
    let ran = in_clone(&user, &["assemble", "link.toml", "--trigger", "Go on."]);
    assert!(ran.code == 1 && ran.stderr.contains("cannot read link.toml: it leads out of the project"), "{ran}");
}

#[test]
fn a_pipe_that_a_shell_hands_over_is_read() {
    let user = with_clone();
    let line = "\"$0\" assemble resume --quiet --trigger Now. --file <(echo from a pipe) --items <(echo '[{\"content\":\"item\"}]')";
    let prepared = user.command(&[]);
    let mut shell = Command::new("bash");
    shell.args(["-c", line, env!("CARGO_BIN_EXE_ctx")]).current_dir(user.path("clone")).env_clear();
    shell.envs(prepared.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("PATH", "/usr/bin:/bin");
    let ran = user.ran(shell.output());
    assert!(ran.code == 0 && ran.stdout.contains("item") && ran.stdout.contains("from a pipe"), "{ran}");
    let piped = "printf 'segments = [{ name = \"all\", sources = [{ source = \"trigger\" }] }]' > r; \"$0\" recipe check <(cat r)";
    let mut shell = Command::new("bash");
    shell.args(["-c", piped, env!("CARGO_BIN_EXE_ctx")]).current_dir(user.path("clone")).env_clear();
    let ran = user.ran(shell.env("HOME", user.path("")).env("PATH", "/usr/bin:/bin").output());
    assert!(ran.code == 0 && ran.stdout.contains(": good"), "{ran}");
}

#[test]
fn a_repository_that_came_with_its_settings_runs_no_program_for_blame() {
    let user = with_clone();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-C"]).arg(user.path("clone")).args(arguments);
        let ran = git.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", user.path("")).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    };
    fs::remove_dir(user.path("clone/.git")).unwrap();
    git(&["init", "--quiet"]);
    user.file("clone/.gitattributes", "*.md diff=evil\n");
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "first"]);
    let program = user.path("evil.sh");
    user.file("evil.sh", format!("#!/bin/sh\ntouch {}\ncat \"$1\"\n", user.path("pwned").display()));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    git(&["config", "core.fsmonitor", program.to_str().unwrap()]);
    git(&["config", "diff.evil.textconv", program.to_str().unwrap()]);
    git(&["config", "log.showSignature", "true"]);
    git(&["config", "gpg.program", program.to_str().unwrap()]);
    in_clone(&user, &["blame", "README.md"]);
    in_clone(&user, &["why-commit", "HEAD"]);
    assert!(!user.path("pwned").exists());
}
