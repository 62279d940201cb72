//! Finds secrets in what agents read and write.
//!
//! Nothing here does I/O or reads a clock: the same bytes and rules give the same findings.

mod alphabet;
mod checksum;
mod escape;
mod families;
mod family;
mod fingerprint;
mod found;
mod mask;
mod placeholder;
mod rule_id;
mod scanner;
mod stream;
mod tokens;

pub use alphabet::Alphabet;
pub use families::{FAMILIES, families};
pub use family::{Check, Context, Family, Part, Shape};
pub use fingerprint::{Fingerprint, FingerprintError, FingerprintKey};
pub use mask::masked;
pub use placeholder::{Placeholder, PlaceholderError};
pub use rule_id::{RuleId, RuleIdError};
pub use scanner::{Scanner, SecretSpan};
pub use stream::{Piece, StreamScanner, StreamedSecret};
