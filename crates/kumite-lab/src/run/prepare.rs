//! The preparation of contenders, so that they can be started: it looks for tools, installs, and builds.
//!
//! A contender that cannot take part is named with its reason and stays in the record; none is left out silently.
//! Only what the experiment itself needs, its services, and the second build of the control end the run when they
//! cannot be had. Builds are held as long as [`Prepared`] lives, so that no other kumite removes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use kumite_cache::Held;
use kumite_record as record;
use kumite_record::{ContenderStatus, Control, Role, Roles, there_are};

use crate::contender::{
    Builds, Contender, Install, Need, Obtaining, Origin, Ready, Receipt, Tools, Variant, Versions,
    install_apt, is_any_missing,
};
use crate::error::{Error, chain};
use crate::halt::Halt;
use crate::service;
use crate::spec::Experiment;
use crate::toml_source::SpecError;

/// The contenders of an experiment: those that are ready, and the others with their reasons.
pub struct Prepared {
    /// The contenders that can be started, and the second build of the control if it was made here.
    pub ready: Vec<Ready>,
    /// All contenders, with the reasons why some cannot be started.
    pub contenders: Vec<record::Contender>,
    /// The services beside the contenders, with their versions.
    pub services: Vec<record::Service>,
    /// The folder in which builds are kept.
    pub cache: PathBuf,
    /// The builds of the contenders that can be started, by name. As long as they are here, nobody removes them.
    builds: BTreeMap<String, Build>,
}

struct Build {
    origin: Origin,
    held: Rc<[Held]>,
}

impl Prepared {
    /// Adds the variants of a contender: ready if its build succeeded, else with the reason.
    fn add(&mut self, contender: &Contender, mut built: Result<(Receipt, Env), NotBuilt>, choice: &Choice) {
        let held =
            built.as_mut().map_or_else(|_| Vec::new(), |(receipt, _)| std::mem::take(&mut receipt.held));
        let held: Rc<[Held]> = held.into();
        for variant in &contender.variants {
            let (status, version, reason) = match (choice.left_out(&variant.name), &built) {
                (Some(why), _) => (ContenderStatus::Skipped, None, Some(why.to_owned())),
                (None, Ok((receipt, _))) => (ContenderStatus::Ran, Some(receipt.version.clone()), None),
                (None, Err(NotBuilt { status, why })) => (*status, None, why.as_ref().map(|why| chain(why))),
            };
            let receipt = built.as_ref().ok().filter(|_| status == ContenderStatus::Ran);
            if let Some((receipt, env)) = receipt {
                let build = Build { origin: receipt.origin, held: held.clone() };
                self.builds.insert(variant.name.clone(), build);
                self.ready.push(Ready {
                    name: variant.name.clone(),
                    folder: receipt.folder.clone(),
                    deps: receipt.deps.clone(),
                    run: variant.run.clone(),
                    env: env.clone(),
                    answers: variant.answers,
                    reads: variant.reads,
                    origin: Some(receipt.origin),
                    memory_mb: variant.memory_mb,
                    twin: None,
                    drawn: None,
                });
            }
            self.contenders.push(record::Contender {
                name: variant.name.clone(),
                model: variant.model.clone(),
                version,
                digests: receipt.map(|(receipt, _)| receipt.digests.clone()),
                status,
                reason,
            });
        }
    }

    /// The origin of a contender's build. None if the contender cannot be started on this machine.
    pub fn origin(&self, name: &str) -> Option<Origin> {
        self.builds.get(name).map(|build| build.origin)
    }

    /// A file in a contender's build that was written after the build was completed, which must not be. `None` if there
    /// is no such file. An error if the build cannot be read.
    pub fn written(&self, name: &str) -> Result<Option<PathBuf>, Error> {
        let held = self.builds.get(name).map_or(&[][..], |build| &build.held);
        Ok(held.iter().map(Held::written).find(|written| !matches!(written, Ok(None))).unwrap_or(Ok(None))?)
    }
}

/// The reasons for which a contender is left out on purpose.
const LEFT_OUT: [&str; 3] = ["left out by --only", "left out by --skip", "the profile does not try it"];

/// True if the contender was left out on purpose, so that nothing is missing.
pub fn is_left_out(contender: &record::Contender) -> bool {
    contender.reason.as_deref().is_some_and(|reason| LEFT_OUT.contains(&reason))
}

