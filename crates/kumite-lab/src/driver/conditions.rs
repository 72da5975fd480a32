//! The conditions that all trials of an experiment share, whatever its kind. They do not change between trials.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_judge::Derived;
use kumite_record::{Metric, Sample};

use super::{Answer, Planned};
use crate::halt::Halt;
use crate::node::Nodes;
use crate::service::{ServiceSpec, Services};

/// The parts of an experiment that trials of every kind depend on.
#[derive(Clone, Debug)]
pub(crate) struct Conditions<'a> {
    /// The folder of the experiment.
    pub folder: &'a Path,
    /// The answer that is right.
    pub answer: &'a Answer,
    /// The points of the plan.
    pub planned: &'a [Planned],
    /// For each point of the plan, true if this machine can measure it.
    pub measurable: Vec<bool>,
    /// The metrics of trials.
    pub metrics: &'a [Metric],
    /// The metrics of parts of trials.
    pub part_metrics: &'a [Metric],
    /// The metrics that the experiment declares itself.
    pub derived: &'a Derived,
    /// The services beside contenders, by name.
    pub services: &'a BTreeMap<String, ServiceSpec>,
    /// The nodes that have roles.
    pub nodes: Nodes,
}

impl<'a> Conditions<'a> {
    /// The name of the first figure in a sample whose metric is not declared. No claim could name such a figure, and no
    /// report would show it. `None` if the metrics of all figures are declared.
    pub fn undeclared<'s>(&self, sample: &'s Sample) -> Option<&'s String> {
        let unknown = |metrics: &'a [Metric]| {
            move |name: &&'s String| metrics.iter().all(|metric| metric.name != **name)
        };
        let of_parts = || sample.parts.iter().flat_map(|part| part.metrics.keys().chain(part.needs.keys()));
        let mut own = sample.metrics.keys().chain(sample.needs.keys());
        own.find(unknown(self.metrics)).or_else(|| of_parts().find(unknown(self.part_metrics)))
    }

    /// The points that this machine can measure.
    pub fn measurable(&self) -> impl Iterator<Item = &'a Planned> {
        self.planned.iter().zip(&self.measurable).filter(|(_, can_be)| **can_be).map(|(planned, _)| planned)
    }

    /// Finds the services, then starts and ends them once, with the parameters of the first point that this machine can
    /// measure, so that a fault in a service is an error before the first trial. Without such a point no service is
    /// started. The logs go to the folder `logs`.
    pub fn rehearsed(&self, cores: &[usize], logs: &Path, stop: &AtomicBool) -> Result<Services<'a>, Halt> {
        let services = Services::find(self.services, &self.nodes, cores, &logs.join("services.log"), stop)?;
        if let Some(planned) = self.measurable().next() {
            services.start(&planned.parameters, &logs.join("rehearsal.log"), stop)?.end()?;
        }
        Ok(services)
    }
}

#[cfg(test)]
mod tests {
    use kumite_record::{AxisValue, Cores, Needs, TrialPart};

    use super::*;
    use crate::spec::Experiment;

    #[test]
    fn a_figure_that_nobody_declares_is_named() {
        let text =
            "question = 'x'\nkind = 'function'\nmetrics.own = { value = 'worker', about = 'its own' }\n";
        let experiment = Experiment::from_text(text, "quick", &["a"]).unwrap();
        let (cores, stop) = (Cores::default(), AtomicBool::new(false));
        let of = experiment.opening(&cores, Path::new("."), "r", 0, &stop);
        let figures = |name: &str| [(name.to_owned(), 1.0)].into();
        let part = |name| TrialPart { at: AxisValue::Int(1), metrics: figures(name), needs: Needs::new() };
        let undeclared = |of_trial: &str, of_part| {
            let sample =
                Sample { metrics: figures(of_trial), parts: vec![part(of_part)], ..Sample::default() };
            of.conditions.undeclared(&sample).cloned()
        };
        assert_eq!(undeclared("warm_wall_ms", "cpu_ms"), None);
        assert_eq!(undeclared("own", "own"), None);
        assert_eq!(undeclared("cpu_ms", "cpu_ms").as_deref(), Some("cpu_ms"));
        assert_eq!(undeclared("warm_wall_ms", "warm_wall_ms").as_deref(), Some("warm_wall_ms"));
    }
}
