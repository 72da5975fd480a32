//! HTTP/2, by the `h2` crate: one connection, its streams.
//!
//! `h2` is written for an async runtime, and here it has none. Its connection reads from and writes to memory, so
//! nothing ever waits, and it is enough to poll it whenever bytes came or a request was given. Each stream is polled
//! when bytes came.
//!
//! - A connection is ready when the server's SETTINGS have come and allow a stream: before that the number of streams
//!   that the server takes is not known.
//! - Server push is refused. Windows are large enough not to limit a load, and bytes that were read are at once
//!   allowed again.
//! - After GOAWAY a connection gets no more requests. Requests that the server says it has not looked at count as
//!   `closed`.
//! - A stream that the server resets counts as `reset`, a stream that breaks the rules of HTTP/2 as `malformed`. The
//!   connection goes on.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, Bytes, BytesMut};
use h2::client::{Builder, Connection, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use http::StatusCode;
use http::header::SET_COOKIE;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::protocol::incoming::{ExpectedAnswer, Heard};
use crate::protocol::response::{Answer, Asked, HEAD_LIMIT, Malformed, Reader};
use crate::record::errors::Failure;
use crate::request::cookies::Jar;
use crate::request::http2::Http2Request;

const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 1 << 24;

/// One HTTP/2 connection, in memory.
pub(crate) struct Http2 {
    pipe: Pipe,
    connection: Connection<Pipe, Bytes>,
    sender: SendRequest<Bytes>,
    /// The streams of the requests that are on their way, in the order in which the requests were sent.
    streams: VecDeque<Stream>,
    /// Bytes have come from the server.
    has_heard: bool,
    /// The server takes no more requests on this connection.
    gone: bool,
    /// `connection` may have something to write.
    dirty: bool,
    /// The protocol that the server speaks in place of HTTP/2, in words with the remedy, as far as its first bytes
    /// tell.
    speaks_other: Option<&'static str>,
}

/// The reason why an HTTP/2 connection cannot begin. Neither error is known to occur, because the preface is written to
/// memory.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrefaceError {
    #[error("HTTP/2: {0}")]
    Refused(#[from] h2::Error),
    #[error("HTTP/2: the preface could not be written")]
    Unwritten,
}

/// The stream of one request that is on its way.
struct Stream {
    waits: Waits,
    reader: Reader,
    /// The number of the request's step.
    step: u32,
    /// The head of an answer has come, even of an interim one (1xx).
    begun: bool,
}

/// The part of the answer that comes next.
enum Waits {
    Head(ResponseFuture),
    Body(RecvStream),
}

impl Http2 {
    /// A new connection, whose preface waits to be sent. An error if the preface cannot be made.
    pub fn new() -> Result<Http2, PrefaceError> {
        let pipe = Pipe::default();
        let mut builder = Builder::new();
        builder
            .enable_push(false)
            .max_header_list_size(HEAD_LIMIT as u32)
            // Each stream that is malformed, or is answered after it was given up, is a reset of ours. They are no more
            // than our requests, and must not end a connection that has others on their way.
            .max_local_error_reset_streams(None)
            // No stream is opened before the server has said how many it takes.
            .initial_max_send_streams(0)
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        let began = pin!(builder.handshake(pipe.clone())).poll(&mut context());
        match began {
            Poll::Ready(Ok((sender, connection))) => Ok(Http2 {
                pipe,
                connection,
                sender,
                streams: VecDeque::new(),
                has_heard: false,
                gone: false,
                dirty: true,
                speaks_other: None,
            }),
            Poll::Ready(Err(error)) => Err(error.into()),
            Poll::Pending => Err(PrefaceError::Unwritten),
        }
    }

    /// The most requests that may be on their way on this connection: 0 before the server has said how many, and
    /// after GOAWAY.
    pub fn room(&self) -> usize {
        if self.gone { 0 } else { self.sender.current_max_send_streams() }
    }

    pub fn has_heard(&self) -> bool {
        self.has_heard
    }

    /// `true` if the server has ended the connection to further requests (GOAWAY).
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// Takes a request of this step to be sent. Returns `false` if it cannot be sent.
    pub fn request(&mut self, step: u32, request: Http2Request) -> bool {
        let Http2Request { head, body } = request;
        let Ok((response, mut stream)) = self.sender.send_request(head, body.is_empty()) else {
            return false;
        };
        self.dirty = true;
        // Bytes that the server's window has no room for wait in `h2`, which shares them.
        if !body.is_empty() && stream.send_data(body, true).is_err() {
            return false;
        }
        self.streams.push_back(Stream {
            waits: Waits::Head(response),
            reader: Reader::new(),
            step,
            begun: false,
        });
        true
    }

    /// For each request on its way, the oldest first: `true` if its answer has begun to come.
    pub fn begun(&self) -> impl Iterator<Item = bool> {
        self.streams.iter().map(|stream| stream.begun)
    }

    /// Gives up the oldest request on its way, whose stream is reset.
    pub fn cancel_oldest(&mut self) {
        self.streams.pop_front();
        self.dirty = true;
    }

    pub fn wants_write(&mut self) -> bool {
        if std::mem::take(&mut self.dirty) {
            // An error shows again when something is heard.
            let _ = Pin::new(&mut self.connection).poll(&mut context());
        }
        !self.pipe.0.borrow().output.is_empty()
    }

    /// Calls `take` with the bytes that are to be sent, and then forgets them.
    pub fn write<R>(&mut self, take: impl FnOnce(&[u8]) -> R) {
        let output = &mut self.pipe.0.borrow_mut().output;
        take(output);
        output.clear();
    }

    /// Reads the bytes that came, and puts the answers that they complete into `heard`. An error ends the connection,
    /// after those answers.
    pub fn hear(
        &mut self,
        bytes: &[u8],
        cookies: &mut Jar,
        expected: &[ExpectedAnswer],
        heard: &mut Heard,
    ) -> Result<(), Failure> {
        if !std::mem::replace(&mut self.has_heard, true) {
            self.speaks_other = other_protocol(bytes);
        }
        self.pipe.0.borrow_mut().input.extend_from_slice(bytes);
        let mut context = context();
        let over = Pin::new(&mut self.connection).poll(&mut context);
        // The connection may have more to write: data that is read below makes room for more.
        self.dirty = true;
        let mut nth = 0;
        while let Some(stream) = self.streams.get_mut(nth) {
            let expected = &expected[stream.step as usize];
            let Poll::Ready(result) = stream.poll(&mut context, cookies, &expected.asked) else {
                nth += 1;
                continue;
            };
            if result.is_err() && over.is_ready() {
                nth += 1;
                continue;
            }
            let Some(mut stream) = self.streams.remove(nth) else { break };
            let answer = Answer { keep_alive: true, ..stream.reader.finish(&expected.asked) };
            let mut whole = expected.judge_whole(nth, answer, &stream.reader);
            match &result {
                Err(wrong) => {
                    (whole.failure, whole.wrong_status) = (Some(wrong.failure()), None);
                    whole.taken.clear();
                    heard.describe_wrong(|| wrong.to_string());
                }
                Ok(()) => {
                    if let Some(failure) = whole.failure {
                        heard.describe_wrong(|| expected.describe(failure, &stream.reader));
                    }
                }
            }
            heard.answers.push(whole);
        }
        match over {
            Poll::Ready(Ok(())) => return Err(Failure::Closed),
            Poll::Ready(Err(error)) => {
                let failure = failure(&error);
                heard.describe_wrong(|| match self.speaks_other {
                    Some(other) => format!("HTTP/2: {other}"),
                    None if self.streams.is_empty() => format!("HTTP/2: {error}"),
                    None => Wrong::Stream(error).to_string(),
                });
                return Err(failure);
            }
            Poll::Pending => {}
        }
        self.gone = matches!(self.sender.poll_ready(&mut context), Poll::Ready(Err(_)));
        if self.gone && self.streams.is_empty() { Err(Failure::Closed) } else { Ok(()) }
    }
}

/// The protocol whose first bytes these are, if they are no frame of HTTP/2.
fn other_protocol(first: &[u8]) -> Option<&'static str> {
    match first {
        [b'H', b'T', b'T', b'P', b'/', b'1', ..] => Some(
            "it answered in HTTP/1: ask without --http2 (in an experiment: protocol = \"http\" or \"https\")",
        ),
        // An alert of TLS.
        [21, 3, ..] => Some("the server speaks TLS: ask for https:// (in an experiment: protocol = \"h2\")"),
        _ => None,
    }
}

