//! Where a store on PostgreSQL is: the usual URL, and what is ours in it.

mod parts;

use std::{fmt, path::PathBuf, str::FromStr, time::Duration};

use tokio_postgres::{Config, config::Host};

use super::{
    encryption::{Encryption, Proof},
    password::Password,
    service::PostgresService,
};
use parts::AddressParts;

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
    /// Without a password.
    pub(super) config: Config,
    pub(super) schema: String,
    pub(super) retry: Duration,
    password: Option<Password>,
    encryption: Encryption,
    /// The authorities that count when the address names none.
    authorities: Option<PathBuf>,
    /// What was given, without a password.
    address: String,
    is_secret: bool,
}

/// What an address may leave to the environment in which it is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressDefaults {
    /// Fills in the server, database and user that the address does not name, and settings.
    pub service: Option<PostgresService>,
    /// What `sslmode` is where the address does not say, and what says so.
    pub ssl_mode: Option<String>,
    /// The file of authorities that count where the address names none.
    pub authorities: Option<PathBuf>,
}

/// Why a text is no URL of a store on PostgreSQL. Nothing of a password is in it, however wrong the text is.
#[derive(Debug, thiserror::Error)]
pub enum UrlError {
    /// It does not start as one.
    #[error("it does not start with postgres://")]
    Scheme,
    /// It is no PostgreSQL URL.
    #[error("it is no PostgreSQL URL: {}", reason(.0))]
    Syntax(Box<tokio_postgres::Error>),
    /// It has a setting that nobody knows. What may be a part of a password is not named.
    #[error("it is no PostgreSQL URL: unknown option{}", .0.as_deref().map(|name| format!(" `{name}`")).unwrap_or_default())]
    Unknown(Option<String>),
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
    /// It names a service that is not known.
    #[error("there is no service {0:?} in the service file")]
    NoService(String),
}

impl PostgresUrl {
    /// Reads a URL that may leave something to its environment.
    pub fn with_defaults(text: &str, defaults: &AddressDefaults) -> Result<Self, UrlError> {
        let mut parts = AddressParts::of(text)?;
        let (is_secret, address) = (parts.password.is_some(), parts.write(|_| true));
        let wanted = parts.setting("service").map(decoded);
        match &defaults.service {
            Some(service) if wanted.as_ref().is_none_or(|name| *name == service.name) => parts.complete(service),
            Some(_) | None => {}
        }
        if let Some(name) = wanted
            && defaults.service.as_ref().is_none_or(|service| service.name != name)
        {
            return Err(UrlError::NoService(name));
        }
        let mut config = driver_config(&parts)?;
        let schema = parts.setting("schema").map_or(Ok(DEFAULT_SCHEMA.to_owned()), schema_name)?;
        let retry = parts.setting("retry").map_or(Ok(RETRY_LIMIT), seconds_of)?;
        let encryption = encryption(&parts, defaults)?;
        complete(&mut config, &schema);
        config.ssl_mode(encryption.mode(&config));
        let authorities = defaults.authorities.clone();
        Ok(Self { config, schema, retry, password: parts.password, encryption, authorities, address, is_secret })
    }

    /// Returns the service that a text names, if it is a URL.
    pub fn service_of(text: &str) -> Option<String> {
        AddressParts::of(text).ok()?.setting("service").map(decoded)
    }

    /// Tells whether it lets in whoever reads it: a password stands in it.
    pub fn is_secret(&self) -> bool {
        self.is_secret
    }

    /// Returns what was given, without a password: whoever is let in some other way finds the store by it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns what lets the user in.
    pub fn password(&self) -> Option<&Password> {
        self.password.as_ref()
    }

    /// Tells whether both are of one user on the same servers, who has one password.
    pub fn is_same_login(&self, other: &Self) -> bool {
        self.server() == other.server() && self.user() == other.user()
    }

