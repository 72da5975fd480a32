//! Schedule: which requests may be sent, and when the run is over.
//!
//! The schedule is a closed loop: a connection sends its next request as soon as it is free, so the time a request
//! should be sent and the time it is sent are the same. An open loop would hand out a due time with each request; the
//! transport keeps it with the connection in place of the send time, and the recorder, which is given both ends of every
//! response time, counts from it.

use crate::Limit;

/// A closed loop, bounded by a number of requests, a duration, or both.
pub(crate) struct Schedule {
    opens: u64,
    opened: bool,
    /// When it is over, in ns since the run began; `u64::MAX` for not by time, or not yet known.
    closes: u64,
    requests: u64,
    started: u64,
    finished: u64,
    last_finished: u64,
}

impl Schedule {
    /// A schedule whose window opens `opens` ns after the run began.
    pub fn new(limit: &Limit, opens: u64) -> Schedule {
        Schedule {
            opens,
            opened: opens == 0,
            closes: limit.duration.map_or(u64::MAX, |duration| opens.saturating_add(crate::nanos(duration))),
            requests: limit.requests.unwrap_or(u64::MAX),
            started: 0,
            finished: 0,
            last_finished: 0,
        }
    }

    /// Whether another request may be started; if so, it is.
    #[inline]
    pub fn start(&mut self, now: u64) -> bool {
        self.advance(now);
        let more = now < self.closes && (!self.opened || self.started < self.requests);
        self.started += u64::from(more);
        more
    }

    /// A request finished, in one way or another; false if that was after the end, so that it must not be counted.
    #[inline]
    pub fn finish(&mut self, now: u64) -> bool {
        self.advance(now);
        let counts = !self.over(now);
        self.finished += u64::from(counts);
        self.last_finished = if counts { now } else { self.last_finished };
        counts
    }

    /// Whether the run is over.
    #[inline]
    pub fn over(&self, now: u64) -> bool {
        now >= self.closes || (self.opened && self.finished >= self.requests)
    }

    /// When the run was over: with its last request, or by time.
    pub fn end(&self) -> u64 {
        if self.opened && self.finished >= self.requests { self.last_finished } else { self.closes }
    }

    /// When it is over, if that is known.
    pub fn closes(&self) -> u64 {
        self.closes
    }

    /// Makes it end at `closes`.
    pub fn close_at(&mut self, closes: u64) {
        self.closes = closes;
    }

    /// Requests in flight when the window opens finish in it, so they count towards its limit.
    fn advance(&mut self, now: u64) {
        if !self.opened && now >= self.opens {
            self.opened = true;
            self.started -= self.finished;
            self.finished = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn limit(requests: Option<u64>, duration_ns: Option<u64>) -> Limit {
        Limit { requests, duration: duration_ns.map(Duration::from_nanos) }
    }

    #[test]
    fn starts_and_finishes_exactly_as_many_as_asked() {
        let mut schedule = Schedule::new(&limit(Some(2), None), 0);
        assert!(schedule.start(0) && schedule.start(0) && !schedule.start(0));
        assert!(schedule.finish(1) && !schedule.over(1));
        assert!(!schedule.start(1));
        assert!(schedule.finish(2) && schedule.over(2));
        assert!(!schedule.finish(3));
    }

    #[test]
    fn ends_with_its_duration_after_the_warm_up() {
        let mut schedule = Schedule::new(&limit(None, Some(100)), 50);
        assert!(schedule.start(0) && schedule.finish(149) && !schedule.over(149));
        assert!(schedule.over(150) && !schedule.start(150) && !schedule.finish(150));
    }

    #[test]
    fn counts_requests_from_the_end_of_the_warm_up() {
        let mut schedule = Schedule::new(&limit(Some(2), None), 50);
        for now in 0..10 {
            assert!(schedule.start(now) && schedule.finish(now));
        }
        assert!(schedule.start(49));
        assert!(!schedule.over(60) && schedule.finish(60));
        assert!(schedule.start(60) && !schedule.start(60));
        assert!(schedule.finish(61) && schedule.over(61));
    }
}
