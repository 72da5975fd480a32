//! One connection of an engine, in its slot: its state, its requests that are on their way, and what it has heard.
//! The transport has the socket of the slot.

use std::collections::VecDeque;

use crate::in_flight::{InFlight, NOT_YET};
use crate::protocol::incoming::{Awaited, ExpectedAnswer, Heard, Incoming};
use crate::protocol::layers::Layers;
use crate::record::errors::Failure;

/// The thing to do as soon as a connection is open, in a closed loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum WhenOpen {
    /// Nothing waits for this connection to be opened.
    #[default]
    Nothing,
    /// A session was begun for this connection: its first request is sent.
    Begin,
    /// Sessions that began before go on.
    GoOn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionState {
    Closed,
    /// The connect began at this instant, in ns on the engine's clock, and is not finished. The handshakes of TLS and
    /// HTTP/2 are part of it.
    Connecting(u64),
    Open,
}

pub(crate) struct Connection {
    pub state: ConnectionState,
    /// The requests that are on their way, the oldest first. In HTTP/1.1 answers come in this order; in HTTP/2 each
    /// answer names its request.
    pub in_flight: VecDeque<InFlight>,
    pub when_open: WhenOpen,
    /// The sessions whose next step is due, and waits for this connection; the oldest first.
    pub waiting: VecDeque<u32>,
    /// The number of sessions on this connection that pause before their next step.
    pub pausing: usize,
    /// [`Opening`](crate::engine::opening) holds this connection until all have had their first answer.
    pub held: bool,
    /// The slot has had an established connection before, so that another one is a reconnect.
    pub connected_before: bool,
    /// [`Opening`](crate::engine::opening) counts this connection as being opened.
    pub opening: bool,
    /// The slot has been given its first request of a closed loop. A connection that replaces another in the slot
    /// keeps this.
    pub begun: bool,
    /// The connection is in the open loop's queue of idle connections, and so must not be put there again.
    pub idle: bool,
    /// The number of requests that were sent on this connection.
    pub sent: u64,
    /// The number of requests that one connection may carry.
    most_requests: u64,
    /// The most requests that may now be on their way on this connection.
    pub room: usize,
    /// The instant since which `room` is 0, in ns on the engine's clock; `None` if it is not 0.
    pub no_room_since: Option<u64>,
    /// The server has sent bytes that no request had asked for. The next request on this connection has them for an
    /// answer, and fails.
    pub unasked: bool,
    /// The connection's layers: TLS, HTTP/2 or both. `None` for HTTP/1.1 in the clear, which so has no cost for them,
    /// and while the connection is closed.
    pub layers: Option<Box<Layers>>,
    pub incoming: Incoming,
    /// The turn that says which session the slot begins next.
    pub turn: u32,
}

impl Connection {
    pub fn new(room: usize, most_requests: u64, turn: u32) -> Connection {
        Connection {
            state: ConnectionState::Closed,
            in_flight: VecDeque::new(),
            when_open: WhenOpen::Nothing,
            waiting: VecDeque::new(),
            pausing: 0,
            held: false,
            connected_before: false,
            opening: false,
            begun: false,
            idle: false,
            sent: 0,
            most_requests,
            room,
            no_room_since: None,
            unasked: false,
            layers: None,
            incoming: Incoming::new(),
            turn,
        }
    }

    /// The number of sessions that have this connection: a request on its way, or a step to come.
    pub fn sessions(&self) -> usize {
        self.in_flight.len() + self.waiting.len() + self.pausing
    }

    /// `true` if another session can begin on this connection.
    pub fn can_take(&self) -> bool {
        self.state == ConnectionState::Open && self.sessions() < self.room && !self.is_used_up()
    }

    /// `true` if another step of a session can be sent on this connection.
    pub fn is_free(&self) -> bool {
        self.state == ConnectionState::Open && self.in_flight.len() < self.room && !self.is_used_up()
    }

