//! The lines that `kumite load` shows while it goes on.

use std::time::Duration;

use crate::words::quantity::time_us;

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The last second of a load, and what is known of the seconds before it.
#[derive(Clone, Debug, Default)]
pub struct LoadSecond {
    /// The beginning of the last tenth of a second, in ms from the start of counting; negative during the warm-up.
    pub start_ms: i64,
    /// The number of requests after which the load ends; none if there is no such limit.
    pub requests: Option<u64>,
    /// The time after which the load ends; none if there is no such limit.
    pub duration: Option<Duration>,
    /// Requests since the warm-up, right or failed.
    pub done: u64,
    /// Requests since the warm-up that failed.
    pub errors: u64,
    /// Right answers a second, in the last second.
    pub rate: f64,
    /// True if any right answer came in the last second.
    pub has_answers: bool,
    /// The median response time of the last tenth of a second, in µs; 0 without an answer.
    pub p50_us: f64,
    /// The longest 99th percentile among the tenths of the last second, in µs; 0 without an answer.
    pub p99_us: f64,
    /// The most requests at a time that waited to be sent, in the last second.
    pub backlog: u64,
    /// The CPU time of the engine in the last second, as a share of what its threads could have, from 0 to 1.
    pub engine_busy: f64,
    /// The latest whole seconds, the oldest first: the right answers in each, and the longest 99th percentile of a
    /// tenth in µs.
    pub past: Vec<(u64, f64)>,
}

/// One line on a load, without a line feed: how far it is, its rate, response times and errors, and how busy the engine
/// is.
pub fn load_line(of: &LoadSecond) -> String {
    let elapsed = (of.start_ms + 100) as f64 / 1e3;
    let place = match (of.requests, of.duration) {
        _ if of.start_ms < 0 => "warming up".to_owned(),
        (Some(all), _) => format!("{}/{all} requests", of.done),
        (None, Some(limit)) if elapsed > limit.as_secs_f64() + 0.05 => "draining".to_owned(),
        (None, Some(limit)) => format!("{elapsed:.0}/{:.0} s", limit.as_secs_f64()),
        (None, None) => format!("{elapsed:.0} s"),
    };
    let backlog = match of.backlog {
        0 => String::new(),
        waiting => format!(", {waiting} waiting to be sent"),
    };
    let times = match of.has_answers {
        false => String::new(),
        true => format!(", p50 {}, p99 {}", time_us(of.p50_us), time_us(of.p99_us)),
    };
    let busy = of.engine_busy * 100.0;
    format!("{place}; {:.0}/s{times}, {} errors{backlog}; engine {busy:.0} % busy", of.rate, of.errors)
}

/// Three lines on a load, without a line feed at the end: that of [`load_line`], then bars of the rate and of the 99th
/// percentile, one for each of the latest whole seconds.
pub fn load_lines(of: &LoadSecond) -> String {
    let rates = bars(of.past.iter().map(|(ok, _)| *ok as f64));
    let times = bars(of.past.iter().map(|(_, p99)| *p99));
    format!("{}\n  answers/s {rates}\n  p99       {times}", load_line(of))
}

/// A character for each value, as high as its share of the largest one.
fn bars(values: impl Iterator<Item = f64> + Clone) -> String {
    let most = values.clone().fold(0.0, f64::max);
    let level = |value: f64| (value / most * (LEVELS.len() - 1) as f64).round() as usize;
    values.map(|value| LEVELS[if most > 0.0 { level(value) } else { 0 }]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(start_ms: i64) -> LoadSecond {
        LoadSecond {
            start_ms,
            done: 218,
            rate: 70.4,
            has_answers: true,
            p50_us: 120.0,
            p99_us: 2_500.0,
            engine_busy: 0.104,
            past: vec![(0, 1.0), (1, 1.0), (7, 2.0), (4, 0.0)],
            ..LoadSecond::default()
        }
    }

    #[test]
    fn a_line_says_how_far_it_is_by_what_ends_it() {
        let timed = |start_ms| LoadSecond { duration: Some(Duration::from_secs(10)), ..second(start_ms) };
        let rest = "70/s, p50 120 µs, p99 2.50 ms, 0 errors; engine 10 % busy";
        for (of, place) in [
            (timed(-100), "warming up"),
            (timed(2_900), "3/10 s"),
            (timed(10_100), "draining"),
            (second(2_900), "3 s"),
            (LoadSecond { requests: Some(500), ..timed(2_900) }, "218/500 requests"),
        ] {
            assert_eq!(load_line(&of), format!("{place}; {rest}"));
        }
    }

    #[test]
    fn a_line_has_times_and_a_backlog_only_where_there_are_some() {
        let silent = LoadSecond { has_answers: false, rate: 0.0, errors: 1, backlog: 3, ..second(900) };
        assert_eq!(load_line(&silent), "1 s; 0/s, 1 errors, 3 waiting to be sent; engine 10 % busy");
    }

    #[test]
    fn bars_reach_from_nothing_to_the_largest() {
        let lines = load_lines(&second(900));
        assert_eq!(lines.lines().skip(1).collect::<Vec<_>>(), ["  answers/s ▁▂█▅", "  p99       ▅▅█▁"]);
        assert_eq!(bars([0.0, 0.0].into_iter()), "▁▁");
    }
}
