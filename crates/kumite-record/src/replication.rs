//! Two runs beside each other: the things in which they differ, and a comparison of their verdicts, claim by claim.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Bound, Claim, Contender, ContenderStatus, Effect, EffectKind, Export, Machine, Run, SCHEMA, Side, Sides,
    Verdict, describe_tag,
};

/// The parts of a run that are compared with the same parts of another run.
#[derive(Clone, Copy, Debug)]
pub struct RunParts<'a> {
    /// The run itself, with its plan.
    pub run: &'a Run,
    /// The machine that the run was executed on.
    pub machine: &'a Machine,
    /// The contenders, with their versions and digests.
    pub contenders: &'a [Contender],
    /// The claims with their verdicts; empty before there are any.
    pub claims: &'a [Claim],
}

impl<'a> From<&'a Export> for RunParts<'a> {
    fn from(export: &'a Export) -> RunParts<'a> {
        let Export { run, machine, contenders, claims, .. } = export;
        RunParts { run, machine, contenders, claims }
    }
}

/// Two runs beside each other: the document that `kumite replicate` and `kumite report A B` write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replication {
    /// The version of the document's form. It grows when a reader of the old form would misread the new one.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The names of the two runs: `theirs` and `here`, or `first` and `second`.
    pub names: [String; 2],
    /// Both runs. Every pair in this document is in the order of these two.
    pub runs: [Run; 2],
    /// The things in which the runs differ, except for their figures.
    pub differences: Vec<RunDifference>,
    /// The claims of both runs: those of the first in its order, then those that only the second has.
    pub claims: Vec<ClaimPair>,
}

/// One thing in which two runs differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunDifference {
    /// The thing that differs.
    pub of: Differing,
    /// The value in each run, in words. None for a run that does not have the thing.
    pub values: [Option<String>; 2],
}

/// A thing in which two runs may differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Differing {
    /// The name of the experiment.
    Experiment,
    /// The profile that was chosen.
    Profile,
    /// The value of kumite's `MEASURES`, the version of how trials are measured.
    Measures,
    /// The version of kumite.
    Kumite,
    /// The rule by which claims are judged.
    Rule,
    /// The largest number of blocks that was planned at each point.
    Blocks,
    /// A key of the experiment's file. Keys that are only words for people, such as titles, are not compared.
    Specification {
        /// The full path of the key, with the tables that it is in.
        key: String,
    },
    /// A fact of the machine.
    Machine {
        /// The name of the fact.
        fact: String,
    },
    /// The part that a contender had in the run: it ran, or the reason that it did not.
    Part {
        /// The contender's name.
        contender: String,
    },
    /// The digest of a contender's files and build command.
    Source {
        /// The contender's name.
        contender: String,
    },
    /// The output of a contender's `version` command; if both runs have the same, the digest of its tools' versions.
    Tools {
        /// The contender's name.
        contender: String,
    },
    /// The kind and version of a service.
    Service {
        /// The service's name in the experiment.
        name: String,
    },
    /// The roles that nodes other than kumite's own have.
    Roles,
}

/// One claim, as both runs judged it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimPair {
    /// The id of the claim.
    pub id: String,
    /// The comparison of the two verdicts.
    pub outcome: PairOutcome,
    /// The reason why the verdicts cannot be compared. None if they can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untold: Option<Untold>,
    /// The position of the two effects' intervals to each other. None if the effects are not of the same comparison,
    /// or an interval is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Intervals>,
    /// The claim in each run. None for a run that does not have it.
    pub claims: [Option<Claim>; 2],
}

/// The outcome of comparing two verdicts on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PairOutcome {
    /// Both runs came to the same verdict, or in both the verdict depends on the sitting.
    Same,
    /// Each run came to a verdict, and the two differ.
    Another,
    /// The verdicts cannot be compared, for the reason in `untold`.
    CouldNotTell,
}

/// The reason why two verdicts on a claim cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Untold {
    /// Only the first run has the claim.
    OnlyFirst,
    /// Only the second run has the claim.
    OnlySecond,
    /// The runs have different sentences under the same id.
    AskedOtherwise,
    /// At least one run did not come to a verdict, or the verdict depends on the sitting in just one of the runs.
    Undecided,
}

/// The position of the intervals of two effects to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Intervals {
    /// The intervals overlap: some effects are in both.
    Overlap,
    /// The intervals do not overlap: no effect is in both.
    Apart,
}

impl Replication {
    /// Compares two runs. `specification` has the differences of their experiment files, which are not read here.
    pub fn new(names: [&str; 2], runs: [RunParts; 2], specification: Vec<RunDifference>) -> Replication {
        Replication {
            schema: SCHEMA,
            names: names.map(str::to_owned),
            runs: runs.map(|of| of.run.clone()),
            differences: differences(runs, specification),
            claims: pairs(runs),
        }
    }

