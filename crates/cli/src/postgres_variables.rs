//! What PostgreSQL's own variables and files say, which every PostgreSQL program reads.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use contexture::{AddressDefaults, Password, PasswordFile, PostgresService, PostgresUrl};

use crate::{error::Result, private_file::PrivateFile};

/// The variables, as they were when the program started.
#[derive(Debug, Clone, Default)]
pub(crate) struct PostgresVariables {
    /// `PGPASSWORD`.
    password: Option<Password>,
    /// `PGPASSFILE`, or its usual place under `HOME`.
    password_file: Option<PathBuf>,
    /// `PGSERVICE`.
    service: Option<String>,
    /// `PGSERVICEFILE`, or its usual place under `HOME`.
    service_file: Option<PathBuf>,
    /// `PGSSLMODE`.
    ssl_mode: Option<String>,
    /// `PGSSLROOTCERT`.
    authorities: Option<PathBuf>,
}

impl PostgresVariables {
    pub(crate) fn find(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name: &str| variable(name).map(|value| value.to_string_lossy().into_owned());
        let file = |name: &str, usual: &str| {
            let usual = || variable("HOME").map(|home| PathBuf::from(home).join(usual));
            variable(name).map(PathBuf::from).or_else(usual)
        };
        Self {
            password: variable("PGPASSWORD").map(|value| Password::new(value.as_encoded_bytes())),
            password_file: file("PGPASSFILE", ".pgpass"),
            service: text("PGSERVICE"),
            service_file: file("PGSERVICEFILE", ".pg_service.conf"),
            ssl_mode: text("PGSSLMODE"),
            authorities: variable("PGSSLROOTCERT").filter(|file| file != OsStr::new("system")).map(PathBuf::from),
        }
    }

    /// Returns what an address may leave to them.
    pub(crate) fn defaults(&self, address: &str) -> Result<AddressDefaults> {
        let service = match PostgresUrl::service_of(address).or_else(|| self.service.clone()) {
            Some(name) => self.service(&name)?,
            None => None,
        };
        Ok(AddressDefaults { service, ssl_mode: self.ssl_mode.clone(), authorities: self.authorities.clone() })
    }

    /// Adds what lets the user in, unless the address has it.
    pub(crate) fn let_in(&self, url: PostgresUrl) -> Result<PostgresUrl> {
        match (url.password(), &self.password) {
            (Some(_), _) if url.is_secret() => Ok(url),
            // It is that of a service.
            (Some(_), _) => {
                let file = self.service_file.as_deref().map(PrivateFile::read).transpose()?.flatten();
                file.map_or(Ok(()), |(file, _)| file.demand_secrecy())?;
                Ok(url)
            }
            (None, Some(password)) => Ok(url.or_password(password)),
            (None, None) => match self.filed_password(&url)? {
                Some(password) => Ok(url.or_password(&password)),
                None => Ok(url),
            },
        }
    }

    fn service(&self, name: &str) -> Result<Option<PostgresService>> {
        let file = self.service_file.as_deref().map(PrivateFile::read).transpose()?.flatten();
        Ok(file.and_then(|(_, text)| PostgresService::find(&text, name)))
    }

    fn filed_password(&self, url: &PostgresUrl) -> Result<Option<Password>> {
        let file = self.password_file.as_deref().map(PrivateFile::read).transpose()?.flatten();
        let Some((file, text)) = file else { return Ok(None) };
        let password = PasswordFile::parse(&text).password_for(url).cloned();
        if password.is_some() {
            file.demand_secrecy()?;
        }
        Ok(password)
    }
}
