//! The requests of an open loop. Each goes to a connection that can take it when it is due, or waits for one.
//!
//! Either connections wait for requests (`idle`) or requests wait for connections (`backlog`). A waiting request
//! keeps the instant at which it was due, from which its response time counts. So a server that stands still is
//! charged with all requests that came due meanwhile.

use std::collections::VecDeque;

use rustix::io::Errno;

use super::Engine;
use crate::clock::Clock;
use crate::connection::ConnectionState;
use crate::in_flight::{InFlight, NO_SESSION};
use crate::record::errors::Failure;
use crate::transport::Transport;

/// The most requests that are sent before answers are looked at again, so that one batch does not make the answers
/// wait.
const DUE_BATCH: usize = 64;

#[derive(Default)]
pub(super) struct OpenLoop {
    /// Slots that could take a request when they were put here; the one put here first comes first.
    idle: VecDeque<usize>,
    /// The instants, ascending, at which the requests that wait for a connection were due.
    backlog: VecDeque<u64>,
}

impl<T: Transport, C: Clock> Engine<'_, T, C> {
    pub(super) fn free_connections(&self) -> usize {
        self.open_loop.as_ref().map_or(0, |open_loop| open_loop.idle.len())
    }

    pub(super) fn has_backlog(&self) -> bool {
        self.open_loop.as_ref().is_some_and(|open_loop| !open_loop.backlog.is_empty())
    }

    /// Sends the requests that are due by now, at most [`DUE_BATCH`] of them. Those that find no connection go into
    /// the backlog. An error if the transport fails.
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
                    self.begin(slot, due, now);
                    self.flush_layers(slot);
                }
                None => self.open_loop.iter_mut().for_each(|open_loop| open_loop.backlog.push_back(due)),
            }
        }
        self.recorder.record_backlog(self.open_loop.as_ref().map_or(0, |open_loop| open_loop.backlog.len()));
        if self.total_in_flight == in_flight { Ok(()) } else { self.transport.flush() }
    }

    /// Goes on with a connection that is free or closed: sends requests of the backlog on it, or has it opened again.
    pub(super) fn proceed_in_open_loop(&mut self, slot: usize, now: u64) {
        match self.connections[slot].state {
            ConnectionState::Open => {
                self.send_waiting(slot, now);
                while self.connections[slot].can_take() {
                    let Some(due) = self.take_backlog(now) else { break };
                    self.begin(slot, due, now);
                }
                self.make_idle(slot);
            }
            ConnectionState::Closed => self.opening.enqueue(slot, now),
            ConnectionState::Connecting(_) => {}
        }
    }

    /// Puts the connection into the queue of idle ones, if it can take a request and is not there yet.
    pub(super) fn make_idle(&mut self, slot: usize) {
        let Some(open_loop) = &mut self.open_loop else { return };
        let connection = &mut self.connections[slot];
        if connection.can_take() && !connection.idle {
            connection.idle = true;
            open_loop.idle.push_back(slot);
        }
    }

    /// Takes, of the idle connections that can take a request, the one that has waited for the longest time. `None`
    /// if there is none.
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

    /// Takes from the backlog the oldest request that has not waited for longer than a time-out, and returns the
    /// instant at which it was due. `None` if there is none.
    fn take_backlog(&mut self, now: u64) -> Option<u64> {
        self.expire_backlog(now)?;
        self.open_loop.as_mut()?.backlog.pop_front()
    }

    /// Counts the requests of the backlog that have waited for longer than a time-out as not sent. Returns the
    /// instant at which the oldest of the others was due; `None` if there is none.
    pub(super) fn expire_backlog(&mut self, now: u64) -> Option<u64> {
        let timeout = self.timeout_ns;
        let expired = |due: &mut u64| now.saturating_sub(*due) > timeout;
        while let Some(due) = self.open_loop.as_mut()?.backlog.pop_front_if(expired) {
            self.count_unsent(due, now);
        }
        self.open_loop.as_ref()?.backlog.front().copied()
    }

    /// Counts a request that the engine was more than a time-out too late to send, because this machine stood still.
    /// The server had no part in that; the send lag shows it.
    pub(super) fn count_overdue(&mut self, due: u64, now: u64) {
        self.recorder.record_send_lag(due, now - due);
        self.count_unsent(due, now);
    }

    /// Counts a request as failed, because it will not be sent.
    fn count_unsent(&mut self, due: u64, now: u64) {
        self.schedule.finish(due, now);
        let step = self.requests.begin_without_connection();
        let request = InFlight::new(due, now, step, NO_SESSION);
        self.recorder.record_failure(Failure::Unsent, None, request, due, now);
        self.recorder.record_session(step, false, due, now);
    }
}
