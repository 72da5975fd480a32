//! From contenders that are written down to contenders that can be started.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use kumite_record as record;
use kumite_record::ContenderStatus;

use crate::build::Builds;
use crate::contender::{Answers, Contender, Reads, Variant};
use crate::needs::{self, Tools};
use crate::place::SpecError;
use crate::service;
use crate::spec::Experiment;

/// A contender that is built and answers its version command.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Its name.
    pub name: String,
    /// Where it is run.
    pub folder: PathBuf,
    /// The command that runs it.
    pub run: String,
    /// What leads it to its tools, set on top of our own environment.
    pub env: Vec<(String, String)>,
    /// What it is known to answer, where that is not what it should.
    pub answers: Option<Answers>,
    /// Whose document it writes, if it measures by itself.
    pub reads: Option<Reads>,
    /// Memory of an instance, in MB, in place of the workload's.
    pub memory_mb: Option<u32>,
}

/// What came of the contenders of an experiment.
pub struct Prepared {
    /// Those that can be started.
    pub ready: Vec<Ready>,
    /// All of them, with why some cannot.
    pub contenders: Vec<record::Contender>,
    /// What runs beside them.
    pub services: Vec<record::Service>,
}

/// Which contenders take part, and whether missing tools may be installed.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Only these, if any are named.
    pub only: Vec<String>,
    /// Not these.
    pub skip: Vec<String>,
    /// Nor these, which the profile does not try.
    pub unplanned: Vec<String>,
    /// Install missing tools through the system's package manager.
    pub install: bool,
}

impl Choice {
    /// Whether every name is a contender's.
    pub fn check(&self, experiment: &Experiment) -> Result<(), SpecError> {
        let known: Vec<&str> =
            experiment.variants().iter().map(|(_, variant)| variant.name.as_str()).collect();
        for (flag, names) in [("--only", &self.only), ("--skip", &self.skip)] {
            if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
                let what = format!("{flag} {name}: no such contender; there are: {}", known.join(", "));
                return Err(SpecError::Usage(what));
            }
        }
        Ok(())
    }

    /// Why a contender is left out, if it is.
    pub fn left_out(&self, name: &str) -> Option<&'static str> {
        let named = |names: &[String]| names.iter().any(|other| other == name);
        if !self.only.is_empty() && !named(&self.only) {
            return Some("left out by --only");
        }
        if named(&self.skip) {
            return Some("left out by --skip");
        }
        named(&self.unplanned).then_some("the profile does not try it")
    }
}

/// Looks for tools, installs what may be installed, and builds. What cannot take part is named with the reason; nothing
/// is left out silently. `note` is told of what takes long.
pub fn prepare(
    experiment: &Experiment,
    choice: &Choice,
    state: &Path,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
) -> Result<Prepared, SpecError> {
    let builds = Builds::open(state).map_err(SpecError::Usage)?;
    // Without them nothing can be measured, so they come first.
    let services =
        service::prepare(&experiment.services, choice.install, &builds.log("services"), stop, note)
            .map_err(SpecError::Usage)?;
    let mut prepared = Prepared { ready: Vec::new(), contenders: Vec::new(), services };
    for contender in &experiment.contenders {
        let wanted = |variant: &&Variant| choice.left_out(&variant.name).is_none();
        let built = if contender.variants.iter().any(|variant| wanted(&variant)) {
            built(contender, &builds, choice.install, stop, note)
        } else {
            Err((ContenderStatus::Skipped, String::new()))
        };
        if stop.load(Ordering::Relaxed) {
            break;
        }
        for variant in &contender.variants {
            let (status, version, reason) = match (choice.left_out(&variant.name), &built) {
                (Some(why), _) => (ContenderStatus::Skipped, None, Some(why.to_owned())),
                (None, Ok(built)) => (ContenderStatus::Ran, Some(built.version.clone()), None),
                (None, Err((status, why))) => (*status, None, Some(why.clone())),
            };
            if let (ContenderStatus::Ran, Ok(built)) = (status, &built) {
                prepared.ready.push(Ready {
                    name: variant.name.clone(),
                    folder: contender.folder.clone(),
                    run: variant.run.clone(),
                    env: built.env.clone(),
                    answers: variant.answers,
                    reads: variant.reads,
                    memory_mb: variant.memory_mb,
                });
            }
            let content = built.as_ref().ok().filter(|_| status == ContenderStatus::Ran);
            prepared.contenders.push(record::Contender {
                name: variant.name.clone(),
                model: variant.model.clone(),
                version,
                content: content.map(|built| built.content.clone()),
                status,
                reason,
            });
        }
    }
    prepared.ready.sort_by(|a, b| a.name.cmp(&b.name));
    prepared.contenders.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(prepared)
}

