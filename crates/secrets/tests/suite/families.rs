use contexture_secrets::{Scanner, ShapeCheck, families};

use crate::generate::{Random, secret};

/// What may stand around a secret without hiding it.
const AROUND: [(&str, &str); 12] = [
    ("", ""),
    (" ", " "),
    ("export KEY=", "\n"),
    ("\"", "\""),
    (r#"{"text":"first\n"#, r#"\nsecond"}"#),
    (r#"{"arguments":"{\"key\":\""#, r#"\"}"}"#),
    (r#"{"a":"{\"b\":\"x\\n"#, r#"\\n\"}"}"#),
    ("https://host/?key=", "&more=1"),
    ("(", ")."),
    ("\\u003cb\\u003e", "\\u003c/b\\u003e"),
    ("\u{1b}[32m", "\u{1b}[0m"),
    ("é", "é"),
];

#[test]
fn every_shape_is_found_wherever_it_stands() {
    let scanner = Scanner::new();
    let mut random = Random::new(1);
    for family in families() {
        for shape in family.shapes {
            for (before, after) in AROUND {
                let secret = secret(shape, &mut random);
                let text = format!("{before}{secret}{after}");
                let found = scanner.scan(text.as_bytes());
                let whole = found.iter().any(|span| text[span.start..span.end()] == secret);
                assert!(whole, "{} {:?} in {text:?}: {found:?}", family.id, shape.prefix);
            }
        }
    }
}

#[test]
fn a_token_whose_checksum_is_wrong_has_to_look_random() {
    let scanner = Scanner::new();
    let mut random = Random::new(2);
    for family in families() {
        for shape in family.shapes.iter().filter(|shape| shape.check == ShapeCheck::Crc32) {
            let good = secret(shape, &mut random);
            let last = if good.ends_with('x') { 'y' } else { 'x' };
            let bad = format!("{}{last}", &good[..good.len() - 1]);
            assert_eq!(scanner.scan(good.as_bytes()).len(), 1, "{good}");
            assert_eq!(scanner.scan(bad.as_bytes()).len(), 1, "{bad}");
            let example = format!("{}{}", shape.prefix, "x".repeat(36));
            assert_eq!(scanner.scan(example.as_bytes()), [], "{example}");
        }
    }
}

#[test]
fn tokens_of_letters_only_are_found_and_names_behind_a_prefix_are_not() {
    const LETTERS: &[u8; 52] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let scanner = Scanner::new();
    let mut random = Random::new(3);
    let mut missed = 0;
    for _ in 0..1000 {
        let body: String = (0..34).map(|_| char::from(LETTERS[random.below(LETTERS.len())])).collect();
        missed += usize::from(scanner.scan(format!("token hf_{body} end").as_bytes()).is_empty());
    }
    assert!(missed <= 50, "{missed} of 1000 are missed");
    for name in ["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", "hf_thequickbrownfoxjumpsoverthelazydog"] {
        assert_eq!(scanner.scan(name.as_bytes()), [], "{name}");
    }
}

#[test]
fn ids_are_told_once() {
    let mut ids: Vec<_> = families().map(|family| family.id).collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all);
    assert!(all >= 90, "{all}");
}
