//! The protocol between the host and the runtime client of one instance: the requests, and when each is allowed.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use kumite_guard::Connection;
use tokio::sync::Notify;

/// The event of a call, as an instance gets it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Event {
    pub request_id: String,
    pub payload: Bytes,
    /// The deadline of the call, in ms since 1970.
    pub deadline_ms: u128,
    pub arn: String,
    pub trace_id: String,
    pub client_context: Option<String>,
}

/// The instance's answer to a call, or to its initialization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Right(Vec<u8>),
    /// An error, with its type and its JSON document.
    Wrong(String, Vec<u8>),
}

/// The end of an instance's initialization.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Initialized {
    Done(Instant),
    Failed(Answer),
}

/// A request that the protocol does not allow.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Rejected {
    /// The request answers another call than the one in progress.
    OtherRequest,
    /// The request is not allowed at this stage.
    OutOfTurn,
}

/// The state of the protocol. It begins with the initialization; then come an event, its answer and the request for
/// the next event, over and over.
#[derive(Debug, Default)]
pub(crate) struct RuntimeProtocol {
    state: Mutex<ProtocolState>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct ProtocolState {
    stage: Stage,
    /// The pending request for an event: its number, and when it came. None while none is pending. By its number a
    /// request that went away is told from the next.
    waits: Option<(u64, Instant)>,
    count: u64,
    init_error: Option<Answer>,
    /// A phrase for each request that was rejected since the last look, at most [`MOST_REJECTED`].
    rejected: Vec<String>,
}

#[derive(Debug, Default)]
enum Stage {
    /// No call is in progress.
    #[default]
    Free,
    /// The instance gets this event as soon as it asks.
    Given(Event),
    /// The instance has this event, which was sent to it on this connection.
    Working(Event, Connection),
    /// The instance has answered, and the host has not ended the call yet.
    Answered(Answer),
}

/// The time after which a closed connection is known to be closed. A client may close one and open another, and the
/// host learns of both in any order.
const CLOSES: Duration = Duration::from_millis(100);
/// The most rejected requests that are kept, so that an instance that errs in a loop fills no memory.
const MOST_REJECTED: usize = 100;

impl RuntimeProtocol {
    /// Waits until the instance has asked for its first event, or has reported that it cannot be initialized.
    pub async fn initialized(&self) -> Initialized {
        self.until(|state| {
            let failed = state.init_error.take().map(Initialized::Failed);
            failed.or(state.waits.map(|(_, since)| Initialized::Done(since)))
        })
        .await
    }

    /// Makes an event ready for the instance, which gets it as soon as it asks.
    pub fn give(&self, event: Event) {
        self.state().stage = Stage::Given(event);
        self.changed.notify_waiters();
    }

    /// Waits until the instance has answered.
    pub async fn answered(&self) -> Answer {
        self.until(|state| match &state.stage {
            Stage::Answered(answer) => Some(answer.clone()),
            _ => None,
        })
        .await
    }

    /// Waits until the instance asks for the next event. Returns the moment at which it asked.
    pub async fn asked(&self) -> Instant {
        self.until(|state| state.waits.map(|(_, since)| since)).await
    }

    /// Ends the call, whatever its outcome.
    pub fn end(&self) {
        self.state().stage = Stage::Free;
    }

    /// Takes the phrases for the requests that were rejected since this was called last: at most 100.
    pub fn rejected(&self) -> Vec<String> {
        std::mem::take(&mut self.state().rejected)
    }

    /// Takes the instance's request for an event on this connection, and waits for an event. The request is refused if
    /// the instance has an event that it has not answered, or if a later request replaces this one.
    pub async fn next(&self, connection: &Connection) -> Result<Event, Rejected> {
        self.settled(connection).await;
        let waits = {
            let mut state = self.state();
            if matches!(state.stage, Stage::Working(..)) {
                state.reject("asked for an event before it had answered the last one".to_owned());
                return Err(Rejected::OutOfTurn);
            }
            state.count += 1;
            state.waits = Some((state.count, Instant::now()));
            state.count
        };
        self.changed.notify_waiters();
        // If the connection breaks, this is dropped, and the request counts no more.
        let _asks = Asks { protocol: self, waits };
        self.until(|state| {
            if state.waits.is_none_or(|(other, _)| other != waits) {
                return Some(Err(Rejected::OutOfTurn));
            }
            let Stage::Given(_) = state.stage else { return None };
            let Stage::Given(event) = std::mem::take(&mut state.stage) else { return None };
            state.stage = Stage::Working(event.clone(), connection.clone());
            state.waits = None;
            Some(Ok(event))
        })
        .await
    }

