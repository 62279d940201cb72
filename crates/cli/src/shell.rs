//! Words as a POSIX shell takes them.

/// Writes a word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns the words of a command line, without what a shell would put in for variables and patterns.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => word.get_or_insert_default().extend(letters.by_ref().take_while(|letter| *letter != '\'')),
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
                    word.extend(if letter == '\\' { letters.next() } else { Some(letter) });
                }
            }
            '\\' => word.get_or_insert_default().extend(letters.next()),
            letter if letter.is_whitespace() => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_quoted_is_one_word_again() {
        for word in ["plain", "two words", "it's", "", r"back\slash", "\"said\"", "$HOME/ctx"] {
            assert_eq!(words(&format!("a {} b", quoted(word))), ["a", word, "b"]);
        }
    }

    #[test]
    fn quotes_may_stand_in_the_middle_of_a_word_or_stay_open() {
        assert_eq!(words(r#"  /opt/"my tools"/ctx\ 2 "a\"b"  "#), ["/opt/my tools/ctx 2", "a\"b"]);
        assert_eq!(words("ctx 'hook"), ["ctx", "hook"]);
    }
}
