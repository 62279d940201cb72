//! How connections are kept from being listened to, and when a server must prove that it is the one that was named.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

/// What somebody asks for by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Encryption {
    /// Nobody has said: a server of this machine is taken for what it is, and every other one must prove its name.
    Usual,
    /// None.
    Disabled,
    /// Where the server offers it, whoever that is.
    Preferred,
    /// Whoever the server is.
    Required,
    /// The server must prove its name, to the system's authorities or to those in this file.
    Verified(Option<PathBuf>),
}

/// Who a server must prove its name to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof<'e> {
    /// Nobody.
    None,
    /// The system's authorities, or those in this file.
    Name(Option<&'e Path>),
}

impl Encryption {
    /// Takes what `sslmode` may say.
    pub(super) fn of_mode(mode: &str) -> Option<Self> {
        Some(match mode {
            "disable" => Self::Disabled,
            "prefer" => Self::Preferred,
            "require" => Self::Required,
            "verify-full" => Self::Verified(None),
            _ => return None,
        })
    }

    /// Returns how the driver is to connect to these servers.
    pub(super) fn mode(&self, config: &Config) -> SslMode {
        match self {
            Self::Disabled => SslMode::Disable,
            Self::Preferred => SslMode::Prefer,
            Self::Usual if is_local(config) => SslMode::Prefer,
            Self::Usual | Self::Required | Self::Verified(_) => SslMode::Require,
        }
    }

    /// Returns who these servers must prove their names to, `usual` being the authorities that are not named here.
    pub(super) fn proof<'e>(&'e self, config: &Config, usual: Option<&'e Path>) -> Proof<'e> {
        match self {
            Self::Verified(roots) => Proof::Name(roots.as_deref().or(usual)),
            Self::Usual if !is_local(config) => Proof::Name(usual),
            Self::Usual | Self::Disabled | Self::Preferred | Self::Required => Proof::None,
        }
    }

    /// Writes what was asked for as a setting of an address.
    pub(super) fn setting(&self) -> Option<String> {
        match self {
            Self::Usual => None,
            Self::Disabled => Some("sslmode=disable".to_owned()),
            Self::Preferred => Some("sslmode=prefer".to_owned()),
            Self::Required => Some("sslmode=require".to_owned()),
            Self::Verified(None) => Some("sslmode=verify-full".to_owned()),
            Self::Verified(Some(roots)) => Some(format!("sslrootcert={}", roots.display())),
        }
    }
}

/// Tells whether what is sent stays on this machine. A name that only leads here is not trusted to do so.
fn is_local(config: &Config) -> bool {
    let is_loopback = |address: &IpAddr| address.to_canonical().is_loopback();
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|address| is_loopback(&address)),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_here) && config.get_hostaddrs().iter().all(is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PostgresUrl;

    fn proof_of(url: &str) -> (SslMode, bool) {
        let url: PostgresUrl = url.parse().unwrap();
        (url.config.get_ssl_mode(), url.proof() != Proof::None)
    }

    #[test]
    fn a_server_beyond_this_machine_must_prove_its_name() {
        for host in [
            "db.example",
            "localhost.example",
            "127.0.0.1.example",
            "10.0.0.1",
            "192.168.1.1",
            "0.0.0.0",
            "[::]",
            "[fe80::1]",
            "128.0.0.1",
            "127.1",
            "2130706433",
            "localhost,db.example",
            "%2Frun%2Fpg,db.example",
            "LOCALHOST.",
            "localhost:5432,10.0.0.1:5432",
            "[::ffff:10.0.0.1]",
        ] {
            assert_eq!(proof_of(&format!("postgres://a@{host}/w")), (SslMode::Require, true), "{host}");
        }
        let elsewhere = "postgres://a@localhost/w?hostaddr=10.0.0.1";
        assert_eq!(proof_of(elsewhere), (SslMode::Require, true));
    }

    #[test]
    fn a_server_of_this_machine_need_not() {
        for host in [
            "localhost",
            "127.0.0.1",
            "127.8.9.10:6000",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "%2Frun%2Fpg",
            "localhost,[::1]",
        ] {
            assert_eq!(proof_of(&format!("postgres://a@{host}/w")), (SslMode::Prefer, false), "{host}");
        }
    }

    #[test]
    fn less_and_more_can_be_asked_for_by_name() {
        for (mode, expected) in [
            ("disable", (SslMode::Disable, false)),
            ("prefer", (SslMode::Prefer, false)),
            ("require", (SslMode::Require, false)),
            ("verify-full", (SslMode::Require, true)),
        ] {
            for host in ["db.example", "localhost"] {
                assert_eq!(proof_of(&format!("postgres://a@{host}/w?sslmode={mode}")), expected, "{host} {mode}");
            }
        }
        assert_eq!(proof_of("postgres://a@localhost/w?sslrootcert=/ca"), (SslMode::Require, true));
    }
}
