//! The frames of a bundle file. The format is written down in `docs/format.md`.

use std::io::{self, BufReader, Read, Write};

use contexture_core::{ArtifactId, Commit, CommitId, HeadName, Noted, SecretFinding};
use contexture_store::{envelope::EnvelopeRecord, event::Event, injection::Injection, missing::Missing};
use serde::{Deserialize, Serialize};

use crate::{BundleProblem, Error, FrameProblem, Result};

const MAGIC: &[u8; 7] = b"CTXBNDL";
/// The newest version.
pub(crate) const VERSION: u8 = 3;
/// Largest payload of a frame: a record with the longest annotation fits, and so does a piece of an artifact.
const MAX_PAYLOAD: u32 = 1024 * 1024;
/// Placeholders in one frame, which they never fill.
const PLACEHOLDERS_PER_FRAME: usize = 4096;
/// Most placeholders that a bundle tells of in one artifact. Those that follow are text like any other.
pub(super) const MOST_PLACEHOLDERS: usize = 16 * PLACEHOLDERS_PER_FRAME;
const COMPRESSION_LEVEL: i32 = 6;
/// Distance, as a power of two, over which repetitions are found: near copies of a file lie far apart.
const WINDOW_LOG: u32 = 24;

/// One frame of a bundle.
#[derive(Debug)]
pub(crate) enum Frame {
    /// An artifact starts; its bytes follow in [`Frame::Bytes`] until the size is reached.
    Artifact { id: ArtifactId, size: u64 },
    /// Bytes of the artifact that was started last.
    Bytes(Vec<u8>),
    /// Where placeholders are in the artifact that comes next, in order.
    Placeholders(Vec<SecretFinding>),
    /// An artifact that comes without its content. What is shown for it came before.
    LeftOut(LeftOutFrame),
    /// A commit. Its artifact and its parent came before.
    Commit(Box<Commit>),
    /// Something said about a commit that came before.
    Annotation(AnnotationFrame),
    /// A head and where it points, to a commit that came before.
    Head(HeadFrame),
    /// An envelope. Its artifacts and its commit came before.
    Envelope(EnvelopeRecord),
    /// An injection of the envelope that came last.
    Injection(Injection),
    /// What the envelope that came last misses, or what is missing in none.
    Missing(Missing),
    /// What happened to the envelope that came last.
    Event(Event),
}

