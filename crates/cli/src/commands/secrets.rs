//! `ctx secrets`: what was found secret, and what becomes of it.

mod key;
mod place;
mod policy;
mod scan;

use clap::{Args, Subcommand};
use contexture::{core::Fingerprint, wire::ListedSecret};

use crate::{
    error::Result,
    input::Input,
    invocation::Invocation,
    output::{self, Output, Shape},
    time::When,
};

/// Secrets that are listed at once.
const PAGE: u32 = 512;

const EXAMPLES: &str = "\
Examples:
  ctx secrets list
      every secret of the space by its fingerprint; no value is ever shown
  ctx secrets where 9f86d081884c7d65
      the commits, envelopes and machines that held it, and who was given it
  pass show deploy-key | ctx secrets where -
      the same for a secret that you have
  ctx secrets scan
      looks through what was stored before secrets were looked for, or before a rule was known
  ctx secrets seal
      from now on only encrypted; `ctx secrets key --help` says who can still see them
  ctx secrets rules team-rules.toml";

/// Lists what was found secret, says where it was, and sets what becomes of it
///
/// All that is stored is looked through. What is found stays as it came (`mark`), and all that shows or hands out text
/// has a placeholder in its place, such as `[secret:github-token:9f86d081884c7d65]`; or it is stored encrypted (`seal`).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Secrets {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Lists what was found, by fingerprint
    List,
    /// Shows all that held a secret: artifacts, commits, envelopes, machines, and who was given it
    Where {
        /// The fingerprint, or `-` to read the secret itself from standard input
        #[arg(value_name = "FINGERPRINT|-")]
        secret: String,
    },
    /// Looks for secrets in what is stored already
    Scan {
        /// Only what was stored since then
        #[arg(long, value_name = "TIME")]
        since: Option<When>,
    },
    /// Shows what becomes of secrets
    Policy,
    /// Keeps bytes as they come; what is shown has placeholders
    Mark,
    /// Stores secrets only encrypted, to a key of the space
    Seal {
        /// A key that there is already: a file as `ctx secrets key` writes it [default: a new one]
        #[arg(long, value_name = "FILE", value_parser = Input::parser())]
        key: Option<Input>,
    },
    /// Shows, copies or destroys the key of a sealed space
    Key(key::Key),
    /// Shows or sets rules and exceptions of the space's own
    Rules {
        /// The rules, in TOML, or `-` for standard input
        #[arg(value_name = "FILE", value_parser = Input::parser())]
        file: Option<Input>,
        /// Takes the rules away
        #[arg(long, conflicts_with = "file")]
        clear: bool,
    },
}

impl Secrets {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let secrets = engine.secrets();
        match self.action {
            Action::List => {
                let mut after: Option<Fingerprint> = None;
                loop {
                    let page = secrets.list(after, PAGE).await?;
                    let Some(last) = page.last() else { break };
                    after = Some(last.fingerprint);
                    page.into_iter().try_for_each(|found| tell(found.into(), output))?;
                }
                if after.is_none() {
                    output.status("No secret was found in this space.");
                }
                Ok(())
            }
            Action::Where { secret } => place::tell(&engine, &secret, output).await,
            Action::Scan { since } => scan::run(&engine, since, output).await,
            Action::Policy => policy::show(invocation, &engine, output).await,
            Action::Mark => policy::mark(&engine, output).await,
            Action::Seal { key } => policy::seal(invocation, &engine, key, output).await,
            Action::Key(key) => key.run(invocation, &engine, output).await,
            Action::Rules { file, clear } => policy::rules(&engine, file, clear, output).await,
        }
    }
}

fn tell(secret: ListedSecret, output: &mut Output) -> Result<()> {
    if output.shape() == Shape::Json {
        return output.document(secret);
    }
    let ListedSecret { fingerprint, rule, artifacts, places } = secret;
    let strong = output.palette.strong;
    let (places, artifacts) = (output::counted(places, "place"), output::counted(artifacts, "artifact"));
    output.line(format_args!("{strong}{fingerprint}{strong:#}  {rule:<28} {places} in {artifacts}"))
}
