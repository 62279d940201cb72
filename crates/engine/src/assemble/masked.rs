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
        if let Some(data) = data {
            json(guard, data);
        }
    }
    for GivenItem { title, content, compact, uri, .. } in &mut masked.items {
        if let Some(content) = content {
            json(guard, content);
        }
        for text in [title, compact, uri].into_iter().flatten() {
            mask(guard, text);
        }
    }
    for text in masked.correlation.values_mut() {
        mask(guard, text);
    }
    masked
}

fn recipe(guard: &SecretGuard, recipe: &mut Recipe) {
    for source in recipe.segments.iter_mut().flat_map(|segment| &mut segment.sources) {
        match &mut source.input {
            SourceInput::System { text: Some(text), .. } => mask(guard, text),
            SourceInput::Text { text, compact, .. } => {
                mask(guard, text);
                if let Some(compact) = compact {
                    mask(guard, compact);
                }
            }
            _ => {}
        }
    }
}

fn json(guard: &SecretGuard, value: &mut Value) {
    match value {
        Value::String(text) => mask(guard, text),
        Value::Array(values) => {
            for value in values {
                json(guard, value);
            }
        }
        Value::Object(fields) => {
            for value in fields.values_mut() {
                json(guard, value);
            }
        }
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