/// What a bundle holds, which decides its version: programs that know nothing of envelopes read those without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Commits, annotations and heads.
    Chains,
    /// Envelopes and what belongs to them too.
    Envelopes,
    /// Artifacts without their content, and perhaps all of the others.
    LeftOut,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AnnotationFrame {
    pub(crate) commit: CommitId,
    #[serde(flatten)]
    pub(crate) noted: Noted,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct HeadFrame {
    pub(crate) name: HeadName,
    pub(crate) commit: CommitId,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LeftOutFrame {
    pub(crate) artifact: ArtifactId,
    pub(crate) size: u64,
    pub(crate) reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) substitute: Option<ArtifactId>,
}

const ARTIFACT: u8 = b'a';
const BYTES: u8 = b'b';
const PLACEHOLDERS: u8 = b'f';
const LEFT_OUT: u8 = b'l';
const COMMIT: u8 = b'c';
const ANNOTATION: u8 = b'n';
const HEAD: u8 = b'h';
const ENVELOPE: u8 = b'v';
const INJECTION: u8 = b'i';
const MISSING: u8 = b'm';
const EVENT: u8 = b'x';
const END: u8 = b'e';

/// Writes a bundle.
pub(crate) struct FrameWriter<W: Write> {
    sink: zstd::Encoder<'static, W>,
    digest: blake3::Hasher,
}

impl<W: Write> FrameWriter<W> {
    pub(crate) fn start(mut sink: W, holds: Holds) -> Result<Self> {
        let version = match holds {
            Holds::Chains => 1,
            Holds::Envelopes => 2,
            Holds::LeftOut => 3,
        };
        let start = || {
            sink.write_all(MAGIC)?;
            sink.write_all(&[version])?;
            let mut sink = zstd::Encoder::new(sink, COMPRESSION_LEVEL)?;
            sink.window_log(WINDOW_LOG)?;
            Ok(sink)
        };
        Ok(Self { sink: start().map_err(writing)?, digest: blake3::Hasher::new() })
    }

    pub(crate) fn artifact(&mut self, id: &ArtifactId, size: u64) -> Result<()> {
        let mut payload = id.as_bytes().to_vec();
        payload.extend_from_slice(&size.to_le_bytes());
        self.frame(ARTIFACT, &payload)
    }

    pub(crate) fn bytes(&mut self, piece: &[u8]) -> Result<()> {
        piece.chunks(MAX_PAYLOAD as usize).try_for_each(|piece| self.frame(BYTES, piece))
    }

    /// Writes where placeholders are in the artifact that comes next.
    pub(crate) fn placeholders(&mut self, placeholders: &[SecretFinding]) -> Result<()> {
        let told = &placeholders[..placeholders.len().min(MOST_PLACEHOLDERS)];
        told.chunks(PLACEHOLDERS_PER_FRAME).try_for_each(|some| self.json(PLACEHOLDERS, &some))
    }

    pub(crate) fn left_out(&mut self, left_out: &LeftOutFrame) -> Result<()> {
        self.json(LEFT_OUT, left_out)
    }

    pub(crate) fn commit(&mut self, commit: &Commit) -> Result<()> {
        self.frame(COMMIT, &commit.encode())
    }

    pub(crate) fn annotation(&mut self, annotation: &AnnotationFrame) -> Result<()> {
        self.json(ANNOTATION, annotation)
    }

    pub(crate) fn head(&mut self, head: &HeadFrame) -> Result<()> {
        self.json(HEAD, head)
    }

    pub(crate) fn envelope(&mut self, envelope: &EnvelopeRecord) -> Result<()> {
        self.json(ENVELOPE, envelope)
    }

    pub(crate) fn injection(&mut self, injection: &Injection) -> Result<()> {
        self.json(INJECTION, injection)
    }

    pub(crate) fn missing(&mut self, missing: &Missing) -> Result<()> {
        self.json(MISSING, missing)
    }

    pub(crate) fn event(&mut self, event: &Event) -> Result<()> {
        self.json(EVENT, event)
    }

    /// Seals the bundle with the digest of everything before.
    pub(crate) fn finish(mut self) -> Result<W> {
        let digest = *self.digest.finalize().as_bytes();
        self.frame(END, &digest)?;
        let mut sink = self.sink.finish().map_err(writing)?;
        sink.flush().map_err(writing)?;
        Ok(sink)
    }

    fn json<T: Serialize>(&mut self, kind: u8, body: &T) -> Result<()> {
        let payload = serde_json::to_vec(body).map_err(|error| writing(error.into()))?;
        self.frame(kind, &payload)
    }

    fn frame(&mut self, kind: u8, payload: &[u8]) -> Result<()> {
        let length = u32::try_from(payload.len()).ok().filter(|length| *length <= MAX_PAYLOAD);
        let length = length.ok_or_else(|| writing(io::Error::other("a record is longer than a frame")))?;
        let mut start = [kind, 0, 0, 0, 0];
        start[1..].copy_from_slice(&length.to_le_bytes());
        self.digest.update(&start).update(payload);
        self.sink.write_all(&start).and_then(|()| self.sink.write_all(payload)).map_err(writing)
    }
}

fn writing(source: io::Error) -> Error {
    Error::Io { attempt: "write the bundle", source }
}

/// Reads a bundle; [`FrameReader::next`] answers with the end only when the digest fits.
pub(crate) struct FrameReader<R: Read> {
    source: zstd::Decoder<'static, BufReader<R>>,
    digest: blake3::Hasher,
}

impl<R: Read> FrameReader<R> {
    pub(crate) fn start(mut source: R) -> Result<Self> {
        let mut magic = [0; MAGIC.len() + 1];
        read_exact(&mut source, &mut magic, BundleProblem::Magic)?;
        let (name, version) = (&magic[..MAGIC.len()], magic[MAGIC.len()]);
        if name != MAGIC {
            return Err(BundleProblem::Magic.into());
        }
        if version > VERSION {
            return Err(BundleProblem::Newer { found: version, known: VERSION }.into());
        }
        let mut decoder = zstd::Decoder::new(source).map_err(reading)?;
        decoder.window_log_max(WINDOW_LOG).map_err(reading)?;
        Ok(Self { source: decoder, digest: blake3::Hasher::new() })
    }

    /// Returns the next frame; nothing at a proper end.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>> {
        let mut start = [0; 5];
        read_exact(&mut self.source, &mut start, BundleProblem::Truncated)?;
        let length = u32::from_le_bytes([start[1], start[2], start[3], start[4]]);
        if length > MAX_PAYLOAD {
            return Err(FrameProblem::TooLong { length }.into());
        }
        let mut payload = vec![0; length as usize];
        read_exact(&mut self.source, &mut payload, BundleProblem::Truncated)?;
        if start[0] == END {
            return self.end(&payload).map(|()| None);
        }
        self.digest.update(&start).update(&payload);
        decode(start[0], payload).map(Some)
    }

    fn end(&mut self, payload: &[u8]) -> Result<()> {
        if payload != self.digest.finalize().as_bytes() {
            return Err(BundleProblem::Digest.into());
        }
        match self.source.read(&mut [0]).map_err(reading)? {
            0 => Ok(()),
            _ => Err(FrameProblem::AfterEnd.into()),
        }
    }
}

