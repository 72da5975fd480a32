//! An experiment that can be run: everything in it was checked when it was read.
//!
//! It is immutable. Contenders are in the order of their names, and points in that of the axes, so that the same file
//! gives the same plan everywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_judge::{CheckSpec, ClaimSpec, Derived, of_parameters};
use kumite_record::{AxisValue, Cores, Kind, Metric, Point, Published, Question, Unavailable, Unit, Within};

use super::folder;
use crate::contender::{Contender, Install, Need, Ready, Variant};
use crate::driver::{Answer, Conditions, Opening, Planned, Registration};
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
    /// The question and its source.
    pub question: Question,
    /// The kind of workload.
    pub(crate) kind: &'static Registration,
    /// The profile that was applied.
    pub profile: String,
    /// All profiles that it has.
    pub profiles: Vec<String>,
    /// The fixed parameters: `[workload]` with the profile's changes. One that is an axis, too, is that axis's default.
    pub fixed: BTreeMap<String, AxisValue>,
    /// The points, and who takes part at each.
    pub planned: Vec<Planned>,
    /// How many blocks are planned at each point, at most.
    pub blocks: u32,
    /// How many of them each point gets even if no verdict needs them.
    pub min_blocks: u32,
    /// Ratios of at most this much are no difference, in percent.
    pub margin_percent: f64,
    /// The contender that stands in each block twice; none where there is no control.
    pub control: Option<String>,
    /// The answer that is right.
    pub answer: Answer,
    /// The claims that the profile judges, parsed and checked.
    pub claims: Vec<ClaimSpec>,
    /// The others, by id.
    pub not_judged: Vec<String>,
    /// The checks: statements that have to be true whatever the contenders are.
    pub checks: Vec<CheckSpec>,
    /// Contender folders, by name of the folder.
    pub contenders: Vec<Contender>,
    /// The published figures, to be shown beside the measured ones.
    pub published: Option<Published>,
    /// The experiment file, word for word.
    pub text: String,
    /// The metrics of trials, in the order in which they are shown.
    pub metrics: Vec<Metric>,
    /// The metrics of their parts, where an axis is within them.
    pub part_metrics: Vec<Metric>,
    /// Suspicions that are no errors, each with its place.
    pub doubts: Vec<String>,
    /// Metrics of its own.
    pub(crate) derived: Derived,
    /// The units of parameters.
    pub(super) units: BTreeMap<String, Unit>,
    /// Tools that its set-up and its checker need.
    pub(crate) needs: Vec<Need>,
    /// Where these come from.
    pub(crate) install: Install,
    /// The services beside its contenders, by name.
    pub(crate) services: BTreeMap<String, ServiceSpec>,
    /// Bytes of free disk that a trial needs, over parameters.
    pub(super) disk: Option<String>,
}

impl Experiment {
    /// The folders of all experiments that are found by name, place after place.
    pub fn list() -> Result<Vec<PathBuf>, SpecError> {
        folder::all()
    }

    /// The folder of the nearest one with this name, which may be a stranger's: it is never taken for a path.
    pub fn folder_of(name: &str) -> Result<PathBuf, SpecError> {
        folder::find_by_name(name)
    }

    /// The kind of its workload.
    pub fn kind(&self) -> Kind {
        self.kind.name.clone()
    }

    /// The points of the plan.
    pub fn points(&self) -> Vec<Point> {
        self.planned.iter().map(|planned| planned.point.clone()).collect()
    }

    /// The contenders that the profile does not try at any point.
    pub fn unplanned(&self) -> Vec<String> {
        let planned: BTreeSet<&String> =
            self.planned.iter().flat_map(|planned| &planned.contenders).collect();
        let names = self.variants().into_iter().map(|(_, variant)| variant.name.clone());
        names.filter(|name| !planned.contains(name)).collect()
    }

    /// The contenders that take part at each of these points; empty where all take part everywhere.
    pub fn contenders_at(&self) -> Vec<Vec<String>> {
        let all = self.variants().len();
        if self.planned.iter().all(|planned| planned.contenders.len() == all) {
            return Vec::new();
        }
        self.planned.iter().map(|planned| planned.contenders.clone()).collect()
    }

