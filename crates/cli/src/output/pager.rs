//! The program that shows long output.

use std::process::{Child, ChildStdin, Command, Stdio};

use crate::environment::Pager;

/// Starts a pager. One that cannot be started is done without.
pub(super) fn start(pager: &Pager) -> Option<(Child, ChildStdin)> {
    let mut command = Command::new(&pager.program);
    command.args(&pager.arguments).stdin(Stdio::piped());
    if let Some(less) = pager.less {
        command.env("LESS", less);
    }
    let mut child = command.spawn().ok()?;
    let input = child.stdin.take()?;
    outlive_interrupts();
    Some((child, input))
}

/// Leaves Ctrl-C to the pager: whoever stops reading a page does not want the terminal back under it.
fn outlive_interrupts() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // Once asked for, the signal no longer ends the process; nobody needs to receive it.
        let _listening = signal(SignalKind::interrupt());
    }
}
