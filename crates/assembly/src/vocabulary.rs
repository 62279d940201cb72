//! Closed sets of words.

/// A word of a closed set.
///
/// Implemented by every enum that `vocabulary!` makes, called by readers of documents.
pub(crate) trait Word: Copy + 'static {
    /// Every word of the set.
    const ALL: &'static [Self];

    /// Returns the word.
    fn word(self) -> &'static str;
}

/// Makes an enum of a closed set of words.
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

        impl crate::vocabulary::Word for $name {
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
            type Err = contexture_core::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word).ok_or_else(|| {
                    contexture_core::UnknownWord::new(word, Self::ALL.iter().map(|known| known.as_str()))
                })
            }
        }
    };
}
pub(crate) use vocabulary;
