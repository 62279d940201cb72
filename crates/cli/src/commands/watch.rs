//! `ctx watch`: sessions are taken in as they grow.

mod notices;
mod session_importer;

use std::{future, io, time::Duration};

use clap::Args;
use contexture_capture::WantedSessions;
use jiff::SignedDuration;

use self::{notices::Notices, session_importer::SessionImporter};
use crate::{
    error::{Error, Result},
    invocation::Invocation,
    output::Output,
    sessions,
};

const EXAMPLES: &str = "\
Examples:
  ctx watch
      takes in what every agent of this user writes, until Ctrl-C
  ctx watch --runtime opencode --runtime pi
  ctx watch --json | jq -r .tip
      tells another program of each new turn
  ctx watch --once
      takes in what there is, and ends";

/// Shortest time between two looks at everything.
const MIN_EVERY: SignedDuration = SignedDuration::from_millis(100);
/// How soon a store that could not be used is tried again, at most.
const RETRY: Duration = Duration::from_secs(5);

/// Takes in sessions as agents write them
///
/// For agents without hooks, or beside them: it notices when a session's file changes and takes in what is new, a line for
/// each session that has grown. What escapes its notice it finds when it looks at everything, every minute. When the store
/// cannot be used it says so, tries again, and then takes in all that was said meanwhile.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Watch {
    /// How often to look at everything, such as 30s or 5m
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = interval)]
    every: Duration,
    /// Looks at everything once and ends
    #[arg(long)]
    once: bool,
    /// Only sessions of this runtime; may be repeated
    #[arg(long, value_name = "R", value_parser = sessions::runtime())]
    runtime: Vec<WantedSessions>,
}

impl Watch {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let importer = SessionImporter::new(invocation, WantedSessions::any_of(&self.runtime));
        if self.once {
            return importer.take_all(output).await;
        }
        let interruption = interruption().map_err(Error::Runtime)?;
        // Whatever is under way is wholly in the store or not at all, so it can be left at any moment.
        tokio::select! {
            () = interruption => Ok(()),
            ended = keep_taking(importer, invocation, self.every, output) => ended,
        }
    }
}

/// Takes in what there is and what comes, without end.
async fn keep_taking(
    mut importer: SessionImporter<'_>,
    invocation: &Invocation,
    every: Duration,
    output: &mut Output,
) -> Result<()> {
    let homes = &invocation.environment.homes;
    let mut notices = Notices::new();
    // A store that cannot be used from the start is a mistake of whoever started this.
    invocation.open().await?;
    loop {
        notices.attend(homes, output);
        importer.take_everywhere(output).await?;
        let pause = if importer.is_store_away() { every.min(RETRY) } else { every };
        let next_look = tokio::time::Instant::now() + pause;
        while let Some(noticed) = notices.until(next_look, homes).await {
            importer.take_files(noticed, output).await?;
            if importer.is_store_away() {
                break;
            }
        }
        if importer.is_store_away() {
            tokio::time::sleep_until(next_look.min(tokio::time::Instant::now() + RETRY)).await;
        }
    }
}

/// Waits until somebody asks the program to end.
fn interruption() -> io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    let mut termination = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    Ok(async move {
        #[cfg(unix)]
        let terminated = termination.recv();
        #[cfg(not(unix))]
        let terminated = future::pending::<Option<()>>();
        let interrupted = async {
            if tokio::signal::ctrl_c().await.is_err() {
                future::pending::<()>().await;
            }
        };
        tokio::select! {
            _ = terminated => {}
            () = interrupted => {}
        }
    })
}

/// Reads how often to look.
fn interval(text: &str) -> Result<Duration, &'static str> {
    let every: SignedDuration = text.parse().map_err(|_| "write it like 30s, 1m or 1h")?;
    if every < MIN_EVERY {
        return Err("it is 100ms at least");
    }
    Ok(every.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_as_people_write_them() {
        assert_eq!(interval("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(interval("1m"), Ok(Duration::from_mins(1)));
        assert_eq!(interval("2 minutes"), Ok(Duration::from_mins(2)));
        assert!(["", "1", "soon", "-1m", "0s"].into_iter().all(|text| interval(text).is_err()));
    }
}
