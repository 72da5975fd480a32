//! Warnings: the doubts about a run, its machine, its contenders and its cells, in words.
//!
//! A warning never changes a figure or a verdict. It is made from the record alone, so a kept run gives the same
//! warnings everywhere.

use std::collections::{BTreeMap, HashSet};

use kumite_judge::steadiness;
use kumite_record::{
    CellSteadiness, Contender, ContenderStatus, Machine, Mark, Node, OtherVersion, Outcome, Part, Point,
    Role, Run, Shard, SteadyClass, Trial, Versioned, Void, Warning, standing,
};

/// The share of requests, lost on connections that the server closed, above which the server is to blame. A server
/// that is restarted or overloaded loses some.
const CLOSED_SHARE: f64 = 0.01;

/// A doubt: its subject, and a sentence about it.
type Doubt = (String, String);

/// All warnings about a run, its machine, its contenders and its cells. `trials` are those that count.
pub(super) fn warnings(
    run: &Run,
    machine: &Machine,
    contenders: &[Contender],
    trials: &[&Trial],
) -> Vec<Warning> {
    let mut doubts = of_run(run);
    match &run.merged {
        None => doubts.extend(of_machine("machine", machine)),
        Some(merged) => doubts.extend(of_nodes(&merged.nodes)),
    }
    doubts.extend(run.unmet.iter().map(|what| ("machine".to_owned(), what.clone())));
    let absent = contenders.iter().filter(|contender| contender.status != ContenderStatus::Ran);
    doubts.extend(absent.map(|contender| {
        let why = contender.reason.as_deref().unwrap_or_default();
        (contender.name.clone(), format!("{}: {why}", contender.status.as_str()))
    }));
    let unavailable = run.unavailable.iter();
    doubts.extend(
        unavailable.map(|other| (other.point.to_string(), format!("cannot be measured here: {}", other.why))),
    );
    for (cell, trials) in by_cell(run, trials) {
        doubts.extend(of_cell(&trials).into_iter().map(|what| (cell.clone(), what)));
    }
    doubts.into_iter().map(|(place, what)| Warning { place, what }).collect()
}

/// Warnings about blocks that have a void attempt and none that counts. `trials` are all trials of the run.
pub(super) fn void_blocks(run: &Run, trials: &[Trial]) -> Vec<Warning> {
    let block = |trial: &Trial| (trial.point.clone(), trial.block);
    let with_result: HashSet<(Point, u32)> = standing(trials).map(block).collect();
    let mut last_void = BTreeMap::<(String, u32), &Trial>::new();
    for trial in trials.iter().filter(|trial| trial.void.is_some() && !with_result.contains(&block(trial))) {
        last_void.insert((trial.point.to_string(), trial.block), trial);
    }
    let warning = |trial: &Trial| {
        let place = run.cell(&format!("block {}", trial.block + 1), &trial.point);
        let void = trial.void.as_ref().map(Void::to_string).unwrap_or_default();
        Warning {
            place,
            what: format!("has no result: no attempt of it is whole and not void, the last because {void}"),
        }
    };
    last_void.into_values().map(warning).collect()
}

fn of_run(run: &Run) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if let Some(why) = &run.cut_short {
        doubts.push(format!("{why}; what was measured until then is all there is"));
    }
    if let Some(Shard { nth, of, .. }) = &run.shard {
        doubts.push(format!(
            "this is shard {nth} of {of}: `kumite merge` judges its claims when all shards are there"
        ));
    }
    if let (Some(last), n) = (run.resumed.last(), run.resumed.len()) {
        let times = if n == 1 { String::new() } else { format!(" the last of {n} times") };
        doubts.push(format!(
            "it was taken up again{times} at {last}: a block that was begun before is not back to back"
        ));
    }
    let of_run = doubts.into_iter().map(|what| ("run".to_owned(), what));
    of_run.chain(run.other_versions.iter().map(|other| of_version(run, other))).collect()
}

fn of_version(run: &Run, other: &OtherVersion) -> Doubt {
    let (place, what) = match &other.of {
        Versioned::Kumite => ("kumite", "its version differs"),
        Versioned::Tools { contender } => (contender.as_str(), "its tools differ"),
        Versioned::Service { name } => (name.as_str(), "its version differs"),
    };
    let part = match other.part {
        Part::Shard { nth } => {
            format!("in shard {nth} of {}", run.merged.as_ref().map_or(0, |merged| merged.of))
        }
        Part::Sitting { nth } => format!("in sitting {nth} of {}", run.sittings.len()),
        Part::Resumed { at } => format!("in what was measured from {at} on"),
    };
    let [first, here] =
        [&other.first, &other.here].map(|version| version.as_deref().unwrap_or("of no version"));
    let differ = match first == here {
        true => format!("{first} both times, but something else {part}"),
        false => format!("{first} at first, {here} {part}"),
    };
    (place.to_owned(), format!("{what}: {differ}"))
}

