//! Sessions between two of their steps: one has its answer, and the next is to be sent.
//!
//! A session is bound to the slot in which it began. Its place there is kept also while it thinks, so that in HTTP/1.1
//! it has the connection for itself. If the server closes the connection between two steps, the session goes on over
//! the one that replaces it; if the connection ends while a request is on its way, that request fails, and the session
//! ends with it. A session of one step is never here, and so costs nothing.
//!
//! The next step is due when the answer before has come and the pause is over, whenever it is sent. In an open loop a
//! step that has not been sent a time-out after that counts as unsent, as a session does that has not begun.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Engine;
use crate::clock::Clock;
use crate::connection::{ConnectionState, WhenOpen};
use crate::in_flight::{InFlight, NO_SESSION};
use crate::record::errors::Failure;
use crate::request::source::NextStep;
use crate::request::template::Given;
use crate::transport::Transport;

/// The most pauses that end before answers are looked at again.
const WAKE_BATCH: usize = 64;

/// The sessions of several steps that have begun and are not finished, by number.
#[derive(Default)]
pub(super) struct Sessions {
    places: Vec<Underway>,
    /// The numbers of places that are not in use.
    free: Vec<u32>,
    /// The sessions that pause, by the instant at which their next step is due.
    pausing: BinaryHeap<Reverse<(u64, u32)>>,
}

struct Underway {
    slot: usize,
    /// The session's number in the load.
    seq: u64,
    /// The instant at which the session was due.
    began: u64,
    /// The next step, and the instant at which it is due.
    next: (u32, u64),
    /// The values that were taken from answers, by the index of their name.
    values: Vec<Vec<u8>>,
}

impl Sessions {
    /// Begins a session that was due at `began`, and returns its number.
    pub fn begin(&mut self, slot: usize, seq: u64, began: u64) -> u32 {
        let underway = Underway { slot, seq, began, next: (0, 0), values: Vec::new() };
        match self.free.pop() {
            Some(number) => {
                self.places[number as usize] = underway;
                number
            }
            None => {
                self.places.push(underway);
                self.places.len() as u32 - 1
            }
        }
    }

    /// Keeps values that were taken from an answer to this session, with the indices of their names.
    #[inline]
    pub fn keep(&mut self, number: u32, taken: Vec<(usize, Vec<u8>)>) {
        for (index, value) in taken {
            // A session of one step may take values, as a check that they are there.
            let Some(underway) = self.places.get_mut(number as usize) else { return };
            underway.values.resize(underway.values.len().max(index + 1), Vec::new());
            underway.values[index] = value;
        }
    }

    /// Forgets the session of this number. Does nothing if it is [`NO_SESSION`].
    #[inline]
    pub fn end(&mut self, number: u32) {
        if number != NO_SESSION {
            self.places[number as usize].values = Vec::new();
            self.free.push(number);
        }
    }

    /// The instant, in nanoseconds on the engine's clock, at which the session of this request was due. For a session
    /// of one step, it is when the request was due.
    #[inline]
    pub fn began(&self, request: InFlight) -> u64 {
        if request.session == NO_SESSION { request.due } else { self.places[request.session as usize].began }
    }

    /// `true` if no session is under way.
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.places.len()
    }

    /// The instant at which the next pause is over; `u64::MAX` if no session pauses.
    pub fn next_due_ns(&self) -> u64 {
        self.pausing.peek().map_or(u64::MAX, |Reverse((due, _))| *due)
    }

    fn take_due(&mut self, now: u64) -> Option<(u64, u32)> {
        let Reverse((due, _)) = self.pausing.peek()?;
        if *due > now {
            return None;
        }
        self.pausing.pop().map(|Reverse(due)| due)
    }
}

impl<T: Transport, C: Clock> Engine<'_, T, C> {
    /// Lets a session go on: its next step waits for its pause, or for the connection.
    pub(super) fn go_on(&mut self, slot: usize, session: u32, next: NextStep, now: u64) {
        let due = now.saturating_add(next.think_ns);
        self.sessions.places[session as usize].next = (next.step, due);
        let connection = &mut self.connections[slot];
        if next.think_ns == 0 {
            connection.waiting.push_back(session);
        } else {
            connection.pausing += 1;
            self.sessions.pausing.push(Reverse((due, session)));
        }
    }

    /// Goes on with the sessions whose pause is over.
    pub(super) fn end_pauses(&mut self) {
        for _ in 0..WAKE_BATCH {
            let now = self.now();
            if self.open_loop.is_none() && self.schedule.is_over(now) {
                return;
            }
            let Some((due, session)) = self.sessions.take_due(now) else { return };
            let slot = self.sessions.places[session as usize].slot;
            let connection = &mut self.connections[slot];
            connection.pausing -= 1;
            connection.waiting.push_back(session);
            if self.open_loop.is_some() && connection.is_free() {
                let began = self.sessions.places[session as usize].began;
                self.recorder.record_send_lag(began, now - due);
            }
            self.send_waiting(slot, now);
            self.flush_layers(slot);
        }
    }

    /// Sends the steps that are due on this connection, as far as it can take them. A closed loop has a closed
    /// connection opened for them; an open loop opens it anyhow.
    pub(super) fn send_waiting(&mut self, slot: usize, now: u64) {
        if self.connections[slot].waiting.is_empty() || self.open_loop.is_none() && self.schedule.is_over(now)
        {
            return;
        }
        loop {
            let connection = &mut self.connections[slot];
            if !connection.is_free() {
                let is_closed = connection.state == ConnectionState::Closed;
                if self.open_loop.is_none() && is_closed && connection.when_open == WhenOpen::Nothing {
                    connection.when_open = WhenOpen::GoOn;
                    self.opening.enqueue(slot, now);
                }
                return;
            }
            let Some(session) = connection.waiting.pop_front() else { return };
            let Underway { seq, next: (step, due), values, .. } = &self.sessions.places[session as usize];
            let given = Given {
                seq: *seq,
                connection: self.first_connection + slot as u64,
                cookies: Some(&self.connections[slot].incoming.cookies),
                values,
            };
            let request = InFlight::new(*due, now, *step, session);
            let next = self.requests.request(*step, &given, || self.transport.spare());
            self.send(slot, request, next);
        }
    }

    /// Fails the steps that wait for this connection, because none can be had, or because it takes no request.
    pub(super) fn fail_waiting(&mut self, slot: usize, failure: Failure, now: u64) {
        while let Some(session) = self.connections[slot].waiting.pop_front() {
            self.fail_unsent(slot, session, failure, now);
        }
    }

    /// Counts the steps of an open loop that have waited for longer than a time-out as unsent. Returns the instant at
    /// which the oldest of the others was due; `None` if there is none.
    pub(super) fn expire_waiting(&mut self, slot: usize, now: u64) -> Option<u64> {
        self.open_loop.as_ref()?;
        while let Some(&session) = self.connections[slot].waiting.front() {
            let (_, due) = self.sessions.places[session as usize].next;
            if now.saturating_sub(due) <= self.timeout_ns {
                return Some(due);
            }
            self.connections[slot].waiting.pop_front();
            self.fail_unsent(slot, session, Failure::Unsent, now);
        }
        None
    }

    fn fail_unsent(&mut self, slot: usize, session: u32, failure: Failure, now: u64) {
        let (step, due) = self.sessions.places[session as usize].next;
        self.finish_request(slot, InFlight::new(due, due, step, session), Some(failure), None, now);
    }
}
