//! The shards of a run, merged into it. Only here is what several machines measured judged.

use std::collections::BTreeMap;

use kumite_record::{
    Contender, Machine, Merged, Node, Run, Scope, Shard, StoredRun, Trial, Warning, judge_outputs,
};
use serde_json::Value;

use super::common_fault::common_fault;
use super::export::{Findings, findings};
use crate::spec::Experiment;

/// How shards are to be merged.
pub struct Merging {
    /// The id of the run that comes of it.
    pub id: String,
    /// The command that repeats it.
    pub command: String,
    /// What its verdicts are to be about.
    pub scope: Scope,
    /// Whether shards may have been made by other tools than one another.
    pub may_tools_differ: bool,
}

/// Makes one run of its shards, which may be there several times each, and judges it; or says in which they differ. They
/// are all of one experiment, profile, seed and number.
pub fn merge(shards: &[StoredRun], experiment: &Experiment, merging: Merging) -> Result<StoredRun, String> {
    let executions = by_shard(shards)?;
    let counted: Vec<&StoredRun> = executions.values().map(|of| counts(of)).collect();
    let first = *counted.first().ok_or("there is no shard")?;
    for other in shards {
        same_run(&first.run, &other.run)?;
        same_contenders(first, other, merging.may_tools_differ)?;
    }
    let of = shard_of(&first.run)?.of;
    let (nodes, names) = nodes(&counted);
    let run = Run {
        id: merging.id,
        command: merging.command,
        started: counted.iter().map(|shard| shard.run.started).min().unwrap_or_default(),
        finished: counted.iter().filter_map(|shard| shard.run.finished).max(),
        cut_short: incomplete(of, &executions),
        resumed: sorted(counted.iter().flat_map(|shard| shard.run.resumed.clone()).collect()),
        unmet: sorted(counted.iter().flat_map(|shard| shard.run.unmet.clone()).collect()),
        shard: None,
        merged: Some(Merged {
            of,
            runs: counted.iter().map(|shard| shard.run.id.clone()).collect(),
            nodes,
            scope: merging.scope,
        }),
        ..common(&first.run)
    };
    let trials = trials(&counted, &names);
    let run = Run { cut_short: common_fault(&trials).or(run.cut_short), ..run };
    let Findings { claims, checks, mut warnings } =
        findings(experiment, &run, &first.machine, &first.contenders, &trials);
    warnings.extend(executions.values().filter_map(|of| executed_again(of)));
    warnings.extend(counted.iter().flat_map(|shard| of_other_tools(first, shard)));
    let (machine, contenders) = (first.machine.clone(), first.contenders.clone());
    Ok(StoredRun { run, machine, contenders, trials, claims, checks, warnings })
}

fn shard_of(run: &Run) -> Result<&Shard, String> {
    run.shard.as_ref().ok_or_else(|| format!("run {} is no shard", run.id))
}

/// Each shard's executions, the first one first.
fn by_shard(shards: &[StoredRun]) -> Result<BTreeMap<u32, Vec<&StoredRun>>, String> {
    let mut by_shard = BTreeMap::<u32, Vec<&StoredRun>>::new();
    for shard in shards {
        by_shard.entry(shard_of(&shard.run)?.nth).or_default().push(shard);
    }
    for executions in by_shard.values_mut() {
        executions.sort_by_key(|shard| (shard.run.started, shard.run.id.clone()));
    }
    Ok(by_shard)
}

/// Of a shard that was executed several times, the first complete execution counts; if there is none, the longest.
fn counts<'a>(executions: &[&'a StoredRun]) -> &'a StoredRun {
    let complete = executions.iter().find(|shard| is_complete(&shard.run));
    // Of several that are equally long, the first.
    let longest = || executions.iter().rev().max_by_key(|shard| shard.trials.len());
    complete.or_else(longest).copied().expect("a shard is there because it was executed")
}

fn is_complete(run: &Run) -> bool {
    run.finished.is_some() && run.cut_short.is_none()
}

/// What the shards of a run have in common.
fn common(run: &Run) -> Run {
    Run {
        id: String::new(),
        experiment_given: run.experiment.clone(),
        started: Default::default(),
        finished: None,
        cut_short: None,
        resumed: Vec::new(),
        command: String::new(),
        saved: None,
        noise_floor: None,
        unmet: Vec::new(),
        shard: None,
        ..run.clone()
    }
}

