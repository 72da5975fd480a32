//! One connection of an engine, in its slot: its state, the requests that are on their way on it, and what it has
//! heard. The socket is the transport's, under the same number.

use std::collections::VecDeque;

use crate::protocol::incoming::{ExpectedAnswer, Heard, Incoming};
use crate::protocol::layers::Layers;
use crate::record::errors::Failure;

/// A request that was sent and is not finished. Instants are ns on the engine's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// When it should have been sent: its response time counts from here. In a closed loop the same as `sent`.
    pub due: u64,
    pub sent: u64,
    /// Index among the load's targets.
    pub target: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionState {
    Closed,
    /// Since this instant, on the engine's clock.
    Connecting(u64),
    Open,
}

pub(crate) struct Connection {
    pub state: ConnectionState,
    /// The oldest first. In HTTP/1.1 answers come in this order; in HTTP/2 each names its own.
    pub in_flight: VecDeque<InFlight>,
    /// A request was begun for it, and is sent as soon as it is open.
    pub send_when_open: bool,
    /// It has been established before: establishing it again is a reconnect.
    pub connected_before: bool,
    /// [`Opening`](crate::engine::opening) counts it as being opened.
    pub opening: bool,
    /// It has been given its first request.
    pub begun: bool,
    /// It is in the open loop's queue of idle connections, and so must not be put there again.
    pub idle: bool,
    /// The most requests that may be on their way now.
    pub room: usize,
    /// Since when `room` is 0; `None` if it is not.
    pub no_room_since: Option<u64>,
    /// The server has sent something that no request had asked for: the next request on it has that for an answer,
    /// and fails.
    pub unasked: bool,
    /// TLS, HTTP/2 or both; `None` for HTTP/1.1 in the clear, which pays for neither.
    pub layers: Option<Box<Layers>>,
    pub incoming: Incoming,
}

impl Connection {
    pub fn new(room: usize) -> Connection {
        Connection {
            state: ConnectionState::Closed,
            in_flight: VecDeque::new(),
            send_when_open: false,
            connected_before: false,
            opening: false,
            begun: false,
            idle: false,
            room,
            no_room_since: None,
            unasked: false,
            layers: None,
            incoming: Incoming::new(),
        }
    }

    pub fn can_take(&self) -> bool {
        self.state == ConnectionState::Open && self.in_flight.len() < self.room
    }

    /// Sets the most requests that may be on their way. Returns `true` if that is more than before.
    pub fn allow(&mut self, room: usize, now: u64) -> bool {
        let grew = room > self.room;
        self.room = room;
        self.no_room_since = if room == 0 { self.no_room_since.or(Some(now)) } else { None };
        grew
    }

    /// Since when it is open and idle, and the server allows no request; `None` if that is not so.
    pub fn starved_since(&self) -> Option<u64> {
        self.no_room_since.filter(|_| self.state == ConnectionState::Open && self.in_flight.is_empty())
    }

    /// Requests on their way are independent of each other: HTTP/2.
    pub fn is_multiplexed(&self) -> bool {
        self.layers.as_ref().is_some_and(|layers| layers.is_multiplexed())
    }

    /// A time-out of the oldest request ends the whole connection. So it is in HTTP/1.1, where no later answer can
    /// overtake it; in HTTP/2 only if nothing has come since that request was sent.
    pub fn silent_for_oldest(&self) -> bool {
        let Some(layers) = self.layers.as_ref().filter(|layers| layers.is_multiplexed()) else { return true };
        self.in_flight.front().is_none_or(|request| layers.heard_at <= request.sent)
    }

    pub fn connecting(&mut self, now: u64, layers: Option<Box<Layers>>) {
        self.layers = layers;
        self.unasked = false;
        self.state = ConnectionState::Connecting(now);
        self.incoming.reset();
    }

    /// Reads the bytes that came, and puts the answers that they complete into `heard`. An error ends the connection,
    /// after those answers.
    pub fn hear(
        &mut self,
        bytes: &[u8],
        expected: &ExpectedAnswer,
        heard: &mut Heard,
    ) -> Result<(), Failure> {
        let in_flight = self.in_flight.len();
        match &mut self.layers {
            None => self.incoming.hear(bytes, in_flight, expected, heard),
            Some(layers) => layers.hear(bytes, &mut self.incoming, in_flight, expected, heard),
        }
    }

    /// The server has closed its side, which may be how an answer ends.
    pub fn end(&mut self, expected: &ExpectedAnswer, heard: &mut Heard) -> Result<(), Failure> {
        match &mut self.layers {
            None => self.incoming.end(expected, heard),
            Some(layers) => Err(layers.end(heard)),
        }
    }
}
