//! `experiment.toml`: a question, a workload, axes, profiles and claims.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use kumite_judge::{Claim, ClaimError, ClaimSpec, Derived, Names, of_parameters};
use kumite_record::{AxisValue, Kind, Metric, Point, Published, Question, Unavailable, Unit, Within};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::contender::{Contender, Variant};
use crate::driver::{AnyWorkload, Draft, KINDS, Registration};
use crate::folder::{experiments_folder, find, folder_name, folders, read_contenders};
use crate::own_metric::{self, OwnMetric};
use crate::param::{Parameters, near};
use crate::param_schema::by_kind;
use crate::place::{Source, SpecError};
use crate::points::{Axes, Entry, Planned, whole};
use crate::prepare::Ready;
use crate::published::{self, PublishedFile};
use crate::service::{self, ServiceSpec};

/// The profiles every experiment has, whether it overrides anything for them or not.
const PROFILES: [&str; 3] = ["quick", "standard", "full"];

const DEFAULT_BLOCKS: u32 = 10;

/// The fewest that give the estimate of a cell an interval.
const DEFAULT_MIN_BLOCKS: u32 = 6;

/// What is called no difference, unless an experiment says otherwise.
const DEFAULT_MARGIN_PERCENT: f64 = 1.0;

/// An experiment with a profile applied and its contenders found: ready to be planned.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its folder's name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What is asked, and who asked.
    pub question: Question,
    /// Which kind of workload.
    pub(crate) kind: &'static Registration,
    /// The profile that was applied.
    pub profile: String,
    /// Parameters of the workload. One that is an axis too is that axis's default.
    pub workload: BTreeMap<String, AxisValue>,
    /// The points, and who takes part at each.
    pub planned: Vec<Planned>,
    /// How many blocks are planned at each point, at most.
    pub blocks: u32,
    /// How many of them each point gets even if no verdict needs them.
    pub min_blocks: u32,
    /// Ratios of at most this much are no difference, in percent.
    pub margin_percent: f64,
    /// What a contender should answer.
    pub answer: Answer,
    /// Claims, parsed and checked.
    pub claims: Vec<ClaimSpec>,
    /// Contender folders, by name of the folder.
    pub contenders: Vec<Contender>,
    /// What was published, to be shown beside what is measured.
    pub published: Option<Published>,
    /// The experiment file, word for word.
    pub text: String,
    /// What trials measure, in the order in which it is shown.
    pub metrics: Vec<Metric>,
    /// What their parts measure, where an axis is within them.
    pub part_metrics: Vec<Metric>,
    /// What is no error and may be one, with its place.
    pub doubts: Vec<String>,
    /// Metrics of its own.
    pub(crate) derived: Derived,
    /// What parameters are counted in.
    units: BTreeMap<String, Unit>,
    /// What it needs beside contenders, by name.
    pub(crate) services: BTreeMap<String, ServiceSpec>,
    /// Bytes of free disk that a trial needs, over parameters.
    disk: Option<String>,
}

/// What a right answer is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The HTTP status. Any 2xx will do if it is not given.
    pub status: Option<u16>,
    /// The whole body, or the whole output of a command; the whole result of a task or answer of a function as JSON. Any
    /// will do if it is not given.
    pub equals: Option<String>,
    /// The whole body, output, result or answer as a value, however its JSON is written; numbers are equal only if both or neither are
    /// integers (3 is not 3.0). In place of `equals`.
    #[serde(default, deserialize_with = "json_of_toml")]
    pub equals_json: Option<serde_json::Value>,
    /// Parts of a task's result or a function's answer by JSON pointer; `"$name"` is the value of a workload parameter.
    #[serde(default)]
    pub at: BTreeMap<String, AxisValue>,
    /// Whether the outputs of all commands at a point must be the same bytes.
    #[serde(default)]
    pub same_output: bool,
    /// A program that checks a task's result, a function's answer, or a command's output, whose path it is given: it speaks
    /// the task protocol, too. Runs through `sh -c` in the experiment's
    /// folder, outside of the timed part.
    pub checker: Option<String>,
}

/// TOML has dates and numbers that JSON has not.
fn json_of_toml<'de, D: Deserializer<'de>>(from: D) -> Result<Option<serde_json::Value>, D::Error> {
    fn json(value: toml::Value) -> Result<serde_json::Value, String> {
        Ok(match value {
            toml::Value::String(text) => text.into(),
            toml::Value::Integer(number) => number.into(),
            toml::Value::Float(number) if number.is_finite() => number.into(),
            toml::Value::Float(number) => return Err(format!("JSON has no {number}")),
            toml::Value::Boolean(flag) => flag.into(),
            toml::Value::Datetime(date) => {
                return Err(format!("JSON has no dates: write \"{date}\" as text"));
            }
            toml::Value::Array(values) => values.into_iter().map(json).collect::<Result<_, _>>()?,
            toml::Value::Table(table) => {
                let member = |(name, value)| Ok::<_, String>((name, json(value)?));
                table.into_iter().map(member).collect::<Result<_, _>>()?
            }
        })
    }
    json(toml::Value::deserialize(from)?).map(Some).map_err(D::Error::custom)
}

