//! The layers of a connection that does not speak HTTP/1.1 in the clear: TLS, HTTP/2, or both.
//!
//! Layers do no I/O: they are given the bytes that came, and hand out the bytes to be sent. A connection is *ready*
//! when its layers have finished their handshakes, and the server allows a request; until then it counts as still
//! connecting.

use crate::protocol::http2::{Http2, PrefaceError};
use crate::protocol::incoming::{Awaited, Heard, Incoming, describe_unasked, is_farewell};
use crate::protocol::tls::{Security, Session, Step, TlsSessionError};
use crate::record::errors::Failure;
use crate::request::source::{NextRequest, RequestSource};
use crate::{Http, Load, TlsError};

/// The setting by which a server allows no request on an HTTP/2 connection, for messages.
pub(crate) const NO_ROOM: &str = "SETTINGS_MAX_CONCURRENT_STREAMS 0";

/// The protocols that the connections of one thread speak.
pub(crate) struct Dialect {
    security: Option<Security>,
    http: Http,
}

impl Dialect {
    pub fn new(load: &Load) -> Result<Dialect, TlsError> {
        let target = load.first_target().filter(|target| target.secure);
        let security = target.map(|target| Security::new(&load.trust, target, load.http)).transpose()?;
        Ok(Dialect { security, http: load.http })
    }

    /// The same protocols for another thread, with TLS sessions of its own.
    pub fn of_thread(&self) -> Dialect {
        Dialect { security: self.security.as_ref().map(Security::of_thread), http: self.http }
    }

    /// Layers for a new connection; `None` for HTTP/1.1 without TLS, which needs no layers. An error if a TLS session
    /// or the HTTP/2 preface cannot be made.
    pub fn layers(&self) -> Result<Option<Box<Layers>>, LayersError> {
        if self.security.is_none() && self.http == Http::Http1 {
            return Ok(None);
        }
        let security = self.security.as_ref();
        Ok(Some(Box::new(Layers {
            session: security.map(|security| Session::new(security, self.http)).transpose()?,
            http2: (self.http == Http::Http2).then(Http2::new).transpose()?,
            connected: false,
            heard_at: 0,
        })))
    }
}

