//! The CPUs that an experiment uses.

use kumite_record::Cores;

use crate::spec::Experiment;
use crate::toml_source::SpecError;

/// The CPUs that an experiment will use, out of the available ones. An error if no point of the experiment can be
/// measured with the available CPUs.
pub fn used_cores(experiment: &Experiment, available: &Cores) -> Result<Cores, SpecError> {
    let mut used = Cores { contender: Vec::new(), engine: available.engine.clone(), apart: available.apart };
    let unavailable = experiment.unavailable(available);
    for planned in &experiment.planned {
        if unavailable.iter().any(|other| other.point == planned.point) {
            continue;
        }
        used.contender.extend(planned.workload.cores().given(available)?.cores);
    }
    match unavailable.first() {
        Some(first) if used.contender.is_empty() => Err(SpecError::Usage(first.why.clone())),
        _ => {
            used.contender.sort_unstable();
            used.contender.dedup();
            Ok(used)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{Planned, Registration, function, http, task};

    fn experiment(kind: &Registration, name: &str, values: &str) -> Experiment {
        let text = format!("question = 'x'\nkind = '{}'\n[axes]\n{name} = {values}\n", kind.name);
        Experiment::from_text(&text, "quick", &["a"]).unwrap()
    }

    fn used(values: &str) -> Result<Vec<usize>, SpecError> {
        let available = Cores { contender: vec![0, 1, 2], engine: vec![3], apart: false };
        let experiment = experiment(&http::KIND, "server_cores", values);
        used_cores(&experiment, &available).map(|cores| cores.contender)
    }

    #[test]
    fn only_those_that_are_used_and_never_the_engine_s_unless_asked() {
        assert_eq!(used("[1]").unwrap(), vec![0]);
        assert_eq!(used("[1, 2]").unwrap(), vec![0, 1]);
        assert_eq!(used("[1, 'all']").unwrap(), vec![0, 1, 2, 3]);
        assert_eq!(used("[1, 4]").unwrap(), vec![0], "a point that cannot be measured needs none");
        assert_eq!(
            used("[4]").unwrap_err().to_string(),
            "server_cores = 4 cannot be had: beside the load engine's, kumite may use 3 here"
        );
    }

    fn given(kind: &Registration, name: &str, available: &Cores) -> Vec<(usize, bool)> {
        let experiment = experiment(kind, name, "[1, 'all']");
        let of = |planned: &Planned| planned.workload.cores().given(available).unwrap();
        experiment.planned.iter().map(of).map(|given| (given.cores.len(), given.shared)).collect()
    }

    #[test]
    fn sharing_is_known() {
        let two = Cores { contender: vec![0], engine: vec![1], apart: false };
        let one = Cores { contender: vec![0], engine: vec![0], apart: false };
        for (kind, name) in
            [(&http::KIND, "server_cores"), (&task::KIND, "cores"), (&function::KIND, "cores")]
        {
            assert_eq!(given(kind, name, &two), [(1, false), (2, true)]);
            assert_eq!(given(kind, name, &one), [(1, true), (1, true)], "one CPU");
        }
    }

    #[test]
    fn a_worker_may_have_the_engine_s_too() {
        let available = Cores { contender: vec![0], engine: vec![1], apart: false };
        let of = |values| {
            let experiment = experiment(&task::KIND, "cores", values);
            experiment.planned[0].workload.cores().given(&available)
        };
        assert_eq!(of("[2]"), Ok(kumite_host::GivenCores { cores: vec![0, 1], shared: true }));
        assert_eq!(of("[3]").unwrap_err().to_string(), "cores = 3 cannot be had: kumite may use 2 here");
    }
}
