//! The joining of sittings into one run, and its judgement.
//!
//! A sitting is a run of its own, and is kept as that. When sittings are joined, the rounds of each come after those
//! of the sittings before it, and claims are judged by the sittings. Sittings must ask the same and be measured
//! alike; otherwise nothing is joined, and the first difference is named. None is dropped: one that was cut short
//! counts with the rounds that it has.

use kumite_record::{Export, OtherVersion, Part, Rule, Run, Saved, Sitting, StoredRun, Trial, judge_outputs};

use super::common_fault::common_fault;
use super::export::{Findings, document, findings};
use super::merge::{differ_in_plan, sorted};
use super::together::{
    Difference, Made, described, differ_in_contenders, differ_in_machines, differ_in_trials, other_versions,
};
use crate::spec::judged_of;
use crate::toml_source::SpecError;

/// The index from which on a round is refused. No run has as many rounds, but a file may say anything.
const MOST_ROUNDS: u32 = 1_000_000;

/// Joins runs into one run, in which each of them is a sitting, and judges it by what the earliest of them asked. An
/// error if there is no run, or if two of them do not belong together.
pub fn join_sittings(runs: &[StoredRun], id: String, command: String) -> Result<StoredRun, SpecError> {
    let mut runs: Vec<&StoredRun> = runs.iter().collect();
    runs.sort_by_key(|of| (of.run.started, of.run.id.clone()));
    let first = *runs.first().ok_or_else(|| SpecError::Usage("there is no sitting".to_owned()))?;
    for other in &runs {
        if let Some(why) = refused(first, other)? {
            return Err(SpecError::Usage(why));
        }
    }
    let sittings = sittings(&runs);
    let run = Run {
        id,
        command,
        started: first.run.started,
        finished: runs.iter().filter_map(|of| of.run.finished).max(),
        cut_short: None,
        blocks: sittings.iter().map(|of| of.rounds).sum(),
        min_blocks: 0,
        rule: Rule::Strict,
        other_versions: (1..).zip(&runs).flat_map(|(nth, of)| versions(first, of, nth)).collect(),
        resumed: sorted(runs.iter().flat_map(|of| of.run.resumed.clone()).collect()),
        unmet: sorted(runs.iter().flat_map(|of| of.run.unmet.clone()).collect()),
        saved: None,
        sittings,
        ..first.run.clone()
    };
    let trials = trials(&runs, &run.sittings);
    let run = Run { cut_short: common_fault(&trials), ..run };
    let judged = judged_of(&run, &first.contenders)?;
    let Findings { control, claims, checks, warnings } =
        findings(&judged.claims, &judged.checks, &run, &first.machine, &first.contenders, &trials);
    let (machine, contenders) = (first.machine.clone(), first.contenders.clone());
    let run = Run { control, ..run };
    Ok(StoredRun { run, machine, contenders, trials, claims, checks, warnings })
}

/// Joins the runs of these documents into one, as [`join_sittings`] does, and makes its document. A run that was itself
/// joined is taken apart first.
pub fn join_documents(documents: Vec<Export>, id: String, command: String) -> Result<Export, SpecError> {
    let runs: Vec<StoredRun> = documents.into_iter().flat_map(sittings_of).collect();
    let StoredRun { run, machine, contenders, trials, claims, checks, warnings } =
        join_sittings(&runs, id, command)?;
    let findings = Findings { control: run.control.clone(), claims, checks, warnings };
    Ok(document(run, machine, contenders, trials, findings))
}

fn sittings_of(document: Export) -> Vec<StoredRun> {
    let Export { run, machine, contenders, trials, claims, checks, warnings, .. } = document;
    let of = StoredRun { run, machine, contenders, trials, claims, checks, warnings };
    if of.run.sittings.len() > 1 { take_apart(&of) } else { vec![of] }
}

/// A sentence on why two runs cannot be sittings of one run. None if they can.
fn refused(first: &StoredRun, other: &StoredRun) -> Result<Option<String>, SpecError> {
    let id = &other.run.id;
    if other.run.shard.is_some() || other.run.merged.is_some() || other.run.sittings.len() > 1 {
        return Ok(Some(format!(
            "run {id} is no sitting: it is a share of a run, or was made of several runs"
        )));
    }
    if other.trials.iter().any(|trial| trial.block >= MOST_ROUNDS) {
        return Ok(Some(format!("run {id} has a round of a number that no run comes to")));
    }
    let difference = differ_as_sittings(&first.run, &other.run)?;
    let difference = difference.or_else(|| differ_in_contenders(&first.contenders, &other.contenders));
    Ok(difference.map(|of| {
        let values = of.values.map_or(String::new(), |[a, b]| format!(": {a}, and {b}"));
        format!(
            "runs {} and {id} are not sittings of one run, for they differ in {}{values}",
            first.run.id, of.what
        )
    }))
}

