//! `ctx journal`: everything that happened, in order.

use std::time::Duration;

use clap::Args;
use contexture::core::JournalRecord;

use crate::{
    error::Result,
    invocation::Invocation,
    output::{self, Output, Shape},
};

/// Records that are read at once.
const RECORDS_PER_PAGE: u32 = 500;
/// How often to look for new records.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

const EXAMPLES: &str = "\
Examples:
  ctx journal -n 20
      the last twenty changes
  ctx journal --follow --since 1042 --json
      every change after record 1042 and all that are still to come, for a program";

/// Shows every change of the space in order
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Journal {
    /// Waits for further changes until it is interrupted
    #[arg(long, short)]
    follow: bool,
    /// Only changes after this sequence number
    #[arg(long, value_name = "SEQ", default_value_t = 0, hide_default_value = true)]
    since: u64,
    /// Only the last so many of them
    #[arg(short = 'n', value_name = "N")]
    limit: Option<u64>,
}

impl Journal {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let mut seq = self.since;
        if let Some(limit) = self.limit {
            // No number is ever left out, so the last so many start so far before the tip.
            seq = seq.max(engine.journal_tip().await?.saturating_sub(limit));
        }
        if !self.follow {
            output.page(invocation.environment.pager().as_ref());
        }
        loop {
            let page = engine.journal_after(seq, RECORDS_PER_PAGE).await?;
            if let Some(last) = page.last() {
                seq = last.seq;
                let now = engine.now();
                for record in page {
                    match output.shape() {
                        Shape::Json => output.document(record)?,
                        Shape::Text => {
                            let JournalRecord { seq, at, actor, kind, subject, .. } = record;
                            let faint = output.palette.faint;
                            let when = output::relative(now, at);
                            output.line(format_args!(
                                "{seq:>6}  {kind:<16}  {subject}  {faint}{actor}, {when}{faint:#}"
                            ))?;
                        }
                    }
                }
                continue;
            }
            if !self.follow {
                return Ok(());
            }
            output.flush()?;
            tokio::select! {
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                _ = tokio::signal::ctrl_c() => return Ok(()),
            }
        }
    }
}