/// experiment.toml: a question, the workload that is to answer it, and claims about what comes out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Experiment", transform = by_kind)]
pub(crate) struct File {
    /// What is asked, one sentence.
    question: String,
    /// Where it was argued.
    source: Option<kumite_record::Source>,
    /// The kind of workload.
    #[schemars(extend("enum" = KINDS.map(|kind| kind.name.as_str())))]
    kind: String,
    /// Blocks at each point, at most; 10 if it is not given. A run ends earlier once its verdicts are in. It takes six to
    /// decide one claim, nine to decide each of six.
    #[schemars(range(min = 1))]
    blocks: Option<u32>,
    /// Blocks that each point gets even if no verdict needs them; 6 if it is not given, which are the fewest that give
    /// the estimate of a cell an interval.
    #[schemars(range(min = 1))]
    min_blocks: Option<u32>,
    /// A ratio that is nearer to 1 than this is "no difference"; 1 if it is not given.
    #[schemars(range(min = 0, max = 50))]
    margin_percent: Option<f64>,
    /// Fixed parameters. One that is an axis too is that axis's default.
    #[serde(default)]
    workload: BTreeMap<String, AxisValue>,
    /// Parameters that are swept. Every combination of their values is a point, unless `points` lists some.
    #[serde(default)]
    axes: BTreeMap<String, Vec<AxisValue>>,
    /// The points, where not every combination of axis values is wanted.
    #[schemars(length(min = 1))]
    points: Option<Vec<Entry>>,
    /// What runs beside the contenders, by name. Contenders find it by environment variables that begin with the name in
    /// upper case.
    #[serde(default)]
    services: BTreeMap<String, service::File>,
    /// Metrics beside those that every task, function or command has, by name. The end of a name says its unit: `_ns`, `_us`, `_ms`, `_s`,
    /// `_bytes`, `_rps`, `_per_s`, `_cores`, `_share`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, OwnMetric>")]
    metrics: BTreeMap<Spanned<String>, OwnMetric>,
    /// Bytes of free disk that a trial of a task needs, an expression over `$parameters`. Without them nothing is started.
    disk: Option<String>,
    /// What `--profile NAME` overrides, by name. `quick`, `standard` and `full` exist always.
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
    /// What a right answer is.
    #[serde(default)]
    answer: Answer,
    /// Published figures, to be shown beside what is measured.
    published: Option<PublishedFile>,
    /// Claims to be judged.
    #[serde(default)]
    claim: Vec<ClaimFile>,
}

/// What a profile overrides; only what is there can be overridden.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Profile {
    /// Blocks at each point, at most.
    #[schemars(range(min = 1))]
    blocks: Option<u32>,
    /// Blocks that each point gets even if no verdict needs them.
    #[schemars(range(min = 1))]
    min_blocks: Option<u32>,
    /// Fixed parameters that have other values in this profile.
    #[serde(default)]
    workload: BTreeMap<String, AxisValue>,
    /// Axes that have other values in this profile.
    #[serde(default)]
    axes: BTreeMap<String, Vec<AxisValue>>,
    /// The points of this profile, instead of the experiment's.
    #[schemars(length(min = 1))]
    points: Option<Vec<Entry>>,
}

/// A sentence about what is measured, which a run finds to hold, to fail, or to be undecided.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Claim")]
struct ClaimFile {
    /// Unique within the experiment.
    id: String,
    /// The claim in plain words.
    title: Option<String>,
    /// The claim in the claim grammar, which METHODOLOGY.md has.
    assert: String,
    /// What was published, in words.
    published: Option<String>,
}

impl Experiment {
    /// Reads an experiment and its contenders: `name` is a folder, or the name of one below the nearest `experiments/`.
    pub fn load(name: &str, profile: &str) -> Result<Experiment, SpecError> {
        let folder = find(name)?;
        let source = Source::read(&folder.join("experiment.toml"))?;
        let name = folder_name(&folder)?;
        let contenders = read_contenders(&folder)?;
        let mut experiment = Experiment::parse(&source, name, folder.clone(), profile, contenders)?;
        if let Some(file) = source.parse::<File>()?.published {
            let axes = experiment.axis_names();
            experiment.published = Some(published::read(&file, &folder, &source, &axes)?);
        }
        Ok(experiment)
    }

