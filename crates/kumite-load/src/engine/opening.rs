//! Opening connections without disturbing what is measured.
//!
//! There are three rules. At most [`OPENING_LIMIT`] connects of an engine are in flight at once. After a connect that
//! failed, the next attempt comes [`BACK_OFF_NS`] later. In a closed loop every connection has its first answer, or
//! has failed, before any gets a second request, unless that takes longer than [`HELD_LIMIT_NS`]. [`Opening`] keeps
//! the queues for these rules, and the methods of [`Engine`] below go through them. Connections of a burst keep to
//! none of the rules, because a burst is to open all of them at once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use super::{Engine, STOP_POLL_NS};
use crate::clock::Clock;
use crate::connection::{Connection, ConnectionState, WhenOpen};
use crate::in_flight::{InFlight, NO_SESSION};
use crate::record::errors::Failure;
use crate::transport::Transport;

/// The most connections that an engine opens at once, so that a listen queue of 128, a common default, is not
/// overrun: the kernel drops what does not fit, and tries again only after a second.
const OPENING_LIMIT: usize = 64;
/// The longest time in ns for which a slot's first connection counts as being opened while it has no answer. For the
/// client a connect is done before the server has accepted it, so such a connection counts as being opened until its
/// first answer; without a time limit, a server that is slow to answer would have to answer the first connections
/// before it saw the next.
const ACCEPT_NS: u64 = 10_000_000;
/// The time in ns for which a connection rests after it could not be established: a server that refuses must not make
/// the engine spin.
const BACK_OFF_NS: u64 = 10_000_000;
/// The longest time in ns for which connections wait until all have their first answer: a server that does not take
/// all connections, or is slow to, must not keep the others waiting for ever.
const HELD_LIMIT_NS: u64 = 1_000_000_000;

/// The connections, by slot, that are to be opened, are being opened, or wait until all have had an answer.
pub(super) struct Opening {
    /// The connections to be opened, in this order, as soon as fewer than [`OPENING_LIMIT`] are being opened.
    waiting: VecDeque<usize>,
    /// The connections that rest after a failure, each with the instant until which it rests, ascending.
    resting: VecDeque<(u64, usize)>,
    /// The connections that wait for their place in the spread, by the instant of that.
    spread: BinaryHeap<Reverse<(u64, usize)>>,
    /// The time in ns that the places of the first and the last connection are apart, once a pause has begun; 0 before
    /// that, and if connections are not to be spread.
    spread_ns: u64,
    /// The number of connections that carry the load, which all have places of their own.
    places: usize,
    /// The number of connections being opened, without a burst's: never more than [`OPENING_LIMIT`].
    in_progress: usize,
    /// The connections that are established for the first time, but perhaps not accepted yet, each with the instant
    /// until which it counts as being opened at the latest, ascending.
    accepting: VecDeque<(u64, usize)>,
    /// The connections that have had their first answer and wait until all have. `None` once they go on, and in an
    /// open loop, which begins when its connections are open.
    ///
    /// A server under load may take new connections very slowly: Node.js takes one in a turn of its event loop, and
    /// serves all others in that turn. Without this wait the last of hundreds would time out before it is taken, and
    /// so would those that replace it.
    held: Option<Vec<usize>>,
    /// The number of connections that have been given their first request.
    begun: usize,
}

impl Opening {
    /// `places` is the number of connections that carry the load.
    pub fn new(open_loop: bool, places: usize) -> Opening {
        Opening {
            waiting: VecDeque::new(),
            resting: VecDeque::new(),
            spread: BinaryHeap::new(),
            spread_ns: 0,
            places,
            in_progress: 0,
            accepting: VecDeque::new(),
            held: (!open_loop).then(Vec::new),
            begun: 0,
        }
    }

    /// Queues a connection to be opened: at once, or at its place in the spread, counted from now.
    pub fn enqueue(&mut self, slot: usize, now: u64) {
        if self.spread_ns == 0 {
            return self.waiting.push_back(slot);
        }
        let after = u128::from(self.spread_ns) * (slot % self.places) as u128 / self.places as u128;
        self.spread.push(Reverse((now + after as u64, slot)));
    }

    /// Lets the connections be opened whose place in the spread has come.
    fn end_spread(&mut self, now: u64) {
        while let Some(&Reverse((_, slot))) = self.spread.peek().filter(|Reverse((at, _))| *at <= now) {
            self.spread.pop();
            self.waiting.push_back(slot);
        }
    }

    /// Spreads connections that are queued from now on over so many ns.
    pub fn spread_over(&mut self, ns: u64) {
        self.spread_ns = ns;
    }

