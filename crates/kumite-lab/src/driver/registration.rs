//! The registration of a kind of workload, and the opening of its driver.
//!
//! A kind is a folder in `driver/` and one `Registration` in `KINDS`. All other code asks the registration, so no
//! other file names a kind.

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

/// A kind of workload: what it declares, and what makes its parts.
#[derive(Debug)]
pub(crate) struct Registration {
    /// The word for it in files and reports.
    pub name: Kind,
    /// The noun for its contenders: "servers".
    pub contenders: &'static str,
    /// The metrics of a trial, whatever the experiment.
    pub metrics: fn() -> Metrics,
    /// The metrics of a part of a trial, where an axis is swept within trials.
    pub part_metrics: fn() -> Metrics,
    /// The parameters that it declares.
    pub params: &'static [Param],
    /// A contender may have parameters that the kind does not declare.
    pub takes_others: bool,
    /// Those that it has of the keys that only some kinds have: of experiment.toml, and of a contender's variants.
    pub keys: &'static [&'static str],
    /// The parameter that says which of a contender's code runs: each of its values is checked.
    pub code: Option<&'static str>,
    /// Reads the workload of a trial.
    pub workload: ReadWorkload,
    /// Finds what is wrong with an experiment as a whole.
    pub check: fn(&Draft) -> Result<(), Wrong>,
    /// Makes the driver of this kind, for a run or a check.
    pub open: for<'a> fn(&Opening<'a>) -> Result<Box<dyn Driver + 'a>, Halt>,
}

/// An experiment that is being read, as far as its kind may find something wrong with it.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    pub answer: &'a Answer,
    /// The names of all parameters.
    pub parameters: &'a BTreeSet<String>,
    pub axes: &'a BTreeMap<String, Vec<AxisValue>>,
    pub variants: &'a [&'a Variant],
    pub planned: &'a [Planned],
}

/// A fault in a file: the names that lead to the key, and the reason.
pub(crate) type Wrong = (&'static [&'static str], String);

/// All that a driver is made from.
#[derive(Clone, Debug)]
pub struct Opening<'a> {
    pub(crate) kind: &'static Registration,
    pub(crate) conditions: Conditions<'a>,
    /// The CPUs of contenders and of the engine.
    pub(crate) cores: &'a Cores,
    /// The folder of the store; logs and scratch files go below it.
    pub(crate) state: &'a Path,
    /// The run's id, after which the folder of its logs is named.
    pub(crate) run: &'a str,
    /// Of its random choices.
    pub(crate) seed: u64,
    /// Set when it is to end.
    pub(crate) stop: &'a AtomicBool,
}

impl<'a> Opening<'a> {
    /// This opening, with roles on other nodes.
    pub fn on(self, nodes: Nodes) -> Opening<'a> {
        Opening { conditions: Conditions { nodes, ..self.conditions }, ..self }
    }
}
