//! The kernel's clocks beside each other.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Read again if reading took longer: something came between.
const QUICK: Duration = Duration::from_micros(20);
const TRIES: usize = 5;

/// A reading of all clocks, at about one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Clocks {
    /// What measured times are differences of.
    pub monotonic: Duration,
    /// Seconds by which the time of day is ahead of it: changes when somebody sets the time.
    pub wall_ahead: f64,
    /// Seconds that the machine has slept.
    pub asleep: f64,
    /// Seconds that it has gained by corrections of its rate.
    pub slewed: f64,
}

impl Clocks {
    pub fn read() -> Clocks {
        let read = |id| {
            let time = clock_gettime(id);
            Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
        };
        let mut best = (Duration::MAX, Clocks::default());
        for _ in 0..TRIES {
            let began = read(ClockId::Monotonic);
            let others = [ClockId::Realtime, ClockId::Boottime, ClockId::MonotonicRaw].map(read);
            let took = read(ClockId::Monotonic).saturating_sub(began);
            let monotonic = began + took / 2;
            let [wall_ahead, asleep, raw] = others.map(|other| ahead(other, monotonic));
            if took < best.0 {
                best = (took, Clocks { monotonic, wall_ahead, asleep, slewed: -raw });
            }
            if took < QUICK {
                break;
            }
        }
        best.1
    }
}

/// Exact to nanoseconds where the seconds alone need most digits of a float.
fn ahead(clock: Duration, of: Duration) -> f64 {
    match clock.checked_sub(of) {
        Some(ahead) => ahead.as_secs_f64(),
        None => -(of - clock).as_secs_f64(),
    }
}
