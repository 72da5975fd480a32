//! The engine: the loop that composes schedule, transport and recorder, on one thread.
//!
//! [`Engine::run`] executes one thread's part of a load ([`Duty`]), over a transport that has a slot for each
//! connection of that part. It returns when the schedule is over, when `stop` is set, when this machine can make no
//! more connections, or when the transport fails.
//!
//! **A response time comes about like this**, from the socket to the record:
//!
//! 1. `send` puts an [`InFlight`] (`due`, `sent`) behind the others of its connection. In a closed loop the two are
//!    equal.
//! 2. `wait_for_events` asks the transport what has happened since the last wait; `handle_events` takes one event
//!    after the other.
//! 3. [`Connection::hear`] reads the bytes that came. Each answer that they complete is checked there, and put into
//!    [`Heard`]. If they are only the beginning of an answer, [`Connection::note_first_bytes`] notes the instant in
//!    its `InFlight`.
//! 4. The clock is read: that is when these answers came. `take_answers` pairs each of them with its `InFlight`.
//! 5. `finish_request` asks the schedule whether the request counts, and gives the recorder `due`, `sent` and this
//!    instant.
//! 6. [`Recorder::record_right`] puts the differences into the histograms of the present tenth of a second
//!    ([`IntervalCounts`](crate::record::aggregate::IntervalCounts)).
//! 7. At the end of that tenth of a second its counts go through `tell` to `threads.rs`, and from there to the
//!    [`Aggregate`](crate::record::aggregate::Aggregate). The aggregate adds up the counts of all threads for the
//!    same tenth, and appends the window's part of them to [`Outcome::response_over_time`], whose sum is
//!    [`Outcome::response`].
//!
//! A session of several steps goes on after `finish_request`: [`sessions`] has the steps that are to come.
//!
//! **What always holds.** A request is finished once, by a right answer or by one [`Failure`]: in `finish_request`,
//! or in `count_unsent` if an open loop never sent it. Requests of a closed loop that are on their way when it ends
//! are counted only as `drained`, if a right answer still comes, or as `unanswered`. Those that are on their way when
//! `stop` ends a load are not counted. `total_in_flight` is the sum of all connections' `in_flight`. All instants are
//! ns on `clock`. Only the transport waits, for [`STOP_POLL_NS`] at most. A request is never sent again, for nobody
//! can tell whether the server acted on it.
//!
//! **How exact a time is.** The clock is read once for each piece of received bytes, after the piece has been read
//! and checked. The one instant stands for two: the arrival of the answers in it, and the beginning of the next
//! request on that connection. In truth these are some tenths of a microsecond apart. Answers that are ready at the
//! same time are handled one after the other, so their response times include the engine's own queue, as those of any
//! one-threaded client do; the receive lag says how long that queue may have been.

mod disturbance;
pub(crate) mod duty;
mod open_loop;
pub(crate) mod opening;
pub(crate) mod sampler;
mod sessions;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use crate::clock::Clock;
use crate::connection::{Connection, ConnectionState, WhenOpen};
use crate::in_flight::{InFlight, NO_SESSION};
use crate::protocol::incoming::{ExpectedAnswer, Heard, JudgedAnswer, describe_unasked, is_farewell};
use crate::protocol::layers::{Dialect, NO_ROOM};
use crate::record::aggregate::EngineEvent;
use crate::record::by_step::BySteps;
use crate::record::errors::{Failure, failure_in_words};
use crate::record::log::WrongStatus;
use crate::record::outcome::Outcome;
use crate::record::recorder::{Recorder, Span};
use crate::request::source::{NextRequest, NextSession, RequestSource};
use crate::request::template::Given;
use crate::sampled::SampledAnswer;
use crate::schedule::Schedule;
use crate::transport::{Transport, TransportEvent};
use crate::{Limit, Load, Pace, Session, nanos};
use disturbance::Injection;
use duty::Duty;
use open_loop::OpenLoop;
use opening::Opening;
use sampler::Sampler;
use sessions::Sessions;

/// The longest single wait in ns, so that `stop` is noticed in time.
const STOP_POLL_NS: u64 = 100_000_000;
/// The least time in ns between two sweeps for time-outs.
const SWEEP_GAP_NS: u64 = 1_000_000;
/// The longest wait in ns of a closed loop, at its end, for answers that are on their way. They enter no rate and no
/// response time, so there is no point in waiting longer for a server that hangs.
const DRAIN_NS: u64 = 500_000_000;
/// The time in ns for which a closed loop, after its last answer, listens for answers that no request asked for.
const LISTEN_NS: u64 = 10_000_000;
/// The most bytes that may wait to be sent on one connection, besides requests: replies that a server asks for (PING,
/// SETTINGS) and does not read.
const UNREAD_LIMIT: usize = 1 << 20;

