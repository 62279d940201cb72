//! `ctx` in small: a store in a directory, four questions, and the documents of `ctx --json` as answers.

use std::{
    env,
    error::Error,
    ffi::OsString,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::{Duration, SystemTime},
};

use contexture::{
    Checkpoint, Options, SecretMeans,
    core::{Actor, Format, Principal, SpaceName, Timestamp},
    wire::{FailureDocument, Versioned},
};
use contexture_capture::{CaptureConfig, CurrentRequest};
use contexture_embedding::{checkpoint, current, show, why_lines};

const USAGE: &str = "\
usage: contexture-embedding STORE checkpoint HEAD FILE
       contexture-embedding STORE show ID|HEAD
       contexture-embedding STORE current
       contexture-embedding STORE why FILE[:LINE]";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let answered = contexture::block_on(answer(&arguments)).map_err(Into::into).flatten();
    let (printed, code) = match answered {
        Ok(documents) => (io::stdout().write_all((documents.join("\n") + "\n").as_bytes()), ExitCode::SUCCESS),
        Err(error) => (writeln!(io::stderr(), "{}", failure(&*error)), ExitCode::FAILURE),
    };
    printed.map_or(ExitCode::FAILURE, |()| code)
}

async fn answer(arguments: &[OsString]) -> Result<Vec<String>, Box<dyn Error>> {
    let words: Vec<&str> = arguments.iter().map(|argument| argument.to_str().ok_or(USAGE)).collect::<Result<_, _>>()?;
    let [store, question @ ..] = &words[..] else { return Err(USAGE.into()) };
    let user = "embedding";
    let options = Options {
        location: Path::new(store).into(),
        space: SpaceName::new("default")?,
        actor: Actor::new(user)?,
        clock: Arc::new(now),
        secrets: SecretMeans::without_keys(|bytes| getrandom::fill(bytes).expect("the system has random bytes")),
    };
    let user = Principal::new(user)?;
    Ok(match question {
        ["checkpoint", head, file] => {
            let mut request = Checkpoint { head: Some(head.parse()?), ..Checkpoint::new(Format::new("text")?) };
            request.provenance.principal = Some(user);
            vec![checkpoint(options, request, fs::read(file)?).await?]
        }
        ["show", commit] => vec![show(options, &commit.parse()?).await?],
        ["current"] => {
            let config = CaptureConfig {
                store: options,
                is_store_chosen: true,
                postgres_login: std::sync::Arc::new(|url| url),
                state_directory: PathBuf::from(store),
                directory: env::current_dir().ok(),
                declared: Vec::new(),
                kept_sessions: None,
                run: None,
                socket: None,
                file_clock: SystemTime::now,
            };
            let request = CurrentRequest { session: None, principal: user, patience: Duration::from_secs(2) };
            vec![current(&config, &request).await?]
        }
        ["why", lines] => why_lines(options, lines.as_ref()).await?,
        _ => return Err(USAGE.into()),
    })
}

/// Writes an error as `ctx --json` does where it is one of the library.
fn failure(error: &(dyn Error + 'static)) -> String {
    match error.downcast_ref::<contexture_capture::Error>() {
        Some(error) => Versioned::new(FailureDocument::from(error)).to_json(),
        None => error.to_string(),
    }
}

fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let micros = i64::try_from(since_1970.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(micros).expect("the clock shows a year with four digits")
}
