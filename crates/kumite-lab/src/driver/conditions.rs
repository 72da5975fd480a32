//! What an experiment's trials are made of.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_judge::Derived;

use super::{Answer, Planned};
use crate::halt::Halt;
use crate::node::Nodes;
use crate::service::{ServiceSpec, Services};

/// What an experiment's trials are made of.
#[derive(Clone, Debug)]
pub(crate) struct Conditions<'a> {
    /// The experiment's folder.
    pub folder: &'a Path,
    /// What a contender should answer.
    pub answer: &'a Answer,
    /// The points of the plan.
    pub planned: &'a [Planned],
    /// Which of them this machine can measure.
    pub measurable: Vec<bool>,
    /// Metrics of the experiment's own.
    pub derived: &'a Derived,
    /// What runs beside contenders, by name.
    pub services: &'a BTreeMap<String, ServiceSpec>,
    /// Which node has which role.
    pub nodes: Nodes,
}

impl<'a> Conditions<'a> {
    /// The points that this machine can measure.
    pub fn measurable(&self) -> impl Iterator<Item = &'a Planned> {
        self.planned.iter().zip(&self.measurable).filter(|(_, can_be)| **can_be).map(|(planned, _)| planned)
    }

    /// The services, started once and ended at the first point: what is wrong with them is then said once, and before the
    /// first trial. Their logs go to `logs`.
    pub fn rehearsed(&self, cores: &[usize], logs: &Path, stop: &AtomicBool) -> Result<Services<'a>, Halt> {
        let services = Services::find(self.services, &self.nodes, cores, &logs.join("services.log"), stop)?;
        if let Some(planned) = self.measurable().next() {
            services.start(&planned.parameters, &logs.join("rehearsal.log"), stop)?.end()?;
        }
        Ok(services)
    }
}
