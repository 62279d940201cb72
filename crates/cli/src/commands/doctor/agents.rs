//! Sessions that were not ended, for people.

use contexture::wire::AgentsHealth;

use super::problem::{Check, FIX, Problem};
use crate::output;

pub(super) fn line(agents: &AgentsHealth) -> String {
    let at_work = match agents.at_work.len() as u64 {
        0 => "none at work".to_owned(),
        number => format!("{} at work", output::count(number)),
    };
    if agents.gone.is_empty() { at_work } else { format!("{at_work}, {} gone without a word", agents.gone.len()) }
}

pub(super) fn problems(agents: &AgentsHealth) -> Option<Problem> {
    let gone = agents.gone.len() as u64;
    let sessions = output::counted(gone, "session");
    let verb = if gone == 1 { "was" } else { "were" };
    (gone > 0).then(|| Problem::new(Check::Agents, format!("{sessions} {verb} left open by a crash"), FIX))
}
