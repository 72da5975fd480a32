//! `kumite load --find-rate`: the highest rate that meets an SLO.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_compare::{FindRateError, RateRules, Slo, find_rate};
use kumite_load::Load;
use kumite_record::{RateTrial, SearchEnd};

use crate::exit::Failure;
use crate::progress::Progress;
use crate::{duration, output};

const DEFAULT_TRIAL: Duration = Duration::from_secs(2);
const DEFAULT_BUDGET: Duration = Duration::from_secs(180);

#[derive(clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Search")]
pub struct Args {
    /// Search for the highest rate at which trials of -z (default 2s) meet --slo
    #[arg(long, requires = "slo", conflicts_with_all = ["requests", "rate", "replay"])]
    find_rate: bool,
    /// Conditions that a trial must meet, e.g. 'p99 < 10ms' or 'p50 < 2ms and p99.9 < 50ms and errors < 0.1%' [default for
    /// errors: none]
    #[arg(long, value_name = "SLO", requires = "find_rate", value_parser = Slo::parse)]
    slo: Option<Slo>,
    /// Time of the whole search [default: 3m]
    #[arg(long, value_name = "TIME", requires = "find_rate", value_parser = duration::parse)]
    budget: Option<Duration>,
}

impl Args {
    /// Refuses flags that are for a search alone. clap does not ask for --find-rate if something is given that
    /// conflicts with it.
    pub fn check(&self) -> Result<(), Failure> {
        let given = [("--slo", self.slo.is_some()), ("--budget", self.budget.is_some())];
        match given.iter().find(|(_, given)| *given && !self.find_rate) {
            Some((flag, _)) => Err(Failure::Usage(format!(
                "{flag} needs --find-rate, in place of --rate, --requests and --replay"
            ))),
            None => Ok(()),
        }
    }

    pub fn slo(&self) -> Option<&Slo> {
        self.slo.as_ref()
    }

    pub fn run(
        &self,
        url: String,
        load: &Load,
        slo: &Slo,
        duration: Option<Duration>,
        json: &Option<PathBuf>,
        stop: &AtomicBool,
    ) -> Result<(), Failure> {
        let rules = RateRules {
            trial: duration.unwrap_or(DEFAULT_TRIAL),
            budget: self.budget.unwrap_or(DEFAULT_BUDGET),
            seed: 1,
            command: output::command_line(),
            url,
        };
        let progress = Progress::new(0);
        let mut watch = |trial: &RateTrial| progress.note(&kumite_report::rate_trial_line(trial));
        let found = find_rate(load, slo, &rules, stop, &mut watch);
        progress.clear();
        let found = found.map_err(|error| match error {
            FindRateError::Recorded | FindRateError::Timeout { .. } => Failure::Usage(error.to_string()),
            FindRateError::NoAnswer { .. } => Failure::Gate(error.to_string()),
            FindRateError::Load(_) => Failure::Incomplete(error.to_string()),
        })?;
        output::report_or_json(json, &found, || {
            kumite_report::found_rate_terminal(&found, &output::style())
        })?;
        ended(found.ended, slo)
    }
}

fn ended(end: SearchEnd, slo: &Slo) -> Result<(), Failure> {
    match end {
        SearchEnd::Found => Ok(()),
        SearchEnd::NeverMet => Err(Failure::Gate(format!("no rate was found that meets {slo}"))),
        SearchEnd::EngineLimit => Err(Failure::Incomplete("the load engine was the limit".to_owned())),
        SearchEnd::OutOfTime => {
            Err(Failure::Incomplete("the budget was spent: give more with --budget".to_owned()))
        }
        SearchEnd::Interrupted => Err(Failure::Incomplete("it was interrupted".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_search_ends_is_its_exit_status() {
        let slo = Slo::parse("p50 < 1ms").unwrap();
        let of = |end| ended(end, &slo).err();
        assert!(of(SearchEnd::Found).is_none());
        let never = of(SearchEnd::NeverMet);
        let never = never.as_ref().map(ToString::to_string);
        assert_eq!(never.as_deref(), Some("no rate was found that meets p50 < 1ms and errors = 0"));
        assert!(matches!(of(SearchEnd::NeverMet), Some(Failure::Gate(_))));
        for end in [SearchEnd::EngineLimit, SearchEnd::OutOfTime, SearchEnd::Interrupted] {
            assert!(matches!(of(end), Some(Failure::Incomplete(_))), "{end:?}");
        }
    }
}
