//! Tokens whose form is known but that no prefix begins.

use crate::{
    Alphabet,
    families::Marked,
    found::{Found, Strength},
};

/// Looks at a run of letters, digits, `_`, `-` and `.` as a whole.
pub(crate) fn find(bytes: &[u8], start: usize, end: usize, marked: usize, found: &mut Vec<Found>) {
    let run = &bytes[start..end];
    let mut push = |start, end, kind: Marked| {
        found.push(Found { start, end, rule: marked + kind as usize, strength: Strength::Itself });
    };
    match start.checked_sub(1).map(|before| bytes[before]) {
        Some(b':') if run.starts_with(b"AA") => {
            let from = start.saturating_sub(13);
            let digits = bytes[from..start - 1].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            let length = Alphabet::WORD.reach(run, 40);
            if (8..=11).contains(&digits) && (34..=36).contains(&length) {
                push(start - 1 - digits, start + length, Marked::TelegramBotToken);
            }
        }
        Some(b'~') => {
            let length = Alphabet::UNRESERVED.reach(&bytes[start..], 40);
            let head = start.checked_sub(6).map(|from| &bytes[from..start - 1]);
            let is_client_secret = (31..=34).contains(&length)
                && head.is_some_and(|head| {
                    head[..3].iter().all(|&byte| Alphabet::UNRESERVED.has(byte))
                        && head[3].is_ascii_digit()
                        && head[4] == b'Q'
                });
            if is_client_secret {
                push(start - 6, start + length, Marked::AzureClientSecret);
            } else if bytes[..start].ends_with(b"sha256~") && Alphabet::WORD.reach(run, 44) == 43 {
                push(start - 7, start + 43, Marked::OpenShiftToken);
            }
        }
        _ => {}
    }
    match run[0] {
        b'M' | b'N' | b'O' => {
            if let Some(length) = discord(run) {
                push(start, start + length, Marked::DiscordBotToken);
            }
        }
        b'S' if run[1] == b'K' && run.len() >= 34 => {
            let length = Alphabet::HEX.reach(&run[2..], 33);
            if length == 32 && !run.get(34).is_some_and(u8::is_ascii_alphanumeric) {
                push(start, start + 34, Marked::TwilioApiKey);
            }
        }
        b'0'..=b'9' | b'a'..=b'f' if run.len() >= 36 && &run[32..35] == b"-us" => {
            let shard = Alphabet::DIGITS.reach(&run[35..], 3);
            if Alphabet::HEX.reach(run, 33) == 32 && (1..=2).contains(&shard) {
                push(start, start + 35 + shard, Marked::MailchimpKey);
            }
        }
        _ => {}
    }
}

/// A bot's id in base64, a time and a signature.
fn discord(run: &[u8]) -> Option<usize> {
    let id = Alphabet::WORD.reach(run, 32);
    let time = Alphabet::WORD.reach(run.get(id + 1..)?, 8);
    let signature = id + time + 2;
    let length = Alphabet::WORD.reach(run.get(signature..)?, 44);
    let is_token = (23..=28).contains(&id)
        && time == 6
        && (27..=40).contains(&length)
        && run[id] == b'.'
        && run[id + 7] == b'.'
        && run[..id].iter().all(u8::is_ascii_alphanumeric)
        && run[signature..].iter().any(u8::is_ascii_digit);
    is_token.then_some(signature + length)
}
