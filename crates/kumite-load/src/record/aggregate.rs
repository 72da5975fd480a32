//! The aggregate: it adds up the counts of all threads to one outcome.
//!
//! Each thread counts for itself. Every tenth of a second it gives away its counts of that time, and at its end the
//! rest. So threads share nothing while requests are on their way. An interval is complete when every thread has
//! given its part, or has given a later one.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::Event;
use crate::record::answer_times::AnswerTimes;
use crate::record::by_step;
use crate::record::histogram::{add, histogram};
use crate::record::outcome::{Interval, Outcome, Recovery};
use crate::record::times::{INTERVAL_MS, Times};
use crate::schedule::pace::Pace;

/// An event of one thread.
pub(crate) enum EngineEvent<'a> {
    /// A tenth of a second is over.
    Interval(&'a IntervalCounts),
    /// The server is to be stopped.
    Pause,
    /// The server may go on.
    Resume,
}

/// One thread's counts of a tenth of a second.
#[derive(Clone)]
pub(crate) struct IntervalCounts {
    start_ms: i64,
    /// The number of right answers that came in the interval, whatever stretch of time they belong to.
    pub ok: u64,
    /// The times of the right answers that came in the interval. In the window those of answers to requests that were
    /// due in an open loop's warm-up are left out.
    answers: AnswerTimes,
    /// Service times, in ns, of the same answers, without those to requests that were due after the window; `None` in
    /// a closed loop, where they are the response times.
    service: Option<Histogram<u64>>,
    /// The sum of the response times, for an exact mean.
    response_sum_ns: u64,
    /// The number of requests that failed.
    pub errors: u64,
    /// The most requests that were due and had no connection at the same time. For several threads it is the sum of
    /// what each had.
    pub backlog: u64,
    /// CPU time of the thread, without the time in which it was awake only so as not to oversleep.
    pub busy: Duration,
    /// The answers are the window's, unless `window_answers` has those that are.
    pub measured: bool,
    /// The times that are the window's; `None` if `measured` decides for all of them. In a closed loop they are those
    /// before the window closed within this interval, in an open loop those of requests that were due before it
    /// closed.
    window_answers: Option<AnswerTimes>,
}

impl IntervalCounts {
    /// The counts of the first interval, which begins at `start_ms`, counted from the window's opening: 0 or less.
    pub fn new(start_ms: i64, open_loop: bool) -> IntervalCounts {
        IntervalCounts {
            start_ms,
            ok: 0,
            answers: AnswerTimes::new(),
            service: open_loop.then(histogram),
            response_sum_ns: 0,
            errors: 0,
            backlog: 0,
            busy: Duration::ZERO,
            measured: false,
            window_answers: None,
        }
    }

    /// Adds the times of a right answer in ns: its response time, the time to its first byte, which is at most the
    /// response time, and its service time.
    #[inline]
    pub fn record_right(&mut self, response: u64, first_byte: u64, service: u64) {
        self.answers.record(response, first_byte);
        self.response_sum_ns += response;
        if let Some(times) = &mut self.service {
            times.record(service).expect("a histogram that grows takes any value");
            if let Some(window) = &mut self.window_answers {
                window.record(response, first_byte);
            }
        }
    }

    /// Adds the response time and the time to the first byte, in ns, of a right answer to a request of an open loop
    /// that was due after the window.
    pub fn record_right_after_window(&mut self, response: u64, first_byte: u64) {
        self.window_answers.get_or_insert_with(|| self.answers.clone());
        self.answers.record(response, first_byte);
        self.response_sum_ns += response;
    }

    pub fn is_empty(&self) -> bool {
        self.ok == 0 && self.errors == 0
    }

    /// Closes the window of a closed loop within this interval: answers that are added from now on are not the
    /// window's. It is not for an open loop, where each answer says whether it is the window's.
    pub fn close_window(&mut self) {
        self.window_answers = (!self.answers.is_empty()).then(|| self.answers.clone());
    }

    /// Opens the window with this interval, which so begins at 0.
    pub fn begin_window(&mut self) {
        self.start_ms = 0;
    }

    /// Empties the counts for the next tenth of a second.
    pub fn begin_next(&mut self) {
        self.start_ms += INTERVAL_MS as i64;
        self.answers.clear();
        if let Some(times) = &mut self.service {
            times.reset();
        }
        (self.ok, self.response_sum_ns, self.errors, self.backlog) = (0, 0, 0, 0);
        (self.measured, self.window_answers) = (false, None);
    }

