//! Near-ties of a kept run, judged by what its own file asks.

use kumite_record::{Export, NearTie, Run, Trial, standing};

use super::begin;
use super::together::differ_in_trials;
use crate::spec::{Experiment, judged_of};
use crate::toml_source::SpecError;

/// The near-ties of a run: claims whose effect is so near to its border that a further sitting may give another
/// verdict. An error if the file that the run keeps cannot be read.
pub fn near_ties(kept: &Export) -> Result<Vec<NearTie>, SpecError> {
    let Export { run, contenders, .. } = kept;
    let trials: Vec<&Trial> = standing(&kept.trials).collect();
    Ok(kumite_judge::near_ties(run, &trials, contenders, &judged_of(run, contenders)?.claims))
}

/// True if a run asks what this experiment asks now. The version of measuring may be another. An error if the file that
/// the run keeps cannot be read.
pub fn asks_as(run: &Run, experiment: &Experiment) -> Result<bool, SpecError> {
    let now = begin(experiment, &Default::default());
    let then = Run { measures: now.measures, ..run.clone() };
    Ok(differ_in_trials(&then, &now)?.is_none())
}
