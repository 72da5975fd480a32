//! The figures of a play, from the stamps of its states.

use std::time::Duration;

use kumite_play::Pacing;
use kumite_record::{Arrival, Better, Mark, Metric, Sample};

use super::recorder::Stamp;
use super::workload::Due;
use crate::driver::watch::Usage;
use crate::metrics::Metrics;

/// The number of frames whose states determine the zero of the schedule.
const ZERO_FRAMES: f64 = 60.0;
/// The number of states that a percentile must have beyond it. Of 601 states, the share of all that is really beyond
/// the sixth-largest lies in 95 % of samples between 0.4 and 1.9 % (its distribution is beta(6, 596)); a cell has
/// several samples.
const BEYOND: usize = 5;
/// The share of the reported error for which a recorder may have not looked. A longer time casts doubt on the error.
const UNSEEN_SHARE: f64 = 0.1;
/// The time that even a recorder which always looks may miss, in µs.
const UNSEEN_US: f64 = 10.0;

pub(crate) fn metrics() -> Metrics {
    let error = |end: &str, what: &str| {
        let role = format!("error-{}", end.replace('_', "-"));
        Metric::new(
            &format!("error_{end}_us"),
            &format!("{what} the magnitudes of the states' errors: arrival less due time."),
        )
        .role(&role)
    };
    let results = vec![
        error("p99", "99th percentile of"),
        error("p50", "Median of"),
        error("p90", "90th percentile of").detail(),
        error("p99_9", "99.9th percentile of").detail(),
        error("max", "Largest of"),
        Metric::count("missed_frames", "States that were off by a frame or more.")
            .better(Better::Lower)
            .role("missed"),
        Metric::new(
            "landed_share",
            "States that land on the frame they are meant for, of all, on a console whose frames begin at a time that the player does not know.",
        )
        .better(Better::Higher),
        Metric::new(
            "error_first_us",
            "Magnitude of the mean error of the states that are due in the first 60 frames.",
        )
        .detail()
        .role("error-first"),
        Metric::new(
            "error_last_us",
            "Magnitude of the mean error of the states that are due in the last 60 frames.",
        )
        .role("error-last"),
    ];
    let costs = vec![
        Metric::new("cpu_cores", "CPU time of the player for each second of play.").role("cpu"),
        Metric::new("peak_rss_bytes", "Highest memory of the player's process tree."),
    ];
    Metrics { results, costs }
}

/// The states of a play and what was seen of them.
pub(super) struct Play<'a> {
    pub states: &'a [Due],
    pub stamps: Vec<Stamp>,
    pub fps: f64,
    /// The time from the beginning of the play to its last state.
    pub window: Duration,
    /// True if the player and the recorder have a CPU in common.
    pub shared: bool,
    pub seen: Usage,
}

pub(super) fn sample(play: Play) -> (Sample, Vec<Mark>) {
    let errors = errors(&play);
    let due_and_error: Vec<_> = play.states.iter().map(|due| due.at).zip(errors.iter().copied()).collect();
    let mut sample = Sample::default();
    let mut marks = play.seen.noise.marks.clone();
    let pacing = Pacing::from_arrivals(&due_and_error, play.fps);
    let unseen_p99_us = unseen_p99_us(&play.stamps);
    if let Some(pacing) = &pacing {
        for (name, us, one_in) in [
            ("error_p50_us", pacing.p50_us, 2),
            ("error_p90_us", pacing.p90_us, 10),
            ("error_p99_us", pacing.p99_us, 100),
            ("error_p99_9_us", pacing.p99_9_us, 1000),
        ] {
            match (BEYOND * one_in).saturating_sub(errors.len()) {
                0 => _ = sample.metrics.insert(name.to_owned(), us),
                missing => _ = sample.needs.insert(name.to_owned(), missing as u64),
            }
        }
        for (name, value) in [
            ("error_max_us", pacing.max_us),
            ("error_first_us", pacing.first_mean_us.abs()),
            ("error_last_us", pacing.last_mean_us.abs()),
            ("missed_frames", pacing.missed_frames as f64),
            ("landed_share", landed_share(&due_and_error, play.fps)),
        ] {
            sample.metrics.insert(name.to_owned(), value);
        }
        if unseen_p99_us > (UNSEEN_SHARE * pacing.p99_us).max(UNSEEN_US) {
            marks.push(Mark::RecorderLate);
        }
    }
    if play.shared {
        marks.push(Mark::SharedCores);
    }
    let cpu_cores = play.seen.cpu.as_secs_f64() / play.window.as_secs_f64();
    sample
        .metrics
        .extend([("cpu_cores".to_owned(), cpu_cores)].into_iter().filter(|(_, cpu)| cpu.is_finite()));
    sample.metrics.insert("peak_rss_bytes".to_owned(), play.seen.peak_rss_bytes as f64);
    sample.noise = play.seen.noise.figures;
    sample.noise.insert("unseen_p99_us".to_owned(), unseen_p99_us);
    let arrival = |(due, error_ns): &(Duration, i64)| Arrival {
        due_ms: due.as_secs_f64() * 1e3,
        error_us: *error_ns as f64 / 1e3,
    };
    sample.arrivals = due_and_error.iter().map(arrival).collect();
    (sample, marks)
}

