//! `ctx recipe`: declared ways to build a context.

mod check;
mod list;
mod show;

use clap::{Args, Subcommand};

use crate::{error::Result, invocation::Invocation, output::Output};
use check::Check;
use list::List;
use show::Show;

macro_rules! examples {
    () => {
        "\
Examples:
  ctx recipe list
  ctx recipe show resume
  ctx recipe show resume > .ctx/recipes/resume.toml
      makes a recipe of your own, which counts instead of the one that comes with the program
  ctx recipe check .ctx/recipes/*"
    };
}

const MANUAL: &str = concat!(
    r#"A recipe in TOML:
  name = "fix"                       # the file's name if absent
  target = "anthropic"               # AUDIENCE, RENDERING or AUDIENCE:RENDERING; default: prompt
  [budget]
  max_tokens = 100000
  reserved_tokens = 8000             # for the answer

  [[segments]]
  name = "system"
  [[segments.sources]]
  source = "system"
  text = "You fix bugs."

  [[segments]]
  name = "history"
  [[segments.sources]]
  source = "history"

  [[segments]]
  name = "now"
  [[segments.sources]]
  source = "files"
  files = ["README.md"]
  priority = "low"                   # required, high, medium or low
  [[segments.sources]]
  source = "trigger"

  Sources are system, instructions, text, history, files, retrieval, missing, items, trigger and topic.
  JSON says the same; a contextStrategy of Zeroshot, or an agent with one, is a recipe too.

Where recipes are looked for, by name:
  .ctx/recipes/NAME.toml or NAME.json here and above, up to the root of the repository, if `ctx trust` was told to;
  then in $XDG_CONFIG_HOME/contexture/recipes (default: ~/.config); then those of the program.
  What looks like a path is one.

"#,
    examples!()
);

/// Lists, checks and shows recipes: declared ways to build a context
///
/// A recipe says which sources a context has, in which order, how much each matters, how much there may be, and for
/// whom it is.
#[derive(Debug, Args)]
#[command(after_help = examples!(), after_long_help = MANUAL)]
pub(crate) struct Recipe {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    List(List),
    Check(Check),
    Show(Show),
}

impl Recipe {
    pub(crate) fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        match self.action {
            Action::List(_) => List::run(invocation, output),
            Action::Check(command) => command.run(invocation, output),
            Action::Show(command) => command.run(invocation, output),
        }
    }
}
