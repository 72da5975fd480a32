//! A simulated clock and transport, for tests. Time passes only while the engine waits, or when a script says so. So
//! a test can say to the nanosecond what an engine makes of a known server.
//!
//! A connect is done as soon as it is asked for, and bytes arrive the moment they are sent, unless the server's
//! script says otherwise.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use super::Engine;
use super::duty::Duty;
use crate::clock::Clock;
use crate::protocol::layers::Dialect;
use crate::record::aggregate::Aggregate;
use crate::request::source::RequestSource;
use crate::transport::{Transport, TransportEvent};
use crate::{Event, Load, Outcome};

/// The time in ns of a look for events that finds none.
pub const LOOK: u64 = 1_000;
/// The most waits of an engine, more than any script takes: an engine that goes round in circles fails the test, and
/// does not hang it.
const MOST_WAITS: u64 = 20_000_000;

/// The simulated time in ns, shared by all clones of this value.
#[derive(Clone, Default)]
pub struct Time(Rc<Shared>);

#[derive(Default)]
struct Shared {
    now: Cell<u64>,
    standstills: RefCell<Vec<Range<u64>>>,
}

impl Time {
    pub fn now(&self) -> u64 {
        self.0.now.get()
    }

    /// Sets the time to `at`, or to the end of a standstill of the machine that contains `at`. Time never goes back.
    pub fn reach(&self, at: u64) {
        let at = at.max(self.now());
        let standstills = self.0.standstills.borrow();
        self.0.now.set(standstills.iter().find(|still| still.contains(&at)).map_or(at, |still| still.end));
    }

    /// Lets `ns` nanoseconds pass.
    pub fn pass(&self, ns: u64) {
        self.reach(self.now() + ns);
    }

    /// Makes the machine stand still in this range of instants: whoever would wake within it wakes at its end.
    pub fn stand_still(&self, when: Range<u64>) {
        self.0.standstills.borrow_mut().push(when);
    }
}

/// A clock that counts simulated time from a given instant.
pub struct SimulatedClock {
    time: Time,
    from: u64,
}

impl Clock for SimulatedClock {
    fn elapsed_ns(&self) -> u64 {
        self.time.now() - self.from
    }
}

/// An act of a simulated server on a connection.
#[derive(Debug, Clone)]
pub enum Deed {
    /// The server sends these bytes.
    Say(Vec<u8>),
    /// The server ends the connection.
    End,
}

/// The acts of a server, each with its instant in ns.
pub type Deeds = Vec<(u64, Deed)>;

/// The script of a simulated server. Connections are counted from 1, in the order in which they were asked for.
pub trait Server {
    /// The outcome of the client's connect, and the instant in ns at which the client learns it; `None` if the client
    /// never learns it.
    fn connect(&mut self, _connection: u64, at: u64) -> Option<(u64, Result<(), Errno>)> {
        Some((at, Ok(())))
    }

    /// The acts of the server on a connection that was asked for just now, whatever it receives.
    fn accepts(&mut self, _connection: u64, _at: u64) -> Deeds {
        Deeds::new()
    }

    /// The server receives these bytes, and answers with acts.
    fn receive(&mut self, connection: u64, at: u64, bytes: &[u8]) -> Deeds;

    /// The client has closed the connection.
    fn closed(&mut self, _connection: u64, _at: u64) {}
}

impl<S: Server> Server for &mut S {
    fn connect(&mut self, connection: u64, at: u64) -> Option<(u64, Result<(), Errno>)> {
        (**self).connect(connection, at)
    }

    fn accepts(&mut self, connection: u64, at: u64) -> Deeds {
        (**self).accepts(connection, at)
    }

    fn receive(&mut self, connection: u64, at: u64, bytes: &[u8]) -> Deeds {
        (**self).receive(connection, at, bytes)
    }

    fn closed(&mut self, connection: u64, at: u64) {
        (**self).closed(connection, at);
    }
}

/// The arrival of a request: its instant, its number from 1, its connection, and its number on that connection.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    pub at: u64,
    pub request: u64,
    pub connection: u64,
    pub on_connection: u64,
}