/// The first difference because of which two runs cannot be sittings of one run. The order of trials, the number of
/// blocks, and the rule of judging may differ. Contenders are not compared. `None` if there is no such difference. An
/// error if the experiment's file that one of them keeps cannot be read.
pub fn differ_as_sittings(first: &Run, other: &Run) -> Result<Option<Difference>, SpecError> {
    let alike = Run {
        seed: first.seed,
        blocks: first.blocks,
        min_blocks: first.min_blocks,
        rule: first.rule,
        sittings: first.sittings.clone(),
        ..other.clone()
    };
    Ok(differ_in_trials(first, other)?.or_else(|| differ_in_plan(first, &alike)))
}

fn sittings(runs: &[&StoredRun]) -> Vec<Sitting> {
    let mut first_round = 0;
    let here = runs.first().map(|first| &first.machine);
    let boot = |of: &StoredRun| of.run.sittings.first().and_then(|own| own.machine.clone());
    let are_told_apart = runs.iter().all(|of| boot(of).is_some());
    let sitting = |of: &&StoredRun| {
        let made = of.trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0);
        let sitting = Sitting {
            run: of.run.id.clone(),
            again_of: of.run.sittings.first().and_then(|own| own.again_of.clone()),
            seed: of.run.seed,
            started: of.run.started,
            finished: of.run.finished,
            // Of a run that was not begun as a sitting, only the description of its machine is known.
            machine: if are_told_apart { boot(of) } else { Some(described(&of.machine)) },
            first_round,
            rounds: made,
            ended_by_verdicts: of.run.saved.as_ref().is_some_and(|saved| saved.decided),
            cut_short: cut_short(&of.run),
            elsewhere: here
                .is_some_and(|here| differ_in_machines(here, &of.machine).is_some())
                .then(|| of.machine.clone()),
        };
        first_round += made;
        sitting
    };
    runs.iter().map(sitting).collect()
}

/// The trials of all sittings. Those of each come after those of the one before.
fn trials(runs: &[&StoredRun], sittings: &[Sitting]) -> Vec<Trial> {
    let of_sitting = |(of, sitting): (&&StoredRun, &Sitting)| {
        let later = |trial: &Trial| Trial { block: trial.block + sitting.first_round, ..trial.clone() };
        of.trials.iter().map(later).collect::<Vec<_>>()
    };
    let mut trials: Vec<Trial> = runs.iter().zip(sittings).flat_map(of_sitting).collect();
    for (seq, trial) in (0..).zip(&mut trials) {
        trial.seq = seq;
    }
    judge_outputs(&mut trials);
    trials
}

fn versions(first: &StoredRun, of: &StoredRun, nth: u32) -> Vec<OtherVersion> {
    fn made(of: &StoredRun) -> Made<'_> {
        Made { kumite: &of.run.kumite, contenders: &of.contenders, services: &of.run.services }
    }
    let of_sitting = other_versions(made(first), made(of), &Part::Sitting { nth });
    let renumbered = |of: &OtherVersion| match of.part {
        Part::Sitting { .. } => OtherVersion { part: Part::Sitting { nth }, ..of.clone() },
        _ => of.clone(),
    };
    of_sitting.into_iter().chain(of.run.other_versions.iter().map(renumbered)).collect()
}

/// Takes a joined run apart into the runs from which it was joined, in the order of its sittings. Their claims, checks
/// and warnings are not known any more, so these lists are empty. What else a joined run does not keep of each run,
/// such as its contenders, is that of the joined run.
pub fn take_apart(joined: &StoredRun) -> Vec<StoredRun> {
    (1..).zip(&joined.run.sittings).map(|(nth, of)| taken_out(joined, nth, of)).collect()
}

fn taken_out(joined: &StoredRun, nth: u32, of: &Sitting) -> StoredRun {
    let own = |other: &&OtherVersion| match other.part {
        Part::Sitting { nth: of_other } => of_other == nth,
        _ => true,
    };
    let run = Run {
        id: of.run.clone(),
        seed: of.seed,
        started: of.started,
        finished: of.finished,
        blocks: of.rounds,
        saved: of.ended_by_verdicts.then_some(Saved { decided: true, ..Saved::default() }),
        cut_short: of.cut_short.clone(),
        other_versions: joined.run.other_versions.iter().filter(own).cloned().collect(),
        sittings: vec![Sitting { first_round: 0, cut_short: None, elsewhere: None, ..of.clone() }],
        ..joined.run.clone()
    };
    let trials = joined.trials.iter().filter(|trial| of.has(trial.block));
    let renumbered =
        |(seq, trial): (u32, &Trial)| Trial { seq, block: trial.block - of.first_round, ..trial.clone() };
    let trials = (0..).zip(trials).map(renumbered).collect();
    let (claims, checks, warnings) = (Vec::new(), Vec::new(), Vec::new());
    let machine = of.elsewhere.clone().unwrap_or_else(|| joined.machine.clone());
    let contenders = joined.contenders.clone();
    StoredRun { run, machine, contenders, trials, claims, checks, warnings }
}

fn cut_short(run: &Run) -> Option<String> {
    run.cut_short.clone().or_else(|| run.finished.is_none().then(|| "it did not end".to_owned()))
}

#[cfg(test)]
mod tests;
