//! Screening content of any size on its way into the store.

use std::{
    collections::VecDeque,
    io::{self, Read},
    sync::{Arc, Mutex, PoisonError},
};

use contexture_core::{SecretCover, SecretFinding};
use contexture_formats::Concatenation;
use contexture_secrets::{Piece, Scanner, StreamScanner};

use super::guard::{SecretGuard, SecretRecord, cover};

/// Bytes that are read at once.
const READ_BYTES: usize = 256 * 1024;

/// What a [`ScreenedReader`] found, known once it was read to its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct FoundInStream(Arc<Mutex<SecretRecord>>);

/// Passes on what is stored of what it reads.
pub(crate) struct ScreenedReader {
    reader: Box<dyn Read + Send>,
    guard: Arc<SecretGuard>,
    cover: SecretCover,
    scanner: Option<StreamScanner<Arc<Scanner>>>,
    ready: VecDeque<u8>,
    /// Bytes that were passed on or are ready.
    passed: u64,
    found: FoundInStream,
}

impl ScreenedReader {
    /// Screens what a reader yields, which is content that is joined by a rule. Returns where the findings will be.
    pub(crate) fn new(
        guard: &Arc<SecretGuard>,
        rule: Concatenation,
        reader: Box<dyn Read + Send>,
    ) -> (Self, FoundInStream) {
        let found = FoundInStream::default();
        let screened = Self {
            reader,
            guard: Arc::clone(guard),
            cover: cover(rule),
            scanner: Some(StreamScanner::new(Arc::clone(&guard.scanner))),
            ready: VecDeque::new(),
            passed: 0,
            found: found.clone(),
        };
        (screened, found)
    }

    /// Takes a stretch of the content.
    fn take(&mut self, piece: &Piece<'_>) {
        match piece {
            Piece::Clear(bytes) => self.pass(bytes),
            Piece::Secret(secret) => {
                let finding = SecretFinding {
                    start: self.passed,
                    length: secret.raw.len() as u64,
                    rule: secret.rule.clone(),
                    fingerprint: self.guard.fingerprint(&secret.value()),
                    cover: self.cover,
                };
                let found = Arc::clone(&self.found.0);
                let mut record = found.lock().unwrap_or_else(PoisonError::into_inner);
                if self.guard.seal.is_some() {
                    record.take_out(self.passed, finding, secret.raw.to_vec());
                    self.pass(record.last_placeholder().as_bytes());
                } else {
                    record.findings.push(finding);
                    self.pass(secret.raw);
                }
            }
        }
    }

    fn pass(&mut self, bytes: &[u8]) {
        self.ready.extend(bytes);
        self.passed += bytes.len() as u64;
    }

    /// Reads until something can be passed on, or the end.
    fn fill(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; READ_BYTES];
        while self.ready.is_empty()
            && let Some(mut scanner) = self.scanner.take()
        {
            let count = self.reader.read(&mut buffer)?;
            let mut sink = |piece: Piece<'_>| self.take(&piece);
            if count == 0 {
                scanner.finish(&mut sink);
            } else {
                scanner.push(&buffer[..count], &mut sink);
                self.scanner = Some(scanner);
            }
        }
        Ok(())
    }
}

impl Read for ScreenedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ready.is_empty() && !buffer.is_empty() {
            self.fill()?;
        }
        self.ready.read(buffer)
    }
}

impl FoundInStream {
    /// Returns what was found.
    pub(crate) fn take(&self) -> SecretRecord {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
