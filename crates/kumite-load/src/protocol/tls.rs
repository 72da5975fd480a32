//! TLS by rustls: whom to trust, and the session of one connection.
//!
//! The certificates that are trusted are those of the system (what curl trusts), so that a company's own authority needs no
//! option. TLS 1.3 and 1.2 are spoken. A connection that replaces another resumes its session if the server allows it, as
//! browsers do, so a reconnect may cost the server less than a first connect. Nothing is sent to end a session (no
//! `close_notify`): the engine closes a connection only when nothing is expected on it any more.

use std::io::{BufRead, Write};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use crate::{Http, Target};

const REMEDY: &str = "trust it with --ca FILE, or do without the check with --insecure";
const SESSIONS: usize = 8;

/// How an `https` server is checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// Whatever certificate it has is right.
    pub insecure: bool,
    /// A PEM file of certificates to trust besides the system's.
    pub roots: Option<PathBuf>,
}

/// Why no TLS can be spoken.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file of certificates cannot be read, or is not PEM.
    #[error("{}: cannot read its certificates: {reason}; --ca takes a PEM file", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The file holds no certificate.
    #[error(
        "{}: there is no certificate in it; --ca takes a PEM file with -----BEGIN CERTIFICATE-----",
        .path.display()
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The system has no certificates to trust.
    #[error(
        "the system has no certificates to trust: install them (often a package ca-certificates), \
         name a file with --ca FILE, or use --insecure"
    )]
    NoRoots,
    /// The server's name is not one that a certificate can be for.
    #[error("{host:?} is no name that a certificate can be for: use a DNS name or an IP address")]
    Name {
        /// The name.
        host: String,
    },
    /// What rustls said.
    #[error("cannot speak TLS: {0}")]
    Rustls(#[from] rustls::Error),
}

/// How one server is spoken to; each thread has its own sessions to resume.
#[derive(Clone)]
pub(crate) struct Security {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Security {
    pub fn new(tls: &Tls, target: &Target, http: Http) -> Result<Security, TlsError> {
        let host = target.host();
        let name = match host.parse::<IpAddr>() {
            Ok(address) => ServerName::from(address),
            Err(_) => {
                ServerName::try_from(host.to_owned()).map_err(|_| TlsError::Name { host: host.to_owned() })?
            }
        };
        let provider = Arc::new(ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let mut config = if tls.insecure {
            let anyone = Arc::new(Anyone(provider));
            builder.dangerous().with_custom_certificate_verifier(anyone).with_no_client_auth()
        } else {
            builder.with_root_certificates(roots(tls)?).with_no_client_auth()
        };
        config.alpn_protocols = vec![http.alpn().to_vec()];
        Ok(Security { config: Arc::new(config), name })
    }

    /// The same for another thread.
    pub fn of_thread(&self) -> Security {
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = Resumption::in_memory_sessions(SESSIONS);
        Security { config: Arc::new(config), name: self.name.clone() }
    }
}

fn roots(tls: &Tls) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = &tls.roots {
        let unreadable =
            |reason: &dyn ToString| TlsError::Read { path: path.clone(), reason: reason.to_string() };
        let text = std::fs::read(path).map_err(|error| unreadable(&error))?;
        let mut found = false;
        for certificate in CertificateDer::pem_slice_iter(&text) {
            roots
                .add(certificate.map_err(|error| unreadable(&error))?)
                .map_err(|error| unreadable(&error))?;
            found = true;
        }
        if !found {
            return Err(TlsError::Empty { path: path.clone() });
        }
    }
    if roots.is_empty() { Err(TlsError::NoRoots) } else { Ok(roots) }
}

/// One connection's session.
pub(crate) struct Session {
    tls: ClientConnection,
    alpn: &'static [u8],
}

/// What came out of bytes that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// All was taken.
    Done,
    /// The plaintext is to be taken from [`Session::plain`], and the rest then given again.
    Plain,
    /// The server said that it sends no more.
    Ended,
}

