//! `experiment.toml`: a question, a workload, axes, profiles and claims.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use kumite_record::{AxisValue, Point, Question};
use serde::Deserialize;

use crate::claim::{self, ClaimError};
use crate::contender::{Contender, Variant};
use crate::http::HttpWorkload;
use crate::place::{Source, SpecError};

/// The profiles every experiment has, whether it overrides anything for them or not.
const PROFILES: [&str; 3] = ["quick", "standard", "full"];

const DEFAULT_BLOCKS: u32 = 10;

/// An experiment with a profile applied and its contenders found: ready to be planned.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its folder's name.
    pub name: String,
    /// What is asked, and who asked.
    pub question: Question,
    /// Which kind of workload; `http` is the one there is.
    pub kind: String,
    /// The profile that was applied.
    pub profile: String,
    /// Parameters every contender is given.
    pub workload: BTreeMap<String, AxisValue>,
    /// Swept parameters, in the order of their names.
    pub axes: BTreeMap<String, Vec<AxisValue>>,
    /// How many blocks are planned at each point.
    pub blocks: u32,
    /// What a contender should answer.
    pub answer: Answer,
    /// Claims, parsed and checked.
    pub claims: Vec<ClaimSpec>,
    /// Contender folders, by name of the folder.
    pub contenders: Vec<Contender>,
    /// The experiment file, word for word.
    pub text: String,
}

/// What a right answer is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The HTTP status; any 2xx if it is not given.
    pub status: Option<u16>,
    /// The whole body.
    pub equals: Option<String>,
}

/// A claim as the experiment states it.
#[derive(Clone, Debug)]
pub struct ClaimSpec {
    /// Unique within the experiment.
    pub id: String,
    /// The claim in plain words.
    pub title: Option<String>,
    /// The claim in the claim grammar.
    pub assert: String,
    /// The published figures.
    pub published: Option<String>,
    pub(crate) parsed: claim::Claim,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    question: String,
    source: Option<kumite_record::Source>,
    kind: String,
    blocks: Option<u32>,
    #[serde(default)]
    workload: BTreeMap<String, AxisValue>,
    #[serde(default)]
    axes: BTreeMap<String, Vec<AxisValue>>,
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
    #[serde(default)]
    answer: Answer,
    #[serde(default)]
    claim: Vec<ClaimFile>,
}

/// What a profile overrides.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    blocks: Option<u32>,
    #[serde(default)]
    workload: BTreeMap<String, AxisValue>,
    #[serde(default)]
    axes: BTreeMap<String, Vec<AxisValue>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimFile {
    id: String,
    title: Option<String>,
    assert: String,
    published: Option<String>,
}

impl Experiment {
    /// Reads an experiment and its contenders: `name` is a folder, or the name of one below the nearest `experiments/`.
    pub fn load(name: &str, profile: &str) -> Result<Experiment, SpecError> {
        let folder = find(name)?;
        let source = Source::read(&folder.join("experiment.toml"))?;
        let name = folder_name(&folder)?;
        let contenders = read_contenders(&folder)?;
        Experiment::parse(&source, name, profile, contenders)
    }

    /// The folders of the experiments in the nearest `experiments/`, by name.
    pub fn list() -> Result<Vec<PathBuf>, SpecError> {
        let Some(root) = experiments_folder() else { return Ok(Vec::new()) };
        let mut found = folders(&root)?;
        found.retain(|folder| folder.join("experiment.toml").is_file());
        found.sort();
        Ok(found)
    }

    /// Points in the order of the axes, the last axis fastest.
    pub fn points(&self) -> Vec<Point> {
        points(&self.axes)
    }

    /// Every contender with its folder, in the order of their names.
    pub fn variants(&self) -> Vec<(&Contender, &Variant)> {
        let mut all: Vec<_> =
            self.contenders.iter().flat_map(|c| c.variants.iter().map(move |variant| (c, variant))).collect();
        all.sort_by(|a, b| a.1.name.cmp(&b.1.name));
        all
    }

    /// The workload of one trial.
    pub(crate) fn http(&self, point: &Point) -> Result<HttpWorkload, String> {
        HttpWorkload::new(&self.workload, point, &self.answer)
    }

