//! Absence while something is measured: of kumite, of a process that it has started, or of the machine.
//!
//! A thread wakes every [`BEAT`]. If it wakes late, and did not wait for a CPU meanwhile, all of kumite stood still:
//! kumite was stopped or frozen, or the virtual machine was. One thread is enough, because everything that sends,
//! records and plays is a thread of the same process. Helpers are other processes; [`Stops`] looks at their states, as
//! at those of contenders and services.

mod pulse;

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use kumite_process::Stops;
use kumite_record::{Void, VoidCause};

use crate::noise::{Clocks, Ours, Watch};
use pulse::{Pulse, ThreadAccounts, absence};

/// The time between two wake-ups of the watching thread. It is short enough to see every stop longer than
/// [`ABSENCE_LIMIT`] and a beat, and long enough to cost the engine's CPU only some thousandths of its time.
const BEAT: Duration = Duration::from_millis(50);
/// The longest single absence that is tolerated. A busy machine does as much to every thread; being stopped by hand,
/// a closed lid or a snapshot takes longer.
const ABSENCE_LIMIT: Duration = Duration::from_millis(100);
/// The share of the time that absences shorter than [`ABSENCE_LIMIT`] may take together; as much as that limit is
/// always allowed. A process that is stopped for 40 of each 80 ms is away half of the time, but never for long.
/// Absence while the watching thread sleeps is not seen. Beside 14 programs that compiled on two CPUs the share was
/// 0.14 % in 90 s, and at most 1.4 % in half a second.
const SHORT_LIMIT: f64 = 0.05;
/// The share of the CPU time that the hypervisor may take before a measurement is void. A mark already casts doubt
/// from a hundredth on, which is usual on a shared machine; with a fifth gone, the rest is another machine.
const STOLEN_LIMIT: f64 = 0.2;
/// The error of a CPU's stolen time in seconds: it is counted in ticks.
const GRAIN: f64 = 0.01;

/// A watch, while something is measured, for times in which kumite, the processes that it has started, or the whole
/// machine stood still. It has a thread of its own.
#[derive(Debug)]
pub struct Heartbeat {
    thread: JoinHandle<Absence>,
    end: Sender<()>,
    watch: Watch,
    cpus: usize,
    clocks: Clocks,
}

/// Absence of kumite, and of the processes that it has started, as the watching thread saw it.
#[derive(Debug, Default)]
struct Absence {
    /// The time of kumite's own absences longer than [`ABSENCE_LIMIT`].
    kumite: Duration,
    /// The time of kumite's own shorter absences.
    shortly: Duration,
    /// The process that was first seen stopped, and the time for which it or any other was. `None` if none was.
    process: Option<(String, Duration)>,
}

/// Everything about absence that is known of the time between two moments, by cause.
#[derive(Debug, Default)]
struct Between {
    elapsed_s: f64,
    slept_s: f64,
    stolen_s: f64,
    cpus: usize,
    seen: Absence,
}

impl Heartbeat {
    /// Begins to watch now. `cpus` are the CPUs of the processes that are measured, and those of the process that
    /// measures; time that a hypervisor takes from them is watched.
    pub fn start(cpus: &[usize]) -> Heartbeat {
        let (end, ended) = mpsc::channel();
        let began = Pulse::first();
        let thread = thread::spawn(move || beat(began, &ended));
        let (watch, clocks) = (Watch::begin(cpus), Clocks::read());
        Heartbeat { thread, end, watch, cpus: cpus.len(), clocks }
    }

    /// Stops watching. Returns the cause that makes all measurements since the start void; `None` if there is none. Of
    /// several causes, sleep comes before stops, and stops before stolen time.
    pub fn stop(self) -> Option<Void> {
        let clocks = Clocks::read();
        let elapsed_s = clocks.monotonic.saturating_sub(self.clocks.monotonic).as_secs_f64();
        let noise = self.watch.end(&Ours::default());
        drop(self.end);
        let seen = self.thread.join().expect("looking does not panic");
        let stolen_cores = noise.figures.get("stolen_cores").copied().unwrap_or(0.0);
        void(Between {
            elapsed_s,
            slept_s: clocks.slept - self.clocks.slept,
            stolen_s: stolen_cores * elapsed_s,
            cpus: self.cpus,
            seen,
        })
    }
}

