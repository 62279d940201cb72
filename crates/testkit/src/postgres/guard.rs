//! A shell that cleans up after a server, whatever becomes of the test process.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::{
        fs::{MetadataExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

/// The shell ends when nobody can say anything to it any more; that is so even if the test process was killed.
///
/// It is the one that starts the server, so that a start which is under way then is not missed.
const CLEAN_UP: &str = "\
trap 'cd /; pg_ctl stop --pgdata=\"$DIRECTORY/data\" --mode=immediate >/dev/null; rm -rf \"$DIRECTORY\"' EXIT
trap '' HUP INT TERM PIPE";

/// Runs commands in a directory, as a user that PostgreSQL agrees to run as.
///
/// When it is dropped, or this process ends in any way, it stops the server whose data is in `data` and removes the
/// directory.
pub(super) struct DatabaseGuard {
    shell: Child,
    answers: BufReader<ChildStdout>,
    log: PathBuf,
}

impl DatabaseGuard {
    /// Takes over a directory; the commands will be found in `programs`.
    pub(super) fn over(directory: &Path, programs: &Path) -> Self {
        let mut shell = Command::new("/bin/sh");
        shell.env_clear().env("PATH", format!("{}:/usr/bin:/bin", programs.display())).env("DIRECTORY", directory);
        shell.current_dir(directory).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // An interrupt from the terminal goes to all of the test's group, and would end the shell before its work.
        shell.process_group(0);
        let made = fs::metadata(directory).expect("the directory is there");
        if made.uid() == 0 {
            let (user, group) = (id_of_postgres("-u"), id_of_postgres("-g"));
            chown(directory, Some(user), Some(group)).expect("root may give a directory away");
            shell.uid(user).gid(group);
        }
        let mut shell = shell.spawn().expect("there is a shell");
        let answers = BufReader::new(shell.stdout.take().expect("its output is piped"));
        let mut guard = Self { shell, answers, log: directory.join("log") };
        guard.say(CLEAN_UP);
        guard
    }

    /// Runs a command of the shell; when it fails, returns all that was written to the file `log`.
    pub(super) fn run(&mut self, command: &str) -> Result<(), String> {
        self.say(&format!("{{ {command}; }} </dev/null >>log 2>&1; echo $?"));
        let mut status = String::new();
        self.answers.read_line(&mut status).expect("the shell answers");
        if status == "0\n" { Ok(()) } else { Err(fs::read_to_string(&self.log).unwrap_or_default()) }
    }

    fn say(&mut self, line: &str) {
        let input = self.shell.stdin.as_mut().expect("its input is piped");
        writeln!(input, "{line}").expect("the shell listens");
    }
}

impl Drop for DatabaseGuard {
    fn drop(&mut self) {
        // Waiting closes the shell's input first. If it cannot be waited for, somebody else ended it.
        let _ = self.shell.wait();
    }
}

/// PostgreSQL refuses to run as root; its package comes with a user for it.
fn id_of_postgres(option: &str) -> u32 {
    let said = Command::new("id").args([option, "postgres"]).output().expect("there is an id");
    let number = String::from_utf8_lossy(&said.stdout);
    number.trim().parse().expect("there is a user postgres, for PostgreSQL refuses to run as root")
}