    /// Takes the next connection to open, and counts it as being opened. `None` if none waits, or [`OPENING_LIMIT`]
    /// are being opened.
    fn next_to_open(&mut self, connections: &mut [Connection]) -> Option<usize> {
        if self.in_progress >= OPENING_LIMIT {
            return None;
        }
        let slot = self.waiting.pop_front()?;
        // It may count already, if the connection before it ended before it counted as accepted.
        self.in_progress += usize::from(!std::mem::replace(&mut connections[slot].opening, true));
        Some(slot)
    }

    /// Counts a connection as no longer being opened, whatever became of it. Does nothing if it was counted before.
    #[inline]
    pub fn count_opened(&mut self, connection: &mut Connection) {
        self.in_progress -= usize::from(std::mem::take(&mut connection.opening));
    }

    /// The instant at which the next connection has rested, counts as accepted, or has its place in the spread;
    /// `u64::MAX` if none is waited for.
    pub fn next_resume_ns(&self) -> u64 {
        let front = |queue: &VecDeque<(u64, usize)>| queue.front().map_or(u64::MAX, |(until, _)| *until);
        let spread = self.spread.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        front(&self.resting).min(front(&self.accepting)).min(spread)
    }

    /// The latest instant at which connections that are held go on; `u64::MAX` if none are held any more.
    pub fn held_until_ns(&self) -> u64 {
        if self.held.is_some() { HELD_LIMIT_NS } else { u64::MAX }
    }

    /// Counts a connection that is given its first request.
    #[inline]
    pub fn mark_begun(&mut self, connection: &mut Connection) {
        self.begun += usize::from(!std::mem::replace(&mut connection.begun, true));
    }

    /// `true` if this connection has had its first request, and must wait with the next one until all have had their
    /// answer. If nothing is in flight on it, it is held, and [`release_held`](Self::release_held) returns it later. The
    /// session of that first request goes on meanwhile.
    #[inline]
    pub fn hold_until_all_answered(&mut self, slot: usize, connection: &mut Connection) -> bool {
        let Some(held) = self.held.as_mut().filter(|_| connection.begun) else { return false };
        if connection.in_flight.is_empty() && !std::mem::replace(&mut connection.held, true) {
            held.push(slot);
        }
        true
    }

    pub fn is_holding(&self) -> bool {
        self.held.is_some()
    }

    /// Returns the connections that were held when all have had their first answer, or a second after the beginning. It
    /// does so once: `None` before and after that.
    fn release_held(&mut self, now: u64) -> Option<Vec<usize>> {
        self.held.take_if(|held| held.len() == self.begun || now >= HELD_LIMIT_NS)
    }

    /// Sets the instants of resting and accepting connections to 0, because the clock begins anew and earlier
    /// instants mean nothing.
    fn restart_clock(&mut self) {
        for (until, _) in self.resting.iter_mut().chain(&mut self.accepting) {
            *until = 0;
        }
    }
}

/// `true` for an error by which this machine says that it can open no more connections, whatever the server does. A
/// load that meets one ends: to go on would be to measure this machine's limit and call it the server's.
pub(crate) fn is_local_shortage(error: Errno) -> bool {
    [Errno::ADDRNOTAVAIL, Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM].contains(&error)
}

