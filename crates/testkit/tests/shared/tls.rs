//! Encrypted connections, as the URL asks for them.

use contexture::{Contexture, Error, Options, StoreError};
use contexture_core::{Actor, SpaceName};
use contexture_testkit::{TestClock, postgres::PostgresServer, say};

/// Makes a key and a certificate for the server's address where the server keeps its files, and has them used.
fn encrypt(server: &PostgresServer) -> String {
    let make = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=test -keyout server.key -out server.crt \
                -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE";
    server.psql(&format!("COPY (SELECT 1) TO PROGRAM '{make}'"));
    server.set("ssl", "on");
    format!("{}/server.crt", server.psql("SHOW data_directory").trim())
}

async fn try_open(url: &str) -> Result<Contexture, Error> {
    let options = Options {
        location: url.parse().unwrap(),
        space: SpaceName::new("default").unwrap(),
        actor: Actor::new("tester").unwrap(),
        clock: TestClock::fixed().reader(),
        secrets: contexture_testkit::known_secrets(),
    };
    Contexture::open(options).await
}

#[tokio::test]
async fn a_connection_is_as_secret_as_its_url_asks() {
    let server = PostgresServer::start();
    let is_encrypted = |name: &str| {
        let sql = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND application_name =";
        server.psql(&format!("{sql} '{name}'")).trim() != "0"
    };
    let url = |settings: &str| format!("{}?{settings}&application_name=", server.url());

    let refused = try_open(&(url("sslmode=require") + "early")).await.err();
    assert!(matches!(refused, Some(Error::Store(StoreError::Unreachable { .. }))), "{refused:?}");

    let certificate = encrypt(&server);
    for (settings, name, expected) in [
        ("sslmode=disable", "disabled", false),
        ("sslmode=prefer", "preferred", true),
        ("sslmode=require", "required", true),
        (&format!("sslrootcert={certificate}"), "verified", true),
    ] {
        let store = try_open(&(url(settings) + name)).await.unwrap();
        say(name).onto(name).commit(&store).await;
        assert_eq!(is_encrypted(name), expected, "{settings}");
    }

    // Nobody whom the system trusts has signed that certificate.
    let stranger = try_open(&(url("sslmode=verify-full") + "strange")).await.err();
    assert!(matches!(stranger, Some(Error::Store(StoreError::Unproven { .. }))), "{stranger:?}");
    // And it is for another name than this.
    let renamed = (url(&format!("sslrootcert={certificate}")) + "renamed").replace("127.0.0.1", "localhost");
    let renamed = try_open(&renamed).await.err();
    assert!(matches!(renamed, Some(Error::Store(StoreError::Unproven { .. }))), "{renamed:?}");
}
