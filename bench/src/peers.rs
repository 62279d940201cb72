//! The Python peers: installed into a virtual environment and run as their users run them.

use std::{
    io::{BufWriter, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use serde::Deserialize;

use crate::{Failure, Result, payload::Payloads};

const SCRIPT: &str = "bench/peers/langgraph_saver.py";
const REQUIREMENTS: &str = "bench/peers/requirements.txt";
const ENVIRONMENT: &str = "bench/.venv";
/// More than any measurement writes, so that no payload comes twice.
const PAYLOADS: u64 = 4000;

/// What LangGraph's SQLite saver was measured at.
#[derive(Debug, Deserialize)]
pub(crate) struct LangGraph {
    pub(crate) versions: std::collections::BTreeMap<String, String>,
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

/// Measures LangGraph's SQLite saver on the same payloads.
pub(crate) fn langgraph(scratch: &Path, payloads: &Payloads) -> Result<LangGraph> {
    let file = scratch.join("payloads.jsonl");
    let mut writer = BufWriter::new(std::fs::File::create(&file)?);
    for n in 0..PAYLOADS {
        serde_json::to_writer(&mut writer, &payloads.text(n))?;
        writer.write_all(b"\n")?;
    }
    writer.into_inner()?.sync_all()?;
    let python = Path::new(ENVIRONMENT).join("bin/python");
    if !python.exists() {
        eprintln!("Installing LangGraph into {ENVIRONMENT} …");
        run(Command::new("python3").args(["-m", "venv", ENVIRONMENT]))?;
    }
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r", REQUIREMENTS]))?;
    let directory = scratch.join("langgraph");
    std::fs::create_dir_all(&directory)?;
    eprintln!("Measuring LangGraph's SQLite saver …");
    let output = Command::new(&python)
        .args([SCRIPT, "--payloads"])
        .arg(&file)
        .arg("--dir")
        .arg(&directory)
        .args(["--depths", "10", "100", "1000"])
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(Failure::from(format!("the peer's script ended with {}", output.status)));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(Failure::from(format!("{command:?} ended with {status}"))) }
}
