//! The bytes that come on a connection, read as answers that are judged.
//!
//! [`Incoming::hear`] is given every piece that the socket gives, in order. It puts the answers that a piece
//! completes into [`Heard`], each with its failure if it is not the expected one. It reads no clock: the engine
//! decides whether an answer was in time.

use std::collections::VecDeque;

use crate::check::excerpt;
use crate::in_flight::InFlight;
use crate::protocol::response::{Answer, Asked, Malformed, Reader};
use crate::record::errors::Failure;
use crate::record::log::WrongStatus;
use crate::request::cookies::Jar;
use crate::request::take::Taking;
use crate::sampled::SampledAnswer;

/// `true` if these bytes begin an answer of status 408. Some servers send one before they close a connection that was
/// not used for long (RFC 9110, section 15.5.9).
pub(crate) fn is_farewell(bytes: &[u8]) -> bool {
    bytes.starts_with(b"HTTP/1.") && bytes.get(8..12) == Some(b" 408")
}

/// A description of bytes that came before any request had asked for them.
pub(crate) fn describe_unasked(bytes: &[u8]) -> String {
    format!("malformed: {} bytes came that no request had asked for: {:?}", bytes.len(), excerpt(bytes))
}

/// The answers that a connection waits for.
#[derive(Clone, Copy)]
pub(crate) struct Awaited<'a> {
    /// The requests on their way on the connection, the oldest first.
    pub in_flight: &'a VecDeque<InFlight>,
    /// The expected answer of each step.
    pub expected: &'a [ExpectedAnswer],
}

impl<'a> Awaited<'a> {
    pub fn len(self) -> usize {
        self.in_flight.len()
    }

    /// The expected answer to the request at this index; `None` if there are not so many requests.
    #[inline]
    pub fn nth(self, index: usize) -> Option<&'a ExpectedAnswer> {
        self.in_flight.get(index).and_then(|request| self.expected.get(request.step as usize))
    }
}

/// The answer that is expected of the requests of one step, and the way to read it.
pub(crate) struct ExpectedAnswer {
    pub asked: Asked,
    /// The values to take from a right answer.
    pub takings: Vec<Taking>,
    /// The name of the request, for samples of its answers.
    pub request: String,
}

impl ExpectedAnswer {
    /// Judges the answer that `reader` has just read whole, to the request at `in_flight_index`.
    pub fn judge_whole(&self, in_flight_index: usize, answer: Answer, reader: &Reader) -> JudgedAnswer {
        let mut failure = self.judge(answer);
        let mut taken = Vec::new();
        if failure.is_none() && !self.takings.is_empty() {
            match self.takings.iter().map(|taking| taking.value(reader.kept())).collect() {
                Ok(values) => taken = values,
                Err(_) => failure = Some(Failure::Untaken),
            }
        }
        let wrong_status = (self.asked.wants_excerpt && failure == Some(Failure::Status))
            .then(|| Box::new(reader.wrong_status()));
        let sample = if failure.is_none() { reader.sample(&self.request) } else { None };
        JudgedAnswer { in_flight_index, answer, failure, wrong_status, taken, sample }
    }

    /// The failure of an answer in words.
    pub fn describe(&self, failure: Failure, reader: &Reader) -> String {
        let answer = reader.describe(&self.asked);
        let mut untaken =
            self.takings.iter().filter_map(|it| Some((&it.take.name, it.value(reader.kept()).err()?)));
        match untaken.next().filter(|_| failure == Failure::Untaken) {
            Some((name, why)) => format!("no value for {{{{{name}}}}}: {why} ({answer})"),
            None => answer,
        }
    }

    fn judge(&self, answer: Answer) -> Option<Failure> {
        if !self.asked.expect.allows_status(answer.status) {
            return Some(Failure::Status);
        }
        match (answer.header_right, answer.body_right) {
            (true, true) => None,
            (true, false) => Some(Failure::Body),
            (false, _) => Some(Failure::Header),
        }
    }
}

/// A whole answer or, in HTTP/2, a stream that failed, with its judgement. The engine judges whether it was in time.
pub(crate) struct JudgedAnswer {
    /// The index of the answer's request among those in flight on the connection, the oldest being 0, once all
    /// answers before it in [`Heard`] have been taken.
    pub in_flight_index: usize,
    pub answer: Answer,
    /// The answer's failure; `None` if it is the expected answer.
    pub failure: Option<Failure>,
    /// The answer's status and the beginning of its body, if the status is not the expected one and is to be logged.
    pub wrong_status: Option<Box<WrongStatus>>,
    /// The values that were taken from the answer, with the indices of their names; none if it is wrong.
    pub taken: Vec<(usize, Vec<u8>)>,
    /// The whole answer, if it is right and may be that to a chosen request.
    pub sample: Option<Box<SampledAnswer>>,
}

