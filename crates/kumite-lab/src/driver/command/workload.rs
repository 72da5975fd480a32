//! The workload of kind command: how often a command is run in a trial, and with what.

use std::time::Duration;

use kumite_host::{AskedCores, WantedCores};

use super::params::PARAMS;
use crate::driver::Workload;
use crate::parameter::{Parameters, Params};
use crate::unfit::Unfit;

/// The workload of a trial of a command.
#[derive(Clone, Debug)]
pub(super) struct CommandWorkload {
    /// The number of runs that are measured.
    pub runs: usize,
    /// The number of warm-up runs before the measured ones, which count in no figure.
    pub warm_up_runs: usize,
    /// The command that makes the files which the runs need. It is run once in each trial, and not measured. None if
    /// no files are needed.
    pub setup: Option<String>,
    /// The longest time that a run may take, and that the set-up may.
    pub timeout: Duration,
    /// The number of CPUs that a run is given.
    pub cores: AskedCores,
}

impl CommandWorkload {
    /// Reads the workload from these parameters. An error if one of them has a wrong value.
    pub fn new(parameters: &Parameters) -> Result<CommandWorkload, Unfit> {
        let take = Params { given: parameters, declared: PARAMS };
        Ok(CommandWorkload {
            runs: take.count("runs")?,
            warm_up_runs: take.count("warm_up_runs")?,
            setup: Some(take.text("setup")?.to_owned()).filter(|setup| !setup.is_empty()),
            timeout: take.time("timeout_s")?,
            cores: take.cores("cores")?,
        })
    }

    /// The same workload with one run and no warm-up.
    pub fn once(self) -> CommandWorkload {
        CommandWorkload { runs: 1, warm_up_runs: 0, ..self }
    }
}

impl Workload for CommandWorkload {
    fn cores(&self) -> WantedCores {
        WantedCores { param: "cores", asked: self.cores, may_share: true }
    }
}

#[cfg(test)]
mod tests {
    use kumite_record::AxisValue;

    use super::*;

    fn workload(given: &[(&str, AxisValue)]) -> Result<CommandWorkload, Unfit> {
        CommandWorkload::new(&given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    }

    #[test]
    fn without_parameters_a_trial_is_one_run_on_one_cpu() {
        let workload = workload(&[]).unwrap();
        assert_eq!((workload.runs, workload.warm_up_runs, workload.setup), (1, 0, None));
        assert_eq!((workload.timeout.as_secs(), workload.cores), (60, AskedCores::Count(1)));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let cases = [
            ("runs", AxisValue::Int(0), "runs is a whole number from 1 to 1000, not 0"),
            ("setup", AxisValue::Bool(true), "setup is text, not true"),
            ("timeout_s", AxisValue::Int(0), "timeout_s is a number from 0.1 to 86400, not 0"),
        ];
        for (name, value, expected) in cases {
            assert_eq!(workload(&[(name, value)]).unwrap_err().to_string(), expected);
        }
    }
}
