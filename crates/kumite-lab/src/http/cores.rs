//! Which CPUs a server is given.

use kumite_record::Cores;

use super::workload::{HttpWorkload, ServerCores};
use crate::place::SpecError;
use crate::spec::Experiment;

/// The CPUs that an experiment will use of those that may be used, or why they do not do.
pub fn used_cores(experiment: &Experiment, available: &Cores) -> Result<Cores, SpecError> {
    let mut used = Cores { contender: Vec::new(), engine: available.engine.clone() };
    for point in experiment.points() {
        let workload = experiment.http(&point).map_err(SpecError::Usage)?;
        if let ServerCores::Count(count) = workload.server_cores
            && count > available.contender.len()
        {
            return Err(SpecError::Usage(format!(
                "server_cores = {count} cannot be had: beside the load engine's, kumite may use {} here",
                available.contender.len()
            )));
        }
        used.contender.extend(server_cores(&workload, available).0);
    }
    used.contender.sort_unstable();
    used.contender.dedup();
    Ok(used)
}

/// The CPUs of the server in one trial, and whether the load engine shares them.
pub(crate) fn server_cores(workload: &HttpWorkload, available: &Cores) -> (Vec<usize>, bool) {
    let mut cores = available.contender.clone();
    match workload.server_cores {
        ServerCores::Count(count) => cores.truncate(count),
        ServerCores::All => {
            cores.extend(available.engine.iter().filter(|core| !available.contender.contains(core)));
        }
    }
    let shared = cores.iter().any(|core| available.engine.contains(core));
    (cores, shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str = "question = 'x'\nkind = 'http'\n[axes]\nserver_cores = VALUES\n";

    fn used(values: &str) -> Result<Vec<usize>, String> {
        let experiment = Experiment::from_text(&SPEC.replace("VALUES", values), "quick", &["a"]).unwrap();
        let available = Cores { contender: vec![0, 1, 2], engine: vec![3] };
        used_cores(&experiment, &available).map(|cores| cores.contender).map_err(|error| error.to_string())
    }

    #[test]
    fn only_those_that_are_used_and_never_the_engine_s_unless_asked() {
        assert_eq!(used("[1]"), Ok(vec![0]));
        assert_eq!(used("[1, 2]"), Ok(vec![0, 1]));
        assert_eq!(used("[1, 'all']"), Ok(vec![0, 1, 2, 3]));
        let refused = used("[4]").unwrap_err();
        assert!(
            refused.contains("server_cores = 4 cannot be had") && refused.contains("may use 3 here"),
            "{refused}"
        );
    }

    #[test]
    fn sharing_is_known() {
        let experiment =
            Experiment::from_text(&SPEC.replace("VALUES", "[1, 'all']"), "quick", &["a"]).unwrap();
        let shared = |available: &Cores| {
            let points = experiment.points();
            let of = |point| server_cores(&experiment.http(point).unwrap(), available).1;
            points.iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(shared(&Cores { contender: vec![0], engine: vec![1] }), [false, true]);
        assert_eq!(shared(&Cores { contender: vec![0], engine: vec![0] }), [true, true], "one CPU");
    }
}