    /// The folders of the experiments in the nearest `experiments/`, by name.
    pub fn list() -> Result<Vec<PathBuf>, SpecError> {
        let Some(root) = experiments_folder() else { return Ok(Vec::new()) };
        let mut found = folders(&root)?;
        found.retain(|folder| folder.join("experiment.toml").is_file());
        found.sort();
        Ok(found)
    }

    /// Which kind of workload.
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

    /// Who takes part at each of these points; nothing where all take part everywhere.
    pub fn contenders_at(&self) -> Vec<Vec<String>> {
        let all = self.variants().len();
        if self.planned.iter().all(|planned| planned.contenders.len() == all) {
            return Vec::new();
        }
        self.planned.iter().map(|planned| planned.contenders.clone()).collect()
    }

    fn axis_names(&self) -> BTreeSet<String> {
        self.planned.iter().flat_map(|planned| planned.point.0.keys().cloned()).collect()
    }

    /// Every contender with its folder, in the order of their names.
    pub fn variants(&self) -> Vec<(&Contender, &Variant)> {
        let mut all: Vec<_> =
            self.contenders.iter().flat_map(|c| c.variants.iter().map(move |variant| (c, variant))).collect();
        all.sort_by(|a, b| a.1.name.cmp(&b.1.name));
        all
    }

    /// The workload of one trial.
    pub(crate) fn workload(&self, point: &Point) -> Result<AnyWorkload, String> {
        (self.kind.workload)(&self.parameters(point), &self.answer)
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
        self.planned.iter().filter_map(|planned| self.workload(&planned.point).ok()?.within())
    }

    /// The parameters at a point.
    pub(crate) fn parameters(&self, point: &Point) -> Parameters {
        at_point(&self.workload, point)
    }

