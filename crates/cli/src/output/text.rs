//! Numbers, times and foreign text as people read them.

use std::borrow::Cow;

use contexture::core::Timestamp;

use super::{Passing, clean};

const SECOND: u64 = 1_000_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Returns a number with its thousands apart.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut apart = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            apart.push(',');
        }
        apart.push(digit);
    }
    apart
}

/// Returns a number and its noun, in the plural unless it is one.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {noun}s", count(number)) }
}

/// Returns a number that is only an estimate, with its first two digits.
pub(crate) fn about(number: u64) -> String {
    let scale = 10u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    count((number.saturating_add(scale / 2)) / scale * scale)
}

/// Returns a size in bytes with at most one digit after the point.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return counted(bytes, "byte");
    }
    let mut unit = 1000;
    let mut names = UNITS.iter().peekable();
    let mut name = names.next();
    // 999,950 and more would be shown as 1000.0 of the smaller unit.
    while names.peek().is_some() && bytes / unit * 20 + bytes % unit * 20 / unit >= 19_999 {
        unit *= 1000;
        name = names.next();
    }
    let tenths = (u128::from(bytes) * 10 + u128::from(unit) / 2) / u128::from(unit);
    format!("{}.{} {}", tenths / 10, tenths % 10, name.unwrap_or(&"EB"))
}

/// Returns how long ago an instant is, or its date when that says more.
pub(crate) fn relative(now: Timestamp, then: Timestamp) -> String {
    let away = now.as_micros().abs_diff(then.as_micros());
    match away {
        0..SECOND => "now".to_owned(),
        _ if away >= 30 * DAY => then.to_string().split('T').next().unwrap_or_default().to_owned(),
        _ if then <= now => format!("{} ago", span(away)),
        _ => format!("in {}", span(away)),
    }
}

/// Returns how long ago an instant is in at most four columns, for tables: `45s`, `20m`, `3h`, `29d`, `12w`, `2y`.
pub(crate) fn age(now: Timestamp, then: Timestamp) -> String {
    const WEEK: u64 = 7 * DAY;
    const YEAR: u64 = 365 * DAY;
    let away = now.as_micros().abs_diff(then.as_micros());
    let (number, unit) = match away {
        0..SECOND => return "now".to_owned(),
        SECOND..MINUTE => (away / SECOND, "s"),
        MINUTE..HOUR => (away / MINUTE, "m"),
        HOUR..DAY => (away / HOUR, "h"),
        _ if away < 30 * DAY => (away / DAY, "d"),
        _ if away < YEAR => (away / WEEK, "w"),
        _ => (away / YEAR, "y"),
    };
    if then > now { format!("+{number}{unit}") } else { format!("{number}{unit}") }
}

/// Returns how long a span of microseconds is, in the largest unit that fits into it.
pub(crate) fn span(micros: u64) -> String {
    match micros {
        0..10_000 if micros < 1000 => format!("{micros} µs"),
        0..10_000 => format!("{}.{} ms", micros / 1000, micros / 100 % 10),
        10_000..SECOND => format!("{} ms", micros / 1000),
        SECOND..MINUTE => counted(micros / SECOND, "second"),
        MINUTE..HOUR => counted(micros / MINUTE, "minute"),
        HOUR..DAY => counted(micros / HOUR, "hour"),
        DAY.. => counted(micros / DAY, "day"),
    }
}

/// Returns the first line of a text that is not blank.
pub(crate) fn first_line(text: &str) -> Cow<'_, str> {
    printable(text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default())
}

/// Returns the first line of a text that is not blank, as a line of a table: without tabs, and with a mark where more follows.
pub(crate) fn headline(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = printable(lines.next().unwrap_or_default()).replace('\t', " ");
    if lines.next().is_some() { first + " …" } else { first }
}

/// Returns a text that cannot steer the terminal, with its line feeds.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    clean(text, Passing::LINES)
}

/// Draws how much of something is used.
pub(crate) fn bar(used: u64, whole: u64, cells: usize) -> String {
    // A whole of nothing has an empty bar until something exceeds it.
    let filled = u128::from(used) * cells as u128 / u128::from(whole.max(1));
    let filled = usize::try_from(filled).unwrap_or(cells).min(cells);
    format!("[{}{}]", "█".repeat(filled), "·".repeat(cells - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_estimates_are_round() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 7, 42, 123, 31_499, 995_000].map(about), ["0", "7", "42", "120", "31,000", "1,000,000"]);
        assert_eq!(about(u64::MAX), "18,000,000,000,000,000,000");
        assert_eq!((counted(1, "commit"), counted(2, "commit")), ("1 commit".to_owned(), "2 commits".to_owned()));
    }

    #[test]
    fn sizes_change_their_unit_before_they_reach_a_thousand() {
        let sizes = [0, 1, 999, 1000, 1234, 999_949, 999_950, 1_000_000, 2_147_483_648, u64::MAX];
        let shown =
            ["0 bytes", "1 byte", "999 bytes", "1.0 kB", "1.2 kB", "999.9 kB", "1.0 MB", "1.0 MB", "2.1 GB", "18.4 EB"];
        assert_eq!(sizes.map(size), shown);
    }

    #[test]
    fn times_are_shown_from_now() {
        let now: Timestamp = "2026-11-15T20:10:00Z".parse().unwrap();
        let tell = |then: &str| relative(now, then.parse().unwrap());
        assert_eq!(tell("2026-11-15T20:10:00Z"), "now");
        assert_eq!(tell("2026-11-15T20:09:59Z"), "1 second ago");
        assert_eq!(tell("2026-11-15T20:07:01Z"), "2 minutes ago");
        assert_eq!(tell("2026-11-14T21:00:00Z"), "23 hours ago");
        assert_eq!(tell("2026-11-14T20:10:00Z"), "1 day ago");
        assert_eq!(tell("2026-10-15T20:10:00Z"), "2026-10-15");
        assert_eq!(tell("2026-11-15T22:10:00Z"), "in 2 hours");
    }

    #[test]
    fn ages_are_short() {
        let now: Timestamp = "2026-11-15T20:10:00Z".parse().unwrap();
        let tell = |then: &str| age(now, then.parse().unwrap());
        let then = ["2026-11-15T20:10:00Z", "2026-11-15T20:09:15Z", "2026-11-15T17:09:00Z", "2026-10-17T20:10:00Z"];
        assert_eq!(then.map(tell), ["now", "45s", "3h", "29d"]);
        assert_eq!(["2026-08-15T20:10:00Z", "2024-11-15T20:10:00Z"].map(tell), ["13w", "2y"]);
        assert_eq!(tell("2026-11-15T22:10:00Z"), "+2h");
    }

    #[test]
    fn spans_are_shown_in_the_largest_unit_that_fits() {
        let spans = [0, 999, 1_000, 9_999, 10_000, 999_999, 1_000_000, 90_000_000, 7_200_000_000, 400 * DAY];
        let shown =
            ["0 µs", "999 µs", "1.0 ms", "9.9 ms", "10 ms", "999 ms", "1 second", "1 minute", "2 hours", "400 days"];
        assert_eq!(spans.map(span), shown);
    }

    #[test]
    fn foreign_text_cannot_steer_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\tc\nd\r"), "a\u{fffd}[31mb\tc\nd\u{fffd}");
        assert_eq!(first_line("\n  \n two words \nthree"), "two words");
        assert_eq!(
            [headline("\n a\tb\u{1b}[2J\n\n"), headline("one\ntwo"), headline(" \n")],
            ["a b\u{fffd}[2J", "one …", ""]
        );
    }
}
