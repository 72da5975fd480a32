//! The lines that are shown while a load goes on: throughput, response times, failures, and what the engine has left.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use kumite_load::{Interval, LastSecond};
use kumite_report::time_us;

use crate::output;

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// How the load will end.
pub struct End {
    pub requests: Option<u64>,
    pub duration: Option<Duration>,
    /// Threads of the engine.
    pub threads: usize,
}

/// Lines that are drawn anew on a terminal; elsewhere a plain line for each second.
pub struct Live {
    bar: Option<ProgressBar>,
    end: End,
    last: LastSecond,
}

impl Live {
    pub fn new(end: End) -> Live {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Live { bar, end, last: LastSecond::default() }
    }

    /// A tenth of a second is over.
    pub fn add(&mut self, interval: &Interval) {
        self.last.add(interval);
        match &self.bar {
            Some(bar) => bar.set_message(format!("{}\n{}", line(&self.last, &self.end), past(&self.last))),
            None if self.last.is_whole() => output::note(&line(&self.last, &self.end)),
            None => {}
        }
    }

    /// Takes it off the screen.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The last second: how far, how much, how fast, how many failed, how much of the engine is left.
fn line(last: &LastSecond, end: &End) -> String {
    let Some(latest) = last.latest() else { return String::new() };
    let elapsed = (latest.start_ms + 100) as f64 / 1e3;
    let place = match (end.requests, end.duration) {
        _ if latest.start_ms < 0 => "warming up".to_owned(),
        (Some(all), _) => format!("{}/{all} requests", last.done),
        (None, Some(limit)) if elapsed > limit.as_secs_f64() + 0.05 => "draining".to_owned(),
        (None, Some(limit)) => format!("{elapsed:.0}/{:.0} s", limit.as_secs_f64()),
        (None, None) => format!("{elapsed:.0} s"),
    };
    let backlog = match last.backlog() {
        0 => String::new(),
        waiting => format!(", {waiting} waiting to be sent"),
    };
    let times = match last.ok() {
        0 => String::new(),
        _ => format!(", p50 {}, p99 {}", time_us(latest.p50_us), time_us(last.p99_us())),
    };
    let busy = last.engine_busy() / end.threads as f64 * 100.0;
    format!("{place}; {:.0}/s{times}, {} errors{backlog}; engine {busy:.0} % busy", last.rate(), last.errors,)
}

/// The seconds before: throughput, and 99th percentiles.
fn past(last: &LastSecond) -> String {
    let rates = bars(last.past().map(|(ok, _)| ok as f64));
    let times = bars(last.past().map(|(_, p99)| p99));
    format!("  answers/s {rates}\n  p99       {times}")
}

/// A bar for each value, from nothing to the largest.
fn bars(values: impl Iterator<Item = f64> + Clone) -> String {
    let most = values.clone().fold(0.0, f64::max);
    let level = |value: f64| (value / most * (LEVELS.len() - 1) as f64).round() as usize;
    values.map(|value| LEVELS[if most > 0.0 { level(value) } else { 0 }]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(start_ms: i64, ok: u64, errors: u64) -> Interval {
        Interval {
            start_ms,
            ok,
            errors,
            p50_us: 120.0,
            p99_us: 2_500.0,
            engine_cpu_s: 0.02,
            ..Interval::default()
        }
    }

    #[test]
    fn a_line_is_of_the_last_second() {
        let end = End { requests: None, duration: Some(Duration::from_secs(10)), threads: 2 };
        let mut last = LastSecond::default();
        last.add(&interval(-100, 5, 1));
        assert_eq!(
            line(&last, &end),
            "warming up; 50/s, p50 120 µs, p99 2.50 ms, 0 errors; engine 10 % busy"
        );
        for tenth in 0..30 {
            last.add(&interval(tenth * 100, 7, u64::from(tenth == 3)));
        }
        last.add(&Interval { backlog: 3, ..interval(3_000, 7, 0) });
        assert_eq!(
            line(&last, &end),
            "3/10 s; 70/s, p50 120 µs, p99 2.50 ms, 1 errors, 3 waiting to be sent; engine 10 % busy"
        );
        let requests = End { requests: Some(500), duration: None, threads: 2 };
        assert!(line(&last, &requests).starts_with("218/500 requests; "), "{}", line(&last, &requests));
    }

    #[test]
    fn bars_reach_from_nothing_to_the_largest() {
        assert_eq!(bars([0.0, 1.0, 7.0, 3.5].into_iter()), "▁▂█▅");
        assert_eq!(bars([0.0, 0.0].into_iter()), "▁▁");
    }
}
