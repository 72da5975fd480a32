//! Experiments that can be run: everything in them was checked when they were read.
//!
//! An experiment is immutable. Its contenders are in the order of their names, and its points in that of the axes, so
//! that the same file gives the same plan everywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_judge::{CheckSpec, ClaimSpec, Derived, of_parameters};
use kumite_record::{
    AxisValue, Cores, Kind, Labels, Metric, Point, Published, Question, RunRevision, Unavailable, Unit,
    Within,
};

use super::folder;
use crate::contender::{Contender, Install, Need, Ready, Variant};
use crate::driver::{Answer, Conditions, Opening, Planned, Registration, Scenario};
use crate::node::Nodes;
use crate::service::ServiceSpec;
use crate::toml_source::SpecError;
use crate::unfit::Unfit;

/// An experiment with a profile applied and its contenders found: ready to be planned.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The name of the experiment, which is that of its folder.
    pub name: String,
    /// The folder of the experiment.
    pub folder: PathBuf,
    /// The question, and the published argument that it comes from.
    pub question: Question,
    /// The kind of workload.
    pub(crate) kind: &'static Registration,
    /// The profile that was applied.
    pub profile: String,
    /// The names of all profiles, with `quick`, `standard` and `full`, which every experiment has.
    pub profiles: Vec<String>,
    /// The fixed parameters: `[workload]` with the profile's changes. The value of one that is an axis, too, is that
    /// axis's default.
    pub fixed: BTreeMap<String, AxisValue>,
    /// The texts that labels of axes stand for.
    pub labels: Labels,
    /// The points of the plan, each with its workload and the contenders that are tried there.
    pub planned: Vec<Planned>,
    /// The largest number of blocks at each point.
    pub blocks: u32,
    /// The number of blocks that each point gets even if no verdict needs them.
    pub min_blocks: u32,
    /// The margin, in percent, from 0 to 50: sides of a comparison that differ by no more count as equal.
    pub margin_percent: f64,
    /// The contender that has two trials in each block. None if there is no control.
    pub control: Option<String>,
    /// The metric by which two revisions of the contenders are compared. None if the experiment names none.
    pub headline: Option<String>,
    /// The two revisions of the contenders, the earlier first. Empty if the contenders are those of the working tree
    /// alone.
    pub revisions: Vec<RunRevision>,
    /// The right answer, as `[answer]` has it. What `[[answer_at]]` says of single points is in their workloads.
    pub answer: Answer,
    /// The requests and sessions that are asked, if the experiment has any.
    pub(crate) scenario: Scenario,
    /// The claims that the profile judges, parsed and checked.
    pub claims: Vec<ClaimSpec>,
    /// The ids of the claims that the profile does not judge.
    pub not_judged: Vec<String>,
    /// The checks: statements that have to be true whatever the contenders are.
    pub checks: Vec<CheckSpec>,
    /// The folders with contenders, in the order of the folders' names. If there are two revisions, the folders of the
    /// earlier come first.
    pub contenders: Vec<Contender>,
    /// The published figures, to be shown beside the measured ones. None if the experiment gives none.
    pub published: Option<Published>,
    /// The text of the experiment file, word for word.
    pub text: String,
    /// The metrics of trials, in the order in which they are shown.
    pub metrics: Vec<Metric>,
    /// The metrics of parts of trials. Empty if no axis is swept within trials.
    pub part_metrics: Vec<Metric>,
    /// Sentences on things that are no errors but may be mistakes, such as a parameter whose name is almost one of
    /// kumite's.
    pub doubts: Vec<String>,
    /// The metrics that the experiment declares itself.
    pub(crate) derived: Derived,
    /// The units of all parameters, by name.
    pub(super) units: BTreeMap<String, Unit>,
    /// The tools that the experiment's set-up and its checker need.
    pub(crate) needs: Vec<Need>,
    /// The packages that bring the tools in `needs`.
    pub(crate) install: Install,
    /// The services beside the contenders, by name.
    pub(crate) services: BTreeMap<String, ServiceSpec>,
    /// The bytes of free disk that a trial needs, as an expression over parameters. None if the experiment does not
    /// say.
    pub(super) disk: Option<String>,
}

impl Experiment {
    /// The folders of all experiments that are found by name, the nearest first. An error if a folder of experiments
    /// cannot be read.
    pub fn list() -> Result<Vec<PathBuf>, SpecError> {
        folder::all()
    }

