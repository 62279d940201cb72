//! Reads rules with the place of each mistake.

use std::ops::Range;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{AllowList, Mark, RuleMistake, RuleMistakes, RuleProblem, UserRule, UserRules};
use crate::{Alphabet, RuleId, families};

type Table<'t> = DeTable<'t>;
type Value<'t> = Spanned<DeValue<'t>>;

pub(super) fn rules(text: &str) -> Result<UserRules, RuleMistakes> {
    let mut reader = Reader { text, mistakes: Vec::new() };
    let rules = match DeTable::parse(text) {
        Ok(document) => reader.document(document.get_ref()),
        Err(error) => {
            let at = error.span().unwrap_or_default();
            reader.mistake(&at, RuleProblem::Toml { message: error.message().to_owned() });
            UserRules::default()
        }
    };
    reader.mistakes.sort_by_key(|mistake| mistake.line);
    if reader.mistakes.is_empty() { Ok(rules) } else { Err(RuleMistakes(reader.mistakes)) }
}

struct Reader<'t> {
    text: &'t str,
    mistakes: Vec<RuleMistake>,
}

impl Reader<'_> {
    fn document(&mut self, document: &Table<'_>) -> UserRules {
        let mut rules = UserRules::default();
        self.known(document, &["rule", "allow"]);
        if let Some(value) = document.get("rule") {
            match value.get_ref().as_array() {
                Some(list) => {
                    for rule in list {
                        rules.rules.extend(self.rule(rule, &rules.rules));
                    }
                }
                None => self.mistyped(value, "rule", "a list of tables"),
            }
        }
        if let Some(value) = document.get("allow") {
            match value.get_ref().as_table() {
                Some(allow) => rules.allow = self.allow(allow, &rules.rules),
                None => self.mistyped(value, "allow", "a table"),
            }
        }
        rules
    }

    fn rule(&mut self, value: &Value<'_>, before: &[UserRule]) -> Option<UserRule> {
        let Some(table) = value.get_ref().as_table() else {
            self.mistyped(value, "rule", "a table");
            return None;
        };
        self.known(table, &["id", "prefix", "keywords", "alphabet", "length"]);
        let id = self.required(value, table, "id").and_then(|value| self.id(value, before));
        let alphabet = self.required(value, table, "alphabet").and_then(|value| self.alphabet(value));
        let length = self.required(value, table, "length").and_then(|value| self.length(value));
        let mark = match (table.get("prefix"), table.get("keywords")) {
            (Some(prefix), None) => self.prefix(prefix),
            (None, Some(keywords)) => self.keywords(keywords),
            _ => {
                self.mistake(&value.span(), RuleProblem::Mark);
                None
            }
        };
        let rule = UserRule { id: id?, mark: mark?, alphabet: alphabet?, length: length? };
        let prefix = match &rule.mark {
            Mark::Prefix(prefix) => prefix.len(),
            Mark::Keywords(_) => 0,
        };
        let fits = rule.length.0 <= rule.length.1
            && prefix + rule.length.0 >= UserRule::SHORTEST
            && rule.length.1 <= UserRule::LONGEST - prefix;
        if !fits {
            self.mistake(&table.get("length")?.span(), RuleProblem::Length);
        }
        fits.then_some(rule)
    }

    fn allow(&mut self, table: &Table<'_>, rules: &[UserRule]) -> AllowList {
        self.known(table, &["values", "prefixes", "rules"]);
        let values = self.texts(table, "values").into_iter().map(|(_, text)| text).collect();
        let mut prefixes = Vec::new();
        for (span, prefix) in self.texts(table, "prefixes") {
            if prefix.len() < 4 {
                self.mistake(&span, RuleProblem::AllowedPrefix);
            }
            prefixes.push(prefix);
        }
        let mut allowed = Vec::new();
        for (span, text) in self.texts(table, "rules") {
            match RuleId::new(text) {
                Ok(id) => {
                    let known =
                        families().any(|family| family.id == id.as_str()) || rules.iter().any(|rule| rule.id == id);
                    if !known {
                        let known = "those of the table and of this file".to_owned();
                        self.mistake(&span, RuleProblem::Unknown { name: id.to_string(), known });
                    }
                    allowed.push(id);
                }
                Err(error) => self.mistake(&span, error.into()),
            }
        }
        AllowList { values, prefixes, rules: allowed }
    }

    fn id(&mut self, value: &Value<'_>, before: &[UserRule]) -> Option<RuleId> {
        match RuleId::new(self.text(value, "id")?) {
            Ok(id) if families().any(|family| family.id == id.as_str()) || before.iter().any(|rule| rule.id == id) => {
                self.mistake(&value.span(), RuleProblem::Taken { id });
                None
            }
            Ok(id) => Some(id),
            Err(error) => {
                self.mistake(&value.span(), error.into());
                None
            }
        }
    }

    fn alphabet(&mut self, value: &Value<'_>) -> Option<Alphabet> {
        let name = self.text(value, "alphabet")?;
        let found = Alphabet::NAMED.iter().find(|(known, _)| *known == name);
        if found.is_none() {
            let known = Alphabet::NAMED.map(|(name, _)| name).join(", ");
            self.mistake(&value.span(), RuleProblem::Unknown { name, known });
        }
        found.map(|(_, alphabet)| *alphabet)
    }

    fn length(&mut self, value: &Value<'_>) -> Option<(usize, usize)> {
        let number = |value: &DeValue<'_>| {
            value.as_integer().and_then(|number| usize::from_str_radix(number.as_str(), number.radix()).ok())
        };
        let length = match value.get_ref() {
            DeValue::Array(range) if range.len() == 2 => number(range[0].get_ref()).zip(number(range[1].get_ref())),
            one => number(one).map(|length| (length, length)),
        };
        if length.is_none() {
            self.mistyped(value, "length", "a number or a list of the least and the greatest");
        }
        length
    }

    fn prefix(&mut self, value: &Value<'_>) -> Option<Mark> {
        let prefix = self.text(value, "prefix")?;
        let good = (3..=64).contains(&prefix.len()) && prefix.bytes().all(|byte| Alphabet::DOTTED.has(byte));
        if !good {
            self.mistake(&value.span(), RuleProblem::Prefix);
        }
        good.then_some(Mark::Prefix(prefix))
    }

    fn keywords(&mut self, value: &Value<'_>) -> Option<Mark> {
        let mut keywords = Vec::new();
        for (span, keyword) in self.list(value, "keywords") {
            if (4..=40).contains(&keyword.len()) && keyword.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                keywords.push(keyword.to_ascii_lowercase());
            } else {
                self.mistake(&span, RuleProblem::Keyword);
            }
        }
        (!keywords.is_empty()).then_some(Mark::Keywords(keywords))
    }

    fn texts(&mut self, table: &Table<'_>, field: &str) -> Vec<(Range<usize>, String)> {
        table.get(field).map(|value| self.list(value, field)).unwrap_or_default()
    }

    fn list(&mut self, value: &Value<'_>, field: &str) -> Vec<(Range<usize>, String)> {
        let Some(list) = value.get_ref().as_array() else {
            self.mistyped(value, field, "a list of texts");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for value in list {
            texts.extend(self.text(value, field).map(|text| (value.span(), text)));
        }
        texts
    }

    fn text(&mut self, value: &Value<'_>, field: &str) -> Option<String> {
        let text = value.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.mistyped(value, field, "a text");
        }
        text
    }

    fn required<'v, 't>(
        &mut self,
        whole: &Value<'_>,
        table: &'v Table<'t>,
        field: &'static str,
    ) -> Option<&'v Value<'t>> {
        let value = table.get(field);
        if value.is_none() {
            self.mistake(&whole.span(), RuleProblem::Missing { field });
        }
        value
    }

    fn known(&mut self, table: &Table<'_>, fields: &[&str]) {
        for (name, _) in table {
            if !fields.contains(&name.get_ref().as_ref()) {
                let known = fields.join(", ");
                self.mistake(&name.span(), RuleProblem::Unknown { name: name.get_ref().to_string(), known });
            }
        }
    }

    fn mistyped(&mut self, value: &Value<'_>, field: &str, expected: &'static str) {
        self.mistake(&value.span(), RuleProblem::Type { field: field.to_owned(), expected });
    }

    fn mistake(&mut self, span: &Range<usize>, problem: RuleProblem) {
        let line = 1 + self.text[..span.start.min(self.text.len())].matches('\n').count();
        self.mistakes.push(RuleMistake { line, problem });
    }
}
