//! `specstory-v1`: a session of some agent as SpecStory writes it in Markdown, cut where somebody speaks.

mod body;

use contexture_core::{Entry, EntryPart, Flags, Role, Timestamp};

use super::{Codec, Effect, Facts, Framing, Outline, RecordMark, RecordStep};
use crate::{RecordProblem, sections::SectionRule};

pub(crate) struct SpecStory;

/// Who speaks in a section, as its first line says.
#[derive(Debug, Default, PartialEq)]
struct Heading {
    is_user: bool,
    author: Option<String>,
    model: Option<String>,
    at: Option<Timestamp>,
    is_side_chain: bool,
}

impl Codec for SpecStory {
    fn framing(&self) -> Framing {
        Framing::Sections(SectionRule::SpecStory)
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        let text = String::from_utf8_lossy(record);
        let (first, body) = text.split_once('\n').unwrap_or((&text, ""));
        let Some(heading) = Heading::read(first) else {
            return Ok(Outline { facts: facts(&text), ..Outline::default() });
        };
        let asked = body::without_rule(body);
        let mark = if heading.is_user && !heading.is_side_chain {
            RecordMark::Turn(Some(asked.to_owned()).filter(|asked| !asked.is_empty()))
        } else {
            RecordMark::None
        };
        let facts = Facts { model: heading.model, ..Facts::default() };
        // Nothing tells one agent beside the conversation from another.
        let lane = heading.is_side_chain.then(|| SIDE_CHAIN.to_owned());
        Ok(Outline { at: heading.at, mark, lane, facts, ..Outline::default() })
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        let text = String::from_utf8_lossy(record);
        let (first, body) = text.split_once('\n').unwrap_or((&text, ""));
        let Some(heading) = Heading::read(first) else {
            let parts = if is_preamble(&text) { Vec::new() } else { body::parts(&text) };
            if parts.is_empty() {
                return Ok(RecordStep::nothing());
            }
            let (effect, entries) = (Effect::Continue, cut_at_results(Entry::new(Role::Assistant, parts)));
            return Ok(RecordStep { effect, entries });
        };
        let Heading { is_user, author, model, at, is_side_chain } = heading;
        let role = if is_user { Role::User } else { Role::Assistant };
        let parts = if is_user {
            let said = Some(body::without_rule(body)).filter(|said| !said.is_empty());
            said.map(EntryPart::text).into_iter().collect()
        } else {
            body::parts(body)
        };
        let flags = Flags { side_chain: is_side_chain, ..Flags::default() };
        let entries = cut_at_results(Entry { author, model, at, flags, ..Entry::new(role, parts) });
        Ok(if entries.is_empty() { RecordStep::nothing() } else { RecordStep { effect: Effect::Append, entries } })
    }
}

/// The name of the lane of agents beside the conversation.
const SIDE_CHAIN: &str = "sidechain";

/// Cuts an entry where tools answer.
fn cut_at_results(entry: Entry) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let Entry { role, parts, author, model, at, flags, .. } = entry;
    for part in parts {
        let role = if matches!(part, EntryPart::ToolResult { .. }) { Role::Tool } else { role };
        match entries.last_mut() {
            Some(last) if last.role == role => last.parts.push(part),
            _ => {
                let (author, model) = (author.clone(), model.clone());
                entries.push(Entry { author, model, at, flags, ..Entry::new(role, vec![part]) });
            }
        }
    }
    entries
}

impl Heading {
    /// Reads `_**Agent (model 2026-11-15 10:00:00Z)**_` and its like.
    fn read(line: &str) -> Option<Self> {
        let name = line.trim_end().strip_prefix("_**")?.strip_suffix("**_")?;
        let (speaker, mut rest) = ["User", "Agent", "Assistant"]
            .iter()
            .find_map(|speaker| Some((*speaker, name.strip_prefix(speaker)?)))
            .filter(|(_, rest)| rest.is_empty() || rest.starts_with([' ', ':']))?;
        let mut heading = Self { is_user: speaker == "User", ..Self::default() };
        heading.is_side_chain = rest.contains("sidechain");
        if let Some(named) = rest.strip_prefix(':') {
            let end = named.find(" (").unwrap_or(named.len());
            heading.author = Some(named[..end].trim().to_owned()).filter(|author| !author.is_empty());
            rest = &named[end..];
        }
        let said = rest.split_once('(').and_then(|(_, said)| Some(said.split_once(')')?.0)).unwrap_or_default();
        heading.at = said.char_indices().find_map(|(start, _)| time(said.get(start..)?));
        if !heading.is_user {
            let word = |word: &&str| !word.is_empty() && !matches!(*word, "model" | "mode" | "sidechain");
            let first = said.split([' ', ',']).find(word).filter(|word| time(word).is_none() && !is_day(word));
            heading.model = first.map(str::to_owned);
        }
        Some(heading)
    }
}

/// Reads a time, `2026-11-15 10:00:00Z` or without seconds, at the beginning of a text.
fn time(text: &str) -> Option<Timestamp> {
    let end = text.find('Z')?;
    let (day, time) = text.get(..end)?.split_once([' ', 'T'])?;
    if !is_day(day) {
        return None;
    }
    let seconds = if time.len() == "10:00".len() { ":00" } else { "" };
    format!("{day}T{time}{seconds}Z").parse().ok()
}

fn is_day(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == "2026-11-15".len()
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Tells whether a section that nobody speaks in is what stands before the conversation.
fn is_preamble(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty() || text.starts_with("<!--") || text.starts_with("# ")
}

/// Returns what stands before the conversation: its title and the session that it is of.
fn facts(text: &str) -> Facts {
    let mut facts = Facts::default();
    if !is_preamble(text) {
        return facts;
    }
    for line in text.lines().map(str::trim) {
        if let Some(title) = line.strip_prefix("# ").filter(|_| facts.title.is_none()) {
            facts.title = Some(title.to_owned());
        }
        let Some(comment) = line.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->")) else { continue };
        if let Some((_, rest)) = comment.split_once(" Session ") {
            facts.session = rest.split_whitespace().next().map(str::to_owned);
        }
    }
    facts
}

#[cfg(test)]
mod tests;