/// The user's choice of contenders, and of how they are prepared.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The names of the only contenders that take part. Empty if all do.
    pub only: Vec<String>,
    /// The contenders that are left out, by name.
    pub skip: Vec<String>,
    /// The names of the contenders that the profile does not try at any point. They are left out, too.
    pub unplanned: Vec<String>,
    /// True to install missing tools, through the system's package manager and npm.
    pub install: bool,
    /// True to build contenders even if the cache has their builds.
    pub anew: bool,
    /// The roles that other nodes have.
    pub elsewhere: Roles,
    /// The control, of which a second build is made. None if the run has none.
    pub control: Option<Control>,
}

impl Choice {
    /// Returns an error if `only` or `skip` has a name that no contender has.
    pub fn check(&self, experiment: &Experiment) -> Result<(), SpecError> {
        let known: Vec<&str> =
            experiment.variants().iter().map(|(_, variant)| variant.name.as_str()).collect();
        for (flag, names) in [("--only", &self.only), ("--skip", &self.skip)] {
            if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
                let what = format!("{flag} {name}: no such contender{}", there_are(name, &known));
                return Err(SpecError::Usage(what));
            }
        }
        Ok(())
    }

    /// The reason why a contender is left out on purpose. `None` if it is not left out.
    pub fn left_out(&self, name: &str) -> Option<&'static str> {
        let named = |names: &[String]| names.iter().any(|other| other == name);
        let [by_only, by_skip, by_profile] = LEFT_OUT;
        if !self.only.is_empty() && !named(&self.only) {
            return Some(by_only);
        }
        if named(&self.skip) {
            return Some(by_skip);
        }
        named(&self.unplanned).then_some(by_profile)
    }
}

/// Looks for tools, installs what may be installed, and builds. Every contender that cannot take part is returned with
/// the reason. `note` is called with sentences about steps that take long. An error if a tool of the experiment itself,
/// a service, or the second build of the control is not available, or `stop` is set.
pub fn prepare(
    experiment: &Experiment,
    choice: &Choice,
    state: &Path,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
) -> Result<Prepared, Halt> {
    let mut preparing =
        Preparing { builds: Builds::open(state)?, versions: Versions::default(), choice, stop, note };
    // Without the experiment's tools and services nothing can be measured, so they come first.
    preparing.tools_of(experiment).map_err(|why| Halt::unless_stopped(why, stop))?;
    let log = preparing.builds.log("services");
    let none = BTreeMap::new();
    let specs = if choice.elsewhere.contains(&Role::Services) { &none } else { &experiment.services };
    let services = service::prepare(specs, choice.install, &log, stop, preparing.note)
        .map_err(|why| Halt::unless_stopped(why, stop))?;
    let mut prepared = Prepared {
        ready: Vec::new(),
        contenders: Vec::new(),
        services,
        cache: preparing.builds.folder().to_owned(),
        builds: BTreeMap::new(),
    };
    let here = match choice.elsewhere.contains(&Role::Server) {
        true => &[][..],
        false => &experiment.contenders,
    };
    for contender in here {
        let takes_part = |variant: &Variant| choice.left_out(&variant.name).is_none();
        let built = match contender.variants.iter().any(takes_part) {
            true => preparing.built(contender),
            false => Err(NotBuilt { status: ContenderStatus::Skipped, why: None }),
        };
        Halt::if_set(stop)?;
        prepared.add(contender, built, choice);
        preparing.build_twin(contender, &mut prepared).map_err(|why| Halt::unless_stopped(why, stop))?;
    }
    prepared.ready.sort_by(|a, b| a.name.cmp(&b.name));
    prepared.contenders.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(prepared)
}

type Env = Vec<(String, String)>;

/// The reason why a contender cannot take part, with its status.
struct NotBuilt {
    status: ContenderStatus,
    /// The error. None for a contender that is left out on purpose.
    why: Option<Error>,
}

impl NotBuilt {
    fn with_status(status: ContenderStatus) -> impl Fn(Error) -> NotBuilt {
        move |why| NotBuilt { status, why: Some(why) }
    }
}

struct Preparing<'a> {
    builds: Builds,
    versions: Versions,
    choice: &'a Choice,
    stop: &'a AtomicBool,
    note: &'a mut dyn FnMut(&str),
}

