//! Secrets in URLs: passwords before the host, and webhooks, which are secret as a whole.

use crate::{
    Alphabet,
    families::Marked,
    found::{Found, Strength},
    likely,
};

/// Longest part of a URL between `://` and the host that is looked at.
const LONGEST_USER: usize = 400;

/// Words that stand for a password, and passwords that everybody has.
const NO_PASSWORDS: [&str; 24] = [
    "password",
    "passwd",
    "pass",
    "pw",
    "pwd",
    "secret",
    "user",
    "username",
    "postgres",
    "root",
    "admin",
    "test",
    "guest",
    "changeme",
    "token",
    "key",
    "redacted",
    "mysql",
    "redis",
    "mongo",
    "x-oauth-basic",
    "hidden",
    "masked",
    "foo",
];

/// Looks behind a `://`.
pub(crate) fn find(bytes: &[u8], after: usize, marked: usize, found: &mut Vec<Found>) {
    if let Some((start, end)) = password(bytes, after) {
        found.push(Found { start, end, rule: marked + Marked::UrlPassword as usize, strength: Strength::Context });
    }
    if let Some((start, end, kind)) = webhook(bytes, after) {
        found.push(Found { start, end, rule: marked + kind as usize, strength: Strength::Itself });
    }
}

fn password(bytes: &[u8], after: usize) -> Option<(usize, usize)> {
    let rest = &bytes[after..bytes.len().min(after + LONGEST_USER)];
    let end = rest.iter().position(|&byte| ends_host(byte)).unwrap_or(rest.len());
    if end == LONGEST_USER {
        return None;
    }
    let at = memchr::memrchr(b'@', &rest[..end])?;
    let colon = memchr::memchr(b':', &rest[..at])?;
    let (user, password) = (&rest[..colon], &rest[colon + 1..at]);
    let host = rest.get(at + 1).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'[' | b'$' | b'_'));
    (host && user != password && is_password(password)).then_some((after + colon + 1, after + at))
}

fn ends_host(byte: u8) -> bool {
    byte <= b' ' || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'|' | 127)
}

fn is_password(password: &[u8]) -> bool {
    let small = password.to_ascii_lowercase();
    let reference = matches!(password.first(), None | Some(b'$' | b'{' | b'[' | b'(' | b':'))
        || password.iter().any(|byte| matches!(byte, b'{' | b'}' | b'*' | b','))
        || memchr::memmem::find(password, b"..").is_some();
    let percent = memchr::memchr_iter(b'%', password)
        .all(|at| password.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)));
    let worn = NO_PASSWORDS.iter().any(|word| small == word.as_bytes());
    let standing_for = ["your", "example", "password", "xxx", "placeholder", "redacted"]
        .iter()
        .any(|word| memchr::memmem::find(&small, word.as_bytes()).is_some());
    password.len() >= 4 && !reference && percent && !worn && !standing_for
}

fn webhook(bytes: &[u8], after: usize) -> Option<(usize, usize, Marked)> {
    let rest = &bytes[after..];
    let path = |start: usize, most| {
        start + rest[start..].iter().take(most).take_while(|&&byte| Alphabet::WORD.has(byte) || byte == b'/').count()
    };
    if rest.starts_with(b"hooks.slack.com/") {
        let start = "hooks.slack.com/".len();
        let (end, kind) = (path(start, 200), &rest[start..]);
        let secret = start
            + ["services/", "workflows/", "triggers/"]
                .iter()
                .find(|kind_of| kind.starts_with(kind_of.as_bytes()))?
                .len();
        let text = &rest[secret..end];
        return (text.len() >= 30 && text.iter().any(u8::is_ascii_digit) && !likely::is_example(text)).then_some((
            after + secret,
            after + end,
            Marked::SlackWebhook,
        ));
    }
    if let Some(host) = ["discord.com", "discordapp.com", "canary.discord.com", "ptb.discord.com"]
        .iter()
        .find(|host| rest.starts_with(host.as_bytes()))
    {
        let tail = &rest[host.len()..];
        let start = host.len()
            + ["/api/webhooks/", "/api/v10/webhooks/"].iter().find(|path| tail.starts_with(path.as_bytes()))?.len();
        let token = start + Alphabet::DIGITS.reach(&rest[start..], 24) + 1;
        let end = token + Alphabet::WORD.reach(rest.get(token..)?, 100);
        return (end - token >= 60 && rest[token - 1] == b'/').then_some((
            after + token,
            after + end,
            Marked::DiscordWebhook,
        ));
    }
    let host = Alphabet::DOTTED.reach(rest, 100);
    if rest[..host].ends_with(b".webhook.office.com") && rest[host..].starts_with(b"/webhookb2/") {
        let start = host + "/webhookb2/".len();
        let end = start
            + rest[start..]
                .iter()
                .take(300)
                .take_while(|&&byte| Alphabet::WORD.has(byte) || matches!(byte, b'/' | b'@'))
                .count();
        return (end - start >= 60).then_some((after + start, after + end, Marked::TeamsWebhook));
    }
    None
}
