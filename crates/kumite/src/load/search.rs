//! `kumite load --find-rate`: the highest rate that meets an objective.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_compare::{RateRules, Slo, find_rate, is_of_sessions};
use kumite_load::Load;
use kumite_record::{RateTrial, SearchEnd};

use super::files::Files;
use super::rate_failure::failure;
use crate::exit::Failure;
use crate::output;
use crate::progress::Progress;

const DEFAULT_TRIAL: Duration = Duration::from_secs(2);
const DEFAULT_BUDGET: Duration = Duration::from_secs(180);

/// A search for the highest rate, as it was asked for on the command line.
pub struct Search<'a> {
    pub slo: &'a Slo,
    pub url: String,
    /// The length of a trial; `None` for 2 s.
    pub duration: Option<Duration>,
    /// The time of the whole search; `None` for 3 min.
    pub budget: Option<Duration>,
}

impl Search<'_> {
    pub fn run(self, load: &Load, files: &Files, stop: &AtomicBool) -> Result<(), Failure> {
        let rules = RateRules {
            trial: self.duration.unwrap_or(DEFAULT_TRIAL),
            budget: self.budget.unwrap_or(DEFAULT_BUDGET),
            seed: 1,
            command: output::command_line(),
            url: self.url,
        };
        let of_sessions = is_of_sessions(load);
        let progress = Progress::new(0);
        let mut watch =
            |trial: &RateTrial| progress.note(&kumite_report::rate_trial_line(trial, of_sessions));
        let found = find_rate(load, self.slo, &rules, stop, &mut watch);
        progress.clear();
        let found = found.map_err(failure)?;
        files.write(
            &found,
            &|| kumite_report::found_rate_terminal(&found, &output::style()),
            &|| kumite_report::found_rate_markdown(&found),
            &|| kumite_report::found_rate_html(&found),
        )?;
        ended(found.ended, self.slo)
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
