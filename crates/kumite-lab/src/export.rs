//! From the store to one document.

use std::collections::BTreeSet;

use jiff::Timestamp;
use kumite_judge::{cells, judge};
use kumite_record::{
    Contender, ContenderStatus, Export, Run, SCHEMA, Store, StoreError, Trial, Warning, standing,
};

use crate::execute::Ended;
use crate::spec::Experiment;
use crate::warnings::warnings;

/// Judges the claims of a run that has ended and writes the verdicts, the warnings and its end into the store.
pub fn conclude(
    store: &mut Store,
    experiment: &Experiment,
    mut run: Run,
    finished: Timestamp,
    ended: Ended,
) -> Result<(), StoreError> {
    run.finished = Some(finished);
    run.cut_short = ended.cut_short;
    run.saved = ended.saved;
    let (trials, contenders) = (store.trials(&run.id)?, store.contenders(&run.id)?);
    let of_all: Vec<&Trial> = standing(&trials).collect();
    let claims = judge(&run, &of_all, &contenders, &experiment.claims);
    let warnings = warnings(&run, &store.machine(&run.id)?, &contenders, &trials);
    store.finish(&run, &claims, &warnings)
}

/// The cells that more blocks might decide a claim about: contender and position of the point.
pub fn undecided(
    experiment: &Experiment,
    run: &Run,
    contenders: &[Contender],
    trials: &[&Trial],
) -> BTreeSet<(String, usize)> {
    kumite_judge::undecided(run, trials, contenders, &experiment.claims)
}

/// A run as one document: the verdicts as they were judged, the estimates made anew from the trials.
pub fn export(store: &Store, id: &str) -> Result<Export, StoreError> {
    let run = store.run(id)?;
    let mut warnings = store.warnings(id)?;
    if run.finished.is_none() {
        let what = format!(
            "it is not finished, or was killed; no claim was judged: `kumite resume {id}` goes on with it"
        );
        warnings.insert(0, Warning { place: "run".to_owned(), what });
    }
    let contenders = store.contenders(id)?;
    let trials = store.trials(id)?;
    let took_part: Vec<String> = contenders
        .iter()
        .filter(|contender| contender.status == ContenderStatus::Ran)
        .map(|contender| contender.name.clone())
        .collect();
    let of_all: Vec<&Trial> = standing(&trials).collect();
    let (cells, parts) = cells(&run, &of_all, &took_part);
    Ok(Export {
        schema: SCHEMA,
        machine: store.machine(id)?,
        cells,
        parts,
        claims: store.claims(id)?,
        warnings,
        contenders,
        trials,
        run,
    })
}
