//! What is looked for among the arguments of an agent's program.

use std::{borrow::Cow, ffi::OsString};

/// Returns the words up to the one after which nothing is an option.
pub(super) fn flags(arguments: &[OsString]) -> impl Iterator<Item = Cow<'_, str>> {
    arguments.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--")
}

/// Returns the values of an option in their order, given as two words or as one.
pub(super) fn values(arguments: &[OsString], names: &[&str]) -> Vec<String> {
    let mut values = Vec::new();
    let mut words = flags(arguments);
    while let Some(word) = words.next() {
        if names.contains(&&*word) {
            values.extend(words.next().map(Cow::into_owned));
        } else if let Some((name, value)) = word.split_once('=')
            && name.starts_with("--")
            && names.contains(&name)
        {
            values.push(value.to_owned());
        }
    }
    values
}

/// Tells whether an option has a value, given as two words or as one.
pub(super) fn is_set(arguments: &[OsString], names: &[&str], value: &str) -> bool {
    let flags: Vec<_> = flags(arguments).collect();
    let joined = names.first().map(|option| format!("{option}={value}"));
    flags.windows(2).any(|pair| names.contains(&&*pair[0]) && pair[1] == value)
        || flags.iter().any(|word| joined.as_deref() == Some(&**word))
}
