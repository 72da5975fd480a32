//! One connection: what it speaks, and the requests that are on their way on it.

use std::collections::VecDeque;

use crate::protocol::http2::Http2;
use crate::protocol::layers::Layers;
use crate::protocol::response::{Answer, Asked, Reader};
use crate::record::log::Said;
use crate::record::recorder::Failure;
use crate::request::cookies::Jar;

/// What a right answer is.
pub(crate) struct Wanted {
    pub asked: Asked,
    /// The status; none for any 2xx.
    pub status: Option<u16>,
}

impl Wanted {
    /// The answer to the nth request in flight, that the reader has read.
    pub fn whole(&self, nth: usize, answer: Answer, reader: &Reader) -> Whole {
        let failure = self.judge(answer);
        let said = (self.asked.said && failure == Some(Failure::Status)).then(|| Box::new(reader.said()));
        Whole { nth, answer, failure, said }
    }

    /// What is wrong with it.
    fn judge(&self, answer: Answer) -> Option<Failure> {
        let status_right = match self.status {
            Some(expected) => answer.status == expected,
            None => (200..300).contains(&answer.status),
        };
        match (status_right, answer.body_right) {
            (true, true) => None,
            (true, false) => Some(Failure::Body),
            (false, _) => Some(Failure::Status),
        }
    }
}

/// A request that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// When it should have been sent. In a closed loop that is when it was.
    pub due: u64,
    pub sent: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Closed,
    /// Since then.
    Connecting(u64),
    Open,
}

/// What a connection is to the schedule, and what it has heard so far; the socket itself is the transport's.
pub(crate) struct Connection {
    pub state: State,
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
    /// What it sends back, also on the next connection in its place; empty where that is not asked for.
    pub cookies: Jar,
    /// So many requests may be on their way.
    pub room: usize,
    /// What it speaks if that is not HTTP/1.1 in the clear.
    pub layers: Option<Box<Layers>>,
    reader: Reader,
    /// An answer to the oldest request has begun to arrive.
    heard: bool,
    /// It has brought a right answer before.
    proven: bool,
}

/// A whole answer.
pub(crate) struct Whole {
    /// Which request of those in flight it is for.
    pub nth: usize,
    pub answer: Answer,
    /// What is wrong with it.
    pub failure: Option<Failure>,
    /// What it says that failed, if that is wanted.
    pub said: Option<Box<Said>>,
}

/// What came with one piece.
pub(crate) struct Heard {
    pub answers: Vec<Whole>,
    /// What was wrong with an answer, or with the session, if that was asked for.
    pub wrong: Option<String>,
    /// Whether to say what is wrong.
    pub describe: bool,
}

impl Heard {
    /// Keeps what is wrong, if it is asked for.
    pub fn say(&mut self, words: impl FnOnce() -> String) {
        if std::mem::take(&mut self.describe) {
            self.wrong = Some(words());
        }
    }
}

impl Connection {
    /// One on which so many requests may be on their way.
    pub fn new(room: usize) -> Connection {
        Connection {
            state: State::Closed,
            in_flight: VecDeque::new(),
            send_when_open: false,
            connected_before: false,
            opening: false,
            begun: false,
            idle: false,
            cookies: Jar::default(),
            room,
            layers: None,
            reader: Reader::new(),
            heard: false,
            proven: false,
        }
    }

    /// Whether another request can be sent now.
    pub fn can_take(&self) -> bool {
        self.state == State::Open && self.in_flight.len() < self.room
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
        self.state = State::Connecting(now);
        self.reader.reset();
        self.heard = false;
        self.proven = false;
    }

    /// Takes the bytes that came, and puts the answers that they complete into `heard`.
    pub fn hear(&mut self, bytes: &[u8], wanted: &Wanted, heard: &mut Heard) -> Result<(), Failure> {
        if self.layers.is_none() {
            return self.hear_http1(bytes, wanted, heard);
        }
        self.through_layers(|layers, connection| layers.hear(bytes, connection, wanted, heard))
    }

    /// Takes the bytes of answers in HTTP/1.1.
    pub fn hear_http1(
        &mut self,
        mut bytes: &[u8],
        wanted: &Wanted,
        heard: &mut Heard,
    ) -> Result<(), Failure> {
        while !bytes.is_empty() {
            self.heard = true;
            let answer = self.reader.feed(bytes, &wanted.asked).map_err(|_| Failure::Malformed)?;
            let Some((answer, used)) = answer else { return Ok(()) };
            bytes = &bytes[used..];
            let last = !answer.keep_alive || heard.answers.len() + 1 == self.in_flight.len();
            if last && !bytes.is_empty() {
                return Err(Failure::Malformed);
            }
            self.complete(answer, wanted, heard);
        }
        Ok(())
    }

    /// Takes the bytes of answers in HTTP/2.
    pub fn hear_http2(
        &mut self,
        http2: &mut Http2,
        bytes: &[u8],
        wanted: &Wanted,
        heard: &mut Heard,
    ) -> Result<(), Failure> {
        let before = heard.answers.len();
        let result = http2.hear(bytes, &mut self.cookies, wanted, heard);
        self.proven |= heard.answers.len() > before;
        result
    }

    /// The server has closed it: that may be how an answer ends.
    pub fn end(&mut self, wanted: &Wanted, heard: &mut Heard) -> Result<(), Failure> {
        if self.layers.is_none() {
            return self.end_http1(wanted, heard);
        }
        self.through_layers(|layers, _| Err(layers.end(heard)))
    }

    /// The server sends no more: that may be how an answer in HTTP/1.1 ends.
    pub fn end_http1(&mut self, wanted: &Wanted, heard: &mut Heard) -> Result<(), Failure> {
        let answer = self.reader.end(&wanted.asked).ok_or(Failure::Closed)?;
        self.complete(answer, wanted, heard);
        Ok(())
    }

    fn through_layers(
        &mut self,
        work: impl FnOnce(&mut Layers, &mut Connection) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Some(mut layers) = self.layers.take() else { return Ok(()) };
        let result = work(&mut layers, self);
        self.layers = Some(layers);
        result
    }

    fn complete(&mut self, answer: Answer, wanted: &Wanted, heard: &mut Heard) {
        let whole = wanted.whole(0, answer, &self.reader);
        if whole.failure.is_some() {
            heard.say(|| self.reader.describe(&wanted.asked));
        }
        self.reader.cookies().for_each(|cookie| self.cookies.set(cookie));
        heard.answers.push(whole);
        self.reader.reset();
        self.heard = false;
        self.proven = true;
    }

    /// A server that closes a connection without notice may do so just as the next request is sent. Whether the engine
    /// then sees a FIN, a reset or a broken pipe depends on how the two cross; the failure is the same, so it has one
    /// name. On a new connection, and within an answer, the two are told apart.
    pub fn broken(&self) -> Failure {
        if self.proven && !self.heard { Failure::Closed } else { Failure::Reset }
    }
}
