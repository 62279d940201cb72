//! `ctx completions`: what a shell must know to complete a command line.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::{
    args,
    error::{Error, Result},
    output::Output,
};

const EXAMPLES: &str = "\
Examples:
  ctx completions bash > ~/.local/share/bash-completion/completions/ctx
  ctx completions zsh > ~/.zfunc/_ctx
  ctx completions fish > ~/.config/fish/completions/ctx.fish";

/// What the shells are told whose completions know the store.
const SCRIPTS: [(Shell, &str); 3] = [
    (Shell::Bash, include_str!("completions/ctx.bash")),
    (Shell::Zsh, include_str!("completions/ctx.zsh")),
    (Shell::Fish, include_str!("completions/ctx.fish")),
];

/// Prints the completion script of a shell
///
/// In bash, zsh and fish, heads, sessions and the ids of commits are completed too: the script asks `ctx`, which answers
/// from the store. In elvish and powershell commands and flags are.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, output: &mut Output) -> Result<()> {
        if let Some((_, script)) = SCRIPTS.iter().find(|(shell, _)| *shell == self.shell) {
            return output.data().write_all(script.as_bytes()).map_err(Error::Stdout);
        }
        // The generator panics when its sink fails, so it writes to memory.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut args::Args::command(), "ctx", &mut script);
        output.data().write_all(&script).map_err(Error::Stdout)
    }
}