    /// The number of claims whose two verdicts compare with this outcome.
    pub fn count(&self, outcome: PairOutcome) -> usize {
        self.claims.iter().filter(|pair| pair.outcome == outcome).count()
    }
}

fn differences(runs: [RunParts; 2], specification: Vec<RunDifference>) -> Vec<RunDifference> {
    let fact = |of: Differing, value: fn(&Run) -> Option<String>| differing(of, runs.map(|of| value(of.run)));
    let of_run = [
        fact(Differing::Experiment, |run| Some(run.experiment.clone())),
        fact(Differing::Profile, |run| Some(run.profile.clone())),
        fact(Differing::Measures, |run| run.measures.map(|measures| measures.to_string())),
        fact(Differing::Kumite, |run| Some(run.kumite.clone())),
        fact(Differing::Rule, |run| Some(run.rule.as_str().to_owned())),
        fact(Differing::Blocks, |run| Some(run.blocks.to_string())),
    ];
    let roles = fact(Differing::Roles, |run| {
        let roles: Vec<String> =
            run.roles.iter().map(|of| format!("{} on {}", of.role, of.node.name)).collect();
        (!roles.is_empty()).then(|| roles.join(", "))
    });
    let of_run = of_run.into_iter().flatten();
    of_run
        .chain(specification)
        .chain(of_machines(runs.map(|of| of.machine)))
        .chain(roles)
        .chain(of_contenders(runs.map(|of| of.contenders)))
        .chain(of_services(runs.map(|of| of.run)))
        .collect()
}

fn differing(of: Differing, values: [Option<String>; 2]) -> Option<RunDifference> {
    (values[0] != values[1]).then_some(RunDifference { of, values })
}

fn of_machines(machines: [&Machine; 2]) -> Vec<RunDifference> {
    type Value = fn(&Machine) -> Option<String>;
    const GIB: f64 = 1_073_741_824.0;
    let cpus = |all: &[usize]| (!all.is_empty()).then(|| format!("{all:?}"));
    let values: [(&str, Value); 7] = [
        ("system", |of| Some(of.os.clone())),
        ("kernel", |of| Some(of.kernel.clone())),
        ("processor", |of| Some(of.cpu.clone())),
        ("logical CPUs", |of| Some(of.cpus.to_string())),
        ("memory", |of| Some(format!("{:.1} GiB", of.memory_bytes as f64 / GIB))),
        ("virtual machine", |of| Some(if of.virtual_machine { "yes" } else { "no" }.to_owned())),
        ("governor", |of| of.governor.clone()),
    ];
    let facts = values.map(|(fact, value)| (fact, machines.map(value)));
    let cores = [
        ("CPUs of contenders", machines.map(|of| cpus(&of.cores.contender))),
        ("CPUs of the load engine", machines.map(|of| cpus(&of.cores.engine))),
    ];
    let named = |(fact, values): (&str, _)| differing(Differing::Machine { fact: fact.to_owned() }, values);
    facts.into_iter().chain(cores).filter_map(named).collect()
}

fn of_contenders(contenders: [&[Contender]; 2]) -> Vec<RunDifference> {
    let ran = |of: &&Contender| of.status == ContenderStatus::Ran;
    let names: BTreeSet<&str> =
        contenders.iter().flat_map(|all| all.iter().filter(ran)).map(|of| of.name.as_str()).collect();
    names.into_iter().flat_map(|name| of_contender(name, contenders)).collect()
}

/// The differences of a contender that took part in at least one of the runs.
fn of_contender(name: &str, contenders: [&[Contender]; 2]) -> Vec<RunDifference> {
    let both = contenders.map(|all| all.iter().find(|of| of.name == name));
    let part = |of: Option<&Contender>| {
        let of = of?;
        let why = of.reason.as_ref().map_or(String::new(), |why| format!(": {why}"));
        Some(format!("{}{why}", of.status.as_str()))
    };
    let contender = || name.to_owned();
    let [Some(first), Some(second)] = both.map(|of| of.filter(|of| of.status == ContenderStatus::Ran)) else {
        return differing(Differing::Part { contender: contender() }, both.map(part)).into_iter().collect();
    };
    let both = [first, second];
    let source = both.map(|of| of.digests.as_ref().map(|digests| digests.source.clone()));
    let versions = both.map(|of| of.version.clone());
    let tools = both.map(|of| of.digests.as_ref().map(|digests| digests.tools.clone()));
    let tools = if versions[0] == versions[1] { tools } else { versions };
    let source = differing(Differing::Source { contender: contender() }, source);
    source.into_iter().chain(differing(Differing::Tools { contender: contender() }, tools)).collect()
}

