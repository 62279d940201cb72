//! Where a store on PostgreSQL is: the usual URL, and what is ours in it.

use std::{fmt, path::PathBuf, str::FromStr, time::Duration};

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

/// The schema that holds a store when the URL does not say.
const DEFAULT_SCHEMA: &str = "contexture";
/// How long a server may take to answer a new connection when the URL does not say.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How soon a peer that fell silent is asked whether it is still there, and how long it may take to answer.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// How long a lost connection or a contended row is tried again when the URL does not say.
const RETRY_LIMIT: Duration = Duration::from_mins(1);
/// Longest name that PostgreSQL keeps whole.
const MAX_SCHEMA_BYTES: usize = 63;

/// Settings of every connection. A writer that vanishes must not keep a space to itself, nor may one wait for ever.
const SESSION_OPTIONS: &str =
    "-c idle_in_transaction_session_timeout=60s -c lock_timeout=60s -c client_min_messages=warning";

/// Where a store on PostgreSQL is: a URL as every PostgreSQL program takes it, plus `schema=NAME` and `retry=SECONDS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresUrl {
    pub(super) config: Config,
    pub(super) schema: String,
    pub(super) encryption: Encryption,
    pub(super) retry: Duration,
}

/// How a connection is kept from being listened to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Encryption {
    /// As PostgreSQL's own programs do by default or by `sslmode=require`: whoever the server is.
    Unverified,
    /// The server must prove its name, to the system's authorities or to those in this file.
    Verified(Option<PathBuf>),
}

/// Why a text is no URL of a store on PostgreSQL.
#[derive(Debug, thiserror::Error)]
pub enum UrlError {
    /// It is no PostgreSQL URL.
    #[error("it is no PostgreSQL URL: {}", reason(.0))]
    Syntax(Box<tokio_postgres::Error>),
    /// A password in it holds a character that ends a password.
    #[error("a password in it holds an @, which is written %40 there")]
    Unescaped,
    /// A setting has a value that it cannot have.
    #[error("{name}={value} cannot be: it must be {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// What was given.
        value: String,
        /// What it can be.
        expected: &'static str,
    },
    /// It names no server or user.
    #[error("it names no {0}")]
    Missing(&'static str),
}

impl PostgresUrl {
    /// Tells whether it lets in whoever reads it.
    pub fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    /// Returns the same URL for somebody who does not wait for a server that is away.
    #[must_use]
    pub fn without_retries(self) -> Self {
        Self { retry: Duration::ZERO, ..self }
    }

    /// Returns the same URL with a password, unless it has one.
    #[must_use]
    pub fn or_password(mut self, password: &str) -> Self {
        if self.config.get_password().is_none() {
            self.config.password(password);
        }
        self
    }

    /// Returns the same URL with another schema.
    pub fn in_schema(mut self, name: &str) -> Result<Self, UrlError> {
        self.schema = schema_name(name)?;
        // The last of equal options counts.
        let options = self.config.get_options().unwrap_or_default();
        let options = format!("{options} -c search_path={name}");
        self.config.options(options);
        Ok(self)
    }

    /// Returns the user that connects.
    pub fn user(&self) -> &str {
        self.config.get_user().unwrap_or_default()
    }

    /// Returns the database that holds the store.
    pub fn database(&self) -> &str {
        self.config.get_dbname().unwrap_or(self.user())
    }

    /// Returns the schema that holds the store.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Returns how long all the servers together may take to answer a new connection.
    pub(super) fn patience(&self) -> Duration {
        let each = self.config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
        each * u32::try_from(self.config.get_hosts().len()).unwrap_or(u32::MAX)
    }

    /// Returns the server's address.
    pub fn server(&self) -> String {
        let ports = self.config.get_ports();
        let port = |at: usize| ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        let host = |(at, host): (usize, &Host)| match host {
            Host::Tcp(name) => format!("{name}:{}", port(at)),
            #[cfg(unix)]
            Host::Unix(path) => format!("{}:{}", path.display(), port(at)),
        };
        self.config.get_hosts().iter().enumerate().map(host).collect::<Vec<_>>().join(",")
    }
}

