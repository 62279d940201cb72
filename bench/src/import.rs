//! Import of session files beside only parsing them.

use std::{
    fs::{self, File},
    hint::black_box,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use contexture::{
    core::{Format, Machine},
    formats::{self, Framing},
};
use contexture_capture::{self as capture, Capture, ImportSettings, SessionFile};

use crate::{
    Result,
    rows::{Bar, Row, as_f64},
    sample::median,
    subject,
};

/// Bytes of copies that are made of the fixtures.
const COPIED_BYTES: u64 = 64 * 1024 * 1024;

/// Session files with their formats.
struct Files {
    files: Vec<(PathBuf, Format)>,
    bytes: u64,
}

/// Imports copies of the fixtures, and real transcripts where they are.
pub(crate) async fn measure(scratch: &Path, transcripts: Option<&Path>, rounds: usize) -> Result<Vec<Row>> {
    eprintln!("Measuring import …");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/formats/tests/fixtures");
    let copies = copy(&Files::below(&fixtures)?, &scratch.join("copies"))?;
    let mut rows = vec![row("import, copies of the fixtures", &copies, scratch, rounds).await?];
    if let Some(transcripts) = transcripts {
        rows.push(row("import, real transcripts", &Files::below(transcripts)?, scratch, rounds).await?);
    }
    Ok(rows)
}

async fn row(what: &'static str, files: &Files, scratch: &Path, rounds: usize) -> Result<Row> {
    let (mut importing, mut parsing, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        let parsed = files.parse()?.as_secs_f64();
        let imported = files.import(scratch).await?.as_secs_f64();
        ratios.push(parsed / imported);
        parsing.push(as_f64(files.bytes) / 1e6 / parsed);
        importing.push(as_f64(files.bytes) / 1e6 / imported);
    }
    Ok(Row {
        what,
        ours: format!("{:.0} MB/s", median(importing)),
        peer: format!("parsing {:.0} MB with serde_json: {:.0} MB/s", as_f64(files.bytes) / 1e6, median(parsing)),
        ratio: median(ratios),
        bar: Bar::AtLeast(0.4),
        if_missed: "\
            The fixtures are sessions of 23 KB with a commit every 8 KB and nearly two labels a commit, and one in ten is a \
            fork whose parent is read to find where it begins: here the rows of commits, labels and the journal cost more \
            than the bytes. Real sessions are longer.",
    })
}

impl Files {
    /// Finds the sessions below a directory that are lines.
    fn below(directory: &Path) -> Result<Self> {
        let is_lines = |format: &Format| formats::codec(format).is_some_and(|codec| codec.framing() == Framing::Lines);
        let mut found = Self { files: Vec::new(), bytes: 0 };
        for path in capture::session_files(directory).into_iter().filter(|path| !capture::is_document(path)) {
            if let Ok(format) = capture::detect(&path)
                && is_lines(&format)
            {
                found.bytes += fs::metadata(&path)?.len();
                found.files.push((path, format));
            }
        }
        Ok(found)
    }

    /// Parses every line into a value.
    fn parse(&self) -> Result<Duration> {
        let start = Instant::now();
        let mut line = Vec::new();
        for (path, _) in &self.files {
            let mut reader = BufReader::with_capacity(256 * 1024, File::open(path)?);
            while reader.read_until(b'\n', &mut line)? > 0 {
                // Real transcripts have broken lines; import looks at them as well.
                drop(black_box(serde_json::from_slice::<serde_json::Value>(&line)));
                line.clear();
            }
        }
        Ok(start.elapsed())
    }

    /// Imports every file into a new store, durably.
    async fn import(&self, scratch: &Path) -> Result<Duration> {
        let directory = tempfile::tempdir_in(scratch)?;
        let store = subject::open(directory.path()).await?;
        let settings = ImportSettings::new(Machine::new("machine")?, "runtime");
        let start = Instant::now();
        let file = |(path, format): &(PathBuf, Format)| SessionFile {
            path: path.clone(),
            format: format.clone(),
            settings: settings.clone(),
        };
        let imported = Capture::new(&store).import_sessions(self.files.iter().map(file).collect(), &|_| {}).await?;
        let elapsed = start.elapsed();
        imported.into_iter().collect::<std::io::Result<Vec<_>>>()?;
        Ok(elapsed)
    }
}

/// Writes copies of files, each with ids and texts of its own, until there is enough.
fn copy(files: &Files, target: &Path) -> Result<Files> {
    fs::create_dir_all(target)?;
    let mut copies = Files { files: Vec::new(), bytes: 0 };
    for copy in 1_usize.. {
        for (number, (path, format)) in files.files.iter().enumerate() {
            if copies.bytes >= COPIED_BYTES {
                return Ok(copies);
            }
            let bytes = vary(&fs::read(path)?, copy);
            let path = target.join(format!("{copy}-{number}.jsonl"));
            fs::write(&path, &bytes)?;
            copies.bytes += bytes.len() as u64;
            copies.files.push((path, format.clone()));
        }
    }
    Ok(copies)
}

/// Changes ids, always to the same others, and ends of sentences.
fn vary(bytes: &[u8], copy: usize) -> Vec<u8> {
    const DIGITS: &[u8] = b"0123456789abcdef";
    let rotate = |byte: u8| DIGITS.iter().position(|digit| *digit == byte).map_or(byte, |at| DIGITS[(at + copy) % 16]);
    let is_digit = |byte: &u8| DIGITS.contains(byte);
    let mut varied = Vec::with_capacity(bytes.len() + 1024);
    for run in bytes.chunk_by(|a, b| is_digit(a) == is_digit(b)) {
        // Numbers stay numbers.
        let is_id = run.len() >= 8 && is_digit(&run[0]) && run.iter().any(u8::is_ascii_alphabetic);
        if is_id {
            varied.extend(run.iter().map(|byte| rotate(*byte)));
        } else {
            varied.extend_from_slice(run);
        }
    }
    let text = String::from_utf8_lossy(&varied).replace(". ", &format!(". ({copy}) "));
    text.into_bytes()
}
