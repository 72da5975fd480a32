//! Waiting for an instant: a sleep until shortly before, and a spin.
//!
//! How long before is a matter of what a sleep's end is late by. bench/play shows that beside what became of it: with
//! SCHED_FIFO nearly all sleeps end within 1 ms, so that is how long the pacer spins. Twice as long costs twice the CPU time
//! and was hardly more exact. Without SCHED_FIFO no spin is long enough on a busy machine: such a thread waits for whole time
//! slices of others. It sleeps for the time that is left, not until an absolute time: what those two differ by, and the 50 µs by
//! which Linux lets ordinary threads sleep longer (timer slack), is within the spin.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long it spins at most.
const AWAKE: Duration = Duration::from_millis(1);
/// How often it looks whether all is to end.
const LOOK: Duration = Duration::from_millis(20);

/// Time since the start of a play.
pub(crate) trait Clock {
    /// How long ago that was.
    fn now(&self) -> Duration;
    /// Waits until then; whether it came before `stop` was set. What is due already does not wait.
    fn wait_until(&self, due: Duration, stop: &AtomicBool) -> bool;
}

/// The clock of a play that is really played.
pub(crate) struct Pacer {
    start: Instant,
}

impl Pacer {
    /// Starts now.
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

/// Of a wait of that length. The kernel takes the CPU from a real-time thread that never sleeps.
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
        // Below and above what it spins, and above how often it looks.
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