/// A server that answers each request by a script. In HTTP/1.1 the engine sends each request as one piece.
pub struct Answering<F> {
    answer: F,
    requests: u64,
    on_connections: BTreeMap<u64, u64>,
}

impl<F: FnMut(Turn) -> Deeds> Answering<F> {
    pub fn new(answer: F) -> Answering<F> {
        Answering { answer, requests: 0, on_connections: BTreeMap::new() }
    }
}

impl<F: FnMut(Turn) -> Deeds> Server for Answering<F> {
    fn receive(&mut self, connection: u64, at: u64, bytes: &[u8]) -> Deeds {
        assert!(bytes.ends_with(b"\r\n\r\n"), "{:?} is not one request", String::from_utf8_lossy(bytes));
        self.requests += 1;
        let on_connection = self.on_connections.entry(connection).or_default();
        *on_connection += 1;
        (self.answer)(Turn { at, request: self.requests, connection, on_connection: *on_connection })
    }
}

/// A server with one script for its connects, and another server for the rest.
pub struct Connecting<C, S> {
    pub connect: C,
    pub server: S,
}

impl<C: FnMut(u64, u64) -> Option<(u64, Result<(), Errno>)>, S: Server> Server for Connecting<C, S> {
    fn connect(&mut self, connection: u64, at: u64) -> Option<(u64, Result<(), Errno>)> {
        (self.connect)(connection, at)
    }

    fn receive(&mut self, connection: u64, at: u64, bytes: &[u8]) -> Deeds {
        self.server.receive(connection, at, bytes)
    }

    fn closed(&mut self, connection: u64, at: u64) {
        self.server.closed(connection, at);
    }
}

enum Occurs {
    Connected(Result<(), Errno>),
    Does(Deed),
}

struct Simulated<S> {
    time: Time,
    fixed: Vec<Box<[u8]>>,
    server: S,
    /// The number of the connection in each slot; `None` if the slot has none.
    slots: Vec<Option<u64>>,
    connects: u64,
    /// Events to come, by their instant, and then in the order in which they were made.
    to_come: BTreeMap<(u64, u64), (usize, u64, Occurs)>,
    known: u64,
    found: VecDeque<(usize, u64, Occurs)>,
    said: Vec<u8>,
    wakes_late: u64,
    waits: Rc<Cell<u64>>,
    stops_at: Option<u64>,
    stop: Rc<AtomicBool>,
}

impl<S: Server> Simulated<S> {
    fn comes(&mut self, at: u64, slot: usize, connection: u64, what: Occurs) {
        self.known += 1;
        self.to_come.insert((at, self.known), (slot, connection, what));
    }

    fn receive(&mut self, slot: usize, bytes: &[u8]) -> Result<(), Errno> {
        let connection = self.slots[slot].ok_or(Errno::NOTCONN)?;
        for (at, deed) in self.server.receive(connection, self.time.now(), bytes) {
            self.comes(at, slot, connection, Occurs::Does(deed));
        }
        Ok(())
    }

    /// Moves the events that have come by now to `found`. Returns `true` if `found` has any.
    fn find(&mut self) -> bool {
        while let Some(first) = self.to_come.first_entry().filter(|it| it.key().0 <= self.time.now()) {
            let occurs = first.remove();
            if self.slots[occurs.0] == Some(occurs.1) {
                self.found.push_back(occurs);
            }
        }
        !self.found.is_empty()
    }
}

impl<S: Server> Transport for Simulated<S> {
    fn connect(&mut self, slot: usize) -> Result<(), Errno> {
        self.connects += 1;
        let connection = self.connects;
        self.slots[slot] = Some(connection);
        if let Some((at, result)) = self.server.connect(connection, self.time.now()) {
            self.comes(at, slot, connection, Occurs::Connected(result));
        }
        for (at, deed) in self.server.accepts(connection, self.time.now()) {
            self.comes(at, slot, connection, Occurs::Does(deed));
        }
        Ok(())
    }

    fn send_fixed(&mut self, slot: usize, which: usize) -> Result<(), Errno> {
        let bytes = self.fixed[which].clone();
        self.receive(slot, &bytes)
    }

    fn send(&mut self, slot: usize, bytes: Vec<u8>) -> Result<(), Errno> {
        self.receive(slot, &bytes)
    }

