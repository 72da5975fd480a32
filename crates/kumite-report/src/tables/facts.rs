//! The facts that a reader needs to repeat a run, or to doubt it.

use kumite_record::{
    Claim, Cores, Export, Machine, RoleElsewhere, Rule, Run, Scope, Shard, Trial, Unit, standing,
};
use serde::Serialize;

use crate::record::Record;
use crate::tables::trials::{void_blocks, void_trials};
use crate::words::noise_floor::noise_floor;
use crate::words::number::plural;
use crate::words::quantity::{Measured, length};
use crate::words::text::one_line;

/// A fact about how the run was measured, under its name.
#[derive(Debug, Serialize)]
pub struct Fact {
    pub name: &'static str,
    pub text: String,
}

/// Facts on the machine, cores, settings and time of a run, and those of its kind; facts that the record does not
/// have are left out. `engine_is` is the name of the program that works beside the contenders.
pub fn facts(record: &Record, of_kind: Vec<Fact>, engine_is: &str) -> Vec<Fact> {
    let export = record.export;
    let (run, machine) = (&export.run, &export.machine);
    let workload: Vec<String> =
        run.workload.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let fact = |(name, text)| Fact { name, text };
    let first = [
        ("machine", hardware(machine)),
        ("system", [machine.os.as_str(), &machine.kernel].map(one_line).join(", ")),
        ("cores", cores(record, engine_is)),
        ("nodes", nodes(run)),
        ("profile", format!("{}, at most {} a point", run.profile, plural(run.blocks as usize, "block"))),
        ("workload", workload.join(", ")),
        ("verdicts", judged(export)),
    ];
    let rest = [
        ("noise floor", noise_floor(run.noise_floor.as_ref())),
        ("seed", run.seed.to_string()),
        ("time", time(run)),
        ("trials", trials(export)),
        ("run", format!("{} (kumite {})", run.id, run.kumite)),
    ];
    let all = first.map(fact).into_iter().chain(of_kind).chain(rest.map(fact));
    all.map(|fact| Fact { text: one_line(&fact.text), ..fact })
        .filter(|fact| !fact.text.trim_matches([',', ' ']).is_empty())
        .collect()
}

fn hardware(machine: &Machine) -> String {
    let mut parts = vec![
        if machine.cpu.is_empty() { "unknown CPU".to_owned() } else { machine.cpu.clone() },
        plural(machine.cpus, "logical CPU"),
        format!("{} memory", Unit::Bytes.text(machine.memory_bytes as f64)),
    ];
    if machine.virtual_machine {
        parts.push("virtual machine".to_owned());
    }
    parts.extend(machine.governor.as_ref().map(|governor| format!("governor {governor}")));
    parts.join(", ")
}

/// The nodes of a run, and whether its verdicts are about these nodes or about nodes like these; empty for a run on
/// one node.
fn nodes(run: &Run) -> String {
    if let Some(Shard { nth, of, node }) = &run.shard {
        return format!("shard {nth} of {of}, on {node}");
    }
    let Some(merged) = &run.merged else { return roles(&run.roles) };
    let names: Vec<&str> = merged.nodes.iter().map(|node| node.name.as_str()).collect();
    let scope = match merged.scope {
        Scope::TheseNodes => "the verdicts are about these nodes, and rest on their rounds",
        Scope::NodesLikeThese => "the verdicts are about nodes like these: each node counts as one round",
    };
    format!("{} of {} shards, on {}; {scope}", merged.runs.len(), merged.of, names.join(", "))
}

/// The roles that other nodes had, with their machines; empty if none had any.
fn roles(roles: &[RoleElsewhere]) -> String {
    let of_node = |one: &[RoleElsewhere]| {
        let words: Vec<&str> = one.iter().map(|of| of.role.as_str()).collect();
        format!("{} on {} ({})", words.join(" and "), one[0].node.name, hardware(&one[0].node.machine))
    };
    let nodes = roles.chunk_by(|a, b| a.node.name == b.node.name);
    let named: Vec<String> = nodes.map(of_node).collect();
    if named.is_empty() { String::new() } else { format!("{}; the rest here", named.join("; ")) }
}