    /// `true` if the connection has had as many requests as it may carry, and so takes no other.
    pub fn is_used_up(&self) -> bool {
        self.sent >= self.most_requests
    }

    /// `true` if the connection is used up and has the answer to each of its requests.
    pub fn is_over(&self) -> bool {
        self.is_used_up() && self.in_flight.is_empty()
    }

    /// Sets the most requests that may be on their way. Returns `true` if that is more than before. `now` is in ns on
    /// the engine's clock.
    pub fn allow(&mut self, room: usize, now: u64) -> bool {
        let grew = room > self.room;
        self.room = room;
        self.no_room_since = if room == 0 { self.no_room_since.or(Some(now)) } else { None };
        grew
    }

    /// The instant, in ns on the engine's clock, since which the server allows no request, if the connection is open
    /// and has none on its way; otherwise `None`.
    pub fn starved_since(&self) -> Option<u64> {
        self.no_room_since.filter(|_| self.state == ConnectionState::Open && self.in_flight.is_empty())
    }

    /// `true` if requests on their way are independent of each other, as in HTTP/2.
    pub fn is_multiplexed(&self) -> bool {
        self.layers.as_ref().is_some_and(|layers| layers.is_multiplexed())
    }

    /// `true` if a time-out of the oldest request ends the whole connection. In HTTP/1.1 it always does, because no
    /// later answer can overtake; in HTTP/2 only if nothing has come since that request was sent.
    pub fn silent_for_oldest(&self) -> bool {
        let Some(layers) = self.layers.as_ref().filter(|layers| layers.is_multiplexed()) else { return true };
        self.in_flight.front().is_none_or(|request| layers.heard_at <= request.sent)
    }

    pub fn connecting(&mut self, now: u64, layers: Option<Box<Layers>>) {
        self.layers = layers;
        self.sent = 0;
        self.unasked = false;
        self.state = ConnectionState::Connecting(now);
        self.incoming.reset();
    }

    /// Reads bytes that came, and puts the answers that they complete into `heard`. An error ends the connection,
    /// after those answers.
    pub fn hear(
        &mut self,
        bytes: &[u8],
        expected: &[ExpectedAnswer],
        heard: &mut Heard,
    ) -> Result<(), Failure> {
        let awaited = Awaited { in_flight: &self.in_flight, expected };
        match &mut self.layers {
            None => self.incoming.hear(bytes, awaited, heard),
            Some(layers) => layers.hear(bytes, &mut self.incoming, awaited, heard),
        }
    }

    /// `true` if the answer to the oldest request has begun to come, and its instant is not noted yet. Only for
    /// HTTP/1.1: in HTTP/2 several answers may have begun.
    #[inline]
    pub fn lacks_first_byte(&self) -> bool {
        self.incoming.has_begun() && self.in_flight.front().is_some_and(|it| it.first_byte == NOT_YET)
    }

    /// Notes `now` as the instant of the first byte of each answer that has begun to come, and was not noted before.
    /// Answers that are whole must have been taken.
    #[inline]
    pub fn note_first_bytes(&mut self, now: u64) {
        match &self.layers {
            Some(layers) if layers.is_multiplexed() => {
                for (request, begun) in self.in_flight.iter_mut().zip(layers.begun()) {
                    if begun {
                        request.first_byte = request.first_byte.min(now);
                    }
                }
            }
            _ if self.lacks_first_byte() => self.in_flight[0].first_byte = now,
            _ => {}
        }
    }

    /// Handles that the server has closed its side, which may be how an answer ends. Such an answer is put into
    /// `heard`. An error ends the connection.
    pub fn end(&mut self, expected: &[ExpectedAnswer], heard: &mut Heard) -> Result<(), Failure> {
        let awaited = Awaited { in_flight: &self.in_flight, expected };
        match &mut self.layers {
            None => self.incoming.end(awaited, heard),
            Some(layers) => Err(layers.end(heard)),
        }
    }
}