impl Session {
    /// A session whose hello waits to be sent.
    pub fn new(security: &Security, http: Http) -> Result<Session, String> {
        let mut tls = ClientConnection::new(security.config.clone(), security.name.clone())
            .map_err(|error| error.to_string())?;
        // What is to be sent is bounded by the requests that may be on their way.
        tls.set_buffer_limit(None);
        Ok(Session { tls, alpn: http.alpn() })
    }

    pub fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    /// Takes some of the bytes that came.
    pub fn hear(&mut self, bytes: &mut &[u8]) -> Result<Step, String> {
        loop {
            let handshaking = self.tls.is_handshaking();
            if !bytes.is_empty() {
                self.tls.read_tls(bytes).map_err(|error| error.to_string())?;
            }
            let state = self.tls.process_new_packets().map_err(words)?;
            if handshaking && !self.tls.is_handshaking() {
                self.check_alpn()?;
            }
            if state.plaintext_bytes_to_read() > 0 {
                return Ok(Step::Plain);
            }
            if state.peer_has_closed() {
                return Ok(Step::Ended);
            }
            if bytes.is_empty() {
                return Ok(Step::Done);
            }
        }
    }

    /// Hands the next of the plaintext that came to `take`; whether there was any.
    pub fn plain<E>(&mut self, take: impl FnOnce(&[u8]) -> Result<(), E>) -> Result<bool, E> {
        let mut reader = self.tls.reader();
        // It fails only where there is nothing to read.
        let Ok(plain) = reader.fill_buf() else { return Ok(false) };
        let length = plain.len();
        let taken = if length > 0 { take(plain) } else { Ok(()) };
        reader.consume(length);
        taken.map(|()| length > 0)
    }

    /// Has these bytes sent, if need be after the handshake; whether that can be done.
    pub fn send(&mut self, plain: &[u8]) -> bool {
        self.tls.writer().write_all(plain).is_ok()
    }

    pub fn wants_write(&self) -> bool {
        self.tls.wants_write()
    }

    /// Appends what is to be sent.
    pub fn write(&mut self, out: &mut Vec<u8>) {
        while self.tls.wants_write() && self.tls.write_tls(out).is_ok_and(|written| written > 0) {}
    }

    /// A server without ALPN speaks HTTP/1.1.
    fn check_alpn(&self) -> Result<(), String> {
        match self.tls.alpn_protocol() {
            Some(agreed) if agreed == self.alpn => Ok(()),
            None if self.alpn == Http::Http1.alpn() => Ok(()),
            _ => Err("the server does not offer HTTP/2 (ALPN h2)".to_owned()),
        }
    }
}

/// What is wrong, and what can be done about it.
fn words(error: rustls::Error) -> String {
    use CertificateError::*;
    match error {
        rustls::Error::InvalidCertificate(wrong) => match wrong {
            // A bad signature is what a certificate shows that was made anew under the same name.
            UnknownIssuer | BadSignature => {
                format!("the server's certificate is not signed by an authority that is trusted: {REMEDY}")
            }
            NotValidForName | NotValidForNameContext { .. } => {
                format!("{wrong}: use that name in the URL, or --insecure")
            }
            Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => {
                "the server's certificate is that of an authority (CA:TRUE), not of a server: \
                 make another one, or use --insecure"
                    .to_owned()
            }
            wrong => format!("the server's certificate is wrong: {wrong}; --insecure does without the check"),
        },
        rustls::Error::InvalidMessage(_) => {
            format!("the server does not answer in TLS ({error}): is this an http:// address?")
        }
        rustls::Error::AlertReceived(rustls::AlertDescription::NoApplicationProtocol) => {
            "the server does not offer the version of HTTP that was asked for (ALPN)".to_owned()
        }
        rustls::Error::AlertReceived(alert) => format!("the server refuses the TLS session: {alert:?}"),
        error => format!("TLS: {error}"),
    }
}

/// Takes any certificate; what is signed with it is checked all the same.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer,
        _intermediates: &[CertificateDer],
        _name: &ServerName,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
