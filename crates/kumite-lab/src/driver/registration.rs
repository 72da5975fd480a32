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
    /// The noun for the kind's contenders: "servers".
    pub contenders: &'static str,
    /// The metrics of a trial of this kind, without those of an experiment.
    pub metrics: fn() -> Metrics,
    /// The metrics of a part of a trial, if an axis is swept within trials.
    pub part_metrics: fn() -> Metrics,
    /// The metrics that a trial has, too, if its scenario has sessions.
    pub session_metrics: fn() -> Metrics,
    /// The metrics of a request, which is a part of a trial whose scenario has several.
    pub request_metrics: fn() -> Metrics,
    /// The parameters that the kind declares.
    pub params: &'static [Param],
    /// True if a contender may have parameters that the kind does not declare.
    pub takes_others: bool,
    /// The keys that this kind has, of those that only some kinds have: in experiment.toml, and in a contender's
    /// variants.
    pub keys: &'static [&'static str],
    /// The parameter that chooses among a contender's code, or says what it has to speak: each of its values is
    /// checked. None if the kind has no such parameter.
    pub code: Option<&'static str>,
    /// Reads the workload of a trial.
    pub workload: ReadWorkload,
    /// Finds what is wrong with an experiment as a whole, as far as this kind can tell.
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
    /// The folder of the store; logs go below it, and the files of trials may.
    pub(crate) state: &'a Path,
    /// The run's id, after which the folder of its logs is named.
    pub(crate) run: &'a str,
    /// The seed of the random choices within trials.
    pub(crate) seed: u64,
    /// Set when the run or check is to end.
    pub(crate) stop: &'a AtomicBool,
}

impl<'a> Opening<'a> {
    /// The same opening, with roles on other nodes.
    pub fn on(self, nodes: Nodes) -> Opening<'a> {
        Opening { conditions: Conditions { nodes, ..self.conditions }, ..self }
    }
}
