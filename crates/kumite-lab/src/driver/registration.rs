//! The registration of a kind of workload, and the opening of its driver.
//!
//! A kind is a folder in `driver/` and one `Registration` in `KINDS`. Other code asks the registration and names no
//! kind, except where only one kind is meant: servers on another node, `kumite load` and `kumite task`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_record::{AxisValue, Cores, Kind};

use super::{Answer, Conditions, Driver, Planned, ReadWorkload};
use crate::contender::Variant;
use crate::halt::Halt;
use crate::metrics::Metrics;
use crate::node::Nodes;
use crate::parameter::Param;

/// A kind of workload: its declarations, and the functions that make its parts.
#[derive(Debug)]
pub(crate) struct Registration {
    /// The word for the kind in files and reports.
    pub name: Kind,
    /// The noun for the kind's contenders, such as "servers".
    pub contenders: &'static str,
    /// The metrics of a trial of this kind, without those that an experiment declares itself.
    pub metrics: fn() -> Metrics,
    /// The metrics of a part of a trial that sweeps an axis of its own; empty if no trial of this kind does.
    pub part_metrics: fn() -> Metrics,
    /// The further metrics of a trial whose scenario has sessions; empty for a kind without scenarios.
    pub session_metrics: fn() -> Metrics,
    /// The metrics of each request in a trial whose scenario has several requests; empty for a kind without scenarios.
    pub request_metrics: fn() -> Metrics,
    /// The parameters that the kind declares.
    pub params: &'static [Param],
    /// True if a contender may have parameters that the kind does not declare.
    pub takes_others: bool,
    /// The keys of experiment.toml and of a contender's variants that this kind allows, among those that not all kinds
    /// allow.
    pub keys: &'static [&'static str],
    /// The parameter whose value decides which of a contender's code runs, or which protocol the contender has to
    /// speak. If it is an axis, contenders are checked at each of its values. None if the kind has no such parameter.
    pub code: Option<&'static str>,
    /// Reads the workload of a trial.
    pub workload: ReadWorkload,
    /// Checks the parts of an experiment that only this kind understands. The error is the first fault.
    pub check: fn(&Draft) -> Result<(), Wrong>,
    /// Makes the driver of this kind, for a run or a check.
    pub open: for<'a> fn(&Opening<'a>) -> Result<Box<dyn Driver + 'a>, Halt>,
}

/// The parts of an experiment that its kind checks while it is read.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    pub answer: &'a Answer,
    /// The names of all parameters that experiment.toml gives or sweeps.
    pub parameters: &'a BTreeSet<String>,
    pub axes: &'a BTreeMap<String, Vec<AxisValue>>,
    pub variants: &'a [&'a Variant],
    pub planned: &'a [Planned],
}

/// A fault in a file: the names that lead to the wrong key, and the reason.
pub(crate) type Wrong = (&'static [&'static str], String);

/// The inputs that a driver is made from.
#[derive(Clone, Debug)]
pub struct Opening<'a> {
    pub(crate) kind: &'static Registration,
    pub(crate) conditions: Conditions<'a>,
    /// The CPUs of contenders and of the load engine.
    pub(crate) cores: &'a Cores,
    /// The folder of the store. Logs go below it, and the files of trials may go there, too.
    pub(crate) state: &'a Path,
    /// The run's id, after which the folder of its logs is named.
    pub(crate) run: &'a str,
    /// The seed of the random choices within trials.
    pub(crate) seed: u64,
    /// Set when the run or check is to end.
    pub(crate) stop: &'a AtomicBool,
}

impl<'a> Opening<'a> {
    /// The same opening for a run in which these nodes have roles. They replace the nodes of this opening.
    pub fn on(self, nodes: Nodes) -> Opening<'a> {
        Opening { conditions: Conditions { nodes, ..self.conditions }, ..self }
    }
}
