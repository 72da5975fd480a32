//! The transport over epoll.
//!
//! Every socket is registered once, level-triggered. So an answer costs a `recv`, the next request a `send`, and both
//! their share of one `epoll_pwait2`. Interest changes only when a connection is established, and while a request is
//! too large for the socket's buffer. Level-triggering also finds what edge-triggering may miss: a FIN that arrived
//! together with an answer.

use std::os::fd::OwnedFd;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketAddrAny, sockopt};
use rustix::time::Timespec;

use super::{Transport, TransportEvent};
use crate::request::target::Address;

const BUFFER: usize = 64 * 1024;
const EVENTS: usize = 256;
/// The most empty buffers that are kept for later messages.
const POOL: usize = 64;

pub(crate) struct Epoll {
    address: Address,
    to: SocketAddrAny,
    fixed: Vec<Box<[u8]>>,
    epoll: OwnedFd,
    connections: Vec<Connection>,
    events: Vec<Event>,
    /// The number of `events` that were handed out.
    seen: usize,
    buffer: Vec<u8>,
    pool: Vec<Vec<u8>>,
}

#[derive(Default)]
struct Connection {
    socket: Option<OwnedFd>,
    connecting: bool,
    /// Bytes that the kernel has not taken. There are none, unless a message is too large for the socket's buffer.
    unsent: Vec<u8>,
    /// The error after which nothing can be sent any more; `None` while sending works. It is told when all bytes that
    /// have come were read.
    failed: Option<Errno>,
}

impl Epoll {
    /// Makes a transport for `connections` connections to this address. `fixed` has the requests that
    /// [`Transport::send_fixed`] sends. An error if the address cannot be used, or the kernel refuses an epoll.
    pub fn new(address: Address, fixed: Vec<Box<[u8]>>, connections: usize) -> Result<Epoll, Errno> {
        Ok(Epoll {
            to: address.any()?,
            address,
            fixed,
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            connections: std::iter::repeat_with(Connection::default).take(connections).collect(),
            events: Vec::with_capacity(EVENTS),
            seen: 0,
            buffer: vec![0; BUFFER],
            pool: Vec::new(),
        })
    }

    fn watch(&self, slot: usize, interest: EventFlags) -> Result<(), Errno> {
        let Some(socket) = &self.connections[slot].socket else { return Ok(()) };
        epoll::modify(&self.epoll, socket, EventData::new_u64(slot as u64), interest)
    }

    fn look(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        self.events.clear();
        self.seen = 0;
        let (tv_sec, tv_nsec) = (timeout_ns / 1_000_000_000, timeout_ns % 1_000_000_000);
        let timeout = Timespec { tv_sec: tv_sec as i64, tv_nsec: tv_nsec as i64 };
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Sends more of the bytes that the kernel has not taken.
    fn send_rest(&mut self, slot: usize) -> Result<(), Errno> {
        let Connection { socket: Some(socket), unsent, .. } = &mut self.connections[slot] else {
            return Ok(());
        };
        let sent = taken(rustix::net::send(socket, unsent, SendFlags::NOSIGNAL))?;
        unsent.drain(..sent);
        if unsent.is_empty() { self.watch(slot, EventFlags::IN) } else { Ok(()) }
    }
}

/// The number of bytes that the kernel has taken: 0 if it has no room, which is no error here.
fn taken(sent: Result<usize, Errno>) -> Result<usize, Errno> {
    if sent == Err(Errno::AGAIN) { Ok(0) } else { sent }
}

/// Sends the bytes that the kernel takes at once, and keeps the rest. Returns `true` if nothing was kept before and
/// something is now.
fn send(connection: &mut Connection, bytes: &[u8]) -> Result<bool, Errno> {
    let Some(socket) = &connection.socket else { return Err(Errno::NOTCONN) };
    if !connection.unsent.is_empty() {
        connection.unsent.extend_from_slice(bytes);
        return Ok(false);
    }
    let sent = taken(rustix::net::send(socket, bytes, SendFlags::NOSIGNAL))?;
    connection.unsent.extend_from_slice(&bytes[sent..]);
    Ok(sent < bytes.len())
}

impl Transport for Epoll {
    fn connect(&mut self, slot: usize) -> Result<(), Errno> {
        let socket = self.address.socket()?;
        match rustix::net::connect(&socket, &self.to) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error),
        }
        epoll::add(&self.epoll, &socket, EventData::new_u64(slot as u64), EventFlags::OUT)?;
        self.connections[slot] =
            Connection { socket: Some(socket), connecting: true, ..Connection::default() };
        Ok(())
    }

    fn send_fixed(&mut self, slot: usize, which: usize) -> Result<(), Errno> {
        if send(&mut self.connections[slot], &self.fixed[which])? {
            self.watch(slot, EventFlags::IN | EventFlags::OUT)?;
        }
        Ok(())
    }

    fn send(&mut self, slot: usize, mut bytes: Vec<u8>) -> Result<(), Errno> {
        let kept = send(&mut self.connections[slot], &bytes);
        if self.pool.len() < POOL {
            bytes.clear();
            self.pool.push(bytes);
        }
        if kept? {
            self.watch(slot, EventFlags::IN | EventFlags::OUT)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    fn spare(&mut self) -> Vec<u8> {
        self.pool.pop().unwrap_or_default()
    }

    fn is_sending(&self, slot: usize) -> bool {
        !self.connections[slot].unsent.is_empty()
    }

    fn unsent(&self, slot: usize) -> usize {
        self.connections[slot].unsent.len()
    }

    fn close(&mut self, slot: usize) {
        self.connections[slot] = Connection::default();
    }

    fn wait(&mut self, timeout_ns: u64) -> Result<bool, Errno> {
        self.look(0)?;
        let sleeps = self.events.is_empty() && timeout_ns > 0;
        if sleeps {
            self.look(timeout_ns)?;
        }
        Ok(sleeps)
    }

    /// The next event. A connection is read once for each wait; the next wait finds bytes that are left.
    fn next(&mut self) -> Option<(usize, TransportEvent<'_>)> {
        loop {
            let event = *self.events.get(self.seen)?;
            self.seen += 1;
            let (slot, flags) = (event.data.u64() as usize, event.flags);
            let connection = &mut self.connections[slot];
            let Some(socket) = &connection.socket else { continue };
            if connection.connecting {
                connection.connecting = false;
                let connected = sockopt::socket_error(socket).unwrap_or_else(Err);
                let connected = connected.and_then(|()| self.watch(slot, EventFlags::IN));
                return Some((slot, TransportEvent::Connected(connected)));
            }
            if flags.contains(EventFlags::OUT)
                && connection.failed.is_none()
                && let Err(error) = self.send_rest(slot)
            {
                self.connections[slot].failed = Some(error);
            }
            let Connection { socket: Some(socket), failed, .. } = &self.connections[slot] else { continue };
            return match (rustix::net::recv(socket, &mut self.buffer[..], RecvFlags::empty()), *failed) {
                (Ok((_, received @ 1..)), _) => {
                    Some((slot, TransportEvent::Received(&self.buffer[..received])))
                }
                (_, Some(error)) => Some((slot, TransportEvent::Broken(error))),
                (Ok(_), None) => Some((slot, TransportEvent::Ended)),
                (Err(Errno::AGAIN | Errno::INTR), None) => continue,
                (Err(error), None) => Some((slot, TransportEvent::Broken(error))),
            };
        }
    }
}