fn of_services(runs: [&Run; 2]) -> Vec<RunDifference> {
    let names: BTreeSet<&str> =
        runs.iter().flat_map(|run| &run.services).map(|service| service.name.as_str()).collect();
    let version = |run: &Run, name: &str| {
        let service = run.services.iter().find(|service| service.name == name)?;
        Some(format!("{} {}", service.kind, service.version))
    };
    let of_one = |name: &str| {
        differing(Differing::Service { name: name.to_owned() }, runs.map(|run| version(run, name)))
    };
    names.into_iter().filter_map(of_one).collect()
}

fn pairs(runs: [RunParts; 2]) -> Vec<ClaimPair> {
    let [first, second] = runs.map(|of| of.claims);
    let mut seen = BTreeSet::new();
    let ids = first.iter().chain(second).map(|claim| claim.id.as_str()).filter(|id| seen.insert(*id));
    let of_id = |claims: &[Claim], id: &str| claims.iter().find(|claim| claim.id == id).cloned();
    ids.map(|id| ClaimPair::new(id, [of_id(first, id), of_id(second, id)])).collect()
}

impl ClaimPair {
    fn new(id: &str, claims: [Option<Claim>; 2]) -> ClaimPair {
        let (outcome, untold) = match &claims {
            [Some(first), Some(second)] => outcome(first, second),
            [Some(_), None] => (PairOutcome::CouldNotTell, Some(Untold::OnlyFirst)),
            _ => (PairOutcome::CouldNotTell, Some(Untold::OnlySecond)),
        };
        let intervals = match &claims {
            [Some(first), Some(second)] => intervals(first, second),
            _ => None,
        };
        ClaimPair { id: id.to_owned(), outcome, untold, intervals, claims }
    }
}

fn outcome(first: &Claim, second: &Claim) -> (PairOutcome, Option<Untold>) {
    let is_told = |verdict| matches!(verdict, Verdict::Holds | Verdict::Fails | Verdict::NoDifference);
    match (first.verdict, second.verdict) {
        _ if first.assert != second.assert => (PairOutcome::CouldNotTell, Some(Untold::AskedOtherwise)),
        (a, b) if a == b && (is_told(a) || a == Verdict::DependsOnSitting) => (PairOutcome::Same, None),
        (a, b) if is_told(a) && is_told(b) => (PairOutcome::Another, None),
        _ => (PairOutcome::CouldNotTell, Some(Untold::Undecided)),
    }
}

/// The position of the effects' intervals to each other. None if the two claims were decided by different
/// comparisons, or if an interval is unknown.
fn intervals(first: &Claim, second: &Claim) -> Option<Intervals> {
    let [a, b] = [first.decided_by.as_ref()?, second.decided_by.as_ref()?];
    let [of_a, of_b] = [first.effect.as_ref()?, second.effect.as_ref()?];
    let is_one = a.comparison == b.comparison
        && (&a.contender, &a.point) == (&b.contender, &b.point)
        && of_a.kind == of_b.kind
        && are_alike(a.sides.as_ref(), b.sides.as_ref());
    let ends = [interval(of_a)?, interval(of_b)?];
    let [[low_a, high_a], [low_b, high_b]] = ends;
    is_one.then_some(match low_a.max(low_b) <= high_a.min(high_b) {
        true => Intervals::Overlap,
        false => Intervals::Apart,
    })
}

/// True if both comparisons have the same sides, values aside. A claim's numbers are part of its effect, so they must
/// be equal, too.
fn are_alike(a: Option<&Sides>, b: Option<&Sides>) -> bool {
    let without_values = |side: &Side| match side.clone() {
        Side::Metric { contender, point, metric, times, .. } => {
            Side::Metric { contender, point, metric, times, value: None }
        }
        Side::Expression { .. } => Side::Expression { value: None },
        number @ Side::Number { .. } => number,
    };
    let named = |of: Option<&Sides>| {
        of.map(|of| (without_values(&of.left), of.op, without_values(&of.right), of.unit))
    };
    named(a) == named(b)
}

/// The interval of an effect; an unknown end is infinite. None if neither end is known.
fn interval(effect: &Effect) -> Option<[f64; 2]> {
    if effect.kind == EffectKind::Exact {
        return Some([effect.value; 2]);
    }
    match (effect.bound, effect.bound.low(), effect.bound.high()) {
        (Bound::Exact, ..) => Some([effect.value; 2]),
        (_, None, None) => None,
        (_, low, high) => Some([low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)]),
    }
}

#[cfg(test)]
mod tests;
