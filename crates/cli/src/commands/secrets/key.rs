//! `ctx secrets key`: the key of a sealed space, on this machine.

use std::io::Read as _;

use clap::Args;
use contexture::{Contexture, SealKey, SecretTreatment};

use crate::{
    error::{Error, Result},
    input::{Input, OpenInput},
    invocation::Invocation,
    keys,
    output::Output,
};

const EXAMPLES: &str = "\
Examples:
  ctx secrets key --writing | ssh build-host ctx secrets key --install -
      the other machine can store what it reads, and cannot open anything
  ctx secrets key --whole | ssh my-laptop ctx secrets key --install -
      the other machine can open it too
  ctx secrets key --destroy --yes
      nobody can open what was sealed any more, if no other machine has the key";

/// Shows, copies or destroys the key of a sealed space on this machine
///
/// Who stores content in a sealed space needs the writing part of its key, who sees the originals needs all of it. The
/// key lies below the user's configuration, in a file of its own that only the user can read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Key {
    /// Prints the part with which content can be stored and nothing opened
    #[arg(long, conflicts_with_all = ["whole", "install", "destroy"])]
    writing: bool,
    /// Prints all of it
    #[arg(long, conflicts_with_all = ["install", "destroy"])]
    whole: bool,
    /// Takes a key that another machine has printed
    #[arg(long, value_name = "FILE", value_parser = Input::parser(), conflicts_with = "destroy")]
    install: Option<Input>,
    #[command(flatten)]
    destruction: KeyDestruction,
}

/// Whether the key is to go.
#[derive(Debug, Args)]
struct KeyDestruction {
    /// Removes it from this machine, for good
    #[arg(long, requires = "yes")]
    destroy: bool,
    /// Does so without asking
    #[arg(long, requires = "destroy")]
    yes: bool,
}

impl Key {
    pub(super) async fn run(self, invocation: &Invocation, engine: &Contexture, output: &mut Output) -> Result<()> {
        if let Some(file) = &self.install {
            let place = keys::keep(invocation, &read(file)?)?;
            output.status(format_args!("The key is in {}.", place.display()));
            return Ok(());
        }
        let SecretTreatment::Seal { recipient } = engine.secrets().policy().await?.0 else {
            return Err(Error::NotSealed);
        };
        let Some(key) = keys::find(invocation, &recipient) else {
            return Err(contexture::Error::NoSealKey { recipient }.into());
        };
        if self.destruction.destroy {
            keys::destroy(invocation, &recipient)?;
            output.status("The key is gone from this machine.");
            return Ok(());
        }
        if self.writing {
            return output.lines(key.writing_part().to_text());
        }
        if self.whole {
            return output.lines(key.to_text());
        }
        let can = if key.can_open() { "opens what was sealed" } else { "only seals" };
        output.line(format_args!(
            "key {} {can}, in {}",
            recipient.short(),
            keys::place(invocation, &recipient)?.display()
        ))
    }
}

/// Reads a key from a file.
pub(super) fn read(file: &Input) -> Result<SealKey> {
    let OpenInput { reader, .. } = file.open()?;
    let mut text = String::new();
    let unread = |source| Error::Read { input: file.clone(), source };
    reader.take(keys::MAX_KEY_BYTES).read_to_string(&mut text).map_err(unread)?;
    text.parse().map_err(|source| Error::SealKey { input: file.clone(), source })
}