fn of_nodes(nodes: &[Node]) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> =
        nodes.iter().flat_map(|node| of_machine(&node.name, &node.machine)).collect();
    let is = |Node { machine, .. }: &Node| {
        (machine.cpu.clone(), machine.cpus, machine.memory_bytes >> 30, machine.kernel.clone())
    };
    if nodes.iter().any(|node| is(node) != is(&nodes[0])) {
        let told = |node: &Node| {
            let (cpu, cpus, gib, kernel) = is(node);
            format!("{}: {cpu}, {cpus} CPUs, {gib} GiB, {kernel}", node.name)
        };
        let all: Vec<String> = nodes.iter().map(told).collect();
        doubts.push(("nodes".to_owned(), format!("they are not alike: {}", all.join("; "))));
    }
    doubts
}

fn of_machine(place: &str, machine: &Machine) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if machine.cpus == 1 {
        doubts.push("there is only one CPU: contender and load engine share it".to_owned());
    }
    for group in &machine.smt_siblings {
        let on = |cores: &[usize]| group.iter().any(|core| cores.contains(core));
        if on(&machine.cores.contender) && on(&machine.cores.engine) {
            doubts.push(format!(
                "CPUs {group:?} share a physical core, and contender and load engine are both on it"
            ));
        }
    }
    doubts.into_iter().map(|what| (place.to_owned(), what)).collect()
}

fn of_cell(trials: &[&Trial]) -> Vec<String> {
    let mut doubts = Vec::new();
    for outcome in [Outcome::Disqualified, Outcome::Failed] {
        let of_outcome: Vec<&&Trial> = trials.iter().filter(|trial| trial.outcome == outcome).collect();
        if let Some(first) = of_outcome.first() {
            let why = first.reason.as_deref().unwrap_or_default();
            doubts.push(format!(
                "{} of {} trials {}: {why}",
                of_outcome.len(),
                trials.len(),
                outcome.as_str()
            ));
        }
    }
    let usable: Vec<&&Trial> = trials.iter().filter(|trial| trial.outcome == Outcome::Ok).collect();
    for mark in Mark::ALL {
        let count = usable.iter().filter(|trial| trial.marks.contains(&mark)).count();
        if count > 0 {
            doubts.push(format!(
                "{count} of {} trials {}{}",
                usable.len(),
                mark.warning(),
                whence(&usable, mark)
            ));
        }
    }
    if let Some(steadiness) = steadiness(usable.iter().map(|trial| **trial)).filter(is_doubtful) {
        let counts = steadiness.trials.iter().map(|(class, count)| format!("{count} {class}"));
        let counts = counts.collect::<Vec<_>>().join(", ");
        doubts.push(format!(
            "its trials are inconsistent: {counts}; so a median over them is of several kinds"
        ));
    }
    doubts.extend(usable.iter().find_map(|trial| trial.reason.clone()));
    let failures: u64 = usable.iter().flat_map(|trial| trial.sample.errors.values()).sum();
    if failures > 0 {
        let finished: f64 = usable.iter().filter_map(|trial| trial.sample.metrics.get("finished")).sum();
        doubts.push(format!("{failures} of {finished} requests failed ({})", kinds(&usable)));
        let closed = |trial: &&&Trial| trial.sample.errors.get("closed").copied().unwrap_or(0);
        let closed: u64 = usable.iter().map(closed).sum();
        if closed as f64 > CLOSED_SHARE * finished {
            doubts.push(format!(
                "it closes connections that it promised to keep: {closed} of {finished} requests got no answer for that, \
                 and its figures are of the others"
            ));
        }
    }
    doubts
}

/// The nodes that a mark comes from, by their roles, each with the number of trials. Empty if everything is on one
/// machine.
fn whence(trials: &[&&Trial], mark: Mark) -> String {
    let mut counts = BTreeMap::<Role, usize>::new();
    for (role, marks) in trials.iter().flat_map(|trial| &trial.sample.marked) {
        if marks.contains(&mark) {
            *counts.entry(*role).or_default() += 1;
        }
    }
    let counts: Vec<String> = counts.iter().map(|(role, count)| format!("{role} {count}")).collect();
    if counts.is_empty() { String::new() } else { format!(" (by node: {})", counts.join(", ")) }
}

/// True if the steadiness of a cell's trials is a reason for doubt. It is none that some trials were steady from
/// their start and others became so: figures are of the steady part.
fn is_doubtful(steadiness: &CellSteadiness) -> bool {
    let is_calm = |class: &SteadyClass| matches!(class, SteadyClass::Flat | SteadyClass::WarmUp);
    steadiness.class == SteadyClass::Inconsistent && !steadiness.trials.keys().all(is_calm)
}

/// The trials of each cell, with the cell's name, in the order of the names.
fn by_cell<'a>(run: &Run, trials: &[&'a Trial]) -> Vec<(String, Vec<&'a Trial>)> {
    let mut cells = Vec::<(String, Vec<&Trial>)>::new();
    for trial in trials {
        let name = run.cell(&trial.contender, &trial.point);
        match cells.iter_mut().find(|(cell, _)| *cell == name) {
            Some((_, of_cell)) => of_cell.push(trial),
            None => cells.push((name, vec![trial])),
        }
    }
    cells.sort_by(|a, b| a.0.cmp(&b.0));
    cells
}

fn kinds(trials: &[&&Trial]) -> String {
    let mut kinds = BTreeMap::<&str, u64>::new();
    for (kind, count) in trials.iter().flat_map(|trial| &trial.sample.errors) {
        *kinds.entry(kind).or_default() += count;
    }
    let found: Vec<String> = kinds
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    found.join(", ")
}
