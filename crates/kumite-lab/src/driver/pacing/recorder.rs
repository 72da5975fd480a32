//! The recorder, which stamps each state of a player as it comes.
//!
//! A thread that waits for a line in the kernel wakes late, by about as much as the players that are to be measured.
//! So the recorder is awake around the time at which a state may come, and asks again and again. It has real-time
//! priority where that is permitted, and its own CPU where there are enough.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_process::Heard;

use crate::driver::line_process::LineProcess;
use crate::halt::Halt;

/// The time for which the recorder is awake before a state may come. It wakes late by less than that.
const BEFORE: Duration = Duration::from_millis(1);
/// The longest time that the recorder stays awake after a state may have come. A later state is stamped by a sleeping
/// recorder: some 0.1 ms too late, a small part of an error that is larger than this time.
const AFTER: Duration = Duration::from_millis(3);
/// The time that the recorder stays awake for the first state, whose coming is unknown. The kernel lets a real-time
/// thread have its CPU for 950 ms of a second.
const FIRST: Duration = Duration::from_millis(500);
/// The time between two looks at whether all is to end.
const LOOK: Duration = Duration::from_millis(50);

/// The time at which a line of a player came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub came: Instant,
    /// The time for which the recorder had not looked: the line may have come earlier by this. 0 if the recorder
    /// slept until the line came.
    pub unseen: Duration,
}

/// The two stretches of time in which the recorder is awake, each from its beginning to its end. They may be the
/// same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awake([(Instant, Instant); 2]);

impl Awake {
    /// Awake for the first state: one stretch of [`FIRST`], which begins now.
    pub fn at_once() -> Awake {
        let now = Instant::now();
        Awake([(now, now + FIRST); 2])
    }

    /// Awake around both times at which a state may come: the time by the schedule, and the time by how long the state
    /// before it is held. A player that drifts, or was late once, may come at either.
    pub fn around(by_schedule: Instant, by_hold: Instant) -> Awake {
        let due = [by_schedule.min(by_hold), by_schedule.max(by_hold)];
        Awake(due.map(|due| (due.checked_sub(BEFORE).unwrap_or(due), due + AFTER)))
    }

    /// The beginning of the present stretch or of the next one. None if all are over.
    fn from(&self, now: Instant) -> Option<Instant> {
        self.0.iter().find(|(_, to)| now < *to).map(|(from, _)| *from)
    }
}

/// Waits for the next line. An error if none comes within `limit` after the last stretch, if the contender ends, or
/// if its line or its log is too long.
pub(super) fn next_line(
    process: &mut LineProcess,
    awake: Awake,
    limit: Duration,
    doing: &str,
    stop: &AtomicBool,
) -> Result<(Vec<u8>, Stamp), Halt> {
    process.check_log()?;
    let [(mut looked, _), (_, last)] = awake.0;
    loop {
        let now = Instant::now();
        let Some(from) = awake.from(now) else {
            let (line, came) = process.line(last + limit, limit, doing, stop)?;
            return Ok((line, Stamp { came, unseen: Duration::ZERO }));
        };
        Halt::if_set(stop)?;
        let wait = from.saturating_duration_since(now).min(LOOK);
        match process.talk.hear(wait) {
            Ok(Heard::Line(line, came)) => {
                return Ok((line, Stamp { came, unseen: came.saturating_duration_since(looked.max(from)) }));
            }
            Ok(Heard::Nothing) => looked = looked.max(now),
            // The receiver reports the fault.
            _ => {
                let (line, came) = process.line(Instant::now() + limit, limit, doing, stop)?;
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
        let awake = |by_schedule, by_hold, now| {
            let from = Awake::around(at(by_schedule), at(by_hold)).from(at(now));
            from.map(|from| (from - start).as_millis())
        };
        assert_eq!([90, 100, 102, 103].map(|now| awake(100, 100, now)), [Some(99), Some(99), Some(99), None]);
        let late = [95, 102, 103, 107, 108].map(|now| awake(100, 105, now));
        assert_eq!(
            late,
            [Some(99), Some(99), Some(104), Some(104), None],
            "it was late, and may be in time again"
        );
        assert_eq!([102, 103].map(|now| awake(105, 100, now)), [Some(99), Some(104)], "it was early");
        assert_eq!(
            [103, 152].map(|now| awake(100, 150, now)),
            [Some(149), Some(149)],
            "it drifts, or was very late once"
        );
    }
}