impl Stream {
    /// Reads as much of the answer as has come. It is ready when the answer is whole.
    fn poll(&mut self, context: &mut Context, cookies: &mut Jar, asked: &Asked) -> Poll<Result<(), Wrong>> {
        loop {
            match &mut self.waits {
                Waits::Head(response) => {
                    while let Some(interim) = ready!(response.poll_informational(context)) {
                        self.begun = true;
                        // There is no other protocol to switch to (RFC 9113, section 8.6).
                        if interim?.status() == StatusCode::SWITCHING_PROTOCOLS {
                            return Poll::Ready(Err(Wrong::Answer(NO_SWITCHING)));
                        }
                    }
                    let (head, body) = ready!(Pin::new(response).poll(context))?.into_parts();
                    self.begun = true;
                    let fields = || {
                        head.headers.iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()))
                    };
                    self.reader.begin(head.status.as_u16(), fields, asked);
                    if self.reader.keeps_head(asked) {
                        self.reader.keep_fields(fields());
                    }
                    if asked.cookies {
                        head.headers.get_all(SET_COOKIE).iter().for_each(|it| cookies.set(it.as_bytes()));
                    }
                    self.waits = Waits::Body(body);
                }
                Waits::Body(body) => match ready!(body.poll_data(context)) {
                    Some(Ok(data)) if !data.is_empty() && self.reader.is_bodiless(asked) => {
                        return Poll::Ready(Err(Wrong::Answer(NO_BODY)));
                    }
                    Some(Ok(data)) => {
                        self.reader.read_body(&data, asked);
                        body.flow_control().release_capacity(data.len())?;
                    }
                    // A server that has answered may so refuse the rest of the request (RFC 9113, section 8.1).
                    Some(Err(error)) if error.is_reset() && error.reason() == Some(Reason::NO_ERROR) => {
                        return Poll::Ready(Ok(()));
                    }
                    Some(Err(error)) => return Poll::Ready(Err(error.into())),
                    None => return Poll::Ready(Ok(())),
                },
            }
        }
    }
}

