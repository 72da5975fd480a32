//! What a kind of workload registers.

use std::collections::{BTreeMap, BTreeSet};

use kumite_record::{AxisValue, Kind};

use super::{AnyWorkload, Driver, Opening};
use crate::contender::Variant;
use crate::halt::Halt;
use crate::metrics::Metrics;
use crate::param::{Param, Parameters};
use crate::spec::Answer;

/// A kind of workload: what it declares, and what makes its parts.
#[derive(Debug)]
pub(crate) struct Registration {
    /// The word for it in files and reports.
    pub name: Kind,
    /// What its contenders are called.
    pub contenders: &'static str,
    /// What its trials measure in every experiment.
    pub metrics: fn() -> Metrics,
    /// What the parts of its trials measure, where an axis is swept within them.
    pub part_metrics: fn() -> Metrics,
    /// The parameters that it declares.
    pub params: &'static [Param],
    /// Whether a contender may have parameters of its own.
    pub takes_others: bool,
    /// Those that it has of the keys that only some kinds have: of experiment.toml, and of a contender's variants.
    pub keys: &'static [&'static str],
    /// The parameter that says which of a contender's code runs: each of its values is checked.
    pub code: Option<&'static str>,
    /// Reads the workload of a trial.
    pub workload: fn(&Parameters, &Answer) -> Result<AnyWorkload, String>,
    /// Finds what is wrong with an experiment as a whole.
    pub check: fn(&Draft) -> Result<(), Wrong>,
    /// Makes its driver.
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
    /// One for each point.
    pub workloads: &'a [AnyWorkload],
}

/// What is wrong: the names that lead to the key, and why.
pub(crate) type Wrong = (&'static [&'static str], String);
