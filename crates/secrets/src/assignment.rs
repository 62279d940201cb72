//! Values that are set: `password = "…"`, `"apiKey": "…"`, `--token …`, in code, settings and JSON at any depth.

use crate::{
    Alphabet, UserRule, escape,
    families::Marked,
    family::Context,
    found::{Found, Strength},
    likely::{self, Claim},
    value::{self, Value},
};

/// Most characters of a name that are looked at, on each side of the word in it.
const NAME_REACH: usize = 48;

/// Families that are told by the name of what they are assigned to.
#[derive(Debug)]
pub(crate) struct Assignments {
    pub(crate) named: Vec<(usize, Context)>,
    /// The rule of the first of [`Marked`].
    pub(crate) marked: usize,
}

impl Assignments {
    /// Looks at a word such as `password` that stands in a name.
    pub(crate) fn find(&self, bytes: &[u8], word: usize, word_end: usize, found: &mut Vec<Found>) {
        let name_end = word_end + Alphabet::WORD.reach(&bytes[word_end..], NAME_REACH);
        if bytes.get(name_end) == Some(&b'$') {
            found.extend(self.braintree(bytes, word, name_end));
        }
        let Some((start, quoted)) = value_start(bytes, word, name_end) else { return };
        let value = value::read(bytes, start, quoted);
        let closed = !quoted || matches!(value.ended_by, Some(b'"' | b'\'' | b'`'));
        let plain = value.text.iter().all(u8::is_ascii_alphabetic);
        if value.text.len() < 8 || plain || !closed || matches!(value.ended_by, Some(0 | b'(' | b'[' | b'{')) {
            return;
        }
        let mut name = [0; 2 * NAME_REACH + 16];
        let name = plain_name(bytes, word, name_end, &mut name);
        let mut named =
            self.named.iter().filter(|(_, context)| context.words.iter().any(|word| contains(name, word.as_bytes())));
        let fits = |context: &Context| {
            let (least, most) = context.length;
            (least..=most).contains(&value.text.len())
                && value.text.iter().all(|&byte| context.alphabet.has(byte))
                && value.text.iter().any(u8::is_ascii_digit)
                && value.text.iter().any(u8::is_ascii_alphabetic)
                && !likely::is_example(&value.text)
        };
        if let Some((rule, _)) = named.find(|(_, context)| fits(context)) {
            found.push(spot(&value, *rule, Strength::Context));
        } else if let Some(claim) = claim(name).filter(|&claim| likely::is_likely(&value.text, claim)) {
            found.push(spot(&value, self.marked + marked(claim) as usize, Strength::Guess));
        }
    }

    /// Looks at what follows `Bearer` or `Basic`.
    pub(crate) fn find_header(&self, bytes: &[u8], word_end: usize, found: &mut Vec<Found>) {
        let end = word_end + Alphabet::LETTERS.reach(&bytes[word_end..], 3);
        let spaces = bytes[end..].iter().take(3).take_while(|&&byte| byte == b' ').count();
        if spaces == 0 {
            return;
        }
        let value = value::read(bytes, end + spaces, false);
        if value.text.iter().all(|&byte| Alphabet::BASE64.has(byte) || Alphabet::UNRESERVED.has(byte))
            && likely::is_likely(&value.text, Claim::Token)
        {
            found.push(spot(&value, self.marked + Marked::AuthorizationHeader as usize, Strength::Guess));
        }
    }

    /// Looks at `sig=` in a URL.
    pub(crate) fn find_signature(&self, bytes: &[u8], start: usize, found: &mut Vec<Found>) {
        let end = start
            + bytes[start..]
                .iter()
                .take(100)
                .take_while(|&&byte| Alphabet::BASE64.has(byte) || Alphabet::WORD.has(byte) || byte == b'%')
                .count();
        let value = &bytes[start..end];
        let signed = value.ends_with(b"%3D") || value.ends_with(b"%3d") || value.ends_with(b"=") || value.len() == 43;
        if (43..=90).contains(&value.len()) && signed && !likely::is_example(value) {
            found.push(Found {
                start,
                end,
                rule: self.marked + Marked::AzureSas as usize,
                strength: Strength::Context,
            });
        }
    }

    fn braintree(&self, bytes: &[u8], word: usize, name_end: usize) -> Option<Found> {
        let start = word.checked_sub("access_t".len())?;
        let rest = &bytes[name_end..];
        let kind = ["$production$", "$sandbox$"].into_iter().find(|kind| rest.starts_with(kind.as_bytes()))?;
        let id = name_end + kind.len();
        let key = id + Alphabet::LOWER.reach(&bytes[id..], 17) + 1;
        let end = key + Alphabet::HEX.reach(bytes.get(key..)?, 33);
        (bytes[start..].starts_with(b"access_token$") && key - id == 17 && bytes[key - 1] == b'$' && end - key == 32)
            .then_some(Found {
                start,
                end,
                rule: self.marked + Marked::BraintreeToken as usize,
                strength: Strength::Itself,
            })
    }
}

/// Returns the value that is assigned to a name with a word in it, if it is what a user describes.
pub(crate) fn of_user(bytes: &[u8], word: usize, word_end: usize, rule: &UserRule) -> Option<(usize, usize)> {
    let name_end = word_end + Alphabet::WORD.reach(&bytes[word_end..], NAME_REACH);
    let (start, quoted) = value_start(bytes, word, name_end)?;
    let value = value::read(bytes, start, quoted);
    let fits = (rule.length.0..=rule.length.1).contains(&value.text.len())
        && value.text.iter().all(|&byte| rule.alphabet.has(byte));
    fits.then_some((value.start, value.end))
}

