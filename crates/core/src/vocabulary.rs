//! Closed sets of words.

/// A word of a closed set.
///
/// Implemented by every enum that [`vocabulary!`](crate::vocabulary!) makes, called by readers of documents.
pub trait Word: Copy + 'static {
    /// Every word of the set.
    const ALL: &'static [Self];

    /// Returns the word.
    fn word(self) -> &'static str;
}

/// Says that a word is not in a closed vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is not one of {known}")]
pub struct UnknownWord {
    word: String,
    known: String,
}

impl UnknownWord {
    /// Names the word and the vocabulary it is not in.
    pub fn new<'w>(word: &str, known: impl Iterator<Item = &'w str>) -> Self {
        Self { word: word.to_owned(), known: known.collect::<Vec<_>>().join(", ") }
    }
}

/// Makes an enum of a closed set of words.
///
/// The crate that calls it depends on `serde` and `schemars`.
#[macro_export]
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant),+
        }

        impl $name {
            /// Every word of the vocabulary.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the word.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl $crate::Word for $name {
            const ALL: &'static [Self] = Self::ALL;

            fn word(self) -> &'static str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word).ok_or_else(|| {
                    $crate::UnknownWord::new(word, Self::ALL.iter().map(|known| known.as_str()))
                })
            }
        }
    };
}
