//! The exact counters against the published tokenizer, and what holds of them.

use contexture_assembly::{OpenAi, TokenCounter as _};
use proptest::prelude::*;
use tiktoken_rs::{cl100k_base_singleton, o200k_base_singleton};

fn count(text: &str) -> [u64; 2] {
    [OpenAi::O200k, OpenAi::Cl100k].map(|counter| counter.count(text).get())
}

/// Counts with the tokenizer that OpenAI published, all text being ordinary.
fn published(text: &str) -> [u64; 2] {
    [o200k_base_singleton(), cl100k_base_singleton()].map(|tokenizer| tokenizer.encode_ordinary(text).len() as u64)
}

#[test]
fn counts_are_those_in_the_documentation_of_openai() {
    let counts = [
        ("antidisestablishmentarianism", [6, 6]),
        ("2 + 2 = 4", [7, 7]),
        ("お誕生日おめでとう", [8, 9]),
        ("tiktoken is great!", [6, 6]),
    ];
    for (text, expected) in counts {
        assert_eq!(count(text), expected, "{text}");
    }
}

#[test]
fn special_tokens_are_ordinary_text() {
    for text in ["<|endoftext|>", "a<|im_start|>system", "<|fim_prefix|>\n<|endofprompt|>"] {
        assert_eq!(count(text), published(text), "{text}");
        assert!(count(text).iter().all(|tokens| *tokens > 3), "{text}");
    }
}

#[test]
fn a_whole_may_have_more_tokens_than_its_parts() {
    assert_eq!((count(" iefg"), count(" ie"), count("fg")), ([3, 3], [1, 1], [1, 1]));
}

#[test]
fn every_character_is_of_the_class_that_splits_texts_in_the_published_way() {
    let assigned = ('\0'..='\u{323af}').chain('\u{e0000}'..='\u{e01ff}').collect::<Vec<_>>();
    for characters in assigned.chunks(256) {
        let text: String = characters.iter().flat_map(|character| ['x', *character, 'X', *character, '1']).collect();
        assert_eq!(count(&text), published(&text), "from {:?} to {:?}", characters.first(), characters.last());
    }
}

#[test]
fn no_text_takes_more_than_linear_time() {
    let prose = "The budget was held, and what did not fit was left out with a reason. ";
    for (text, letters) in [(" ", 1 << 20), ("a", 1 << 20), ("\n", 1 << 20), ("日", 1 << 20), (prose, 10 << 20)] {
        let text = text.repeat(letters / text.len());
        for tokens in count(&text) {
            assert!(tokens > 0 && tokens < text.len() as u64);
        }
    }
}

/// Pieces that tokenizers treat in ways of their own.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        "[ \t\r\n\u{a0}\u{2003}\u{3000}]{1,8}",
        "[a-zA-Z]{1,12}",
        "[0-9]{1,8}",
        "'(s|S|t|re|ve|m|ll|d|LL)",
        "(fn|let|return|=>|::|\\{|\\}|;|//|/\\*|</|\\(\\)|_[a-z]{1,5}|[A-Z][a-z]{1,5}){1,6}",
        "[\u{300}-\u{36f}\u{4e00}-\u{4e40}\u{1f600}-\u{1f640}\u{200d}\u{600}-\u{650}\u{10a0}-\u{10ff}ǅßİſK]{1,6}",
        "<\\|(endoftext|im_start|fim_prefix)\\|>",
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

/// Texts that are not split, and too long to be merged at once.
fn long_piece() -> impl Strategy<Value = String> {
    let pattern = prop_oneof![
        "[ab]{1,9}",
        "[a-z]{1,40}",
        "[ \\t\u{a0}]{1,5}",
        "[-=#*_]{1,12}",
        "[日本語一二三のはが]{1,9}",
        "[가-힣]{1,30}"
    ];
    (prop::collection::vec(pattern, 1..4), 500..4000_usize).prop_map(|(patterns, letters)| {
        let letters = patterns.concat().chars().cycle().take(letters).collect::<String>();
        letters + "x"
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn counts_are_those_of_the_published_tokenizer(text in text()) {
        prop_assert_eq!(count(&text), published(&text));
    }

    #[test]
    fn long_pieces_have_the_tokens_of_the_published_tokenizer(text in long_piece()) {
        prop_assert_eq!(count(&text), published(&text));
    }

    #[test]
    fn no_text_has_more_tokens_than_bytes(text in text()) {
        prop_assert!(count(&text).iter().all(|tokens| *tokens <= text.len() as u64));
    }

    #[test]
    fn parts_that_meet_between_words_have_the_tokens_of_the_whole(start in text(), end in text()) {
        let (start, end) = (format!("{start}word"), format!(" and {end}"));
        let parts = count(&start).into_iter().zip(count(&end)).map(|(start, end)| start + end);
        prop_assert_eq!(count(&format!("{start}{end}")).to_vec(), parts.collect::<Vec<_>>());
    }
}
