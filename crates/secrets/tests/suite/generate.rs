//! Makes secrets that nobody ever had. They are put together here, so none stands in the repository.

use contexture_secrets::{Alphabet, Family, Part, Shape, ShapeCheck};

/// Numbers that are the same in every run.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % limit as u64).unwrap()
    }

    pub(crate) fn text(&mut self, alphabet: Alphabet, length: usize) -> String {
        let characters: Vec<u8> = (33..127).filter(|&byte| alphabet.has(byte)).collect();
        // Dots, signs and paddings stand inside of tokens, not all over them.
        let plain: Vec<u8> = characters.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
        (0..length)
            .map(|at| {
                let inside = at > 0 && at + 1 < length && self.below(6) == 0;
                let from = if inside && !alphabet.has(b'=') && !alphabet.has(b'.') { &characters } else { &plain };
                char::from(from[self.below(from.len())])
            })
            .collect()
    }
}

/// Makes a secret of a shape.
pub(crate) fn secret(shape: &Shape, random: &mut Random) -> String {
    loop {
        let mut secret = shape.prefix.to_owned();
        if shape.check == ShapeCheck::JsonWebToken {
            return json_web_token(random);
        }
        for part in shape.parts {
            match *part {
                Part::Of(alphabet, least, most) => {
                    let length = least + random.below((most - least).min(16) + 1);
                    secret += &random.text(alphabet, length);
                }
                Part::Text(text) => secret += text,
            }
        }
        if shape.check == ShapeCheck::Crc32 {
            let body = secret[shape.prefix.len()..secret.len() - 6].to_owned();
            secret.truncate(secret.len() - 6);
            secret += &checksum(body.as_bytes());
        }
        // What has no digit is not taken for a token; real ones that are so unlikely are not missed.
        let body = &secret[shape.prefix.len()..];
        if body.bytes().any(|byte| byte.is_ascii_digit()) && body.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            return secret;
        }
    }
}

/// A token whose header says how it is signed.
pub(crate) fn json_web_token(random: &mut Random) -> String {
    let header = ["eyJhbGciOiJI", "UzI1NiIsInR5cCI6IkpXVCJ9"].concat();
    let payload = ["eyJ", &random.text(Alphabet::ALNUM, 60)].concat();
    [header, payload, random.text(Alphabet::WORD, 43)].join(".")
}

/// Makes a value as it would be assigned to a name of this family.
pub(crate) fn assigned(family: &Family, random: &mut Random) -> Option<(String, String)> {
    let context = family.context?;
    let (least, most) = context.length;
    let name = format!("{}_API_KEY", context.words[0].to_uppercase());
    let value = if context.alphabet == Alphabet::UUID {
        let mut part = |length| random.text(Alphabet::HEX, length);
        [part(8), part(4), part(4), part(4), part(12)].join("-")
    } else {
        let length = least + random.below((most - least).min(16) + 1);
        random.text(context.alphabet, length)
    };
    Some((name, value))
}

fn checksum(body: &[u8]) -> String {
    let mut crc = u32::MAX;
    for &byte in body {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    let mut number = !crc;
    let digits: Vec<char> = ('0'..='9').chain('A'..='Z').chain('a'..='z').collect();
    let mut text = Vec::new();
    for _ in 0..6 {
        text.push(digits[(number % 62) as usize]);
        number /= 62;
    }
    text.into_iter().rev().collect()
}
