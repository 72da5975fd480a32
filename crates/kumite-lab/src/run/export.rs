//! The conclusion of a run from its trials, and its document.
//!
//! Verdicts are judged once, when the run ends, and kept; estimates are made anew from the trials in each export. A
//! shard has no verdicts, because it would be judged by a part of the trials. If all contenders of a run answered
//! wrong, no claim of it is tested.

use std::collections::BTreeSet;

use jiff::Timestamp;
use kumite_judge::{CheckSpec, ClaimSpec, cells, control, judge};
use kumite_record::{
    Check, Claim, Contender, ContenderStatus, Control, Export, Machine, Reason, Run, SCHEMA, Store,
    StoreError, Trial, Warning, standing,
};

use super::common_fault::common_fault;
use super::execute::RunEnded;
use super::sitting_warnings::sitting_warnings;
use super::warnings::{void_blocks, warnings};
use crate::spec::Experiment;

/// Judges the claims of a run that has ended. Writes the verdicts, the warnings and the run's end into the store. An
/// error if the store cannot be read or written.
pub fn conclude(
    store: &mut Store,
    experiment: &Experiment,
    mut run: Run,
    finished: Timestamp,
    ended: RunEnded,
) -> Result<(), StoreError> {
    run.finished = Some(finished);
    run.cut_short = ended.cut_short;
    run.saved = ended.saved;
    let (trials, contenders) = (store.trials(&run.id)?, store.contenders(&run.id)?);
    let Findings { control, claims, checks, warnings } = findings(
        &experiment.claims,
        &experiment.checks,
        &run,
        &store.machine(&run.id)?,
        &contenders,
        &trials,
    );
    run.control = control;
    store.finish(&run, &claims, &checks, &warnings)
}

/// The findings that are derived from the trials of a run.
pub(super) struct Findings {
    /// The control with its findings. None if the run has none.
    pub control: Option<Control>,
    pub claims: Vec<Claim>,
    pub checks: Vec<Check>,
    pub warnings: Vec<Warning>,
}

/// Judges all claims and checks. Those of a shard are not judged: only a part of the trials is there.
pub(super) fn findings(
    claims: &[ClaimSpec],
    checks: &[CheckSpec],
    run: &Run,
    machine: &Machine,
    contenders: &[Contender],
    trials: &[Trial],
) -> Findings {
    let of_all: Vec<&Trial> = standing(trials).collect();
    // Among so many wrong answers the right ones cannot be told, so nothing is judged.
    let judged: &[&Trial] = if common_fault(trials).is_some() { &[] } else { &of_all };
    let control = control(run, judged, contenders, claims);
    let (claims, checks) = match run.shard {
        Some(_) => (Vec::new(), Vec::new()),
        None => judge(run, judged, contenders, claims, checks),
    };
    let mut warnings = warnings(run, machine, contenders, &of_all);
    warnings.extend(void_blocks(run, trials));
    warnings.extend(sitting_warnings(run, machine));
    Findings { control, claims, checks, warnings }
}

/// The cells of claims that more blocks might decide: names of contenders, with positions of points in the plan. All
/// cells if there are no claims. The caller leaves out trials that do not count, such as void ones.
pub fn undecided(
    experiment: &Experiment,
    run: &Run,
    contenders: &[Contender],
    trials: &[&Trial],
) -> BTreeSet<(String, usize)> {
    kumite_judge::undecided(run, trials, contenders, &experiment.claims)
}

/// The claims with the verdicts that these trials give. The caller leaves out trials that do not count, such as void
/// ones.
pub fn judged(experiment: &Experiment, run: &Run, contenders: &[Contender], trials: &[&Trial]) -> Vec<Claim> {
    judge(run, trials, contenders, &experiment.claims, &[]).0
}

/// The positions in the plan of the points that have a cell that a claim needs.
pub fn claimed_points(experiment: &Experiment, run: &Run, contenders: &[Contender]) -> BTreeSet<usize> {
    let needed = kumite_judge::needed(run, contenders, &experiment.claims);
    needed.into_iter().map(|(_, point)| point).collect()
}

/// The claims that no number of blocks can decide, because the trials have too few values for a percentile: the id of
/// each, with the reason.
pub fn too_few_values(
    experiment: &Experiment,
    run: &Run,
    contenders: &[Contender],
    trials: &[Trial],
) -> Vec<(String, Reason)> {
    let trials: Vec<&Trial> = standing(trials).collect();
    kumite_judge::too_few_values(run, &trials, contenders, &experiment.claims)
}

/// Reads a run as one document: the verdicts as they are in the store, the estimates made anew from the trials. An
/// error if there is no such run, or the store cannot be read.
pub fn export(store: &Store, id: &str) -> Result<Export, StoreError> {
    let run = store.run(id)?;
    let (claims, checks, warnings) = (store.claims(id)?, store.checks(id)?, store.warnings(id)?);
    let findings = Findings { control: run.control.clone(), claims, checks, warnings };
    Ok(document(run, store.machine(id)?, store.contenders(id)?, store.trials(id)?, findings))
}

/// Makes the document of a run, with the estimates from its trials.
pub(super) fn document(
    run: Run,
    machine: Machine,
    contenders: Vec<Contender>,
    trials: Vec<Trial>,
    findings: Findings,
) -> Export {
    let Findings { control, claims, checks, mut warnings } = findings;
    let run = Run { control, ..run };
    if run.finished.is_none() {
        let what = format!(
            "it is not finished, or was killed; no claim was judged: `kumite resume {}` continues it",
            run.id
        );
        warnings.insert(0, Warning { place: "run".to_owned(), what });
    }
    let took_part: Vec<String> = contenders
        .iter()
        .filter(|contender| contender.status == ContenderStatus::Ran)
        .map(|contender| contender.name.clone())
        .collect();
    let of_all: Vec<&Trial> = standing(&trials).collect();
    let (cells, parts) = cells(&run, &of_all, &took_part);
    Export {
        schema: SCHEMA,
        machine,
        cells,
        parts,
        claims,
        checks,
        gate: None,
        warnings,
        contenders,
        trials,
        run,
    }
}
