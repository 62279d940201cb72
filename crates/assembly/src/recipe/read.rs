//! Recipes as people write them, in TOML or JSON, with every mistake named by its place.

use std::{collections::BTreeMap, error::Error, fmt, str};

use contexture_core::RecipeName;
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Number, Value};

use super::{
    BudgetLimits, BudgetSpec, OVERFLOW_STRATEGIES, Recipe, Rendering, RequiredOverflow, Rule, SegmentSpec, SourceSpec,
    Stability, TargetSpec, rules, source, strategy,
};
use crate::{
    counter,
    mistake::{ActualValue, Mistake, MistakeKind},
    reader::{Fields, Reader, amount, filled, line, positive, text, word},
    standard::{Audience, ContextScope, OverflowStrategy},
};

/// How a recipe is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// TOML.
    Toml,
    /// JSON, be it a recipe or a `contextStrategy`.
    Json,
}

/// Says why a text is no recipe.
#[derive(Debug, thiserror::Error)]
pub enum RecipeRefusal {
    /// It is not text.
    #[error("it is not UTF-8")]
    Utf8(#[source] str::Utf8Error),
    /// It is not TOML.
    #[error("it is not TOML")]
    Toml(#[source] NotToml),
    /// It is not JSON.
    #[error("it is not JSON")]
    Json(#[source] serde_json::Error),
    /// Parts of it are not what they should be.
    #[error("it has {} mistake{}", mistakes.len(), if mistakes.len() == 1 { "" } else { "s" })]
    Mistakes {
        /// Which: first what cannot be read, then what breaks a rule between the parts.
        mistakes: Vec<Mistake>,
    },
}

/// Says where a text stops being TOML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotToml {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

impl Error for NotToml {}

impl fmt::Display for NotToml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, message } = self;
        write!(f, "{message} at line {line} column {column}")
    }
}

impl Syntax {
    /// Returns what a text is probably written in where no name tells it.
    pub fn of_text(text: &[u8]) -> Self {
        // No TOML starts with a brace.
        match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{') => Self::Json,
            Some(_) | None => Self::Toml,
        }
    }
}

impl Recipe {
    /// Reads a recipe. Where it has no name it is called what the caller says, such as the name of its file, or
    /// `recipe` if that cannot be a name.
    pub fn parse(syntax: Syntax, text: &[u8], name: &str) -> Result<Self, RecipeRefusal> {
        let name = if RecipeName::new(name).is_ok() { name } else { "recipe" };
        let text = str::from_utf8(text).map_err(RecipeRefusal::Utf8)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = Reader::default();
        let recipe = match syntax {
            Syntax::Toml => {
                let document = toml::from_str(text).map_err(|error| RecipeRefusal::Toml(NotToml::new(text, &error)))?;
                let document = table(&mut reader, "", document);
                checked(&mut reader, document, name)
            }
            Syntax::Json => {
                let document = serde_json::from_str(text).map_err(RecipeRefusal::Json)?;
                if strategy::is_one(&document) {
                    strategy::recipe(&mut reader, document, name)
                } else {
                    checked(&mut reader, document, name)
                }
            }
        };
        reader.finish(recipe).map_err(|mistakes| RecipeRefusal::Mistakes { mistakes })
    }
}

fn recipe(reader: &mut Reader, document: Value, name: &str) -> Option<Recipe> {
    let mut fields = reader.document(document)?;
    let name = reader.optional(&mut fields, "name", self::name).unwrap_or_else(|| name.to_owned());
    let description = reader.optional(&mut fields, "description", text).unwrap_or_default();
    let scope = reader.optional(&mut fields, "scope", word).unwrap_or(ContextScope::Turn);
    let counter = reader.optional(&mut fields, "counter", counter_name);
    let targets = targets(reader, &mut fields);
    let model = reader.optional(&mut fields, "model", line);
    let max_output = reader.optional(&mut fields, "max_output", positive);
    let overflow = reader.optional(&mut fields, "overflow", overflow).unwrap_or(OverflowStrategy::SummarizeOldest);
    let budget = match fields.take("budget") {
        Some(value) => budget(reader, value, overflow),
        None => BudgetSpec::without_limits(overflow),
    };
    let segments = segments(reader, &mut fields);
    reader.nothing_else(&fields);
    Some(Recipe {
        name,
        description,
        scope,
        model,
        max_output,
        counter: counter.map(str::to_owned),
        targets,
        budget,
        segments,
    })
}

/// Reads a recipe that must keep to the rules.
fn checked(reader: &mut Reader, document: Value, name: &str) -> Option<Recipe> {
    let recipe = recipe(reader, document, name)?;
    rules::check(reader, &recipe);
    Some(recipe)
}

/// A recipe that was used comes back as it was, with limits that somebody may have changed since it was checked.
impl<'de> Deserialize<'de> for Recipe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = Value::deserialize(deserializer)?;
        let mut reader = Reader::default();
        let recipe = recipe(&mut reader, document, "");
        let refused = |mistakes: Vec<_>| de::Error::custom(RecipeRefusal::Mistakes { mistakes });
        reader.finish(recipe).map_err(refused)
    }
}

/// Reads one target or several.
fn targets(reader: &mut Reader, fields: &mut Fields) -> Vec<TargetSpec> {
    let one_or_several = |value| match value {
        Value::String(_) => Ok(vec![value]),
        Value::Array(_) => filled(value),
        other => Err(MistakeKind::mistyped("a text or a list", other)),
    };
    let targets = reader.list(fields, "target", one_or_several, |value| Ok(text(value)?.parse::<TargetSpec>()?));
    targets.unwrap_or_else(|| vec![TargetSpec { audience: Audience::Model, rendering: Rendering::Prompt }])
}