    /// The folder of the nearest experiment with this name. The name may come from a stranger, so it is never taken for
    /// a path. An error if there is no such experiment, or a folder of experiments cannot be read.
    pub fn folder_of(name: &str) -> Result<PathBuf, SpecError> {
        folder::find_by_name(name)
    }

    /// The kind of the experiment's workload.
    pub fn kind(&self) -> Kind {
        self.kind.name.clone()
    }

    /// The points of the plan.
    pub fn points(&self) -> Vec<Point> {
        self.planned.iter().map(|planned| planned.point.clone()).collect()
    }

    /// The names of the contenders that the profile does not try at any point.
    pub fn unplanned(&self) -> Vec<String> {
        let planned: BTreeSet<&String> =
            self.planned.iter().flat_map(|planned| &planned.contenders).collect();
        let names = self.variants().into_iter().map(|(_, variant)| variant.name.clone());
        names.filter(|name| !planned.contains(name)).collect()
    }

    /// The names of the contenders that take part, for each point of the plan. Empty if all take part everywhere.
    pub fn contenders_at(&self) -> Vec<Vec<String>> {
        let all = self.variants().len();
        if self.planned.iter().all(|planned| planned.contenders.len() == all) {
            return Vec::new();
        }
        self.planned.iter().map(|planned| planned.contenders.clone()).collect()
    }

    /// Every contender with the folder in which it is defined, in the order of the contenders' names.
    pub fn variants(&self) -> Vec<(&Contender, &Variant)> {
        let mut all: Vec<_> =
            self.contenders.iter().flat_map(|c| c.variants.iter().map(move |variant| (c, variant))).collect();
        all.sort_by(|a, b| a.1.name.cmp(&b.1.name));
        all
    }

    /// Replaces the plan by one job of a contender: at the first point that is planned for the contender or, if no
    /// point is, at the first point of all. `parameters` replace those of the point and the fixed ones. An error if the
    /// kind refuses them; the fixed parameters are changed even then.
    pub fn plan_one(&mut self, contender: &str, parameters: &[(String, AxisValue)]) -> Result<(), Unfit> {
        let tries_it = |planned: &&Planned| planned.contenders.iter().any(|name| name == contender);
        let first = self.planned.iter().find(tries_it).or(self.planned.first());
        let mut point = first.map(|planned| planned.point.clone()).unwrap_or_default();
        for (name, value) in parameters {
            let place = if point.get(name).is_some() { &mut point.0 } else { &mut self.fixed };
            place.insert(name.clone(), value.clone());
        }
        let contenders = vec![contender.to_owned()];
        let asked = (&self.answer, &self.scenario);
        let planned =
            Planned::read(self.kind.workload, (&self.fixed, &self.labels), asked, point, contenders)?;
        self.planned = vec![planned];
        Ok(())
    }

    /// The axis that each trial sweeps within itself, with all values that the axis has at any point. `None` if trials
    /// sweep no axis.
    pub fn within(&self) -> Option<Within> {
        widest(self.withins())
    }

    /// For each point, the number of values of the axis within trials that a trial sweeps. Empty if the trials of all
    /// points sweep all values, or if there is no such axis.
    pub fn within_at(&self) -> Vec<usize> {
        let all = self.within().map_or(0, |within| within.values.len());
        let swept = |planned: &Planned| planned.workload.within().map_or(0, |within| within.values.len());
        let counts: Vec<usize> = self.planned.iter().map(swept).collect();
        if counts.iter().all(|count| *count == all) { Vec::new() } else { counts }
    }

    fn withins(&self) -> impl Iterator<Item = Within> {
        self.planned.iter().filter_map(|planned| planned.workload.within())
    }

    /// The positions of the points at which a contender is checked. It is the first point of `measurable` at which the
    /// profile tries the contender; if the profile tries it at none of them, the first point of `measurable`. If a
    /// parameter chooses among the contender's code, there is one such point for each value of the parameter. Empty if
    /// `measurable` is empty.
    pub fn checked_at(&self, measurable: &[usize], contender: &str) -> Vec<usize> {
        let takes_part = |at: &usize| self.planned[*at].contenders.iter().any(|other| other == contender);
        let mut points: Vec<usize> = measurable.iter().copied().filter(takes_part).collect();
        points.extend(measurable.first().filter(|_| points.is_empty()));
        let mut seen = Vec::new();
        points.retain(|&at| {
            let code = self.code(&self.planned[at].point);
            let is_new = !seen.contains(&code);
            seen.push(code);
            is_new
        });
        points
    }

