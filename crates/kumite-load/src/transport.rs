//! Transport: sockets and epoll. It moves bytes and says what became of them; when, and what counts, is not its affair.
//!
//! Every socket is registered once, level-triggered, so an answer costs `recv`, the next request `send`, and their share
//! of one `epoll_wait`. Interest changes only when a connection is established, and while a request is too large for the
//! socket's buffer. Level-triggering also finds what edge-triggering may miss: a FIN that arrived together with an answer.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};
use rustix::time::Timespec;

use crate::recorder::Failure;
use crate::response::{Answer, Asked, Reader};

const BUFFER: usize = 64 * 1024;
const EVENTS: usize = 256;

/// All connections of a run.
pub(crate) struct Transport {
    addr: SocketAddr,
    request: Vec<u8>,
    asked: Asked,
    epoll: OwnedFd,
    connections: Vec<Connection>,
    buffer: Vec<u8>,
}

struct Connection {
    socket: Option<OwnedFd>,
    reader: Reader,
    /// Bytes of the request that the kernel has taken.
    written: usize,
    /// Waiting for the kernel to take the rest.
    blocked: bool,
    /// An answer to the last request has begun to arrive.
    heard: bool,
    /// The socket has brought a right answer before.
    proven: bool,
}

impl Transport {
    pub fn new(
        addr: SocketAddr,
        request: Vec<u8>,
        asked: Asked,
        connections: usize,
    ) -> Result<Transport, Errno> {
        let closed = || Connection {
            socket: None,
            reader: Reader::new(),
            written: 0,
            blocked: false,
            heard: false,
            proven: false,
        };
        Ok(Transport {
            addr,
            request,
            asked,
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            connections: std::iter::repeat_with(closed).take(connections).collect(),
            buffer: vec![0; BUFFER],
        })
    }

    /// Waits for events, at most for `timeout_ns`, and puts them in `events`. Each connection occurs at most once.
    pub fn wait(&self, events: &mut Vec<Event>, timeout_ns: u64) -> Result<(), Errno> {
        events.clear();
        events.reserve(EVENTS);
        // Whole milliseconds, rounded up: the kernel's plain epoll_wait knows no finer ones.
        let ms = timeout_ns.div_ceil(1_000_000);
        let timeout = Timespec { tv_sec: (ms / 1000) as i64, tv_nsec: (ms % 1000) as i64 * 1_000_000 };
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Begins to connect; an event tells when [`connected`](Self::connected) has an answer.
    pub fn connect(&mut self, slot: usize) -> Result<(), Failure> {
        let family = if self.addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket =
            rustix::net::socket_with(family, SocketType::STREAM, flags, None).map_err(unconnected)?;
        sockopt::set_tcp_nodelay(&socket, true).map_err(unconnected)?;
        match rustix::net::connect(&socket, &self.addr) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(unconnected(error)),
        }
        epoll::add(&self.epoll, &socket, EventData::new_u64(slot as u64), EventFlags::OUT)
            .map_err(unconnected)?;
        self.connections[slot].socket = Some(socket);
        Ok(())
    }

    /// The result of connecting.
    pub fn connected(&mut self, slot: usize) -> Result<(), Failure> {
        let Some(socket) = &self.connections[slot].socket else { return Err(Failure::Connect) };
        sockopt::socket_error(socket).unwrap_or_else(Err).map_err(unconnected)?;
        self.watch(slot, EventFlags::IN).map_err(unconnected)
    }

    /// Sends the request from its beginning, as much of it as the kernel takes.
    pub fn send(&mut self, slot: usize) -> Result<(), Failure> {
        let connection = &mut self.connections[slot];
        connection.written = 0;
        connection.heard = false;
        connection.reader.reset();
        self.send_rest(slot)
    }

    /// Goes on with a request that the kernel has not taken whole.
    pub fn send_rest(&mut self, slot: usize) -> Result<(), Failure> {
        let connection = &mut self.connections[slot];
        let Some(socket) = &connection.socket else { return Err(Failure::Closed) };
        let rest = &self.request[connection.written..];
        if rest.is_empty() {
            return Ok(());
        }
        match rustix::net::send(socket, rest, SendFlags::NOSIGNAL) {
            Ok(sent) => connection.written += sent,
            Err(Errno::AGAIN) => {}
            Err(_) => return Err(connection.broken()),
        }
        let blocked = connection.written < self.request.len();
        if blocked != connection.blocked {
            connection.blocked = blocked;
            let interest = if blocked { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
            self.watch(slot, interest).map_err(|_| Failure::Reset)?;
        }
        Ok(())
    }

    /// Reads once; `Some` if that completed the answer.
    pub fn receive(&mut self, slot: usize) -> Result<Option<Answer>, Failure> {
        let connection = &mut self.connections[slot];
        let Some(socket) = &connection.socket else { return Err(Failure::Closed) };
        let received = match rustix::net::recv(socket, &mut self.buffer[..], RecvFlags::empty()) {
            Ok((_, received)) => received,
            Err(Errno::AGAIN) => return Ok(None),
            Err(_) => return Err(connection.broken()),
        };
        let answer = if received == 0 {
            connection.reader.end(&self.asked).ok_or(Failure::Closed)?
        } else {
            connection.heard = true;
            let piece = &self.buffer[..received];
            match connection.reader.feed(piece, &self.asked).map_err(|_| Failure::Malformed)? {
                Some((answer, used)) if used == piece.len() => answer,
                Some(_) => return Err(Failure::Malformed),
                None => return Ok(None),
            }
        };
        Ok(Some(answer))
    }

    /// After a right answer: keeps the connection for another request, or closes it if it cannot carry one. An answer
    /// that came before the whole request was sent leaves it unusable too.
    pub fn settle(&mut self, slot: usize, answer: Answer) {
        let connection = &mut self.connections[slot];
        if answer.keep_alive && connection.written == self.request.len() {
            connection.proven = true;
        } else {
            self.close(slot);
        }
    }

    /// The answer that was just read, in words.
    pub fn describe(&self, slot: usize) -> String {
        self.connections[slot].reader.describe(&self.asked)
    }

    /// Closes the connection, if it is open.
    pub fn close(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        connection.socket = None;
        connection.blocked = false;
        connection.proven = false;
    }

    /// Whether the connection is open, or about to be.
    pub fn is_open(&self, slot: usize) -> bool {
        self.connections[slot].socket.is_some()
    }

    fn watch(&self, slot: usize, interest: EventFlags) -> Result<(), Errno> {
        let Some(socket) = &self.connections[slot].socket else { return Ok(()) };
        epoll::modify(&self.epoll, socket, EventData::new_u64(slot as u64), interest)
    }
}

impl Connection {
    /// A server that closes a connection without notice may do so just as the next request is sent. Whether the engine
    /// then sees a FIN, a reset or a broken pipe depends on how the two cross; the failure is the same, so it has one
    /// name. On a new connection, and within an answer, the two are told apart.
    fn broken(&self) -> Failure {
        if self.proven && !self.heard { Failure::Closed } else { Failure::Reset }
    }
}

fn unconnected(error: Errno) -> Failure {
    if error == Errno::CONNREFUSED { Failure::Refused } else { Failure::Connect }
}
