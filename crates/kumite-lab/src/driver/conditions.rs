//! What an experiment's trials are made of.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_judge::Derived;
use kumite_record::Point;

use super::Answer;
use crate::halt::Halt;
use crate::node::Nodes;
use crate::parameter::{Parameters, at_point};
use crate::service::{ServiceSpec, Services};

/// What an experiment's trials are made of.
#[derive(Clone, Debug)]
pub(crate) struct Conditions<'a> {
    /// The experiment's folder.
    pub folder: &'a Path,
    /// What a contender should answer.
    pub answer: &'a Answer,
    /// Parameters of the workload that a point may take the place of.
    pub workload: &'a Parameters,
    /// The points that this machine can measure.
    pub points: Vec<Point>,
    /// Metrics of the experiment's own.
    pub derived: &'a Derived,
    /// What runs beside contenders, by name.
    pub services: &'a BTreeMap<String, ServiceSpec>,
    /// Which node has which role.
    pub nodes: Nodes,
}

impl<'a> Conditions<'a> {
    /// The parameters at a point.
    pub fn parameters(&self, point: &Point) -> Parameters {
        at_point(self.workload, point)
    }

    /// The services, started once and ended at the first point: what is wrong with them is then said once, and before the
    /// first trial. Their logs go to `logs`.
    pub fn rehearsed(&self, cores: &[usize], logs: &Path, stop: &AtomicBool) -> Result<Services<'a>, Halt> {
        let services = Services::find(self.services, &self.nodes, cores, &logs.join("services.log"), stop)?;
        if let Some(point) = self.points.first() {
            services.start(&self.parameters(point), &logs.join("rehearsal.log"), stop)?.end()?;
        }
        Ok(services)
    }
}
