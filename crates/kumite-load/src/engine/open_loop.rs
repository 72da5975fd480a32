//! The requests of an open loop: each goes to a connection that can take it when it is due, or waits for one.

use std::collections::VecDeque;

use rustix::io::Errno;

use super::Engine;
use crate::clock::Clock;
use crate::connection::ConnectionState;
use crate::record::errors::Failure;
use crate::transport::Transport;

/// Requests that are sent before answers are looked at again.
const DUE_BATCH: usize = 64;

/// Connections that wait for requests, or requests that wait for connections.
#[derive(Default)]
pub(super) struct OpenLoop {
    /// Connections that can take a request.
    idle: VecDeque<usize>,
    /// When requests were due that have no connection.
    backlog: VecDeque<u64>,
}

impl<T: Transport, C: Clock> Engine<'_, T, C> {
    /// How many connections can take a request.
    pub(super) fn idle_connections(&self) -> usize {
        self.open_loop.as_ref().map_or(0, |open_loop| open_loop.idle.len())
    }

    /// Whether requests wait for a connection.
    pub(super) fn has_backlog(&self) -> bool {
        self.open_loop.as_ref().is_some_and(|open_loop| !open_loop.backlog.is_empty())
    }

    /// Sends the requests that are due.
    pub(super) fn send_due(&mut self) -> Result<(), Errno> {
        if self.open_loop.is_none() {
            return Ok(());
        }
        let in_flight = self.total_in_flight;
        for _ in 0..DUE_BATCH {
            let now = self.now();
            let Some(due) = self.schedule.take_due(now) else { break };
            if now - due > self.timeout_ns {
                self.count_overdue(due, now);
                continue;
            }
            match self.take_idle() {
                Some(slot) => {
                    self.recorder.record_send_lag(due, now - due);
                    self.send(slot, due, now);
                    self.flush_layers(slot);
                }
                None => self.open_loop.iter_mut().for_each(|open_loop| open_loop.backlog.push_back(due)),
            }
        }
        self.recorder.record_backlog(self.open_loop.as_ref().map_or(0, |open_loop| open_loop.backlog.len()));
        if self.total_in_flight == in_flight { Ok(()) } else { self.transport.flush() }
    }

    /// A connection is free, or is to be opened again.
    pub(super) fn proceed_in_open_loop(&mut self, slot: usize, now: u64) {
        match self.connections[slot].state {
            ConnectionState::Open => {
                while self.connections[slot].can_take() {
                    let Some(due) = self.take_backlog(now) else { break };
                    self.send(slot, due, now);
                }
                self.make_idle(slot);
            }
            ConnectionState::Closed => self.opening.enqueue(slot),
            ConnectionState::Connecting(_) => {}
        }
    }

    /// Puts the connection among those that can take a request, if it can.
    pub(super) fn make_idle(&mut self, slot: usize) {
        let Some(open_loop) = &mut self.open_loop else { return };
        let connection = &mut self.connections[slot];
        if connection.can_take() && !connection.idle {
            connection.idle = true;
            open_loop.idle.push_back(slot);
        }
    }

    /// A connection that can take a request: the one that was used the longest time ago.
    fn take_idle(&mut self) -> Option<usize> {
        while let Some(slot) = self.open_loop.as_mut()?.idle.pop_front() {
            let connection = &mut self.connections[slot];
            connection.idle = false;
            // It may have been closed, or used, since.
            if connection.can_take() {
                return Some(slot);
            }
        }
        None
    }

    /// A request of the backlog that has not been waiting for too long; those that have are counted.
    fn take_backlog(&mut self, now: u64) -> Option<u64> {
        self.expire_backlog(now)?;
        self.open_loop.as_mut()?.backlog.pop_front()
    }

    /// Counts the requests of the backlog that have been waiting for too long; when the first of the others was due.
    pub(super) fn expire_backlog(&mut self, now: u64) -> Option<u64> {
        let timeout = self.timeout_ns;
        let expired = |due: &mut u64| now.saturating_sub(*due) > timeout;
        while let Some(due) = self.open_loop.as_mut()?.backlog.pop_front_if(expired) {
            self.count_unsent(due, now);
        }
        self.open_loop.as_ref()?.backlog.front().copied()
    }

    /// Counts a request that the engine itself comes for too late, because this machine stood still. It is no fault of the
    /// server's, and the send lag says so.
    pub(super) fn count_overdue(&mut self, due: u64, now: u64) {
        self.recorder.record_send_lag(due, now - due);
        self.count_unsent(due, now);
    }

    /// Counts a request that is not sent any more.
    fn count_unsent(&mut self, due: u64, now: u64) {
        self.schedule.finish(due, now);
        self.recorder.record_failure(Failure::Unsent, None, due, now, now);
    }
}
