//! Secrets on the way into a context: what is given is masked before it becomes an item, and items say so.

use contexture_assembly::{
    Redaction,
    recipe::{Recipe, SourceInput},
    standard::RedactionState,
};
use contexture_core::Placeholder;
use serde_json::Value;

use super::{Assemble, GivenItem, TriggerMessage};
use crate::SecretGuard;

/// How secrets are hidden, as items say it.
const METHOD: &str = "placeholder";
/// Who decides that.
const POLICY: &str = "contexture:secrets";

/// Returns a request without the secrets in what it gives.
pub(super) fn request(guard: &SecretGuard, request: &Assemble) -> Assemble {
    let mut masked = request.clone();
    recipe(guard, &mut masked.recipe);
    if let Some(TriggerMessage { text, data }) = &mut masked.trigger {
        mask(guard, text);
        data.iter_mut().for_each(|data| json(guard, data));
    }
    for GivenItem { title, content, compact, uri, .. } in &mut masked.items {
        content.iter_mut().for_each(|content| json(guard, content));
        [title, compact, uri].into_iter().flatten().for_each(|text| mask(guard, text));
    }
    masked.correlation.values_mut().for_each(|text| mask(guard, text));
    masked
}

fn recipe(guard: &SecretGuard, recipe: &mut Recipe) {
    for source in recipe.segments.iter_mut().flat_map(|segment| &mut segment.sources) {
        match &mut source.input {
            SourceInput::System { text: Some(text), .. } => mask(guard, text),
            SourceInput::Text { text, compact } => {
                mask(guard, text);
                compact.iter_mut().for_each(|compact| mask(guard, compact));
            }
            _ => {}
        }
    }
}

fn json(guard: &SecretGuard, value: &mut Value) {
    match value {
        Value::String(text) => mask(guard, text),
        Value::Array(values) => values.iter_mut().for_each(|value| json(guard, value)),
        Value::Object(fields) => fields.values_mut().for_each(|value| json(guard, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn mask(guard: &SecretGuard, text: &mut String) {
    if let std::borrow::Cow::Owned(masked) = guard.mask(text) {
        *text = masked;
    }
}

/// Says of content that placeholders stand in it.
pub(super) fn redaction(content: &[u8]) -> Option<Redaction> {
    Placeholder::is_in(content).then(by_placeholders)
}

/// Says what placeholders do.
pub(crate) fn by_placeholders() -> Redaction {
    Redaction { state: RedactionState::Masked, method: Some(METHOD.to_owned()), policies: vec![POLICY.to_owned()] }
}
