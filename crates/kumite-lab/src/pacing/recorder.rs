//! Stamps what comes.
//!
//! Whoever waits for a line in the kernel wakes late, by about as much as the players that are to be measured. So the recorder
//! is awake around the time at which a state may come, and asks again and again. It has real-time priority where that is
//! permitted, and its own CPU.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kumite_process::Heard;

use crate::talking::{Refusal, Talking};

/// So long before a state may come the recorder is awake: longer than it wakes late.
const BEFORE: Duration = Duration::from_millis(1);
/// And so long after that, at most. What comes later is stamped by a recorder that was asleep: late by some 0.1 ms, which is
/// a small part of an error that is larger than this.
const AFTER: Duration = Duration::from_millis(3);
/// The recorder is awake for both, if schedule and hold differ by less: for all of a frame would be for all of the time.
const APART: Duration = Duration::from_millis(8);
/// Nobody knows when the first state comes. The kernel lets a real-time thread have its CPU for 950 ms of a second.
const FIRST: Duration = Duration::from_millis(500);
/// How often it is looked whether all is to end.
const LOOK: Duration = Duration::from_millis(50);

/// When a line came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub came: Instant,
    /// The recorder had not looked for so long: it may have come earlier by this.
    pub unseen: Duration,
}

/// When the recorder is awake.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awake {
    from: Instant,
    to: Instant,
}

impl Awake {
    /// For the first state, from now on.
    pub fn at_once() -> Awake {
        let now = Instant::now();
        Awake { from: now, to: now + FIRST }
    }

    /// For one that is due then, by the schedule, or then, by how long the one before it is held.
    pub fn around(by_schedule: Instant, by_hold: Instant) -> Awake {
        let (first, last) = (by_schedule.min(by_hold), by_schedule.max(by_hold));
        // Who is farther off drifts, or was very late once.
        let (first, last) = if last - first > APART { (by_hold, by_hold) } else { (first, last) };
        Awake { from: first.checked_sub(BEFORE).unwrap_or(first), to: last + AFTER }
    }
}

/// The next line, which is waited for until then.
pub(super) fn next_line(
    talking: &mut Talking,
    awake: Awake,
    limit: Duration,
    doing: &str,
    stop: &AtomicBool,
) -> Result<(Vec<u8>, Stamp), Refusal> {
    let mut looked = awake.from;
    loop {
        let now = Instant::now();
        if now >= awake.to {
            let (line, came) = talking.line(awake.to + limit, limit, doing, stop)?;
            return Ok((line, Stamp { came, unseen: Duration::ZERO }));
        }
        if stop.load(Ordering::Relaxed) {
            return Err(None);
        }
        let wait = awake.from.saturating_duration_since(now).min(LOOK);
        match talking.talk.hear(wait) {
            Ok(Heard::Line(line, came)) => {
                return Ok((line, Stamp { came, unseen: came.saturating_duration_since(looked) }));
            }
            Ok(Heard::Nothing) => looked = looked.max(now),
            // What is wrong is said by whoever waits for it.
            _ => {
                let (line, came) = talking.line(Instant::now() + limit, limit, doing, stop)?;
                return Ok((line, Stamp { came, unseen: Duration::ZERO }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorder_is_awake_when_a_state_may_come_and_never_always() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let awake = |by_schedule, by_hold| {
            let awake = Awake::around(at(by_schedule), at(by_hold));
            [awake.from, awake.to].map(|at| (at - start).as_millis())
        };
        assert_eq!(awake(100, 100), [99, 103]);
        assert_eq!(awake(100, 105), [99, 108], "it was late, and may be in time again");
        assert_eq!(awake(105, 100), [99, 108], "it was early");
        assert_eq!(awake(100, 150), [149, 153], "it drifts");
    }
}