fn beat(began: Pulse, ended: &mpsc::Receiver<()>) -> Absence {
    let mut seen = Absence::default();
    let accounts = ThreadAccounts::open();
    let mut stops = Stops::begin();
    let mut last = began;
    loop {
        // A look at others may wait for them, which is short and no absence.
        let asleep = accounts.pulse();
        let goes_on = ended.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout);
        let pulse = accounts.pulse();
        let away = absence(&last, &pulse, BEAT);
        if away > ABSENCE_LIMIT {
            seen.kumite += away;
        } else {
            seen.shortly += absence(&asleep, &pulse, BEAT);
        }
        if let Some(process) = stops.look() {
            seen.process.get_or_insert((process, Duration::ZERO)).1 += pulse.since(&last);
        }
        if !goes_on {
            return seen;
        }
        last = pulse;
    }
}

/// The cause that makes a measurement void: an absence that was too long, or too much stolen time. `None` without
/// one. A change of the time of day is no reason, because no figure is made from it; it is marked `clock-jumped`. Nor
/// is a CPU limit of kumite's own cgroup: contenders are in it too, and the one that needs most would void its bad
/// blocks; it is marked `throttled`.
fn void(between: Between) -> Option<Void> {
    let limit_s = ABSENCE_LIMIT.as_secs_f64();
    let all = between.cpus as f64;
    let Absence { kumite, shortly, process } = between.seen;
    let void =
        |what, process, seconds: f64| Some(Void { what, process, node: None, lasted_ms: seconds * 1e3 });
    if between.slept_s > limit_s {
        return void(VoidCause::Suspended, None, between.slept_s);
    }
    if !kumite.is_zero() {
        return void(VoidCause::KumiteStopped, None, kumite.as_secs_f64());
    }
    if let Some((process, stopped)) = process {
        return void(VoidCause::ProcessStopped, Some(process), stopped.as_secs_f64());
    }
    if shortly.as_secs_f64() > limit_s.max(SHORT_LIMIT * between.elapsed_s) {
        return void(VoidCause::KumiteStopped, None, shortly.as_secs_f64());
    }
    let too_much = between.stolen_s - GRAIN * all > STOLEN_LIMIT * between.elapsed_s * all;
    if too_much { void(VoidCause::Stolen, None, between.stolen_s) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_seconds() -> Between {
        Between { elapsed_s: 2.0, cpus: 2, ..Between::default() }
    }

    fn cause(between: Between) -> Option<(VoidCause, f64)> {
        void(between).map(|void| (void.what, void.lasted_ms))
    }

    #[test]
    fn what_nobody_was_away_from_is_not_void() {
        assert_eq!(void(two_seconds()), None);
    }

    #[test]
    fn a_machine_that_slept_voids() {
        assert_eq!(cause(Between { slept_s: 0.1, ..two_seconds() }), None);
        assert_eq!(cause(Between { slept_s: 1.5, ..two_seconds() }), Some((VoidCause::Suspended, 1500.0)));
    }

    #[test]
    fn a_stop_of_kumite_or_of_a_process_voids() {
        let kumite = Absence { kumite: Duration::from_millis(250), ..Absence::default() };
        assert_eq!(cause(Between { seen: kumite, ..two_seconds() }), Some((VoidCause::KumiteStopped, 250.0)));
        let process =
            Absence { process: Some(("x".to_owned(), Duration::from_millis(40))), ..Absence::default() };
        let expected = Void {
            what: VoidCause::ProcessStopped,
            process: Some("x".to_owned()),
            node: None,
            lasted_ms: 40.0,
        };
        assert_eq!(void(Between { seen: process, ..two_seconds() }), Some(expected));
    }

    #[test]
    fn short_stops_void_above_a_twentieth_of_the_time() {
        let shortly = |elapsed_s, ms| {
            let seen = Absence { shortly: Duration::from_millis(ms), ..Absence::default() };
            cause(Between { elapsed_s, seen, ..two_seconds() })
        };
        assert_eq!(shortly(4.0, 200), None);
        assert_eq!(shortly(4.0, 201), Some((VoidCause::KumiteStopped, 201.0)));
        // A window in which there is hardly anything to be away from.
        assert_eq!(shortly(0.1, 100), None);
        assert_eq!(shortly(0.1, 101), Some((VoidCause::KumiteStopped, 101.0)));
    }

    #[test]
    fn stolen_time_voids_above_a_fifth_and_a_tick_of_each_cpu() {
        // A fifth of 4 s, and 10 ms for each CPU.
        assert_eq!(cause(Between { stolen_s: 0.82, ..two_seconds() }), None);
        assert_eq!(cause(Between { stolen_s: 0.83, ..two_seconds() }), Some((VoidCause::Stolen, 830.0)));
    }

    #[test]
    fn a_heartbeat_of_a_moment_ends_at_once_and_beats() {
        let (end, ended) = mpsc::channel();
        drop(end);
        assert!(beat(Pulse::first(), &ended).process.is_none());
    }
}
