//! The sections that an agent of Zeroshot is given beside its messages: who it is, its rules, and how it is to answer.

use serde_json::{Map, Value, json};

/// What the rules of every agent say.
const RULES: &str = "\
## 🔴 CRITICAL: AUTONOMOUS EXECUTION REQUIRED

Nobody answers questions here. Never ask the user and never wait for a confirmation: decide yourself.
- When you are unsure whether to fix the code or to relax a rule, fix the code.
- When you are unsure how much to do, do what is required and nothing more.

## 🔴 OUTPUT STYLE - NON-NEGOTIABLE

As much information as possible in as few words as possible. This holds for the strings in JSON too.
Never shorten errors: give messages, paths, commands and exit codes in full.

## 🚫 GIT OPERATIONS - FORBIDDEN

Do not commit, push, stash, reset, rebase or check out anything: others work on the same files.

";

/// Says who an agent is and what its rules are. The number of its turn is not in it, so that it stays the same.
pub(super) fn header(id: &str, role: &str) -> String {
    format!("You are agent \"{id}\" with role \"{role}\".\n\n{RULES}")
}

/// Says what an agent is to do.
pub(super) fn instructions(prompt: &str) -> String {
    format!("## Instructions\n\n{prompt}\n\n")
}

/// Says how an answer looks: an example, and rules.
pub(super) fn output_format(example: Option<&Value>, rules: &[String]) -> String {
    let mut text = "## Output Schema (REQUIRED)\n\n".to_owned();
    if let Some(example) = example {
        text.push_str(&fenced(example));
        text.push('\n');
    }
    text.push_str("Dense. Factual.\n");
    for rule in rules {
        text.extend(["- ", rule, "\n"]);
    }
    text.push('\n');
    text
}

/// Says that an answer is JSON of a schema.
pub(super) fn json_schema(schema: &Value) -> String {
    format!(
        "## 🔴 OUTPUT FORMAT - JSON ONLY\n\n\
         The answer is one JSON object of this schema and nothing else.\n\n\
         Required schema:\n{}\n\
         Example output:\n{}\n\
         CRITICAL RULES:\n\
         - No words before or after the object, and no fence around it.\n\
         - Every required field is there.\n\
         - Strings say what they must and no more.\n\n",
        fenced(schema),
        fenced(&example(schema, "value")),
    )
}

fn fenced(value: &Value) -> String {
    let json = serde_json::to_string_pretty(value).expect("a value has text keys");
    format!("```json\n{json}\n```\n")
}

/// Makes a value of a schema.
fn example(schema: &Value, key: &str) -> Value {
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|values| values.first()) {
        return first.clone();
    }
    let kind = schema.get("type").and_then(Value::as_str);
    match kind {
        Some("boolean") => json!(true),
        Some("number" | "integer") => json!(0),
        Some("array") => json!([]),
        Some("string") => {
            let description = schema.get("description").and_then(Value::as_str);
            description.map_or_else(|| json!(format!("{key} value")), |text| json!(text))
        }
        _ => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let fields = properties.into_iter().flatten().map(|(name, schema)| (name.clone(), example(schema, name)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
    }
}
