//! The trials of a run as a judge sees them: by cell, and by the rounds in which all of a comparison was measured.
//!
//! Nothing is judged here. A cell without a usable trial becomes a `Reason`, and a cell with lost or marked trials a
//! doubt, so that each gap in the trials reaches the reader by its cause.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use kumite_record::{
    AxisValue, CellName, Contender, ContenderStatus, ControlRatio, Doubt, Mark, Point, Reason, Run, Trial,
};

use super::expand::Reference;
use crate::control::off;
use crate::inner_axis::{Grid, Observation, Observations};

/// Further than any claim asks.
const FAR: f64 = 1e9;

/// All that a judge looks at. Nothing of the trials is copied.
pub(crate) struct Evidence<'a> {
    pub(crate) grid: Grid<'a>,
    /// The values of each axis, in the order of the points.
    pub(super) axes: BTreeMap<String, Vec<AxisValue>>,
    pub(super) contenders: &'a [Contender],
    seen: Observations<'a>,
    trials: Vec<&'a Trial>,
    /// Where the run's control is off.
    off: Vec<ControlRatio>,
    /// How many repetitions there are, the last one whole or not: rounds or, where verdicts are about nodes like these,
    /// nodes.
    pub(super) rounds: u32,
}

impl<'a> Evidence<'a> {
    pub(crate) fn new(run: &'a Run, trials: &[&'a Trial], contenders: &'a [Contender]) -> Evidence<'a> {
        let grid = Grid::new(run);
        let mut axes: BTreeMap<String, Vec<AxisValue>> = BTreeMap::new();
        let mut known = HashSet::new();
        for (axis, value) in grid.points.iter().flat_map(|point| &point.0) {
            if known.insert((axis, value)) {
                axes.entry(axis.clone()).or_default().push(value.clone());
            }
        }
        let rounds = trials.iter().map(|trial| run.repetition(trial) + 1).max().unwrap_or(0);
        let seen = grid.observations(trials);
        let off = off(&grid, &seen);
        Evidence { seen, grid, axes, contenders, trials: trials.to_vec(), off, rounds }
    }