pub(crate) struct Engine<'a, T, C> {
    schedule: Schedule,
    requests: RequestSource,
    transport: T,
    recorder: Recorder<'a>,
    dialect: Dialect,
    /// The expected answer of each step.
    expected: Vec<ExpectedAnswer>,
    pace: Pace,
    sessions: Sessions,
    /// The queues of an open loop; `None` in a closed loop.
    open_loop: Option<OpenLoop>,
    /// The address and port, or the Unix socket's path, that all connections lead to, for messages.
    server_address: String,
    /// The most requests that may be on their way on one connection, if the server takes so many.
    pipeline_room: usize,
    /// The most bytes that may wait to be sent on one connection with layers (TLS, HTTP/2). If more do, the
    /// connection is ended.
    most_unsent_bytes: usize,
    timeout_ns: u64,
    /// The longest time in ns, after the end of the load, for what is on its way.
    patience_ns: u64,
    /// The clock. It counts from the beginning of the load; before that, from when the engine was made.
    clock: C,
    /// The load has begun. `false` only while an open loop opens its connections.
    has_begun: bool,
    /// The connections by slot. The first `base_connections` carry the load to its end. Then come those of a burst
    /// (a disturbance that opens many connections at once), and from `first_idle` on those that carry no request.
    connections: Vec<Connection>,
    /// The index of the connection in slot 0 among the connections of all threads. Each thread has a range of numbers.
    first_connection: u64,
    /// The number of connections that carry the load.
    base_connections: usize,
    /// The first slot of the connections that carry no request.
    first_idle: usize,
    /// The number of connections that carry no request and are open.
    idle_open: usize,
    opening: Opening,
    /// The number of requests on their way, on all connections.
    total_in_flight: usize,
    heard: Heard,
    next_sweep_ns: u64,
    /// The instant at which the transport last looked for events, or woke up.
    last_poll_ns: u64,
    /// The beginning of receive lags. If the last wait slept, this is the instant of its waking up. Otherwise it is the
    /// instant of the poll before that wait, because the wait's events came after that poll.
    answers_since_ns: u64,
    injection: Injection,
    /// The choice of answers that are kept whole; `None` if none are.
    sampler: Option<Sampler>,
    /// The error by which this machine can open no more connections; `None` while it can. `run` returns it, because
    /// the load is then no longer the one that was asked for.
    local_shortage: Option<Errno>,
}

