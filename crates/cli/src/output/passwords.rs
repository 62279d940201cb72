//! Addresses in texts of others, shown without their passwords.

use std::borrow::Cow;

/// Stands where a password was.
const PLACEHOLDER: &str = "…";

/// Takes the passwords out of the addresses in a text.
pub(crate) fn without_passwords(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://").map(|at| at + 3) {
        let (before, after) = rest.split_at(at);
        let ends = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | '<' | '>');
        let (address, after) = after.split_at(after.find(ends).unwrap_or(after.len()));
        kept.push_str(before);
        let credentials = address.rfind('@').and_then(|end| Some((address[..end].find(':')?, end)));
        let address = match credentials {
            Some((start, end)) => Cow::Owned(format!("{}:{PLACEHOLDER}{}", &address[..start], &address[end..])),
            None => Cow::Borrowed(address),
        };
        match address.find("password=").map(|at| at + "password=".len()) {
            Some(start) => {
                let end = address[start..].find('&').map_or(address.len(), |end| start + end);
                kept.extend([&address[..start], PLACEHOLDER, &address[end..]]);
            }
            None => kept.push_str(&address),
        }
        rest = after;
    }
    if kept.is_empty() {
        return Cow::Borrowed(text);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_all_but_their_passwords() {
        for (text, expected) in [
            ("ctx --store postgres://a:b@h/w hook", "ctx --store postgres://a:…@h/w hook"),
            ("'postgres://a:b/@c@h/w?x=1' and http://u:p@i", "'postgres://a:…@h/w?x=1' and http://u:…@i"),
            ("postgres://a@h:5432/w?password=b&x=1", "postgres://a@h:5432/w?password=…&x=1"),
            ("postgres://a@h:5432/w", "postgres://a@h:5432/w"),
            ("12:30, me@home", "12:30, me@home"),
            ("://", "://"),
        ] {
            assert_eq!(without_passwords(text), expected);
        }
    }
}
