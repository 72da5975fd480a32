//! The merging of the shards of a run into one run, and its judgement.
//!
//! Shards are judged only here, with all their trials. They must be of one plan and measured alike; otherwise the
//! merge is refused and names the first difference. A shard that was executed twice counts once.

use std::collections::BTreeMap;

use kumite_record::{
    Control, Machine, Merged, Node, OtherVersion, Part, Run, Scope, Shard, StoredRun, Trial, Warning,
    judge_outputs,
};
use serde_json::Value;

use super::common_fault::common_fault;
use super::export::{Findings, findings};
use super::together::{Difference, Made, differ_in_contenders, differ_in_trials, other_versions};
use crate::spec::judged_of;
use crate::toml_source::SpecError;

/// The properties of the run that shards are merged into.
pub struct Merging {
    /// The id of the merged run.
    pub id: String,
    /// The command line that repeats the merge.
    pub command: String,
    /// The scope of the merged run's verdicts: its nodes, or nodes like them.
    pub scope: Scope,
}

/// Merges shards into one run, and judges it by what the first of them asked. A shard may be there several times; one
/// execution of it counts. Shards that are missing or incomplete are named in the run's `cut_short`. An error if there
/// is no shard, if a run is no shard, or if two of them cannot be of one run because they differ in experiment,
/// profile, plan, version of measuring or contenders. The caller makes sure that the number of all shards, `of`, is the
/// same in each of them.
pub fn merge(shards: &[StoredRun], merging: Merging) -> Result<StoredRun, SpecError> {
    let executions = by_shard(shards)?;
    let counted: Vec<&StoredRun> = executions.values().map(|of| counts(of)).collect();
    let first = *counted.first().ok_or_else(|| SpecError::Usage("there is no shard".to_owned()))?;
    for other in shards {
        if let Some(what) = difference(first, other)? {
            return Err(SpecError::Usage(differ(&first.run, &other.run, &what)));
        }
    }
    let of = shard_of(&first.run)?.of;
    let (nodes, names) = nodes(&counted);
    let run = Run {
        id: merging.id,
        command: merging.command,
        started: counted.iter().map(|shard| shard.run.started).min().unwrap_or_default(),
        finished: counted.iter().filter_map(|shard| shard.run.finished).max(),
        cut_short: incomplete(of, &executions),
        other_versions: counted.iter().flat_map(|shard| versions(first, shard)).collect(),
        resumed: sorted(counted.iter().flat_map(|shard| shard.run.resumed.clone()).collect()),
        unmet: sorted(counted.iter().flat_map(|shard| shard.run.unmet.clone()).collect()),
        experiment_given: first.run.experiment.clone(),
        saved: None,
        noise_floor: None,
        shard: None,
        merged: Some(Merged {
            of,
            runs: counted.iter().map(|shard| shard.run.id.clone()).collect(),
            nodes,
            scope: merging.scope,
        }),
        ..first.run.clone()
    };
    let trials = trials(&counted, &names);
    let run = Run { cut_short: common_fault(&trials).or(run.cut_short), ..run };
    let judged = judged_of(&run, &first.contenders)?;
    let Findings { control, claims, checks, mut warnings } =
        findings(&judged.claims, &judged.checks, &run, &first.machine, &first.contenders, &trials);
    warnings.extend(executions.values().filter_map(|of| executed_again(of)));
    let (machine, contenders) = (first.machine.clone(), first.contenders.clone());
    let run = Run { control, ..run };
    Ok(StoredRun { run, machine, contenders, trials, claims, checks, warnings })
}

fn shard_of(run: &Run) -> Result<&Shard, SpecError> {
    run.shard.as_ref().ok_or_else(|| SpecError::Usage(format!("run {} is no shard", run.id)))
}

/// The executions of each shard, by the shard's number, the earliest first.
fn by_shard(shards: &[StoredRun]) -> Result<BTreeMap<u32, Vec<&StoredRun>>, SpecError> {
    let mut by_shard = BTreeMap::<u32, Vec<&StoredRun>>::new();
    for shard in shards {
        by_shard.entry(shard_of(&shard.run)?.nth).or_default().push(shard);
    }
    for executions in by_shard.values_mut() {
        executions.sort_by_key(|shard| (shard.run.started, shard.run.id.clone()));
    }
    Ok(by_shard)
}

/// The execution of a shard that counts: the first complete one; if there is none, the longest.
fn counts<'a>(executions: &[&'a StoredRun]) -> &'a StoredRun {
    let complete = executions.iter().find(|shard| is_complete(&shard.run));
    // Of several that are equally long, the first counts.
    let longest = || executions.iter().rev().max_by_key(|shard| shard.trials.len());
    complete.or_else(longest).copied().expect("a shard is there because it was executed")
}

fn is_complete(run: &Run) -> bool {
    run.finished.is_some() && run.cut_short.is_none()
}

/// The first difference of two shards that keeps them from being of one run. None if there is none.
fn difference(first: &StoredRun, other: &StoredRun) -> Result<Option<Difference>, SpecError> {
    Ok(differ_in_trials(&first.run, &other.run)?
        .or_else(|| differ_in_plan(&first.run, &other.run))
        .or_else(|| differ_in_contenders(&first.contenders, &other.contenders)))
}

/// The first difference of two runs' plans, beyond what their trials must have in common. None if there is none.
pub(super) fn differ_in_plan(first: &Run, other: &Run) -> Option<Difference> {
    let fields = |run: &Run| match serde_json::to_value(plan(run)) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (of_first, of_other) = (fields(first), fields(other));
    let names = of_first.keys().chain(of_other.keys());
    let name = names.into_iter().find(|name| of_first.get(*name) != of_other.get(*name))?;
    let shown =
        |of: &serde_json::Map<String, Value>| of.get(name).map_or("nothing".to_owned(), Value::to_string);
    Some(Difference::new(name, [shown(&of_first), shown(&of_other)]))
}