/// The error of each state in ns: how much later than due it came. The player's clock is not ours, so its start is
/// not known; it is taken to be the instant by which the earliest of its first states was exactly in time.
fn errors(play: &Play) -> Vec<i64> {
    let Some(first) = play.stamps.first() else { return Vec::new() };
    let late =
        |(due, stamp): (&Due, &Stamp)| (stamp.came - first.came).as_nanos() as i64 - due.at.as_nanos() as i64;
    let late: Vec<i64> = play.states.iter().zip(&play.stamps).map(late).collect();
    let window = Duration::from_secs_f64(ZERO_FRAMES / play.fps);
    let firsts = play.states.iter().zip(&late).filter(|(due, _)| due.at < window);
    let zero = firsts.map(|(_, late)| *late).min().unwrap_or(0);
    late.into_iter().map(|late| late - zero).collect()
}

/// The share of states that land on the frame they are meant for, of at least one state, each with its due time and its
/// error in ns.
///
/// A console takes what is pressed once in a frame. The player does not know when its frames begin, so each instant of
/// a frame is as likely as any other: a state that is off by a part of a frame lands on a neighbouring one from as
/// large a part of these instants, and one that is off by a frame from all. A delay that all states have alike moves
/// none to another frame, seen from the first, so errors count from the median of those of the first 60 frames.
fn landed_share(due_and_error: &[(Duration, i64)], fps: f64) -> f64 {
    let window = Duration::from_secs_f64(ZERO_FRAMES / fps);
    let first = due_and_error.iter().filter(|(due, _)| *due < window);
    let mut first: Vec<i64> = first.map(|(_, error)| *error).collect();
    first.sort_unstable();
    let alike = first.get(first.len() / 2).copied().unwrap_or(0);
    let frame_ns = 1e9 / fps;
    let landed = |error: i64| (1.0 - (error - alike).unsigned_abs() as f64 / frame_ns).max(0.0);
    due_and_error.iter().map(|(_, error)| landed(*error)).sum::<f64>() / due_and_error.len() as f64
}