fn cores(record: &Record, engine_is: &str) -> String {
    let (run, machine) = (&record.export.run, &record.export.machine);
    let Cores { contender, engine, apart } = &machine.cores;
    if contender.is_empty() && engine.is_empty() {
        return "not pinned".to_owned();
    }
    let list = |cpus: &[usize]| match cpus {
        [] => "not pinned".to_owned(),
        [cpu] => format!("CPU {cpu}"),
        cpus => format!("CPUs {}", cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")),
    };
    let shared = contender.iter().any(|cpu| engine.contains(cpu));
    let siblings = machine.smt_siblings.iter().any(|group| {
        group.iter().any(|cpu| contender.contains(cpu)) && group.iter().any(|cpu| engine.contains(cpu))
    });
    let is_axis = |name: &&&str| run.points.iter().any(|point| point.get(name).is_some());
    let axis = ["server_cores", "cores"].iter().find(is_axis);
    let relation = match (shared, siblings) {
        // The CPUs are those of all points together.
        (true, _) if let Some(axis) = axis => {
            &format!("; how many and whether they share goes by {axis}, and trials that shared are marked")
        }
        (true, _) => "; they share CPUs",
        (false, true) => "; they share a physical core",
        (false, false) if contender.is_empty() || engine.is_empty() => "",
        (false, false) => "; no physical core is shared",
    };
    if *apart {
        return format!(
            "contender on {} of its own node, {engine_is} on {} here",
            list(contender),
            list(engine)
        );
    }
    format!("contender on {}, {engine_is} on {}{relation}", list(contender), list(engine))
}

fn judged(export: &Export) -> String {
    let margin = export.run.margin_percent;
    let is_sure = |claim: &Claim| claim.effect.as_ref().is_some_and(|effect| effect.bound.level().is_some());
    if !export.claims.iter().any(is_sure) {
        return String::new();
    }
    let right = match export.run.rule {
        Rule::FalseDiscoveryRate => {
            "of those that are given at most 5 % are false, on average, however often one looks"
        }
        Rule::Strict => "in at most 5 % of runs any of them is false, however often one looks",
    };
    format!("{right}; ratios within {margin} % are no difference")
}

/// The number of trials, the share of time that was not measuring, and the trials that were measured anew.
fn trials(export: &Export) -> String {
    let sum = |value: fn(&Trial) -> Option<f64>| export.trials.iter().filter_map(value).sum::<f64>() / 1e3;
    let (under_load, took) = (sum(|trial| trial.load_ms), sum(|trial| trial.took_ms));
    let mut parts = Vec::new();
    if took > 0.0 {
        let rest = 100.0 * (1.0 - under_load / took);
        parts.push(format!(
            "{} in {}, of which starting, waiting until ready, stopping and judging took {rest:.0} %",
            plural(export.trials.len(), "trial"),
            length(took)
        ));
    }
    parts.extend(void_blocks(export));
    // Earlier versions of kumite measured blocks anew that were marked.
    let replaced = export.trials.len() - standing(&export.trials).count() - void_trials(export).count();
    if replaced > 0 {
        parts.push(format!(
            "{replaced} of them were marked by noise from outside, or in a block with such, and measured anew"
        ));
    }
    parts.join("; ")
}

fn time(run: &Run) -> String {
    let started = run.started.strftime("%Y-%m-%d %H:%M:%S");
    match run.finished {
        Some(finished) => {
            let same_day = finished.strftime("%F").to_string() == run.started.strftime("%F").to_string();
            let form = if same_day { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
            format!("{started} to {} UTC", finished.strftime(form))
        }
        None => format!("{started} UTC, not finished"),
    }
}
