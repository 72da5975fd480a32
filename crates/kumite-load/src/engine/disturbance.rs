//! The disturbance of a load when its window has closed: the caller pauses the server, a burst of connections is
//! opened, or the load's own arrivals fall off.
//!
//! A disturbed load ends when the server has been watched for long enough, counted from when the disturbance was over
//! and the last request of a burst was finished. The schedule is told its end only then.

use std::ops::Range;

use super::Engine;
use crate::clock::Clock;
use crate::record::aggregate::EngineEvent;
use crate::transport::Transport;
use crate::{Disturbance, DisturbanceKind, nanos};

/// The number of a burst's connections that are begun before answers are looked at again: to begin one takes tens of
/// microseconds.
const BURST_BATCH: usize = 256;

/// The stage of the disturbance, and what follows from it.
pub(super) struct Injection {
    stage: Stage,
    /// The time in ns for which the server is watched after the disturbance.
    watch: u64,
    /// The time in ns over which connections that end from a pause on are opened again; 0 for all at once.
    reopen_spread: u64,
}

enum Stage {
    /// There is no disturbance, or it is over.
    Quiet,
    /// The disturbance begins when the window closes, at this instant.
    Before(u64, DisturbanceKind),
    /// The server is stopped until this instant.
    Paused(u64),
    /// The slots of the burst that are not yet begun, and the number of its requests that are not yet finished.
    Burst(Range<usize>, usize),
}

impl Injection {
    /// Plans a disturbance, given with the instant in ns at which the window closes; `None` for no disturbance. From a
    /// pause on, connections are opened again over `reopen_spread` ns.
    pub fn new(planned: Option<(Disturbance, u64)>, reopen_spread: u64) -> Injection {
        match planned {
            None => Injection { stage: Stage::Quiet, watch: 0, reopen_spread },
            Some((Disturbance { kind, watch }, at)) => {
                Injection { stage: Stage::Before(at, kind), watch: nanos(watch), reopen_spread }
            }
        }
    }

    /// Moves the planned disturbance `by` ns earlier, because the window closes earlier.
    pub fn come_sooner(&mut self, by: u64) {
        if let Stage::Before(at, _) = &mut self.stage {
            *at -= by;
        }
    }

    /// The next instant, in nanoseconds on the engine's clock, at which the disturbance has something to do without
    /// being told by an event; 0 for at once, `u64::MAX` for never.
    pub fn next_step_ns(&self) -> u64 {
        match &self.stage {
            Stage::Before(at, _) | Stage::Paused(at) => *at,
            Stage::Burst(unbegun, _) if !unbegun.is_empty() => 0,
            Stage::Quiet | Stage::Burst(..) => u64::MAX,
        }
    }

    /// `true` if the caller was told to stop the server, and not yet to let it go on.
    pub fn is_paused(&self) -> bool {
        matches!(self.stage, Stage::Paused(_))
    }
}

impl<T: Transport, C: Clock> Engine<'_, T, C> {
    /// Takes the next step of the disturbance, if it is time for one.
    pub(super) fn disturb(&mut self, now: u64) {
        match &self.injection.stage {
            Stage::Before(at, kind) if now >= *at => match *kind {
                DisturbanceKind::Pause(time) => {
                    self.recorder.tell(EngineEvent::Pause);
                    self.opening.spread_over(self.injection.reopen_spread);
                    self.injection.stage = Stage::Paused(self.now() + nanos(time));
                }
                DisturbanceKind::Drop | DisturbanceKind::Burst(0) => self.injection_over(),
                DisturbanceKind::Burst(count) => {
                    self.injection.stage =
                        Stage::Burst(self.base_connections..self.base_connections + count, count);
                }
            },
            Stage::Paused(until) if now >= *until => {
                self.recorder.tell(EngineEvent::Resume);
                self.injection_over();
            }
            _ => {}
        }
        for _ in 0..BURST_BATCH {
            let Stage::Burst(unbegun, _) = &mut self.injection.stage else { return };
            let Some(slot) = unbegun.next() else { return };
            if slot + 1 == unbegun.end {
                self.recorder.injection_over(self.now());
            }
            self.connect(slot);
        }
    }

    /// Records that the disturbance is over, and begins to watch the server, for a disturbance without a burst's
    /// requests.
    fn injection_over(&mut self) {
        let now = self.now();
        self.recorder.injection_over(now);
        self.watch_from(now);
    }

    /// Counts the one request of a burst's connection as finished. After the last one the server is watched.
    pub(super) fn burst_request_finished(&mut self, right: bool, now: u64) {
        let Stage::Burst(_, left) = &mut self.injection.stage else { return };
        self.recorder.count_burst(right);
        *left -= 1;
        if *left == 0 {
            self.watch_from(now);
        }
    }

    /// Begins to watch the server, after all of the disturbance is finished: the load ends when it has been watched
    /// long enough from `now` on.
    fn watch_from(&mut self, now: u64) {
        self.injection.stage = Stage::Quiet;
        self.schedule.close_at(now + self.injection.watch);
    }
}