    /// Waits until it is known why a client asks for an event while it has one. It may have closed a connection just
    /// before, of which the host learns later: the one on which it answered, or the one on which it was sent the
    /// event. In the second case it does not know of the event, and is to get it again: a client's clock goes on
    /// while the instance is frozen, so a request may time out as soon as the instance goes on.
    async fn settled(&self, connection: &Connection) {
        let sent_on = match &self.state().stage {
            Stage::Working(_, sent_on) => sent_on.clone(),
            _ => return,
        };
        let answered = self.until(|state| (!matches!(state.stage, Stage::Working(..))).then_some(()));
        let given_up = async {
            match sent_on.is(connection) {
                true => std::future::pending().await,
                false => sent_on.closed().await,
            }
        };
        tokio::select! {
            biased;
            () = answered => return,
            () = given_up => {}
            () = tokio::time::sleep(CLOSES) => return,
        }
        let mut state = self.state();
        match std::mem::take(&mut state.stage) {
            Stage::Working(event, it) if it.is(&sent_on) => {
                state.stage = Stage::Given(event);
                state.reject("gave up its request for an event, and was given that once more".to_owned());
            }
            other => state.stage = other,
        }
    }

    /// Takes the instance's answer to a call. An error if the call is not the one in progress, or was answered already.
    pub fn answer(&self, request_id: &str, answer: Answer) -> Result<(), Rejected> {
        let mut state = self.state();
        match &state.stage {
            Stage::Working(event, _) if event.request_id == request_id => {
                state.stage = Stage::Answered(answer);
                drop(state);
                self.changed.notify_waiters();
                Ok(())
            }
            Stage::Working(event, _) => {
                let what = format!("answered request '{request_id}' while it had '{}'", event.request_id);
                state.reject(what);
                Err(Rejected::OtherRequest)
            }
            Stage::Answered(_) => {
                state.reject(format!("answered '{request_id}' after it had answered"));
                Err(Rejected::OutOfTurn)
            }
            _ => {
                state.reject(format!("answered '{request_id}' while it had no event"));
                Err(Rejected::OutOfTurn)
            }
        }
    }

    /// Takes the instance's report that it cannot be initialized. It is refused if the instance has asked for an
    /// event before.
    pub fn init_error(&self, error: Answer) -> Result<(), Rejected> {
        let mut state = self.state();
        if state.count > 0 {
            state.reject("said that it cannot be initialized after it had asked for an event".to_owned());
            return Err(Rejected::OutOfTurn);
        }
        state.init_error = Some(error);
        drop(state);
        self.changed.notify_waiters();
        Ok(())
    }

    /// Records that the instance broke the protocol. `what` says how, without its subject. It is dropped if 100 phrases
    /// are kept already.
    pub fn reject(&self, what: String) {
        self.state().reject(what);
    }

    fn state(&self) -> std::sync::MutexGuard<'_, ProtocolState> {
        // Nothing here panics while the lock is held.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    async fn until<T>(&self, mut found: impl FnMut(&mut ProtocolState) -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(found) = found(&mut self.state()) {
                return found;
            }
            changed.await;
        }
    }
}

impl ProtocolState {
    fn reject(&mut self, what: String) {
        if self.rejected.len() < MOST_REJECTED {
            self.rejected.push(what);
        }
    }
}

struct Asks<'a> {
    protocol: &'a RuntimeProtocol,
    waits: u64,
}

