//! From the store to one document.

use jiff::Timestamp;
use kumite_record::{ContenderStatus, Export, Run, SCHEMA, Store, StoreError, Warning};

use crate::estimate::cells;
use crate::judge::Evidence;
use crate::spec::Experiment;
use crate::warnings::warnings;

/// Judges the claims of a run that has ended and writes the verdicts, the warnings and its end into the store.
pub fn conclude(
    store: &mut Store,
    experiment: &Experiment,
    mut run: Run,
    finished: Timestamp,
    cut_short: Option<String>,
) -> Result<(), StoreError> {
    run.finished = Some(finished);
    run.cut_short = cut_short;
    let (trials, contenders) = (store.trials(&run.id)?, store.contenders(&run.id)?);
    let evidence = Evidence { run: &run, trials: &trials, contenders: &contenders };
    let claims: Vec<_> = experiment.claims.iter().map(|claim| evidence.judge(claim)).collect();
    let warnings = warnings(&run, &store.machine(&run.id)?, &contenders, &trials);
    store.finish(&run, &claims, &warnings)
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
    Ok(Export {
        schema: SCHEMA,
        machine: store.machine(id)?,
        cells: cells(&run, &trials, &took_part),
        claims: store.claims(id)?,
        warnings,
        contenders,
        trials,
        run,
    })
}
