//! Files of passwords, as PostgreSQL's own programs read them: `host:port:database:user:password`, a line each.

use super::{password::Password, url::PostgresUrl};

/// Where a server listens that is named by no host.
const SOCKET_DIRECTORIES: [&str; 3] = ["/var/run/postgresql", "/run/postgresql", "/tmp"];

/// The passwords of a file.
#[derive(Debug, Clone, Default)]
pub struct PasswordFile {
    entries: Vec<PasswordEntry>,
}

#[derive(Debug, Clone)]
struct PasswordEntry {
    /// Host, port, database and user; nothing for those that may be any.
    place: [Option<String>; 4],
    password: Password,
}

impl PasswordFile {
    /// Reads a file. Lines that are no entries are left out.
    pub fn parse(text: &str) -> Self {
        Self { entries: text.lines().filter_map(PasswordEntry::parse).collect() }
    }

    /// Returns the password for an address: that of the first line that fits. Where an address names several servers,
    /// they must have one password, because none may be shown that of another.
    pub fn password_for(&self, url: &PostgresUrl) -> Option<&Password> {
        let mut found = url.servers().map(|(host, port)| self.at(&host, port, url));
        let first = found.next()??;
        found.all(|password| password == Some(first)).then_some(first)
    }

    fn at(&self, host: &str, port: u16, url: &PostgresUrl) -> Option<&Password> {
        let host = if SOCKET_DIRECTORIES.contains(&host) { "localhost" } else { host };
        let port = port.to_string();
        let wanted = [host, &port, url.database(), url.user()];
        self.entries.iter().find(|entry| entry.fits(wanted)).map(|entry| &entry.password)
    }
}

impl PasswordEntry {
    fn parse(line: &str) -> Option<Self> {
        if line.starts_with('#') {
            return None;
        }
        let mut rest = line;
        let mut place = [const { None }; 4];
        for field in &mut place {
            let (raw, after) = split_field(rest)?;
            *field = (raw != "*").then(|| unescaped(raw));
            rest = after;
        }
        let password = split_field(rest).map_or(rest, |(raw, _)| raw);
        (!password.is_empty()).then(|| Self { place, password: Password::new(unescaped(password)) })
    }

    fn fits(&self, wanted: [&str; 4]) -> bool {
        self.place.iter().zip(wanted).all(|(field, wanted)| field.as_deref().is_none_or(|field| field == wanted))
    }
}

/// Cuts a line at the first colon that no backslash takes its meaning from.
fn split_field(line: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    for (at, letter) in line.char_indices() {
        match letter {
            ':' if !is_escaped => return Some((&line[..at], &line[at + 1..])),
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    None
}

fn unescaped(field: &str) -> String {
    let mut letters = field.chars();
    let mut text = String::with_capacity(field.len());
    while let Some(letter) = letters.next() {
        text.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, url: &str) -> Option<String> {
        let file = PasswordFile::parse(file);
        let password = file.password_for(&url.parse().unwrap());
        password.map(|password| String::from_utf8(password.as_bytes().to_vec()).unwrap())
    }

    #[test]
    fn the_first_line_that_fits_counts() {
        let file = "db:5432:work:ada:one\ndb:*:work:ada:two\n*:*:*:grace:three\n*:*:*:*:four\n";
        let of = |url| found(file, url).unwrap();
        assert_eq!(of("postgres://ada@db/work"), "one");
        assert_eq!(of("postgres://ada@db:6000/work"), "two");
        assert_eq!(of("postgres://grace@elsewhere/play"), "three");
        assert_eq!(of("postgres://ada@db"), "four");
    }

    #[test]
    fn a_backslash_takes_a_letters_meaning_away() {
        assert_eq!(found(r"db:5432:wo\:rk:a\\da:p\:w\\\*", r"postgres://a%5Cda@db/wo:rk").unwrap(), r"p:w\*");
        assert_eq!(found(r"\*:*:*:*:p", "postgres://ada@db/work"), None);
    }

    #[test]
    fn what_is_no_entry_is_left_out() {
        for file in ["", "#*:*:*:*:p", "*:*:*:p", "*:*:*:*:", "elsewhere:*:*:*:p", "*:*:*:grace:p", "*:5433:*:*:p"] {
            assert_eq!(found(file, "postgres://ada@db/work"), None, "{file}");
        }
    }

    #[test]
    fn a_usual_socket_is_localhost() {
        let file = "localhost:*:*:*:p\n/srv/pg:*:*:*:q\n";
        assert_eq!(found(file, "postgres://ada@%2Frun%2Fpostgresql/work").unwrap(), "p");
        assert_eq!(found(file, "postgres://ada@%2Fsrv%2Fpg/work").unwrap(), "q");
    }

    #[test]
    fn no_server_is_shown_the_password_of_another() {
        let file = "one:*:*:*:p\ntwo:*:*:*:q\n";
        assert_eq!(found(file, "postgres://ada@one,two/work"), None);
        assert_eq!(found(file, "postgres://ada@one,three/work"), None);
        assert_eq!(found("*:*:*:*:p", "postgres://ada@one,two/work").unwrap(), "p");
    }
}
