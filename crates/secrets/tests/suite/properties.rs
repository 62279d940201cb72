use std::{
    borrow::Cow,
    time::{Duration, Instant},
};

use contexture_secrets::{
    Fingerprint, FingerprintKey, Piece, Placeholder, Scanner, SecretSpan, StreamScanner, families,
};
use proptest::prelude::*;

use crate::generate::{Random, assigned, secret};

fn key() -> FingerprintKey {
    FingerprintKey::derive(&[3; 32])
}

/// Texts with secrets and what looks like the start of some.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<u64>().prop_map(|seed| {
            let mut random = Random::new(seed);
            let all: Vec<_> = families().flat_map(|family| family.shapes).collect();
            secret(all[random.below(all.len())], &mut random)
        }),
        any::<u64>().prop_map(|seed| {
            let mut random = Random::new(seed);
            let all: Vec<_> = families().filter(|family| family.context.is_some()).collect();
            let (name, value) = assigned(all[random.below(all.len())], &mut random).unwrap();
            format!("{name}=\"{value}\"")
        }),
        "[ -~]{0,30}",
        "\\PC{0,12}",
        prop::sample::select(vec![
            "\n",
            "\"",
            "\\",
            "password = \"",
            "token: ",
            "https://user:",
            "@host/",
            "-----BEGIN RSA PRIVATE KEY-----\n",
            "eyJ",
            "\u{1b}[31m",
            "sk-",
            "AKIA",
            "\\u0041",
            "[secret:",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn quoted(text: &str, depth: usize) -> String {
    (0..depth).fold(text.to_owned(), |text, _| serde_json::to_string(&[text]).unwrap())
}

fn unquoted(json: &[u8], depth: usize) -> Option<Vec<u8>> {
    (0..depth).try_fold(json.to_vec(), |json, _| {
        let [text]: [String; 1] = serde_json::from_slice(&json).ok()?;
        Some(text.into_bytes())
    })
}

/// What a stream gives out, as the spans of a scan.
fn streamed(scanner: &Scanner, content: &[u8], cuts: impl Iterator<Item = usize>) -> Vec<SecretSpan> {
    let (mut spans, mut whole) = (Vec::new(), Vec::new());
    let mut sink = |piece: Piece<'_>| match piece {
        Piece::Clear(bytes) => whole.extend_from_slice(bytes),
        Piece::Secret(secret) => {
            assert_eq!(secret.offset, whole.len() as u64);
            spans.push(SecretSpan { start: whole.len(), length: secret.raw.len(), rule: secret.rule });
            whole.extend_from_slice(secret.raw);
        }
    };
    let mut stream = StreamScanner::new(scanner);
    let mut rest = content;
    for cut in cuts {
        let (now, later) = rest.split_at(cut.min(rest.len()));
        stream.push(now, &mut sink);
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    stream.push(rest, &mut sink);
    stream.finish(&mut sink);
    assert!(whole == content, "the pieces are the content");
    spans
}

proptest! {
    #[test]
    fn spans_are_in_order_within_the_content_and_between_characters(text in text()) {
        let scanner = Scanner::new();
        let mut last = 0;
        for span in scanner.scan(text.as_bytes()) {
            prop_assert!(span.start >= last && span.length > 0 && span.end() <= text.len());
            prop_assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end()));
            last = span.end();
        }
    }

    #[test]
    fn any_bytes_can_be_scanned(bytes: Vec<u8>) {
        Scanner::new().scan(&bytes);
    }

    #[test]
    fn masked_json_is_json_at_every_depth(text in text(), depth in 1usize..4) {
        let scanner = Scanner::new();
        let json = quoted(&text, depth);
        let masked = scanner.mask(json.as_bytes(), &key());
        prop_assert!(unquoted(&masked, depth).is_some(), "{}", String::from_utf8_lossy(&masked));
    }

    #[test]
    fn what_is_masked_has_no_more_secrets_in_its_placeholders(text in text()) {
        let scanner = Scanner::new();
        let masked = scanner.mask(text.as_bytes(), &key());
        for span in scanner.scan(&masked) {
            let found = String::from_utf8_lossy(&masked[span.start..span.end()]);
            prop_assert!(!found.contains(Placeholder::START), "{found}");
        }
    }

    #[test]
    fn a_secret_has_one_fingerprint_at_every_depth(seed: u64, depth in 0usize..4) {
        let scanner = Scanner::new();
        let mut random = Random::new(seed);
        let all: Vec<_> = families().flat_map(|family| family.shapes).collect();
        let secret = secret(all[random.below(all.len())], &mut random);
        let json = quoted(&format!("first\n{secret}\nlast"), depth);
        let spans = scanner.scan(json.as_bytes());
        prop_assert_eq!(spans.len(), 1, "{}", json);
        prop_assert_eq!(scanner.value(json.as_bytes(), &spans[0]), Cow::Borrowed(secret.as_bytes()));
        let placeholder = spans[0].placeholder(json.as_bytes(), &key());
        prop_assert_eq!(placeholder.fingerprint, Fingerprint::of(&key(), secret.as_bytes()));
        let masked = scanner.mask(json.as_bytes(), &key());
        let plain = unquoted(&masked, depth).unwrap();
        prop_assert_eq!(String::from_utf8(plain).unwrap(), format!("first\n{placeholder}\nlast"));
    }

    #[test]
    fn a_secret_is_found_whose_letters_are_escaped(seed: u64, at in 0usize..12) {
        let scanner = Scanner::new();
        let mut random = Random::new(seed);
        let all: Vec<_> = families().flat_map(|family| family.shapes).collect();
        let secret = secret(all[random.below(all.len())], &mut random);
        let code = format!("\\u{:04x}", u32::from(secret.as_bytes()[at]));
        let json = format!("[\"{}{code}{}\"]", &secret[..at], &secret[at + 1..]);
        let spans = scanner.scan(json.as_bytes());
        prop_assert_eq!(spans.len(), 1, "{}", json);
        prop_assert_eq!(scanner.value(json.as_bytes(), &spans[0]), Cow::Borrowed(secret.as_bytes()));
        let deep = serde_json::to_string(&[json]).unwrap();
        prop_assert!(unquoted(&scanner.mask(deep.as_bytes(), &key()), 2).is_some(), "{}", deep);
    }
}

