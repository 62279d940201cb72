//! An address in its parts, as it is written.

use super::UrlError;
use crate::postgres::{password::Password, service::PostgresService};

/// Settings that the driver takes.
const DRIVER_SETTINGS: [&str; 17] = [
    "user",
    "dbname",
    "host",
    "hostaddr",
    "port",
    "options",
    "application_name",
    "sslnegotiation",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "channel_binding",
    "load_balance_hosts",
];
/// Settings that are read here.
const OWN_SETTINGS: [&str; 5] = ["schema", "retry", "sslmode", "sslrootcert", "service"];

/// The parts of an address, percent-encoded as they stand there, apart from the password.
#[derive(Debug)]
pub(super) struct AddressParts {
    pub(super) user: Option<String>,
    pub(super) password: Option<Password>,
    pub(super) hosts: String,
    pub(super) database: String,
    /// What follows the question mark, in its order.
    pub(super) settings: Vec<(String, String)>,
}

impl AddressParts {
    pub(super) fn of(text: &str) -> Result<Self, UrlError> {
        let rest = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"));
        let rest = rest.ok_or(UrlError::Scheme)?;
        // Whatever follows the first @ is shown, and must not be the rest of a password.
        if rest.matches('@').count() > 1 {
            return Err(UrlError::Unescaped);
        }
        let (credentials, rest) = match rest.split_once('@') {
            Some((credentials, rest)) => (Some(credentials), rest),
            None => (None, rest),
        };
        let (user, password) = match credentials.map(|text| text.split_once(':').unwrap_or((text, ""))) {
            Some((user, password)) => (Some(user.to_owned()), password),
            None => (None, ""),
        };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, database) = place.split_once('/').unwrap_or((place, ""));
        let mut parts = Self {
            user,
            password: (!password.is_empty()).then(|| decoded_password(password)),
            hosts: hosts.to_owned(),
            database: database.to_owned(),
            settings: Vec::new(),
        };
        for setting in query.split('&').filter(|setting| !setting.is_empty()) {
            match setting.split_once('=') {
                Some(("password", value)) => parts.password = Some(decoded_password(value)),
                Some((name, value)) if is_known(name) => parts.settings.push((name.to_owned(), value.to_owned())),
                named => {
                    // A password that was not written as it should be may have come to stand here.
                    let is_name = |name: &&str| name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
                    let name = named.map(|(name, _)| name).filter(|_| parts.user.is_some()).filter(is_name);
                    return Err(UrlError::Unknown(name.map(str::to_owned)));
                }
            }
        }
        Ok(parts)
    }

    /// Returns the last of equal settings.
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().rev().find(|(key, _)| key == name).map(|(_, value)| &**value)
    }

    /// Fills in what a service says and the address does not. One that names another server has nothing of it.
    pub(super) fn complete(&mut self, service: &PostgresService) {
        let host = service.host.as_deref().map(encoded);
        let port = service.port.as_deref();
        let with_ports = |hosts: &str| match port {
            Some(port) => hosts.split(',').map(|host| format!("{host}:{port}")).collect::<Vec<_>>().join(","),
            None => hosts.to_owned(),
        };
        let offered = host.as_deref().map(with_ports).unwrap_or_default();
        if self.hosts.is_empty() && self.setting("host").is_none() && self.setting("hostaddr").is_none() {
            self.hosts.clone_from(&offered);
        } else if !is_same_server(&self.hosts, &offered) {
            return;
        }
        let user = service.user.as_deref().map(encoded);
        let has_user = self.user.as_deref().is_some_and(|user| !user.is_empty()) || self.setting("user").is_some();
        if !has_user {
            self.user.clone_from(&user);
        }
        if self.user == user && self.password.is_none() {
            self.password.clone_from(&service.password);
        }
        if self.database.is_empty() && self.setting("dbname").is_none() {
            self.database = service.database.as_deref().map(encoded).unwrap_or_default();
        }
        for (name, value) in &service.settings {
            // What asks for more than these is for other programs.
            if is_known(name) && name != "service" && self.setting(name).is_none() {
                self.settings.push((name.clone(), encoded(value)));
            }
        }
    }

    /// Writes the address without its password, with the settings that are chosen.
    pub(super) fn write(&self, chosen: impl Fn(&str) -> bool) -> String {
        let user = self.user.as_deref().map(|user| format!("{user}@")).unwrap_or_default();
        let database = if self.database.is_empty() { String::new() } else { format!("/{}", self.database) };
        let settings = self.settings.iter().filter(|(name, _)| chosen(name));
        let settings: Vec<_> = settings.map(|(name, value)| format!("{name}={value}")).collect();
        let mark = if settings.is_empty() { "" } else { "?" };
        format!("postgres://{user}{}{database}{mark}{}", self.hosts, settings.join("&"))
    }
}

/// Tells whether the driver takes a setting.
pub(super) fn is_drivers(name: &str) -> bool {
    DRIVER_SETTINGS.contains(&name)
}

fn is_known(name: &str) -> bool {
    is_drivers(name) || OWN_SETTINGS.contains(&name)
}

fn is_same_server(one: &str, other: &str) -> bool {
    let with_port = |host: &str| if host.contains(':') { host.to_owned() } else { format!("{host}:5432") };
    let all = |hosts: &str| hosts.split(',').map(with_port).collect::<Vec<_>>();
    !one.is_empty() && all(one) == all(other)
}

fn decoded_password(text: &str) -> Password {
    Password::new(percent_encoding::percent_decode_str(text).collect::<Vec<u8>>())
}

fn encoded(text: &str) -> String {
    const KEPT: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_').remove(b',').remove(b'*');
    percent_encoding::utf8_percent_encode(text, KEPT).to_string()
}