    /// The parameter that chooses among a contender's code, with its value at this point. `None` if the kind has no
    /// such parameter, or the parameter is no axis.
    pub fn code<'a>(&self, point: &'a Point) -> Option<(&'static str, &'a AxisValue)> {
        self.kind.code.and_then(|name| Some((name, point.get(name)?)))
    }

    /// The largest number of bytes of free disk that a trial needs, over all points; 0 if the experiment does not
    /// say.
    pub(crate) fn disk_bytes(&self) -> f64 {
        let of_point = |planned: &Planned| {
            of_parameters(self.disk.as_deref()?, &planned.parameters, &self.units, Unit::Bytes).ok()
        };
        self.planned.iter().filter_map(of_point).fold(0.0, f64::max)
    }

    /// For each point, the positions in `ready` of the contenders that take part. Empty at a point that cannot be
    /// measured.
    pub fn takes_part(&self, ready: &[Ready], unavailable: &[Unavailable]) -> Vec<Vec<usize>> {
        let at = |planned: &Planned| {
            let can_be = unavailable.iter().all(|other| other.point != planned.point);
            let here = |(_, ready): &(usize, &Ready)| can_be && planned.contenders.contains(&ready.name);
            ready.iter().enumerate().filter(here).map(|(position, _)| position).collect()
        };
        self.planned.iter().map(at).collect()
    }

    /// The time of a trial at each point, without starting and stopping. `None` if the time cannot be known exactly
    /// before a trial.
    pub fn times(&self) -> Vec<Option<Duration>> {
        let known = |[least, most]: [Duration; 2]| (least == most).then_some(most);
        self.planned.iter().map(|planned| bounds(planned).and_then(known)).collect()
    }

    /// The number of trials in a round with these contenders, and the shortest and the longest time that they take,
    /// without starting and stopping. The time is `None` if at some point it cannot be known before a trial.
    pub fn extent(&self, contenders: &[&str]) -> (usize, Option<[Duration; 2]>) {
        let here = |planned: &Planned| {
            let takes_part = |name: &&String| contenders.contains(&name.as_str());
            let twice = planned.contenders.iter().filter(|name| self.control.as_ref() == Some(*name));
            planned.contenders.iter().chain(twice).filter(takes_part).count()
        };
        let trials = self.planned.iter().map(here).sum();
        let bounds = self.planned.iter().map(|planned| {
            let of_one = bounds(planned)?;
            Some(of_one.map(|of_one| of_one * here(planned) as u32))
        });
        let bounds: Option<Vec<_>> = bounds.collect();
        let sum = |all: Vec<[Duration; 2]>| [0, 1].map(|nth: usize| all.iter().map(|of| of[nth]).sum());
        (trials, bounds.map(sum))
    }

    /// The inputs for a driver of the experiment's contenders, with all roles on this machine. `state` is the folder of
    /// the store; `run` is the run's id, after which the folder of its logs is named.
    pub fn opening<'a>(
        &'a self,
        cores: &'a Cores,
        state: &'a Path,
        run: &'a str,
        seed: u64,
        stop: &'a AtomicBool,
    ) -> Opening<'a> {
        let unavailable = self.unavailable(cores);
        let can_be = |planned: &Planned| unavailable.iter().all(|other| other.point != planned.point);
        let conditions = Conditions {
            folder: &self.folder,
            answer: &self.answer,
            planned: &self.planned,
            measurable: self.planned.iter().map(can_be).collect(),
            metrics: &self.metrics,
            part_metrics: &self.part_metrics,
            derived: &self.derived,
            services: &self.services,
            nodes: Nodes::default(),
        };
        Opening { kind: self.kind, conditions, cores, state, run, seed, stop }
    }
}

/// The least and the most time of a trial at a point. None if it cannot be known before it is tried.
fn bounds(planned: &Planned) -> Option<[Duration; 2]> {
    Some([planned.workload.least_time()?, planned.workload.time()?])
}

/// The axis within trials, with all values that any of these has. None if there is none.
pub(super) fn widest(of_each: impl Iterator<Item = Within>) -> Option<Within> {
    let mut all: Option<Within> = None;
    for one in of_each {
        let all = all.get_or_insert(Within { axis: one.axis, values: Vec::new() });
        for value in one.values {
            if !all.values.contains(&value) {
                all.values.push(value);
            }
        }
    }
    all
}