impl<T: Transport, C: Clock> Engine<'_, T, C> {
    /// Opens connections before the load begins: those that carry no request, and in an open loop all others, too. Ends
    /// when all are open, or after a second and another 20 ms for each 64 connections that carry no request. The load's
    /// clock begins after that, so the opening is in no figure.
    pub(super) fn open_all(&mut self, stop: &AtomicBool) -> Result<(), Errno> {
        let idle = self.connections.len() - self.first_idle;
        let loaded = if self.open_loop.is_some() { self.base_connections } else { 0 };
        (self.first_idle..self.connections.len())
            .chain(0..loaded)
            .for_each(|slot| self.opening.enqueue(slot, 0));
        let limit = HELD_LIMIT_NS + idle.div_ceil(OPENING_LIMIT) as u64 * 2 * ACCEPT_NS;
        while (self.free_connections() < loaded || self.idle_open < idle)
            && self.now() < limit
            && !stop.load(Ordering::Relaxed)
        {
            self.resume_due(self.now());
            self.local_shortage.map_or(Ok(()), Err)?;
            // Only deadlines of opening count here: those of the load itself are instants of another clock.
            let due = self.opening.next_resume_ns().min(limit);
            self.transport.wait(due.saturating_sub(self.now()).min(STOP_POLL_NS))?;
            self.handle_events();
        }
        self.opening.restart_clock();
        for connection in &mut self.connections {
            if let ConnectionState::Connecting(since) = &mut connection.state {
                *since = 0;
            }
        }
        Ok(())
    }

    /// Goes on with connections that have rested, count as accepted, or were held, and then opens as many as may be
    /// opened.
    pub(super) fn resume_due(&mut self, now: u64) {
        while let Some((_, slot)) = self.opening.resting.pop_front_if(|(until, _)| *until <= now) {
            self.proceed(slot, now);
        }
        while let Some((_, slot)) = self.opening.accepting.pop_front_if(|(until, _)| *until <= now) {
            self.opening.count_opened(&mut self.connections[slot]);
        }
        self.opening.end_spread(now);
        self.connect_waiting();
        if self.has_begun
            && let Some(held) = self.opening.release_held(now)
        {
            for slot in held {
                self.proceed(slot, self.now());
            }
            self.connect_waiting();
        }
    }

    fn connect_waiting(&mut self) {
        while let Some(slot) = self.opening.next_to_open(&mut self.connections) {
            self.connect(slot);
        }
    }

    pub(super) fn connect(&mut self, slot: usize) {
        let now = self.now();
        let layers = match self.dialect.layers() {
            Ok(layers) => layers,
            Err(why) => {
                self.recorder.describe_first_wrong(|| why.to_string());
                return self.connect_failed(slot, Failure::Connect, now);
            }
        };
        self.connections[slot].connecting(now, layers);
        if let Err(error) = self.transport.connect(slot) {
            self.connect_refused(slot, error);
        }
    }

    pub(super) fn connect_ended(&mut self, slot: usize, result: Result<(), Errno>) {
        match result {
            Err(error) => self.connect_refused(slot, error),
            Ok(()) => match &mut self.connections[slot].layers {
                None => self.connection_ready(slot),
                Some(layers) => {
                    layers.connected();
                    self.flush_layers(slot);
                }
            },
        }
    }

    /// Handles a connect that failed with an error of the system.
    fn connect_refused(&mut self, slot: usize, error: Errno) {
        if is_local_shortage(error) {
            self.local_shortage = Some(error);
        }
        self.recorder.describe_first_wrong(|| format!("no connection to {}: {error}", self.server_address));
        let failure = if error == Errno::CONNREFUSED { Failure::Refused } else { Failure::Connect };
        self.connect_failed(slot, failure, self.now());
    }

    /// Lets a connection carry requests from now on. If it has layers, they have finished their handshakes.
    pub(super) fn connection_ready(&mut self, slot: usize) {
        let now = self.now();
        let connection = &mut self.connections[slot];
        connection.state = ConnectionState::Open;
        if self.is_idle_slot(slot) {
            self.idle_open += 1;
            self.opening.accepting.push_back((now + ACCEPT_NS, slot));
            return;
        }
        let connection = &mut self.connections[slot];
        if std::mem::replace(&mut connection.connected_before, true) {
            if self.has_begun {
                self.recorder.count_reconnect(now);
            }
            self.opening.count_opened(connection);
        } else {
            self.opening.accepting.push_back((now + ACCEPT_NS, slot));
        }
        if self.open_loop.is_some() && slot < self.base_connections {
            return self.proceed(slot, now);
        }
        let when_open = std::mem::take(&mut self.connections[slot].when_open);
        if when_open == WhenOpen::Begin || slot >= self.base_connections {
            self.begin(slot, now, now);
        }
        self.proceed(slot, now);
    }

    /// Handles a connection that could not be established. In a closed loop, and in a burst, the request that it was
    /// opened for fails. In an open loop no request was given to it: those that are due wait for another connection.
    pub(super) fn connect_failed(&mut self, slot: usize, failure: Failure, now: u64) {
        let since = match self.connections[slot].state {
            ConnectionState::Connecting(since) => since,
            ConnectionState::Open | ConnectionState::Closed => now,
        };
        let when_open = std::mem::take(&mut self.connections[slot].when_open);
        self.close(slot);
        if self.is_idle_slot(slot) || self.open_loop.is_some() && slot < self.base_connections {
            self.opening.count_opened(&mut self.connections[slot]);
        } else if when_open == WhenOpen::GoOn {
            self.fail_waiting(slot, failure, now);
            self.opening.count_opened(&mut self.connections[slot]);
        } else {
            let step = self.requests.begin(&mut self.connections[slot].turn).step;
            self.finish_request(
                slot,
                InFlight::new(since, since, step, NO_SESSION),
                Some(failure),
                None,
                now,
            );
        }
        if slot < self.base_connections || self.is_idle_slot(slot) {
            self.opening.resting.push_back((now + BACK_OFF_NS, slot));
        }
    }
}
