//! A program whose work is known to the step, and how much of it takes how long here.

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use kumite_stats::median;

/// Runs of each length that calibrate.
const RUNS: usize = 15;
/// The steps of the runs that calibrate: about 60 ms on the machine this was written on.
const STEPS: u64 = 30_000_000;

/// Does so many steps.
pub fn spin(steps: u64) {
    let mut x: u64 = 88_172_645_463_325_252;
    for _ in 0..steps {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x = black_box(x);
    }
}

/// How long this program takes to start, and for a step, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    start: f64,
    step: f64,
}

impl Pace {
    /// That of a program that takes its steps as the last of its arguments: by some runs of each of two lengths, in turn.
    pub fn measured(program: &Path, arguments: &[&str]) -> Result<Pace> {
        let time = |steps: u64| -> Result<f64> {
            let began = Instant::now();
            let mut spin = Command::new(program);
            spin.args(arguments).arg(steps.to_string()).stdin(Stdio::null()).stdout(Stdio::null());
            let status = spin.status()?;
            ensure!(status.success(), "{} {steps}: {status}", program.display());
            Ok(began.elapsed().as_secs_f64())
        };
        let (mut empty, mut full) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            empty.push(time(0)?);
            full.push(time(STEPS)?);
        }
        let start = median(&empty).context("no run")?;
        let step = (median(&full).context("no run")? - start) / STEPS as f64;
        ensure!(step > 0.0, "{STEPS} steps take no longer than none: take a quiet machine");
        Ok(Pace { start, step })
    }

    /// The steps that take so many seconds, with the start.
    pub fn steps(self, seconds: f64) -> Result<u64> {
        let steps = (seconds - self.start) / self.step;
        ensure!(steps >= 1_000.0, "{seconds} s are too short: the start takes {:.4} s", self.start);
        Ok(steps as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_percent_more_time_is_more_than_one_percent_more_steps() {
        let pace = Pace { start: 0.001, step: 1e-9 };
        assert_eq!(
            (pace.steps(0.101).unwrap(), pace.steps(0.101 * 1.01).unwrap()),
            (100_000_000, 101_010_000)
        );
        assert!(pace.steps(0.001).is_err());
    }
}
