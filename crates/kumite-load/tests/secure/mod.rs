//! Servers in TLS, on threads of this process.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{HandshakeKind, ServerConfig, ServerConnection, StreamOwned};

pub type Stream = StreamOwned<ServerConnection, TcpStream>;

/// A certificate that signs itself.
pub struct Identity {
    pub config: Arc<ServerConfig>,
    /// The certificate as PEM.
    pub path: PathBuf,
}

impl Identity {
    pub fn new(name: &str) -> Identity {
        Identity::with(name, IsCa::NoCa)
    }

    /// One that is wrongly made: that of an authority.
    pub fn authority(name: &str) -> Identity {
        Identity::with(name, IsCa::Ca(BasicConstraints::Unconstrained))
    }

    fn with(name: &str, is_ca: IsCa) -> Identity {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.is_ca = is_ca;
        let cert = params.self_signed(&key).unwrap();
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        let path = std::env::temp_dir().join(format!("kumite-load-{}-{number}.pem", std::process::id()));
        std::fs::write(&path, cert.pem()).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        Identity { config: Arc::new(config), path }
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The fate of the connection after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Keep,
    /// End it with the notice of TLS.
    Close,
    /// End it without.
    Cut,
}

pub struct Server {
    pub addr: SocketAddr,
    pub identity: Identity,
    counts: Arc<Counts>,
    ended: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Counts {
    requests: AtomicU64,
    resumed: AtomicU64,
}

type Answer = dyn Fn(&mut Stream, u64) -> Then + Send + Sync;

impl Server {
    /// Answers each request with `answer`, which is told how many the connection has brought.
    pub fn start(
        identity: Identity,
        answer: impl Fn(&mut Stream, u64) -> Then + Send + Sync + 'static,
    ) -> Server {
        Server::serve(0, identity, Arc::new(answer))
    }

    /// The same for requests with so many bytes of body.
    pub fn start_with(
        body: usize,
        identity: Identity,
        answer: impl Fn(&mut Stream, u64) -> Then + Send + Sync + 'static,
    ) -> Server {
        Server::serve(body, identity, Arc::new(answer))
    }

    fn serve(body: usize, identity: Identity, answer: Arc<Answer>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let (counts, ended) = (Arc::new(Counts::default()), Arc::new(AtomicBool::new(false)));
        let (config, counter, end) = (identity.config.clone(), counts.clone(), ended.clone());
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if end.load(Ordering::SeqCst) {
                    break;
                }
                let (config, counter, answer) = (config.clone(), counter.clone(), answer.clone());
                std::thread::spawn(move || {
                    let stream = stream.unwrap();
                    stream.set_nodelay(true).unwrap();
                    let session = ServerConnection::new(config).unwrap();
                    converse(StreamOwned::new(session, stream), body, &counter, &*answer);
                });
            }
        });
        Server { addr, identity, counts, ended, accepting: Some(accepting) }
    }

    /// Requests it has read whole.
    pub fn requests(&self) -> u64 {
        self.counts.requests.load(Ordering::SeqCst)
    }

    /// Sessions that went on with an earlier one.
    pub fn resumed(&self) -> u64 {
        self.counts.resumed.load(Ordering::SeqCst)
    }
}

fn converse(mut stream: Stream, body: usize, counts: &Counts, answer: &Answer) {
    for turn in 1.. {
        if read_request(&mut stream, body).is_none() {
            return;
        }
        counts.requests.fetch_add(1, Ordering::SeqCst);
        if turn == 1 && stream.conn.handshake_kind() == Some(HandshakeKind::Resumed) {
            counts.resumed.fetch_add(1, Ordering::SeqCst);
        }
        let then = answer(&mut stream, turn);
        if then == Then::Close {
            stream.conn.send_close_notify();
        }
        let _ = stream.flush();
        if then != Then::Keep {
            return;
        }
    }
}

fn read_request(stream: &mut Stream, body: usize) -> Option<()> {
    let mut seen = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        if let Some(end) = seen.windows(4).take(4096).position(|four| four == b"\r\n\r\n")
            && seen.len() >= end + 4 + body
        {
            assert_eq!(seen.len(), end + 4 + body, "a request sent before the last was answered");
            return Some(());
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(n) => seen.extend_from_slice(&buffer[..n]),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.addr);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}
