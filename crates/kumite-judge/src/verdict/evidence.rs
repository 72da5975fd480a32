//! The trials of a run as a judge sees them: by cell, and by the rounds in which all cells of a comparison were
//! measured.
//!
//! Nothing is judged here. A cell without a usable trial becomes a `Reason`, and a cell with lost or marked trials a
//! doubt, so that each gap in the trials reaches the reader with its cause.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use kumite_record::{
    AxisValue, CellName, Contender, ContenderStatus, ControlRatio, Doubt, Mark, Point, Reason, Run, Trial,
};

use super::expand::Reference;
use crate::control::off;
use crate::inner_axis::{Grid, Observation, Observations};

/// The factor by which a lower bound is multiplied, to stand for any larger value. No claim asks for one as large.
const FAR: f64 = 1e9;

/// The material that claims and checks are judged by. Trials are borrowed and not copied.
pub(crate) struct Evidence<'a> {
    pub(crate) grid: Grid<'a>,
    /// The values of each axis, in the order of the points.
    pub(super) axes: BTreeMap<String, Vec<AxisValue>>,
    pub(super) contenders: &'a [Contender],
    seen: Observations<'a>,
    trials: Vec<&'a Trial>,
    /// The control's ratios to itself, at the points and in the metrics in which it is off.
    off: Vec<ControlRatio>,
    /// The number of repetitions, the last one complete or not: of rounds or, if verdicts are about nodes like these,
    /// of nodes.
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

    /// The evidence from the trials before round `look`. A control that is off now counts as off then, too.
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

    /// The rounds in which all of these metrics were measured. An error if there are none, with the reason, or if some
    /// trial has too few values for a metric.
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

    /// The usable trials of these cells, by block and then by the trial's place in the run.
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

    /// The reason why there is nothing to judge of a contender, or of one of its cells.
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

    /// True if later trials may still make a comparison testable: a cell was not tried yet, no round has all cells
    /// yet, or the cells without a usable trial have had one trial at most.
    pub(super) fn may_come(&self, references: &[Reference], reason: &Reason) -> bool {
        match reason {
            Reason::NotTried { .. } | Reason::NoRound { .. } => true,
            Reason::NoUsableTrial { .. } => {
                references.iter().all(|it| self.usable(it).next().is_some() || self.looks(it).len() <= 1)
            }
            _ => false,
        }
    }

    /// The reason that some trial of a cell has too few values for the metric, by the trial that lacks the most. None
    /// if every trial has enough. Trials with enough values are not judged alone, since they are the fast ones.
    pub(super) fn too_few_values(&self, reference: &Reference) -> Option<Reason> {
        let metric = &reference.metric;
        let usable = self.looks(reference).iter().filter(|look| look.is_ok());
        let needs = usable.filter_map(|look| Some((*look.needs().get(metric)?, look)));
        let (missing, look) = needs.max_by_key(|(missing, _)| *missing)?;
        let enough = look.enough(metric).cloned();
        Some(Reason::TooFewValues { cell: self.cell(reference), metric: metric.clone(), missing, enough })
    }

    /// The doubts about cells of these metrics that lost trials. The other trials of such cells are judged.
    pub(super) fn lost(&self, references: &[Reference]) -> BTreeSet<CellDoubt> {
        let of = |reference: &Reference| {
            let looks = self.looks(reference);
            let lost = looks.iter().filter(|look| !look.is_ok()).count();
            let doubt = CellDoubt::new(reference, Fault::Lost { lost, trials: looks.len() });
            (lost > 0).then_some(doubt)
        };
        references.iter().filter_map(of).collect()
    }

    /// The doubts about cells of these metrics whose usable trials are marked.
    pub(super) fn marked(&self, references: &[Reference]) -> BTreeSet<CellDoubt> {
        let of = |reference: &Reference| {
            let marks: BTreeSet<_> = self.usable(reference).flat_map(|look| look.marks()).copied().collect();
            let doubts = marks.into_iter().map(|mark| CellDoubt::new(reference, Fault::Marked(mark)));
            doubts.collect::<Vec<_>>()
        };
        references.iter().flat_map(of).collect()
    }

    /// The control's ratio to itself that is furthest from 1, at any point, among these metrics. None if the control
    /// is off in none of them.
    pub(super) fn off_in(&self, references: &[Reference]) -> Option<&ControlRatio> {
        let is_compared = |of: &&ControlRatio| references.iter().any(|other| other.metric == of.metric);
        let off = self.off.iter().filter(is_compared);
        off.max_by(|a, b| a.distance().total_cmp(&b.distance()))
    }

    /// A doubt about a cell in the form that the record has.
    pub(super) fn doubt(&self, CellDoubt { fault, contender, point }: &CellDoubt) -> Doubt {
        let cell = self.grid.cell(contender, *point);
        match *fault {
            Fault::Lost { lost, trials } => Doubt::LostTrials { cell, lost, trials },
            Fault::Marked(mark) => Doubt::Marked { cell, mark },
        }
    }
}

/// A doubt about a cell. Doubts are ordered by the contenders' names, then by the points of the plan.
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

/// The values of a comparison's metrics, in each round in which all of them were measured. Other rounds are left out,
/// since half a pair compares nothing.
#[derive(Default)]
pub(super) struct Rounds {
    pub references: Vec<Reference>,
    /// The block of each round, in ascending order.
    pub blocks: Vec<u32>,
    /// The position of each round's node in the run's list. None if the run was not merged from several, or its node
    /// is not in the list.
    pub nodes: Vec<Option<usize>>,
    /// The values of the metrics in each round, in the order of `references`.
    pub values: Vec<Vec<f64>>,
    /// For each value, true if it is a lower bound because the trial ended before the end was seen.
    bounds: Vec<Vec<bool>>,
}

impl Rounds {
    /// Variants of the values in which lower bounds are replaced by very large ones: for each metric that has any,
    /// those of that metric; and, if several have any, all of them.
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
