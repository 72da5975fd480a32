//! Schedule: it says which sessions may begin, which count, and when the load is over. It reads no clock: the engine
//! passes the time. A plain request is a session, and the schedule knows nothing of further steps.
//!
//! In a closed loop a connection sends its next request as soon as it is free, so a request is due when it is sent.
//! In an open loop [`Arrivals`](arrivals::Arrivals) say when each is due.

pub(crate) mod arrivals;
pub(crate) mod pace;

use std::iter::Peekable;

use crate::Limit;
use crate::schedule::arrivals::Instants;

/// The schedule of a closed or an open loop, limited by a number of requests, a duration, or both. Instants are ns
/// since the load began.
///
/// `started` and `finished` count the requests of the window once it is open, and those of the warm-up before.
pub(crate) struct Schedule {
    arrivals: Option<Peekable<Instants>>,
    /// The arrivals have come to their end, so that no further request is due.
    exhausted: bool,
    opens: u64,
    opened: bool,
    /// The instant at which the window closes; `u64::MAX` if a number of requests or of arrivals ends it, or the
    /// instant is not yet known.
    closes: u64,
    requests: u64,
    started: u64,
    finished: u64,
    last_finished: u64,
}

impl Schedule {
    /// A schedule whose window opens at `opens`, in ns since the load began. `arrivals` makes it an open loop.
    pub fn new(limit: &Limit, opens: u64, arrivals: Option<Instants>) -> Schedule {
        Schedule {
            arrivals: arrivals.map(Iterator::peekable),
            exhausted: false,
            opens,
            opened: opens == 0,
            closes: limit.duration.map_or(u64::MAX, |duration| opens.saturating_add(crate::nanos(duration))),
            requests: limit.requests.unwrap_or(u64::MAX),
            started: 0,
            finished: 0,
            last_finished: 0,
        }
    }

    /// The instant at which the next request of an open loop is due; `u64::MAX` in a closed loop, and if no request
    /// is left.
    #[inline]
    pub fn next_due(&mut self) -> u64 {
        let more = self.has_more();
        let Some(arrivals) = self.arrivals.as_mut().filter(|_| more) else { return u64::MAX };
        let next = arrivals.peek().copied();
        self.exhausted = next.is_none();
        next.filter(|due| *due < self.closes).unwrap_or(u64::MAX)
    }

    /// Starts the next request of an open loop if it is due by `now`, and returns the instant at which it was due;
    /// otherwise `None`.
    #[inline]
    pub fn take_due(&mut self, now: u64) -> Option<u64> {
        self.advance(now);
        let due = self.next_due();
        if due > now {
            return None;
        }
        // A request that was due in the warm-up is not the window's, however late it is taken.
        self.started += u64::from(!self.opened || due >= self.opens);
        self.arrivals.as_mut().and_then(Iterator::next)
    }

    /// Starts another request of a closed loop. Returns `false` if none may be started any more.
    #[inline]
    pub fn try_start(&mut self, now: u64) -> bool {
        self.advance(now);
        let more = self.arrivals.is_none() && now < self.closes && self.has_more();
        self.started += u64::from(more);
        more
    }

    fn has_more(&self) -> bool {
        !self.opened || self.started < self.requests
    }

    /// Finishes a request that was due at `due`. Returns `false` if it must not be counted, because it is one of a
    /// closed loop that finished after the end. A request of an open loop was due before the end, so it counts
    /// whenever it finishes.
    #[inline]
    pub fn finish(&mut self, due: u64, now: u64) -> bool {
        self.advance(now);
        let open = self.arrivals.is_some();
        let counts = open || !self.is_over(now);
        // A request that was due in the warm-up does not count towards the window's limit.
        self.finished += u64::from(counts && !(open && self.opened && due < self.opens));
        self.last_finished = if counts { now } else { self.last_finished };
        counts
    }

    /// `true` if a step that finishes now counts. It is asked for every step of a session but the last.
    pub fn counts(&mut self, now: u64) -> bool {
        self.advance(now);
        self.arrivals.is_some() || !self.is_over(now)
    }

    /// `true` if no further request comes due. Requests of an open loop that were due before may still be on their
    /// way, in the backlog, or not even taken.
    #[inline]
    pub fn is_over(&self, now: u64) -> bool {
        now >= self.closes || self.is_done()
    }

    /// `true` if the window has had its number of requests; or, if no instant is set at which it closes, if there are
    /// no more arrivals and all requests are finished.
    fn is_done(&self) -> bool {
        let all = self.exhausted && self.closes == u64::MAX && self.finished >= self.started;
        all || (self.opened && self.finished >= self.requests)
    }

    /// The instant at which the load was over, in nanoseconds since it began: that of its last request, or that at
    /// which the window closes.
    pub fn end(&self) -> u64 {
        if self.is_done() { self.last_finished.min(self.closes) } else { self.closes }
    }

    pub fn closes(&self) -> u64 {
        self.closes
    }

    /// Moves the opening and the close of the window `by` ns earlier.
    pub fn open_sooner(&mut self, by: u64) {
        self.opens -= by;
        if self.closes < u64::MAX {
            self.closes -= by;
        }
    }

