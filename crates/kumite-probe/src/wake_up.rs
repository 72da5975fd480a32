//! The probe of wake-ups: two threads pass a turn back and forth by a futex, and each sleeps until the other wakes
//! it.
//!
//! On two CPUs the waker must reach the other's CPU, which has gone to sleep. On a virtual machine that goes through
//! the host. A server pays for it at each request.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kumite_process::pin_thread;
use rustix::thread::futex;

use crate::slice::median;

const HERE: u32 = 0;
const THERE: u32 = 1;
const OVER: u32 = 2;

/// The longest sleep on the futex before the thread looks at the turn again, so that no thread waits for ever for one
/// that has ended.
const LOOK: futex::Timespec = futex::Timespec { tv_sec: 1, tv_nsec: 0 };
/// The most wake-ups that are timed: enough for a median on a machine where they are fast.
const MOST: usize = 5_000;

/// The median time of a wake-up, which is half of a round trip between the CPUs `here` and `there`, measured for
/// `time`; the two may be one CPU. `None` if a thread could not be pinned to its CPU.
pub(crate) fn wake_up(here: usize, there: usize, time: Duration) -> Option<Duration> {
    pin_thread(&[here]).ok()?;
    let turn = AtomicU32::new(HERE);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let pinned = pin_thread(&[there]).is_ok();
            while pinned && waited(&turn, HERE) != OVER {
                hand(&turn, THERE, HERE);
            }
            pinned
        });
        let began = Instant::now();
        let mut took = Vec::new();
        // The first round trip waits for the other thread to start.
        while !other.is_finished() && took.len() < MOST && (took.len() < 2 || began.elapsed() < time) {
            let sent = Instant::now();
            hand(&turn, HERE, THERE);
            // The other thread answers, or has ended since it got no CPU.
            while turn.load(Ordering::Acquire) == THERE && !other.is_finished() {
                sleep(&turn, THERE);
            }
            took.push(sent.elapsed() / 2);
        }
        turn.store(OVER, Ordering::Release);
        let _ = futex::wake(&turn, futex::Flags::PRIVATE, 1);
        let was_there = other.join().expect("handing a turn does not panic");
        median(took.into_iter().skip(1).collect()).filter(|_| was_there)
    })
}

/// Passes the turn from `from` to `to` and wakes the other thread. Does nothing if the turn is not `from`'s, as at
/// the end.
fn hand(turn: &AtomicU32, from: u32, to: u32) {
    if turn.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        let _ = futex::wake(turn, futex::Flags::PRIVATE, 1);
    }
}

/// Sleeps until the turn is not `others` any more, and returns the new turn.
fn waited(turn: &AtomicU32, others: u32) -> u32 {
    loop {
        match turn.load(Ordering::Acquire) {
            now if now == others => sleep(turn, others),
            now => return now,
        }
    }
}

fn sleep(turn: &AtomicU32, while_it_is: u32) {
    // It may wake for nothing: whoever sleeps looks again.
    let _ = futex::wait(turn, futex::Flags::PRIVATE, while_it_is, Some(&LOOK));
}

#[cfg(test)]
mod tests {
    use kumite_process::available_cores;

    use super::*;

    #[test]
    fn threads_wake_each_other_on_one_cpu_and_across_two() {
        let cores = available_cores();
        let (first, last) = (cores[0], cores[cores.len() - 1]);
        for there in [first, last] {
            let took = thread::spawn(move || wake_up(first, there, Duration::from_millis(5)));
            assert!(took.join().unwrap().is_some_and(|took| !took.is_zero()), "{first} {there}");
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_has_no_wake_up_and_is_not_waited_for() {
        let first = available_cores()[0];
        for (here, there) in [(first, 1023), (1023, first)] {
            let took = thread::spawn(move || wake_up(here, there, Duration::from_millis(5)));
            assert_eq!(took.join().unwrap(), None);
        }
    }
}