/// The part of a run that all its shards have in common: without what each has of its own, without words, and without
/// what versions may differ in.
fn plan(run: &Run) -> Run {
    Run {
        id: String::new(),
        experiment_given: String::new(),
        started: Default::default(),
        finished: None,
        cut_short: None,
        resumed: Vec::new(),
        command: String::new(),
        kumite: String::new(),
        other_versions: Vec::new(),
        question: Default::default(),
        services: Vec::new(),
        metrics: Vec::new(),
        part_metrics: Vec::new(),
        control: run.control.as_ref().map(Control::unmeasured),
        saved: None,
        noise_floor: None,
        spec: String::new(),
        published: None,
        unmet: Vec::new(),
        shard: None,
        ..run.clone()
    }
}

/// The versions that made a shard and differ from those of the first shard, and those that differ within it because
/// it was resumed.
fn versions(first: &StoredRun, shard: &StoredRun) -> Vec<OtherVersion> {
    let nth = shard.run.shard.as_ref().map_or(0, |shard| shard.nth);
    let of_shard = other_versions(made(first), made(shard), &Part::Shard { nth });
    of_shard.into_iter().chain(shard.run.other_versions.clone()).collect()
}

fn made(shard: &StoredRun) -> Made<'_> {
    Made { kumite: &shard.run.kumite, contenders: &shard.contenders, services: &shard.run.services }
}

fn differ(first: &Run, other: &Run, in_what: &Difference) -> String {
    let (a, b) = (shard_name(first), shard_name(other));
    let of = in_what.values.as_ref().map(|[a, b]| format!(": {a}, and {b}")).unwrap_or_default();
    format!("{a} and {b} are not of one run, for they differ in {}{of}", in_what.what)
}

fn shard_name(run: &Run) -> String {
    match &run.shard {
        Some(Shard { nth, of, .. }) => format!("shard {nth} of {of} (run {})", run.id),
        None => format!("run {}", run.id),
    }
}

/// The nodes, and for each shard the name of its node. Two machines of one name get two names.
fn nodes(counted: &[&StoredRun]) -> (Vec<Node>, Vec<String>) {
    let mut nodes: Vec<Node> = Vec::new();
    let mut names = Vec::new();
    for shard in counted {
        let called = shard.run.shard.as_ref().map(|shard| shard.node.as_str()).unwrap_or_default();
        let name = (1..)
            .map(|nth| if nth == 1 { called.to_owned() } else { format!("{called}#{nth}") })
            .find(|name| is_free_or_of(&nodes, name, &shard.machine))
            .unwrap_or_default();
        if nodes.iter().all(|node| node.name != name) {
            nodes.push(Node { name: name.clone(), machine: shard.machine.clone() });
        }
        names.push(name);
    }
    (nodes, names)
}

fn is_free_or_of(nodes: &[Node], name: &str, machine: &Machine) -> bool {
    nodes.iter().find(|node| node.name == name).is_none_or(|node| node.machine == *machine)
}

/// The trials of all shards, in the order of their rounds.
fn trials(counted: &[&StoredRun], nodes: &[String]) -> Vec<Trial> {
    let of_shard = |(shard, node): (&&StoredRun, &String)| {
        let with_node = |trial: &Trial| Trial { node: Some(node.clone()), ..trial.clone() };
        shard.trials.iter().map(with_node).collect::<Vec<_>>()
    };
    let mut trials: Vec<Trial> = counted.iter().zip(nodes).flat_map(of_shard).collect();
    trials.sort_by_key(|trial| (trial.block, trial.seq));
    for (seq, trial) in (0..).zip(&mut trials) {
        trial.seq = seq;
    }
    // Each shard has judged its outputs by those of its own trials alone.
    judge_outputs(&mut trials);
    trials
}

/// A sentence on the shards that are missing or incomplete. None if all are there.
fn incomplete(of: u32, executions: &BTreeMap<u32, Vec<&StoredRun>>) -> Option<String> {
    let mut missing = Vec::new();
    let mut short = Vec::new();
    for nth in 1..=of {
        match executions.get(&nth).map(|executions| &counts(executions).run) {
            None => missing.push(nth.to_string()),
            Some(run) if is_complete(run) => {}
            Some(run) => {
                let why = run.cut_short.as_deref().unwrap_or("it did not end");
                short.push(format!("shard {nth} is not complete: {why}"));
            }
        }
    }
    let missing = match missing.as_slice() {
        [] => None,
        [one] => Some(format!("shard {one} of {of} is missing")),
        several => Some(format!("shards {} of {of} are missing", several.join(", "))),
    };
    let all: Vec<String> = missing.into_iter().chain(short).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn executed_again(executions: &[&StoredRun]) -> Option<Warning> {
    let counted = counts(executions);
    let others: Vec<&str> = executions
        .iter()
        .filter(|shard| shard.run.id != counted.run.id)
        .map(|shard| shard.run.id.as_str())
        .collect();
    let Shard { nth, .. } = counted.run.shard.as_ref()?;
    (!others.is_empty()).then(|| Warning {
        place: format!("shard {nth}"),
        what: format!(
            "was executed {} times: run {} counts, and beside it is kept {}",
            executions.len(),
            counted.run.id,
            others.join(", ")
        ),
    })
}

pub(super) fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests;