    /// Where a contender is checked: at the first of these points that the profile tries it at, and any if it tries it nowhere;
    /// and where a parameter says which of its code runs, at one point for each of its values.
    pub fn checked_at<'a>(&self, planned: &[&'a Planned], contender: &str) -> Vec<&'a Point> {
        let takes_part = |planned: &&&Planned| planned.contenders.iter().any(|other| other == contender);
        let mut points: Vec<&Point> =
            planned.iter().filter(takes_part).map(|planned| &planned.point).collect();
        points.extend(planned.first().filter(|_| points.is_empty()).map(|planned| &planned.point));
        let mut seen = Vec::new();
        points.retain(|point| {
            let code = self.code(point);
            let is_new = !seen.contains(&code);
            seen.push(code);
            is_new
        });
        points
    }

    /// What says at this point which of a contender's code runs: the parameter and its value.
    pub fn code<'a>(&self, point: &'a Point) -> Option<(&'static str, &'a AxisValue)> {
        self.kind.code.and_then(|name| Some((name, point.get(name)?)))
    }

    /// The most bytes of free disk that any of its trials needs.
    pub(crate) fn disk_bytes(&self) -> f64 {
        let of_point = |point| {
            of_parameters(self.disk.as_deref()?, &self.parameters(&point), &self.units, Unit::Bytes).ok()
        };
        self.points().into_iter().filter_map(of_point).fold(0.0, f64::max)
    }

    /// Who takes part at each point, by position in `ready`; nobody where it cannot be measured.
    pub fn takes_part(&self, ready: &[Ready], unavailable: &[Unavailable]) -> Vec<Vec<usize>> {
        let at = |planned: &Planned| {
            let can_be = unavailable.iter().all(|other| other.point != planned.point);
            let here = |(_, ready): &(usize, &Ready)| can_be && planned.contenders.contains(&ready.name);
            ready.iter().enumerate().filter(here).map(|(position, _)| position).collect()
        };
        self.planned.iter().map(at).collect()
    }

    /// How long a trial takes at each point at most, without starting and stopping; none if only trying it tells.
    pub fn times(&self) -> Vec<Option<Duration>> {
        let time =
            |planned: &Planned| self.workload(&planned.point).ok().and_then(|workload| workload.time());
        self.planned.iter().map(time).collect()
    }

    /// How many trials a round has with these contenders, and how long they take at most, without starting and stopping; none
    /// if only trying them tells.
    pub fn extent(&self, contenders: &[&str]) -> (usize, Option<Duration>) {
        let here = |planned: &Planned| {
            planned.contenders.iter().filter(|name| contenders.contains(&name.as_str())).count()
        };
        let trials = self.planned.iter().map(here).sum();
        let times = self.planned.iter().zip(self.times());
        (trials, times.map(|(planned, of_one)| Some(of_one? * here(planned) as u32)).sum())
    }

    fn parse(
        source: &Source,
        name: String,
        folder: PathBuf,
        profile: &str,
        contenders: Vec<Contender>,
    ) -> Result<Experiment, SpecError> {
        let mut file: File = source.parse()?;
        let values = file.workload.values_mut().chain(file.axes.values_mut().flatten());
        values.for_each(whole);
        for profile in file.profiles.values_mut() {
            let values = profile.workload.values_mut().chain(profile.axes.values_mut().flatten());
            values.for_each(whole);
        }
        let Some(kind) = KINDS.into_iter().find(|kind| kind.name.as_str() == file.kind) else {
            let known = KINDS.map(|kind| kind.name.as_str()).join(", ");
            return Err(source.error_at(&["kind"], format!("unknown kind '{}'; known: {known}", file.kind)));
        };
        check_keys(source, &file, kind, &contenders)?;
        for (chosen, overrides) in &file.profiles {
            check_profile(source, &file, chosen, overrides)?;
        }
        if !PROFILES.contains(&profile) && !file.profiles.contains_key(profile) {
            let known: BTreeSet<&str> =
                PROFILES.into_iter().chain(file.profiles.keys().map(String::as_str)).collect();
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            return Err(SpecError::Usage(format!("no profile '{profile}' in {name}; there are: {known}")));
        }
        let chosen = file.profiles.get(profile).cloned().unwrap_or_default();
        let mut workload = file.workload.clone();
        workload.extend(chosen.workload);
        let blocks = chosen.blocks.or(file.blocks).unwrap_or(DEFAULT_BLOCKS);
        if blocks == 0 {
            return Err(source.error_at(&["blocks"], "blocks must be at least 1"));
        }
        let min_blocks = chosen.min_blocks.or(file.min_blocks).unwrap_or(DEFAULT_MIN_BLOCKS);
        let margin_percent = file.margin_percent.unwrap_or(DEFAULT_MARGIN_PERCENT);
        if !(0.0..=50.0).contains(&margin_percent) {
            return Err(source.error_at(&["margin_percent"], "margin_percent must lie between 0 and 50"));
        }
        let names = contender_names(&contenders)?;
        let mut of_any_profile = Vec::new();
        for (name, profile) in std::iter::once((None, None))
            .chain(file.profiles.iter().map(|(name, profile)| (Some(name.as_str()), Some(profile))))
        {
            let mut workload = file.workload.clone();
            workload.extend(profile.map(|profile| profile.workload.clone()).unwrap_or_default());
            of_any_profile.push((workload, plan_of(source, &file, name, profile, &names)?));
        }
        let planned = plan_of(source, &file, Some(profile), file.profiles.get(profile), &names)?;
        let parameters: BTreeSet<String> = workload.keys().chain(file.axes.keys()).cloned().collect();
        let services = parse_services(source, &file.services, &folder, &parameters)?;
        let of_services: Vec<Metric> =
            services.iter().flat_map(|(name, service)| service.metrics(name)).collect();
        let units = units_of(kind, &parameters);
        let known = (kind.metrics)().around(of_services.clone());
        let own = own_metric::declared(&file.metrics).map_err(|(name, what)| {
            source.error_at(&["metrics", &name], format!("metric '{name}': {what}"))
        })?;
        let derived = Derived::new(&own, &known, &units).map_err(|(name, what)| {
            source.error_at(&["metrics", &name], format!("metric '{name}': {what}"))
        })?;
        let metrics = (kind.metrics)().around(derived.metrics().cloned().chain(of_services));
        // Before the claims: they would miss the steps of a load that is wrong.
        check_workloads(source, &file, kind, &contenders, &folder, &workload, &planned)?;
        let of_any_profile = of_any_profile.iter().flat_map(|(workload, planned)| {
            let of_point =
                |planned: &Planned| (kind.workload)(&at_point(workload, &planned.point), &file.answer).ok();
            planned.iter().filter_map(of_point)
        });
        let within = widest(of_any_profile.filter_map(|workload| workload.within()));
        let own_of_parts = derived.of_parts(&(kind.part_metrics)().around([]));
        let part_metrics =
            if within.is_some() { (kind.part_metrics)().around(own_of_parts) } else { Vec::new() };
        let speaks_of = Known {
            contenders: &names,
            metrics: &metrics,
            part_metrics: &part_metrics,
            units: &units,
            within,
        };
        let claims = parse_claims(source, &file, &workload, &speaks_of)?;
        let experiment = Experiment {
            name,
            folder,
            question: Question { text: file.question, source: file.source },
            kind,
            profile: profile.to_owned(),
            workload,
            planned,
            blocks,
            min_blocks,
            margin_percent,
            answer: file.answer,
            claims,
            contenders,
            published: None,
            text: source.text.clone(),
            metrics,
            part_metrics,
            doubts: mistyped(source, &file.workload, &file.axes, kind),
            derived,
            units,
            services,
            disk: file.disk,
        };
        for point in experiment.points() {
            if let Some(disk) = &experiment.disk {
                let parameters = experiment.parameters(&point);
                let bytes = of_parameters(disk, &parameters, &experiment.units, Unit::Bytes);
                bytes.map_err(|what| source.error_at(&["disk"], what))?;
            }
        }
        Ok(experiment)
    }

    #[cfg(test)]
    pub(crate) fn from_text(text: &str, profile: &str, names: &[&str]) -> Result<Experiment, SpecError> {
        let source = Source { file: "experiment.toml".into(), text: text.to_owned() };
        let variants = names
            .iter()
            .map(|name| Variant {
                name: (*name).to_owned(),
                model: "threads".into(),
                run: "true".into(),
                answers: None,
                reads: None,
                memory_mb: None,
            })
            .collect();
        let contender = Contender {
            folder: PathBuf::from("."),
            needs: Vec::new(),
            install: Default::default(),
            build: None,
            uses: Vec::new(),
            version: "true".into(),
            variants,
        };
        Experiment::parse(&source, "fake".into(), PathBuf::from("."), profile, vec![contender])
    }
}

