//! The parser of experiments: from the text of `experiment.toml` to an [`Experiment`] in which everything is checked.
//!
//! The text is read in the order in which one part needs another: profiles and points first, then the workload of
//! each point, then services and declared metrics, and the claims last, because they may speak of all of these. The
//! first error ends the reading, with its place in the file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use kumite_judge::{Derived, MetricError, of_parameters};
use kumite_record::{Labels, Metric, Probe, Published, Question, Run, Unit, Within, there_are};

use super::answer_at::{answer_of, check_answer_at, unfit_at};
use super::axis_values::check_labels;
use super::claims::{Judged, Known, check_values};
use super::control::read_control;
use super::experiment::{Experiment, widest};
use super::file::ExperimentFile;
use super::folder::{find, folder_name, no_contenders, read_contenders};
use super::keys::{check_keys, mistyped};
use super::points::Listed;
use super::profile::{check_profiles, fixed_of, names_of, of_all, plan_of};
use super::source::check_source;
use super::{own_metric, published};
use crate::contender::{Contender, read_needs};
use crate::driver::{Draft, Planned, Registration, Scenario};
use crate::error::chain;
use crate::parameter::{Parameters, at_point};
use crate::service::{ServiceFile, ServiceSpec};
use crate::toml_source::{SpecError, TomlSource};

const DEFAULT_BLOCKS: u32 = 24;

/// The number of blocks that each point gets by default: the fewest that give the estimate of a cell an interval.
const DEFAULT_MIN_BLOCKS: u32 = 6;

/// The default margin, in percent, within which contenders count as equal.
const DEFAULT_MARGIN_PERCENT: f64 = 1.0;

impl Experiment {
    /// Reads an experiment and its contenders, and applies a profile. `name` is the path of the experiment's folder, or
    /// a name by which the experiment is found from the current folder. An error if there is no such experiment or
    /// profile, or one of the experiment's files is wrong.
    pub fn load(name: &str, profile: &str) -> Result<Experiment, SpecError> {
        let folder = find(name)?;
        let source = TomlSource::read(&folder.join("experiment.toml"))?;
        let name = folder_name(&folder)?;
        let contenders = read_contenders(&folder)?;
        Experiment::parse(&source, name, folder, profile, contenders)
    }

    // Long only because it names every field.
    pub(super) fn parse(
        source: &TomlSource,
        name: String,
        folder: PathBuf,
        profile: &str,
        contenders: Vec<Contender>,
    ) -> Result<Experiment, SpecError> {
        let file = ExperimentFile::read(source)?;
        let kind = file.registration(source)?;
        let needs = read_needs(source, &file.needs, &file.install)?;
        check_keys(source, &file, kind, &contenders)?;
        check_profiles(source, &file, profile, &name)?;
        check_source(source, &file)?;
        check_labels(source, &file)?;
        check_answer_at(source, &file)?;
        let names = contender_names(&contenders)?;
        let control = read_control(source, &file, &names)?;
        let scenario = file.scenario(source, Some(&folder))?;
        let chosen = file.profiles.get(profile);
        let reading = Reading {
            source,
            file: &file,
            kind,
            folder: &folder,
            contenders: &contenders,
            fixed: fixed_of(&file, chosen),
            labels: file.axes.labels(source, &folder)?,
            listed: plan_of(source, &file, Some(profile), chosen, &names)?,
            scenario,
        };
        let planned = reading.planned()?;
        let (blocks, min_blocks) = reading.blocks(profile)?;
        let margin_percent = reading.margin_percent()?;
        let of_profiles = of_all(source, &file, &names)?;
        let declared = reading.declared(&of_profiles, &planned)?;
        let published = reading.published(declared.within.as_ref())?;
        let judged = Judged::read(
            source,
            &file,
            profile,
            &reading.fixed,
            &Known {
                contenders: &names,
                metrics: &declared.metrics,
                part_metrics: &declared.part_metrics,
                units: &declared.units,
                within: declared.within,
            },
        )?;
        reading.check_disk(&declared.units, &planned)?;
        reading.check_headline(&declared.metrics)?;
        let Reading { fixed, labels, scenario, .. } = reading;
        let profiles = names_of(&file).map(str::to_owned).collect();
        let claims: Vec<String> = file.claim.iter().map(|claim| claim.id.clone()).collect();
        let checks: Vec<String> = file.check.iter().map(|check| check.id.clone()).collect();
        let experiment = Experiment {
            question: Question { text: file.question, source: file.source },
            profile: profile.to_owned(),
            profiles,
            answer: file.answer,
            scenario,
            headline: file.headline,
            revisions: Vec::new(),
            disk: file.disk,
            needs,
            install: file.install,
            doubts: [mistyped(source, &file.workload, &file.axes.values, kind), no_contenders(&folder)]
                .concat(),
            text: source.text.clone(),
            name,
            folder,
            kind,
            fixed,
            labels,
            planned,
            blocks,
            min_blocks,
            margin_percent,
            control,
            claims: judged.claims,
            checks: judged.checks,
            not_judged: judged.not_judged,
            contenders,
            published,
            metrics: declared.metrics,
            part_metrics: declared.part_metrics,
            derived: declared.derived,
            units: declared.units,
            services: declared.services,
        };
        check_values(source, &experiment, &claims, &checks)?;
        Ok(experiment)
    }

