//! JSON texts that are changed in one place and stay as they are, byte for byte, in all others.

use std::ops::Range;

use serde::{Serialize, de::IgnoredAny};
use serde_json::ser::{PrettyFormatter, Serializer};

/// A value and where it stands in its text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct JsonNode {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<JsonNode>),
    String(String),
    /// A number, `true`, `false` or `null`.
    Other,
}

/// A member of an object. It starts with its name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) start: usize,
    pub(super) value: JsonNode,
}

impl JsonNode {
    /// Reads a text that holds one value.
    pub(super) fn parse(text: &str) -> serde_json::Result<Self> {
        // From here on the text is known to be well formed, and not to be nested too deeply.
        serde_json::from_str::<IgnoredAny>(text)?;
        JsonReader { text, at: 0 }.value()
    }

    /// Returns the members, if this is an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            Kind::Array(_) | Kind::String(_) | Kind::Other => None,
        }
    }

    /// Returns the elements, if this is an array.
    pub(super) fn elements(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::Array(elements) => Some(elements),
            Kind::Object(_) | Kind::String(_) | Kind::Other => None,
        }
    }

    /// Returns the member of an object that counts by a name, which is the last.
    pub(super) fn member(&self, name: &str) -> Option<&Self> {
        self.members()?.iter().rev().find(|member| member.name == name).map(|member| &member.value)
    }

    /// Returns the text, if this is a string.
    pub(super) fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            Kind::Object(_) | Kind::Array(_) | Kind::Other => None,
        }
    }

    /// Returns where the members or elements stand.
    fn children(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => members.iter().map(|member| member.start..member.value.span.end).collect(),
            Kind::Array(elements) => elements.iter().map(|element| element.span.clone()).collect(),
            Kind::String(_) | Kind::Other => Vec::new(),
        }
    }
}

/// Puts a member at the end of an object of a text.
pub(super) fn add_member(text: &str, object: &JsonNode, name: &str, value: &impl Serialize) -> String {
    let name = written(&name, None);
    append(text, object, |indent| match indent {
        Some(_) => format!("{name}: {}", written(value, indent)),
        None => format!("{name}:{}", written(value, None)),
    })
}

/// Puts an element at the end of an array of a text.
pub(super) fn add_element(text: &str, array: &JsonNode, value: &impl Serialize) -> String {
    append(text, array, |indent| written(value, indent))
}

/// Puts another value in the place of one.
pub(super) fn replace(text: &str, node: &JsonNode, value: &impl Serialize) -> String {
    let layout = JsonLayout::of(text);
    let indent = leading(text, node.span.start).map(|lead| layout.indent(lead));
    spliced(text, node.span.clone(), &written(value, indent.as_ref()))
}

/// Takes the member or element at a place out of an object or array.
pub(super) fn remove(text: &str, container: &JsonNode, index: usize) -> String {
    let children = container.children();
    let child = &children[index];
    let span = match (children.get(index + 1), index.checked_sub(1)) {
        (Some(next), _) => child.start..next.start,
        (None, Some(previous)) => children[previous].end..child.end,
        (None, None) => container.span.start + 1..container.span.end - 1,
    };
    spliced(text, span, "")
}

/// How lines are written: what they end with, and what goes before those of a value.
struct Indent<'t> {
    newline: &'static str,
    lead: String,
    unit: &'t str,
}

/// How a text is laid out.
struct JsonLayout<'t> {
    newline: &'static str,
    unit: &'t str,
}

impl<'t> JsonLayout<'t> {
    fn of(text: &'t str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut lines = text.lines().skip(1).map(|line| &line[..line.len() - line.trim_start().len()]);
        Self { newline, unit: lines.find(|lead| !lead.is_empty()).unwrap_or("  ") }
    }

    fn indent(&self, lead: &str) -> Indent<'t> {
        Indent { newline: self.newline, lead: lead.to_owned(), unit: self.unit }
    }
}

