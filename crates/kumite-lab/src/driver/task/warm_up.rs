//! The end of a worker's warm-up.

use std::time::Duration;

use kumite_record::Job;
use kumite_stats::Better;

use super::params::MOST_JOBS;
use super::workload::TaskWorkload;
use crate::driver::warm_up::{Evidence, WarmUpTime};

/// The warm-up of a worker. After each job it says whether another one is to be given.
pub(super) struct WarmUp {
    iterations: usize,
    time: WarmUpTime,
    times_ms: Vec<f64>,
    evidence: Evidence,
    is_steady: bool,
    settled: bool,
}

impl WarmUp {
    pub fn new(workload: &TaskWorkload) -> WarmUp {
        WarmUp {
            iterations: workload.warm_up_iterations,
            time: workload.warm_up,
            times_ms: Vec::new(),
            evidence: Evidence::new(Better::Smaller),
            is_steady: false,
            settled: !workload.warm_up.by_evidence(),
        }
    }

    /// True if the warm-up is over once `given` jobs were given and this time has passed. `answered` has the jobs in
    /// the order in which they were given, up to the first that has no answer yet.
    pub fn is_over(&mut self, given: usize, answered: &[Job], passed: Duration) -> bool {
        if given >= MOST_JOBS as usize {
            return true;
        }
        if !self.settled {
            self.times_ms.extend(answered[self.times_ms.len()..].iter().map(|job| job.elapsed_ms));
            self.is_steady = self.evidence.is_steady(&self.times_ms);
        }
        if given < self.iterations || passed < self.time.least {
            return false;
        }
        self.settled |= self.is_steady;
        self.settled || passed >= self.time.most
    }

    /// True if evidence of a steady state was asked for, and a limit of time or jobs came first.
    pub fn is_unsettled(&self) -> bool {
        !self.settled
    }
}

#[cfg(test)]
mod tests {
    use kumite_record::AxisValue;

    use super::*;

    /// The number of jobs after which a warm-up is over, and whether it was settled. The jobs are given one at a
    /// time, and take these times in ms.
    fn over(given: &[(&str, i64)], times_ms: impl Fn(usize) -> f64) -> (usize, bool) {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), AxisValue::Int(*value))).collect();
        let mut warm_up = WarmUp::new(&TaskWorkload::new(&given).unwrap());
        let (mut jobs, mut passed_ms) = (Vec::new(), 0.0);
        while !warm_up.is_over(jobs.len(), &jobs, Duration::from_secs_f64(passed_ms / 1e3)) {
            let elapsed_ms = times_ms(jobs.len());
            passed_ms += elapsed_ms;
            jobs.push(Job { elapsed_ms, ..Job::default() });
        }
        (jobs.len(), !warm_up.is_unsettled())
    }

    #[test]
    fn without_parameters_there_is_no_warm_up() {
        assert_eq!(over(&[], |_| 10.0), (0, true));
    }

    #[test]
    fn time_and_iterations_are_both_waited_for() {
        assert_eq!(over(&[("warm_up_iterations", 7)], |_| 10.0), (7, true));
        assert_eq!(over(&[("warm_up_s", 1)], |_| 300.0), (4, true));
        assert_eq!(over(&[("warm_up_s", 1), ("warm_up_iterations", 7)], |_| 300.0), (7, true));
        assert_eq!(over(&[("warm_up_s", 3600)], |_| 0.01), (100_000, true));
    }

    #[test]
    fn jobs_that_get_faster_are_given_until_they_do_no_more() {
        let (jobs, settled) = over(&[("warm_up_limit_s", 600)], |nth| 10.0 + (60 - nth.min(60)) as f64);
        assert!(settled && (90..=190).contains(&jobs), "{jobs}");
        assert_eq!(over(&[("warm_up_limit_s", 600)], |_| 10.0), (38, true));
        assert_eq!(over(&[("warm_up_limit_s", 600), ("warm_up_s", 100)], |_| 1000.0), (100, true));
    }

    #[test]
    fn jobs_that_never_settle_are_given_until_the_limit() {
        // 1 to 200 ms are 20.1 s.
        assert_eq!(over(&[("warm_up_limit_s", 20)], |nth| (nth + 1) as f64), (200, false));
        assert_eq!(over(&[("warm_up_limit_s", 20)], |_| 5000.0), (4, false), "too few to tell");
    }
}
