//! Text that is written under headings, cut into sections.

/// Tells where the sections of a text begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionRule {
    /// Aider's history: a chat, or what somebody asks, whose lines all have the same mark.
    Aider,
    /// SpecStory's Markdown: the name of who speaks, on a line by itself.
    SpecStory,
}

/// Cuts lines into sections as they come.
///
/// A section that is longer than a bound is cut between lines, or inside one that is longer by itself; so what is no
/// beginning of a section must be read as its continuation.
#[derive(Debug)]
pub(crate) struct SectionCutter {
    rule: SectionRule,
    max_bytes: usize,
    /// What is not handed on yet.
    open: Vec<u8>,
    /// Where in it the line begins that is not whole yet.
    line: usize,
    /// Whether the line before that one continues a mark; nothing before the first line.
    previous: LineMark,
}

/// What a line is to the section that it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineMark {
    /// Ordinary text.
    Text,
    /// A section begins here.
    Heading,
    /// A section begins here, unless the line before has the same mark.
    Run,
}

impl SectionRule {
    /// Tells what a line is, by its bytes with or without its end.
    pub(crate) fn mark(self, line: &[u8]) -> LineMark {
        let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
        let line = &line[..end];
        match self {
            Self::Aider if line.starts_with(AIDER_CHAT) => LineMark::Heading,
            // Aider ends the lines of what somebody asks with a line break of Markdown; headings in answers have none.
            Self::Aider if line.starts_with(AIDER_ASKED) && line.ends_with(b"  ") => LineMark::Run,
            Self::SpecStory if is_speaker(line) => LineMark::Heading,
            Self::Aider | Self::SpecStory => LineMark::Text,
        }
    }
}

/// What a chat of Aider's history begins with.
pub(crate) const AIDER_CHAT: &[u8] = b"# aider chat started at ";
/// What stands before each line of what somebody asks in it.
pub(crate) const AIDER_ASKED: &[u8] = b"#### ";

/// Tells whether a line of SpecStory's says who speaks.
fn is_speaker(line: &[u8]) -> bool {
    let Some(name) = line.strip_prefix(b"_**").and_then(|rest| rest.strip_suffix(b"**_")) else { return false };
    [&b"User"[..], b"Agent", b"Assistant"].iter().any(|speaker| {
        name.strip_prefix(*speaker).is_some_and(|rest| rest.is_empty() || matches!(rest[0], b' ' | b':'))
    })
}

impl SectionCutter {
    pub(crate) fn new(rule: SectionRule, max_bytes: u64) -> Self {
        let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX).max(1);
        Self { rule, max_bytes, open: Vec::new(), line: 0, previous: LineMark::Text }
    }

    /// Takes the next bytes and hands on the sections that end in them.
    pub(crate) fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(&[u8])) {
        let mut rest = bytes;
        while !rest.is_empty() {
            // A line that is too long is cut, so that it need not be held.
            let room = self.max_bytes - (self.open.len() - self.line).min(self.max_bytes - 1);
            let feed = memchr::memchr(b'\n', rest).map_or(rest.len(), |feed| feed + 1);
            let (taken, after) = rest.split_at(feed.min(room));
            self.open.extend_from_slice(taken);
            rest = after;
            if taken.ends_with(b"\n") || self.open.len() - self.line >= self.max_bytes {
                self.end_line(sink);
            }
        }
    }

    /// Ends the text and hands on its last section.
    pub(crate) fn finish(mut self, sink: &mut dyn FnMut(&[u8])) {
        if self.line < self.open.len() {
            self.end_line(sink);
        }
        if !self.open.is_empty() {
            sink(&self.open);
        }
    }

    fn end_line(&mut self, sink: &mut dyn FnMut(&[u8])) {
        let mark = self.rule.mark(&self.open[self.line..]);
        let begins = match mark {
            LineMark::Heading => true,
            LineMark::Run => self.previous != LineMark::Run,
            LineMark::Text => false,
        };
        // White space before a heading belongs to its section.
        let begins = begins && !self.open[..self.line].trim_ascii().is_empty();
        if self.line > 0 && (begins || self.open.len() > self.max_bytes) {
            sink(&self.open[..self.line]);
            self.open.drain(..self.line);
        }
        (self.previous, self.line) = (mark, self.open.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(rule: SectionRule, max_bytes: u64, slices: &[&str]) -> Vec<String> {
        let mut sections = Vec::new();
        let mut cutter = SectionCutter::new(rule, max_bytes);
        let mut take = |section: &[u8]| sections.push(String::from_utf8(section.to_vec()).unwrap());
        for slice in slices {
            cutter.push(slice.as_bytes(), &mut take);
        }
        cutter.finish(&mut take);
        sections
    }

    #[test]
    fn a_chat_of_aider_is_cut_where_somebody_asks() {
        let text = "\n# aider chat started at 2026-11-15 10:00:00\n\n> Aider  \n\n#### why  \n####   this  \nSo.\n#### Heading\nmore\n\n#### and  \n";
        let sections = cut(SectionRule::Aider, 1 << 20, &[text]);
        assert_eq!(
            sections,
            [
                "\n# aider chat started at 2026-11-15 10:00:00\n\n> Aider  \n\n",
                "#### why  \n####   this  \nSo.\n#### Heading\nmore\n\n",
                "#### and  \n"
            ]
        );
        for at in 0..text.len() {
            assert_eq!(cut(SectionRule::Aider, 1 << 20, &[&text[..at], &text[at..]]), sections, "cut at {at}");
        }
    }

    #[test]
    fn a_talk_of_specstory_is_cut_where_somebody_speaks() {
        let text = "<!-- Generated by SpecStory -->\n\n_**User (now)**_\r\n\nWhy?\n\n---\n\n_**Agent**_\n\nSo. _**User**_\n_**Username**_\n";
        let sections = cut(SectionRule::SpecStory, 1 << 20, &[text]);
        assert_eq!(
            sections,
            [
                "<!-- Generated by SpecStory -->\n\n",
                "_**User (now)**_\r\n\nWhy?\n\n---\n\n",
                "_**Agent**_\n\nSo. _**User**_\n_**Username**_\n"
            ]
        );
    }

    #[test]
    fn a_section_that_is_too_long_is_cut_the_same_however_it_comes() {
        let text = "#### ask  \n1234567890\n123456789012345678901234567890\nab\n#### b  \nc";
        let whole = cut(SectionRule::Aider, 16, &[text]);
        assert_eq!(whole.concat(), text);
        assert!(whole.iter().all(|section| section.len() <= 16), "{whole:?}");
        for at in 0..text.len() {
            assert_eq!(cut(SectionRule::Aider, 16, &[&text[..at], &text[at..]]), whole, "cut at {at}");
        }
    }
}