/// The reason why a new connection can have no layers.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LayersError {
    #[error(transparent)]
    Tls(#[from] TlsSessionError),
    #[error(transparent)]
    Http2(#[from] PrefaceError),
}

/// The layers of one connection.
pub(crate) struct Layers {
    session: Option<Session>,
    http2: Option<Http2>,
    connected: bool,
    /// The instant at which the connection last brought anything, its end included, in ns on the engine's clock; 0
    /// before that.
    pub heard_at: u64,
}

impl Layers {
    /// Notes that the socket is connected, so that handshakes may begin.
    pub fn connected(&mut self) {
        self.connected = true;
    }

    /// `true` if the handshakes are finished and the server allows requests.
    pub fn is_ready(&self) -> bool {
        !self.is_handshaking() && self.room() > 0
    }

    fn is_handshaking(&self) -> bool {
        self.session.as_ref().is_some_and(Session::is_handshaking)
    }

    /// The most requests that may be on their way; `usize::MAX` if HTTP/1.1 is spoken.
    pub fn room(&self) -> usize {
        self.http2.as_ref().map_or(usize::MAX, Http2::room)
    }

    /// `true` if the server takes no more requests on this connection (GOAWAY).
    pub fn is_gone(&self) -> bool {
        self.http2.as_ref().is_some_and(Http2::is_gone)
    }

    /// `true` if requests on their way are independent of each other, as in HTTP/2.
    pub fn is_multiplexed(&self) -> bool {
        self.http2.is_some()
    }

    /// The name of the step that the connection waits for; `None` if it is ready, or not even connected.
    pub fn awaited(&self) -> Option<&'static str> {
        match self.connected && !self.is_ready() {
            true if self.is_handshaking() => Some("the TLS handshake"),
            true if self.http2.as_ref().is_some_and(Http2::has_heard) => {
                Some("the server's leave to send a request (SETTINGS_MAX_CONCURRENT_STREAMS above 0)")
            }
            true => Some("the beginning of HTTP/2"),
            false => None,
        }
    }

    /// Takes a request of this step to be sent. Returns `false` if it cannot be sent.
    pub fn request(&mut self, step: u32, next: NextRequest, requests: &RequestSource) -> bool {
        match (&mut self.http2, &mut self.session, next) {
            (Some(http2), _, next) => {
                requests.http2(next).is_some_and(|request| http2.request(step, request))
            }
            (None, Some(session), NextRequest::Fixed(which)) => session.send(&requests.fixed[which]),
            (None, Some(session), NextRequest::Bytes(bytes)) => session.send(&bytes),
            (None, None, _) => false,
        }
    }

    /// For each request on its way in HTTP/2, the oldest first: `true` if its answer has begun to come. Empty in
    /// HTTP/1.1.
    pub fn begun(&self) -> impl Iterator<Item = bool> {
        self.http2.iter().flat_map(Http2::begun)
    }

    /// Gives up the oldest request on its way, in HTTP/2. In HTTP/1.1 it does nothing.
    pub fn cancel_oldest(&mut self) {
        self.http2.iter_mut().for_each(Http2::cancel_oldest);
    }

    pub fn wants_write(&mut self) -> bool {
        let http2_wants = self.http2.as_mut().is_some_and(Http2::wants_write);
        http2_wants || self.session.as_ref().is_some_and(Session::wants_write)
    }

    /// Appends the bytes that are to be sent to `out`.
    pub fn write(&mut self, out: &mut Vec<u8>) {
        match (&mut self.session, &mut self.http2) {
            (None, Some(http2)) => http2.write(|bytes| out.extend_from_slice(bytes)),
            (Some(session), http2) => {
                if let Some(http2) = http2 {
                    http2.write(|plain| session.send(plain));
                }
                session.write(out);
            }
            (None, None) => {}
        }
    }

    /// Reads the bytes that came, and puts the answers that they complete into `heard`. An error ends the connection,
    /// after those answers.
    pub fn hear(
        &mut self,
        mut bytes: &[u8],
        incoming: &mut Incoming,
        awaited: Awaited,
        heard: &mut Heard,
    ) -> Result<(), Failure> {
        let Some(session) = &mut self.session else {
            return hear_plain(&mut self.http2, bytes, incoming, awaited, heard);
        };
        loop {
            match session.hear(&mut bytes) {
                Ok(Step::Done) => return Ok(()),
                Ok(Step::Plain) => {
                    let http2 = &mut self.http2;
                    while session.plain(|plain| hear_plain(http2, plain, incoming, awaited, heard))? {}
                }
                Ok(Step::Ended) => {
                    // An answer in HTTP/1.1 may end in this way.
                    if self.http2.is_none() {
                        incoming.end(awaited, heard)?;
                    }
                    return Err(Failure::Closed);
                }
                Err(why) => {
                    heard.describe_wrong(|| why.to_string());
                    return Err(Failure::Malformed);
                }
            }
        }
    }

    /// Handles that the server has closed the connection. This ends no answer in TLS, if no `close_notify` came (RFC
    /// 9112, section 9.8). Always returns [`Failure::Closed`].
    pub fn end(&mut self, heard: &mut Heard) -> Failure {
        if let Some(awaited) = self.awaited() {
            heard.describe_wrong(|| format!("the server closed the connection during {awaited}"));
        }
        Failure::Closed
    }
}

fn hear_plain(
    http2: &mut Option<Http2>,
    plain: &[u8],
    incoming: &mut Incoming,
    awaited: Awaited,
    heard: &mut Heard,
) -> Result<(), Failure> {
    if let Some(http2) = http2 {
        let before = heard.answers.len();
        let result = http2.hear(plain, &mut incoming.cookies, awaited.expected, heard);
        incoming.proven |= heard.answers.len() > before;
        return result;
    }
    // Bytes that nobody asked for, or that come after the last answer.
    let over = heard.answers.last().is_some_and(|last| !last.answer.keep_alive);
    if over || heard.answers.len() == awaited.len() {
        if is_farewell(plain) {
            return Err(Failure::Closed);
        }
        heard.describe_wrong(|| describe_unasked(plain));
        return Err(Failure::Malformed);
    }
    incoming.hear(plain, awaited, heard)
}