#[test]
fn a_stream_finds_what_a_whole_scan_finds() {
    let scanner = Scanner::new();
    let mut random = Random::new(5);
    let all: Vec<_> = families().flat_map(|family| family.shapes).collect();
    let mut content = Vec::new();
    while content.len() < 5 << 20 {
        let secret = secret(all[random.below(all.len())], &mut random);
        content.extend_from_slice(secret.as_bytes());
        let gap = 1 + random.below(20_000);
        content.extend((0..gap).map(|at| b" five word"[at % 10]));
        content.push(b'\n');
    }
    let whole = scanner.scan(&content);
    assert!(whole.len() > 300);
    for most in [1000, 300_000, 3 << 20] {
        let mut random = Random::new(most as u64);
        assert_eq!(streamed(&scanner, &content, std::iter::repeat_with(|| 1 + random.below(most))), whole);
    }
    let edge: Vec<u8> =
        whole.iter().flat_map(|span| content[span.start..span.end()].iter().copied().chain(*b" ")).collect();
    assert_eq!(streamed(&scanner, &edge, std::iter::repeat(1)), scanner.scan(&edge));
}

#[test]
fn hostile_content_takes_time_by_its_length_only() {
    let scanner = Scanner::new();
    let units: [&str; 22] = [
        "a",
        "\\",
        "\"",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----AAAA",
        "eyJ",
        "eyJ.",
        "eyJhbGciOiJIUzI1NiJ9.",
        "eyJhbGciOiJIUzI1NiJ9-",
        "password",
        "password=",
        "token=\"",
        "token='a`",
        "_key: \\\"",
        "https://",
        "https://a:b",
        "sk-",
        "sk-ant-",
        "\\u0041",
        "\\u0041\\\\",
        "[secret:",
        "[{\"password\":\"",
    ];
    for unit in units {
        let content = unit.repeat((512 << 10) / unit.len());
        let took = (0..3).map(|_| {
            let started = Instant::now();
            scanner.scan(content.as_bytes());
            started.elapsed()
        });
        // A fraction of this is enough without optimization; were it quadratic, minutes were not.
        let took = took.min().unwrap();
        assert!(took < Duration::from_secs(2), "{unit:?}: {took:?}");
    }
}
