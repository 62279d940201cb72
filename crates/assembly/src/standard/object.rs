//! How the records of the standard are made.

/// Makes the type of a record: fields that must be there, fields that may be, lists, and whatever else somebody wrote.
macro_rules! object {
    (
        $(#[$doc:meta])* $name:ident {
            required { $($(#[$required_doc:meta])* $required:ident: $required_type:ty),* $(,)? }
            optional { $($(#[$optional_doc:meta])* $optional:ident: $optional_type:ty),* $(,)? }
            lists { $($(#[$list_doc:meta])* $list:ident: $list_type:ty),* $(,)? }
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub struct $name {
            $($(#[$required_doc])* pub $required: $required_type,)*
            $($(#[$optional_doc])*
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $optional: Option<$optional_type>,)*
            $($(#[$list_doc])*
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub $list: Vec<$list_type>,)*
            /// What somebody adds.
            #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
            pub metadata: serde_json::Map<String, serde_json::Value>,
            /// Fields that the standard does not name.
            #[serde(flatten)]
            pub more: serde_json::Map<String, serde_json::Value>,
        }

        impl $crate::standard::shape::Shaped for $name {
            const SHAPE: $crate::standard::shape::Shape = {
                use $crate::standard::shape::{Field, Shape, Shaped};
                Shape::Fields(&[
                    $(Field {
                        rust_name: stringify!($required),
                        is_required: true,
                        shape: &<$required_type as Shaped>::SHAPE,
                    },)*
                    $(Field {
                        rust_name: stringify!($optional),
                        is_required: false,
                        shape: &<$optional_type as Shaped>::SHAPE,
                    },)*
                    $(Field {
                        rust_name: stringify!($list),
                        is_required: false,
                        shape: &Shape::List(&<$list_type as Shaped>::SHAPE),
                    },)*
                    Field { rust_name: "metadata", is_required: false, shape: &Shape::Object },
                ])
            };
        }
    };
}
pub(super) use object;
