//! One connection: what it speaks, and the requests that are on their way on it.

use std::collections::VecDeque;

use crate::protocol::incoming::{ExpectedAnswer, Heard, Incoming};
use crate::protocol::layers::Layers;
use crate::record::errors::Failure;

/// A request that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// When it should have been sent. In a closed loop that is when it was.
    pub due: u64,
    pub sent: u64,
    /// To which of the targets.
    pub target: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionState {
    Closed,
    /// Since then.
    Connecting(u64),
    Open,
}

/// What a connection is to the schedule, and what it has heard so far; the socket itself is the transport's.
pub(crate) struct Connection {
    pub state: ConnectionState,
    /// The oldest first.
    pub in_flight: VecDeque<InFlight>,
    /// It is to send a request as soon as it is open.
    pub send_when_open: bool,
    /// It had a connection before the present one.
    pub connected_before: bool,
    /// It counts as being opened.
    pub opening: bool,
    /// It has been given a request.
    pub begun: bool,
    /// It is among those that an open loop may use.
    pub idle: bool,
    /// So many requests may be on their way.
    pub room: usize,
    /// Since when the server has allowed none at all.
    pub no_room_since: Option<u64>,
    /// The server has sent something that no request had asked for: the next request gets no other answer.
    pub unasked: bool,
    /// What it speaks if that is not HTTP/1.1 in the clear.
    pub layers: Option<Box<Layers>>,
    pub incoming: Incoming,
}

impl Connection {
    /// One on which so many requests may be on their way.
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

    /// Whether another request can be sent now.
    pub fn can_take(&self) -> bool {
        self.state == ConnectionState::Open && self.in_flight.len() < self.room
    }

    /// It may carry so many requests from now on; whether that is more than before.
    pub fn allow(&mut self, room: usize, now: u64) -> bool {
        let grew = room > self.room;
        self.room = room;
        self.no_room_since = if room == 0 { self.no_room_since.or(Some(now)) } else { None };
        grew
    }

    /// Since when it waits for the server to allow a request; none if it does not.
    pub fn starved_since(&self) -> Option<u64> {
        self.no_room_since.filter(|_| self.state == ConnectionState::Open && self.in_flight.is_empty())
    }

    /// Whether requests on their way are independent of each other.
    pub fn is_multiplexed(&self) -> bool {
        self.layers.as_ref().is_some_and(|layers| layers.is_multiplexed())
    }

    /// Whether the oldest request on its way ends the connection if it takes too long: unless the others go on.
    pub fn silent_for_oldest(&self) -> bool {
        let Some(layers) = self.layers.as_ref().filter(|layers| layers.is_multiplexed()) else { return true };
        self.in_flight.front().is_none_or(|request| layers.heard_at <= request.sent)
    }

    /// It begins to connect.
    pub fn connecting(&mut self, now: u64, layers: Option<Box<Layers>>) {
        self.layers = layers;
        self.unasked = false;
        self.state = ConnectionState::Connecting(now);
        self.incoming.reset();
    }

    /// Takes the bytes that came, and puts the answers that they complete into `heard`.
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

    /// The server has closed it: that may be how an answer ends.
    pub fn end(&mut self, expected: &ExpectedAnswer, heard: &mut Heard) -> Result<(), Failure> {
        match &mut self.layers {
            None => self.incoming.end(expected, heard),
            Some(layers) => Err(layers.end(heard)),
        }
    }
}
