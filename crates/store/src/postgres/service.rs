//! Services: settings of connections that go by a name, in files as PostgreSQL's own programs read them.

use super::password::Password;

/// The settings that a service file has under a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostgresService {
    pub(super) name: String,
    pub(super) host: Option<String>,
    pub(super) port: Option<String>,
    pub(super) database: Option<String>,
    pub(super) user: Option<String>,
    pub(super) password: Option<Password>,
    /// The others, in their order.
    pub(super) settings: Vec<(String, String)>,
}

impl PostgresService {
    /// Finds a service in a file; nothing, if it has none of that name.
    pub fn find(file: &str, name: &str) -> Option<Self> {
        let mut lines = file.lines().map(str::trim);
        lines.find(|line| line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) == Some(name))?;
        let mut service = Self { name: name.to_owned(), ..Self::default() };
        let section = lines.take_while(|line| !line.starts_with('['));
        for (key, value) in section.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('=')) {
            let value = value.to_owned();
            match key {
                "host" => service.host = Some(value),
                "port" => service.port = Some(value),
                "dbname" => service.database = Some(value),
                "user" => service.user = Some(value),
                "password" => service.password = Some(Password::new(value)),
                _ => service.settings.push((key.to_owned(), value)),
            }
        }
        Some(service)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "host=nobody\n[one]\nhost=h\n# port=1\n  port=6000\n\n[two]\nuser=ada\npassword=p = q\nsslmode=require\n";

    #[test]
    fn a_service_is_what_follows_its_name() {
        let one = PostgresService {
            name: "one".to_owned(),
            host: Some("h".to_owned()),
            port: Some("6000".to_owned()),
            ..PostgresService::default()
        };
        assert_eq!(PostgresService::find(FILE, "one"), Some(one));
        let two = PostgresService {
            name: "two".to_owned(),
            user: Some("ada".to_owned()),
            password: Some(Password::new("p = q")),
            settings: vec![("sslmode".to_owned(), "require".to_owned())],
            ..PostgresService::default()
        };
        assert_eq!(PostgresService::find(FILE, "two"), Some(two));
        assert_eq!(PostgresService::find(FILE, "three"), None);
    }
}
