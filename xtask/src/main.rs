//! Tasks of the project: `cargo xtask test`, `cargo xtask clients`, `cargo xtask bench`, `cargo xtask fuzz`.

mod clients;
mod names;
mod newest_clients;
mod oracles;
mod postgres;
mod tmux;

use std::{
    env,
    path::Path,
    process::{Command, ExitCode},
};

const HELP: &str = "\
usage: cargo xtask TASK

  test            checks names, formatting and lints, then runs every test; before that, installs PostgreSQL's server with
                  apt-get (and sudo) if there is none, tmux, the agent clients, and other scanners of secrets
  names           lists the public type names that the workspace defines more than once, and fails if there are any
  clients         installs the agent clients that the tests run, from npm into the target directory: the pinned ones and
                  the newest; with --refresh it looks first which the newest are
  oracles         installs the scanners that the detector of secrets is compared with, from PyPI into the target directory
  fixtures        records the clients' transcripts in crates/formats/tests/fixtures anew
  bench [ARGS…]   measures Contexture beside its peers and writes bench/RESULTS.md
  fuzz [SECONDS]  fuzzes every decoder for so many seconds each (needs cargo-fuzz and a nightly toolchain)
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (task, rest) = arguments.split_first().map_or(("", &[][..]), |(task, rest)| (task.as_str(), rest));
    let done = match task {
        "test" => test(),
        "names" => names::check(),
        "clients" => clients::run_task(rest),
        "oracles" => oracles::install(),
        "fixtures" => fixtures(),
        "bench" => bench(rest),
        "fuzz" => fuzz(rest),
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn test() -> Result<(), String> {
    postgres::install()?;
    tmux::install();
    clients::install()?;
    oracles::install()?;
    names::check()?;
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"])?;
    cargo(&["test", "--workspace", "--locked"])
}

fn fixtures() -> Result<(), String> {
    clients::install()?;
    cargo(&["run", "--locked", "--package", "contexture-testkit", "--bin", "ctx-record-fixtures"])
}

fn bench(arguments: &[String]) -> Result<(), String> {
    cargo(&["build", "--profile", "dist", "--locked", "--package", "contexture-cli"])?;
    let mut command = vec!["run", "--profile", "dist", "--locked", "--package", "contexture-bench", "--"];
    command.extend(arguments.iter().map(String::as_str));
    cargo(&command)
}

fn fuzz(arguments: &[String]) -> Result<(), String> {
    let seconds = arguments.first().map_or("30", String::as_str);
    let limit = format!("-max_total_time={seconds}");
    for target in fuzz_targets()? {
        // The fuzzer wants a toolchain of its own; the one that runs this task must not be forced on it.
        let mut command = Command::new("cargo");
        run(command.env_remove("RUSTUP_TOOLCHAIN").args(["+nightly", "fuzz", "run", &target, "--", &limit]))?;
    }
    Ok(())
}

fn fuzz_targets() -> Result<Vec<String>, String> {
    let folder = Path::new("fuzz/fuzz_targets");
    let entries = folder.read_dir().map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
    let mut targets: Vec<String> =
        entries.flatten().filter_map(|entry| Some(entry.path().file_stem()?.to_str()?.to_owned())).collect();
    targets.sort();
    Ok(targets)
}

fn cargo(arguments: &[&str]) -> Result<(), String> {
    run(Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into())).args(arguments))
}

fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}")) }
}
