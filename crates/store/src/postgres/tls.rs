//! Encrypted connections.

use std::{io, path::Path, sync::Arc};

use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::encryption::Proof;

/// Returns what encrypts connections to a server that must prove this.
pub(super) fn connector(proof: Proof<'_>) -> io::Result<MakeRustlsConnect> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let config = match proof {
        Proof::Name(roots) => builder.with_root_certificates(authorities(roots)?),
        Proof::None => builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyServer { provider })),
    };
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

fn authorities(file: Option<&Path>) -> io::Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    if let Some(file) = file {
        for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unusable(file, &error))? {
            store.add(certificate.map_err(|error| unusable(file, &error))?).map_err(io::Error::other)?;
        }
    } else {
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    if store.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "there are no certificates to verify the server with"));
    }
    Ok(store)
}

fn unusable(file: &Path, error: &rustls::pki_types::pem::Error) -> io::Error {
    io::Error::other(format!("the certificates in {} cannot be used: {error}", file.display()))
}

/// Takes any certificate: the connection is encrypted, but to whom is not proven.
#[derive(Debug)]
struct AnyServer {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
