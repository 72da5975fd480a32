//! The flags of `kumite load` that ask about an objective: if it is met at a rate, or the highest rate at which it is.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_compare::{RateError, Slo, SloRules, fewest_loads, is_of_sessions, meets};
use kumite_load::Load;
use kumite_record::{GateBar, RateTrial, SloEnd, SloGate, SloResult};

use super::DEFAULT_DURATION;
use super::files::Files;
use super::rate_failure::failure;
use super::search::Search;
use crate::exit::Failure;
use crate::gate::Bar;
use crate::progress::Progress;
use crate::{duration, output};

/// The most loads without `--repeat`: of so many, three may differ from the others.
const DEFAULT_REPEAT: usize = 20;

#[derive(clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Objective")]
pub struct Args {
    /// Conditions that a load must meet, e.g. 'p99 < 10ms' or 'p50 < 2ms and p99.9 < 50ms and errors < 0.1%' [default for
    /// errors: none]; 'p95 of NAME < 20ms' is about one request of several, or one session. With -R the load is repeated until it is decided whether more than half of such loads meet them
    #[arg(long, value_name = "SLO", value_parser = Slo::parse)]
    slo: Option<Slo>,
    /// With --slo and -R: the most loads, each of -z [default: 20]
    #[arg(long, value_name = "N", requires = "slo", conflicts_with = "find_rate")]
    repeat: Option<usize>,
    /// With --slo and -R: exit with status 1 if it is shown that no more than half of such loads meet the objective; `holds`
    /// passes only if it is shown that more than half do
    #[arg(long, value_name = "WHICH", num_args = 0..=1, default_missing_value = "fails", require_equals = true, hide_possible_values = true, requires = "slo", conflicts_with = "find_rate")]
    gate: Option<Bar>,
    /// Search for the highest rate at which half of the loads of -z (default 2s) meet --slo
    #[arg(long, requires = "slo", conflicts_with_all = ["requests", "rate", "replay"])]
    find_rate: bool,
    /// Time of the whole search for a rate [default: 3m]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    budget: Option<Duration>,
}

impl Args {
    /// Refuses `--budget` without `--find-rate`; and, without `--find-rate`, an `--slo` without a rate or with a number
    /// of requests, and a `--repeat` of fewer loads than a decision takes. (clap does not ask for --find-rate if a flag
    /// is given that conflicts with it.)
    pub fn check(&self, is_rate_given: bool, is_count_given: bool) -> Result<(), Failure> {
        let usage = |what: String| Err(Failure::Usage(what));
        if self.budget.is_some() && !self.find_rate {
            return usage(
                "--budget needs --find-rate, in place of --rate, --requests and --replay".to_owned(),
            );
        }
        let Some(_) = self.slo.as_ref().filter(|_| !self.find_rate) else { return Ok(()) };
        if !is_rate_given {
            return usage(
                "--slo needs a rate at which it is judged (-R 500), or --find-rate to search for the highest"
                    .to_owned(),
            );
        }
        if is_count_given {
            return usage("--slo is judged over loads of a time: give -z in place of -n".to_owned());
        }
        match self.repeat.filter(|repeat| *repeat < fewest_loads()) {
            Some(repeat) => {
                usage(RateError::TooFewLoads { most: repeat, fewest: fewest_loads() }.to_string())
            }
            None => Ok(()),
        }
    }

    /// True if `--slo` is given: the result is then an answer about the objective, and no figures of a single load.
    pub fn is_given(&self) -> bool {
        self.slo.is_some()
    }

    pub fn is_search(&self) -> bool {
        self.find_rate
    }

    /// Judges the objective at the load's rate, or with `--find-rate` searches for the highest rate that meets it, and
    /// writes the result. An error if this is interrupted or gives no answer, if no rate meets the objective, or if the
    /// gate does not let it pass. Does nothing without `--slo`.
    pub fn run(
        &self,
        url: String,
        load: &Load,
        duration: Option<Duration>,
        files: &Files,
        stop: &AtomicBool,
    ) -> Result<(), Failure> {
        let Some(slo) = &self.slo else { return Ok(()) };
        if self.find_rate {
            return Search { slo, url, duration, budget: self.budget }.run(load, files, stop);
        }
        let rules = SloRules {
            load: duration.unwrap_or(DEFAULT_DURATION),
            most: self.repeat.unwrap_or(DEFAULT_REPEAT),
            command: output::command_line(),
            url,
        };
        let of_sessions = is_of_sessions(load);
        let progress = Progress::new(0);
        let mut nth = 0;
        let mut watch = |trial: &RateTrial| {
            nth += 1;
            let line = kumite_report::rate_trial_line(trial, of_sessions);
            progress.note(&format!("load {nth} of at most {}: {line}", rules.most));
        };
        let judged = meets(load, slo, &rules, stop, &mut watch);
        progress.clear();
        let mut result = judged.map_err(failure)?;
        result.gate = self.gate.map(|bar| SloGate { passes: bar.into(), state: result.verdict.gate() });
        files.write(
            &result,
            &|| kumite_report::slo_terminal(&result, &output::style()),
            &|| kumite_report::slo_markdown(&result),
            &|| kumite_report::slo_html(&result),
        )?;
        if let Some(line) = kumite_report::slo_gate(&result).filter(|_| !files.is_on_terminal()) {
            output::note(&line);
        }
        ended(&result)
    }
}

/// The outcome of the command by its result: a verdict is a finding, and an error only by a gate.
fn ended(result: &SloResult) -> Result<(), Failure> {
    if result.ended == SloEnd::Interrupted {
        return Err(Failure::Incomplete("it was interrupted".to_owned()));
    }
    if result.met + result.unmet == 0 {
        return Err(Failure::Incomplete("no load says anything about the server".to_owned()));
    }
    let passes = result.gate.is_none_or(|gate: SloGate| GateBar::passes(gate.passes, gate.state));
    if passes { Ok(()) } else { Err(Failure::Shut) }
}

#[cfg(test)]
mod tests {
    use kumite_record::{SCHEMA, SloVerdict};

    use super::*;

    #[test]
    fn a_verdict_is_a_status_by_a_gate_alone() {
        let status = |verdict: SloVerdict, ended_by, passes: Option<GateBar>| {
            let result = SloResult {
                schema: SCHEMA,
                command: String::new(),
                url: String::new(),
                slo: String::new(),
                rate_rps: 1.0,
                of_sessions: false,
                connections: 1,
                load_s: 1.0,
                seconds: 5.0,
                repeat: 6,
                alpha: 0.05,
                verdict,
                ended: ended_by,
                met: 5,
                unmet: 0,
                void: 0,
                wealth_holds: 1.0,
                wealth_fails: 1.0,
                gate: passes.map(|passes| SloGate { passes, state: verdict.gate() }),
                loads: Vec::new(),
            };
            match ended(&result) {
                Ok(()) => 0,
                Err(Failure::Shut) => 1,
                Err(_) => 3,
            }
        };
        let of = |passes| {
            [SloVerdict::Holds, SloVerdict::Undecided, SloVerdict::Fails]
                .map(|verdict| status(verdict, SloEnd::Decided, passes))
        };
        assert_eq!(of(None), [0, 0, 0]);
        assert_eq!(of(Some(GateBar::Fails)), [0, 0, 1]);
        assert_eq!(of(Some(GateBar::Holds)), [0, 1, 1]);
        assert_eq!(status(SloVerdict::Undecided, SloEnd::Interrupted, None), 3);
    }
}
