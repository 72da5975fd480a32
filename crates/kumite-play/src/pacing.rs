//! Figures on how exactly the states of a play were in time, from their instants alone.

use std::time::Duration;

/// The errors of a play's states, in µs. An error is the time from when a state was due until it came, negative if it
/// was early. Percentiles and the greatest error are those of its size, without the sign.
///
/// Percentiles are nearest ranks: the p99 is the least size that 99 % of the states do not exceed. So each is the
/// error of a state. With fewer than 100 states the p99 is the greatest error, and with fewer than 1,000 the p99.9
/// is.
#[derive(Clone, Debug, PartialEq)]
pub struct Pacing {
    /// The number of states that were written. The release at the end is one of them if the play was whole, and not
    /// if it was stopped or failed.
    pub states: usize,
    /// The median size of an error, in µs.
    pub p50_us: f64,
    /// The 90th percentile of sizes, in µs.
    pub p90_us: f64,
    /// The 99th percentile of sizes, in µs.
    pub p99_us: f64,
    /// The 99.9th percentile of sizes, in µs.
    pub p99_9_us: f64,
    /// The greatest size, in µs.
    pub max_us: f64,
    /// The mean error of the states that were due in the first 60 frames, counted from the first state, in µs.
    pub first_mean_us: f64,
    /// The mean error of the states that were due in the last 60 frames, counted back from the last state, in µs. A
    /// play of at most 60 frames has the same mean at both ends.
    pub last_mean_us: f64,
    /// The number of states whose error was a frame or more, early or late.
    pub missed_frames: usize,
}

/// The time at which a state was due, from the start, and its error in ns: positive if it came late.
pub type Arrival = (Duration, i64);