    /// The same evidence as it was when round `look` began; but a control that is off now was so then.
    pub(super) fn before(&self, look: u32) -> Evidence<'a> {
        let run = self.grid.run;
        let is_before = |trial: &&Trial| run.repetition(trial) < look;
        let before: Vec<&'a Trial> = self.trials.iter().copied().filter(is_before).collect();
        Evidence { off: self.off.clone(), ..Evidence::new(run, &before, self.contenders) }
    }

    pub(super) fn cell(&self, reference: &Reference) -> CellName {
        self.grid.cell(&reference.contender, reference.point)
    }

    fn looks(&self, reference: &Reference) -> &[Observation<'a>] {
        self.seen.cell(&reference.contender, reference.point)
    }

    pub(super) fn trials_of(&self, contender: &str) -> impl Iterator<Item = (usize, &'a Trial)> {
        self.seen.of_contender(contender).map(|(point, look)| (point, look.trial()))
    }

    /// The rounds in which all of these were measured.
    pub(super) fn rounds(&self, references: Vec<Reference>) -> Result<Rounds, Reason> {
        let mut looks = Vec::new();
        for reference in &references {
            if let Some(reason) = self.too_few_values(reference) {
                return Err(reason);
            }
            let by_round: BTreeMap<u32, Observation> =
                self.usable(reference).map(|look| (look.trial().block, *look)).collect();
            if by_round.is_empty() {
                return Err(self.absence(&reference.contender, Some(reference)));
            }
            looks.push(by_round);
        }
        let merged = self.grid.run.merged.as_ref();
        let mut rounds = Rounds { references, ..Rounds::default() };
        for round in looks.first().into_iter().flat_map(BTreeMap::keys) {
            let Some(looks) = looks.iter().map(|of| of.get(round)).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let measured = || rounds.references.iter().zip(&looks);
            let values = measured().map(|(reference, look)| look.metrics()[&reference.metric]).collect();
            let bounds = measured().map(|(reference, look)| look.is_lower_bound(&reference.metric)).collect();
            rounds.blocks.push(*round);
            rounds.nodes.push(merged.and_then(|of| of.node_of(looks.first()?.trial())));
            rounds.values.push(values);
            rounds.bounds.push(bounds);
        }
        match rounds.values.is_empty() {
            true => {
                Err(Reason::NoRound { cells: rounds.references.iter().map(|it| self.cell(it)).collect() })
            }
            false => Ok(rounds),
        }
    }

    fn usable(&self, reference: &Reference) -> impl Iterator<Item = &Observation<'a>> {
        let has = |look: &&Observation| look.is_ok() && look.metrics().contains_key(&reference.metric);
        self.looks(reference).iter().filter(has)
    }

    /// The usable trials of these cells by block, each once by its place in the run.
    pub(super) fn trials_by_block(
        &self,
        references: &[Reference],
    ) -> BTreeMap<u32, BTreeMap<u32, &'a Trial>> {
        let mut blocks = BTreeMap::<u32, BTreeMap<u32, &Trial>>::new();
        for trial in references.iter().flat_map(|it| self.usable(it)).map(Observation::trial) {
            blocks.entry(trial.block).or_default().insert(trial.seq, trial);
        }
        blocks
    }

    /// Why there is nothing of a contender, or of one of its cells.
    pub(super) fn absence(&self, name: &str, reference: Option<&Reference>) -> Reason {
        let contender = self.contenders.iter().find(|contender| contender.name == name);
        if let Some(contender) = contender.filter(|contender| contender.status != ContenderStatus::Ran) {
            let why = contender.reason.as_deref().unwrap_or("no reason was kept").to_owned();
            return Reason::Absent { contender: name.to_owned(), status: contender.status, why };
        }
        if let Some(why) = reference.and_then(|it| self.grid.unavailable(it.point)) {
            return Reason::Unavailable { why: why.to_owned() };
        }
        let here: Vec<&Trial> = match reference {
            Some(reference) => self.looks(reference).iter().map(Observation::trial).collect(),
            None => self.trials_of(name).map(|(_, trial)| trial).collect(),
        };
        let whole = CellName { contender: name.to_owned(), point: Point::default() };
        let cell = reference.map_or(whole, |reference| self.cell(reference));
        let lost = here.iter().filter(|trial| trial.outcome != kumite_record::Outcome::Ok);
        match (lost.clone().find_map(|trial| Some((trial.outcome, trial.reason.clone()?))), reference) {
            (Some((outcome, why)), _) => Reason::NoUsableTrial { cell, outcome, why },
            (None, Some(reference)) if !here.is_empty() => {
                Reason::NoMetric { cell, metric: reference.metric.clone() }
            }
            _ => Reason::NotTried { cell },
        }
    }

    /// A later trial may still make it testable: the cell was not tried yet, or failed no more than once.
    pub(super) fn may_come(&self, references: &[Reference], reason: &Reason) -> bool {
        match reason {
            Reason::NotTried { .. } | Reason::NoRound { .. } => true,
            Reason::NoUsableTrial { .. } => {
                references.iter().all(|it| self.usable(it).next().is_some() || self.looks(it).len() <= 1)
            }
            _ => false,
        }
    }

    /// The metric is lacking in some trial of this cell. Those trials that have enough values are not judged alone:
    /// they are the fast ones.
    pub(super) fn too_few_values(&self, reference: &Reference) -> Option<Reason> {
        let metric = &reference.metric;
        let usable = self.looks(reference).iter().filter(|look| look.is_ok());
        let needs = usable.filter_map(|look| Some((*look.needs().get(metric)?, look)));
        let (missing, look) = needs.max_by_key(|(missing, _)| *missing)?;
        let enough = look.enough(metric).cloned();
        Some(Reason::TooFewValues { cell: self.cell(reference), metric: metric.clone(), missing, enough })
    }

    /// Cells that these metrics come from and that lost trials: what is judged are the others.
    pub(super) fn lost(&self, references: &[Reference]) -> BTreeSet<CellDoubt> {
        let of = |reference: &Reference| {
            let looks = self.looks(reference);
            let lost = looks.iter().filter(|look| !look.is_ok()).count();
            let doubt = CellDoubt::new(reference, Fault::Lost { lost, trials: looks.len() });
            (lost > 0).then_some(doubt)
        };
        references.iter().filter_map(of).collect()
    }

    /// The marks of these cells' usable trials.
    pub(super) fn marked(&self, references: &[Reference]) -> BTreeSet<CellDoubt> {
        let of = |reference: &Reference| {
            let marks: BTreeSet<_> = self.usable(reference).flat_map(|look| look.marks()).copied().collect();
            let doubts = marks.into_iter().map(|mark| CellDoubt::new(reference, Fault::Marked(mark)));
            doubts.collect::<Vec<_>>()
        };
        references.iter().flat_map(of).collect()
    }

    /// Of the metrics of a comparison, the one in which the control is furthest from itself, at whatever point; none
    /// where it is not off in any.
    pub(super) fn off_in(&self, references: &[Reference]) -> Option<&ControlRatio> {
        let is_compared = |of: &&ControlRatio| references.iter().any(|other| other.metric == of.metric);
        let off = self.off.iter().filter(is_compared);
        off.max_by(|a, b| a.distance().total_cmp(&b.distance()))
    }

    /// As the record has it.
    pub(super) fn doubt(&self, CellDoubt { fault, contender, point }: &CellDoubt) -> Doubt {
        let cell = self.grid.cell(contender, *point);
        match *fault {
            Fault::Lost { lost, trials } => Doubt::LostTrials { cell, lost, trials },
            Fault::Marked(mark) => Doubt::Marked { cell, mark },
        }
    }
}

