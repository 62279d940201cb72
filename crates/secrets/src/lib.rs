//! Finds secrets in what agents read and write.
//!
//! Nothing here does I/O or reads a clock: the same bytes and rules give the same findings.

mod alphabet;
mod checksum;
mod escape;
mod families;
mod family;
mod found;
mod mask;
mod scanner;
mod stream;
mod tokens;

pub use alphabet::Alphabet;
pub use contexture_core::{
    Fingerprint, FingerprintError, FingerprintKey, Placeholder, PlaceholderError, RuleId, RuleIdError,
};
pub use families::{FAMILIES, families};
pub use family::{Check, Context, Family, Part, Shape};
pub use mask::masked;
pub use scanner::{Scanner, SecretSpan};
pub use stream::{Piece, StreamScanner, StreamedSecret};
