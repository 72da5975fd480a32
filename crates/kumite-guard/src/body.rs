//! The body of a request, which must come in time, and of which only so many bytes are kept.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::time::{Sleep, sleep};

/// The reason why a body is not read to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("it did not come within {0:?}")]
    Late(Duration),
    #[error("too many bytes of requests are waited for already")]
    TooMuch,
    #[error(transparent)]
    Broken(#[from] hyper::Error),
}

/// A body with a time limit, and a limit to the bytes of all bodies.
pub(crate) struct BoundedBody {
    incoming: Incoming,
    within: Duration,
    late: Pin<Box<Sleep>>,
    /// The number of bytes of all bodies that are being read. `most` is the limit to it, `ours` this body's part of
    /// it.
    held: Arc<AtomicUsize>,
    most: usize,
    ours: usize,
}

impl BoundedBody {
    pub fn bounding(incoming: Incoming, within: Duration, held: &Arc<AtomicUsize>, most: usize) -> Body {
        let (late, held) = (Box::pin(sleep(within)), Arc::clone(held));
        Body::new(BoundedBody { incoming, within, late, held, most, ours: 0 })
    }
}

impl HttpBody for BoundedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = Pin::new(&mut self.incoming).poll_frame(cx);
        if polled.is_pending() && self.late.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Some(Err(BodyError::Late(self.within))));
        }
        polled.map(|frame| {
            frame.map(|frame| {
                let frame = frame?;
                let length = frame.data_ref().map_or(0, Bytes::len);
                self.ours += length;
                if self.held.fetch_add(length, Ordering::Relaxed) + length > self.most {
                    return Err(BodyError::TooMuch);
                }
                Ok(frame)
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

impl Drop for BoundedBody {
    fn drop(&mut self) {
        self.held.fetch_sub(self.ours, Ordering::Relaxed);
    }
}
