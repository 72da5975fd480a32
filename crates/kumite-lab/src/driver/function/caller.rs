//! The calls of a trial: when each is offered, and how it ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use kumite_function::{Invocation, Refused};

/// The time between two looks at whether all is to end.
const LOOK: Duration = Duration::from_millis(20);

/// A call that is over.
#[derive(Debug)]
pub(super) struct Made {
    /// The time at which the call was to be offered.
    pub due: Instant,
    pub answered: Result<Invocation, Refused>,
}

impl Made {
    /// The reason why the call failed, in words. `None` if it did not fail.
    pub fn failure(&self) -> Option<String> {
        match &self.answered {
            Err(refused) => Some(format!("it was refused: {refused}")),
            Ok(invocation) => {
                invocation.error.as_ref().map(|error| format!("{}: {}", error.kind, error.message))
            }
        }
    }

    /// The time from when the call was to be offered to its answer; 0 if it was refused.
    pub fn wall(&self) -> Duration {
        match &self.answered {
            Ok(invocation) => invocation.offered.saturating_duration_since(self.due) + invocation.wall,
            Err(_) => Duration::ZERO,
        }
    }
}

/// The calls of a trial, as far as they were made.
#[derive(Debug)]
pub(super) struct Calls {
    /// The calls in the order in which they were offered. After a call that failed there are only calls that were in
    /// flight when it failed.
    pub made: Vec<Made>,
    /// The position of the call that was the first to fail. None if none failed before the calls were given up.
    pub failed: Option<usize>,
}

/// Makes `calls` calls: each when the one before is over or, with `rate_per_s`, at that rate, whether or not earlier
/// ones are over. Once a call has failed or `stop` is set, no more are offered, and `give_up` is called to end those in
/// flight.
pub(super) fn call_all(
    calls: usize,
    rate_per_s: Option<f64>,
    call: impl Fn() -> Result<Invocation, Refused> + Sync,
    give_up: impl Fn(),
    stop: &AtomicBool,
) -> Calls {
    let mut made: Vec<Option<Made>> = Vec::new();
    let (mut over, mut failed, mut given_up) = (0, None, false);
    thread::scope(|scope| {
        let (sender, answers) = mpsc::channel();
        let began = Instant::now();
        loop {
            if (failed.is_some() || stop.load(Ordering::Relaxed)) && !given_up {
                given_up = true;
                give_up();
            }
            let more = made.len() < calls && !given_up;
            if !more && over == made.len() {
                break;
            }
            let now = Instant::now();
            let due = match rate_per_s {
                Some(rate) => Some(began + Duration::from_secs_f64(made.len() as f64 / rate)),
                None => (over == made.len()).then_some(now),
            };
            let due = due.filter(|_| more);
            if let Some(due) = due.filter(|due| *due <= now) {
                let (nth, sender, call) = (made.len(), sender.clone(), &call);
                made.push(None);
                scope.spawn(move || {
                    // The receiver is there until all calls are over.
                    let _ = sender.send((nth, Made { due, answered: call() }));
                });
                continue;
            }
            let wait = due.map_or(LOOK, |due| (due - now).min(LOOK));
            match answers.recv_timeout(wait) {
                Ok((nth, one)) => {
                    over += 1;
                    if one.failure().is_some() && !given_up {
                        failed = Some(nth);
                    }
                    made[nth] = Some(one);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("we have a sender ourselves"),
            }
        }
    });
    Calls { made: made.into_iter().flatten().collect(), failed }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::{Barrier, Mutex};

    use kumite_function::FunctionError;

    use super::*;
    use crate::driver::function::metrics::tests::invocation;

    /// A `stop` that is never set.
    static GOING: AtomicBool = AtomicBool::new(false);

    fn all(calls: usize, rate_per_s: Option<f64>, call: impl Fn() + Sync) -> Calls {
        let call = || {
            call();
            Ok(invocation(1))
        };
        call_all(calls, rate_per_s, call, || panic!("nothing failed"), &GOING)
    }

    #[test]
    fn one_after_another() {
        let (in_flight, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let offered = all(5, None, || {
            most.fetch_max(in_flight.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(2));
            in_flight.fetch_sub(1, Ordering::SeqCst);
        });
        assert_eq!((offered.made.len(), offered.failed, most.into_inner()), (5, None, 1));
    }

    #[test]
    fn at_a_rate_nobody_waits_for_who_came_before() {
        let all_are_there = Barrier::new(5);
        let offered = all(5, Some(100.0), || {
            all_are_there.wait();
        });
        assert_eq!(offered.made.len(), 5);
        let due = |nth: usize| offered.made[nth].due - offered.made[0].due;
        assert_eq!((1..5).map(due).collect::<Vec<_>>(), [10, 20, 30, 40].map(Duration::from_millis));
    }

    #[test]
    fn who_is_late_has_waited() {
        let (due, late) = (Instant::now(), Duration::from_millis(30));
        let wall = Duration::from_millis(5);
        let made = Made { due, answered: Ok(Invocation { offered: due + late, wall, ..invocation(1) }) };
        assert_eq!(made.wall(), late + wall);
    }

    #[test]
    fn after_one_that_failed_there_are_no_more() {
        let count = AtomicUsize::new(0);
        let error = FunctionError { kind: "Sandbox.Timedout".into(), message: "after 1 s".into() };
        let call = || {
            let nth = count.fetch_add(1, Ordering::SeqCst);
            Ok(Invocation { error: (nth == 1).then(|| error.clone()), ..invocation(1) })
        };
        let given_up = AtomicUsize::new(0);
        let give_up = || {
            given_up.fetch_add(1, Ordering::SeqCst);
        };
        let offered = call_all(5, None, call, give_up, &GOING);
        assert_eq!((offered.made.len(), offered.failed, given_up.into_inner()), (2, Some(1), 1));
        assert_eq!(offered.made[1].failure().unwrap(), "Sandbox.Timedout: after 1 s");
        let refused = call_all(5, None, || Err(Refused::Throttled(1)), || (), &GOING);
        assert_eq!((refused.made.len(), refused.failed), (1, Some(0)));
        assert_eq!(refused.made[0].failure().unwrap(), "it was refused: all 1 instances are busy");
    }

    #[test]
    fn calls_in_flight_are_given_up_when_it_is_to_stop() {
        let (sender, answer) = mpsc::channel::<()>();
        let (sender, answer) = (Mutex::new(Some(sender)), Mutex::new(answer));
        let stop = AtomicBool::new(false);
        let call = || {
            stop.store(true, Ordering::Relaxed);
            // Until the sender goes.
            let _ = answer.lock().unwrap().recv();
            Err(Refused::Stopping)
        };
        let offered = call_all(5, None, call, || drop(sender.lock().unwrap().take()), &stop);
        assert_eq!((offered.made.len(), offered.failed), (1, None), "it was no failure of its own");
    }
}
