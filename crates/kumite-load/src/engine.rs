//! The loop that composes schedule, transport and recorder.
//!
//! The clock is read once for each answer, after it was read and judged complete: that is when the answer came, and when
//! the next request on that connection begins to be sent. What lies between the two, some tenths of a microsecond, is the
//! only error. Answers that are ready at the same time are handled one after the other (at most 256 in a batch), so their
//! response times hold the engine's own queue, as those of any one-threaded client do.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;

use crate::outcome::Outcome;
use crate::recorder::{Failure, Recorder};
use crate::response::Answer;
use crate::schedule::Schedule;
use crate::transport::Transport;
use crate::{Disturbance, DisturbanceKind, Event, Limit, Load, nanos};

/// Connections being opened at once, so that a listen queue of 128, a common default, is not overrun: the kernel drops
/// what does not fit, and tries again only after a second.
const OPENING_LIMIT: usize = 64;
/// For the client a connect is done before the server has accepted it. So a slot's first connection counts as being opened
/// until its first answer, but no longer than this, or a server that is slow to answer would never see all connections.
const ACCEPT_NS: u64 = 10_000_000;
/// How long a connection rests after it could not be established, so that a refusing server does not make the engine spin.
const BACK_OFF_NS: u64 = 10_000_000;
/// A server that does not take all connections, or takes its time, must not keep those waiting that it took.
const HELD_LIMIT_NS: u64 = 1_000_000_000;
/// Connections of a burst that are begun before the others are looked at again: to begin one takes tens of microseconds.
const BURST_BATCH: usize = 256;
const STOP_LOOK_NS: u64 = 100_000_000;
const SWEEP_GAP_NS: u64 = 1_000_000;

pub(crate) struct Engine<'a> {
    schedule: Schedule,
    transport: Transport,
    recorder: Recorder<'a>,
    /// The status expected; none for any 2xx.
    status: Option<u16>,
    timeout: u64,
    began: Instant,
    /// First those that the load goes on with, then those of a burst.
    slots: Vec<Slot>,
    /// Where those of a burst begin.
    burst: usize,
    /// Slots that hold a request and need a connection for it.
    waiting: VecDeque<usize>,
    /// Slots that rest, by when they may go on.
    resting: VecDeque<(u64, usize)>,
    /// Slots whose connection is being opened.
    opening: usize,
    /// First connections that were established, by when the server should have accepted them.
    accepting: VecDeque<(u64, usize)>,
    /// Until every slot has had its first answer, those that have had theirs wait here. A server under load may take new
    /// connections very slowly (Node.js takes one in a turn of its event loop, which serves all others): the last of
    /// hundreds would time out before it is taken, and so would those that replace it.
    held: Option<Vec<usize>>,
    /// Slots that have been given a request.
    begun: usize,
    next_sweep: u64,
    stage: Stage,
    /// How long the server is watched, once no request of a burst is left.
    watch: u64,
}

/// Where the run stands in its disturbance.
enum Stage {
    /// There is none, or it is over.
    Quiet,
    /// It comes when the window closes, then.
    Before(u64, DisturbanceKind),
    /// The server is stopped until then.
    Paused(u64),
    /// A burst's connections that are not yet begun, and how many are not yet finished.
    Burst(Range<usize>, usize),
}

/// One connection's part in the schedule; the socket itself is the transport's.
#[derive(Clone, Copy)]
struct Slot {
    doing: Doing,
    /// When it began to connect, or to send.
    since: u64,
    /// It had a connection before the present one.
    connected_before: bool,
    opening: bool,
    /// It has been given a request.
    begun: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Nothing,
    Connecting,
    Request,
}

