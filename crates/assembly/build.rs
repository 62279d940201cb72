//! Writes the vocabularies of OpenAI's tokenizers, and the classes of letters they know, as the counters read them.
//!
//! Both come from the crates that hold the published tokenizers, which the program itself does not need.

use std::{env, fs, path::PathBuf};

use regex_syntax::hir::{Class, HirKind};
use tiktoken_rs::CoreBPE;

/// The classes that split a text into pieces, a bit each, as in `src/counter/openai/letters.rs`.
const CLASSES: [&str; 7] = [r"[\p{Lu}\p{Lt}]", r"\p{Ll}", r"[\p{Lm}\p{Lo}]", r"\p{M}", r"\p{N}", r"\s", r"[\r\n]"];
/// How many letters share an entry of the first table.
const BLOCK: usize = 256;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let vocabularies = [("o200k", tiktoken_rs::o200k_base()), ("cl100k", tiktoken_rs::cl100k_base())];
    for (name, tokenizer) in vocabularies {
        let (lengths, bytes) = vocabulary(&tokenizer.expect("the crate's vocabulary can be read"));
        write(&format!("{name}.lengths"), &lengths);
        write(&format!("{name}.tokens"), &bytes);
    }
    let (blocks, classes) = letters();
    write("letters.blocks", &blocks);
    write("letters.classes", &classes);
}

/// Returns the length of each token and their bytes, one after the other, by rank.
fn vocabulary(tokenizer: &CoreBPE) -> (Vec<u8>, Vec<u8>) {
    let tokens = (0..).map_while(|rank| tokenizer.decode_bytes(&[rank]).ok());
    tokens.fold(Default::default(), |(mut lengths, mut bytes), token| {
        lengths.push(u8::try_from(token.len()).expect("no token is longer than 255 bytes"));
        bytes.extend(token);
        (lengths, bytes)
    })
}

/// Returns the number of the block for every 256 letters, and the classes of the letters in each different block.
fn letters() -> (Vec<u8>, Vec<u8>) {
    let mut all = vec![0_u8; char::MAX as usize + 1];
    for (bit, class) in CLASSES.iter().enumerate() {
        for (first, last) in ranges(class) {
            all[first as usize..=last as usize].iter_mut().for_each(|classes| *classes |= 1 << bit);
        }
    }
    let mut different: Vec<&[u8]> = Vec::new();
    let mut numbers = Vec::new();
    for block in all.chunks(BLOCK) {
        let number = different.iter().position(|known| *known == block).unwrap_or_else(|| {
            different.push(block);
            different.len() - 1
        });
        numbers.push(u8::try_from(number).expect("there are at most 256 different blocks"));
    }
    (numbers, different.concat())
}

/// Returns the letters of a class as the published patterns understand it.
fn ranges(class: &str) -> Vec<(char, char)> {
    let parsed = regex_syntax::parse(class).expect("a class of letters");
    let HirKind::Class(Class::Unicode(class)) = parsed.kind() else { unreachable!("{class} is a class") };
    class.iter().map(|range| (range.start(), range.end())).collect()
}

fn write(name: &str, bytes: &[u8]) {
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(directory.join(name), bytes).expect("the directory can be written");
}
