//! The lines that are shown while a load goes on: throughput, response times, failures, and what the engine has left.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use kumite_load::{Interval, LastSecond};
use kumite_report::{LoadSecond, load_line, load_lines};

use crate::output;

/// The limits at which the load ends, and the size of its engine.
pub struct End {
    pub requests: Option<u64>,
    pub duration: Option<Duration>,
    /// The number of threads of the engine.
    pub threads: usize,
}

/// The lines on a load: drawn anew on a terminal; elsewhere a plain line for each second.
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

    /// Takes the next tenth of a second, and shows the lines when they are due.
    pub fn add(&mut self, interval: &Interval) {
        self.last.add(interval);
        let second = || second(&self.last, &self.end);
        match &self.bar {
            Some(bar) => bar.set_message(load_lines(&second())),
            None if self.last.is_whole() => output::note(&load_line(&second())),
            None => {}
        }
    }

    /// Takes the lines off the screen.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn second(last: &LastSecond, end: &End) -> LoadSecond {
    LoadSecond {
        start_ms: last.latest().map_or(0, |latest| latest.start_ms),
        requests: end.requests,
        duration: end.duration,
        done: last.done,
        errors: last.errors,
        rate: last.rate(),
        has_answers: last.ok() > 0,
        p50_us: last.latest().map_or(0.0, |latest| latest.p50_us),
        p99_us: last.p99_us(),
        backlog: last.backlog(),
        engine_busy: last.engine_busy() / end.threads as f64,
        past: last.past().collect(),
    }
}