/// Puts something at the end of an object or array, in the layout of what is there.
fn append(text: &str, container: &JsonNode, write: impl Fn(Option<&Indent<'_>>) -> String) -> String {
    let layout = JsonLayout::of(text);
    let Some(last) = container.children().pop() else {
        let inner = container.span.start + 1..container.span.end - 1;
        let is_first = container.span.len() == text.trim().len();
        if !is_first && !text.trim().contains('\n') {
            return spliced(text, inner, &write(None));
        }
        let line_start = text[..container.span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let line = &text[line_start..];
        let outer = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let indent = layout.indent(&format!("{outer}{}", layout.unit));
        let added = format!("{0}{1}{2}{0}{outer}", indent.newline, indent.lead, write(Some(&indent)));
        return spliced(text, inner, &added);
    };
    let added = match leading(text, last.start) {
        Some(lead) => {
            let indent = layout.indent(lead);
            format!(",{}{lead}{}", indent.newline, write(Some(&indent)))
        }
        None => format!(",{}", write(None)),
    };
    spliced(text, last.end..last.end, &added)
}

/// Returns the blank space that a line starts with, if nothing but that stands before a place.
fn leading(text: &str, at: usize) -> Option<&str> {
    let lead = &text[text[..at].rfind('\n')? + 1..at];
    lead.bytes().all(|byte| byte == b' ' || byte == b'\t').then_some(lead)
}

/// Writes a value on lines of its own, or on one.
fn written(value: &impl Serialize, indent: Option<&Indent<'_>>) -> String {
    let written = match indent {
        None => serde_json::to_string(value),
        Some(Indent { newline, lead, unit }) => {
            let mut bytes = Vec::new();
            let formatter = PrettyFormatter::with_indent(unit.as_bytes());
            let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
            let text = String::from_utf8(bytes).expect("JSON is text");
            // Within strings a line's end is always escaped.
            written.map(|()| text.replace('\n', &format!("{newline}{lead}")))
        }
    };
    written.expect("what settings are made of has a JSON form")
}

fn spliced(text: &str, span: Range<usize>, with: &str) -> String {
    [&text[..span.start], with, &text[span.end..]].concat()
}

/// Reads a text that is known to be well formed.
struct JsonReader<'t> {
    text: &'t str,
    at: usize,
}

impl JsonReader<'_> {
    fn value(&mut self) -> serde_json::Result<JsonNode> {
        self.skip_blank();
        let start = self.at;
        let kind = match self.peek() {
            b'{' => Kind::Object(self.list(b'}', |reader| {
                reader.skip_blank();
                let start = reader.at;
                let name = reader.string()?;
                reader.skip_blank();
                // The colon.
                reader.at += 1;
                Ok(Member { name, start, value: reader.value()? })
            })?),
            b'[' => Kind::Array(self.list(b']', Self::value)?),
            b'"' => Kind::String(self.string()?),
            _ => {
                let ends = |byte: &u8| b",]} \t\r\n".contains(byte);
                self.at += self.rest().iter().position(ends).unwrap_or(self.rest().len());
                Kind::Other
            }
        };
        Ok(JsonNode { span: start..self.at, kind })
    }

    fn list<T>(&mut self, end: u8, read: impl Fn(&mut Self) -> serde_json::Result<T>) -> serde_json::Result<Vec<T>> {
        let mut list = Vec::new();
        // The opening bracket, and then each comma.
        self.at += 1;
        self.skip_blank();
        while self.peek() != end {
            list.push(read(self)?);
            self.skip_blank();
            if self.peek() == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        Ok(list)
    }

    fn string(&mut self) -> serde_json::Result<String> {
        let start = self.at;
        self.at += 1;
        while self.peek() != b'"' {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        serde_json::from_str(&self.text[start..self.at])
    }

    fn skip_blank(&mut self) {
        self.at += self.rest().iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
    }

    fn peek(&self) -> u8 {
        // A text that ends too early was refused before.
        self.rest().first().copied().unwrap_or(b'"')
    }

    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at.min(self.text.len())..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &str = "{\n    \"model\": \"opus\", \"n\": 1.0e2,\n    \"env\": {\"A\": \"\\u00e4\"},\n    \"list\": [\n        1,\n        {}\n    ]\n}\n";

    fn grown(text: &str, name: &str) -> String {
        add_member(text, &JsonNode::parse(text).unwrap(), name, &["a", "b"])
    }

    #[test]
    fn a_member_is_added_in_the_layout_of_the_text_and_the_rest_stays() {
        let expected = SETTINGS.replace("    ]\n}", "    ],\n    \"new\": [\n        \"a\",\n        \"b\"\n    ]\n}");
        assert_eq!(grown(SETTINGS, "new"), expected);
        assert_eq!(grown("{\"a\":1}", "new"), "{\"a\":1,\"new\":[\"a\",\"b\"]}");
        assert_eq!(grown("{}\n", "new"), "{\n  \"new\": [\n    \"a\",\n    \"b\"\n  ]\n}\n");
        assert_eq!(
            grown("{\r\n\t\"a\": 1\r\n}", "b"),
            "{\r\n\t\"a\": 1,\r\n\t\"b\": [\r\n\t\t\"a\",\r\n\t\t\"b\"\r\n\t]\r\n}"
        );
    }

    #[test]
    fn what_was_added_is_taken_out_without_a_trace() {
        for text in [SETTINGS, "{\"a\":1}", "{}\n"] {
            let grown = grown(text, "new");
            let root = JsonNode::parse(&grown).unwrap();
            assert_eq!(remove(&grown, &root, root.members().unwrap().len() - 1), text);
        }
    }

    #[test]
    fn an_empty_list_in_the_middle_is_filled_and_emptied() {
        let text = "{\n  \"a\": [],\n  \"b\": 2\n}\n";
        let root = JsonNode::parse(text).unwrap();
        let filled = add_element(text, root.member("a").unwrap(), &1);
        assert_eq!(filled, "{\n  \"a\": [\n    1\n  ],\n  \"b\": 2\n}\n");
        let root = JsonNode::parse(&filled).unwrap();
        assert_eq!(remove(&filled, root.member("a").unwrap(), 0), text);
        assert_eq!(remove(&filled, &root, 0), "{\n  \"b\": 2\n}\n");
        let first = &root.member("a").unwrap().elements().unwrap()[0];
        assert_eq!(replace(&filled, first, &[7]), "{\n  \"a\": [\n    [\n      7\n    ]\n  ],\n  \"b\": 2\n}\n");
    }

    #[test]
    fn a_text_with_comments_is_refused() {
        assert!(JsonNode::parse("{\n  // why\n  \"a\": 1\n}").is_err());
        assert!(JsonNode::parse("{\"a\": 1,}").is_err());
        assert!(JsonNode::parse("").is_err());
    }
}