impl Pacing {
    /// The figures of these states, in any order; none if there are none.
    pub fn from_arrivals(arrivals: &[Arrival], fps: f64) -> Option<Pacing> {
        let first = arrivals.iter().map(|(due, _)| *due).min()?;
        let last = arrivals.iter().map(|(due, _)| *due).max()?;
        let frame_ns = 1e9 / fps;
        // The window ends between two frames, since the times at which states are due are rounded.
        let window = Duration::from_secs_f64(59.5 / fps);
        let mut sizes: Vec<u64> = arrivals.iter().map(|(_, error)| error.unsigned_abs()).collect();
        sizes.sort_unstable();
        let rank = |per_mille: usize| sizes[(sizes.len() * per_mille).div_ceil(1000) - 1] as f64 / 1e3;
        let mean = |counts: &dyn Fn(Duration) -> bool| {
            let errors = arrivals.iter().filter(|(due, _)| counts(*due)).map(|(_, error)| i128::from(*error));
            let (states, sum) = errors.fold((0, 0), |(states, sum), error| (states + 1, sum + error));
            sum as f64 / f64::from(states) / 1e3
        };
        Some(Pacing {
            states: sizes.len(),
            p50_us: rank(500),
            p90_us: rank(900),
            p99_us: rank(990),
            p99_9_us: rank(999),
            max_us: rank(1000),
            first_mean_us: mean(&|due| due - first < window),
            last_mean_us: mean(&|due| last - due < window),
            missed_frames: sizes.iter().filter(|size| **size as f64 >= frame_ns).count(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FPS: f64 = 59.94;

    fn due(frame: u32) -> Duration {
        Duration::from_secs_f64(f64::from(frame) / FPS)
    }

    #[test]
    fn known_errors_have_known_percentiles() {
        // Off by 10, 9, … 1, 0, 1, … 589 µs.
        let at = |frame: u32| (due(frame), (i64::from(frame) - 10) * 1000);
        let arrivals: Vec<Arrival> = (0..600).map(at).collect();
        let pacing = Pacing::from_arrivals(&arrivals, FPS).unwrap();
        assert_eq!((pacing.states, pacing.max_us, pacing.missed_frames), (600, 589.0, 0));
        assert_eq!((pacing.p50_us, pacing.p90_us), (289.0, 529.0));
        assert_eq!((pacing.p99_us, pacing.p99_9_us), (583.0, 589.0), "six are beyond the p99");
        assert_eq!((pacing.first_mean_us, pacing.last_mean_us), (19.5, 559.5));
        assert_eq!(Pacing::from_arrivals(&[], FPS), None);
    }

    #[test]
    fn a_frame_is_missed_by_who_is_off_by_one() {
        let errors_ns = [0, 16_683_350, -16_683_351, 16_683_351];
        let arrivals: Vec<Arrival> = (0..).map(due).zip(errors_ns).collect();
        assert_eq!(Pacing::from_arrivals(&arrivals, FPS).unwrap().missed_frames, 2, "early is off too");
    }

    #[test]
    fn of_few_states_the_last_percentiles_are_the_greatest_error() {
        let p99_and_max = |states: u32| {
            let arrivals: Vec<Arrival> =
                (0..states).map(|frame| (due(frame), i64::from(frame) * 1000)).collect();
            let pacing = Pacing::from_arrivals(&arrivals, FPS).unwrap();
            (pacing.p50_us, pacing.p99_us, pacing.max_us)
        };
        assert_eq!(p99_and_max(1), (0.0, 0.0, 0.0));
        assert_eq!(p99_and_max(2), (0.0, 1.0, 1.0));
        assert_eq!(p99_and_max(99), (49.0, 98.0, 98.0));
        assert_eq!(p99_and_max(100), (49.0, 98.0, 99.0));
    }

    #[test]
    fn sixty_frames_are_sixty_states_whatever_was_rounded() {
        // 60 frames at 59 a second are not a whole number of ns: some are longer than others.
        let at = |frame: u32| (Duration::from_secs_f64(f64::from(frame) / 59.0), i64::from(frame) * 1000);
        for end in 60..600_u32 {
            let arrivals: Vec<Arrival> = (0..=end).map(at).collect();
            let pacing = Pacing::from_arrivals(&arrivals, 59.0).unwrap();
            assert_eq!((pacing.first_mean_us, pacing.last_mean_us), (29.5, f64::from(end) - 29.5));
        }
    }

    #[test]
    fn the_greatest_errors_do_not_overflow() {
        let arrivals = [(Duration::ZERO, i64::MIN), (Duration::MAX, i64::MAX), (Duration::MAX, i64::MAX)];
        let pacing = Pacing::from_arrivals(&arrivals, FPS).unwrap();
        assert_eq!(pacing.max_us, 2_f64.powi(63) / 1e3);
        assert_eq!((pacing.first_mean_us, pacing.missed_frames), (-pacing.max_us, 3));
    }

    /// The frames of a play in their order, and the errors of its states in ns.
    fn play() -> impl Strategy<Value = Vec<(u32, i64)>> {
        let state = (1_u32..40, prop_oneof![-50_000_000_i64..50_000_000, -3_i64..3]);
        prop::collection::vec(state, 1..150).prop_map(|mut states| {
            let mut frame = 0;
            states.iter_mut().for_each(|(frames, _)| frame += std::mem::replace(frames, frame));
            states
        })
    }

    fn arrivals(play: &[(u32, i64)]) -> Vec<Arrival> {
        play.iter().map(|(frame, error)| (due(*frame), *error)).collect()
    }

    /// The figures of a play, computed by their definitions word for word.
    fn reference(play: &[(u32, i64)]) -> Pacing {
        let sizes: Vec<f64> = play.iter().map(|(_, error)| (error.abs() as f64) / 1e3).collect();
        let least_that = |share: usize| {
            let within = |most: f64| sizes.iter().filter(|size| **size <= most).count();
            let enough = sizes.iter().copied().filter(|size| within(*size) * 1000 >= share * sizes.len());
            enough.fold(f64::INFINITY, f64::min)
        };
        let mean = |of: &[(u32, i64)]| {
            of.iter().map(|(_, error)| *error as f64 / 1e3).sum::<f64>() / of.len() as f64
        };
        let end = play[play.len() - 1].0;
        Pacing {
            states: play.len(),
            p50_us: least_that(500),
            p90_us: least_that(900),
            p99_us: least_that(990),
            p99_9_us: least_that(999),
            max_us: sizes.iter().copied().fold(0.0, f64::max),
            first_mean_us: mean(&play[..play.partition_point(|(frame, _)| *frame < 60)]),
            last_mean_us: mean(&play[play.partition_point(|(frame, _)| end - *frame >= 60)..]),
            missed_frames: sizes.iter().filter(|size| **size >= 1e6 / FPS).count(),
        }
    }

    proptest! {
        #[test]
        fn pacing_of_any_errors_is_what_the_definitions_say(play in play()) {
            let (found, wanted) = (Pacing::from_arrivals(&arrivals(&play), FPS).unwrap(), reference(&play));
            prop_assert!((found.first_mean_us - wanted.first_mean_us).abs() < 1e-6);
            prop_assert!((found.last_mean_us - wanted.last_mean_us).abs() < 1e-6);
            let means = (found.first_mean_us, found.last_mean_us);
            prop_assert_eq!(found, Pacing { first_mean_us: means.0, last_mean_us: means.1, ..wanted });
        }

        #[test]
        fn pacing_is_the_same_in_whichever_order_states_are_given(
            (play, shuffled) in play().prop_flat_map(|play| (Just(play.clone()), Just(play).prop_shuffle())),
        ) {
            prop_assert_eq!(Pacing::from_arrivals(&arrivals(&shuffled), FPS), Pacing::from_arrivals(&arrivals(&play), FPS));
        }

        /// A later start changes nothing, and errors that are all greater shift the means by as much.
        #[test]
        fn a_shift_of_all_errors_shifts_their_means(play in play(), later_ns in 0_u64..10_000_000_000, by_us in -1000_i32..1000) {
            let before = Pacing::from_arrivals(&arrivals(&play), FPS).unwrap();
            let mut shifted = arrivals(&play);
            shifted.iter_mut().for_each(|(due, _)| *due += Duration::from_nanos(later_ns));
            prop_assert_eq!(Pacing::from_arrivals(&shifted, FPS), Some(before.clone()));
            shifted.iter_mut().for_each(|(_, error)| *error += i64::from(by_us) * 1000);
            let after = Pacing::from_arrivals(&shifted, FPS).unwrap();
            prop_assert!((after.first_mean_us - before.first_mean_us - f64::from(by_us)).abs() < 1e-6);
            prop_assert!((after.last_mean_us - before.last_mean_us - f64::from(by_us)).abs() < 1e-6);
        }

        /// Early is as wrong as late.
        #[test]
        fn mirrored_errors_have_mirrored_means(play in play()) {
            let before = Pacing::from_arrivals(&arrivals(&play), FPS).unwrap();
            let mirrored: Vec<Arrival> = arrivals(&play).into_iter().map(|(due, error)| (due, -error)).collect();
            let (first_mean_us, last_mean_us) = (-before.first_mean_us, -before.last_mean_us);
            let wanted = Pacing { first_mean_us, last_mean_us, ..before };
            prop_assert_eq!(Pacing::from_arrivals(&mirrored, FPS), Some(wanted));
        }
    }
}
