//! Points that this machine cannot measure.

use kumite_record::{Cores, Unavailable};

use super::Experiment;
use crate::driver::Planned;
use crate::service::ServiceSpec;

impl Experiment {
    /// The points that cannot be measured with these CPUs and on this system, in the order of the plan, each with the
    /// reason.
    pub fn unavailable(&self, available: &Cores) -> Vec<Unavailable> {
        let unavailable = |planned: &Planned| {
            let cores = planned.workload.cores().given(available).err().map(|why| why.to_string());
            let of_service = |service: &ServiceSpec| service.unavailable(&planned.parameters);
            let why = cores.or_else(|| self.services.values().find_map(of_service))?;
            Some(Unavailable { point: planned.point.clone(), why })
        };
        self.planned.iter().filter_map(unavailable).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_cpus_than_there_are() {
        let text = "question = 'x'\nkind = 'task'\n[axes]\ncores = [1, 2, 4]\n";
        let experiment = Experiment::from_text(text, "quick", &["a"]).unwrap();
        let found = experiment.unavailable(&Cores { contender: vec![0], engine: vec![1], apart: false });
        let [only] = &found[..] else { panic!("{found:?}") };
        assert_eq!(only.point.to_string(), "cores=4");
        assert_eq!(only.why, "cores = 4 cannot be had: kumite may use 2 here");
    }
}
