//! TLS by rustls: which certificates are trusted, and the session of one connection.
//!
//! The trusted certificates are those of the system (what curl trusts), so that a company's own authority needs no
//! option, or what [`Trust`] says. TLS 1.3 and 1.2 are spoken. A connection that replaces another resumes its session
//! if the server allows it, as browsers do, so a reconnect may cost the server less than a first connect. Nothing is
//! sent to end a session (no `close_notify`): the engine closes a connection only when nothing is expected on it any
//! more.

use std::io::{BufRead, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, OtherError, RootCertStore,
    SignatureScheme,
};

use crate::{Address, Http, Target};

const REMEDY: &str = "trust it with --ca FILE, or do without the check with --insecure";
const SESSIONS: usize = 8;

/// The certificates of an `https` server that are trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Trust {
    /// The certificates that the system trusts.
    #[default]
    System,
    /// The certificates that the system trusts, those in this PEM file, and what the latter have signed.
    Also(PathBuf),
    /// The first certificate in this PEM file and no other, whatever name is in it.
    Only(PathBuf),
    /// Any certificate.
    Any,
}

/// The reason why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file of certificates, or a certificate in it, cannot be read.
    #[error("{}: cannot read its certificates: {source}; --ca takes a PEM file", .path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system, of the PEM parser, or of rustls.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file holds no certificate.
    #[error(
        "{}: there is no certificate in it; --ca takes a PEM file with -----BEGIN CERTIFICATE-----",
        .path.display()
    )]
    Empty {
        /// The path of the file.
        path: PathBuf,
    },
    /// Neither the system nor the load has a certificate to trust.
    #[error(
        "the system has no certificates to trust: install them (often a package ca-certificates), \
         name a file with --ca FILE, or use --insecure"
    )]
    NoRoots,
    /// The server's name is not one that a certificate can be for.
    #[error("{host:?} is no name that a certificate can be for: use a DNS name or an IP address")]
    Name {
        /// The server's name in the URL.
        host: String,
    },
    /// rustls cannot be set up.
    #[error("cannot speak TLS: {0}")]
    Rustls(#[from] rustls::Error),
}

/// The TLS configuration for one server. Each thread has its own, with sessions to resume.
#[derive(Clone)]
pub(crate) struct Security {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Security {
    pub fn new(trust: &Trust, target: &Target, http: Http) -> Result<Security, TlsError> {
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
        let known = |own: Vec<CertificateDer<'static>>| {
            let roots = Arc::new(roots(&own)?);
            let builder = WebPkiServerVerifier::builder_with_provider(roots, provider.clone());
            let public = builder.build().map_err(|_| TlsError::NoRoots)?;
            Ok::<_, TlsError>(Known { public, own })
        };
        let verifier: Arc<dyn ServerCertVerifier> = match trust {
            Trust::System => Arc::new(known(Vec::new())?),
            Trust::Also(path) => Arc::new(known(certificates(path)?)?),
            Trust::Only(path) => Arc::new(Same {
                certificate: certificates(path)?.swap_remove(0),
                algorithms: provider.signature_verification_algorithms,
            }),
            Trust::Any => Arc::new(Anyone),
        };
        let mut config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        config.alpn_protocols = vec![http.alpn().to_vec()];
        Ok(Security { config: Arc::new(config), name })
    }

    /// The same configuration for another thread, with sessions of its own.
    pub fn of_thread(&self) -> Security {
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = Resumption::in_memory_sessions(SESSIONS);
        Security { config: Arc::new(config), name: self.name.clone() }
    }
}

/// The system's certificates, and `own` ones.
fn roots(own: &[CertificateDer<'static>]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    own.iter().try_for_each(|certificate| roots.add(certificate.clone()))?;
    if roots.is_empty() { Err(TlsError::NoRoots) } else { Ok(roots) }
}

/// The certificates of a PEM file, at least one, each of which can be read.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let unreadable = |source| TlsError::Read { path: path.to_owned(), source };
    let text = std::fs::read(path).map_err(|error| unreadable(error.into()))?;
    let mut found = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|error| unreadable(error.into()))?;
        RootCertStore::empty().add(certificate.clone()).map_err(|error| unreadable(error.into()))?;
        found.push(certificate);
    }
    if found.is_empty() { Err(TlsError::Empty { path: path.to_owned() }) } else { Ok(found) }
}

