//! `ctx man`: manual pages.

use std::{fs, path::PathBuf};

use clap::{Args, CommandFactory as _};

use crate::{
    args,
    error::{Error, Result},
    output::Output,
};

const EXAMPLES: &str = "\
Examples:
  ctx man | man -l -
  ctx man ~/.local/share/man/man1
      one page per command: `man ctx-checkpoint`";

/// Prints the manual page, or writes the pages of all commands to a directory
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Man {
    /// The directory, made if need be
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self, output: &mut Output) -> Result<()> {
        let command = args::Args::command();
        let Some(directory) = self.directory else {
            return clap_mangen::Man::new(command).render(&mut output.data()).map_err(Error::Stdout);
        };
        let written = fs::create_dir_all(&directory).and_then(|()| clap_mangen::generate_to(command, &directory));
        written.map_err(|source| Error::Write { path: directory.clone(), source })?;
        output.status(format_args!("Wrote the manual pages to {}.", directory.display()));
        Ok(())
    }
}