fn decode(kind: u8, payload: Vec<u8>) -> Result<Frame> {
    match kind {
        ARTIFACT => {
            let (id, size) = payload.split_at_checked(ArtifactId::LEN).ok_or(FrameProblem::ShortArtifact)?;
            let size = size.try_into().map_err(|_| FrameProblem::ArtifactLength)?;
            let id = ArtifactId::try_from(id).map_err(|_| FrameProblem::ShortArtifact)?;
            Ok(Frame::Artifact { id, size: u64::from_le_bytes(size) })
        }
        BYTES => Ok(Frame::Bytes(payload)),
        PLACEHOLDERS => placeholders(&payload).map(Frame::Placeholders),
        LEFT_OUT => {
            let left_out: LeftOutFrame = json(&payload)?;
            // A store counts in numbers with a sign.
            i64::try_from(left_out.size).map_err(|_| FrameProblem::ArtifactSize)?;
            Ok(Frame::LeftOut(left_out))
        }
        COMMIT => {
            let commit = Commit::decode(&payload).map_err(BundleProblem::Record)?;
            Ok(Frame::Commit(Box::new(commit)))
        }
        ANNOTATION => json(&payload).map(Frame::Annotation),
        HEAD => json(&payload).map(Frame::Head),
        ENVELOPE => json(&payload).map(Frame::Envelope),
        INJECTION => json(&payload).map(Frame::Injection),
        MISSING => json(&payload).map(Frame::Missing),
        EVENT => json(&payload).map(Frame::Event),
        kind => Err(FrameProblem::UnknownKind { kind }.into()),
    }
}

fn placeholders(payload: &[u8]) -> Result<Vec<SecretFinding>> {
    let placeholders: Vec<SecretFinding> = json(payload)?;
    let mut end = 0;
    for placeholder in &placeholders {
        if placeholder.start < end || placeholder.length == 0 || i64::try_from(placeholder.end()).is_err() {
            return Err(FrameProblem::Placeholders.into());
        }
        end = placeholder.end();
    }
    Ok(placeholders)
}

fn json<'p, T: Deserialize<'p>>(payload: &'p [u8]) -> Result<T> {
    serde_json::from_slice(payload).map_err(|error| FrameProblem::Json(error).into())
}

fn reading(source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::UnexpectedEof => BundleProblem::Truncated.into(),
        // The decompressor reports damage as an error of no particular kind.
        io::ErrorKind::Other | io::ErrorKind::InvalidData => FrameProblem::Compression(source).into(),
        _ => Error::Io { attempt: "read the bundle", source },
    }
}

fn read_exact(source: &mut impl Read, buffer: &mut [u8], at_end: BundleProblem) -> Result<()> {
    source.read_exact(buffer).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => at_end.into(),
        _ => reading(error),
    })
}