    /// About how long the trials take, without starting and stopping contenders.
    pub fn measuring_time(&self, contenders: usize) -> Duration {
        let of_point = |point: &Point| {
            self.http(point).map_or(Duration::ZERO, |workload| workload.warm_up + workload.duration)
        };
        self.points().iter().map(of_point).sum::<Duration>() * contenders as u32 * self.blocks
    }

    fn parse(
        source: &Source,
        name: String,
        profile: &str,
        contenders: Vec<Contender>,
    ) -> Result<Experiment, SpecError> {
        let file: File = source.parse()?;
        if file.kind != "http" {
            let what = format!("unknown kind '{}'; known: http", file.kind);
            return Err(source.error_at(&["kind"], what));
        }
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
        let mut axes = file.axes.clone();
        axes.extend(chosen.axes);
        let blocks = chosen.blocks.or(file.blocks).unwrap_or(DEFAULT_BLOCKS);
        if blocks == 0 {
            return Err(source.error_at(&["blocks"], "blocks must be at least 1"));
        }
        for value in axes.values_mut().flatten() {
            // A claim that says 1 means 1.0 too.
            if let AxisValue::Float(number) = value
                && number.fract() == 0.0
                && number.abs() < 2f64.powi(53)
            {
                *value = AxisValue::Int(*number as i64);
            }
        }
        for (axis, values) in &axes {
            let at = |what| source.error_at(&["axes", axis], what);
            if file.workload.contains_key(axis) {
                return Err(at(format!(
                    "'{axis}' is both an axis and a workload parameter; it can be one of them"
                )));
            }
            if values.is_empty() {
                return Err(at(format!("axis '{axis}' has no values")));
            }
            if values.iter().enumerate().any(|(index, value)| values[..index].contains(value)) {
                return Err(at(format!("axis '{axis}' has a value twice")));
            }
        }
        let names = contender_names(&contenders)?;
        let claims = parse_claims(source, &file, &workload, &names)?;
        let experiment = Experiment {
            name,
            question: Question { text: file.question, source: file.source },
            kind: file.kind,
            profile: profile.to_owned(),
            workload,
            axes,
            blocks,
            answer: file.answer,
            claims,
            contenders,
            text: source.text.clone(),
        };
        for point in experiment.points() {
            experiment.http(&point).map_err(|what| source.error_at(&["workload"], what))?;
        }
        Ok(experiment)
    }

    #[cfg(test)]
    pub(crate) fn from_text(text: &str, profile: &str, names: &[&str]) -> Result<Experiment, SpecError> {
        let source = Source { file: "experiment.toml".into(), text: text.to_owned() };
        let variants = names
            .iter()
            .map(|name| Variant { name: (*name).to_owned(), model: "threads".into(), run: "true".into() })
            .collect();
        let contender = Contender {
            folder: PathBuf::from("."),
            needs: Vec::new(),
            install: Default::default(),
            build: None,
            version: "true".into(),
            variants,
        };
        Experiment::parse(&source, "fake".into(), profile, vec![contender])
    }
}

