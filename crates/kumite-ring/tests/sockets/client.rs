//! A ring with its events as values, so that a test can wait for what it expects.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use kumite_ring::{Event, Ring, RingError};
use kumite_testing::{Capability, lacks};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrAny, SocketAddrUnix, SocketType};

/// Nothing a test waits for takes longer, on a machine that stands still for a while neither.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Client {
    pub ring: Ring,
    pub connections: Vec<SlotEvents>,
}

/// The events of a slot since it was connected.
#[derive(Default, Clone, PartialEq, Debug)]
pub struct SlotEvents {
    pub connected: Option<Result<(), Errno>>,
    pub received: Vec<u8>,
    pub ended: bool,
    pub broken: Option<Errno>,
    pub sent: usize,
}

impl Client {
    /// None where there is no io_uring to test.
    pub fn new(connections: usize, shared: &[&[u8]]) -> Option<Client> {
        let shared = shared.iter().map(|bytes| (*bytes).into()).collect();
        match Ring::new(connections, shared) {
            Ok(ring) => Some(Client { ring, connections: vec![SlotEvents::default(); connections] }),
            Err(error @ (RingError::Missing | RingError::Forbidden | RingError::Old)) => {
                lacks(Capability::IoUring, error);
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    pub fn connect(&mut self, slot: usize, address: SocketAddr) {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        self.connect_socket(slot, socket(family), &address.into());
    }

    pub fn connect_unix(&mut self, slot: usize, path: &Path) {
        let address = SocketAddrUnix::new(path).unwrap();
        self.connect_socket(slot, socket(AddressFamily::UNIX), &address.into());
    }

    pub fn connect_socket(&mut self, slot: usize, socket: OwnedFd, address: &SocketAddrAny) {
        self.connections[slot] = SlotEvents::default();
        self.ring.connect(slot, socket, address).unwrap();
    }

    /// Connects slots to the same address, and sees them connected.
    pub fn connect_all(&mut self, slots: std::ops::Range<usize>, address: SocketAddr) {
        slots.clone().for_each(|slot| self.connect(slot, address));
        self.until(|seen| seen[slots.clone()].iter().all(|seen| seen.connected == Some(Ok(()))));
    }

    pub fn close(&mut self, slot: usize) {
        self.ring.close(slot);
        self.connections[slot] = SlotEvents::default();
    }

    /// Waits until what was seen fulfils the condition.
    #[track_caller]
    pub fn until(&mut self, done: impl Fn(&[SlotEvents]) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !done(&self.connections) {
            assert!(Instant::now() < deadline, "waited in vain: {:?}", self.brief());
            self.once(100_000_000);
        }
    }

    /// Waits once.
    #[track_caller]
    pub fn once(&mut self, timeout_ns: u64) {
        self.ring.wait(timeout_ns).unwrap();
        while let Some((slot, event)) = self.ring.next() {
            let seen = &mut self.connections[slot];
            assert_eq!(seen.broken, None, "{event:?} after the end");
            match event {
                Event::Connected(result) => {
                    assert_eq!(seen.connected, None, "connected twice");
                    seen.connected = Some(result);
                    continue;
                }
                Event::Received(bytes) => {
                    assert!(!bytes.is_empty() && !seen.ended);
                    seen.received.extend_from_slice(bytes);
                }
                Event::Ended => {
                    assert!(!seen.ended);
                    seen.ended = true;
                }
                Event::Broken(error) => seen.broken = Some(error),
                Event::Sent => seen.sent += 1,
            }
            assert_eq!(seen.connected, Some(Ok(())), "slot {slot}: an event of no connection");
        }
    }

    fn brief(&self) -> String {
        let brief = |seen: &SlotEvents| {
            let received = Vec::new();
            format!("{} bytes, {:?}; ", seen.received.len(), SlotEvents { received, ..seen.clone() })
        };
        self.connections.iter().take(3).map(brief).collect()
    }
}

pub fn socket(family: AddressFamily) -> OwnedFd {
    rustix::net::socket(family, SocketType::STREAM, None).unwrap()
}

/// Bytes that show if any are missing, doubled or out of order.
pub fn pattern(len: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    (0..len).map(|_| next()).collect()
}