impl Security {
    /// The reason why the server's certificate is not to be trusted. `None` if it is to be trusted, if no server is
    /// there, or if the server does not speak TLS.
    pub fn refuses(&self, address: &Address, timeout: Duration) -> Option<TlsSessionError> {
        let mut tls = ClientConnection::new(self.config.clone(), self.name.clone()).ok()?;
        let greeted = match address {
            Address::Tcp(address) => {
                let mut stream = TcpStream::connect_timeout(address, timeout).ok()?;
                stream.set_read_timeout(Some(timeout)).ok()?;
                stream.set_write_timeout(Some(timeout)).ok()?;
                greet(&mut tls, &mut stream)
            }
            Address::Unix(path) => {
                let mut stream = UnixStream::connect(path).ok()?;
                stream.set_read_timeout(Some(timeout)).ok()?;
                stream.set_write_timeout(Some(timeout)).ok()?;
                greet(&mut tls, &mut stream)
            }
        };
        let refused = greeted.err().filter(|error| matches!(error, rustls::Error::InvalidCertificate(_)));
        refused.map(TlsSessionError::Refused)
    }
}

/// Makes the TLS handshake, as far as the server takes part. An error only if TLS fails.
fn greet(tls: &mut ClientConnection, stream: &mut (impl Read + Write)) -> Result<(), rustls::Error> {
    match tls.complete_io(stream) {
        Ok(_) => Ok(()),
        Err(error) => match error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>()) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        },
    }
}

/// The TLS session of one connection.
pub(crate) struct Session {
    tls: ClientConnection,
    alpn: &'static [u8],
}

/// The next step of a session's caller, after bytes were taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Every byte was taken, and there is nothing to read.
    Done,
    /// Plaintext is to be read by [`Session::plain`], and then the rest of the bytes is to be given again.
    Plain,
    /// The server said that it sends no more.
    Ended,
}

impl Session {
    /// A new session, whose first message waits to be sent. An error if the library refuses the settings.
    pub fn new(security: &Security, http: Http) -> Result<Session, TlsSessionError> {
        let mut tls = ClientConnection::new(security.config.clone(), security.name.clone())?;
        // The bytes to be sent are bounded by the requests that may be on their way.
        tls.set_buffer_limit(None);
        Ok(Session { tls, alpn: http.alpn() })
    }

