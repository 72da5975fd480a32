//! The control of a run: which contender it is, and its second trials among the cells.

use std::collections::BTreeSet;

use kumite_record::{Contender, ContenderStatus, Control};

use super::prepare::Choice;
use crate::contender::{Ready, Variant};
use crate::spec::{Experiment, no_such_control};
use crate::toml_source::SpecError;

/// The remedy for a control that cannot be one.
const REMEDY: &str = "name another by --control=CONTENDER";

impl Choice {
    /// The contender that `--control` makes the control: `name` or, without a name, the first contender that takes part
    /// and is not there to answer wrong. An error if there is no such contender. A given name is not checked here.
    pub fn control(&self, experiment: &Experiment, name: Option<&str>) -> Result<String, SpecError> {
        let variants = experiment.variants();
        let has_figures =
            |variant: &Variant| variant.answers.is_none() && self.left_out(&variant.name).is_none();
        let first = || variants.iter().find(|(_, variant)| has_figures(variant));
        let name = name.or_else(|| first().map(|(_, variant)| variant.name.as_str()));
        name.map(str::to_owned)
            .ok_or_else(|| SpecError::Usage("--control: no contender takes part".to_owned()))
    }

    /// Returns an error if the experiment's control is no contender, is left out, or has no figures because it is there
    /// to answer wrong.
    pub fn check_control(&self, experiment: &Experiment) -> Result<(), SpecError> {
        let Some(name) = &experiment.control else { return Ok(()) };
        let variants = experiment.variants();
        let names: Vec<&str> = variants.iter().map(|(_, variant)| variant.name.as_str()).collect();
        let variant = variants.iter().find(|(_, variant)| variant.name == *name);
        let what = match (no_such_control(name, &names), self.left_out(name), variant) {
            (Some(what), ..) => what,
            (None, Some(why), _) => format!("control '{name}' is not measured ({why}): {REMEDY}"),
            (None, None, Some((_, variant))) if variant.answers.is_some() => {
                format!("control '{name}' is there to answer wrong, and has no figures: {REMEDY}")
            }
            (None, None, _) => return Ok(()),
        };
        Err(SpecError::Usage(what))
    }
}

/// A message that the experiment's control cannot be measured, with the reason and a remedy. `None` if the control can
/// be measured, or if the experiment has no control.
pub fn lacking_control(experiment: &Experiment, contenders: &[Contender]) -> Option<String> {
    let name = experiment.control.as_ref()?;
    let is_absent = |of: &&Contender| of.name == *name && of.status != ContenderStatus::Ran;
    let Contender { status, reason, .. } = contenders.iter().find(is_absent)?;
    let why = reason.as_deref().unwrap_or("no reason was kept");
    Some(format!("control '{name}' cannot be measured ({}: {why}): {REMEDY}", status.as_str()))
}

/// These contenders, with the second of the control at their end if it is not among them yet. It is of the same build
/// as the first then, as is the case for a control on another node.
pub(super) fn with_twin(ready: &[Ready], control: Option<&Control>) -> Vec<Ready> {
    let control = control.filter(|_| ready.iter().all(|ready| ready.twin.is_none()));
    let twin = |control: &Control| {
        let of = ready.iter().find(|ready| ready.name == control.contender)?;
        Some(Ready { twin: Some(control.twin.clone()), ..of.clone() })
    };
    ready.iter().cloned().chain(control.and_then(twin)).collect()
}

/// These cells, and both cells of the control at each of their points: the control has two trials in every block that
/// is measured.
pub(super) fn with_control(
    mut cells: BTreeSet<(String, usize)>,
    control: Option<&Control>,
) -> BTreeSet<(String, usize)> {
    let points: BTreeSet<usize> = cells.iter().map(|(_, point)| *point).collect();
    if let Some(Control { contender, twin, .. }) = control {
        let of_point = |point: &usize| [(contender.clone(), *point), (twin.clone(), *point)];
        cells.extend(points.iter().flat_map(of_point));
    }
    cells
}
