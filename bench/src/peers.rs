//! The Python peers: installed into a virtual environment and run as their users run them.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::File,
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{Failure, Result, payload::Payloads, workload::Chain};

const SQLITE_SCRIPT: &str = "bench/peers/langgraph_saver.py";
const POSTGRES_SCRIPT: &str = "bench/peers/langgraph_postgres.py";
const TRIM_SCRIPT: &str = "bench/peers/langchain_trim.py";
const REQUIREMENTS: &str = "bench/peers/requirements.txt";
const ENVIRONMENT: &str = "bench/.venv";
/// More than any measurement writes, so that no payload comes twice.
const PAYLOADS: u64 = 4000;

/// What LangGraph's SQLite saver was measured at.
#[derive(Debug, Deserialize)]
pub(crate) struct LangGraph {
    pub(crate) versions: BTreeMap<String, String>,
    pub(crate) single_writer: Channels,
    pub(crate) concurrent: Concurrent,
    pub(crate) growth: Channels,
}

/// The same measurement on each kind of channel.
#[derive(Debug, Deserialize)]
pub(crate) struct Channels {
    pub(crate) saver_latest: Measured,
    pub(crate) saver_plain: Measured,
    pub(crate) saver_delta: Measured,
    pub(crate) graph_plain: Measured,
    pub(crate) graph_delta: Measured,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Measured {
    pub(crate) p50_us: f64,
    #[serde(default)]
    pub(crate) points: Vec<Point>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Point {
    pub(crate) depth: u64,
    pub(crate) mean_us: f64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Concurrent {
    /// The fastest way that keeps the whole conversation, as a chain of commits does.
    pub(crate) best_conversation: Best,
    /// The fastest way at all, which keeps only the newest payload.
    pub(crate) best_newest_only: Best,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Best {
    pub(crate) kind: String,
    pub(crate) ops_per_second: f64,
}

/// A Python with the peers in it.
pub(crate) struct Python {
    program: PathBuf,
}

impl Python {
    /// Installs the peers, unless they are.
    pub(crate) fn install() -> Result<Self> {
        let program = Path::new(ENVIRONMENT).join("bin/python");
        if !program.exists() {
            eprintln!("Installing the peers into {ENVIRONMENT} …");
            run(Command::new("python3").args(["-m", "venv", ENVIRONMENT]))?;
        }
        run(Command::new(&program).args(["-m", "pip", "install", "--quiet", "-r", REQUIREMENTS]))?;
        Ok(Self { program })
    }

    /// Runs a script and reads the JSON that it prints.
    fn measure<T: DeserializeOwned>(&self, script: &str, arguments: &[&OsStr]) -> Result<T> {
        let output = Command::new(&self.program).arg(script).args(arguments).stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(Failure::from(format!("the peer's script ended with {}", output.status)));
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

/// Measures LangGraph's SQLite saver on the same payloads.
pub(crate) fn langgraph(python: &Python, scratch: &Path, payloads: &Payloads) -> Result<LangGraph> {
    let file = write_texts(scratch, payloads, PAYLOADS)?;
    let directory = scratch.join("langgraph");
    std::fs::create_dir_all(&directory)?;
    eprintln!("Measuring LangGraph's SQLite saver …");
    let mut arguments: Vec<&OsStr> = vec!["--payloads".as_ref(), file.as_ref(), "--dir".as_ref(), directory.as_ref()];
    arguments.extend(["--depths", "10", "100", "1000"].map(OsStr::new));
    python.measure(SQLITE_SCRIPT, &arguments)
}

/// LangGraph's PostgreSQL saver, on a server that is there already.
pub(crate) struct LangGraphPostgres<'p> {
    python: &'p Python,
    url: String,
    scratch: &'p Path,
    /// The payloads of the writing measurements.
    payloads: PathBuf,
    /// The conversation that is loaded.
    messages: PathBuf,
}

/// What can be measured of LangGraph's PostgreSQL saver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measurement {
    /// Microseconds of one write.
    SingleWriter,
    /// Writes per second of 64 writers.
    Concurrent,
    /// Megabytes per second of loading a conversation as large as [`Chain`].
    Load,
}

/// One round of a measurement: a figure for each way to use the saver.
#[derive(Debug, Deserialize)]
pub(crate) struct Ways {
    pub(crate) versions: BTreeMap<String, String>,
    /// Where a checkpoint holds only the newest state.
    pub(crate) newest_only: BTreeMap<String, f64>,
    /// Where the conversation is kept through a delta channel.
    pub(crate) conversation: BTreeMap<String, f64>,
}

impl<'p> LangGraphPostgres<'p> {
    pub(crate) fn new(python: &'p Python, url: String, scratch: &'p Path, payloads: &Payloads) -> Result<Self> {
        Ok(Self {
            python,
            url,
            scratch,
            payloads: write_texts(scratch, payloads, PAYLOADS)?,
            messages: write_texts(scratch, &Payloads::new(Chain::COMMIT_BYTES), Chain::COMMITS)?,
        })
    }

    /// Takes one round of a measurement.
    pub(crate) fn measure(&self, measurement: Measurement) -> Result<Ways> {
        let (name, texts) = match measurement {
            Measurement::SingleWriter => ("single_writer", &self.payloads),
            Measurement::Concurrent => ("concurrent", &self.payloads),
            Measurement::Load => ("load", &self.messages),
        };
        let mut arguments: Vec<&OsStr> = vec![name.as_ref(), "--url".as_ref(), self.url.as_ref()];
        arguments.extend(["--payloads".as_ref(), texts.as_os_str(), "--dir".as_ref(), self.scratch.as_os_str()]);
        self.python.measure(POSTGRES_SCRIPT, &arguments)
    }
}

/// What LangChain's `trim_messages` was measured at.
#[derive(Debug, Deserialize)]
pub(crate) struct Trimming {
    pub(crate) versions: BTreeMap<String, String>,
    /// Microseconds by the way in which tokens are counted.
    pub(crate) micros: BTreeMap<String, f64>,
}

/// Measures LangChain's `trim_messages` on the same turns, given as arrays of messages.
pub(crate) fn trim_messages(
    python: &Python,
    scratch: &Path,
    turns: impl IntoIterator<Item = Value>,
    max_tokens: u64,
) -> Result<Trimming> {
    let file = write_lines(scratch.join("turns.jsonl"), turns)?;
    eprintln!("Measuring LangChain's trim_messages …");
    let max_tokens = max_tokens.to_string();
    python.measure(TRIM_SCRIPT, &["--turns".as_ref(), file.as_ref(), "--max-tokens".as_ref(), OsStr::new(&max_tokens)])
}

/// Writes so many texts, each as a line of JSON.
fn write_texts(scratch: &Path, payloads: &Payloads, count: u64) -> Result<PathBuf> {
    write_lines(scratch.join(format!("{count}.jsonl")), (0..count).map(|n| payloads.text(n)))
}

/// Writes values, each as a line of JSON.
fn write_lines(path: PathBuf, values: impl IntoIterator<Item = impl Serialize>) -> Result<PathBuf> {
    let mut writer = BufWriter::new(File::create(&path)?);
    for value in values {
        serde_json::to_writer(&mut writer, &value)?;
        writer.write_all(b"\n")?;
    }
    writer.into_inner()?.sync_all()?;
    Ok(path)
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(Failure::from(format!("{command:?} ended with {status}"))) }
}