fn budget(reader: &mut Reader, value: Value, overflow: OverflowStrategy) -> BudgetSpec {
    let Some(mut fields) = reader.object("budget", value) else {
        return BudgetSpec::without_limits(overflow);
    };
    let required = reader.optional(&mut fields, "required", word).unwrap_or(RequiredOverflow::Reject);
    let max_search_ms = reader.optional(&mut fields, "max_search_ms", amount);
    let limits = limits(reader, &mut fields);
    let mut targets = BTreeMap::new();
    if let Some(value) = fields.take("targets")
        && let Some(mut own) = reader.object("budget.targets", value)
    {
        for &target in Audience::ALL {
            let path = own.path(target.as_str());
            if let Some(value) = own.take(target.as_str())
                && let Some(mut fields) = reader.object(&path, value)
            {
                let limits = self::limits(reader, &mut fields);
                reader.nothing_else(&fields);
                targets.insert(target, limits);
            }
        }
        reader.nothing_else(&own);
    }
    reader.nothing_else(&fields);
    BudgetSpec { limits, targets, overflow, required, max_search_ms }
}

fn limits(reader: &mut Reader, fields: &mut Fields) -> BudgetLimits {
    BudgetLimits {
        max_tokens: reader.optional(fields, "max_tokens", amount),
        reserved_tokens: reader.optional(fields, "reserved_tokens", amount),
        max_bytes: reader.optional(fields, "max_bytes", amount),
        max_items: reader.optional(fields, "max_items", amount),
        max_chars: reader.optional(fields, "max_chars", amount),
    }
}

fn segments(reader: &mut Reader, fields: &mut Fields) -> Vec<SegmentSpec> {
    let values = reader.required(fields, "segments", filled).unwrap_or_default();
    let mut segments: Vec<SegmentSpec> = Vec::new();
    for (index, value) in values.into_iter().enumerate() {
        let before = segments.last().map_or(Stability::Stable, |segment| segment.stability);
        segments.push(segment(reader, index, value, before));
    }
    segments
}

/// Reads a segment. What cannot be read in it is replaced by what breaks no rule, to look for other mistakes.
fn segment(reader: &mut Reader, index: usize, value: Value, before: Stability) -> SegmentSpec {
    let (path, mistakes_before) = (format!("segments[{index}]"), reader.count());
    let Some(mut fields) = reader.object(&path, value) else {
        let sources = vec![SourceSpec::stand_in()];
        return SegmentSpec { name: path, stability: before, reserve: 0, max_tokens: None, overflow: None, sources };
    };
    let name = reader.required(&mut fields, "name", line).unwrap_or_else(|| path.clone());
    let stability = reader.optional(&mut fields, "stability", word);
    let reserve = reader.optional(&mut fields, "reserve", amount).unwrap_or(0);
    let max_tokens = reader.optional(&mut fields, "max_tokens", amount);
    let overflow = reader.optional(&mut fields, "overflow", overflow);
    let values = reader.required(&mut fields, "sources", filled).unwrap_or_default();
    reader.nothing_else(&fields);
    let sources: Vec<_> = values
        .into_iter()
        .enumerate()
        .map(|(place, value)| SourceSpec::read(reader, &format!("{path}.sources[{place}]"), value))
        .collect();
    let usual = || {
        let stability = source::default_stability(sources.iter().flatten());
        // Nothing is known for sure of a segment with mistakes, so its place is taken to be right.
        if reader.count() > mistakes_before { stability.max(before) } else { stability }
    };
    let stability = stability.unwrap_or_else(usual);
    let sources = sources.into_iter().map(|source| source.unwrap_or_else(SourceSpec::stand_in)).collect();
    SegmentSpec { name, stability, reserve, max_tokens, overflow, sources }
}

/// Reads what a recipe is called.
pub(super) fn name(value: Value) -> Result<String, MistakeKind> {
    Ok(RecipeName::new(text(value)?)?.as_str().to_owned())
}

fn counter_name(value: Value) -> Result<&'static str, MistakeKind> {
    Ok(counter::counter(&text(value)?)?.name())
}

fn overflow(value: Value) -> Result<OverflowStrategy, MistakeKind> {
    let text = text(value)?;
    match text.parse() {
        Ok(strategy) if OVERFLOW_STRATEGIES.contains(&strategy) => Ok(strategy),
        Ok(strategy) => Err(Rule::Overflow { strategy }.into()),
        Err(_) => Err(MistakeKind::word_of(text, OVERFLOW_STRATEGIES.map(OverflowStrategy::as_str).to_vec())),
    }
}

impl NotToml {
    fn new(text: &str, error: &toml::de::Error) -> Self {
        let at = error.span().map_or(0, |span| text.floor_char_boundary(span.start));
        let before = &text[..at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: error.message().trim_end().replace('\n', "; "),
        }
    }
}

/// Takes a table of TOML for an object.
fn table(reader: &mut Reader, path: &str, table: toml::Table) -> Value {
    let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
    let fields = table.into_iter().map(|(name, value)| {
        let value = json(reader, &format!("{prefix}{name}"), value);
        (name, value)
    });
    Value::Object(fields.collect::<Map<_, _>>())
}

/// Takes a value of TOML for one of JSON. Times become texts.
fn json(reader: &mut Reader, path: &str, value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Number::from_f64(number).map_or_else(
            || {
                let found = ActualValue::Number(number.to_string());
                reader.add(path, MistakeKind::Type { expected: "a number", found });
                Value::Null
            },
            Value::Number,
        ),
        toml::Value::Boolean(value) => Value::Bool(value),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(values) => {
            let values = values.into_iter().enumerate();
            Value::Array(values.map(|(index, value)| json(reader, &format!("{path}[{index}]"), value)).collect())
        }
        toml::Value::Table(fields) => table(reader, path, fields),
    }
}