fn same_run(first: &Run, other: &Run) -> Result<(), String> {
    let fields = |run: &Run| match serde_json::to_value(common(run)) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (of_first, of_other) = (fields(first), fields(other));
    let names = of_first.keys().chain(of_other.keys());
    let differing = names.into_iter().find(|name| of_first.get(*name) != of_other.get(*name));
    match differing.map(String::as_str) {
        None => Ok(()),
        Some("spec") => Err(differ(first, other, "their experiment.toml", None)),
        Some("kumite") => {
            Err(differ(first, other, "the version of kumite", Some((&first.kumite, &other.kumite))))
        }
        Some(name) => {
            let told = |fields: &serde_json::Map<String, Value>| {
                fields.get(name).map_or("nothing".to_owned(), Value::to_string)
            };
            let (a, b) = (told(&of_first), told(&of_other));
            let short = (a.len().max(b.len()) < 60).then_some((a.as_str(), b.as_str()));
            Err(differ(first, other, name, short))
        }
    }
}

fn same_contenders(first: &StoredRun, other: &StoredRun, may_tools_differ: bool) -> Result<(), String> {
    let differ = |what: String, of: Option<(&str, &str)>| Err(differ(&first.run, &other.run, &what, of));
    let names =
        |of: &StoredRun| of.contenders.iter().map(|of| of.name.clone()).collect::<Vec<_>>().join(", ");
    if names(first) != names(other) {
        return differ("their contenders".to_owned(), Some((&names(first), &names(other))));
    }
    for (a, b) in first.contenders.iter().zip(&other.contenders) {
        let name = &a.name;
        if a.status != b.status {
            let told = |of: &Contender| match &of.reason {
                Some(why) => format!("{}: {why}", of.status.as_str()),
                None => of.status.as_str().to_owned(),
            };
            return differ(format!("whether {name} took part"), Some((&told(a), &told(b))));
        }
        let [source_a, source_b] = [a, b].map(|of| of.digests.as_ref().map(|digests| &digests.source));
        if source_a != source_b {
            return differ(format!("{name}'s files or build command"), None);
        }
        if !may_tools_differ && have_other_tools(a, b) {
            let [a, b] = [a, b].map(|of| of.version.as_deref().unwrap_or("no version"));
            let told = differ(format!("{name}'s tools"), (a != b).then_some((a, b)));
            return told.map_err(|what: String| format!("{what}; --allow tools merges them all the same"));
        }
    }
    Ok(())
}

fn have_other_tools(a: &Contender, b: &Contender) -> bool {
    (a.digests != b.digests) || a.version != b.version
}

fn differ(first: &Run, other: &Run, what: &str, of: Option<(&str, &str)>) -> String {
    let (a, b) = (told(first), told(other));
    let of = of.map(|(a, b)| format!(": {a}, and {b}")).unwrap_or_default();
    format!("{a} and {b} are not of one run, for they differ in {what}{of}")
}

fn told(run: &Run) -> String {
    match &run.shard {
        Some(Shard { nth, of, .. }) => format!("shard {nth} of {of} (run {})", run.id),
        None => format!("run {}", run.id),
    }
}

/// The nodes, and for each shard the name of its own. Two machines of one name get two names.
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

/// In the order of their rounds.
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
    // A shard judged outputs by its own alone.
    judge_outputs(&mut trials);
    trials
}

/// What is missing, if anything is.
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

fn of_other_tools(first: &StoredRun, other: &StoredRun) -> Vec<Warning> {
    let pairs = first.contenders.iter().zip(&other.contenders);
    let warning = |(a, b): (&Contender, &Contender)| {
        let [a_is, b_is] = [a, b].map(|of| of.version.as_deref().unwrap_or("of no version"));
        let what =
            format!("its tools differ: {a_is} in {}, {b_is} in {}", told(&first.run), told(&other.run));
        have_other_tools(a, b).then_some(Warning { place: a.name.clone(), what })
    };
    pairs.filter_map(warning).collect()
}

fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests;