/// The 99th percentile (nearest rank) of how long the recorder had not looked when a state came, in µs.
fn unseen_p99_us(stamps: &[Stamp]) -> f64 {
    let mut unseen: Vec<Duration> = stamps.iter().map(|stamp| stamp.unseen).collect();
    unseen.sort_unstable();
    let rank = (unseen.len() as f64 * 0.99).ceil() as usize;
    unseen.get(rank.saturating_sub(1)).map_or(0.0, |unseen| unseen.as_secs_f64() * 1e6)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::adapter::behind;
    use super::*;

    /// The sample of a play at 50 frames a second whose states are late by these times in µs.
    fn sample_of(late_us: &[i64], unseen_us: u64) -> (Sample, Vec<Mark>) {
        let began = Instant::now() + Duration::from_secs(1);
        let at = |nth: usize| Duration::from_millis(20 * nth as u64);
        let states: Vec<Due> =
            (0..late_us.len()).map(|nth| Due { at: at(nth), state: String::new() }).collect();
        let stamp = |(nth, late): (usize, &i64)| {
            let due = began + at(nth);
            let by = Duration::from_micros(late.unsigned_abs());
            let came = if *late < 0 { due - by } else { due + by };
            Stamp { came, unseen: Duration::from_micros(unseen_us) }
        };
        let stamps = late_us.iter().enumerate().map(stamp).collect();
        let seen = Usage { cpu: Duration::from_millis(100), ..Usage::default() };
        let window = Duration::from_secs(2);
        sample(Play { states: &states, stamps, fps: 50.0, window, shared: false, seen })
    }

    #[test]
    fn errors_count_from_the_earliest_of_the_first_states() {
        // The first of all is itself late, and a later one earlier than any of the first.
        let mut late = vec![300; 600];
        (late[0], late[10], late[500]) = (900, 100, -50);
        let (sample, marks) = sample_of(&late, 1);
        let error = |nth: usize| sample.arrivals[nth].error_us;
        assert_eq!((error(0), error(10), error(11), error(500)), (800.0, 0.0, 200.0, -150.0));
        assert_eq!(sample.arrivals[500].due_ms, 10_000.0);
        let metric = |name: &str| sample.metrics[name];
        assert_eq!(
            (metric("error_p50_us"), metric("error_p99_us"), metric("error_max_us")),
            (200.0, 200.0, 800.0)
        );
        assert_eq!(
            (metric("error_last_us"), metric("missed_frames"), metric("cpu_cores")),
            (200.0, 0.0, 0.05)
        );
        assert_eq!(marks, []);
        let known = metrics().around([]);
        let is_known = |name: &String| known.iter().any(|metric| metric.name == *name);
        assert!(sample.metrics.keys().all(is_known), "{:?}", sample.metrics);
    }

    /// At 50 frames a second a frame is 20 ms.
    #[test]
    fn what_is_off_by_a_part_of_a_frame_misses_it_from_that_part_of_its_beginnings() {
        let share = |late: &[i64]| sample_of(late, 1).0.metrics["landed_share"];
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
        assert!(close(share(&[0; 600]), 1.0));
        assert!(close(share(&[7_000; 600]), 1.0), "all alike: the player begins earlier");
        let one_off = |by: i64| {
            let mut late = vec![0; 600];
            late[300] = by;
            share(&late) * 600.0 - 599.0
        };
        for (by, landed) in [(5_000, 0.75), (-5_000, 0.75), (19_000, 0.05), (20_000, 0.0), (-90_000, 0.0)] {
            assert!((one_off(by) - landed).abs() < 1e-6, "{by}: {}", one_off(by));
        }
        // From a frame's length on, one that drifts lands on none.
        let drifting: Vec<i64> = (0..600).map(|nth| nth * 1_000).collect();
        assert!((share(&drifting) - 20.0 / 600.0).abs() < 0.001, "{}", share(&drifting));
    }

    #[test]
    fn a_perfect_player_behind_an_adapter_loses_a_quarter_of_its_jitter() {
        let began = Instant::now();
        let at = |nth: u32| Duration::from_millis(20) * nth;
        let states: Vec<Due> = (0..6000).map(|nth| Due { at: at(nth), state: String::new() }).collect();
        for jitter_ms in [0, 4, 10, 20] {
            let stamp = |nth| Stamp { came: began + at(nth), unseen: Duration::ZERO };
            let stamps = behind((0..6000).map(stamp).collect(), Duration::from_millis(jitter_ms));
            let window = Duration::from_secs(120);
            let play =
                Play { states: &states, stamps, fps: 50.0, window, shared: false, seen: Usage::default() };
            let share = sample(play).0.metrics["landed_share"];
            // The median of the first 60 frames is off by up to a quarter of the jitter.
            let expected = 1.0 - jitter_ms as f64 / 20.0 / 4.0;
            let most_off = jitter_ms as f64 / 20.0 / 12.0;
            assert!((share - expected).abs() <= most_off, "{jitter_ms}: {share}");
        }
    }

    #[test]
    fn a_percentile_takes_states_beyond_it() {
        let (sample, _) = sample_of(&[0; 500], 1);
        assert!(sample.metrics.contains_key("error_p99_us"));
        assert_eq!(sample.needs["error_p99_9_us"], 4500);
        let (sample, _) = sample_of(&[0; 499], 1);
        assert_eq!(sample.needs["error_p99_us"], 1);
    }

    #[test]
    fn a_recorder_that_did_not_look_casts_doubt() {
        let mut late: Vec<i64> = (0..600).map(|nth| i64::from(nth % 2 == 0) * 500).collect();
        assert_eq!(sample_of(&late, 49).1, []);
        assert_eq!(sample_of(&late, 51).1, [Mark::RecorderLate]);
        late.fill(0);
        assert_eq!(sample_of(&late, 9).1, [], "nobody can look more often");
    }

    #[test]
    fn drift_is_seen_at_the_end() {
        let drifting: Vec<i64> = (0..600).map(|nth| nth * 100).collect();
        let (sample, _) = sample_of(&drifting, 1);
        assert_eq!(sample.metrics["error_first_us"], 2950.0);
        assert_eq!(sample.metrics["error_last_us"], 56_950.0);
        assert_eq!(sample.metrics["missed_frames"], 400.0);
    }
}