fn spot(value: &Value, rule: usize, strength: Strength) -> Found {
    Found { start: value.start, end: value.end, rule, strength }
}

fn marked(claim: Claim) -> Marked {
    match claim {
        Claim::Password => Marked::AssignedPassword,
        Claim::Secret => Marked::AssignedSecret,
        Claim::Token => Marked::AssignedToken,
    }
}

/// Returns where the value begins that a name is set to, and whether it is quoted.
fn value_start(bytes: &[u8], word: usize, name_end: usize) -> Option<(usize, bool)> {
    let mut at = name_end;
    if let Some(end) = quote_end(bytes, at) {
        at = end;
    }
    at += usize::from(bytes.get(at) == Some(&b']'));
    let spaced = spaces_end(bytes, at);
    at = match bytes.get(spaced)? {
        b'=' | b':' => {
            let more =
                bytes[spaced + 1..].iter().take(2).take_while(|&&byte| matches!(byte, b'=' | b'>' | b'~')).count();
            spaces_end(bytes, spaced + 1 + more)
        }
        b'>' if spaced == name_end => spaced + 1,
        _ if spaced > name_end && at == name_end && is_option(bytes, word) => spaced,
        _ => return None,
    };
    // Rust and Python mark some texts by a letter, C# by a sign.
    if matches!(bytes.get(at), Some(b'b' | b'r' | b'f' | b'@')) && quote_end(bytes, at + 1).is_some() {
        at += 1;
    }
    match quote_end(bytes, at) {
        Some(end) => Some((end, true)),
        None => Some((at, false)),
    }
}

/// Tells whether a word is in the name of an option, such as `--api-key`.
fn is_option(bytes: &[u8], word: usize) -> bool {
    let name = &bytes[word.saturating_sub(NAME_REACH)..word];
    let start = name.iter().rposition(|&byte| !Alphabet::WORD.has(byte)).map_or(0, |at| at + 1);
    name[start..].starts_with(b"--") || (name[start..].is_empty() && bytes[..word].ends_with(b"--"))
}

fn spaces_end(bytes: &[u8], at: usize) -> usize {
    at + bytes[at.min(bytes.len())..].iter().take(16).take_while(|&&byte| byte == b' ' || byte == b'\t').count()
}

/// Returns where the quote ends that stands at a place, at whatever depth it is.
fn quote_end(bytes: &[u8], at: usize) -> Option<usize> {
    let unit = escape::unit(bytes, at)?;
    matches!(unit.text.byte(), Some(b'"' | b'\'' | b'`')).then_some(unit.end)
}

/// Writes a name in small letters without what joins its words.
fn plain_name<'n>(bytes: &[u8], word: usize, name_end: usize, name: &'n mut [u8; 2 * NAME_REACH + 16]) -> &'n [u8] {
    let before = &bytes[word.saturating_sub(NAME_REACH)..word];
    let start = before.iter().rposition(|&byte| !Alphabet::DOTTED.has(byte)).map_or(0, |at| at + 1);
    let whole = before[start..].iter().chain(&bytes[word..name_end]);
    let mut length = 0;
    for byte in whole.filter(|byte| byte.is_ascii_alphanumeric()) {
        name[length] = byte.to_ascii_lowercase();
        length += 1;
    }
    &name[..length]
}

/// Tells what a name says of its value.
fn claim(name: &[u8]) -> Option<Claim> {
    const PASSWORDS: [&str; 5] = ["password", "passwd", "passphrase", "pwd", "pass"];
    const KEYS: [&str; 26] = [
        "secret",
        "apikey",
        "secretkey",
        "accesskey",
        "privatekey",
        "authkey",
        "encryptionkey",
        "encryptkey",
        "signingkey",
        "masterkey",
        "accountkey",
        "storagekey",
        "adminkey",
        "servicekey",
        "deploykey",
        "licensekey",
        "sharedkey",
        "appkey",
        "applicationkey",
        "clientkey",
        "consumerkey",
        "webhookkey",
        "integrationkey",
        "subscriptionkey",
        "secretkeybase",
        "servicerolekey",
    ];
    // What pages, prompts and parsers call tokens.
    const OTHER_TOKENS: [&str; 16] = [
        "page",
        "next",
        "continuation",
        "sync",
        "cancellation",
        "pad",
        "eos",
        "bos",
        "unk",
        "max",
        "stop",
        "special",
        "mask",
        "sep",
        "csrf",
        "prev",
    ];
    let mut name = name.strip_suffix(b"value").unwrap_or(name);
    while let Some((last, rest)) = name.split_last() {
        if !last.is_ascii_digit() {
            break;
        }
        name = rest;
    }
    let ends = |word: &&str| name.ends_with(word.as_bytes());
    if PASSWORDS.iter().any(ends) {
        Some(Claim::Password)
    } else if KEYS.iter().any(ends) {
        Some(Claim::Secret)
    } else {
        let whose = name.strip_suffix(b"token")?;
        (!OTHER_TOKENS.iter().any(|other| whose.ends_with(other.as_bytes()))).then_some(Claim::Token)
    }
}

fn contains(name: &[u8], word: &[u8]) -> bool {
    name.windows(word.len()).any(|window| window == word)
}
