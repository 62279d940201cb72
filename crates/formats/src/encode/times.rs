//! When the turns of a written session took place.

use contexture_core::Timestamp;

use crate::dialogue::Turn;

/// Returns a time for each turn: its own as far as it is known, never earlier than that of the turn before, and the
/// present for the last one, by which runtimes find the newest session.
pub(super) fn of_turns(turns: &[Turn], now: Timestamp) -> Vec<Timestamp> {
    let mut latest = turns.iter().find_map(|turn| turn.at).map_or(now, |at| at.min(now));
    let last = turns.len().saturating_sub(1);
    let time = |(n, turn): (usize, &Turn)| {
        latest = if n == last { now } else { turn.at.unwrap_or(latest).clamp(latest, now) };
        latest
    };
    turns.iter().enumerate().map(time).collect()
}

/// Writes a time with milliseconds, as JavaScript does.
pub(super) fn in_millis(at: Timestamp) -> String {
    let text = at.to_string();
    let cut = text.find('.').map_or(text.len(), |dot| dot + 4);
    format!("{}Z", &text[..cut])
}

/// Returns a time as milliseconds since 1970.
pub(super) fn epoch_millis(at: Timestamp) -> i64 {
    at.as_micros().div_euclid(1000)
}

#[cfg(test)]
mod tests {
    use contexture_core::EntryPart;

    use super::*;
    use crate::dialogue::Speaker;

    fn turn(at: Option<&str>) -> Turn {
        let at = at.map(|at| at.parse().unwrap());
        Turn { speaker: Speaker::User, parts: vec![EntryPart::text("x")], model: None, at, is_meta: false }
    }

    fn times(turns: &[Option<&str>]) -> Vec<String> {
        let turns: Vec<_> = turns.iter().copied().map(turn).collect();
        of_turns(&turns, "2026-01-09T00:00:00Z".parse().unwrap()).into_iter().map(in_millis).collect()
    }

    #[test]
    fn times_never_go_back_and_end_now() {
        let (day1, day2, day9) = ("2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z", "2026-01-09T00:00:00.000Z");
        assert_eq!(times(&[None, Some(day2), Some(day1), None, None]), [day2, day2, day2, day2, day9]);
        assert_eq!(times(&[None, None]), [day9, day9]);
        assert_eq!(times(&[Some("2027-01-01"), Some(day1), Some(day1)]), [day9, day9, day9]);
        assert_eq!(times(&[]), [""; 0]);
    }
}