    /// Adds another thread's counts of the same interval.
    fn merge(&mut self, other: &IntervalCounts) {
        if self.window_answers.is_some() || other.window_answers.is_some() {
            // One thread ended in this interval, the other went on.
            let mut window = self.of_window().cloned().unwrap_or_else(AnswerTimes::new);
            other.of_window().into_iter().for_each(|answers| window.add(answers));
            self.window_answers = Some(window);
        }
        self.answers.add(&other.answers);
        if let (Some(times), Some(others)) = (&mut self.service, &other.service) {
            add(times, others);
        }
        self.ok += other.ok;
        self.response_sum_ns += other.response_sum_ns;
        self.errors += other.errors;
        self.backlog += other.backlog;
        self.busy += other.busy;
        self.measured |= other.measured;
    }

    /// The times that are the window's; `None` if there can be none.
    fn of_window(&self) -> Option<&AnswerTimes> {
        self.window_answers.as_ref().or(self.measured.then_some(&self.answers))
    }

    fn interval(&self) -> Interval {
        let response = &self.answers.response;
        let timed = response.len();
        let us = |ns: u64| if timed == 0 { 0.0 } else { ns as f64 / 1e3 };
        Interval {
            start_ms: self.start_ms,
            ok: self.ok,
            errors: self.errors,
            mean_us: if timed == 0 { 0.0 } else { self.response_sum_ns as f64 / timed as f64 / 1e3 },
            p50_us: us(response.value_at_quantile(0.5)),
            p99_us: us(response.value_at_quantile(0.99)),
            max_us: us(response.max()),
            backlog: self.backlog,
            engine_cpu_s: self.busy.as_secs_f64(),
        }
    }
}

/// The sum of all threads' counts, in the order of time. It tells a watcher of each interval.
pub(crate) struct Aggregate<'a> {
    on_event: &'a mut dyn FnMut(Event),
    threads: usize,
    /// The intervals that not every thread has given yet, by their start in ms, each with the number of threads that
    /// have.
    waiting: BTreeMap<i64, (IntervalCounts, usize)>,
    intervals: Vec<Interval>,
    response_over_time: Times,
    first_byte_over_time: Times,
    /// The service times; `None` in a closed loop.
    service_over_time: Option<Times>,
}

