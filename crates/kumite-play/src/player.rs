//! The player: it writes each state of a schedule to a device when the state is due.
//!
//! Everything that takes time is done before the first state: instants are computed, and the memory for what is
//! measured is touched. On the clock it only waits ([`Clock::wait_until`]), writes, and reads the clock once more.
//! Instants are counted from the first state and not from one another, so no error adds up. However a play ends, by
//! an error or a panic too, the device is released.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use kumite_limits::RealTime;

use crate::pacer::{Clock, Pacer};
use crate::pacing::Arrival;
use crate::{Device, DeviceError, Pacing, PadState, Schedule};

/// The outcome of a play.
#[derive(Debug)]
pub struct Played {
    /// The way in which the play ended.
    pub ended: PlayEnd,
    /// The reason why the device could not be released at the end; none if the device was released, or is a log, which
    /// holds nothing.
    pub unreleased: Option<DeviceError>,
    /// The figures on how exactly the states were in time; none if no state was written. The instant of a state is
    /// when [`Device::write`] returned.
    pub pacing: Option<Pacing>,
    /// True if [`play`] was given real-time priority; always false after [`play_as_is`].
    pub real_time: bool,
}

/// The way in which a play ended.
#[derive(Debug)]
pub enum PlayEnd {
    /// Every state was written.
    Whole,
    /// The play was told to stop.
    Stopped,
    /// The device failed.
    Failed(DeviceError),
}

/// Plays a schedule at `fps` frames a second, on this thread, until `stop` is set, which is seen within some 20 ms.
/// `at` becomes the number of states that were written, the release at the end of the schedule included. The play has
/// real-time priority if that is permitted.
///
/// The device is released however the play ends, also if the device panics.
///
/// A state that is late is written at once, and later ones stay due when they were: after a busy or sleeping machine,
/// the play catches up and plays the rest in time. A game sees only the last of several states within a frame.
/// [`Pacing::missed_frames`] counts the states that were off by a frame or more. (On Linux and macOS the clock stands
/// still while the machine sleeps, so the play goes on where it was.)
pub fn play(
    schedule: &Schedule,
    fps: f64,
    device: &mut dyn Device,
    stop: &AtomicBool,
    at: &AtomicUsize,
) -> Played {
    let real_time = RealTime::take();
    let played = play_as_is(schedule, fps, device, stop, at);
    Played { real_time: real_time.is_some(), ..played }
}

/// Plays like [`play`], but with the priority that the thread has.
pub fn play_as_is(
    schedule: &Schedule,
    fps: f64,
    device: &mut dyn Device,
    stop: &AtomicBool,
    at: &AtomicUsize,
) -> Played {
    play_by(Pacer::start, schedule, fps, device, stop, at)
}

/// Plays by the clock that `start` makes just before the first state.
fn play_by<C: Clock>(
    start: impl FnOnce() -> C,
    schedule: &Schedule,
    fps: f64,
    device: &mut dyn Device,
    stop: &AtomicBool,
    at: &AtomicUsize,
) -> Played {
    let states: Vec<(Duration, PadState)> = schedule.due(fps).collect();
    // The memory is written to now, so that no page of it is missing on the clock.
    let mut arrivals: Vec<Arrival> = states.iter().map(|(due, _)| (*due, i64::MIN)).collect();
    let clock = start();
    let mut hold = Hold { device, clock: &clock, released: false };
    let mut ended = PlayEnd::Whole;
    let mut written = 0;
    for ((due, state), arrival) in states.iter().zip(&mut arrivals) {
        hold.device.prepare(*state);
        if !clock.wait_until(*due, stop) {
            ended = PlayEnd::Stopped;
            break;
        }
        if let Err(error) = hold.device.write(*state, clock.now()) {
            ended = PlayEnd::Failed(error);
            break;
        }
        arrival.1 = clock.now().as_nanos() as i64 - due.as_nanos() as i64;
        written += 1;
        at.store(written, Ordering::Relaxed);
    }
    // The last state of a schedule is the release.
    hold.released = matches!(ended, PlayEnd::Whole);
    let unreleased = if hold.released { None } else { hold.release().err() };
    let unreleased = unreleased.filter(|error| !matches!(error, DeviceError::Log(_)));
    Played { ended, unreleased, pacing: Pacing::from_arrivals(&arrivals[..written], fps), real_time: false }
}

