//! A server that answers every request by one script, however nasty, and counts what it has sent.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::net::sockopt::{set_socket_linger, set_socket_recv_buffer_size};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::multiplexed::{ACK, Frame, HEADERS, SETTINGS, bytes, receive};

/// The bytes of a flood that ends: many times what the engine may hold.
pub const FLOOD: usize = 4 << 20;
/// The bytes that are written at once in a flood.
const BLOCK: usize = 64 << 10;
/// The frames that are sent before their replies are read.
const ROUND: usize = 100;

/// A part of an answer.
#[derive(Debug, Clone)]
pub enum Part {
    /// These bytes.
    Once(Vec<u8>),
    /// These bytes one by one.
    Drop(Vec<u8>),
    /// These bytes over and over, [`FLOOD`] of them.
    Flood(Vec<u8>),
    /// These bytes over and over until the client is gone.
    Endless(Vec<u8>),
    /// This frame, which asks for a reply: [`ROUND`] of them, and then their replies are read; over and over.
    Asking(Frame, usize),
    /// No more, until the client is gone.
    Wait,
}

impl Part {
    /// The number of its bytes, if it has an end that does not depend on the client.
    pub fn length(&self) -> Option<usize> {
        match self {
            Part::Once(bytes) | Part::Drop(bytes) => Some(bytes.len()),
            _ => None,
        }
    }
}

/// The end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The connection stays.
    Keep,
    /// The connection is ended; in TLS with its notice.
    Close,
    /// The connection is ended; in TLS without its notice.
    Cut,
    /// The connection is reset.
    Reset,
}

/// The protocol of a server.
#[derive(Clone)]
pub struct Protocol {
    pub tls: Option<Arc<ServerConfig>>,
    pub http2: bool,
}

/// The answer to a request. In HTTP/2 it is made for the request's stream.
pub type Script = dyn Fn(u32) -> Vec<Part> + Send + Sync;

/// What a server has read and sent.
#[derive(Debug, Default)]
pub struct Counts {
    /// The connections that brought a request.
    pub connections: AtomicU64,
    /// The requests that were read whole.
    pub requests: AtomicU64,
    /// The answers that were sent to their end.
    pub answers: AtomicU64,
    /// The bytes of answers that the kernel took.
    pub bytes: AtomicU64,
}

