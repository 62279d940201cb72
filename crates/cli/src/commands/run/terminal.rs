//! A terminal for a program that shows what it prints to the wrapper first: what is typed goes through too, as it is.

use std::io;

use pty_process::{OwnedReadPty, OwnedWritePty, Size};
use rustix::termios;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
    signal::unix::{self, SignalKind},
    task::JoinHandle,
};

use crate::raw_mode::RawMode;

/// Keys that are passed on at once; more come when somebody pastes.
const KEY_BYTES: usize = 4096;

/// The terminal of a program, for as long as it runs.
pub(super) struct Terminal {
    /// What passes on the keys.
    keys: JoinHandle<()>,
    _mode: RawMode,
}

impl Terminal {
    /// Starts a program on a terminal of its own, of the size of the user's. Returns where it prints to.
    pub(super) fn start(command: &Command) -> io::Result<(Child, OwnedReadPty, Self)> {
        let (pty, program_side) = pty_process::open().map_err(into_io)?;
        // Without a size programs take the one that is usual.
        _ = own_size().map(|size| pty.resize(size));
        let resized = unix::signal(SignalKind::window_change())?;
        let mode = RawMode::begin()?;
        let child = attached(command).spawn(program_side).map_err(into_io)?;
        let (prints, keys) = pty.into_split();
        Ok((child, prints, Self { keys: tokio::spawn(pass_keys(keys, resized)), _mode: mode }))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.keys.abort();
    }
}

/// Passes on what is typed, and the size of the window when it changes, until the program or the user is gone.
async fn pass_keys(mut program: OwnedWritePty, mut resized: unix::Signal) {
    let (mut user, mut keys) = (tokio::io::stdin(), [0; KEY_BYTES]);
    loop {
        tokio::select! {
            read = user.read(&mut keys) => match read {
                Ok(length) if length > 0 => if program.write_all(&keys[..length]).await.is_err() {
                    return;
                },
                _ => return,
            },
            Some(()) = resized.recv() => {
                // The program goes on in the size that it knows.
                _ = own_size().map(|size| program.resize(size));
            }
        }
    }
}

fn own_size() -> Option<Size> {
    let size = termios::tcgetwinsize(io::stdout()).ok()?;
    Some(Size::new(size.ws_row, size.ws_col))
}

/// Returns the same command for a terminal.
fn attached(command: &Command) -> pty_process::Command {
    let command = command.as_std();
    let mut attached = pty_process::Command::new(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        attached = match value {
            Some(value) => attached.env(name, value),
            None => attached.env_remove(name),
        };
    }
    attached
}

fn into_io(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        pty_process::Error::Rustix(error) => error.into(),
        other => io::Error::other(other),
    }
}
