//! What tools are given, for targets that take named values only.

use contexture_core::ToolInput;
use serde_json::{Map, Value};

use crate::dialogue::{LossKind, Losses};

/// Returns the input of a call as an object; what is none becomes the only value of one.
pub(super) fn object(input: &ToolInput, losses: &mut Losses) -> Map<String, Value> {
    let value = match input {
        ToolInput::Json(Value::Object(object)) => return object.clone(),
        ToolInput::Json(value) => value.clone(),
        ToolInput::Text(text) => Value::String(text.clone()),
    };
    losses.add(LossKind::InputWrapped);
    Map::from_iter([("input".to_owned(), value)])
}
