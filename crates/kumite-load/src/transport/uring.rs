//! The transport over io_uring: sends are queued and submitted together with the next wait, and answers come without
//! being asked for.
//!
//! So a request that counts as sent may stay queued until all answers that the same wait found are handled.

use kumite_ring::{Event, Ring, RingError};
use rustix::io::Errno;
use rustix::net::SocketAddrAny;

use super::{Transport, TransportEvent};
use crate::request::target::Address;

pub(crate) struct Uring {
    address: Address,
    to: SocketAddrAny,
    ring: Ring,
}

impl Uring {
    /// Makes a transport for `connections` connections to this address. `fixed` has the requests that
    /// [`Transport::send_fixed`] sends. An error if the address cannot be used, or the kernel has or allows no
    /// io_uring.
    pub fn new(address: Address, fixed: Vec<Box<[u8]>>, connections: usize) -> Result<Uring, RingError> {
        let to = address.any().map_err(|source| RingError::Refused { step: "use the address", source })?;
        Ok(Uring { address, to, ring: Ring::new(connections, fixed)? })
    }
}

impl Transport for Uring {
    fn connect(&mut self, slot: usize) -> Result<(), Errno> {
        let socket = self.address.socket()?;
        self.ring.connect(slot, socket, &self.to)
    }

    fn send_fixed(&mut self, slot: usize, which: usize) -> Result<(), Errno> {
        self.ring.send_shared(slot, which);
        Ok(())
    }

    fn send(&mut self, slot: usize, bytes: Vec<u8>) -> Result<(), Errno> {
        self.ring.send_own(slot, bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Errno> {
        self.ring.submit()
    }

    fn spare(&mut self) -> Vec<u8> {
        self.ring.spare()
    }

    fn is_sending(&self, slot: usize) -> bool {
        self.ring.is_sending(slot)
    }

    fn unsent(&self, slot: usize) -> usize {
        self.ring.unsent(slot)
    }

    fn close(&mut self, slot: usize) {
        self.ring.close(slot);
    }

    fn wait(&mut self, timeout_ns: u64) -> Result<bool, Errno> {
        self.ring.wait(0)?;
        let sleeps = timeout_ns > 0 && self.ring.is_idle();
        if sleeps {
            self.ring.wait(timeout_ns)?;
        }
        Ok(sleeps)
    }

    fn next(&mut self) -> Option<(usize, TransportEvent<'_>)> {
        let (slot, event) = self.ring.next()?;
        let event = match event {
            Event::Connected(result) => TransportEvent::Connected(result),
            Event::Received(bytes) => TransportEvent::Received(bytes),
            Event::Ended => TransportEvent::Ended,
            Event::Broken(error) => TransportEvent::Broken(error),
            Event::Sent => TransportEvent::Sent,
        };
        Some((slot, event))
    }
}
