//! `aider-v1`: the history that Aider keeps of its chats in Markdown, cut where somebody asks.
//!
//! A section is what somebody asks with all that follows. Aider's own words, which stand in quotes, are not part of the
//! conversation; a section without a beginning goes on with the answer before it.

use std::borrow::Cow;

use contexture_core::{Entry, EntryPart, Role};

use super::{Codec, Effect, Facts, Framing, Outline, RecordMark, RecordStep};
use crate::{
    RecordProblem,
    sections::{AIDER_CHAT, LineMark, SectionRule},
};

pub(crate) struct Aider;

/// What is written in a section.
#[derive(Default)]
struct AiderSection<'s> {
    /// When a chat began, in whatever zone the machine was in.
    began: Option<&'s str>,
    asked: Vec<&'s str>,
    /// The answer, in pieces between Aider's own words.
    answers: Vec<String>,
    /// Aider's own words.
    notes: Vec<&'s str>,
}

impl Codec for Aider {
    fn framing(&self) -> Framing {
        Framing::Sections(SectionRule::Aider)
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        let text = String::from_utf8_lossy(record);
        let section = AiderSection::read(&text);
        let mut outline = Outline { facts: section.facts(), ..Outline::default() };
        if let Some((day, time)) = section.began.and_then(|began| began.split_once(' ')) {
            outline.at = format!("{day}T{time}Z").parse().ok();
        }
        if !section.asked.is_empty() {
            outline.mark = RecordMark::Turn(Some(section.asked.join("\n")));
        }
        Ok(outline)
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        let text: Cow<'_, str> = String::from_utf8_lossy(record);
        let section = AiderSection::read(&text);
        let mut entries = Vec::new();
        let goes_on = section.asked.is_empty();
        if !goes_on {
            entries.push(Entry::new(Role::User, vec![EntryPart::text(section.asked.join("\n"))]));
        }
        if !section.answers.is_empty() {
            let parts = section.answers.into_iter().map(EntryPart::text).collect();
            entries.push(Entry::new(Role::Assistant, parts));
        }
        Ok(match (entries.is_empty(), goes_on) {
            (true, _) => RecordStep::nothing(),
            (false, true) => RecordStep { effect: Effect::Continue, entries },
            (false, false) => RecordStep { effect: Effect::Append, entries },
        })
    }
}

impl<'s> AiderSection<'s> {
    fn read(text: &'s str) -> Self {
        let mut section = Self::default();
        let mut answer = String::new();
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches(['\n', '\r']);
            match SectionRule::Aider.mark(line.as_bytes()) {
                LineMark::Heading => section.began = bare.get(AIDER_CHAT.len()..).map(str::trim),
                LineMark::Run => section.asked.push(bare.get("#### ".len()..).unwrap_or_default().trim_end()),
                LineMark::Text => match note(bare) {
                    Some(note) => {
                        section.end_answer(&mut answer);
                        section.notes.push(note);
                    }
                    None => answer.push_str(line),
                },
            }
        }
        section.end_answer(&mut answer);
        section
    }

    fn end_answer(&mut self, answer: &mut String) {
        let said = answer.trim_matches(['\n', '\r']).trim_end();
        if !said.trim().is_empty() {
            self.answers.push(said.to_owned());
        }
        answer.clear();
    }

    /// Returns what Aider says about itself when a chat begins.
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        if let Some(began) = self.began {
            // Aider names no sessions, and every project has a file of the same name.
            facts.session = Some(format!("aider-{}", began.replace([' ', ':'], "-")));
            for note in &self.notes {
                if let Some(version) = note.strip_prefix("Aider v") {
                    facts.version = Some(version.to_owned());
                }
                let model = note.strip_prefix("Main model: ").or_else(|| note.strip_prefix("Model: "));
                if let Some(model) = model {
                    facts.model = Some(model.split(" with ").next().unwrap_or(model).to_owned());
                }
            }
        }
        facts
    }
}

/// Returns what Aider itself says on a line. Its lines end with a line break of Markdown; quotes in answers do not.
fn note(line: &str) -> Option<&str> {
    let note = line.strip_prefix('>')?;
    (note.is_empty() || note.ends_with("  ")).then(|| note.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Replay, Splitter};

    const CHAT: &str = "\n# aider chat started at 2026-11-15 10:00:00\n\n> Aider v0.86.1  \n> Main model: gpt-4o with diff edit format  \n\n\
        #### why does it  \n#### fail?  \n\nIt connects too early.\n\n> quoted\n\n> Tokens: 1k sent, 2 received.  \n\nNow it waits.\n\n\
        #### /undo  \n> Undone.  \n";

    fn records(text: &str) -> Vec<Vec<u8>> {
        let mut records = Vec::new();
        let mut splitter = Splitter::new(Aider.framing(), 1 << 20);
        let mut take = |record: crate::RawRecord<'_>| records.push(record.bytes.to_vec());
        splitter.push(text.as_bytes(), &mut take).unwrap();
        splitter.finish(&mut take).unwrap();
        records
    }

    fn said(records: &[Vec<u8>]) -> Vec<(Role, Vec<String>)> {
        let mut replay = Replay::default();
        for record in records {
            replay.take(Aider.step(record).unwrap());
        }
        let text = |part: EntryPart| match part {
            EntryPart::Text { text } => text,
            other => panic!("{other:?}"),
        };
        replay
            .into_entries()
            .into_iter()
            .map(|entry| (entry.role, entry.parts.into_iter().map(text).collect()))
            .collect()
    }

    #[test]
    fn a_chat_is_what_was_asked_and_answered() {
        let records = records(CHAT);
        assert_eq!(records.concat(), CHAT.as_bytes());
        assert_eq!(
            said(&records),
            [
                (Role::User, vec!["why does it\nfail?".to_owned()]),
                (Role::Assistant, vec!["It connects too early.\n\n> quoted".to_owned(), "Now it waits.".to_owned()]),
                (Role::User, vec!["/undo".to_owned()]),
            ]
        );
        let outlines: Vec<Outline> = records.iter().map(|record| Aider.outline(record).unwrap()).collect();
        let facts = Facts {
            session: Some("aider-2026-11-15-10-00-00".into()),
            version: Some("0.86.1".into()),
            model: Some("gpt-4o".into()),
            ..Facts::default()
        };
        let at = "2026-11-15T10:00:00Z".parse().ok();
        assert_eq!(outlines[0], Outline { at, facts, ..Outline::default() });
        assert_eq!(outlines[1].mark, RecordMark::Turn(Some("why does it\nfail?".into())));
    }

    #[test]
    fn an_answer_that_was_cut_goes_on() {
        let (before, after) = CHAT.split_at(CHAT.find("Now").unwrap());
        let mut cut = records(before);
        cut.extend(records(after));
        assert_eq!(cut.concat(), CHAT.as_bytes());
        assert_eq!(said(&cut)[1].1, ["It connects too early.\n\n> quoted".to_owned() + "Now it waits."]);
    }
}