/// A contender that is built.
struct Built {
    /// What its version command prints.
    version: String,
    /// A digest of what it was built from.
    content: String,
    /// What leads to its tools.
    env: Vec<(String, String)>,
}

/// Looks for its tools and builds it, or says why it cannot take part.
fn built(
    contender: &Contender,
    builds: &Builds,
    install: bool,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
) -> Result<Built, (ContenderStatus, String)> {
    let name = contender.folder.file_name().unwrap_or_default().to_string_lossy();
    let tools =
        tools(contender, builds, install, stop, note).map_err(|why| (ContenderStatus::Skipped, why))?;
    let env = tools.env().map_err(|why| (ContenderStatus::Failed, why))?;
    let build = |note: &mut dyn FnMut(&str)| {
        builds.receipt(contender, &tools, stop, &mut || note(&format!("building {name}")))
    };
    let mut receipt = build(note);
    // A library or a module is no tool, so that nobody has looked for it.
    let log = builds.file(contender, "install.log");
    if let Err(why) = &receipt
        && install
        && !stop.load(Ordering::Relaxed)
        && needs::is_any_missing(&contender.install, &log)
    {
        note(&format!("installing {} (its build failed)", contender.install.apt.join(" ")));
        receipt = match needs::install(&contender.install, &log) {
            Ok(()) => build(note),
            Err(failed) => Err(format!("{why}; installing failed: {failed}")),
        };
    }
    receipt
        .map(|(version, content)| Built { version, content, env })
        .map_err(|why| (ContenderStatus::Failed, why))
}

fn tools(
    contender: &Contender,
    builds: &Builds,
    install: bool,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
) -> Result<Tools, String> {
    let packages = &contender.install;
    let found = look(contender, builds, stop);
    let Err(missing) = found else { return found };
    if !install || packages.apt.is_empty() {
        return Err(format!("needs {missing}; {}", remedy(contender)));
    }
    note(&format!("installing {} (needs {missing})", packages.apt.join(" ")));
    needs::install(packages, &builds.file(contender, "install.log"))
        .map_err(|why| format!("needs {missing}; installing it failed: {why}"))?;
    look(contender, builds, stop).map_err(|missing| {
        let get = packages.get.as_deref().map(|page| format!(": see {page}")).unwrap_or_default();
        format!("needs {missing}, also after installing {}; get a newer one{get}", packages.apt.join(" "))
    })
}

fn look(contender: &Contender, builds: &Builds, stop: &AtomicBool) -> Result<Tools, String> {
    let log = builds.file(contender, "needs.log");
    let mut tools = Tools::new();
    for need in &contender.needs {
        tools.find(need, &log, stop)?;
    }
    Ok(tools)
}

/// Where its tools are to be had.
pub(crate) fn remedy(contender: &Contender) -> String {
    let packages = &contender.install;
    match (packages.apt.is_empty(), &packages.get) {
        (false, Some(page)) => format!("--install gets it (apt: {}), or see {page}", packages.apt.join(" ")),
        (false, None) => format!("--install gets it (apt: {})", packages.apt.join(" ")),
        (true, Some(page)) => format!("see {page}"),
        (true, None) => "install it and put it on PATH".to_owned(),
    }
}
