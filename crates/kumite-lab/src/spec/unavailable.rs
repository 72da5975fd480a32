//! Points that this machine cannot measure.

use kumite_record::{Cores, Unavailable};

use super::Experiment;

impl Experiment {
    /// The points that cannot be measured with these CPUs and on this system, in their order, and why.
    pub fn unavailable(&self, available: &Cores) -> Vec<Unavailable> {
        let unavailable = |point| {
            let workload = self.workload(&point).ok()?;
            let parameters = self.parameters(&point);
            let cores = workload.cores().given(available).err();
            let service = || self.services.values().find_map(|service| service.unavailable(&parameters));
            let why = cores.or_else(service);
            Some(Unavailable { point, why: why? })
        };
        self.points().into_iter().filter_map(unavailable).collect()
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
