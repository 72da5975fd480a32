//! The phases of connections, and when each began.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep};

use crate::limits::Limits;

/// The phase of a connection, and when it began.
#[derive(Debug)]
pub(crate) struct Activity(Mutex<(Phase, Instant)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No request has come that has no answer yet. The end of an answer may still have to be read.
    Idle,
    /// A part of a request's head has come.
    Head,
    /// A request waits for its answer.
    Busy,
}

impl Activity {
    pub fn new() -> Activity {
        Activity(Mutex::new((Phase::Idle, Instant::now())))
    }

    /// Notes that a request's head has come.
    pub fn begin(&self) {
        self.change(|_| Some(Phase::Busy));
    }

    /// Notes that the answer to a request is ready.
    pub fn end(&self) {
        self.change(|_| Some(Phase::Idle));
    }

    /// The moment from which on the connection is idle, or a head is coming; none if a request waits for its answer.
    pub fn unused_since(&self) -> Option<Instant> {
        let (phase, since) = self.now();
        (phase != Phase::Busy).then_some(since)
    }

    /// Waits until the phase has taken longer than it may; for ever while a request waits for its answer, or if
    /// the connection is idle and may be.
    pub async fn overdue(&self, limits: &Limits) {
        loop {
            let (phase, since) = self.now();
            let limit = match phase {
                Phase::Idle => limits.idle,
                Phase::Head => Some(limits.head),
                Phase::Busy => None,
            };
            let left = limit.map_or(limits.head, |limit| limit.saturating_sub(since.elapsed()));
            if left.is_zero() {
                return;
            }
            // A head may begin at any time of an idle wait.
            sleep(left.min(limits.head)).await;
        }
    }

    fn now(&self) -> (Phase, Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, to: impl Fn(Phase) -> Option<Phase>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(phase) = to(state.0) {
            *state = (phase, Instant::now());
        }
    }
}

/// A stream that notes what passes through it.
pub(crate) struct Watched<S> {
    pub stream: S,
    pub activity: Arc<Activity>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = to.filled().len();
        let read = ready!(Pin::new(&mut self.stream).poll_read(cx, to));
        if to.filled().len() > before {
            self.activity.change(|phase| (phase == Phase::Idle).then_some(Phase::Head));
        }
        Poll::Ready(read)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes));
        // A long answer is not idle as long as it is read.
        self.activity.change(|phase| (phase == Phase::Idle).then_some(Phase::Idle));
        Poll::Ready(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
