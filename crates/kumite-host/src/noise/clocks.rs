//! The kernel's clocks, compared to each other.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The time within which all clocks should be read. If it took longer, something came between, and they are read
/// again.
const QUICK: Duration = Duration::from_micros(20);
const TRIES: usize = 5;

/// A reading of all clocks at about one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clocks {
    /// The monotonic clock, which counts from the boot. All times are differences of its readings.
    pub monotonic: Duration,
    /// Seconds by which the time of day is ahead of `monotonic`. They change if somebody sets the time, or the
    /// machine is suspended.
    pub wall_ahead: f64,
    /// Seconds that `monotonic` has gained by corrections of its rate.
    pub slewed: f64,
    /// Seconds since the boot in which the machine was suspended, so that `monotonic` stood still.
    pub slept: f64,
}

impl Clocks {
    /// Reads all clocks, as nearly at the same moment as possible: a reading that took 20 µs or more is repeated, up
    /// to five readings in all, and the quickest one is kept.
    pub fn read() -> Clocks {
        let read = |id| {
            let time = clock_gettime(id);
            Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
        };
        let mut best = (Duration::MAX, Clocks::default());
        for _ in 0..TRIES {
            let began = read(ClockId::Monotonic);
            let others = [ClockId::Realtime, ClockId::MonotonicRaw, ClockId::Boottime].map(read);
            let took = read(ClockId::Monotonic).saturating_sub(began);
            let monotonic = began + took / 2;
            let [wall_ahead, raw, slept] = others.map(|other| ahead(other, monotonic));
            if took < best.0 {
                best = (took, Clocks { monotonic, wall_ahead, slewed: -raw, slept });
            }
            if took < QUICK {
                break;
            }
        }
        best.1
    }
}

/// The seconds by which `clock` is ahead of `of`, negative if it is behind. The difference is taken in integers:
/// floats of the two times would not be exact to nanoseconds.
fn ahead(clock: Duration, of: Duration) -> f64 {
    match clock.checked_sub(of) {
        Some(ahead) => ahead.as_secs_f64(),
        None => -(of - clock).as_secs_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_keep_their_sign() {
        let (early, late) = (Duration::new(5, 999_999_999), Duration::new(1_700_000_000, 0));
        assert_eq!(ahead(late, early), 1_699_999_994.000_000_001);
        assert_eq!(ahead(early, late), -1_699_999_994.000_000_001);
    }

    #[test]
    fn clocks_that_nobody_touches_stay_together() {
        let before = Clocks::read();
        std::thread::sleep(Duration::from_millis(20));
        let after = Clocks::read();
        assert!(after.monotonic - before.monotonic >= Duration::from_millis(20));
        assert!((after.slewed - before.slewed).abs() < 0.001, "{before:?} {after:?}");
        assert!((after.slept - before.slept).abs() < 0.001, "{before:?} {after:?}");
    }
}
