//! The fixed server: one thread, epoll, `200 pong` to every request, keep-alive.
//!
//! It knows just enough HTTP/1.1 for requests without a body: where a head ends, and `Connection: close`. It is made to
//! be the same for every generator and seldom the limit, not to be a web server. It can stamp each request with when it
//! was read; the stamps are kept in memory that is there before the first one, and written at the end.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use signal_hook::consts::SIGTERM;

/// The answer to everything.
pub const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\n\
    Server: pong\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 4\r\n\
    \r\n\
    pong";
/// For those who ask for it, as clients of HTTP/1.0 do who want to keep a connection.
const ANSWER_KEEP_ALIVE: &[u8] = b"HTTP/1.1 200 OK\r\n\
    Server: pong\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\
    Connection: keep-alive\r\n\
    Content-Length: 4\r\n\
    \r\n\
    pong";
const HEAD_END: &[u8] = b"\r\n\r\n";
const HEAD_LIMIT: usize = 16 * 1024;
const BUFFER: usize = 16 * 1024;
const EVENTS: usize = 256;
const BACKLOG: i32 = 4096;
/// More than any schedule of this bench asks for; what comes after is counted and not stamped.
const MOST_STAMPS: usize = 1 << 20;
const STOP: u64 = u64::MAX;
const LISTENER: u64 = u64::MAX - 1;

/// Serves on a free port of 127.0.0.1 until SIGTERM. Prints `port N` when it listens, and at its end
/// `connections N`, the most that were open at once, and `requests N`, the answers that the kernel has taken. `stamps`
/// gets when each of these was read: nanoseconds of CLOCK_MONOTONIC, 8 bytes each, little-endian.
pub fn serve(stamps: Option<&Path>) -> io::Result<()> {
    let (stop, stopper) = UnixStream::pair()?;
    signal_hook::low_level::pipe::register(SIGTERM, stopper)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    // The standard library's own backlog may be too short for a generator that opens 1,000 connections at once.
    rustix::net::listen(&listener, BACKLOG)?;
    listener.set_nonblocking(true)?;
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &stop, EventData::new_u64(STOP), EventFlags::IN)?;
    epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
    println!("port {}", listener.local_addr()?.port());

    let counts = Counts { requests: 0, stamps: stamps.map(|_| Stamps::new()) };
    let mut connections = Connections { epoll, slots: Vec::new(), free: Vec::new(), counts };
    let mut events: Vec<Event> = Vec::with_capacity(EVENTS);
    let mut buffer = vec![0; BUFFER];
    'serving: loop {
        events.clear();
        match epoll::wait(&connections.epoll, rustix::buffer::spare_capacity(&mut events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &events {
            match event.data.u64() {
                STOP => break 'serving,
                LISTENER => connections.accept(&listener)?,
                slot => connections.serve(slot as usize, &mut buffer),
            }
        }
    }
    // A slot is only made when all others are taken.
    println!("connections {}", connections.slots.len());
    println!("requests {}", connections.counts.requests);
    match (stamps, &connections.counts.stamps) {
        (Some(file), Some(stamps)) => stamps.write(file),
        _ => Ok(()),
    }
}

struct Counts {
    requests: u64,
    stamps: Option<Stamps>,
}

struct Stamps {
    /// As long as it can get, so that its pages are there.
    at_ns: Vec<u64>,
    count: usize,
}

impl Stamps {
    fn new() -> Stamps {
        Stamps { at_ns: vec![u64::MAX; MOST_STAMPS], count: 0 }
    }

    fn stamp(&mut self) {
        let now = clock_gettime(ClockId::Monotonic);
        if let Some(at_ns) = self.at_ns.get_mut(self.count) {
            *at_ns = now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned();
            self.count += 1;
        }
    }

    fn write(&self, file: &Path) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(file)?);
        self.at_ns[..self.count].iter().try_for_each(|at_ns| out.write_all(&at_ns.to_le_bytes()))?;
        out.flush()
    }
}

struct Connections {
    epoll: OwnedFd,
    slots: Vec<Option<Connection>>,
    free: Vec<usize>,
    counts: Counts,
}

struct Connection {
    socket: TcpStream,
    /// The part of a head that has arrived; empty unless it came in pieces.
    held: Vec<u8>,
}

impl Connections {
    fn accept(&mut self, listener: &TcpListener) -> io::Result<()> {
        loop {
            let socket = match listener.accept() {
                Ok((socket, _)) => socket,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                Err(error) => return Err(error),
            };
            socket.set_nonblocking(true)?;
            socket.set_nodelay(true)?;
            let slot = self.free.pop().unwrap_or_else(|| {
                self.slots.push(None);
                self.slots.len() - 1
            });
            epoll::add(&self.epoll, &socket, EventData::new_u64(slot as u64), EventFlags::IN)?;
            self.slots[slot] = Some(Connection { socket, held: Vec::new() });
        }
    }

    fn serve(&mut self, slot: usize, buffer: &mut [u8]) {
        let Some(connection) = &mut self.slots[slot] else { return };
        if !connection.serve(buffer, &mut self.counts) {
            self.slots[slot] = None;
            self.free.push(slot);
        }
    }
}

impl Connection {
    /// Reads once and answers what is complete; whether the connection stays open.
    fn serve(&mut self, buffer: &mut [u8], counts: &mut Counts) -> bool {
        let piece = match self.socket.read(buffer) {
            Ok(0) => return false,
            Ok(count) => &buffer[..count],
            Err(error) => return matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        };
        if self.held.is_empty() && head_length(piece) == Some(piece.len()) {
            return answer(&mut self.socket, piece, counts);
        }
        self.held.extend_from_slice(piece);
        while let Some(length) = head_length(&self.held) {
            if !answer(&mut self.socket, &self.held[..length], counts) {
                return false;
            }
            self.held.drain(..length);
        }
        self.held.len() <= HEAD_LIMIT
    }
}

/// Answers a request with this head; whether the connection may carry another.
fn answer(socket: &mut TcpStream, head: &[u8], counts: &mut Counts) -> bool {
    // Before the answer, which may take as long as the generator's receiving does.
    if let Some(stamps) = &mut counts.stamps {
        stamps.stamp();
    }
    let asked = asked(head);
    let answer = if asked == Asked::KeepAlive { ANSWER_KEEP_ALIVE } else { ANSWER };
    // An answer that the kernel does not take at once is for a client that has stopped reading.
    let answered = socket.write(answer).is_ok_and(|count| count == answer.len());
    counts.requests += u64::from(answered);
    answered && asked != Asked::Close
}

/// With its empty line, if that is there.
fn head_length(data: &[u8]) -> Option<usize> {
    data.windows(HEAD_END.len()).position(|window| window == HEAD_END).map(|at| at + HEAD_END.len())
}

/// The fate of a connection by the head of a request.
#[derive(PartialEq)]
enum Asked {
    Nothing,
    Close,
    KeepAlive,
}

fn asked(head: &[u8]) -> Asked {
    let mut values = head.split(|&byte| byte == b'\n').filter_map(|line| {
        let name = line.get(..11)?;
        name.eq_ignore_ascii_case(b"connection:").then(|| line[11..].trim_ascii())
    });
    match values.next() {
        Some(value) if value.eq_ignore_ascii_case(b"close") => Asked::Close,
        Some(value) if value.eq_ignore_ascii_case(b"keep-alive") => Asked::KeepAlive,
        _ => Asked::Nothing,
    }
}