impl<'a> Aggregate<'a> {
    pub fn new(threads: usize, open_loop: bool, on_event: &'a mut dyn FnMut(Event)) -> Aggregate<'a> {
        Aggregate {
            on_event,
            threads,
            waiting: BTreeMap::new(),
            intervals: Vec::new(),
            response_over_time: Times::default(),
            first_byte_over_time: Times::default(),
            service_over_time: open_loop.then(Times::default),
        }
    }

    /// Takes an event of a thread.
    pub fn take(&mut self, event: EngineEvent) {
        match event {
            EngineEvent::Interval(counts) if self.threads == 1 => self.count_interval(counts),
            EngineEvent::Interval(counts) => {
                let (all, given) = match self.waiting.get_mut(&counts.start_ms) {
                    Some((all, given)) => {
                        all.merge(counts);
                        (all.start_ms, given)
                    }
                    None => {
                        let (all, given) =
                            self.waiting.entry(counts.start_ms).or_insert_with(|| (counts.clone(), 0));
                        (all.start_ms, given)
                    }
                };
                *given += 1;
                if *given == self.threads {
                    self.release(all);
                }
            }
            EngineEvent::Pause => (self.on_event)(Event::Pause),
            EngineEvent::Resume => (self.on_event)(Event::Resume),
        }
    }

    /// Counts all intervals up to the one that began at `last`, in ms. A thread that has given that one gives none
    /// before it any more.
    fn release(&mut self, last: i64) {
        while let Some(entry) = self.waiting.first_entry().filter(|entry| *entry.key() <= last) {
            let (counts, _) = entry.remove();
            self.count_interval(&counts);
        }
    }

    fn count_interval(&mut self, counts: &IntervalCounts) {
        if let Some(answers) = counts.of_window() {
            self.response_over_time.add(&answers.response);
            self.first_byte_over_time.add(answers.first_byte().as_ref().unwrap_or(&answers.response));
            if let Some((times, counts)) = self.service_over_time.as_mut().zip(counts.service.as_ref()) {
                times.add(counts);
            }
        }
        let interval = counts.interval();
        self.intervals.push(interval);
        (self.on_event)(Event::Interval(&interval));
    }

    /// Sets the starts of the warm-up's intervals anew, counted back from the window's opening, because that may have
    /// come sooner than planned.
    fn count_from_opening(&mut self) {
        let opened = self.intervals.iter().position(|interval| interval.start_ms == 0);
        let Some(opened) = opened else { return };
        for (nth, interval) in self.intervals[..opened].iter_mut().enumerate() {
            interval.start_ms = (nth as i64 - opened as i64) * INTERVAL_MS as i64;
        }
    }

    /// The outcome of all threads, once they have ended. `outcomes` has what each thread found besides the counts
    /// that it gave away.
    pub fn finish(mut self, outcomes: Vec<Outcome>, pace: Pace) -> Outcome {
        self.release(i64::MAX);
        self.count_from_opening();
        let (_, response) = self.response_over_time.from_ms(0);
        let service_over_time =
            self.service_over_time.clone().unwrap_or_else(|| self.response_over_time.clone());
        let (_, service) = service_over_time.from_ms(0);
        let (_, first_byte) = self.first_byte_over_time.from_ms(0);
        let mut outcome = Outcome {
            response,
            first_byte,
            service,
            open_loop: self.service_over_time.is_some(),
            pace,
            response_over_time: self.response_over_time,
            first_byte_over_time: self.first_byte_over_time,
            service_over_time,
            intervals: self.intervals,
            ..Outcome::default()
        };
        outcome.real_time = outcomes.iter().all(|of_thread| of_thread.real_time) && !outcomes.is_empty();
        for of_thread in outcomes {
            outcome.busiest = outcome.busiest.max(of_thread.busiest);
            outcome.requests += of_thread.ok + of_thread.errors.total();
            outcome.io = of_thread.io;
            outcome.ok += of_thread.ok;
            outcome.errors += of_thread.errors;
            outcome.first_wrong = outcome.first_wrong.or(of_thread.first_wrong);
            outcome.reconnects += of_thread.reconnects;
            outcome.idle_open += of_thread.idle_open;
            outcome.idle_ended += of_thread.idle_ended;
            outcome.elapsed = outcome.elapsed.max(of_thread.elapsed);
            outcome.cpu += of_thread.cpu;
            add(&mut outcome.send_lag, &of_thread.send_lag);
            add(&mut outcome.receive_lag, &of_thread.receive_lag);
            outcome.drained += of_thread.drained;
            outcome.unanswered += of_thread.unanswered;
            outcome.unasked += of_thread.unasked;
            outcome.stopped |= of_thread.stopped;
            outcome.warm_up_requests += of_thread.warm_up_requests;
            outcome.warm_up_errors += of_thread.warm_up_errors;
            outcome.first_second = sum(outcome.first_second, of_thread.first_second);
            outcome.recovery = longer(outcome.recovery, of_thread.recovery);
            outcome.disturbed = outcome.disturbed.or(of_thread.disturbed);
            outcome.log.extend(of_thread.log);
            outcome.unlogged += of_thread.unlogged;
            outcome.sampled.extend(of_thread.sampled);
            by_step::merge(&mut outcome.sessions, of_thread.sessions);
        }
        outcome.log.sort_by_key(|finished| finished.due);
        outcome
    }
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.map_or(b, |a| Some(a + b.unwrap_or(0)))
}

/// The recovery that took longer. It is complete only if both are.
fn longer(a: Option<Recovery>, b: Option<Recovery>) -> Option<Recovery> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Recovery { took: a.took.max(b.took), complete: a.complete && b.complete }),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_ends_earlier_takes_nothing_from_the_others() {
        let counts = |answers: u64| {
            let mut counts = IntervalCounts::new(0, false);
            (0..answers).for_each(|_| counts.record_right(1, 1, 1));
            (counts.ok, counts.measured) = (answers, true);
            counts
        };
        let mut ended = counts(3);
        ended.close_window();
        ended.record_right(1, 1, 1);
        for both in [[ended.clone(), counts(4)], [counts(4), ended.clone()], [ended.clone(), ended]] {
            let expected = if both.iter().all(|counts| counts.window_answers.is_some()) { 6 } else { 7 };
            let mut on_event = |_: Event| {};
            let mut aggregate = Aggregate::new(2, false, &mut on_event);
            both.iter().for_each(|counts| aggregate.take(EngineEvent::Interval(counts)));
            assert_eq!(aggregate.finish(Vec::new(), Pace::default()).response.len(), expected);
        }
    }
}
