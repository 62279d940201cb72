//! Finds secrets in what agents read and write.
//!
//! Nothing here does I/O or reads a clock: the same bytes and rules give the same findings.

mod alphabet;
mod anchors;
mod assignment;
mod checksum;
mod escape;
mod escaped_code;
mod families;
mod family;
mod found;
mod likely;
mod mask;
mod pem;
mod scanner;
mod special;
mod stream;
mod tokens;
mod url;
mod user_rules;
mod users;
mod value;

pub use alphabet::Alphabet;
pub use contexture_core::{
    Fingerprint, FingerprintError, FingerprintKey, Placeholder, PlaceholderError, RuleId, RuleIdError,
};
pub use families::{FAMILIES, families};
pub use family::{Context, Family, Part, Shape, ShapeCheck};
pub use mask::masked;
pub use scanner::{Scanner, SecretSpan};
pub use stream::{Piece, StreamScanner, StreamedSecret};
pub use user_rules::{AllowList, Mark, RuleMistake, RuleMistakes, RuleProblem, UserRule, UserRules};