impl Drop for Asks<'_> {
    fn drop(&mut self) {
        let mut state = self.protocol.state();
        if state.waits.is_some_and(|(waits, _)| waits == self.waits) {
            state.waits = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kumite_guard::Open;

    use super::*;

    fn event(id: &str) -> Event {
        Event { request_id: id.to_owned(), ..Event::default() }
    }

    fn right(text: &str) -> Answer {
        Answer::Right(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn events_and_answers_take_turns() {
        let both = Arc::new(RuntimeProtocol::default());
        let runtime = Arc::clone(&both);
        let runtime = tokio::spawn(async move {
            let open = Open::new();
            for id in ["1", "2"] {
                assert_eq!(runtime.next(&open.connection()).await.unwrap().request_id, id);
                runtime.answer(id, right(id)).unwrap();
            }
            runtime.next(&open.connection()).await.map(|event| event.request_id)
        });
        assert!(matches!(both.initialized().await, Initialized::Done(_)));
        for id in ["1", "2"] {
            both.give(event(id));
            assert_eq!(both.answered().await, right(id));
            both.asked().await;
            both.end();
        }
        assert!(both.rejected().is_empty());
        both.give(event("3"));
        assert_eq!(runtime.await.unwrap(), Ok("3".to_owned()));
    }

    #[tokio::test]
    async fn what_is_out_of_turn_is_rejected_and_kept() {
        let both = RuntimeProtocol::default();
        assert_eq!(both.answer("1", right("")), Err(Rejected::OutOfTurn));
        let open = Open::new();
        both.give(event("1"));
        both.next(&open.connection()).await.unwrap();
        assert_eq!(
            both.next(&open.connection()).await.map(|event| event.request_id),
            Err(Rejected::OutOfTurn)
        );
        assert_eq!(both.answer("2", right("")), Err(Rejected::OtherRequest));
        assert_eq!(both.answer("1", right("yes")), Ok(()));
        assert_eq!(both.answer("1", right("no")), Err(Rejected::OutOfTurn));
        assert_eq!(both.init_error(right("")), Err(Rejected::OutOfTurn));
        assert_eq!(both.answered().await, right("yes"), "the first answer stands");
        assert_eq!(
            both.rejected(),
            [
                "answered '1' while it had no event",
                "asked for an event before it had answered the last one",
                "answered request '2' while it had '1'",
                "answered '1' after it had answered",
                "said that it cannot be initialized after it had asked for an event",
            ]
        );
        assert!(both.rejected().is_empty());
    }

    #[tokio::test]
    async fn a_request_for_an_event_whose_connection_breaks_is_forgotten() {
        let both = RuntimeProtocol::default();
        // It is polled, and then given up.
        let connection = Open::new().connection();
        let gone = tokio::time::timeout(Duration::ZERO, both.next(&connection)).await;
        assert!(gone.is_err());
        let asked = tokio::time::timeout(Duration::ZERO, both.asked()).await;
        assert!(asked.is_err(), "nobody waits for an event");
        both.give(event("1"));
        assert_eq!(both.next(&connection).await.unwrap().request_id, "1", "it is not lost");
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_that_was_sent_to_who_had_given_up_is_sent_again() {
        let both = RuntimeProtocol::default();
        let (gone, here) = (Open::new(), Open::new());
        both.give(event("1"));
        both.next(&gone.connection()).await.unwrap();
        let early = both.next(&here.connection()).await;
        assert_eq!(early.map(drop), Err(Rejected::OutOfTurn), "it may work on it yet");
        let connection = here.connection();
        let (again, ()) = tokio::join!(both.next(&connection), async {
            tokio::time::sleep(CLOSES / 2).await;
            drop(gone);
        });
        assert_eq!(again.unwrap().request_id, "1");
        both.answer("1", right("yes")).unwrap();
        assert_eq!(both.answered().await, right("yes"));
        assert_eq!(
            both.rejected(),
            [
                "asked for an event before it had answered the last one",
                "gave up its request for an event, and was given that once more",
            ]
        );
    }

    #[tokio::test]
    async fn an_initialization_may_fail() {
        let both = RuntimeProtocol::default();
        let error = Answer::Wrong("Runtime.ImportModuleError".into(), b"{}".to_vec());
        both.init_error(error.clone()).unwrap();
        assert_eq!(both.initialized().await, Initialized::Failed(error));
    }
}