impl Preparing<'_> {
    /// Looks for a contender's tools and builds it. The error says why it cannot take part.
    fn built(&mut self, contender: &Contender) -> Result<(Receipt, Env), NotBuilt> {
        let tools = self.tools(contender).map_err(NotBuilt::with_status(ContenderStatus::Skipped))?;
        self.tell_of_shims(contender, &tools);
        let env = tools.env().map_err(NotBuilt::with_status(ContenderStatus::Failed))?;
        let mut receipt = self.receipt(contender, &tools);
        // A library or a module is no tool, so that nobody has looked for it.
        if receipt.is_err()
            && self.choice.install
            && !self.stop.load(Ordering::Relaxed)
            && is_any_missing(&contender.install, &self.log(contender))
        {
            (self.note)(&format!("installing {} (its build failed)", contender.install.apt.join(" ")));
            let installed = install_apt(&contender.install, &self.log(contender));
            self.versions.forget();
            receipt = match (receipt, installed) {
                (Err(why), Err(failed)) => Err(Error::Mending {
                    first: Box::new(why),
                    then: "installing failed".to_owned(),
                    source: Box::new(failed),
                }),
                _ => self.receipt(contender, &tools),
            };
        }
        receipt.map(|receipt| (receipt, env)).map_err(NotBuilt::with_status(ContenderStatus::Failed))
    }

    /// Builds the control a second time, so that its two trials in a block are not of one build.
    fn build_twin(&mut self, contender: &Contender, prepared: &mut Prepared) -> Result<(), Error> {
        let Some(Control { contender: name, twin, .. }) = &self.choice.control else { return Ok(()) };
        let is_here = contender.variants.iter().any(|variant| variant.name == *name);
        let first = prepared.ready.iter().find(|ready| is_here && ready.name == *name).cloned();
        let Some(first) = first else { return Ok(()) };
        let tools = self.tools(contender)?;
        let Preparing { builds, choice, stop, note, .. } = self;
        let step = Error::step(format!("the second build of {name}, which is the control"));
        let receipt = builds.second_receipt(contender, &tools, choice.anew, stop, note).map_err(step)?;
        let (folder, deps) = (receipt.folder, receipt.deps);
        let origin = receipt.origin;
        prepared.builds.insert(twin.clone(), Build { origin, held: receipt.held.into() });
        prepared.ready.push(Ready { twin: Some(twin.clone()), folder, deps, origin: Some(origin), ..first });
        Ok(())
    }

    /// Notes each tool that is a script which starts the real tool, if a contender is run by it: the script's time is
    /// measured, too.
    fn tell_of_shims(&mut self, contender: &Contender, tools: &Tools) {
        for (tool, file) in tools.shims() {
            let runs_it = |variant: &&Variant| variant.run.split_whitespace().any(|word| word == tool);
            if let Some(variant) = contender.variants.iter().find(runs_it) {
                (self.note)(&format!(
                    "{}: {tool} is {}, a script that starts the real one each time, and the time of that is measured, \
                     too: put the folder of the real one first on PATH",
                    variant.name,
                    file.display()
                ));
            }
        }
    }

    fn receipt(&mut self, contender: &Contender, tools: &Tools) -> Result<Receipt, Error> {
        self.builds.receipt(contender, tools, self.choice.anew, self.stop, self.note)
    }

    fn tools(&mut self, contender: &Contender) -> Result<Tools, Error> {
        let (log, asked) = (self.log(contender), self.builds.file(contender, "needs.log"));
        self.obtain("needs", &contender.needs, &contender.install, [&log, &asked])
    }

    /// Looks for the tools that the experiment's own commands need: its set-up and its checker.
    fn tools_of(&mut self, experiment: &Experiment) -> Result<(), Error> {
        let log = self.builds.log("experiment");
        let who_needs = format!("{} needs", experiment.name);
        self.obtain(&who_needs, &experiment.needs, &experiment.install, [&log, &log]).map(drop)
    }

    /// Looks for tools, and installs missing ones. The output of installations goes to `log`, and that of tools that
    /// are asked for their version to `asked`.
    fn obtain(
        &mut self,
        who_needs: &str,
        needs: &[Need],
        packages: &Install,
        [log, asked]: [&Path; 2],
    ) -> Result<Tools, Error> {
        let obtaining = Obtaining { who_needs, packages, may_install: self.choice.install, log };
        let Preparing { versions, stop, note, .. } = self;
        obtaining.obtain(note, |anew| {
            if anew {
                versions.forget();
            }
            let mut tools = Tools::new(versions);
            needs.iter().try_for_each(|need| tools.find(need, asked, stop))?;
            Ok(tools)
        })
    }

    fn log(&self, contender: &Contender) -> PathBuf {
        self.builds.file(contender, "install.log")
    }
}
