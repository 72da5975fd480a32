//! The workload of kind task, typed once from its parameters.

use std::time::Duration;

use kumite_host::{AskedCores, WantedCores};
use serde_json::Value;

use super::params::PARAMS;
use crate::driver::Workload;
use crate::driver::scratch::{Scratch, ScratchPlace};
use crate::driver::warm_up::WarmUpTime;
use crate::error::Error;
use crate::parameter::{Parameters, Params, all_as_json};
use crate::unfit::Unfit;

/// The workload of a trial: which job is done, how often, and how long it may take.
#[derive(Clone, Debug)]
pub struct TaskWorkload {
    /// The least number of jobs of a process that are measured; 1 by default.
    pub iterations: usize,
    /// The least time that the measured jobs take together; no time by default.
    pub(crate) duration: Duration,
    /// The least number of warm-up jobs of a process, which count in no figure but `first_elapsed_ms` and
    /// `jobs_given`; none by default.
    pub warm_up_iterations: usize,
    /// The least and the most time that the warm-up jobs take together; no time by default.
    pub(crate) warm_up: WarmUpTime,
    /// The largest number of jobs in flight at a time; 1 by default.
    pub concurrency: usize,
    /// The longest time that a job may take; 60 s by default.
    pub timeout: Duration,
    /// The longest time until the worker answers its first hello; 30 s by default.
    pub ready: Duration,
    /// The number of CPUs that the worker is given; 1 by default.
    pub cores: AskedCores,
    /// True if the worker's files are kept in memory, false if on disk; false by default.
    pub(crate) scratch_in_memory: bool,
    /// All parameters, in the form in which a job is given them.
    pub params: Value,
}

impl TaskWorkload {
    /// Reads the workload from these parameters. An error if one of them has a wrong value.
    pub fn new(parameters: &Parameters) -> Result<TaskWorkload, Unfit> {
        let take = Params { given: parameters, declared: PARAMS };
        take.flag("events")?;
        Ok(TaskWorkload {
            iterations: take.count("iterations")?,
            duration: take.time("duration_s")?,
            warm_up_iterations: take.count("warm_up_iterations")?,
            warm_up: WarmUpTime::read(&take)?,
            concurrency: take.count("concurrency")?,
            timeout: take.time("timeout_s")?,
            ready: take.time("ready_s")?,
            cores: take.cores("cores")?,
            scratch_in_memory: take.word("scratch")? == 1,
            params: all_as_json(parameters),
        })
    }
}

impl TaskWorkload {
    /// Makes a folder for the worker's files, in memory or on disk.
    pub(super) fn scratch(&self, place: &ScratchPlace) -> Result<Scratch, Error> {
        if self.scratch_in_memory { Scratch::in_memory() } else { Scratch::new(place) }
    }
}

impl Workload for TaskWorkload {
    fn cores(&self) -> WantedCores {
        WantedCores { param: "cores", asked: self.cores, may_share: true }
    }
}

#[cfg(test)]
mod tests {
    use kumite_record::AxisValue;
    use serde_json::json;

    use super::*;

    fn workload(name: &str, value: AxisValue) -> Result<TaskWorkload, Unfit> {
        TaskWorkload::new(&[(name.to_owned(), value)].into())
    }

    #[test]
    fn all_parameters_go_to_the_contender() {
        let given = [
            ("delay_ms", AxisValue::Float(0.5)),
            ("iterations", AxisValue::Int(7)),
            ("events", AxisValue::Bool(true)),
        ];
        let given = given.map(|(name, value)| (name.to_owned(), value)).into();
        let workload = TaskWorkload::new(&given).unwrap();
        assert_eq!(workload.iterations, 7);
        assert_eq!(workload.params, json!({ "delay_ms": 0.5, "iterations": 7, "events": true }));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let cases = [
            ("iterations", AxisValue::Int(0), "iterations is a whole number from 1 to 100000, not 0"),
            ("concurrency", AxisValue::Float(0.5), "not 0.5"),
            ("timeout_s", AxisValue::Int(0), "timeout_s is a number from 0.1 to 86400, not 0"),
            ("cores", AxisValue::Text("some".into()), "cores is a number or \"all\", not \"some\""),
            ("events", AxisValue::Int(1), "events is true or false, not 1"),
            ("warm_up_s", AxisValue::Int(-1), "warm_up_s is a number from 0 to 3600, not -1"),
        ];
        for (name, value, expected) in cases {
            let found = workload(name, value).unwrap_err().to_string();
            assert!(found.contains(expected), "{found}");
        }
    }
}
