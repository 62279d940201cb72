//! Bundles: chains as one portable file that proves itself.

mod artifacts;
mod envelopes;
mod export;
mod frame;
mod import;
mod screening;

use std::io::{BufReader, Read};

pub use export::ExportSummary;
use frame::{Frame, FrameReader};
pub use import::ImportSummary;

use crate::Result;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Reads a bundle to its end and returns what it holds, without storing anything.
///
/// Proves that the file is whole; whether each artifact has the bytes its id names is proven when it is taken in.
pub fn verify_bundle(bundle: impl Read) -> Result<ExportSummary> {
    let mut reader = FrameReader::start(BufReader::new(bundle))?;
    let mut summary = ExportSummary::default();
    while let Some(frame) = reader.next()? {
        match frame {
            Frame::Artifact { .. } => summary.artifacts += 1,
            Frame::Bytes(bytes) => summary.artifact_bytes += bytes.len() as u64,
            Frame::LeftOut(_) => summary.left_out_artifacts += 1,
            Frame::Commit(_) => summary.commits += 1,
            Frame::Annotation(_) => summary.annotations += 1,
            Frame::Head(_) => summary.heads += 1,
            Frame::Envelope(_) => summary.envelopes += 1,
            // They go with their artifact or envelope.
            Frame::Placeholders(_) | Frame::Injection(_) | Frame::Missing(_) | Frame::Event(_) => {}
        }
    }
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::frame::{FrameReader, FrameWriter, Holds};
    use crate::{BundleProblem, Error};

    fn sealed() -> Vec<u8> {
        let mut writer = FrameWriter::start(Vec::new(), Holds::Envelopes).unwrap();
        writer.artifact(&contexture_core::ArtifactId::of(b"abc"), 3).unwrap();
        writer.bytes(b"abc").unwrap();
        writer.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> Result<usize, Error> {
        let mut reader = FrameReader::start(bytes)?;
        let mut frames = 0;
        while reader.next()?.is_some() {
            frames += 1;
        }
        Ok(frames)
    }

    #[test]
    fn a_sealed_bundle_reads_to_its_end() {
        assert_eq!(read(&sealed()).unwrap(), 2);
    }

    #[test]
    fn every_proper_prefix_is_refused() {
        let bytes = sealed();
        for end in 0..bytes.len() {
            let error = read(&bytes[..end]).unwrap_err();
            assert!(matches!(error, Error::Bundle { .. }), "{end}: {error:?}");
        }
    }

    #[test]
    fn a_newer_version_is_refused_by_number() {
        let mut bytes = sealed();
        bytes[7] = 9;
        let error = read(&bytes).unwrap_err();
        assert!(matches!(error, Error::Bundle { problem: BundleProblem::Newer { found: 9, known: 3 } }));
    }

    proptest! {
        #[test]
        fn a_changed_byte_is_never_taken_for_the_original(at: prop::sample::Index, flip in 1u8..) {
            let mut bytes = sealed();
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            // A change in the compressor's own header may not change the content; the digest proves the content.
            if let Ok(frames) = read(&bytes) {
                prop_assert_eq!(frames, 2);
            }
        }

        #[test]
        fn any_bytes_are_refused_without_a_panic(bytes: Vec<u8>) {
            prop_assert!(read(&bytes).is_err());
            let framed = [b"CTXBNDL\x01".as_slice(), &zstd::encode_all(bytes.as_slice(), 1).unwrap()].concat();
            prop_assert!(read(&framed).is_err());
        }
    }
}