fn points(axes: &BTreeMap<String, Vec<AxisValue>>) -> Vec<Point> {
    axes.iter().fold(vec![Point::default()], |points, (axis, values)| {
        points
            .iter()
            .flat_map(|point| {
                values.iter().map(|value| {
                    let mut point = point.clone();
                    point.0.insert(axis.clone(), value.clone());
                    point
                })
            })
            .collect()
    })
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

fn parse_claims(
    source: &Source,
    file: &File,
    workload: &BTreeMap<String, AxisValue>,
    contenders: &BTreeSet<String>,
) -> Result<Vec<ClaimSpec>, SpecError> {
    // A value that any profile measures is no typing error, even where the chosen profile leaves it out.
    let mut axes = file.axes.clone();
    for profile in file.profiles.values() {
        for (axis, values) in &profile.axes {
            axes.entry(axis.clone()).or_default().extend(values.iter().cloned());
        }
    }
    let names = claim::Names { contenders, axes: &axes, workload, metrics: HttpWorkload::METRICS };
    let mut claims = Vec::<ClaimSpec>::new();
    for (index, claim) in file.claim.iter().enumerate() {
        let at = |key, what: String| source.error_at(&["claim", &index.to_string(), key], what);
        if claims.iter().any(|other| other.id == claim.id) {
            return Err(at("id", format!("two claims have the id '{}'", claim.id)));
        }
        let parsed = claim::parse(&claim.assert)
            .and_then(|parsed| claim::check(&parsed, &names).map(|()| parsed))
            .map_err(|ClaimError { column, what }| {
                at("assert", format!("claim '{}', column {column} of its text: {what}", claim.id))
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

fn read_contenders(experiment: &Path) -> Result<Vec<Contender>, SpecError> {
    let root = experiment.join("contenders");
    let mut files: Vec<PathBuf> = folders(&root)?
        .into_iter()
        .map(|folder| folder.join("contender.toml"))
        .filter(|file| file.is_file())
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(SpecError::Usage(format!(
            "{} holds no contender: no */contender.toml below it",
            root.display()
        )));
    }
    files.iter().map(|file| Contender::read(file)).collect()
}

fn find(name: &str) -> Result<PathBuf, SpecError> {
    let direct = PathBuf::from(name);
    if direct.join("experiment.toml").is_file() {
        return Ok(direct);
    }
    let root = experiments_folder();
    let named =
        root.as_ref().map(|root| root.join(name)).filter(|folder| folder.join("experiment.toml").is_file());
    named.ok_or_else(|| SpecError::NoExperiment {
        name: name.to_owned(),
        looked: match root {
            Some(root) => format!("neither {name} nor {} has an experiment.toml", root.join(name).display()),
            None => {
                format!("{name} has no experiment.toml, and there is no experiments/ folder here or above")
            }
        },
    })
}

/// The nearest `experiments/`, here or above, so that kumite works anywhere in a checkout.
fn experiments_folder() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let root = here.ancestors().map(|folder| folder.join("experiments")).find(|folder| folder.is_dir())?;
    Some(root.strip_prefix(&here).map_or(root.clone(), Path::to_owned))
}

fn folder_name(folder: &Path) -> Result<String, SpecError> {
    let read = |source| SpecError::Read { file: folder.to_owned(), source };
    let full = folder.canonicalize().map_err(read)?;
    Ok(full.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

fn folders(root: &Path) -> Result<Vec<PathBuf>, SpecError> {
    let read = |source| SpecError::Read { file: root.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str = r#"
question = "Which?"
kind = "http"
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
        assert_eq!(quick.measuring_time(2).as_secs(), 24);
        let standard = Experiment::from_text(SPEC, "standard", &["a", "b"]).unwrap();
        assert_eq!((standard.blocks, standard.points().len()), (7, 2));
        assert_eq!(standard.workload["duration_s"], AxisValue::Int(2));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let cases = [
            ("kind = \"http\"", "kind = \"dance\"", "3:1: unknown kind 'dance'; known: http"),
            ("blocks = 7", "block = 7", "4:1: unknown field `block`"),
            ("duration_s = 2", "duration_s = 2\nspeed = 3", "5:2: unknown workload parameter 'speed'"),
            ("[axes]", "[axes]\nduration_s = [1]", "'duration_s' is both an axis and a workload parameter"),
            ("connections = [1, 10]", "connections = []", "8:1: axis 'connections' has no values"),
            ("connections = [1, 10]", "connections = [1, 1]", "8:1: axis 'connections' has a value twice"),
            (
                "workload.duration_s = 1",
                "workload.durations_s = 1",
                "overrides workload parameter 'durations_s'",
            ),
            (
                "throughput_rps(a ",
                "throughput_rps(c ",
                "17:1: claim 'faster', column 16 of its text: no contender 'c'",
            ),
            ("throughput_rps(a ", "speed(a ", "no metric 'speed'"),
            ("(a at connections=10)", "(a at connections=11)", "axis 'connections' has no value 11"),
            ("(a at connections=10)", "(a)", "needs 'at connections=…'"),
            (
                "> throughput",
                ">> throughput",
                "column 38 of its text: expected a metric, a number or a $parameter, found '>'",
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
    fn an_unknown_profile_names_those_there_are() {
        let found = Experiment::from_text(SPEC, "slow", &["a", "b"]).unwrap_err().to_string();
        assert_eq!(found, "no profile 'slow' in fake; there are: full, quick, standard");
    }
}