pub struct Server {
    pub addr: SocketAddr,
    pub counts: Arc<Counts>,
    ended: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start(protocol: Protocol, script: Arc<Script>, then: Then) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // What is sent to a server that does not read soon waits at the client.
        set_socket_recv_buffer_size(&listener, BLOCK).unwrap();
        let addr = listener.local_addr().unwrap();
        let (counts, ended) = (Arc::new(Counts::default()), Arc::new(AtomicBool::new(false)));
        let (counter, end) = (counts.clone(), ended.clone());
        let accepting = std::thread::spawn(move || {
            let mut serving = Vec::new();
            for stream in listener.incoming() {
                if end.load(Ordering::SeqCst) {
                    break;
                }
                let (protocol, script, counts) = (protocol.clone(), script.clone(), counter.clone());
                serving.push(std::thread::spawn(move || {
                    let stream = stream.unwrap();
                    stream.set_nodelay(true).unwrap();
                    // A server that waits for ever fails the test, and does not hang it.
                    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
                    let socket = stream.try_clone().unwrap();
                    match protocol.tls.clone() {
                        None => {
                            serve(&stream, &socket, protocol.http2, &*script, then, &counts);
                        }
                        Some(config) => {
                            let session = ServerConnection::new(config).unwrap();
                            let mut stream = StreamOwned::new(session, &stream);
                            serve(&mut stream, &socket, protocol.http2, &*script, then, &counts);
                            if then == Then::Close {
                                stream.conn.send_close_notify();
                                let _ = stream.flush();
                            }
                        }
                    }
                    if matches!(then, Then::Close | Then::Cut) {
                        let _ = socket.shutdown(Shutdown::Both);
                    }
                }));
            }
            serving.into_iter().for_each(|it| it.join().unwrap());
        });
        Server { addr, counts, ended, accepting: Some(accepting) }
    }

    /// Ends the server. All that it has sent is then counted.
    pub fn stop(mut self) -> Arc<Counts> {
        self.end();
        self.counts.clone()
    }

    fn end(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.addr);
        if let Some(accepting) = self.accepting.take() {
            let joined = accepting.join();
            if !std::thread::panicking() {
                joined.unwrap();
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn serve(
    mut stream: impl Read + Write,
    socket: &TcpStream,
    http2: bool,
    script: &Script,
    then: Then,
    counts: &Counts,
) -> Option<()> {
    if http2 {
        let mut preface = [0; 24];
        stream.read_exact(&mut preface).ok()?;
        assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        let (SETTINGS, 0, ..) = receive(&mut stream)? else { panic!("its settings come first") };
        // The windows that it asks for are its own from then on.
        let settled = [(SETTINGS, 0, 0, Vec::new()), (SETTINGS, ACK, 0, Vec::new())];
        stream.write_all(&settled.iter().flat_map(bytes).collect::<Vec<_>>()).ok()?;
        stream.flush().ok()?;
    }
    for on_connection in 1.. {
        let id = if http2 { read_request_of_frames(&mut stream)? } else { read_request(&mut stream)? };
        counts.connections.fetch_add(u64::from(on_connection == 1), Ordering::SeqCst);
        counts.requests.fetch_add(1, Ordering::SeqCst);
        for part in script(id) {
            send(&mut stream, &part, counts)?;
        }
        counts.answers.fetch_add(1, Ordering::SeqCst);
        if then == Then::Reset {
            set_socket_linger(socket, Some(Duration::ZERO)).unwrap();
        }
        if then != Then::Keep {
            return None;
        }
    }
    None
}

/// Sends a part of an answer; `None` if the client is gone.
fn send(stream: &mut (impl Read + Write), part: &Part, counts: &Counts) -> Option<()> {
    let mut write = |bytes: &[u8]| {
        stream.write_all(bytes).ok()?;
        stream.flush().ok()?;
        counts.bytes.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        Some(())
    };
    match part {
        Part::Once(bytes) => write(bytes),
        Part::Drop(bytes) => bytes.iter().try_for_each(|byte| write(&[*byte])),
        Part::Flood(unit) => {
            let block = unit.repeat(BLOCK.div_ceil(unit.len()));
            (0..FLOOD.div_ceil(block.len())).try_for_each(|_| write(&block))
        }
        Part::Endless(unit) => {
            let block = unit.repeat(BLOCK.div_ceil(unit.len()));
            while write(&block).is_some() {}
            None
        }
        Part::Asking(frame, rounds) => {
            let block = bytes(frame).repeat(ROUND);
            (0..*rounds).try_for_each(|_| {
                stream.write_all(&block).ok()?;
                stream.flush().ok()?;
                counts.bytes.fetch_add(block.len() as u64, Ordering::SeqCst);
                let mut replies = 0;
                while replies < ROUND {
                    let (kind, flags, ..) = receive(stream)?;
                    replies += usize::from((kind, flags) == (frame.0, ACK));
                }
                Some(())
            })
        }
        Part::Wait => {
            while stream.read(&mut [0; 1024]).is_ok_and(|read| read > 0) {}
            None
        }
    }
}

fn read_request(stream: &mut impl Read) -> Option<u32> {
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    while !seen.ends_with(b"\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(read) => seen.extend_from_slice(&buffer[..read]),
        }
    }
    Some(0)
}

fn read_request_of_frames(stream: &mut impl Read) -> Option<u32> {
    loop {
        if let (HEADERS, _, id, _) = receive(stream)? {
            return Some(id);
        }
    }
}