/// A doubt about a cell, in the order of contenders' names and of the points of the plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CellDoubt {
    contender: String,
    point: usize,
    fault: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    Lost { lost: usize, trials: usize },
    Marked(Mark),
}

impl CellDoubt {
    fn new(reference: &Reference, fault: Fault) -> CellDoubt {
        CellDoubt { contender: reference.contender.clone(), point: reference.point, fault }
    }
}

/// The values of a comparison's metrics in each round in which all of them were measured. A round that lacks one is
/// left out: half a pair compares nothing.
#[derive(Default)]
pub(super) struct Rounds {
    pub references: Vec<Reference>,
    /// The blocks, ascending.
    pub blocks: Vec<u32>,
    /// The position of the node that each was executed on, where there are several.
    pub nodes: Vec<Option<usize>>,
    /// For each round a value of each.
    pub values: Vec<Vec<f64>>,
    /// For each round, the values that are lower bounds: the trial ended before the end was seen.
    bounds: Vec<Vec<bool>>,
}

impl Rounds {
    /// As if what was not seen to its end had gone on for ages: all of it, and what is of each reference alone.
    pub fn with_bounds_far(&self) -> Vec<Vec<Vec<f64>>> {
        let has_bounds = |nth: &usize| self.bounds.iter().any(|bounds| bounds[*nth]);
        let bounded: Vec<usize> = (0..self.references.len()).filter(has_bounds).collect();
        let mut far: Vec<Vec<Vec<f64>>> = bounded.iter().map(|nth| self.far(&[*nth])).collect();
        if bounded.len() > 1 {
            far.push(self.far(&bounded));
        }
        far
    }

    fn far(&self, which: &[usize]) -> Vec<Vec<f64>> {
        let round = |(values, bounds): (&Vec<f64>, &Vec<bool>)| {
            let far = |(nth, value): (usize, &f64)| match bounds[nth] && which.contains(&nth) {
                true => value.max(1.0) * FAR,
                false => *value,
            };
            values.iter().enumerate().map(far).collect()
        };
        self.values.iter().zip(&self.bounds).map(round).collect()
    }
}
