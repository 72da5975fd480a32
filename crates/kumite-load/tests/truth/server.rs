//! Servers that misbehave in one known way, on threads of this process.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

pub const PONG: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong";

/// A request, by its number from 1.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    pub request: u64,
    pub connection: u64,
    pub on_connection: u64,
}

/// The fate of the connection after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Keep,
    Close,
}

pub struct Server {
    pub addr: SocketAddr,
    requests: Arc<AtomicU64>,
    ended: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers each request, of which it reads the head and `body` more bytes, with `answer`.
    pub fn start(
        body: usize,
        answer: impl Fn(&mut TcpStream, Turn) -> Then + Send + Sync + 'static,
    ) -> Server {
        let requests = Arc::new(AtomicU64::new(0));
        let counter = requests.clone();
        let serve = move |stream: &mut TcpStream, connection| {
            for on_connection in 1.. {
                if read_request(stream, body).is_none() {
                    break;
                }
                let request = counter.fetch_add(1, Ordering::SeqCst) + 1;
                if answer(stream, Turn { request, connection, on_connection }) == Then::Close {
                    break;
                }
            }
        };
        let mut server = Server::start_on_connections(serve);
        server.requests = requests;
        server
    }

    /// Serves each connection, of this number from 1, with `serve`.
    pub fn start_on_connections(serve: impl Fn(&mut TcpStream, u64) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // A burst is not to wait for the kernel's second try, a second later.
        rustix::net::listen(&listener, 1024).unwrap();
        let addr = listener.local_addr().unwrap();
        let ended = Arc::new(AtomicBool::new(false));
        let (end, serve) = (ended.clone(), Arc::new(serve));
        let accepting = std::thread::spawn(move || {
            for (connection, stream) in (1..).zip(listener.incoming()) {
                if end.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(mut stream) = stream else { continue };
                let serve = serve.clone();
                std::thread::spawn(move || {
                    stream.set_nodelay(true).unwrap();
                    serve(&mut stream, connection);
                });
            }
        });
        Server { addr, requests: Arc::default(), ended, accepting: Some(accepting) }
    }

    /// Requests it has read whole.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
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

/// Where nobody listens, nor can as long as the port is held.
pub fn nobody() -> (SocketAddr, impl Sized) {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
    let port = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&port, &"127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
    (getsockname(&port).unwrap().try_into().unwrap(), port)
}

/// Sends `bytes`; a client that has gone away is no news here.
pub fn write(stream: &mut TcpStream, bytes: impl AsRef<[u8]>) {
    let _ = stream.write_all(bytes.as_ref());
}

/// The next request on this connection, with so many bytes of a body; `None` once it has ended.
pub fn read_request(stream: &mut TcpStream, body: usize) -> Option<Vec<u8>> {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = seen.windows(4).position(|four| four == b"\r\n\r\n")
            && seen.len() >= end + 4 + body
        {
            assert_eq!(seen.len(), end + 4 + body, "a request sent before the last was answered");
            return Some(seen);
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(n) => seen.extend_from_slice(&buffer[..n]),
        }
    }
}

/// Answers every request on this connection with `bytes`, until it ends.
pub fn serve(stream: &mut TcpStream, bytes: impl AsRef<[u8]>) {
    while read_request(stream, 0).is_some() {
        write(stream, &bytes);
    }
}
