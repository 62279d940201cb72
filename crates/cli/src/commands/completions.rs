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

/// Prints the completion script of a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, output: &mut Output) -> Result<()> {
        // The generator panics when its sink fails, so it writes to memory.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut args::Args::command(), "ctx", &mut script);
        output.data().write_all(&script).map_err(Error::Stdout)
    }
}