    pub fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    /// Takes bytes off the front of `bytes`, which have come from the server, until there is plaintext to read or
    /// they are used up. An error ends the connection.
    pub fn hear(&mut self, bytes: &mut &[u8]) -> Result<Step, TlsSessionError> {
        loop {
            let handshaking = self.tls.is_handshaking();
            if !bytes.is_empty() {
                self.tls.read_tls(bytes)?;
            }
            let state = self.tls.process_new_packets()?;
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

    /// Calls `take` with the next plaintext that has come, and returns `true`; returns `false` if there is none. The
    /// error is that of `take`.
    pub fn plain<E>(&mut self, take: impl FnOnce(&[u8]) -> Result<(), E>) -> Result<bool, E> {
        let mut reader = self.tls.reader();
        // It fails only where there is nothing to read.
        let Ok(plain) = reader.fill_buf() else { return Ok(false) };
        let length = plain.len();
        let taken = if length > 0 { take(plain) } else { Ok(()) };
        reader.consume(length);
        taken.map(|()| length > 0)
    }

    /// Takes plaintext to be sent, after the handshake if that is not over. Returns `false` if it cannot be sent.
    pub fn send(&mut self, plain: &[u8]) -> bool {
        self.tls.writer().write_all(plain).is_ok()
    }

    pub fn wants_write(&self) -> bool {
        self.tls.wants_write()
    }

    /// Appends the encrypted bytes that are to be sent to `out`.
    pub fn write(&mut self, out: &mut Vec<u8>) {
        while self.tls.wants_write() && self.tls.write_tls(out).is_ok_and(|written| written > 0) {}
    }

    /// Checks that the server agreed to the version of HTTP. A server without ALPN speaks HTTP/1.1.
    fn check_alpn(&self) -> Result<(), TlsSessionError> {
        match self.tls.alpn_protocol() {
            Some(agreed) if agreed == self.alpn => Ok(()),
            None if self.alpn == Http::Http1.alpn() => Ok(()),
            _ => Err(TlsSessionError::NoHttp2),
        }
    }
}

/// The reason why a TLS session could not begin, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum TlsSessionError {
    /// The TLS library refuses the server's messages or its certificate, or the server refuses the session. The message
    /// names a remedy for the faults that have a known one.
    #[error("{}", with_remedy(.0))]
    Refused(#[from] rustls::Error),
    /// The TLS library could not take the bytes that came.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// HTTP/2 was asked for, and the server did not agree to it.
    #[error("the server does not offer HTTP/2 (ALPN h2)")]
    NoHttp2,
}

/// The error in words for the user, with what can be done about it.
fn with_remedy(error: &rustls::Error) -> String {
    use CertificateError::*;
    match error {
        rustls::Error::InvalidCertificate(wrong) => match wrong {
            // If a trusted certificate was made anew under the same name, the signature is bad.
            UnknownIssuer | BadSignature => {
                format!("the server's certificate is not signed by an authority that is trusted: {REMEDY}")
            }
            NotValidForName | NotValidForNameContext { .. } => {
                format!("{wrong}: use that name in the URL, or --insecure")
            }
            wrong if is_of_an_authority(wrong) => {
                "the server's certificate is that of an authority (CA:TRUE), not of a server: trust just that one \
                 with --ca FILE, make another one, or use --insecure"
                    .to_owned()
            }
            wrong if is_another(wrong) => {
                "the server's certificate is another than the one that it was given".to_owned()
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

/// `true` if the only fault is that the server has an authority's certificate, as a plain `openssl req -x509` makes
/// it.
fn is_of_an_authority(wrong: &CertificateError) -> bool {
    matches!(wrong, CertificateError::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity"))
}

/// A verifier that trusts the system's certificates and those named for this load, even if the server itself has one
/// of the latter.
#[derive(Debug)]
struct Known {
    public: Arc<WebPkiServerVerifier>,
    own: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer,
        intermediates: &[CertificateDer],
        name: &ServerName,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use rustls::Error::InvalidCertificate;
        let is_own = || self.own.iter().any(|own| own == certificate);
        let mut judged = self.public.verify_server_cert(certificate, intermediates, name, ocsp, now);
        if matches!(&judged, Err(InvalidCertificate(wrong)) if is_of_an_authority(wrong)) && is_own() {
            // Its dates have been checked by then, its name has not.
            let named = verify_server_name(&ParsedCertificate::try_from(certificate)?, name);
            judged = named.map(|()| ServerCertVerified::assertion());
        }
        match &judged {
            // The certificate has no name where names are looked for today, but it is itself in the file of those to
            // trust.
            Err(InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. }))
                if presented.is_empty() && is_own() =>
            {
                Ok(ServerCertVerified::assertion())
            }
            _ => judged,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.public.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.public.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.public.supported_verify_schemes()
    }
}

/// The fault of a certificate that is another than the only one that is trusted.
#[derive(Debug, thiserror::Error)]
#[error("it is another than the one that is trusted")]
struct Another;

fn is_another(wrong: &CertificateError) -> bool {
    matches!(wrong, CertificateError::Other(OtherError(fault)) if fault.is::<Another>())
}

/// A verifier that trusts one certificate alone.
#[derive(Debug)]
struct Same {
    certificate: CertificateDer<'static>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Same {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer,
        _intermediates: &[CertificateDer],
        _name: &ServerName,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.certificate == *certificate {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(CertificateError::Other(OtherError(Arc::new(Another))).into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// A verifier that accepts any certificate, and so any signature made with it.
#[derive(Debug)]
struct Anyone;

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
        _message: &[u8],
        _certificate: &CertificateDer,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        use SignatureScheme::*;
        vec![
            ECDSA_NISTP256_SHA256,
            ECDSA_NISTP384_SHA384,
            ECDSA_NISTP521_SHA512,
            ED25519,
            ED448,
            RSA_PSS_SHA512,
            RSA_PSS_SHA384,
            RSA_PSS_SHA256,
            RSA_PKCS1_SHA512,
            RSA_PKCS1_SHA384,
            RSA_PKCS1_SHA256,
            RSA_PKCS1_SHA1,
            ECDSA_SHA1_Legacy,
        ]
    }
}