const NO_SWITCHING: Malformed = Malformed("its status is 101, which HTTP/2 does not have");
const NO_BODY: Malformed = Malformed("it has a body, and must have none");

/// The reason why a stream fails alone, while its connection goes on.
enum Wrong {
    /// An error that `h2` reports.
    Stream(h2::Error),
    /// A fault in the answer that `h2` lets pass.
    Answer(Malformed),
}

impl Wrong {
    fn failure(&self) -> Failure {
        match self {
            Wrong::Stream(error) => failure(error),
            Wrong::Answer(_) => Failure::Malformed,
        }
    }
}

impl From<h2::Error> for Wrong {
    fn from(error: h2::Error) -> Wrong {
        Wrong::Stream(error)
    }
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Wrong::Stream(error) if error.is_library() => write!(f, "malformed: HTTP/2: {error}"),
            Wrong::Stream(error) if error.is_reset() => write!(f, "reset: HTTP/2: {error}"),
            Wrong::Stream(error) => write!(f, "closed: HTTP/2: {error}"),
            Wrong::Answer(Malformed(why)) => write!(f, "malformed: {why}"),
        }
    }
}

fn failure(error: &h2::Error) -> Failure {
    match error {
        error if error.is_library() => Failure::Malformed,
        error if error.is_reset() => Failure::Reset,
        _ => Failure::Closed,
    }
}

fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// The two directions of a connection, in memory: `h2` reads `input` and writes `output`.
#[derive(Clone, Default)]
struct Pipe(Rc<RefCell<Buffers>>);

#[derive(Default)]
struct Buffers {
    input: BytesMut,
    output: Vec<u8>,
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context, to: &mut ReadBuf) -> Poll<io::Result<()>> {
        let input = &mut self.0.borrow_mut().input;
        if input.is_empty() {
            return Poll::Pending;
        }
        let length = input.len().min(to.remaining());
        to.put_slice(&input[..length]);
        input.advance(length);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().output.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
