//! The pacer: it waits for an instant by a sleep until shortly before, and a spin.
//!
//! **It is never early.** `wait_until` returns when the clock has passed the instant, or when it is to stop.
//!
//! **It spins for 1 ms**, or for half of a wait of less than 2 ms: the spin must be longer than the lateness of a
//! sleep. bench/play shows both side by side: with SCHED_FIFO nearly all sleeps end within 1 ms. To spin twice as
//! long cost twice the CPU time and was hardly more exact. Without SCHED_FIFO no spin is long enough on a busy
//! machine, since such a thread waits for whole time slices of others.
//!
//! **It sleeps for the time that is left**, and not until an absolute time. The difference between the two is within
//! the spin, and so are the 50 µs by which Linux lets ordinary threads sleep longer (timer slack).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest spin.
const AWAKE: Duration = Duration::from_millis(1);
/// The longest sleep before another look at `stop`.
const LOOK: Duration = Duration::from_millis(20);

/// The time since the start of a play.
pub(crate) trait Clock {
    /// The time since the start. It never goes back.
    fn now(&self) -> Duration;
    /// Waits until `due`, counted from the start; not at all if that has passed. Returns false as soon as `stop` is
    /// seen to be set.
    fn wait_until(&self, due: Duration, stop: &AtomicBool) -> bool;
}

/// The clock of a real play.
pub(crate) struct Pacer {
    start: Instant,
}

impl Pacer {
    /// A clock that starts now.
    pub(crate) fn start() -> Pacer {
        Pacer { start: Instant::now() }
    }
}

impl Clock for Pacer {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn wait_until(&self, due: Duration, stop: &AtomicBool) -> bool {
        let awake = awake(due.saturating_sub(self.now()));
        loop {
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            let left = due.saturating_sub(self.now());
            if left <= awake {
                break;
            }
            std::thread::sleep((left - awake).min(LOOK));
        }
        while self.now() < due {
            std::hint::spin_loop();
        }
        true
    }
}

/// The length of the spin at the end of a wait: at most half of the wait, since the kernel takes the CPU from a
/// real-time thread that never sleeps.
fn awake(wait: Duration) -> Duration {
    AWAKE.min(wait / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    static NEVER: AtomicBool = AtomicBool::new(false);

    #[test]
    fn a_pacer_waits_until_then_and_not_for_what_is_past() {
        let pacer = Pacer::start();
        // Below and above the longest spin, and above the longest sleep.
        for due in [0, 100, 900, 3_000, 50_000].map(Duration::from_micros) {
            assert!(pacer.wait_until(due, &NEVER));
            assert!(pacer.now() >= due);
        }
        assert!(pacer.wait_until(Duration::ZERO, &NEVER));
    }

    #[test]
    fn a_pacer_sleeps_for_half_of_any_wait() {
        let awake = [0, 800, 2_000, 16_683].map(|us| awake(Duration::from_micros(us)).as_micros());
        assert_eq!(awake, [0, 400, 1_000, 1_000]);
    }

    #[test]
    fn a_long_wait_ends_when_it_is_to_stop() {
        let (pacer, stop) = (Pacer::start(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| pacer.wait_until(Duration::from_secs(60), &stop));
            std::thread::sleep(Duration::from_millis(5));
            stop.store(true, Ordering::Relaxed);
            assert!(!waiting.join().unwrap());
        });
        assert!(!pacer.wait_until(Duration::ZERO, &stop), "what is late does not hide it");
    }
}
