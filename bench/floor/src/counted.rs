use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;

use anyhow::{Context, Result, bail};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

/// The request that every client sends.
pub const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
const EVENTS: usize = 256;

/// Connections of which only the bytes are counted, watched by epoll.
pub struct Counted<'a> {
    sockets: &'a [TcpStream],
    /// Still to come, on each.
    missing: Vec<usize>,
    answer_bytes: usize,
    epoll: OwnedFd,
    events: Vec<Event>,
    buffer: [u8; 4096],
    /// Requests that were sent and not yet answered.
    pub in_flight: usize,
    /// Answers until now.
    pub answers: u64,
}

impl<'a> Counted<'a> {
    pub fn new(sockets: &'a [TcpStream], answer_bytes: usize) -> Result<Counted<'a>> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        for (index, socket) in sockets.iter().enumerate() {
            epoll::add(&epoll, socket, EventData::new_u64(index as u64), EventFlags::IN)?;
        }
        Ok(Counted {
            sockets,
            missing: vec![0; sockets.len()],
            answer_bytes,
            epoll,
            events: Vec::with_capacity(EVENTS),
            buffer: [0; 4096],
            in_flight: 0,
            answers: 0,
        })
    }

    pub fn send(&mut self, index: usize) -> Result<()> {
        let sent = (&self.sockets[index]).write(REQUEST).context("cannot send")?;
        if sent != REQUEST.len() {
            bail!("the kernel took {sent} bytes of a request");
        }
        self.missing[index] = self.answer_bytes;
        self.in_flight += 1;
        Ok(())
    }

    /// Waits at most so long for answers, and hands over on which connections they came.
    pub fn receive(
        &mut self,
        most: Timespec,
        mut then: impl FnMut(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        self.events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), Some(&most)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error).context("cannot wait"),
        }
        for at in 0..self.events.len() {
            let index = self.events[at].data.u64() as usize;
            let count = match (&self.sockets[index]).read(&mut self.buffer) {
                Ok(0) => bail!("the server closed a connection"),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error).context("cannot receive"),
            };
            self.missing[index] = self.missing[index].checked_sub(count).context("an answer is too long")?;
            if self.missing[index] == 0 {
                self.in_flight -= 1;
                self.answers += 1;
                then(self, index)?;
            }
        }
        Ok(())
    }
}