    #[cfg(test)]
    pub(crate) fn from_text(text: &str, profile: &str, names: &[&str]) -> Result<Experiment, SpecError> {
        let source = TomlSource { file: "experiment.toml".into(), text: text.to_owned() };
        let variants = names
            .iter()
            .map(|name| crate::contender::Variant {
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
            deps: None,
            build: None,
            uses: Vec::new(),
            version: "true".into(),
            variants,
        };
        Experiment::parse(&source, "fake".into(), PathBuf::from("."), profile, vec![contender])
    }
}

/// Reads the claims and checks of a kept run from its file as it was when the run began, whatever the experiment is
/// like now.
pub(crate) fn judged_of(run: &Run, contenders: &[kumite_record::Contender]) -> Result<Judged, SpecError> {
    let source = TomlSource::of_run(run);
    let file = ExperimentFile::read(&source)?;
    let names: BTreeSet<String> = contenders.iter().map(|contender| contender.name.clone()).collect();
    let reading = Reading {
        source: &source,
        file: &file,
        kind: file.registration(&source)?,
        folder: Path::new(""),
        contenders: &[],
        fixed: run.workload.clone(),
        labels: run.labels.clone(),
        listed: Vec::new(),
        scenario: file.scenario(&source, None)?,
    };
    let known = Known {
        contenders: &names,
        metrics: &run.metrics,
        part_metrics: &run.part_metrics,
        units: &reading.units(),
        within: reading.within(&of_all(&source, &file, &names)?),
    };
    Judged::read(&source, &file, &run.profile, &run.workload, &known)
}

/// A file that is being read, with what was found in it so far.
struct Reading<'a> {
    source: &'a TomlSource,
    file: &'a ExperimentFile,
    kind: &'static Registration,
    folder: &'a Path,
    contenders: &'a [Contender],
    /// The fixed parameters in the chosen profile.
    fixed: Parameters,
    /// The texts that labels of axes stand for.
    labels: Labels,
    /// The points of the chosen profile.
    listed: Vec<Listed>,
    /// The requests and sessions.
    scenario: Scenario,
}

/// The declarations that an experiment's claims use.
struct Declared {
    services: BTreeMap<String, ServiceSpec>,
    units: BTreeMap<String, Unit>,
    derived: Derived,
    metrics: Vec<Metric>,
    part_metrics: Vec<Metric>,
    /// The axis within trials, with all values that it has in any profile. None if there is none.
    within: Option<Within>,
}

