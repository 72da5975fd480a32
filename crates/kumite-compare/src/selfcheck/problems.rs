//! The findings of a self-check that are worse than promised.

use kumite_record::{CpuCheck, EngineCheck, EngineFigure, FalseVerdicts, Problem, SelfCheck};

/// The faults of this machine that a user should know before trusting a result from it.
pub(super) fn problems(check: &SelfCheck) -> Vec<Problem> {
    let of_same = |what: &str, verdicts: &[FalseVerdicts]| -> Vec<Problem> {
        verdicts.iter().filter(|of| of.low > of.promised).map(|of| false_verdicts(what, of)).collect()
    };
    let both = [("commands", &check.commands), ("servers", &check.server)];
    let mut found: Vec<Problem> = both
        .iter()
        .flat_map(|(what, same)| same.iter().flat_map(|same| of_same(what, &same.false_verdicts)))
        .collect();
    found.extend(check.engine.iter().filter(|check| check.truthful == Some(false)).map(engine));
    found.extend(check.cpus.iter().filter(|check| check.elsewhere > 0).map(pinning));
    found
}

fn false_verdicts(what: &str, of: &FalseVerdicts) -> Problem {
    Problem {
        what: format!(
            "{} of {} comparisons of {what} with themselves found a difference in {}: more than {:.0} % would explain",
            of.false_verdicts,
            of.comparisons,
            of.metric,
            of.promised * 100.0
        ),
        means: format!("a verdict on {} is wrong more often here than it says", of.metric),
        remedy: "end what else runs and check again; if it stays so, the noise here goes by the order of runs, or \
                 kumite has a fault: report it with --json"
            .to_owned(),
    }
}

fn engine(check: &EngineCheck) -> Problem {
    let wrong = |figure: &&EngineFigure| !figure.agrees();
    let wrong: Vec<String> = check
        .figures
        .iter()
        .filter(wrong)
        .map(|of| format!("{} {:.0} and not {:.0}", of.name, of.engine, of.server))
        .collect();
    Problem {
        what: format!(
            "the load engine did not see what a server did ({}), {} times: {}",
            check.server,
            check.tries,
            wrong.join(", ")
        ),
        means: "response times and counts of servers are not to be believed here".to_owned(),
        remedy: "end what else runs and check again: an engine that does not get its CPU is late; if it stays so, \
                 report it with --json"
            .to_owned(),
    }
}

fn pinning(check: &CpuCheck) -> Problem {
    Problem {
        what: format!(
            "a thread that was kept to CPU {} was elsewhere in {} of {} looks",
            check.cpu, check.elsewhere, check.looks
        ),
        means: "contender and load engine may disturb each other, whatever a report says of their CPUs"
            .to_owned(),
        remedy: "see `kumite doctor`; in a container, give it CPUs of its own (--cpuset-cpus)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use kumite_record::SameTwice;

    use super::*;

    fn check(false_verdicts: FalseVerdicts, truthful: bool, elsewhere: u64) -> SelfCheck {
        SelfCheck {
            server: Some(SameTwice { false_verdicts: vec![false_verdicts], ..SameTwice::default() }),
            engine: vec![EngineCheck { truthful: Some(truthful), ..EngineCheck::default() }],
            cpus: vec![CpuCheck { looks: 10, elsewhere, ..CpuCheck::default() }],
            ..SelfCheck::default()
        }
    }

    fn verdicts(low: f64) -> FalseVerdicts {
        FalseVerdicts { low, promised: 0.05, metric: "throughput".into(), ..FalseVerdicts::default() }
    }

    #[test]
    fn figures_as_promised_have_no_problems() {
        assert_eq!(problems(&check(verdicts(0.05), true, 0)), []);
        assert_eq!(problems(&SelfCheck::default()), []);
    }

    #[test]
    fn each_problem_is_named_with_a_remedy() {
        let found = problems(&check(verdicts(0.051), false, 1));
        let begins =
            ["0 of 0 comparisons of servers", "the load engine did not see", "a thread that was kept"];
        assert_eq!(found.len(), begins.len());
        for (problem, begins) in found.iter().zip(begins) {
            assert!(problem.what.starts_with(begins), "{problem:?}");
            assert!(!problem.means.is_empty() && !problem.remedy.is_empty());
        }
    }
}
