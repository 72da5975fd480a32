//! What a connection speaks besides HTTP/1.1 in the clear, which needs no layer.
//!
//! Layers do no I/O: they are given what came, and hand out what is to be sent. A connection is *ready* when its layers have
//! agreed on everything; until then it counts as being connected.

use crate::connection::{Connection, Heard, Wanted};
use crate::recorder::Failure;
use crate::tls::{Security, Session, Step};
use crate::{Http, Load, TlsError};

/// What the connections of one thread speak.
pub(crate) struct Dialect {
    security: Option<Security>,
    http: Http,
}

impl Dialect {
    pub fn new(load: &Load) -> Result<Dialect, TlsError> {
        let target = load.targets.first().map(|(target, _)| target).filter(|target| target.secure);
        let security = target.map(|target| Security::new(&load.tls, target, load.http)).transpose()?;
        Ok(Dialect { security, http: load.http })
    }

    /// The same for another thread.
    pub fn of_thread(&self) -> Dialect {
        Dialect { security: self.security.as_ref().map(Security::of_thread), http: self.http }
    }

    /// Layers for a new connection, if it needs some; else why there can be none.
    pub fn layers(&self) -> Result<Option<Box<Layers>>, String> {
        let Some(security) = &self.security else { return Ok(None) };
        Ok(Some(Box::new(Layers { session: Session::new(security, self.http)? })))
    }
}

/// The layers of one connection.
pub(crate) struct Layers {
    session: Session,
}

impl Layers {
    /// Whether requests may be sent.
    pub fn is_ready(&self) -> bool {
        !self.session.is_handshaking()
    }

    /// How many requests may be on their way.
    pub fn room(&self) -> usize {
        usize::MAX
    }

    /// What a connection waits for that is not ready; none if it is not even connected.
    pub fn awaited(&self) -> Option<&'static str> {
        (!self.session.wants_write()).then_some("the TLS handshake")
    }

    /// Has a request sent, given as HTTP/1.1; whether that can be done.
    pub fn request(&mut self, message: &[u8]) -> bool {
        self.session.send(message);
        true
    }

    pub fn wants_write(&self) -> bool {
        self.session.wants_write()
    }

    /// Appends what is to be sent.
    pub fn write(&mut self, out: &mut Vec<u8>) {
        self.session.write(out);
    }

    /// Takes the bytes that came on `connection`.
    pub fn hear(
        &mut self,
        mut bytes: &[u8],
        connection: &mut Connection,
        wanted: &Wanted,
        heard: &mut Heard,
    ) -> Result<(), Failure> {
        loop {
            match self.session.hear(&mut bytes) {
                Ok(Step::Done) => return Ok(()),
                Ok(Step::Plain) => {
                    while self.session.plain(|plain| {
                        // What nobody asked for, or what comes after the last answer.
                        let over = heard.answers.last().is_some_and(|(_, answer, _)| !answer.keep_alive);
                        if over || heard.answers.len() == connection.in_flight.len() {
                            return Err(Failure::Malformed);
                        }
                        connection.hear_http1(plain, wanted, heard)
                    })? {}
                }
                // A server may close a connection that is not in use.
                Ok(Step::Ended) if connection.in_flight.len() == heard.answers.len() => {
                    return Err(Failure::Closed);
                }
                Ok(Step::Ended) => {
                    connection.end_http1(wanted, heard)?;
                    return Err(Failure::Closed);
                }
                Err(why) => {
                    heard.say(|| why);
                    return Err(Failure::Malformed);
                }
            }
        }
    }

    /// The server has closed the connection, without the notice of TLS that nothing is missing: then that ends no answer
    /// (RFC 9112, section 9.8).
    pub fn end(&mut self, heard: &mut Heard) -> Failure {
        if let Some(awaited) = self.awaited().filter(|_| !self.is_ready()) {
            heard.say(|| format!("the server closed the connection during {awaited}"));
        }
        Failure::Closed
    }
}