    pub fn close_at(&mut self, closes: u64) {
        self.closes = closes;
    }

    /// Opens the window if it is time. Requests in flight then finish in the window, so in a closed loop they count
    /// towards its limit.
    fn advance(&mut self, now: u64) {
        if !self.opened && now >= self.opens {
            self.opened = true;
            self.started = if self.arrivals.is_some() { 0 } else { self.started - self.finished };
            self.finished = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::schedule::arrivals::Arrivals;

    fn closed(requests: Option<u64>, duration_ns: Option<u64>, opens: u64) -> Schedule {
        Schedule::new(&Limit { requests, duration: duration_ns.map(Duration::from_nanos) }, opens, None)
    }

    fn open(requests: Option<u64>, duration_ns: Option<u64>) -> Schedule {
        let limit = Limit { requests, duration: duration_ns.map(Duration::from_nanos) };
        Schedule::new(&limit, 0, Some(Arrivals::constant(1e8).instants(0, 1)))
    }

    #[test]
    fn a_closed_loop_starts_and_finishes_exactly_as_many_as_asked() {
        let mut schedule = closed(Some(2), None, 0);
        assert!(schedule.try_start(0) && schedule.try_start(0) && !schedule.try_start(0));
        assert!(schedule.finish(0, 1) && !schedule.is_over(1));
        assert!(!schedule.try_start(1));
        assert!(schedule.finish(0, 2) && schedule.is_over(2));
        assert!(!schedule.finish(0, 3));
    }

    #[test]
    fn a_closed_loop_ends_with_its_duration_after_the_warm_up() {
        let mut schedule = closed(None, Some(100), 50);
        assert!(schedule.try_start(0) && schedule.finish(0, 149) && !schedule.is_over(149));
        assert!(schedule.is_over(150) && !schedule.try_start(150) && !schedule.finish(0, 150));
        assert_eq!(schedule.next_due(), u64::MAX);
    }

    #[test]
    fn a_closed_loop_counts_requests_from_the_end_of_the_warm_up() {
        let mut schedule = closed(Some(2), None, 50);
        for now in 0..10 {
            assert!(schedule.try_start(now) && schedule.finish(0, now));
        }
        assert!(schedule.try_start(49));
        assert!(!schedule.is_over(60) && schedule.finish(0, 60));
        assert!(schedule.try_start(60) && !schedule.try_start(60));
        assert!(schedule.finish(0, 61) && schedule.is_over(61));
    }

    #[test]
    fn in_an_open_loop_each_is_due_at_its_time_and_no_sooner() {
        let mut schedule = open(None, Some(25));
        assert!(!schedule.try_start(0), "nothing is sent because something was answered");
        assert_eq!((schedule.take_due(0), schedule.take_due(9)), (Some(0), None));
        assert_eq!(schedule.next_due(), 10);
        // Late, both at once; and the one at 30 is after the end.
        assert_eq!(
            (schedule.take_due(40), schedule.take_due(40), schedule.take_due(40)),
            (Some(10), Some(20), None)
        );
        assert_eq!(schedule.next_due(), u64::MAX);
        assert!(schedule.is_over(40) && schedule.finish(0, 41), "it was due within");
        assert_eq!(schedule.end(), 25);
    }

    #[test]
    fn an_open_loop_may_have_a_number_of_requests() {
        let mut schedule = open(Some(2), None);
        assert_eq!(
            (schedule.take_due(99), schedule.take_due(99), schedule.take_due(99)),
            (Some(0), Some(10), None)
        );
        assert!(
            schedule.finish(0, 100)
                && !schedule.is_over(100)
                && schedule.finish(0, 101)
                && schedule.is_over(101)
        );
        assert_eq!(schedule.end(), 101);
    }

    #[test]
    fn what_was_due_in_the_warm_up_is_not_of_the_window_however_late_it_is_sent() {
        let limit = Limit { requests: Some(2), duration: None };
        let mut schedule = Schedule::new(&limit, 20, Some(Arrivals::constant(1e8).instants(0, 1)));
        assert_eq!(schedule.take_due(5), Some(0));
        for due in [10, 20, 30] {
            assert_eq!(schedule.take_due(99), Some(due));
        }
        assert_eq!(schedule.take_due(99), None);
        for due in [0, 10, 20] {
            assert!(schedule.finish(due, 100) && !schedule.is_over(100));
        }
        assert!(schedule.finish(30, 101) && schedule.is_over(101));
    }

    #[test]
    fn an_open_loop_without_another_end_is_over_when_no_more_arrives() {
        let arrivals = Arrivals::recorded("0\n0.00000001\n").unwrap();
        let limit = Limit { requests: Some(9), duration: None };
        let mut schedule = Schedule::new(&limit, 0, Some(arrivals.instants(0, 1)));
        assert_eq!(
            (schedule.take_due(99), schedule.take_due(99), schedule.take_due(99)),
            (Some(0), Some(10), None)
        );
        assert!(
            schedule.finish(0, 100)
                && !schedule.is_over(100)
                && schedule.finish(10, 101)
                && schedule.is_over(101)
        );
        assert_eq!(schedule.end(), 101);
    }
}