impl FromStr for PostgresUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        // A password may hold a question mark.
        let host = text.find('@').unwrap_or(0);
        let (place, settings) = match text[host..].find('?') {
            Some(at) => (&text[..host + at], &text[host + at + 1..]),
            None => (text, ""),
        };
        let (mut schema, mut encryption, mut roots) = (DEFAULT_SCHEMA.to_owned(), Encryption::Unverified, None);
        let mut retry = RETRY_LIMIT;
        let mut others = Vec::new();
        for setting in settings.split('&').filter(|setting| !setting.is_empty()) {
            match setting.split_once('=').unwrap_or((setting, "")) {
                ("schema", name) => schema = schema_name(name)?,
                ("retry", seconds) => retry = seconds_of(seconds)?,
                ("sslrootcert", "system") => roots = None,
                ("sslrootcert", path) => roots = Some(PathBuf::from(decoded(path))),
                ("sslmode", "verify-full") => {
                    encryption = Encryption::Verified(None);
                    others.push("sslmode=require");
                }
                ("sslmode", value) if !matches!(value, "disable" | "prefer" | "require") => {
                    let expected = "disable, prefer, require or verify-full";
                    return Err(UrlError::Setting { name: "sslmode", value: value.to_owned(), expected });
                }
                _ => others.push(setting),
            }
        }
        if roots.is_some() {
            encryption = Encryption::Verified(roots);
        }
        let url = if others.is_empty() { place.to_owned() } else { format!("{place}?{}", others.join("&")) };
        let mut config: Config = url.parse().map_err(|error| UrlError::Syntax(Box::new(error)))?;
        if config.get_hosts().is_empty() {
            return Err(UrlError::Missing("server"));
        }
        // Whatever follows the first @ is shown, and must not be the rest of a password.
        if config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(name) if name.contains('@'))) {
            return Err(UrlError::Unescaped);
        }
        if config.get_user().is_none() {
            return Err(UrlError::Missing("user"));
        }
        complete(&mut config, &schema);
        Ok(Self { config, schema, encryption, retry })
    }
}

/// Adds what every connection needs and the URL does not say.
fn complete(config: &mut Config, schema: &str) {
    let theirs = config.get_options().map(|options| format!("{options} ")).unwrap_or_default();
    config.options(format!("{SESSION_OPTIONS} {theirs}-c search_path={schema}"));
    if config.get_application_name().is_none() {
        config.application_name("ctx");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(KEEPALIVE);
    }
    config.keepalives_idle(KEEPALIVE);
}

/// Takes names that need no quotes, so that they are the same wherever they are written.
fn schema_name(name: &str) -> Result<String, UrlError> {
    let is_start = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let legal = name.starts_with(is_start)
        && name.chars().all(|letter| is_start(letter) || letter.is_ascii_digit())
        && name.len() <= MAX_SCHEMA_BYTES
        && !name.starts_with("pg_");
    if legal {
        return Ok(name.to_owned());
    }
    let expected = "a name of small letters, digits and _, at most 63, that does not start with pg_";
    Err(UrlError::Setting { name: "schema", value: name.to_owned(), expected })
}