impl<'a> Engine<'a> {
    /// An engine for `load`; `transport` has its connections and those of a burst.
    pub fn new(load: &Load, transport: Transport, on_event: &'a mut dyn FnMut(Event)) -> Engine<'a> {
        let slot =
            Slot { doing: Doing::Nothing, since: 0, connected_before: false, opening: false, begun: false };
        let (opens, timeout) = (nanos(load.warm_up), nanos(load.timeout));
        let closes = load.limit.duration.map(|duration| opens + nanos(duration));
        let disturbed = load.disturbance.zip(closes);
        // When a disturbed load ends is known only when the disturbance is over.
        let limit = if disturbed.is_some() { Limit::default() } else { load.limit };
        Engine {
            schedule: Schedule::new(&limit, opens),
            transport,
            recorder: Recorder::new(opens, disturbed.map(|(_, closes)| closes), timeout, on_event),
            status: load.expect.status,
            timeout,
            began: Instant::now(),
            slots: vec![slot; load.connections + load.disturbance.map_or(0, |it| it.connections())],
            burst: load.connections,
            waiting: VecDeque::new(),
            resting: VecDeque::new(),
            opening: 0,
            accepting: VecDeque::new(),
            held: Some(Vec::new()),
            begun: 0,
            next_sweep: timeout,
            stage: match disturbed {
                None => Stage::Quiet,
                Some((Disturbance { kind, .. }, closes)) => Stage::Before(closes, kind),
            },
            watch: load.disturbance.map_or(0, |disturbance| nanos(disturbance.watch)),
        }
    }

    /// Runs until the schedule is over or `stop` is set.
    pub fn run(mut self, stop: &AtomicBool) -> Result<Outcome, Errno> {
        self.began = Instant::now();
        let over = self.offer(stop);
        if matches!(self.stage, Stage::Paused(_)) {
            self.recorder.tell(Event::Resume);
        }
        over.map(|(end, stopped)| self.recorder.close(end, stopped))
    }

    /// Returns when it was over, and whether it was stopped.
    fn offer(&mut self, stop: &AtomicBool) -> Result<(u64, bool), Errno> {
        self.recorder.advance(0);
        for slot in 0..self.burst {
            self.next(slot, 0);
        }
        let mut events: Vec<epoll::Event> = Vec::new();
        loop {
            let now = self.now();
            if self.schedule.over(now) {
                return Ok((self.schedule.end(), false));
            }
            if stop.load(Ordering::Relaxed) {
                return Ok((now, true));
            }
            self.recorder.advance(now);
            if now >= self.next_sweep {
                self.sweep(now);
            }
            while let Some((_, slot)) = self.resting.pop_front_if(|(until, _)| *until <= now) {
                self.next(slot, now);
            }
            while let Some((_, slot)) = self.accepting.pop_front_if(|(until, _)| *until <= now) {
                self.opened(slot);
            }
            self.connect_waiting();
            let all_answered = self.held.as_ref().is_some_and(|held| held.len() == self.begun);
            if all_answered || now >= HELD_LIMIT_NS {
                for slot in self.held.take().unwrap_or_default() {
                    self.next(slot, self.now());
                }
                self.connect_waiting();
            }
            self.disturb(now);

            let now = self.now();
            let front = |queue: &VecDeque<(u64, usize)>| queue.front().map_or(u64::MAX, |(until, _)| *until);
            let due = [
                self.recorder.due(),
                self.schedule.closes(),
                self.stage.due(),
                self.next_sweep,
                front(&self.resting),
                front(&self.accepting),
                if self.held.is_some() { HELD_LIMIT_NS } else { u64::MAX },
            ];
            let due = due.into_iter().min().unwrap_or(now);
            self.transport.wait(&mut events, due.saturating_sub(now).min(STOP_LOOK_NS))?;
            for event in &events {
                let slot = event.data.u64() as usize;
                match self.slots[slot].doing {
                    Doing::Request => self.go_on(slot, event.flags),
                    Doing::Connecting => self.connected(slot),
                    // A server may close a connection that is not in use. Bytes that nobody asked for end it too.
                    Doing::Nothing => self.transport.close(slot),
                }
            }
        }
    }

    /// Goes on with the disturbance, if it is time.
    fn disturb(&mut self, now: u64) {
        match &mut self.stage {
            Stage::Before(at, kind) if now >= *at => match *kind {
                DisturbanceKind::Pause(time) => {
                    self.recorder.tell(Event::Pause);
                    self.stage = Stage::Paused(self.now() + nanos(time));
                }
                DisturbanceKind::Burst(0) => self.ended(),
                DisturbanceKind::Burst(count) => {
                    self.stage = Stage::Burst(self.burst..self.burst + count, count);
                }
            },
            Stage::Paused(until) if now >= *until => {
                self.recorder.tell(Event::Resume);
                self.ended();
            }
            _ => {}
        }
        for _ in 0..BURST_BATCH {
            let Stage::Burst(unbegun, _) = &mut self.stage else { return };
            let Some(slot) = unbegun.next() else { return };
            if slot + 1 == unbegun.end {
                self.recorder.ended(self.now());
            }
            self.connect(slot);
        }
    }

    /// The injection is over, and nothing of it is left.
    fn ended(&mut self) {
        let now = self.now();
        self.recorder.ended(now);
        self.watch_from(now);
    }

    /// The injection was over before, or is now, and every request of a burst is finished.
    fn watch_from(&mut self, now: u64) {
        self.stage = Stage::Quiet;
        self.schedule.close_at(now + self.watch);
    }

    /// Counts a finished request; `failure` is what was wrong with it.
    fn finished(&mut self, slot: usize, failure: Option<Failure>, now: u64) {
        let counts = self.schedule.finish(now);
        if let Stage::Burst(_, left) = &mut self.stage
            && slot >= self.burst
        {
            self.recorder.of_burst(failure.is_none());
            *left -= 1;
            if *left == 0 {
                self.watch_from(now);
            }
        }
        match failure {
            _ if !counts => {}
            None => self.recorder.ok(self.slots[slot].since, now),
            Some(failure) => self.recorder.failed(failure, now),
        }
        self.opened(slot);
    }

    /// Starts the slot's next request, if there is to be one.
    fn next(&mut self, slot: usize, now: u64) {
        self.slots[slot].doing = Doing::Nothing;
        if slot >= self.burst {
            return self.transport.close(slot);
        }
        if self.slots[slot].begun
            && let Some(held) = &mut self.held
        {
            return held.push(slot);
        }
        if !self.schedule.start(now) {
            return;
        }
        self.begun += usize::from(!std::mem::replace(&mut self.slots[slot].begun, true));
        if self.transport.is_open(slot) {
            self.send(slot, now);
        } else {
            self.waiting.push_back(slot);
        }
    }

    fn connect_waiting(&mut self) {
        while self.opening < OPENING_LIMIT
            && let Some(slot) = self.waiting.pop_front()
        {
            self.slots[slot].opening = true;
            self.opening += 1;
            self.connect(slot);
        }
    }

    fn connect(&mut self, slot: usize) {
        let now = self.now();
        self.slots[slot].doing = Doing::Connecting;
        self.slots[slot].since = now;
        if let Err(failure) = self.transport.connect(slot) {
            self.failed(slot, failure, now);
        }
    }

    fn connected(&mut self, slot: usize) {
        let result = self.transport.connected(slot);
        let now = self.now();
        if let Err(failure) = result {
            return self.failed(slot, failure, now);
        }
        if std::mem::replace(&mut self.slots[slot].connected_before, true) {
            self.recorder.reconnected(now);
            self.opened(slot);
        } else {
            self.accepting.push_back((now + ACCEPT_NS, slot));
        }
        self.send(slot, now);
    }

    fn opened(&mut self, slot: usize) {
        self.opening -= usize::from(std::mem::take(&mut self.slots[slot].opening));
    }

    fn send(&mut self, slot: usize, now: u64) {
        self.slots[slot].doing = Doing::Request;
        self.slots[slot].since = now;
        if let Err(failure) = self.transport.send(slot) {
            self.failed(slot, failure, now);
        }
    }

    /// Goes on with a request in flight.
    fn go_on(&mut self, slot: usize, ready: EventFlags) {
        let sent = if ready.contains(EventFlags::OUT) { self.transport.send_rest(slot) } else { Ok(()) };
        let result = sent.and_then(|()| self.transport.receive(slot));
        if result == Ok(None) {
            return;
        }
        let now = self.now();
        match result.and_then(|answer| self.judge(answer)) {
            Ok(answer) if !self.expired(slot, now) => {
                self.finished(slot, None, now);
                self.transport.settle(slot, answer);
                self.next(slot, now);
            }
            Ok(_) => self.failed(slot, Failure::Timeout, now),
            Err(failure) => {
                if matches!(failure, Failure::Status | Failure::Body) {
                    self.recorder.wrong(|| self.transport.describe(slot));
                }
                self.failed(slot, failure, now);
            }
        }
    }

    fn judge(&self, answer: Option<Answer>) -> Result<Answer, Failure> {
        let answer = answer.ok_or(Failure::Closed)?;
        let status_right = match self.status {
            Some(expected) => answer.status == expected,
            None => (200..300).contains(&answer.status),
        };
        match (status_right, answer.body_right) {
            (true, true) => Ok(answer),
            (true, false) => Err(Failure::Body),
            (false, _) => Err(Failure::Status),
        }
    }

    /// Ends the slot's request with a failure and its connection with it.
    fn failed(&mut self, slot: usize, failure: Failure, now: u64) {
        let connecting = self.slots[slot].doing == Doing::Connecting;
        let failure = if !connecting && self.expired(slot, now) { Failure::Timeout } else { failure };
        self.finished(slot, Some(failure), now);
        self.transport.close(slot);
        if connecting && slot < self.burst {
            self.slots[slot].doing = Doing::Nothing;
            self.resting.push_back((now + BACK_OFF_NS, slot));
        } else {
            self.next(slot, now);
        }
    }

    fn expired(&self, slot: usize, now: u64) -> bool {
        now.saturating_sub(self.slots[slot].since) > self.timeout
    }

    /// Ends what has taken too long. A look at every slot, but only when the oldest seen at the last look may have
    /// expired, and not more than once in a millisecond: a run without time-outs looks once per time-out's length.
    fn sweep(&mut self, now: u64) {
        let mut oldest = now;
        for slot in 0..self.slots.len() {
            let Slot { doing, since, .. } = self.slots[slot];
            match doing {
                Doing::Nothing => {}
                Doing::Connecting if self.expired(slot, now) => self.failed(slot, Failure::Connect, now),
                Doing::Request if self.expired(slot, now) => self.failed(slot, Failure::Timeout, now),
                Doing::Connecting | Doing::Request => oldest = oldest.min(since),
            }
        }
        self.next_sweep = oldest.saturating_add(self.timeout).saturating_add(1).max(now + SWEEP_GAP_NS);
    }

    fn now(&self) -> u64 {
        nanos(self.began.elapsed())
    }
}

impl Stage {
    /// When it goes on, if no event tells.
    fn due(&self) -> u64 {
        match self {
            Stage::Before(at, _) | Stage::Paused(at) => *at,
            Stage::Burst(unbegun, _) if !unbegun.is_empty() => 0,
            Stage::Quiet | Stage::Burst(..) => u64::MAX,
        }
    }
}