impl Reading<'_> {
    /// The names that claims may use. The workloads must have been read before: a wrong load in steps has no steps
    /// that claims could name.
    fn declared(
        &self,
        of_profiles: &[(Parameters, Vec<Listed>)],
        planned: &[Planned],
    ) -> Result<Declared, SpecError> {
        let (services, units) = (self.services()?, self.units());
        let of_services: Vec<Metric> =
            services.iter().flat_map(|(name, service)| service.metrics(name)).collect();
        let derived = self.derived(&of_services, &units)?;
        self.check_workloads(planned)?;
        let within = self.within(of_profiles);
        let mut own: Vec<Metric> = derived.metrics().cloned().chain(of_services).collect();
        if self.scenario.has_sessions() {
            own.extend((self.kind.session_metrics)().around([]));
        }
        let mut metrics = (self.kind.metrics)().around(own);
        metrics.extend(Probe::ALL.map(Probe::metric));
        let of_parts = match self.scenario.within() {
            Some(_) => (self.kind.request_metrics)(),
            None => (self.kind.part_metrics)(),
        };
        let part_metrics = match &within {
            Some(_) => of_parts.around(derived.of_parts(&(self.kind.part_metrics)().around([]))),
            None => Vec::new(),
        };
        Ok(Declared { services, units, derived, metrics, part_metrics, within })
    }

    /// The largest and the smallest number of blocks at a point.
    fn blocks(&self, profile: &str) -> Result<(u32, u32), SpecError> {
        let chosen = self.file.profiles.get(profile);
        let of_profile = |key: fn(&super::file::Profile) -> Option<u32>| chosen.and_then(key);
        let blocks = of_profile(|profile| profile.blocks).or(self.file.blocks).unwrap_or(DEFAULT_BLOCKS);
        if blocks == 0 {
            return Err(self.source.error_at(&["blocks"], "blocks must be at least 1"));
        }
        let min_blocks = of_profile(|profile| profile.min_blocks).or(self.file.min_blocks);
        Ok((blocks, min_blocks.unwrap_or(DEFAULT_MIN_BLOCKS)))
    }

    /// Refuses a headline that is no metric of trials, or one of which neither end is better.
    fn check_headline(&self, metrics: &[Metric]) -> Result<(), SpecError> {
        let Some(name) = &self.file.headline else { return Ok(()) };
        let fit = metrics.iter().filter(|metric| metric.better.is_some());
        let fit: Vec<&str> = fit.map(|metric| metric.name.as_str()).collect();
        match fit.contains(&name.as_str()) {
            true => Ok(()),
            false => {
                let what = format!(
                    "headline '{name}': no metric of trials with a better end{}",
                    there_are(name, &fit)
                );
                Err(self.source.error_at(&["headline"], what))
            }
        }
    }

    fn margin_percent(&self) -> Result<f64, SpecError> {
        let margin_percent = self.file.margin_percent.unwrap_or(DEFAULT_MARGIN_PERCENT);
        if !(0.0..=50.0).contains(&margin_percent) {
            let what = "margin_percent must lie between 0 and 50";
            return Err(self.source.error_at(&["margin_percent"], what));
        }
        Ok(margin_percent)
    }

    /// The names of all parameters that the file gives or sweeps.
    fn parameters(&self) -> BTreeSet<String> {
        self.fixed.keys().chain(self.file.axes.values.keys()).cloned().collect()
    }

    /// The units of all parameters: those that their kind declares, or those that the ends of their names say.
    fn units(&self) -> BTreeMap<String, Unit> {
        let declared = self.kind.params.iter().map(|param| (param.name.to_owned(), param.counted_in()));
        let of_name = |name: String| {
            let unit = Unit::of_name(&name).unwrap_or(Unit::Number);
            (name, unit)
        };
        self.parameters().into_iter().map(of_name).chain(declared).collect()
    }

    fn services(&self) -> Result<BTreeMap<String, ServiceSpec>, SpecError> {
        let parameters = self.parameters();
        let read = |(name, file): (&String, &ServiceFile)| {
            let spec = ServiceSpec::read(name, file, self.source, self.folder, &parameters)?;
            Ok((name.clone(), spec))
        };
        self.file.services.iter().map(read).collect()
    }

    /// The metrics that the experiment declares itself.
    fn derived(&self, of_services: &[Metric], units: &BTreeMap<String, Unit>) -> Result<Derived, SpecError> {
        let wrong = |(name, why): (String, MetricError)| {
            self.source.error_at(&["metrics", &name], format!("metric '{name}': {why}"))
        };
        let known = (self.kind.metrics)().around(of_services.iter().cloned());
        let own = own_metric::declared(&self.file.metrics).map_err(wrong)?;
        Derived::new(&own, &known, units).map_err(wrong)
    }

    /// The points of the profile with their workloads. An error if a workload is refused.
    fn planned(&self) -> Result<Vec<Planned>, SpecError> {
        let read = |Listed { point, contenders }: &Listed| {
            let (answer, nth) = answer_of(self.source, self.file, point)?;
            let (point, contenders) = (point.clone(), contenders.clone());
            let asked = (&answer, &self.scenario);
            Planned::read(self.kind.workload, (&self.fixed, &self.labels), asked, point, contenders)
                .map_err(|unfit| unfit_at(self.source, self.file, nth, unfit))
        };
        self.listed.iter().map(read).collect()
    }

    /// Returns the fault that the kind finds in the experiment's workloads, if it finds one.
    fn check_workloads(&self, planned: &[Planned]) -> Result<(), SpecError> {
        for Planned { workload, .. } in planned {
            let checked = workload.check_folder(self.folder);
            checked
                .map_err(|(parameter, why)| self.source.error_at(&["workload", parameter], chain(&why)))?;
        }
        let draft = Draft {
            answer: &self.file.answer,
            parameters: &self.parameters(),
            axes: &self.file.axes.values,
            variants: &self.contenders.iter().flat_map(|contender| &contender.variants).collect::<Vec<_>>(),
            planned,
        };
        (self.kind.check)(&draft).map_err(|(path, what)| self.source.error_at(path, what))
    }

    /// The axis within trials, with all values that it has in any profile. None if there is none.
    fn within(&self, of_profiles: &[(Parameters, Vec<Listed>)]) -> Option<Within> {
        if let Some(of_requests) = self.scenario.within() {
            return Some(of_requests);
        }
        let workloads = of_profiles.iter().flat_map(|(workload, listed)| {
            let of_point = |listed: &Listed| {
                let parameters = at_point(workload, &listed.point, &self.labels);
                (self.kind.workload)(&parameters, &self.file.answer, &self.scenario).ok()
            };
            listed.iter().filter_map(of_point)
        });
        widest(workloads.filter_map(|workload| workload.within()))
    }

    /// Returns an error if the experiment's expression for free disk has no value at some point.
    fn check_disk(&self, units: &BTreeMap<String, Unit>, planned: &[Planned]) -> Result<(), SpecError> {
        let Some(disk) = &self.file.disk else { return Ok(()) };
        for planned in planned {
            let bytes = of_parameters(disk, &planned.parameters, units, Unit::Bytes);
            bytes.map_err(|why| self.source.error_at(&["disk"], why.to_string()))?;
        }
        Ok(())
    }

    fn published(&self, within: Option<&Within>) -> Result<Option<Published>, SpecError> {
        let Some(file) = &self.file.published else { return Ok(None) };
        let axes = self.listed.iter().flat_map(|listed| listed.point.0.keys().cloned());
        let axes = axes.chain(within.map(|within| within.axis.clone())).collect();
        published::read(file, self.folder, self.source, &axes).map(Some)
    }
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
