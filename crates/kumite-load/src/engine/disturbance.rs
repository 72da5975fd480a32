//! The disturbance of a load when its window has closed: the server is paused, or a burst of connections is opened.

use std::ops::Range;

use super::Engine;
use crate::clock::Clock;
use crate::record::aggregate::EngineEvent;
use crate::transport::Transport;
use crate::{Disturbance, DisturbanceKind, nanos};

/// Connections of a burst that are begun before the others are looked at again: to begin one takes tens of microseconds.
const BURST_BATCH: usize = 256;

/// The injection of a failure.
pub(super) struct Injection {
    stage: Stage,
    /// How long the server is watched, once no request of a burst is left.
    watch: u64,
}

/// Where the run stands in it.
enum Stage {
    /// There is none, or it is over.
    Quiet,
    /// It comes when the window closes, then.
    Before(u64, DisturbanceKind),
    /// The server is stopped until then.
    Paused(u64),
    /// A burst's connections that are not yet begun, and how many are not yet finished.
    Burst(Range<usize>, usize),
}

impl Injection {
    /// None, or this disturbance at this time.
    pub fn new(planned: Option<(Disturbance, u64)>) -> Injection {
        match planned {
            None => Injection { stage: Stage::Quiet, watch: 0 },
            Some((Disturbance { kind, watch }, at)) => {
                Injection { stage: Stage::Before(at, kind), watch: nanos(watch) }
            }
        }
    }

    /// The window closes by so much sooner.
    pub fn come_sooner(&mut self, by: u64) {
        if let Stage::Before(at, _) = &mut self.stage {
            *at -= by;
        }
    }

    /// When it goes on, if no event tells.
    pub fn next_step_ns(&self) -> u64 {
        match &self.stage {
            Stage::Before(at, _) | Stage::Paused(at) => *at,
            Stage::Burst(unbegun, _) if !unbegun.is_empty() => 0,
            Stage::Quiet | Stage::Burst(..) => u64::MAX,
        }
    }

    /// Whether the server is stopped.
    pub fn is_paused(&self) -> bool {
        matches!(self.stage, Stage::Paused(_))
    }
}

impl<T: Transport, C: Clock> Engine<'_, T, C> {
    /// Goes on with the disturbance, if it is time.
    pub(super) fn disturb(&mut self, now: u64) {
        match &self.injection.stage {
            Stage::Before(at, kind) if now >= *at => match *kind {
                DisturbanceKind::Pause(time) => {
                    self.recorder.tell(EngineEvent::Pause);
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

    /// The injection is over, and nothing of it is left.
    fn injection_over(&mut self) {
        let now = self.now();
        self.recorder.injection_over(now);
        self.watch_from(now);
    }

    /// The one request of a burst's connection is finished.
    pub(super) fn burst_request_finished(&mut self, right: bool, now: u64) {
        let Stage::Burst(_, left) = &mut self.injection.stage else { return };
        self.recorder.count_burst(right);
        *left -= 1;
        if *left == 0 {
            self.watch_from(now);
        }
    }

    /// The injection was over before, or is now, and every request of a burst is finished.
    fn watch_from(&mut self, now: u64) {
        self.injection.stage = Stage::Quiet;
        self.schedule.close_at(now + self.injection.watch);
    }
}
