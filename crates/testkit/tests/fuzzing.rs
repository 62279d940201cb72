//! A short run of every fuzz target, so that a broken decoder is seen without a fuzzer.

use contexture_testkit::fuzzing::DECODERS;
use proptest::{prelude::*, test_runner::TestRunner};

/// Starts that get past the first byte of each decoder; they are cut, repeated and changed.
const SEEDS: &[&[u8]] = &[
    b"ctx-0ff0dcb437f8638b55d75865a41ae5ff",
    b"session/4f1c~3",
    b"2026-11-15T22:10:00.123456+02:00",
    br#"{"artifact":"art-7355cf27517e878fd081ba43175d3f098d0219f334ebfeea5224919cc2176b6f","created_at":"2026-11-15T20:10:00.000000Z","format":"text","trigger":"explicit","type":"delta","version":1}"#,
    b"{\"a\":[1,2e3,\"\\u00e9\"]}\n{\"b\":null}\n",
    b"[{\"role\":\"user\"},{\"role\":\"assistant\"}]",
    b"\x82\xa1\x61\x61\x01\x9f\x01\x02\xff",
    br#"{"type":"user","uuid":"u","parentUuid":null,"isSidechain":true,"sessionId":"s","message":{"role":"user","content":[{"type":"text","text":"a"}]}}"#,
    br#"{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}}"#,
    br#"{"sessionId":"s","projectHash":"p","startTime":"t","messages":[{"id":"m","type":"user","content":"a"}]}"#,
    br#"{"info":{"id":"ses_1"},"messages":[{"info":{"id":"m","role":"user"},"parts":[{"type":"text","text":"a"}]}]}"#,
    b"\x81\xa2\x64Role\x64user\x67Content\x81\xa2\x64Type\x64text\x64Text\x61a",
    b"CTXBNDL\x01\x28\xb5\x2f\xfd",
];

#[test]
fn every_decoder_holds_on_changed_and_random_bytes() {
    let changed =
        (prop::sample::select(SEEDS), any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>())
            .prop_map(|(seed, at, cut, byte)| {
                let mut bytes = seed.to_vec();
                let at = at.index(bytes.len());
                bytes[at] = byte;
                bytes.truncate(cut.index(bytes.len() + 1).max(bytes.len() / 2));
                bytes
            });
    let bytes = prop_oneof![changed, prop::sample::select(SEEDS).prop_map(<[u8]>::to_vec), any::<Vec<u8>>()];
    for decoder in DECODERS {
        let held = TestRunner::default().run(&bytes, |bytes| {
            (decoder.hold)(&bytes);
            Ok(())
        });
        assert!(held.is_ok(), "{}: {held:?}", decoder.name);
    }
}

#[test]
fn every_decoder_has_a_fuzz_target_and_no_target_is_left_over() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let mut targets: Vec<String> = folder
        .read_dir()
        .expect("the fuzz targets are part of the project")
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let mut decoders: Vec<String> = DECODERS.iter().map(|decoder| decoder.name.to_owned()).collect();
    targets.sort();
    decoders.sort();
    assert_eq!(targets, decoders);
}