fn parse_services(
    source: &Source,
    files: &BTreeMap<String, service::File>,
    folder: &Path,
    parameters: &BTreeSet<String>,
) -> Result<BTreeMap<String, ServiceSpec>, SpecError> {
    let read = |(name, file): (&String, &service::File)| {
        Ok((name.clone(), ServiceSpec::read(name, file, source, folder, parameters)?))
    };
    files.iter().map(read).collect()
}

/// An error if a key is given that only other kinds have, or that another takes the place of.
fn check_keys(
    source: &Source,
    file: &File,
    kind: &Registration,
    contenders: &[Contender],
) -> Result<(), SpecError> {
    let is_of_others = |(key, given): &(&str, bool)| *given && !kind.keys.contains(key);
    if let Some((key, _)) = keys_of_experiment(file).into_iter().find(is_of_others) {
        let path: Vec<&str> = key.split('.').collect();
        return Err(source.error_at(&path, of_others(key, kind)));
    }
    if file.answer.equals.is_some() && file.answer.equals_json.is_some() {
        let what = "a right answer is either `equals` or `equals_json`: leave one of them out";
        return Err(source.error_at(&["answer", "equals_json"], what));
    }
    for variant in contenders.iter().flat_map(|contender| &contender.variants) {
        if let Some((key, _)) = keys_of_contender(variant).into_iter().find(is_of_others) {
            let what = format!("contender {}: {}", variant.name, of_others(key, kind));
            return Err(source.error_at(&["kind"], what));
        }
    }
    Ok(())
}

/// Reads the workload of each point of the profile, and has their kind find what is wrong with the experiment.
fn check_workloads(
    source: &Source,
    file: &File,
    kind: &Registration,
    contenders: &[Contender],
    folder: &Path,
    fixed: &Parameters,
    planned: &[Planned],
) -> Result<(), SpecError> {
    let of_point = |planned: &Planned| (kind.workload)(&at_point(fixed, &planned.point), &file.answer);
    let workloads: Result<Vec<AnyWorkload>, String> = planned.iter().map(of_point).collect();
    let workloads = workloads.map_err(|what| source.error_at(&["workload"], what))?;
    for workload in &workloads {
        let checked = workload.check_folder(folder);
        checked.map_err(|(parameter, what)| source.error_at(&["workload", parameter], what))?;
    }
    let draft = Draft {
        answer: &file.answer,
        parameters: &fixed.keys().chain(file.axes.keys()).cloned().collect(),
        axes: &file.axes,
        variants: &contenders.iter().flat_map(|contender| &contender.variants).collect::<Vec<_>>(),
        workloads: &workloads,
    };
    (kind.check)(&draft).map_err(|(path, what)| source.error_at(path, what))
}

