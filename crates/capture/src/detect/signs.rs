//! What a format is recognised by.

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// A format, and the signs by which a file of it is told from others. A sign that is left out says nothing.
#[derive(Clone, Copy)]
pub(crate) struct FormatSigns {
    /// Its name.
    pub(crate) format: &'static str,
    /// Tells whether a document is one of these.
    pub(crate) is_document: Option<fn(document: &DocumentFields<'_>) -> bool>,
    /// Tells whether a record is a head or a wrapper such as only this format has, whatever it holds.
    pub(crate) is_head: Option<fn(record: &Value) -> bool>,
    /// Tells whether a record that is no head of any format is one of these.
    pub(crate) is_record: Option<fn(record: &Value) -> bool>,
    /// Tells whether an element of an array of messages can only be one of these.
    pub(crate) is_element: Option<fn(element: &Value) -> bool>,
    /// The format whose head its files begin with too; a later record tells.
    pub(crate) begins_like: Option<&'static str>,
    /// Tells whether an array in CBOR is one of these by its beginning.
    pub(crate) is_cbor: Option<fn(start: &[u8]) -> bool>,
    /// Tells whether a text is one of these by its beginning.
    pub(crate) is_text: Option<fn(start: &[u8]) -> bool>,
}

/// The fields of a document that tell what it is.
#[derive(Deserialize)]
pub(crate) struct DocumentFields<'d> {
    #[serde(borrow)]
    pub(crate) info: Option<&'d RawValue>,
    #[serde(borrow)]
    pub(crate) messages: Option<&'d RawValue>,
    #[serde(borrow)]
    pub(crate) input: Option<&'d RawValue>,
    #[serde(borrow)]
    pub(crate) steps: Option<&'d RawValue>,
    #[serde(borrow)]
    pub(crate) schema_version: Option<&'d RawValue>,
    #[serde(borrow, rename = "sessionId")]
    pub(crate) session_id: Option<&'d RawValue>,
    #[serde(borrow, rename = "startTime")]
    pub(crate) start_time: Option<&'d RawValue>,
    #[serde(borrow)]
    pub(crate) session: Option<&'d RawValue>,
    #[serde(borrow)]
    pub(crate) cursor: Option<&'d RawValue>,
    #[serde(borrow)]
    pub(crate) trajectory: Option<&'d RawValue>,
    #[serde(borrow)]
    pub(crate) history: Option<&'d RawValue>,
    #[serde(borrow)]
    pub(crate) mapping: Option<&'d RawValue>,
    #[serde(borrow)]
    pub(crate) conversation_id: Option<&'d RawValue>,
}

impl FormatSigns {
    /// Names a format that has no sign yet.
    pub(crate) const fn of(format: &'static str) -> Self {
        Self {
            format,
            is_document: None,
            is_head: None,
            is_record: None,
            is_element: None,
            begins_like: None,
            is_cbor: None,
            is_text: None,
        }
    }
}

/// Tells whether a field of a document holds a list.
pub(crate) fn is_list(field: Option<&RawValue>) -> bool {
    field.is_some_and(|value| value.get().starts_with('['))
}

/// Tells whether a field of a document holds an object.
pub(crate) fn is_object(field: Option<&RawValue>) -> bool {
    field.is_some_and(|value| value.get().starts_with('{'))
}

/// Tells whether a record has fields that are all texts.
pub(crate) fn has_texts<const N: usize>(record: &Value, names: [&str; N]) -> bool {
    names.iter().all(|name| record[name].is_string())
}