    fn flush(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    fn spare(&mut self) -> Vec<u8> {
        Vec::new()
    }

    fn is_sending(&self, _slot: usize) -> bool {
        false
    }

    fn unsent(&self, _slot: usize) -> usize {
        0
    }

    fn close(&mut self, slot: usize) {
        if let Some(connection) = self.slots[slot].take() {
            self.server.closed(connection, self.time.now());
        }
    }

    fn wait(&mut self, timeout_ns: u64) -> Result<bool, Errno> {
        self.waits.set(self.waits.get() + 1);
        assert!(self.waits.get() < MOST_WAITS, "the engine goes round in circles");
        let sleeps = !self.find() && timeout_ns > 0;
        if sleeps {
            let over = self.time.now() + timeout_ns;
            let next = self.to_come.first_key_value().map_or(over, |((at, _), _)| *at);
            self.time.reach(next.min(over));
            self.time.pass(self.wakes_late);
        } else if self.found.is_empty() {
            self.time.pass(LOOK);
        }
        self.find();
        if self.stops_at.is_some_and(|at| self.time.now() >= at) {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(sleeps)
    }

    fn next(&mut self) -> Option<(usize, TransportEvent<'_>)> {
        loop {
            let (slot, connection, what) = self.found.pop_front()?;
            if self.slots[slot] != Some(connection) {
                continue;
            }
            let event = match what {
                Occurs::Connected(result) => TransportEvent::Connected(result),
                Occurs::Does(Deed::Say(bytes)) => {
                    self.said = bytes;
                    TransportEvent::Received(&self.said)
                }
                Occurs::Does(Deed::End) => TransportEvent::Ended,
            };
            return Some((slot, event));
        }
    }
}

/// A simulated machine, on which an engine runs.
#[derive(Clone, Default)]
pub struct Machine {
    pub time: Time,
    /// The time in ns by which a sleeper wakes later than it should.
    pub wakes_late: u64,
    /// The number of waits of this machine's engines, with sleep or without.
    pub waits: Rc<Cell<u64>>,
    /// The instant, in nanoseconds, at which the load is told to stop; `None` for never.
    pub stops_at: Option<u64>,
    /// The flag by which the load is told to stop.
    pub stop: Rc<AtomicBool>,
}

impl Machine {
    /// Offers the load to this server, and returns the outcome. Time goes on from where it is; the clock of the load
    /// counts from the load's beginning.
    pub fn run(&self, load: &Load, server: impl Server) -> Outcome {
        self.run_with(load, server, &mut |_| {})
    }

    /// Offers the load to this server as [`run`](Self::run) does, and passes on the load's events as they happen.
    pub fn run_with(&self, load: &Load, server: impl Server, on_event: &mut dyn FnMut(Event)) -> Outcome {
        load.check().unwrap();
        let requests = RequestSource::new(load).unwrap();
        let dialect = Dialect::new(load).unwrap();
        let mut aggregate = Aggregate::new(1, load.arrivals.is_some(), on_event);
        let duty = Duty::of_thread(load, &requests, &dialect, 0, 1);
        let transport = Simulated {
            time: self.time.clone(),
            fixed: requests.fixed.clone(),
            server,
            slots: vec![None; duty.all_connections()],
            connects: 0,
            to_come: BTreeMap::new(),
            known: 0,
            found: VecDeque::new(),
            said: Vec::new(),
            wakes_late: self.wakes_late,
            waits: self.waits.clone(),
            stops_at: self.stops_at,
            stop: self.stop.clone(),
        };
        let clock = || SimulatedClock { time: self.time.clone(), from: self.time.now() };
        let mut tell = |event: crate::record::aggregate::EngineEvent| aggregate.take(event);
        let engine = Engine::new(load, duty, requests.of_thread(0, 1), transport, clock(), &mut tell);
        let outcome = engine.run(&self.stop, clock).unwrap();
        let outcome = aggregate.finish(vec![outcome], load.pace);
        assert_eq!(outcome.requests, outcome.ok + outcome.errors.total());
        assert_eq!(outcome.response.len(), outcome.ok);
        outcome
    }
}