/// The keys of experiment.toml that only some kinds have, and whether they are given.
fn keys_of_experiment(file: &File) -> [(&'static str, bool); 9] {
    [
        ("metrics", !file.metrics.is_empty()),
        ("disk", file.disk.is_some()),
        ("services", !file.services.is_empty()),
        ("answer.status", file.answer.status.is_some()),
        ("answer.equals", file.answer.equals.is_some()),
        ("answer.equals_json", file.answer.equals_json.is_some()),
        ("answer.at", !file.answer.at.is_empty()),
        ("answer.checker", file.answer.checker.is_some()),
        ("answer.same_output", file.answer.same_output),
    ]
}

/// The keys of a contender's variant, likewise.
fn keys_of_contender(variant: &Variant) -> [(&'static str, bool); 3] {
    [
        ("answers", variant.answers.is_some()),
        ("reads", variant.reads.is_some()),
        ("memory_mb", variant.memory_mb.is_some()),
    ]
}

/// Whose a key is that this kind does not have.
fn of_others(key: &str, kind: &Registration) -> String {
    let theirs = KINDS.iter().filter(|other| other.keys.contains(&key));
    let contenders: Vec<&str> = theirs.map(|other| other.contenders).collect();
    let contenders = match contenders.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => contenders.concat(),
    };
    format!("only {contenders} have `{key}`, and this is of kind {}", kind.name)
}

/// Parameters of the contenders' own that may be kumite's, mistyped. One that is beside kumite's is another.
fn mistyped(
    source: &Source,
    fixed: &Parameters,
    axes: &BTreeMap<String, Vec<AxisValue>>,
    kind: &Registration,
) -> Vec<String> {
    let is_given = |name: &str| fixed.contains_key(name) || axes.contains_key(name);
    let is_known = |name: &str| kind.params.iter().any(|param| param.name == name);
    let names = fixed.keys().map(|name| ("workload", name)).chain(axes.keys().map(|name| ("axes", name)));
    let doubt = |(table, name): (&str, &String)| {
        let missing = kind.params.iter().map(|param| param.name).filter(|known| !is_given(known));
        let near = near(name, missing).filter(|_| !is_known(name))?;
        let what = format!(
            "'{name}' is a parameter of the contenders' own, which kumite passes on: write '{near}' if that is meant"
        );
        Some(source.error_at(&[table, name], what).to_string())
    };
    names.filter_map(doubt).collect()
}

/// The fixed parameters with those of a point beside them, or in their place.
fn at_point(fixed: &Parameters, point: &Point) -> Parameters {
    let mut parameters = fixed.clone();
    parameters.extend(point.0.clone());
    parameters
}

/// The points of a profile: its own list, else the experiment's, else every combination of axis values.
fn plan_of(
    source: &Source,
    file: &File,
    name: Option<&str>,
    profile: Option<&Profile>,
    contenders: &BTreeSet<String>,
) -> Result<Vec<Planned>, SpecError> {
    let own = profile.and_then(|profile| profile.points.as_ref());
    let entries = own.or(file.points.as_ref());
    let mut defaults = file.workload.clone();
    let mut values = file.axes.clone();
    if let Some(profile) = profile {
        defaults.extend(profile.workload.clone());
        values.extend(profile.axes.clone());
    }
    let axes = Axes::new(source, values, &defaults)?;
    let listed_at: Vec<&str> = match name.filter(|_| own.is_some()) {
        Some(name) => vec!["profiles", name, "points"],
        None => vec!["points"],
    };
    match entries {
        None => Ok(axes.product(contenders)),
        Some(entries) => axes.listed(entries, contenders, source, &listed_at),
    }
}

/// A profile may override what is there; a parameter that only it knows would be a typing error.
fn check_profile(source: &Source, file: &File, name: &str, profile: &Profile) -> Result<(), SpecError> {
    for parameter in profile.workload.keys() {
        if !file.workload.contains_key(parameter) {
            let what = format!(
                "profile '{name}' overrides workload parameter '{parameter}', which [workload] does not have"
            );
            return Err(source.error_at(&["profiles", name, "workload", parameter], what));
        }
    }
    for axis in profile.axes.keys() {
        if !file.axes.contains_key(axis) {
            let what = format!("profile '{name}' overrides axis '{axis}', which [axes] does not have");
            return Err(source.error_at(&["profiles", name, "axes", axis], what));
        }
    }
    Ok(())
}

/// What claims may speak of beside parameters.
struct Known<'a> {
    contenders: &'a BTreeSet<String>,
    metrics: &'a [Metric],
    part_metrics: &'a [Metric],
    units: &'a BTreeMap<String, Unit>,
    within: Option<Within>,
}

/// What parameters are counted in: as their kind declares, or as the ends of the names of others say.
fn units_of(kind: &Registration, parameters: &BTreeSet<String>) -> BTreeMap<String, Unit> {
    let declared = kind.params.iter().map(|param| (param.name.to_owned(), param.counted_in()));
    let others = parameters.iter().map(|name| (name.clone(), Unit::of_name(name).unwrap_or(Unit::Number)));
    others.chain(declared).collect()
}