    /// Every contender with its folder, in the order of their names.
    pub fn variants(&self) -> Vec<(&Contender, &Variant)> {
        let mut all: Vec<_> =
            self.contenders.iter().flat_map(|c| c.variants.iter().map(move |variant| (c, variant))).collect();
        all.sort_by(|a, b| a.1.name.cmp(&b.1.name));
        all
    }

    /// Plans one job of a contender, and nothing else: the first point that is planned for it, with these parameters in place
    /// of its own.
    pub fn plan_one(&mut self, contender: &str, parameters: &[(String, AxisValue)]) -> Result<(), Unfit> {
        let tries_it = |planned: &&Planned| planned.contenders.iter().any(|name| name == contender);
        let first = self.planned.iter().find(tries_it).or(self.planned.first());
        let mut point = first.map(|planned| planned.point.clone()).unwrap_or_default();
        for (name, value) in parameters {
            let place = if point.get(name).is_some() { &mut point.0 } else { &mut self.fixed };
            place.insert(name.clone(), value.clone());
        }
        let contenders = vec![contender.to_owned()];
        let planned = Planned::read(self.kind.workload, &self.fixed, &self.answer, point, contenders)?;
        self.planned = vec![planned];
        Ok(())
    }

    /// The axis that each trial sweeps within itself, if it does, with all values that it has at any point.
    pub fn within(&self) -> Option<Within> {
        widest(self.withins())
    }

    /// How many of these values trials at each point have; nothing where all have all of them.
    pub fn within_at(&self) -> Vec<usize> {
        let all = self.within().map_or(0, |within| within.values.len());
        let counts: Vec<usize> = self.withins().map(|within| within.values.len()).collect();
        if counts.iter().all(|count| *count == all) { Vec::new() } else { counts }
    }

    fn withins(&self) -> impl Iterator<Item = Within> {
        self.planned.iter().filter_map(|planned| planned.workload.within())
    }

    /// Where a contender is checked: at the first of these points that the profile tries it at, and any if it tries it nowhere;
    /// and where a parameter says which of its code runs, at one point for each of its values.
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

    /// The parameter that chooses among a contender's code, and its value at this point.
    pub fn code<'a>(&self, point: &'a Point) -> Option<(&'static str, &'a AxisValue)> {
        self.kind.code.and_then(|name| Some((name, point.get(name)?)))
    }

    /// The most bytes of free disk that any of its trials needs.
    pub(crate) fn disk_bytes(&self) -> f64 {
        let of_point = |planned: &Planned| {
            of_parameters(self.disk.as_deref()?, &planned.parameters, &self.units, Unit::Bytes).ok()
        };
        self.planned.iter().filter_map(of_point).fold(0.0, f64::max)
    }

    /// The contenders that take part at each point, by position in `ready`; none where it cannot be measured.
    pub fn takes_part(&self, ready: &[Ready], unavailable: &[Unavailable]) -> Vec<Vec<usize>> {
        let at = |planned: &Planned| {
            let can_be = unavailable.iter().all(|other| other.point != planned.point);
            let here = |(_, ready): &(usize, &Ready)| can_be && planned.contenders.contains(&ready.name);
            ready.iter().enumerate().filter(here).map(|(position, _)| position).collect()
        };
        self.planned.iter().map(at).collect()
    }

    /// How long a trial takes at each point, without starting and stopping; none if only trying it tells.
    pub fn times(&self) -> Vec<Option<Duration>> {
        let known = |[least, most]: [Duration; 2]| (least == most).then_some(most);
        self.planned.iter().map(|planned| bounds(planned).and_then(known)).collect()
    }

    /// How many trials a round has with these contenders, and how long they take at least and at most, without starting and
    /// stopping; none if only trying them tells.
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

    /// Everything that a driver of the experiment's contenders is made from. `state` is the folder of the store;
    /// `run` is the run's id, after which the folder of its logs is named.
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

/// How long a trial takes at a point at least and at most.
fn bounds(planned: &Planned) -> Option<[Duration; 2]> {
    Some([planned.workload.least_time()?, planned.workload.time()?])
}

/// The axis within trials, with all values that any of these has.
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