/// The answers that one piece of bytes has completed. The engine has one `Heard`, and empties it after each piece.
pub(crate) struct Heard {
    pub answers: Vec<JudgedAnswer>,
    /// A description of the first fault in an answer or in the session; `None` without a fault, or if `describe` was
    /// not set.
    pub wrong: Option<String>,
    /// The next fault is to be described. Only the first fault of a thread is described, because a description costs
    /// more than a count.
    pub describe: bool,
}

impl Heard {
    /// Keeps the description of a fault, if the caller wants one and has none yet.
    pub fn describe_wrong(&mut self, words: impl FnOnce() -> String) {
        if std::mem::take(&mut self.describe) {
            self.wrong = Some(words());
        }
    }
}

/// The state of reading one connection's bytes.
pub(crate) struct Incoming {
    /// The cookies to send back, also on the next connection in this slot; empty if cookies are not to be sent back.
    pub cookies: Jar,
    /// The connection has brought a whole answer before.
    pub proven: bool,
    reader: Reader,
    /// An answer to the oldest request has begun to arrive.
    begun: bool,
}

impl Incoming {
    pub fn new() -> Incoming {
        Incoming { cookies: Jar::default(), proven: false, reader: Reader::new(), begun: false }
    }

    /// Begins anew with another connection in the same slot. The cookies stay.
    pub fn reset(&mut self) {
        self.reader.reset();
        self.begun = false;
        self.proven = false;
    }

    /// Reads bytes of answers in HTTP/1.1, and puts the answers that they complete into `heard`. An error ends the
    /// connection, after those answers.
    pub fn hear(&mut self, mut bytes: &[u8], awaited: Awaited, heard: &mut Heard) -> Result<(), Failure> {
        while !bytes.is_empty() {
            self.begun = true;
            let Some(expected) = awaited.nth(heard.answers.len()) else {
                heard.describe_wrong(|| describe_unasked(bytes));
                return Err(Failure::Malformed);
            };
            let answer = self.reader.feed(bytes, &expected.asked).map_err(|Malformed(why)| {
                heard.describe_wrong(|| {
                    format!("malformed: {why}; here: {}", self.reader.offending_line(bytes))
                });
                Failure::Malformed
            })?;
            let Some((answer, used)) = answer else { return Ok(()) };
            bytes = &bytes[used..];
            let last = !answer.keep_alive || heard.answers.len() + 1 == awaited.len();
            if last && !bytes.is_empty() {
                heard.describe_wrong(|| {
                    format!("malformed: more came than the answer has: {:?}", excerpt(bytes))
                });
                return Err(Failure::Malformed);
            }
            self.complete(answer, expected, heard);
        }
        Ok(())
    }

    /// Handles that the server sends no more, which may be how an answer in HTTP/1.1 ends. An error if it is not.
    pub fn end(&mut self, awaited: Awaited, heard: &mut Heard) -> Result<(), Failure> {
        let expected = awaited.nth(heard.answers.len()).ok_or(Failure::Closed)?;
        let answer = self.reader.end(&expected.asked).ok_or(Failure::Closed)?;
        self.complete(answer, expected, heard);
        Ok(())
    }

    fn complete(&mut self, answer: Answer, expected: &ExpectedAnswer, heard: &mut Heard) {
        let whole = expected.judge_whole(0, answer, &self.reader);
        if let Some(failure) = whole.failure {
            heard.describe_wrong(|| expected.describe(failure, &self.reader));
        }
        self.reader.cookies().for_each(|cookie| self.cookies.set(cookie));
        heard.answers.push(whole);
        self.reader.reset();
        self.begun = false;
        self.proven = true;
    }

    /// `true` if an answer to the oldest request has begun to arrive in HTTP/1.1, even an interim one (1xx), and is not
    /// whole.
    #[inline]
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// The kind of failure for requests whose connection broke.
    ///
    /// A server that closes a connection without notice may do so just as the next request is sent. The engine then
    /// sees a FIN, a reset or a broken pipe, depending on how the close and the request crossed. The failure is the
    /// same, so it has one name: closed. On a new connection, and within an answer, a connection that broke is a
    /// reset.
    pub fn broken(&self) -> Failure {
        if self.proven && !self.begun { Failure::Closed } else { Failure::Reset }
    }
}
