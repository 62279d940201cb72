//! Rights in a database, and the statements that give them.

use super::url::PostgresUrl;

/// What a user must be allowed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Right {
    /// Make the schema of a store.
    MakeSchema,
    /// Make the tables of a store in a schema that is there.
    MakeTables,
    /// Read and change what is in the tables.
    UseTables,
}

impl Right {
    /// Returns what the owner of the database types to give it.
    pub(super) fn grant(self, url: &PostgresUrl) -> String {
        let (user, schema) = (quoted(url.user()), url.schema());
        match self {
            Self::MakeSchema => format!("GRANT CREATE ON DATABASE {} TO {user}", quoted(url.database())),
            Self::MakeTables => format!("GRANT USAGE, CREATE ON SCHEMA {schema} TO {user}"),
            Self::UseTables => format!(
                "GRANT USAGE ON SCHEMA {schema} TO {user}; \
                 GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {user}"
            ),
        }
    }
}

/// Quotes a name where the server would otherwise take it for another one.
fn quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    if name.chars().all(is_plain) && !name.starts_with(|letter: char| letter.is_ascii_digit()) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_quoted() {
        let url: PostgresUrl = "postgres://Ada%22s%20agent@h/work?schema=mine".parse().unwrap();
        assert_eq!(Right::MakeSchema.grant(&url), "GRANT CREATE ON DATABASE work TO \"Ada\"\"s agent\"");
        assert_eq!(Right::MakeTables.grant(&url), "GRANT USAGE, CREATE ON SCHEMA mine TO \"Ada\"\"s agent\"");
    }
}