/// The axis within trials, with all values that any of these has.
fn widest(of_each: impl Iterator<Item = Within>) -> Option<Within> {
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

fn parse_claims(
    source: &Source,
    file: &File,
    workload: &BTreeMap<String, AxisValue>,
    known: &Known,
) -> Result<Vec<ClaimSpec>, SpecError> {
    // A value that any profile measures is no typing error, even where the chosen profile leaves it out.
    let mut axes = file.axes.clone();
    for profile in file.profiles.values() {
        for (axis, values) in &profile.axes {
            axes.entry(axis.clone()).or_default().extend(values.iter().cloned());
        }
    }
    for (axis, values) in &mut axes {
        let profiles = file.profiles.values().map(|profile| &profile.workload);
        let defaults = std::iter::once(&file.workload).chain(profiles);
        values.extend(defaults.filter_map(|workload| workload.get(axis).cloned()));
    }
    if let Some(Within { axis, values }) = &known.within {
        axes.insert(axis.clone(), values.clone());
    }
    // Within trials it is an axis, and no parameter with a value.
    let mut workload = workload.clone();
    workload.retain(|name, _| known.within.as_ref().is_none_or(|within| within.axis != *name));
    let names = Names {
        contenders: known.contenders,
        axes: &axes,
        workload: &workload,
        units: known.units,
        metrics: known.metrics,
        within: known.within.as_ref().map(|within| within.axis.as_str()),
        part_metrics: known.part_metrics,
    };
    let mut claims = Vec::<ClaimSpec>::new();
    for (index, claim) in file.claim.iter().enumerate() {
        let at = |key, what: String| source.error_at(&["claim", &index.to_string(), key], what);
        if claims.iter().any(|other| other.id == claim.id) {
            return Err(at("id", format!("two claims have the id '{}'", claim.id)));
        }
        let parsed = Claim::new(&claim.assert, &names).map_err(|ClaimError { column, what }| {
            let path = ["claim", &index.to_string(), "assert"];
            source.error_in(&path, &claim.assert, column, &format!("claim '{}': {what}", claim.id))
        })?;
        claims.push(ClaimSpec {
            id: claim.id.clone(),
            title: claim.title.clone(),
            assert: claim.assert.clone(),
            published: claim.published.clone(),
            parsed,
        });
    }
    Ok(claims)
}

fn contender_names(contenders: &[Contender]) -> Result<BTreeSet<String>, SpecError> {
    let mut names = BTreeSet::new();
    for contender in contenders {
        for variant in &contender.variants {
            if !names.insert(variant.name.clone()) {
                let what = format!(
                    "two contenders are called '{}'; the second is in {}",
                    variant.name,
                    contender.folder.display()
                );
                return Err(SpecError::Usage(what));
            }
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str = r#"
question = "Which?"
kind = 'http'
blocks = 7
[workload]
duration_s = 2
[axes]
connections = [1, 10]
[profiles.quick]
blocks = 6
workload.duration_s = 1
axes.connections = [10]
[answer]
equals = "pong"
[[claim]]
id = "faster"
assert = "throughput_rps(a at connections=10) > throughput_rps(b at connections=10)"
"#;

    fn error(text: &str) -> String {
        Experiment::from_text(text, "quick", &["a", "b"]).unwrap_err().to_string()
    }

    #[test]
    fn a_profile_overrides_and_the_rest_stays() {
        let quick = Experiment::from_text(SPEC, "quick", &["a", "b"]).unwrap();
        assert_eq!((quick.blocks, quick.points().len()), (6, 1));
        let (trials, time) = quick.extent(&["a", "b"]);
        assert_eq!((trials, time.unwrap().as_secs()), (2, 4));
        let standard = Experiment::from_text(SPEC, "standard", &["a", "b"]).unwrap();
        assert_eq!((standard.blocks, standard.points().len()), (7, 2));
        assert_eq!(standard.workload["duration_s"], AxisValue::Int(2));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let cases = [
            ("kind = 'http'", "kind = 'dance'", "3:1: unknown kind 'dance'; known: http, task, function"),
            ("blocks = 7", "block = 7", "4:1: unknown field `block`"),
            ("duration_s = 2", "duration_s = 2\nspeed = 3", "5:2: unknown workload parameter 'speed'"),
            ("connections = [1, 10]", "connections = []", "8:1: axis 'connections' has no values"),
            ("connections = [1, 10]", "connections = [1, 1]", "8:1: axis 'connections' has a value twice"),
            (
                "workload.duration_s = 1",
                "workload.durations_s = 1",
                "overrides workload parameter 'durations_s'",
            ),
            ("throughput_rps(a ", "throughput_rps(c ", "17:26: claim 'faster': no contender 'c'"),
            ("throughput_rps(a ", "speed(a ", "no metric 'speed'"),
            ("(a at connections=10)", "(a at connections=11)", "axis 'connections' has no value 11"),
            ("(a at connections=10)", "(a)", "needs 'at connections=…'"),
            (
                "> throughput",
                ">> throughput",
                "17:48: claim 'faster': expected a metric, a number or a $parameter, found '>'",
            ),
        ];
        for (from, to, expected) in cases {
            let text = SPEC
                .replace(from, to)
                .replace(if from == "connections = [1, 10]" { "axes.connections = [10]" } else { "\0" }, "");
            let found = error(&text);
            assert!(found.contains(expected), "{to}: {found}");
        }
    }

    #[test]
    fn a_point_s_parameter_takes_the_place_of_the_fixed_one() {
        let text = SPEC.replace("duration_s = 2\n", "duration_s = 2\nconnections = 7\n");
        let experiment = Experiment::from_text(&text, "quick", &["a", "b"]).unwrap();
        let parameters = experiment.parameters(&experiment.points()[0]);
        assert_eq!(parameters["connections"], AxisValue::Int(10));
        assert_eq!(parameters["duration_s"], AxisValue::Int(1));
    }

    #[test]
    fn every_key_that_a_kind_registers_is_one_that_is_checked() {
        let experiment = Experiment::from_text(SPEC, "quick", &["a", "b"]).unwrap();
        let file: File = toml::from_str(SPEC).unwrap();
        let of_experiment = keys_of_experiment(&file);
        let of_contender = keys_of_contender(experiment.variants()[0].1);
        let known: Vec<&str> = of_experiment.iter().chain(&of_contender).map(|(key, _)| *key).collect();
        for kind in KINDS {
            let unknown = kind.keys.iter().find(|key| !known.contains(key));
            assert_eq!(unknown, None, "{}", kind.name);
        }
    }

    #[test]
    fn a_key_of_other_kinds_is_refused_with_whose_it_is() {
        let found = error(&format!("disk = '1 MB'\n{SPEC}"));
        assert!(found.contains(":1:1: only tasks have `disk`, and this is of kind http"), "{found}");
        let found = error(&SPEC.replace("equals = \"pong\"", "at = {}\nchecker = 'true'"));
        assert!(found.contains(":15:1: only tasks, functions and commands have `answer.checker`"), "{found}");
    }

    #[test]
    fn a_right_answer_may_be_any_value_of_toml_that_json_has() {
        let with = |answer: &str| {
            let text = SPEC.replace("equals = \"pong\"", answer);
            Experiment::from_text(&text, "quick", &["a", "b"]).map_err(|error| error.to_string())
        };
        let read = with("equals_json = { a = [1, 2.5, 'x'], b = { c = true } }").unwrap();
        let expected = serde_json::json!({ "a": [1, 2.5, "x"], "b": { "c": true } });
        assert_eq!(read.answer.equals_json, Some(expected));
        for (answer, expected) in [
            ("equals_json = 1979-05-27", "14:15: JSON has no dates: write \"1979-05-27\" as text"),
            ("equals_json = [nan]", "JSON has no NaN"),
            ("equals = '1'\nequals_json = 1", "15:1: a right answer is either `equals` or `equals_json`"),
        ] {
            let found = with(answer).unwrap_err();
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn a_parameter_that_is_almost_kumite_s_is_doubted_unless_that_is_given_too() {
        let doubts = |parameters: &str| {
            let text = format!("question = 'x'\nkind = 'task'\n[workload]\n{parameters}\n");
            Experiment::from_text(&text, "quick", &["a"]).unwrap().doubts
        };
        let [only] = &doubts("students = 3\niteration = 3")[..] else { panic!("one of two") };
        assert!(only.contains(":5:1: 'iteration' is a parameter of the contenders' own"), "{only}");
        assert!(only.ends_with("write 'iterations' if that is meant"), "{only}");
        assert_eq!(doubts("scores = 10").len(), 1);
        assert_eq!(doubts("scores = 10\ncores = 1"), [""; 0]);
    }

    #[test]
    fn a_function_is_checked_once_for_each_handler_and_a_server_once() {
        let count = |kind: &str, axes: &str| {
            let text = format!("question = 'x'\nkind = '{kind}'\n[axes]\n{axes}\n");
            let experiment = Experiment::from_text(&text, "quick", &["a"]).unwrap();
            let planned: Vec<&Planned> = experiment.planned.iter().collect();
            experiment.checked_at(&planned, "a").len()
        };
        assert_eq!(count("function", "handler = ['one', 'two']\nmemory_mb = [128, 256, 512]"), 2);
        assert_eq!(count("function", "memory_mb = [128, 256]"), 1);
        assert_eq!(count("http", "path = ['/one', '/two']"), 1);
    }

    #[test]
    fn an_unknown_profile_names_those_there_are() {
        let found = Experiment::from_text(SPEC, "slow", &["a", "b"]).unwrap_err().to_string();
        assert_eq!(found, "no profile 'slow' in fake; there are: full, quick, standard");
    }
}