/// A device that may hold something pressed. It is released when this is dropped, by a panic too.
struct Hold<'a, C: Clock> {
    device: &'a mut dyn Device,
    clock: &'a C,
    released: bool,
}

impl<C: Clock> Hold<'_, C> {
    fn release(&mut self) -> Result<(), DeviceError> {
        let released = self.device.write(PadState::RELEASED, self.clock.now());
        self.released = true;
        released
    }
}

impl<C: Clock> Drop for Hold<'_, C> {
    fn drop(&mut self) {
        if !self.released {
            // A second panic would end the process.
            let _ = catch_unwind(AssertUnwindSafe(|| self.release()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;
    use std::rc::Rc;

    use proptest::prelude::*;

    use super::*;
    use crate::{Control, Held};

    /// A clock whose time passes only in waits, or where a device says so.
    #[derive(Clone, Default)]
    struct Fake(Rc<Cell<Duration>>);

    impl Fake {
        fn pass(&self, time: Duration) {
            self.0.set(self.0.get() + time);
        }
    }

    impl Clock for Fake {
        fn now(&self) -> Duration {
            self.0.get()
        }

        fn wait_until(&self, due: Duration, stop: &AtomicBool) -> bool {
            let goes_on = !stop.load(Ordering::Relaxed);
            if goes_on {
                self.0.set(due.max(self.now()));
            }
            goes_on
        }
    }

    /// A device's reaction to a write.
    #[derive(Clone, Copy, Debug)]
    enum Reaction {
        Fails,
        Panics,
        Takes(Duration),
        Stops,
    }

    /// A device that reacts to some writes, counted from 0, and keeps each state with its time.
    #[derive(Default)]
    struct Fussy<'a> {
        clock: Fake,
        reactions: Vec<(usize, Reaction)>,
        stop: Option<&'a AtomicBool>,
        writes: usize,
        has: Vec<(PadState, Duration)>,
        announced: Vec<PadState>,
    }

    impl Device for Fussy<'_> {
        fn prepare(&mut self, next: PadState) {
            assert_eq!(self.announced.len(), self.writes, "one at a time");
            self.announced.push(next);
        }

        fn write(&mut self, state: PadState, since_start: Duration) -> Result<(), DeviceError> {
            let nth = self.writes;
            self.writes += 1;
            assert_eq!(since_start, self.clock.now());
            assert!(self.announced.get(nth) == Some(&state) || state == PadState::RELEASED);
            for (_, reaction) in self.reactions.iter().filter(|(at, _)| *at == nth) {
                match reaction {
                    Reaction::Fails => {
                        let source = io::Error::other(format!("write {nth}"));
                        return Err(DeviceError::Gamepad { at_ms: 0.0, source });
                    }
                    Reaction::Panics => panic!("write {nth}"),
                    Reaction::Takes(time) => self.clock.pass(*time),
                    Reaction::Stops => self.stop.unwrap().store(true, Ordering::Relaxed),
                }
            }
            self.has.push((state, since_start));
            Ok(())
        }
    }

    const FPS: f64 = 100.0;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// A, B and C for 2, 1 and 3 frames of 10 ms, then the release at 60 ms.
    fn schedule() -> Schedule {
        let held = |(frames, control)| Held { frames, state: PadState::RELEASED.with(control) };
        Schedule([(2, Control::Cross), (1, Control::Circle), (3, Control::Square)].map(held).to_vec())
    }

    fn states() -> Vec<PadState> {
        schedule().due(FPS).map(|(_, state)| state).collect()
    }

    /// Plays, and returns the play's outcome, the states that the device got, and how many states were counted.
    fn played(
        schedule: &Schedule,
        reactions: &[(usize, Reaction)],
    ) -> (Played, Vec<(PadState, Duration)>, usize) {
        let (clock, stop, at) = (Fake::default(), AtomicBool::new(false), AtomicUsize::new(0));
        let mut device = Fussy {
            clock: clock.clone(),
            reactions: reactions.to_vec(),
            stop: Some(&stop),
            ..Fussy::default()
        };
        let played = play_by(|| clock.clone(), schedule, FPS, &mut device, &stop, &at);
        (played, device.has, at.into_inner())
    }

    #[test]
    fn each_state_is_written_when_it_is_due() {
        let (played, has, at) = played(&schedule(), &[]);
        let due: Vec<Duration> = [0, 20, 30, 60].map(ms).to_vec();
        assert!(matches!(played.ended, PlayEnd::Whole));
        assert!(has.into_iter().eq(states().into_iter().zip(due)));
        assert!(played.unreleased.is_none() && !played.real_time);
        let pacing = played.pacing.unwrap();
        assert_eq!((pacing.states, pacing.max_us, at), (4, 0.0, 4));
    }

    #[test]
    fn errors_are_from_when_the_device_has_it() {
        let (played, ..) = played(&schedule(), &[(1, Reaction::Takes(ms(3)))]);
        let pacing = played.pacing.unwrap();
        assert_eq!((pacing.p50_us, pacing.max_us, pacing.missed_frames), (0.0, 3000.0, 0));
    }

    #[test]
    fn a_late_state_is_written_at_once_and_moves_no_other() {
        // B is there 35 ms late; C was due at 30 ms; the release is in time again.
        let (played, has, at) = played(&schedule(), &[(1, Reaction::Takes(ms(35)))]);
        assert!(has.iter().map(|(_, when)| *when).eq([0, 20, 55, 60].map(ms)));
        assert_eq!((played.pacing.unwrap().missed_frames, at), (2, 4));
    }

    #[test]
    fn a_stopped_play_releases_everything() {
        let (played, has, at) = played(&schedule(), &[(1, Reaction::Stops)]);
        assert!(matches!(played.ended, PlayEnd::Stopped) && played.unreleased.is_none());
        let states = states();
        assert_eq!(has, [(states[0], ms(0)), (states[1], ms(20)), (PadState::RELEASED, ms(20))]);
        assert_eq!((played.pacing.unwrap().states, at), (2, 2));
    }

    #[test]
    fn a_play_that_is_stopped_before_it_begins_writes_no_state() {
        let (clock, stop, at) = (Fake::default(), AtomicBool::new(true), AtomicUsize::new(0));
        let mut device = Fussy::default();
        let played = play_by(|| clock, &schedule(), FPS, &mut device, &stop, &at);
        assert!(matches!(played.ended, PlayEnd::Stopped) && played.pacing.is_none());
        assert_eq!(device.has, [(PadState::RELEASED, ms(0))]);
    }

    #[test]
    fn a_device_that_fails_is_released_and_its_first_error_kept() {
        let (failed, has, at) = played(&schedule(), &[(2, Reaction::Fails)]);
        assert!(matches!(failed.ended, PlayEnd::Failed(error) if error.to_string().contains("write 2")));
        assert!(failed.unreleased.is_none());
        assert_eq!((has.last().unwrap().0, failed.pacing.unwrap().states, at), (PadState::RELEASED, 2, 2));

        let (failed, has, _) = played(&schedule(), &[(2, Reaction::Fails), (3, Reaction::Fails)]);
        assert!(matches!(failed.ended, PlayEnd::Failed(error) if error.to_string().contains("write 2")));
        assert!(failed.unreleased.is_some_and(|error| error.to_string().contains("write 3")));
        assert_eq!(has.len(), 2);
    }

    #[test]
    fn a_log_that_fails_holds_nothing() {
        let (stop, at) = (AtomicBool::new(false), AtomicUsize::new(0));
        let mut small = [0_u8; 20];
        let mut log = crate::Log::new(&mut small[..]);
        let failed = play_by(Fake::default, &schedule(), FPS, &mut log, &stop, &at);
        assert!(matches!(failed.ended, PlayEnd::Failed(DeviceError::Log(_))) && failed.unreleased.is_none());
    }

    #[test]
    fn a_schedule_without_states_is_a_release() {
        let (played, has, _) = played(&Schedule::default(), &[]);
        assert!(matches!(played.ended, PlayEnd::Whole));
        assert_eq!(has, [(PadState::RELEASED, ms(0))]);
    }

    /// The states that the device got of a play that panicked, and the panic's words.
    fn panicked(reactions: &[(usize, Reaction)]) -> (Vec<PadState>, String) {
        let (clock, stop, at) = (Fake::default(), AtomicBool::new(false), AtomicUsize::new(0));
        let mut device = Fussy {
            clock: clock.clone(),
            reactions: reactions.to_vec(),
            stop: Some(&stop),
            ..Fussy::default()
        };
        let played =
            catch_unwind(AssertUnwindSafe(|| play_by(|| clock, &schedule(), FPS, &mut device, &stop, &at)));
        let why = played.unwrap_err().downcast_ref::<String>().unwrap().clone();
        (device.has.into_iter().map(|(state, _)| state).collect(), why)
    }

    #[test]
    fn a_device_that_panics_is_released_at_whichever_write() {
        for nth in 0..4 {
            let (mut has, why) = panicked(&[(nth, Reaction::Panics)]);
            assert_eq!(has.pop(), Some(PadState::RELEASED));
            assert_eq!((has.as_slice(), why), (&states()[..nth], format!("write {nth}")));
        }
        let (has, why) = panicked(&[(0, Reaction::Stops), (1, Reaction::Panics)]);
        assert_eq!((has.len(), has[1], why.as_str()), (2, PadState::RELEASED, "write 1"), "a second time");
    }

    #[test]
    fn a_device_that_panics_again_when_released_does_not_end_the_process() {
        let (has, why) = panicked(&[(1, Reaction::Panics), (2, Reaction::Panics)]);
        assert_eq!((has.len(), why.as_str()), (1, "write 1"));
    }

    #[test]
    fn a_play_by_the_real_clock_is_never_early() {
        let (stop, at) = (AtomicBool::new(false), AtomicUsize::new(0));
        struct Plain(Vec<(PadState, Duration)>);
        impl Device for Plain {
            fn write(&mut self, state: PadState, since_start: Duration) -> Result<(), DeviceError> {
                self.0.push((state, since_start));
                Ok(())
            }
        }
        let mut device = Plain(Vec::new());
        let played = play(&schedule(), FPS, &mut device, &stop, &at);
        assert!(matches!(played.ended, PlayEnd::Whole));
        assert_eq!(played.pacing.unwrap().states, 4);
        for ((due, state), (written, when)) in schedule().due(FPS).zip(device.0) {
            assert_eq!(state, written);
            assert!(when >= due, "{when:?} is before {due:?}");
        }
    }

    proptest! {
        /// Whatever a device does, states come in order and never before they are due, and the last one is the release.
        #[test]
        fn any_play_is_in_order_never_early_and_released(
            frames in prop::collection::vec(1_u32..100, 0..20),
            reactions in prop::collection::vec(
                (0_usize..25, prop_oneof![
                    Just(Reaction::Fails),
                    Just(Reaction::Stops),
                    (0_u64..500).prop_map(|time| Reaction::Takes(ms(time))),
                ]),
                0..6,
            ),
        ) {
            let state = |nth: usize| if nth.is_multiple_of(2) { Control::Cross } else { Control::Up };
            let held = |(nth, frames): (usize, u32)| Held { frames, state: PadState::RELEASED.with(state(nth)) };
            let schedule = Schedule(frames.into_iter().enumerate().map(held).collect());
            let due: Vec<_> = schedule.due(FPS).collect();
            let (played, has, at) = played(&schedule, &reactions);
            prop_assert_eq!(played.pacing.map_or(0, |pacing| pacing.states), at);
            for ((due, state), (written, when)) in due.iter().zip(&has[..at]) {
                prop_assert_eq!(state, written);
                prop_assert!(when >= due);
            }
            match played.ended {
                PlayEnd::Whole => prop_assert_eq!((at, has.len()), (due.len(), due.len())),
                _ => prop_assert_eq!(has.len(), at + usize::from(played.unreleased.is_none())),
            }
            if played.unreleased.is_none() {
                prop_assert_eq!(has.last().map(|(state, _)| *state), Some(PadState::RELEASED));
            }
        }
    }
}
