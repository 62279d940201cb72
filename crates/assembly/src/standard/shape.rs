//! What may stand in the fields of records, taken from their types, so that a checker and the types cannot disagree.

use std::collections::BTreeMap;

use contexture_core::{Timestamp, UnknownWord};
use serde_json::{Map, Number, Value};

use super::{OmittedRef, RecordReference, Selector, SelectorShape};

/// What may stand in a place.
#[derive(Debug)]
pub(crate) enum Shape {
    /// Anything.
    Anything,
    /// A text.
    Text,
    /// A text with at least one character.
    Id,
    /// A whole number, 0 or more.
    Natural,
    /// A number.
    Number,
    /// A time.
    Time,
    /// An object that the standard leaves open.
    Object,
    /// A text or an object, which points to something.
    Reference,
    /// A word of a vocabulary.
    Word(&'static Vocabulary),
    /// A list.
    List(&'static Shape),
    /// An object whose names are data.
    Map {
        /// The words that the names are, where they are words.
        names: Option<&'static Vocabulary>,
        /// What stands under the names.
        values: &'static Shape,
    },
    /// An object with fields.
    Fields(&'static [Field]),
    /// One of several, which are of different JSON types.
    Either(&'static [Shape]),
}

/// A field of an object.
#[derive(Debug)]
pub(crate) struct Field {
    /// Its name, perhaps with the mark of a Rust keyword.
    pub(crate) rust_name: &'static str,
    /// Whether our types demand it.
    pub(crate) is_required: bool,
    /// What may stand in it.
    pub(crate) shape: &'static Shape,
}

/// The words that may stand in a place.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    /// Finds a word in it.
    pub(crate) find: fn(&str) -> Result<(), UnknownWord>,
    /// Whether the standard itself allows no other words.
    pub(crate) is_closed: bool,
}

/// A type that fields of records have. Implemented for all of them beside their definitions or here, and used to make
/// the shapes of records; an implementation must accept whatever the type reads.
pub(crate) trait Shaped {
    /// What is accepted.
    const SHAPE: Shape;
}

impl Field {
    /// Returns the name as records have it.
    pub(crate) fn name(&self) -> &'static str {
        self.rust_name.trim_start_matches("r#")
    }
}

impl Shape {
    /// Tells whether a value is of the JSON type that this shape has, whatever is in it.
    pub(crate) fn admits(&self, value: &Value) -> bool {
        match self {
            Self::Anything => true,
            Self::Text | Self::Id | Self::Time | Self::Word(_) => value.is_string(),
            Self::Natural | Self::Number => value.is_number(),
            Self::Object | Self::Map { .. } | Self::Fields(_) => value.is_object(),
            Self::Reference => value.is_string() || value.is_object(),
            Self::List(_) => value.is_array(),
            Self::Either(shapes) => shapes.iter().any(|shape| shape.admits(value)),
        }
    }

    /// Says what belongs there.
    pub(crate) const fn expected(&self) -> &'static str {
        match self {
            Self::Anything => "anything",
            Self::Text | Self::Id | Self::Word(_) => "a text",
            Self::Natural => "a whole number, 0 or more",
            Self::Number => "a number",
            Self::Time => "a time",
            Self::Object | Self::Map { .. } | Self::Fields(_) => "an object",
            Self::Reference => "a text or an object",
            Self::List(_) => "a list",
            Self::Either(_) => "a text, an object or a list",
        }
    }
}

macro_rules! shaped {
    ($($type:ty: $shape:expr;)+) => {$(
        impl Shaped for $type {
            const SHAPE: Shape = $shape;
        }
    )+};
}

shaped! {
    String: Shape::Text;
    u64: Shape::Natural;
    Number: Shape::Number;
    Timestamp: Shape::Time;
    Value: Shape::Anything;
    Map<String, Value>: Shape::Object;
    RecordReference: Shape::Reference;
    OmittedRef: Shape::Either(&[Shape::Text, super::Omitted::SHAPE]);
    Selector: Shape::Either(&[Shape::Text, SelectorShape::SHAPE, Shape::List(&SelectorShape::SHAPE)]);
}

impl<T: Shaped> Shaped for Vec<T> {
    const SHAPE: Shape = Shape::List(&T::SHAPE);
}

impl<T: Shaped> Shaped for BTreeMap<String, T> {
    const SHAPE: Shape = Shape::Map { names: None, values: &T::SHAPE };
}

impl<T: Shaped> Shaped for BTreeMap<super::RankingSignal, T> {
    const SHAPE: Shape = Shape::Map { names: Some(super::RankingSignal::VOCABULARY), values: &T::SHAPE };
}

/// Makes shapes of vocabularies.
macro_rules! words {
    ($($name:ident: $is_closed:literal;)+) => {$(
        impl super::$name {
            pub(crate) const VOCABULARY: &'static Vocabulary =
                &Vocabulary { find: |word| word.parse::<Self>().map(|_| ()), is_closed: $is_closed };
        }

        impl Shaped for super::$name {
            const SHAPE: Shape = Shape::Word(Self::VOCABULARY);
        }
    )+};
}

words! {
    ContextScope: true;
    Lifecycle: false;
    ContextKind: false;
    ContentMode: false;
    Audience: false;
    SurfaceKind: false;
    SelectorKind: false;
    RankingSignal: false;
    OmissionReason: false;
    OverflowStrategy: false;
    InjectionPoint: false;
    CompactionMethod: false;
    CompactionTrigger: false;
    Severity: false;
    MissingStatus: false;
    RedactionState: false;
    EventType: false;
    ExportVersion: true;
}