impl<'a, T: Transport, C: Clock> Engine<'a, T, C> {
    /// Makes the engine of one thread. `transport` has a slot for each connection of `duty`, a burst's included.
    /// `clock` is used until the load begins; `run` then replaces it.
    pub fn new(
        load: &Load,
        duty: Duty,
        requests: RequestSource,
        transport: T,
        clock: C,
        tell: &'a mut dyn FnMut(EngineEvent),
    ) -> Engine<'a, T, C> {
        let (opens, timeout) = (nanos(load.warm_up), nanos(load.timeout));
        let closes = load.limit.duration.map(|duration| opens + nanos(duration));
        let disturbance = load.disturbance.zip(closes);
        // The end of a disturbed load is not known before the disturbance is over.
        let limit = if disturbance.is_some() { Limit::default() } else { duty.limit };
        let open_loop = duty.arrivals.is_some();
        let all_connections = duty.all_connections();
        let most_requests = load.requests_per_connection.map_or(u64::MAX, NonZeroU64::get);
        let most_unsent_bytes =
            requests.longest().saturating_mul(2).saturating_mul(load.pipeline).saturating_add(UNREAD_LIMIT);
        let span = Span { opens, closes: closes.unwrap_or(u64::MAX), timeout, by_due: open_loop };
        Engine {
            schedule: Schedule::new(&limit, opens, duty.arrivals),
            transport,
            recorder: Recorder::new(
                span,
                load.opener.clone(),
                BySteps::new(load.sessions.iter().map(Session::empty_outcome).collect()),
                duty.log,
                tell,
            ),
            dialect: duty.dialect,
            expected: duty.expected,
            pace: load.pace,
            sessions: Sessions::default(),
            open_loop: open_loop.then(OpenLoop::default),
            server_address: requests.address.to_string(),
            pipeline_room: load.pipeline,
            most_unsent_bytes,
            timeout_ns: timeout,
            patience_ns: if open_loop {
                // A request that is due at the very end may wait for a connection until the time-out, and then for its
                // answer until the time-out again; and so may each further step of its session.
                timeout.saturating_mul(2).saturating_add(requests.longest_rest(timeout))
            } else {
                timeout.min(DRAIN_NS)
            },
            clock,
            has_begun: false,
            connections: (0..all_connections)
                .map(|slot| {
                    let turn = requests.first_turn((duty.first_connection + slot) as u64);
                    Connection::new(load.pipeline, most_requests, turn)
                })
                .collect(),
            requests,
            first_connection: duty.first_connection as u64,
            base_connections: duty.base_connections,
            first_idle: duty.base_connections + duty.burst_connections,
            idle_open: 0,
            opening: Opening::new(open_loop, duty.base_connections),
            total_in_flight: 0,
            heard: Heard { answers: Vec::new(), wrong: None, describe: false },
            next_sweep_ns: timeout,
            last_poll_ns: 0,
            answers_since_ns: 0,
            injection: Injection::new(disturbance, nanos(load.reopen_spread)),
            sampler: duty.sampler,
            local_shortage: None,
        }
    }

    /// Runs until the schedule is over or `stop` is set. `start` returns the clock of the load, which begins at that
    /// moment. An open loop calls it only when its connections are open, or after a second of opening them; so does any
    /// load with connections that carry no request. An error if this machine can open no more connections, or if the
    /// transport fails.
    pub fn run(mut self, stop: &AtomicBool, start: impl FnOnce() -> C) -> Result<Outcome, Errno> {
        if self.open_loop.is_some() || self.first_idle < self.connections.len() {
            self.open_all(stop)?;
        }
        self.clock = start();
        self.has_begun = true;
        self.last_poll_ns = 0;
        let over = self.drive(stop);
        if self.injection.is_paused() {
            self.recorder.tell(EngineEvent::Resume);
        }
        let now = self.now();
        self.recorder.record_idle_open(self.idle_open);
        let sampled = self.sampler.map(Sampler::taken).unwrap_or_default();
        over.map(|(end, stopped)| Outcome { sampled, ..self.recorder.close(end, now, stopped) })
    }

    /// Runs the load from its first request to its last. Returns the instant at which it was over, and `true` if
    /// `stop` ended it.
    fn drive(&mut self, stop: &AtomicBool) -> Result<(u64, bool), Errno> {
        self.recorder.advance(0);
        if self.open_loop.is_none() {
            for slot in 0..self.base_connections {
                self.proceed(slot, 0);
            }
        }
        loop {
            let now = self.now();
            if self.schedule.is_over(now) {
                let end = self.schedule.end();
                let late = now > end.saturating_add(self.patience_ns).saturating_add(SWEEP_GAP_NS);
                if late {
                    // The arrivals that are left are too late by now, and so are those that came due while this
                    // machine stood still. Requests on their way still have their time-out.
                    while let Some(due) = self.schedule.take_due(now) {
                        self.count_overdue(due, now);
                    }
                    self.sweep_timeouts(now);
                }
                let sent = self.schedule.next_due() == u64::MAX && !self.has_backlog();
                let resting = self.open_loop.is_some() && !self.sessions.is_empty();
                let drained = sent && self.total_in_flight == 0 && !resting;
                if drained || late && self.open_loop.is_none() {
                    if self.open_loop.is_none() {
                        self.describe_starved();
                    }
                    if drained && self.open_loop.is_none() {
                        self.listen_for_unasked()?;
                    }
                    self.recorder.count_unanswered(self.total_in_flight);
                    return Ok((end, false));
                }
            }
            if stop.load(Ordering::Relaxed) {
                return Ok((now, true));
            }
            // Due requests are sent first, because handing over a finished interval takes some tens of microseconds.
            self.send_due()?;
            self.recorder.advance(if self.open_loop.is_some() { now } else { now.min(self.schedule.end()) });
            let by = self.recorder.take_opening_advance();
            if by > 0 {
                self.schedule.open_sooner(by);
                self.injection.come_sooner(by);
                self.sampler.iter_mut().for_each(|sampler| sampler.open_sooner(by));
            }
            if now >= self.next_sweep_ns {
                self.sweep_timeouts(now);
            }
            self.resume_due(now);
            self.end_pauses();
            self.disturb(now);
            self.local_shortage.map_or(Ok(()), Err)?;
            let spins = self.wait_for_events()?;
            if !self.handle_events() && spins {
                self.recorder.record_spin(self.now() - now);
            }
        }
    }

    /// The next instant at which something is to be done that no event announces. Arrivals of an open loop are left
    /// out: `wait_for_events` adds them, because the engine may have to wake up before a request is due ([`Pace`]).
    fn next_deadline_ns(&self) -> u64 {
        let due = [
            self.recorder.next_boundary_ns(),
            self.schedule.closes(),
            self.injection.next_step_ns(),
            self.next_sweep_ns,
            self.opening.next_resume_ns(),
            self.opening.held_until_ns(),
            self.sessions.next_due_ns(),
        ];
        due.into_iter().min().unwrap_or(u64::MAX)
    }

    /// Waits until something has happened or is due, but no longer than [`STOP_POLL_NS`]. Returns `true` if it spun
    /// in place of sleeping, because a request is due so soon that it would have overslept. Spinning is no work, and
    /// is not counted as busy.
    fn wait_for_events(&mut self) -> Result<bool, Errno> {
        let before = self.now();
        let next = self.schedule.next_due();
        let wake = self.pace.wake(next);
        let mut due = self.next_deadline_ns().min(wake);
        if self.schedule.is_over(before) {
            due = before + SWEEP_GAP_NS;
            if self.open_loop.is_some() {
                due = due.min(self.sessions.next_due_ns());
            }
        }
        let slept = self.transport.wait(due.saturating_sub(before).min(STOP_POLL_NS))?;
        let looked = if slept { self.now() } else { before };
        // If the wait did not sleep, its events came after the previous poll, while other events were handled.
        self.answers_since_ns = if slept { looked } else { self.last_poll_ns };
        self.last_poll_ns = looked;
        Ok(due <= before && wake == due && next > before)
    }

    /// Handles every event that the last wait found. Returns `false` if there was none.
    ///
    /// A connection without a request in flight should have nothing to say. Bytes on it are an answer that nobody asked
    /// for, unless they announce a close. Its end is no failure, because a server may close it. With layers (TLS, HTTP/2) the layers must read the bytes first, to
    /// tell these apart.
    fn handle_events(&mut self) -> bool {
        let mut something = false;
        while let Some((slot, event)) = self.transport.next() {
            something = true;
            let connection = &mut self.connections[slot];
            self.heard.describe = self.recorder.lacks_first_wrong();
            let result = match event {
                TransportEvent::Connected(result) => {
                    self.connect_ended(slot, result);
                    continue;
                }
                TransportEvent::Sent => continue,
                TransportEvent::Received(bytes)
                    if connection.in_flight.is_empty()
                        && connection.layers.is_none()
                        && !is_farewell(bytes) =>
                {
                    let words = describe_unasked(bytes);
                    self.recorder.describe_first_wrong(|| words);
                    self.refuse_unasked(slot);
                    continue;
                }
                // A server may close a connection that is not in use.
                _ if connection.in_flight.is_empty() && connection.layers.is_none() => {
                    self.close_idle(slot);
                    continue;
                }
                TransportEvent::Received(bytes) => connection.hear(bytes, &self.expected, &mut self.heard),
                TransportEvent::Ended => connection.end(&self.expected, &mut self.heard),
                TransportEvent::Broken(_) => Err(connection.incoming.broken()),
            };
            if self.connections[slot].layers.is_some() {
                self.handle_layered(slot, result);
                continue;
            }
            if self.heard.answers.is_empty() && result.is_ok() {
                // Here the clock is read only for the first piece of an answer that comes in several.
                if self.connections[slot].lacks_first_byte() {
                    let now = self.now();
                    self.connections[slot].note_first_bytes(now);
                }
                continue;
            }
            let now = self.now();
            self.recorder.record_receive_lag(now - self.answers_since_ns);
            self.take_answers(slot, result, now);
        }
        something
    }

    /// Goes on with a connection whose layers (TLS, HTTP/2) have read what came. They may have found answers, have
    /// become ready for requests, have ended while idle, allow more requests than before, or want something to be
    /// sent in turn; several of these at once.
    fn handle_layered(&mut self, slot: usize, result: Result<(), Failure>) {
        let now = self.now();
        let answers = !self.heard.answers.is_empty();
        let connection = &mut self.connections[slot];
        let Some(layers) = &mut connection.layers else { return };
        layers.heard_at = now;
        let ready = layers.is_ready();
        let room = layers.room().min(self.pipeline_room);
        let grew = connection.allow(room, now);
        if result.is_err()
            && !answers
            && let Some(why) = self.heard.wrong.take()
        {
            self.recorder.describe_first_wrong(|| why);
        }
        match (connection.state, result) {
            (ConnectionState::Connecting(_), Ok(())) if ready => self.connection_ready(slot),
            (ConnectionState::Connecting(_), Err(_)) => {
                self.flush_layers(slot);
                self.connect_failed(slot, Failure::Connect, now);
            }
            (_, Err(Failure::Malformed)) if connection.in_flight.is_empty() => {
                return self.refuse_unasked(slot);
            }
            (_, Err(_)) if connection.in_flight.is_empty() => self.close_idle(slot),
            (_, result) if answers || result.is_err() => {
                self.recorder.record_receive_lag(now - self.answers_since_ns);
                self.take_answers(slot, result, now);
            }
            _ => connection.note_first_bytes(now),
        }
        if grew {
            self.use_new_room(slot, now);
        }
        self.flush_layers(slot);
    }

    /// Called when the server allows more requests on a connection than before: sends those that waited for this.
    fn use_new_room(&mut self, slot: usize, now: u64) {
        let is_open = self.connections[slot].state == ConnectionState::Open;
        if is_open && slot < self.base_connections && !self.opening.is_holding() {
            self.proceed(slot, now);
        }
    }

    /// Closes a connection on which bytes came that no request had asked for. The next request that is meant for it
    /// would have taken those bytes for its answer: it fails as malformed.
    fn refuse_unasked(&mut self, slot: usize) {
        if self.is_idle_slot(slot) {
            return self.close_idle(slot);
        }
        self.transport.close(slot);
        self.connections[slot].unasked = true;
        self.connections[slot].allow(self.pipeline_room, 0);
        self.make_idle(slot);
    }

    /// Sends the bytes that a connection's layers have made. Ends the connection if that fails, or if the server
    /// leaves too many bytes unread.
    fn flush_layers(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        let Some(layers) = &mut connection.layers else { return };
        if !layers.wants_write() {
            return;
        }
        let mut bytes = self.transport.spare();
        layers.write(&mut bytes);
        let sent = self.transport.send(slot, bytes).is_ok();
        let unread = self.transport.unsent(slot);
        if sent && unread <= self.most_unsent_bytes {
            return;
        }
        let (now, mut failure) = (self.now(), self.connections[slot].incoming.broken());
        if sent {
            failure = Failure::Malformed;
            self.recorder.describe_first_wrong(|| {
                format!(
                    "malformed: the server has {unread} bytes to read, most of them replies to frames that need one (PING, SETTINGS)"
                )
            });
        }
        match self.connections[slot].state {
            ConnectionState::Connecting(_) => self.connect_failed(slot, Failure::Connect, now),
            ConnectionState::Open | ConnectionState::Closed => self.end_connection(slot, failure, now),
        }
    }

    /// Finishes the requests whose answers are in `heard`. Then goes on with the connection, or ends it with the
    /// failure in `result`. `now` is the instant at which the answers, or the failure, came.
    fn take_answers(&mut self, slot: usize, result: Result<(), Failure>, now: u64) {
        let mut result = result;
        let mut answers = std::mem::take(&mut self.heard.answers);
        for judged in answers.drain(..) {
            let JudgedAnswer { in_flight_index, answer, failure: wrong, wrong_status, taken, sample } =
                judged;
            let Some(request) = self.connections[slot].in_flight.remove(in_flight_index) else { break };
            self.total_in_flight -= 1;
            let late = now.saturating_sub(request.sent) > self.timeout_ns;
            let failure = if late { Some(Failure::Timeout) } else { wrong };
            if failure.is_some()
                && let Some(description) = self.heard.wrong.take()
                && !late
            {
                let place = self.step_suffix(request.step);
                self.recorder.describe_first_wrong(|| description + &place);
            }
            self.sessions.keep(request.session, taken);
            self.end_sample(slot, request, sample.filter(|_| failure.is_none()));
            self.finish_request(slot, request, failure, wrong_status.filter(|_| !late), now);
            // A connection is not used again after an answer that asks for it to be closed; nor, unless it is
            // multiplexed, after an answer that came too late or before its whole request was sent.
            let alone = !self.connections[slot].is_multiplexed();
            if !answer.keep_alive || alone && (late || self.transport.is_sending(slot)) {
                result = result.and(Err(Failure::Closed));
            }
        }
        self.heard.answers = answers;
        self.connections[slot].note_first_bytes(now);
        if self.connections[slot].is_over() {
            result = result.and(Err(Failure::Closed));
        }
        match result {
            Ok(()) => self.proceed(slot, now),
            Err(failure) => {
                let asked = self.connections[slot].in_flight.front();
                let late = asked.is_some_and(|request| now.saturating_sub(request.sent) > self.timeout_ns);
                if let Some(why) = self.heard.wrong.take().filter(|_| !late) {
                    self.recorder.describe_first_wrong(|| why);
                }
                self.end_connection(slot, failure, now);
            }
        }
    }

    /// Closes a connection. Every request that is on its way there fails: by a time-out if it has already taken longer
    /// than that, else by `failure`.
    fn end_connection(&mut self, slot: usize, failure: Failure, now: u64) {
        self.close(slot);
        while let Some(request) = self.connections[slot].in_flight.pop_front() {
            self.total_in_flight -= 1;
            let late = now.saturating_sub(request.sent) > self.timeout_ns;
            self.finish_request(
                slot,
                request,
                Some(if late { Failure::Timeout } else { failure }),
                None,
                now,
            );
        }
        self.proceed(slot, now);
    }

    fn close(&mut self, slot: usize) {
        if self.is_idle_slot(slot) && self.connections[slot].state == ConnectionState::Open {
            self.idle_open -= 1;
            if self.has_begun {
                self.recorder.count_idle_ended();
            }
        }
        self.transport.close(slot);
        self.connections[slot].state = ConnectionState::Closed;
        self.connections[slot].layers = None;
        self.connections[slot].allow(self.pipeline_room, 0);
    }

    /// `true` for the slot of a connection that carries no request.
    fn is_idle_slot(&self, slot: usize) -> bool {
        slot >= self.first_idle
    }

    /// Closes a connection that had no request on its way. An open loop opens another in its place at once, so that one
    /// is free when a request is due; a closed loop waits until it has a request for it. In an idle slot, which never
    /// carries a request, another is opened at once, too.
    fn close_idle(&mut self, slot: usize) {
        self.close(slot);
        if self.open_loop.is_some() || self.is_idle_slot(slot) {
            self.proceed(slot, self.now());
        }
    }

    /// Counts a request that is finished now: it has its answer, or it failed, perhaps for want of a connection.
    /// `wrong_status` is the answer, if it is to be logged. Requests of a closed loop that finish after its end enter
    /// no rate and no response time; they are counted apart, right ones as drained and failed ones as unanswered.
    fn finish_request(
        &mut self,
        slot: usize,
        request: InFlight,
        failure: Option<Failure>,
        wrong_status: Option<Box<WrongStatus>>,
        now: u64,
    ) {
        self.end_sample(slot, request, None);
        let InFlight { sent, step, session, .. } = request;
        let began = self.sessions.began(request);
        let next =
            if failure.is_none() && session != NO_SESSION { self.requests.step_after(step) } else { None };
        let is_counted = match next {
            None => self.schedule.finish(began, now),
            Some(_) => self.schedule.counts(now),
        };
        if slot >= self.base_connections {
            self.burst_request_finished(failure.is_none(), now);
        }
        match failure {
            None if is_counted => self.recorder.record_right(request, began, now),
            Some(failure) if is_counted => {
                self.recorder.describe_first_wrong(|| {
                    failure_in_words(failure, self.requests.label(step), now.saturating_sub(sent))
                });
                self.recorder.record_failure(failure, wrong_status, request, began, now);
            }
            None => self.recorder.count_drained(),
            Some(_) => self.recorder.count_unanswered(1),
        }
        match next {
            Some(next) if is_counted => self.go_on(slot, session, next, now),
            _ => {
                if is_counted {
                    self.recorder.record_session(step, failure.is_none(), began, now);
                }
                self.sessions.end(session);
            }
        }
        self.opening.count_opened(&mut self.connections[slot]);
    }

    /// Tells the sampler that a request is finished. If the request was chosen as a sample, `answer` is kept, if there
    /// is one.
    #[inline]
    fn end_sample(&mut self, slot: usize, request: InFlight, answer: Option<Box<SampledAnswer>>) {
        if let Some(sampler) = &mut self.sampler
            && sampler.ends(slot, request, answer)
        {
            self.expected[request.step as usize].asked.samples -= 1;
        }
    }

    /// Begins the next thing that the connection is to do, and sends the bytes that its layers made of it.
    fn proceed(&mut self, slot: usize, now: u64) {
        self.use_connection(slot, now);
        self.flush_layers(slot);
    }

    fn use_connection(&mut self, slot: usize, now: u64) {
        let connection = &self.connections[slot];
        if self.is_idle_slot(slot) {
            if connection.state == ConnectionState::Closed {
                self.opening.enqueue(slot, now);
            }
            return;
        }
        if slot >= self.base_connections {
            if connection.in_flight.is_empty() {
                self.close(slot);
            }
            return;
        }
        if self.open_loop.is_some() {
            return self.proceed_in_open_loop(slot, now);
        }
        self.send_waiting(slot, now);
        let connection = &mut self.connections[slot];
        if self.opening.hold_until_all_answered(slot, connection) {
            return;
        }
        let room = if connection.begun { connection.room } else { 1 };
        while self.connections[slot].sessions() < room {
            // A request already waits for this connection, the connection waits for its last answers, or no further
            // request may be begun.
            let Connection { state, when_open, .. } = self.connections[slot];
            let waits = state == ConnectionState::Open && self.connections[slot].is_used_up();
            if when_open != WhenOpen::Nothing || waits || !self.schedule.try_start(now) {
                return;
            }
            self.opening.mark_begun(&mut self.connections[slot]);
            if self.connections[slot].state == ConnectionState::Open {
                self.begin(slot, now, now);
            } else {
                self.connections[slot].when_open = WhenOpen::Begin;
                self.opening.enqueue(slot, now);
            }
        }
    }

    /// Begins a session on a connection: sends the request of its first step.
    fn begin(&mut self, slot: usize, due: u64, now: u64) {
        let NextSession { step, seq, is_single } = self.requests.begin(&mut self.connections[slot].turn);
        let cookies = Some(&self.connections[slot].incoming.cookies);
        let given = Given { seq, connection: self.first_connection + slot as u64, cookies, values: &[] };
        let next = self.requests.request(step, &given, || self.transport.spare());
        let session = if is_single { NO_SESSION } else { self.sessions.begin(slot, seq, due) };
        self.send(slot, InFlight::new(due, now, step, session), next);
    }

    fn send(&mut self, slot: usize, request: InFlight, next: NextRequest) {
        self.total_in_flight += 1;
        if let Some(sampler) = &mut self.sampler
            && sampler.chooses(slot, request)
        {
            self.expected[request.step as usize].asked.samples += 1;
        }
        let connection = &mut self.connections[slot];
        connection.in_flight.push_back(request);
        connection.sent += 1;
        let sent = match (next, &mut connection.layers) {
            _ if connection.unasked => false,
            (NextRequest::Fixed(which), None) => self.transport.send_fixed(slot, which).is_ok(),
            (NextRequest::Bytes(bytes), None) => self.transport.send(slot, bytes).is_ok(),
            (next, Some(layers)) => layers.request(request.step, next, &self.requests),
        };
        if !sent {
            let connection = &self.connections[slot];
            let failure = if connection.unasked { Failure::Malformed } else { connection.incoming.broken() };
            self.end_connection(slot, failure, request.sent);
        } else {
            self.make_idle(slot);
        }
    }

    /// Ends everything that has taken longer than the time-out: connects, requests on their way, requests that wait
    /// for a connection, and connections on which the server allows no request.
    ///
    /// This looks at every connection, so it must be rare: the next sweep comes when the oldest thing that was seen
    /// now may expire, but at least a millisecond later. While answers are quick, that is about one sweep in each
    /// time-out's length.
    fn sweep_timeouts(&mut self, now: u64) {
        let mut oldest = self.expire_backlog(now).unwrap_or(now);
        for slot in 0..self.connections.len() {
            if let Some(due) = self.expire_waiting(slot, now) {
                oldest = oldest.min(due);
            }
            let connection = &self.connections[slot];
            let Connection { state, in_flight, .. } = connection;
            let may_send = slot < self.first_idle && !self.opening.is_holding();
            let starved_since = || connection.starved_since().filter(|_| may_send);
            let since = match *state {
                ConnectionState::Connecting(since) => since,
                ConnectionState::Open | ConnectionState::Closed => {
                    in_flight.front().map(|request| request.sent).or_else(starved_since).unwrap_or(now)
                }
            };
            if now.saturating_sub(since) <= self.timeout_ns {
                oldest = oldest.min(since);
            } else if matches!(state, ConnectionState::Connecting(_)) {
                let layers = self.connections[slot].layers.as_ref();
                let awaited = layers.and_then(|layers| layers.awaited());
                self.recorder.describe_first_wrong(|| match awaited {
                    Some(awaited) => format!("{awaited} took longer than the time-out"),
                    None => format!("no connection to {} within the time-out", self.server_address),
                });
                self.connect_failed(slot, Failure::Connect, now);
            } else if in_flight.is_empty() {
                self.replace_starved(slot, since, now);
            } else if self.connections[slot].silent_for_oldest() {
                self.end_connection(slot, Failure::Timeout, now);
            } else {
                self.give_up_expired(slot, now);
                oldest = self.connections[slot].in_flight.front().map_or(oldest, |it| oldest.min(it.sent));
            }
        }
        self.next_sweep_ns = oldest.saturating_add(self.timeout_ns).saturating_add(1).max(now + SWEEP_GAP_NS);
    }

    /// Fails those requests of a multiplexed connection that have taken too long, and none of the others.
    fn give_up_expired(&mut self, slot: usize, now: u64) {
        let timeout = self.timeout_ns;
        let expired = |request: &mut InFlight| now.saturating_sub(request.sent) > timeout;
        while let Some(request) = self.connections[slot].in_flight.pop_front_if(expired) {
            self.total_in_flight -= 1;
            self.connections[slot].layers.iter_mut().for_each(|layers| layers.cancel_oldest());
            self.finish_request(slot, request, Some(Failure::Timeout), None, now);
        }
        let connection = &self.connections[slot];
        let is_gone = connection.layers.as_ref().is_some_and(|it| it.is_gone());
        if connection.is_over() || is_gone && connection.in_flight.is_empty() {
            self.close(slot);
        }
        self.proceed(slot, now);
    }

    /// Replaces a connection on which the server has allowed no request for the length of the time-out. While a closed
    /// loop goes on, this counts as one request that timed out, although none was sent. In an open loop it counts as
    /// nothing, because requests wait for any free connection.
    fn replace_starved(&mut self, slot: usize, since: u64, now: u64) {
        self.recorder.describe_first_wrong(|| {
            format!("timeout: the server allowed no request on a connection for longer than the time-out ({NO_ROOM})")
        });
        self.close(slot);
        if self.open_loop.is_none() && !self.connections[slot].waiting.is_empty() {
            self.fail_waiting(slot, Failure::Timeout, now);
        } else if self.open_loop.is_none() && self.schedule.try_start(now) {
            let step = self.requests.begin(&mut self.connections[slot].turn).step;
            let request = InFlight::new(since, since, step, NO_SESSION);
            self.finish_request(slot, request, Some(Failure::Timeout), None, now);
        }
        self.proceed(slot, now);
    }

    /// Describes, at the end of a closed loop, the connections that can send nothing because the server allows no
    /// request.
    fn describe_starved(&mut self) {
        let loaded = &self.connections[..self.first_idle];
        let starving = loaded.iter().filter(|it| it.starved_since().is_some()).count();
        if starving > 0 {
            self.recorder.describe_first_wrong(|| {
                format!("at the end the server allowed no request on {starving} connections ({NO_ROOM})")
            });
        }
    }

    /// Listens for [`LISTEN_NS`] to a server that has nothing left to answer. If an answer comes all the same, the
    /// server answers more than it is asked, and some of the counted answers may be such answers.
    fn listen_for_unasked(&mut self) -> Result<(), Errno> {
        let until = self.now() + LISTEN_NS;
        loop {
            let left = until.saturating_sub(self.now());
            if left == 0 {
                return Ok(());
            }
            self.transport.wait(left)?;
            while let Some((slot, event)) = self.transport.next() {
                let connection = &mut self.connections[slot];
                self.heard.describe = self.recorder.lacks_first_wrong();
                let result = match event {
                    _ if connection.state != ConnectionState::Open || slot >= self.first_idle => Ok(()),
                    TransportEvent::Received(bytes) if connection.layers.is_some() => {
                        connection.hear(bytes, &self.expected, &mut self.heard)
                    }
                    TransportEvent::Received(bytes) if !is_farewell(bytes) => {
                        self.heard.describe_wrong(|| describe_unasked(bytes));
                        Err(Failure::Malformed)
                    }
                    _ => Ok(()),
                };
                if result == Err(Failure::Malformed) {
                    let words = self.heard.wrong.take().unwrap_or_default();
                    self.recorder.count_unasked(|| words);
                }
                if result.is_err() || connection.layers.is_none() {
                    self.transport.close(slot);
                }
            }
        }
    }

    /// The end of a message about a wrong answer: the answer's step, or nothing if there is only one.
    fn step_suffix(&self, step: u32) -> String {
        if self.requests.has_several() {
            format!("; from {}", self.requests.label(step))
        } else {
            String::new()
        }
    }

    fn now(&self) -> u64 {
        self.clock.elapsed_ns()
    }
}