    /// Returns who the server must prove its name to.
    pub(super) fn proof(&self) -> Proof<'_> {
        self.encryption.proof(&self.config, self.authorities.as_deref())
    }

    /// Returns what the driver connects with.
    pub(super) fn login(&self) -> Config {
        let mut config = self.config.clone();
        if let Some(password) = &self.password {
            config.password(password.as_bytes());
        }
        config
    }

    /// Returns the same URL for somebody who does not wait for a server that is away.
    #[must_use]
    pub fn without_retries(self) -> Self {
        Self { retry: Duration::ZERO, ..self }
    }

    /// Returns the same URL with a password, unless it has one.
    #[must_use]
    pub fn or_password(self, password: &Password) -> Self {
        Self { password: self.password.or_else(|| Some(password.clone())), ..self }
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

    /// Returns the host and port of each server.
    pub(super) fn servers(&self) -> impl Iterator<Item = (String, u16)> {
        let ports = self.config.get_ports();
        let port = |at: usize| ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        self.config.get_hosts().iter().enumerate().map(move |(at, host)| match host {
            Host::Tcp(name) => (name.clone(), port(at)),
            #[cfg(unix)]
            Host::Unix(path) => (path.display().to_string(), port(at)),
        })
    }

    /// Returns the server's address.
    pub fn server(&self) -> String {
        self.servers().map(|(host, port)| format!("{host}:{port}")).collect::<Vec<_>>().join(",")
    }
}

impl FromStr for PostgresUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        Self::with_defaults(text, &AddressDefaults::default())
    }
}

/// Has the driver read all but the password.
fn driver_config(parts: &AddressParts) -> Result<Config, UrlError> {
    let url = parts.write(parts::is_drivers);
    let config: Config = url.parse().map_err(|error| UrlError::Syntax(Box::new(error)))?;
    if config.get_hosts().is_empty() {
        return Err(UrlError::Missing("server"));
    }
    if config.get_user().is_none_or(str::is_empty) {
        return Err(UrlError::Missing("user"));
    }
    Ok(config)
}

/// Returns what is asked for: by the address, else by the environment.
fn encryption(parts: &AddressParts, defaults: &AddressDefaults) -> Result<Encryption, UrlError> {
    let mode = parts.setting("sslmode").map(|mode| of_mode("sslmode", mode)).transpose()?;
    match parts.setting("sslrootcert") {
        Some("system") => Ok(mode.unwrap_or(Encryption::Verified(None))),
        Some(roots) => Ok(Encryption::Verified(Some(PathBuf::from(decoded(roots))))),
        None => match (mode, &defaults.ssl_mode) {
            (Some(mode), _) => Ok(mode),
            (None, Some(mode)) => of_mode("PGSSLMODE", mode),
            (None, None) => Ok(Encryption::Usual),
        },
    }
}

