//! The fixed server: one thread, epoll, `200 pong` to every request, keep-alive.
//!
//! It knows just enough HTTP/1.1 for requests without a body: where a head ends, and `Connection: close`. It is made to
//! be the same for every generator and seldom the limit, not to be a web server.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use signal_hook::consts::SIGTERM;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\n\
    Server: pong\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 4\r\n\
    \r\n\
    pong";
const HEAD_END: &[u8] = b"\r\n\r\n";
const HEAD_LIMIT: usize = 16 * 1024;
const BUFFER: usize = 16 * 1024;
const EVENTS: usize = 256;
const BACKLOG: i32 = 4096;
const STOP: u64 = u64::MAX;
const LISTENER: u64 = u64::MAX - 1;

/// Serves on a free port of 127.0.0.1 until SIGTERM. Prints `port N` when it listens, and at its end
/// `connections N`, the most that were open at once, and `requests N`, the answers that the kernel has taken.
pub fn serve() -> io::Result<()> {
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

    let mut connections = Connections { epoll, slots: Vec::new(), free: Vec::new(), requests: 0 };
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
    println!("requests {}", connections.requests);
    Ok(())
}

struct Connections {
    epoll: OwnedFd,
    slots: Vec<Option<Connection>>,
    free: Vec<usize>,
    requests: u64,
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
        if !connection.serve(buffer, &mut self.requests) {
            self.slots[slot] = None;
            self.free.push(slot);
        }
    }
}

impl Connection {
    /// Reads once and answers what is complete; whether the connection stays open.
    fn serve(&mut self, buffer: &mut [u8], requests: &mut u64) -> bool {
        let piece = match self.socket.read(buffer) {
            Ok(0) => return false,
            Ok(count) => &buffer[..count],
            Err(error) => return matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        };
        if self.held.is_empty() && head_length(piece) == Some(piece.len()) {
            return answer(&mut self.socket, piece, requests);
        }
        self.held.extend_from_slice(piece);
        while let Some(length) = head_length(&self.held) {
            if !answer(&mut self.socket, &self.held[..length], requests) {
                return false;
            }
            self.held.drain(..length);
        }
        self.held.len() <= HEAD_LIMIT
    }
}

/// Answers a request with this head; whether the connection may carry another.
fn answer(socket: &mut TcpStream, head: &[u8], requests: &mut u64) -> bool {
    // An answer that the kernel does not take at once is for a client that has stopped reading.
    let answered = socket.write(ANSWER).is_ok_and(|count| count == ANSWER.len());
    *requests += u64::from(answered);
    answered && !asks_to_close(head)
}

/// With its empty line, if that is there.
fn head_length(data: &[u8]) -> Option<usize> {
    data.windows(HEAD_END.len()).position(|window| window == HEAD_END).map(|at| at + HEAD_END.len())
}

fn asks_to_close(head: &[u8]) -> bool {
    head.split(|&byte| byte == b'\n').any(|line| {
        line.get(..11).is_some_and(|name| name.eq_ignore_ascii_case(b"connection:"))
            && line[11..].trim_ascii().eq_ignore_ascii_case(b"close")
    })
}
