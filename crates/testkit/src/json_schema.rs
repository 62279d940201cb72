//! A check of documents against JSON schemas, as far as schemas go that are made from types.

use serde_json::{Map, Value};

/// Keywords that say nothing about a document, or more than is checked here.
const UNCHECKED: &[&str] =
    &["$schema", "$defs", "title", "description", "default", "format", "pattern", "maxLength", "minLength", "maximum"];

/// Returns where and why a document does not keep to a schema.
///
/// A keyword that is not known here is a violation too, so nothing passes unseen.
pub fn schema_violation(schema: &Value, document: &Value) -> Option<String> {
    Check { whole: schema }.part(schema, document, "$").err()
}

struct Check<'s> {
    whole: &'s Value,
}

impl Check<'_> {
    fn part(&self, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
        let rules = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Object(rules) => rules,
            _ => return Err(format!("{path}: nothing is allowed here")),
        };
        rules.iter().try_for_each(|(keyword, rule)| self.keyword(keyword, rule, rules, (value, path)))
    }

    fn keyword(
        &self,
        keyword: &str,
        rule: &Value,
        rules: &Map<String, Value>,
        (value, path): (&Value, &str),
    ) -> Result<(), String> {
        let hold =
            |is_kept: bool| if is_kept { Ok(()) } else { Err(format!("{path}: {value} breaks {keyword} {rule}")) };
        match keyword {
            "$ref" => {
                let pointer = rule.as_str().and_then(|reference| reference.strip_prefix('#'));
                let target = pointer.and_then(|pointer| self.whole.pointer(pointer));
                self.part(target.ok_or_else(|| format!("{path}: {rule} leads nowhere"))?, value, path)
            }
            "type" => match rule {
                Value::Array(types) => hold(types.iter().any(|name| is_of(value, name))),
                name => hold(is_of(value, name)),
            },
            "const" => hold(value == rule),
            "enum" => hold(list(rule).contains(value)),
            "minimum" => hold(value.as_f64() >= rule.as_f64()),
            "required" => match value {
                Value::Object(fields) => {
                    hold(list(rule).iter().all(|name| name.as_str().is_some_and(|name| fields.contains_key(name))))
                }
                _ => Ok(()),
            },
            "properties" => fields(value).try_for_each(|(name, field)| match rule.get(name) {
                Some(schema) => self.part(schema, field, &format!("{path}.{name}")),
                None => Ok(()),
            }),
            // Which name a pattern means is not looked at: a field must keep to one of them.
            "patternProperties" => unnamed(value, rules).try_for_each(|(name, field)| {
                let is_kept = fields(rule).any(|(_, schema)| self.part(schema, field, path).is_ok());
                if is_kept { Ok(()) } else { Err(format!("{path}.{name}: {field} breaks {keyword} {rule}")) }
            }),
            "additionalProperties" if rules.contains_key("patternProperties") => Ok(()),
            "additionalProperties" => {
                unnamed(value, rules).try_for_each(|(name, field)| self.part(rule, field, &format!("{path}.{name}")))
            }
            "propertyNames" => {
                fields(value).try_for_each(|(name, _)| self.part(rule, &Value::String(name.clone()), path))
            }
            "items" => list(value)
                .iter()
                .enumerate()
                .try_for_each(|(at, item)| self.part(rule, item, &format!("{path}[{at}]"))),
            "maxItems" => hold(rule.as_u64().is_none_or(|most| list(value).len() as u64 <= most)),
            "uniqueItems" => {
                let items = list(value);
                hold(items.iter().enumerate().all(|(at, item)| !items[..at].contains(item)))
            }
            "allOf" => list(rule).iter().try_for_each(|schema| self.part(schema, value, path)),
            "anyOf" => hold(self.kept(rule, value, path) > 0),
            "oneOf" => hold(self.kept(rule, value, path) == 1),
            other if UNCHECKED.contains(&other) => Ok(()),
            other => Err(format!("{path}: the keyword {other} is not known here")),
        }
    }

    /// Counts the schemas of a list that a value keeps to.
    fn kept(&self, schemas: &Value, value: &Value, path: &str) -> usize {
        list(schemas).iter().filter(|schema| self.part(schema, value, path).is_ok()).count()
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// Returns the fields that no property of a schema names.
fn unnamed<'v>(value: &'v Value, rules: &Map<String, Value>) -> impl Iterator<Item = (&'v String, &'v Value)> {
    let named = |name: &str| rules.get("properties").is_some_and(|known| known.get(name).is_some());
    fields(value).filter(move |(name, _)| !named(name))
}

fn is_of(value: &Value, name: &Value) -> bool {
    match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_breaks_a_schema_is_named_by_its_place() {
        let schema = json!({
            "type": "object",
            "required": ["id"],
            "properties": {"id": {"$ref": "#/$defs/Id"}, "sizes": {"type": "array", "items": {"type": "integer"}}},
            "$defs": {"Id": {"type": ["string", "null"]}},
        });
        assert_eq!(schema_violation(&schema, &json!({"id": null, "sizes": [1], "more": true})), None);
        let broken = |document| schema_violation(&schema, &document).unwrap();
        assert_eq!(broken(json!({})), "$: {} breaks required [\"id\"]");
        assert_eq!(broken(json!({"id": 1})), "$.id: 1 breaks type [\"string\",\"null\"]");
        assert_eq!(broken(json!({"id": "a", "sizes": [1, "b"]})), "$.sizes[1]: \"b\" breaks type \"integer\"");
    }

    #[test]
    fn a_keyword_that_is_not_known_lets_nothing_pass() {
        assert!(schema_violation(&json!({"not": {}}), &json!(1)).unwrap().contains("not is not known"));
    }
}