fn of_mode(name: &'static str, mode: &str) -> Result<Encryption, UrlError> {
    let expected = "disable, prefer, require or verify-full";
    Encryption::of_mode(mode).ok_or_else(|| UrlError::Setting { name, value: mode.to_owned(), expected })
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
        settings.extend(self.encryption.setting());
        if settings.is_empty() { Ok(()) } else { write!(f, "?{}", settings.join("&")) }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

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
        let url: PostgresUrl = "postgres://ada:hunter2@h/w".parse().unwrap();
        assert!(!format!("{url:?}").contains("hunter2"));
    }

    #[test]
    fn a_password_from_elsewhere_does_not_replace_the_one_in_the_url() {
        let password = |url: &str| {
            let url = url.parse::<PostgresUrl>().unwrap().or_password(&Password::new("other"));
            String::from_utf8(url.login().get_password().unwrap().to_vec()).unwrap()
        };
        assert_eq!((password("postgres://a:own@h"), password("postgres://a@h")), ("own".into(), "other".into()));
        let is_secret = |url: &str| url.parse::<PostgresUrl>().unwrap().is_secret();
        assert!(is_secret("postgres://a:own@h") && is_secret("postgres://a@h?password=own"));
        let other = "postgres://a@h".parse::<PostgresUrl>().unwrap().or_password(&Password::new("other"));
        assert!(!other.is_secret() && other.password().is_some());
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
        assert_eq!(odd.login().get_password(), Some(&b"p?schema=x&y"[..]));
        let refused = "postgres://a:p@ss@h/w".parse::<PostgresUrl>().unwrap_err();
        assert!(matches!(refused, UrlError::Unescaped) && !refused.to_string().contains("ss@"), "{refused}");
    }

    #[test]
    fn an_address_is_what_was_given_without_its_password() {
        let address = |url: &str| url.parse::<PostgresUrl>().unwrap().address().to_owned();
        let given = "postgres://ada@h:6000,i/w?application_name=x%20y&schema=mine&sslmode=require";
        assert_eq!(address(given), given);
        assert_eq!(address("postgres://ada:p%40ss@h/w?retry=1&password=s"), "postgres://ada@h/w?retry=1");
        assert_eq!(address("postgresql://ada:@h"), "postgres://ada@h");
    }

    #[test]
    fn a_service_fills_in_what_an_address_leaves_out() {
        let file =
            "[team]\nhost=/run/pg\nport=6000\ndbname=w/ork\nuser=ada\npassword=secret\nsslmode=disable\ngssencmode=x\n";
        let defaults = AddressDefaults { service: PostgresService::find(file, "team"), ..AddressDefaults::default() };
        let read = |url: &str| PostgresUrl::with_defaults(url, &defaults).unwrap();
        let whole = read("postgres://?schema=mine");
        assert_eq!(whole.to_string(), "postgres://ada@/run/pg:6000/w/ork?schema=mine&sslmode=disable");
        assert_eq!((whole.password(), whole.is_secret()), (Some(&Password::new("secret")), false));
        assert_eq!(
            read("postgres://?service=team&sslmode=prefer").to_string(),
            "postgres://ada@/run/pg:6000/w/ork?sslmode=prefer"
        );
        // The password is that of a user on a server.
        assert_eq!(read("postgres://grace@/w").password(), None);
        assert_eq!(read("postgres://ada@%2Frun%2Fpg:6000/w").password(), Some(&Password::new("secret")));
        let other = read("postgres://ada@%2Frun%2Fpg:6001/w");
        assert_eq!((other.password(), other.to_string().as_str()), (None, "postgres://ada@/run/pg:6001/w"));
        let refused = PostgresUrl::with_defaults("postgres://?service=other", &defaults).unwrap_err();
        assert_eq!(refused.to_string(), "there is no service \"other\" in the service file");
        assert_eq!(PostgresUrl::service_of("postgres://?service=a%20b"), Some("a b".to_owned()));
    }

    #[test]
    fn the_environment_says_how_to_encrypt_where_the_address_does_not() {
        let defaults = AddressDefaults {
            ssl_mode: Some("require".to_owned()),
            authorities: Some("/ca".into()),
            ..AddressDefaults::default()
        };
        let read = |url: &str| PostgresUrl::with_defaults(url, &defaults).unwrap();
        assert_eq!(read("postgres://ada@h/w").to_string(), "postgres://ada@h:5432/w?sslmode=require");
        assert_eq!(read("postgres://ada@h/w").proof(), Proof::None);
        assert_eq!(read("postgres://ada@h/w?sslmode=verify-full").proof(), Proof::Name(Some(Path::new("/ca"))));
        assert_eq!(read("postgres://ada@h/w?sslrootcert=/own").proof(), Proof::Name(Some(Path::new("/own"))));
        let odd = AddressDefaults { ssl_mode: Some("allow".to_owned()), ..AddressDefaults::default() };
        let refused = PostgresUrl::with_defaults("postgres://ada@h/w", &odd).unwrap_err();
        assert!(refused.to_string().starts_with("PGSSLMODE=allow cannot be"), "{refused}");
    }
}