/// Returns what the driver has against a URL, without its words around that.
fn reason(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

fn seconds_of(text: &str) -> Result<Duration, UrlError> {
    let expected = "a number of seconds";
    let refused = |_| UrlError::Setting { name: "retry", value: text.to_owned(), expected };
    text.parse::<u32>().map(|seconds| Duration::from_secs(seconds.into())).map_err(refused)
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Shows everything but the password.
impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "postgres://{}@{}/{}", self.user(), self.server(), self.database())?;
        let mut settings = Vec::new();
        if self.schema != DEFAULT_SCHEMA {
            settings.push(format!("schema={}", self.schema));
        }
        if self.retry != RETRY_LIMIT {
            settings.push(format!("retry={}", self.retry.as_secs()));
        }
        match (&self.encryption, self.config.get_ssl_mode()) {
            (Encryption::Verified(None), _) => settings.push("sslmode=verify-full".to_owned()),
            (Encryption::Verified(Some(roots)), _) => settings.push(format!("sslrootcert={}", roots.display())),
            (Encryption::Unverified, SslMode::Disable) => settings.push("sslmode=disable".to_owned()),
            (Encryption::Unverified, SslMode::Require) => settings.push("sslmode=require".to_owned()),
            (Encryption::Unverified, _) => {}
        }
        if settings.is_empty() { Ok(()) } else { write!(f, "?{}", settings.join("&")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str) -> String {
        url.parse::<PostgresUrl>().unwrap().to_string()
    }

    #[test]
    fn a_url_is_shown_whole_but_without_its_password() {
        assert_eq!(shown("postgres://ada:secret@db.example/work"), "postgres://ada@db.example:5432/work");
        assert_eq!(shown("postgresql://ada@h:6000,i/w?schema=mine"), "postgres://ada@h:6000,i:5432/w?schema=mine");
        assert_eq!(shown("postgres://ada@h?sslmode=verify-full"), "postgres://ada@h:5432/ada?sslmode=verify-full");
        assert_eq!(
            shown("postgres://ada@%2Frun%2Fpg/w?sslmode=disable"),
            "postgres://ada@/run/pg:5432/w?sslmode=disable"
        );
    }

    #[test]
    fn debugging_shows_no_password_either() {
        let url: PostgresUrl = "postgres://ada:secret@h/w".parse().unwrap();
        assert!(!format!("{url:?}").contains("secret"));
    }

    #[test]
    fn a_password_from_elsewhere_does_not_replace_the_one_in_the_url() {
        let password = |url: &str| {
            let url = url.parse::<PostgresUrl>().unwrap().or_password("other");
            String::from_utf8(url.config.get_password().unwrap().to_vec()).unwrap()
        };
        assert_eq!((password("postgres://a:own@h"), password("postgres://a@h")), ("own".into(), "other".into()));
        let has_password = |url: &str| url.parse::<PostgresUrl>().unwrap().has_password();
        assert!(has_password("postgres://a:own@h") && !has_password("postgres://a@h"));
    }

    #[test]
    fn what_cannot_be_a_url_is_refused_by_name() {
        let refusal = |url: &str| url.parse::<PostgresUrl>().unwrap_err().to_string();
        assert!(refusal("postgres://a@h/w?schema=Mine").starts_with("schema=Mine cannot be"));
        assert!(refusal("postgres://a@h/w?schema=pg_mine").starts_with("schema=pg_mine cannot be"));
        assert!(refusal("postgres://a@h/w?sslmode=verify-ca").contains("verify-full"));
        assert!(refusal("postgres://a@h/w?retry=soon").starts_with("retry=soon cannot be"));
        assert!(refusal("postgres://a@/w").contains("names no server"));
        assert!(refusal("postgres://h/w").contains("names no user"));
        assert_eq!(refusal("postgres://a@h:port/w"), "it is no PostgreSQL URL: invalid value for option `port`");
        assert_eq!(refusal("postgres://a@h/w?colour=red"), "it is no PostgreSQL URL: unknown option `colour`");
    }

    #[test]
    fn no_part_of_an_odd_password_is_taken_for_something_else() {
        let odd: PostgresUrl = "postgres://a:p?schema=x&y@h/w?schema=mine".parse().unwrap();
        assert_eq!(odd.to_string(), "postgres://a@h:5432/w?schema=mine");
        assert_eq!(odd.config.get_password(), Some(&b"p?schema=x&y"[..]));
        let refused = "postgres://a:p@ss@h/w".parse::<PostgresUrl>().unwrap_err();
        assert!(matches!(refused, UrlError::Unescaped) && !refused.to_string().contains("ss@"), "{refused}");
    }
}
