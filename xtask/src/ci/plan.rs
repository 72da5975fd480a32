//! The steps that changed files and the turn make necessary, each with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::catalogue::{Catalogue, Experiment};
use super::changed::{Need, needs};
use super::step::Step;
use anyhow::{Context, Result};

/// The kinds of workload there are; each has its smoke experiment below `tests/smoke/`.
pub const KINDS: [&str; 5] = ["command", "function", "http", "pacing", "task"];

/// How many blocks, and of how many contenders, tell whether a kind works.
const FEW: usize = 2;

/// Steps in their order, each with its reason.
#[derive(Debug, Default, PartialEq)]
pub struct Plan {
    pub steps: Vec<(Step, String)>,
}

impl Plan {
    /// The steps that are always made, those that these changes make necessary, and the experiment whose turn it is.
    pub fn for_changes(changed: &BTreeSet<String>, turn: usize, catalogue: &Catalogue) -> Result<Plan> {
        let mut collected = Collected::default();
        for file in changed {
            for need in needs(file) {
                collected.need(&need, &format!("{file} changed"), catalogue)?;
            }
        }
        if !catalogue.experiments.is_empty() {
            let experiment = &catalogue.experiments[turn % catalogue.experiments.len()];
            collected.need(&Need::Experiment(experiment.name.clone()), "its turn", catalogue)?;
        }
        Ok(collected.plan(catalogue))
    }

    /// Every step there is.
    pub fn all(catalogue: &Catalogue) -> Result<Plan> {
        let mut collected = Collected::default();
        let mut need = |need: &Need| collected.need(need, "--all", catalogue);
        for experiment in &catalogue.experiments {
            need(&Need::Experiment(experiment.name.clone()))?;
        }
        for rest in [
            Need::EveryKit,
            Need::EveryFormat,
            Need::Windows,
            Need::Page,
            Need::Release,
            Need::Install,
            Need::Action,
            Need::Recipes,
            Need::Cases,
            Need::Clients,
            Need::Nodes,
            Need::Kubernetes,
        ] {
            need(&rest)?;
        }
        for kind in KINDS {
            let experiment = of_kind(kind, catalogue)?.name.clone();
            collected.add(Step::Quick { experiment }, "--all");
        }
        Ok(collected.plan(catalogue))
    }

    /// A line for each step: what, why, about how long.
    pub fn text(&self) -> String {
        let width = self.steps.iter().map(|(step, _)| step.to_string().chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        let mut total = Duration::ZERO;
        for (step, why) in &self.steps {
            total += step.about();
            text += &format!("  {:width$}  {:>6}  {why}\n", step.to_string(), minutes(step.about()));
        }
        format!("{} steps, about {} if nothing is cached:\n{text}", self.steps.len(), minutes(total))
    }
}

/// A duration in words, minutes rounded up.
pub fn minutes(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

/// Steps that are collected, with all their reasons; their order is that of [`Step`].
#[derive(Default)]
struct Collected {
    steps: BTreeMap<Step, Vec<String>>,
    /// By experiment, the variants that are checked together because their contenders changed, and why.
    variants: BTreeMap<String, (BTreeSet<String>, Vec<String>)>,
}

impl Collected {
    fn add(&mut self, step: Step, why: &str) {
        self.steps.entry(step).or_default().push(why.to_owned());
    }

    /// Every contender that is built from something in this folder, of whichever experiment.
    fn contenders_of(&mut self, folder: &str, why: &str, catalogue: &Catalogue) {
        for experiment in &catalogue.experiments {
            let found = experiment.contenders.iter().filter(|contender| contender.is_of(folder));
            let variants: Vec<String> = found.flat_map(|contender| contender.variants.clone()).collect();
            if !variants.is_empty() {
                let (all, reasons) = self.variants.entry(experiment.name.clone()).or_default();
                all.extend(variants);
                reasons.push(why.to_owned());
            }
        }
    }

    fn need(&mut self, need: &Need, why: &str, catalogue: &Catalogue) -> Result<()> {
        match need {
            Need::Experiment(name) => match catalogue.experiment(name) {
                Some(experiment) => {
                    self.add(check(experiment, Vec::new()), why);
                    self.add(Step::Formatted { folder: format!("experiments/{name}") }, why);
                }
                // It was removed, and nothing says what went with it.
                None => self.need(&Need::EveryKind, why, catalogue)?,
            },
            Need::Contender(name, folder) => {
                let folder = format!("experiments/{name}/contenders/{folder}");
                let is_there = |one: &Experiment| one.contenders.iter().any(|one| one.folder == folder);
                if catalogue.experiment(name).is_some_and(is_there) {
                    self.contenders_of(&folder, why, catalogue);
                    self.add(Step::Formatted { folder: format!("experiments/{name}") }, why);
                } else {
                    self.need(&Need::Experiment(name.clone()), why, catalogue)?;
                }
            }
            Need::Kit(name) if catalogue.kits.contains(name) => {
                self.add(Step::Kit { name: name.clone() }, why);
                self.add(Step::Formatted { folder: format!("kits/{name}") }, why);
                if let Some((experiment, only)) = user_of(name, catalogue) {
                    self.add(check(experiment, only), why);
                }
            }
            Need::Kit(_) => self.need(&Need::EveryKind, why, catalogue)?,
            Need::Kind(kind) => {
                let experiment = of_kind(kind, catalogue)?;
                let (name, only) = (experiment.name.clone(), experiment.quickest(FEW));
                self.add(Step::Run { experiment: name, only, blocks: FEW }, why);
            }
            Need::EveryKind => {
                for kind in KINDS {
                    self.need(&Need::Kind(kind), why, catalogue)?;
                }
            }
            Need::Service(kind) => {
                let with = |experiment: &&Experiment| experiment.services.contains(*kind);
                let found = catalogue.experiments.iter().find(with);
                let found = found.with_context(|| format!("no experiment has a service of kind {kind}"))?;
                self.add(check(found, found.quickest(1)), why);
            }
            Need::EveryLanguage => {
                let languages = |experiment: &&Experiment| experiment.one_of_each_language().len();
                if let Some(found) = catalogue.experiments.iter().max_by_key(languages) {
                    self.add(check(found, found.one_of_each_language()), why);
                }
            }
            Need::EveryKit => {
                for name in &catalogue.kits {
                    self.add(Step::Kit { name: name.clone() }, why);
                }
            }
            Need::EveryFormat => {
                let experiments = catalogue.experiments.iter().map(|one| format!("experiments/{}", one.name));
                for folder in experiments.chain(catalogue.kits.iter().map(|kit| format!("kits/{kit}"))) {
                    self.add(Step::Formatted { folder }, why);
                }
            }
            Need::Windows => self.add(Step::Windows, why),
            Need::Page => self.add(Step::Page, why),
            Need::Release => self.add(Step::Release, why),
            Need::Install => self.add(Step::Install, why),
            Need::Action => self.add(Step::Action, why),
            Need::Recipes => self.add(Step::Recipes, why),
            Need::Cases => self.add(Step::Cases, why),
            Need::Clients => self.add(Step::Clients, why),
            Need::Nodes => self.add(Step::Nodes, why),
            Need::Kubernetes => self.add(Step::Kubernetes, why),
        }
        Ok(())
    }

    fn plan(mut self, catalogue: &Catalogue) -> Plan {
        for (name, (variants, why)) in std::mem::take(&mut self.variants) {
            if let Some(experiment) = catalogue.experiment(&name) {
                let step = check(experiment, variants.into_iter().collect());
                self.steps.entry(step).or_default().extend(why);
            }
        }
        for step in [
            Step::Format,
            Step::Clippy,
            Step::Doc,
            Step::Tidy,
            Step::Build,
            Step::NotTested,
            Step::LeftBehind,
        ] {
            self.add(step, "always");
        }
        for kind in KINDS {
            self.add(Step::Smoke { kind }, "always");
        }
        let whole: BTreeSet<String> =
            self.steps.keys().filter_map(Step::checks_all_of).map(str::to_owned).collect();
        let is_part = |step: &Step| matches!(step, Step::Check { experiment, only, .. } if !only.is_empty() && whole.contains(experiment));
        let kept = self.steps.into_iter().filter(|(step, _)| !is_part(step));
        Plan { steps: kept.map(|(step, why)| (step, reasons(&why))).collect() }
    }
}

fn reasons(why: &[String]) -> String {
    match why {
        [first, _, ..] => format!("{first}, and {} more", why.len() - 1),
        _ => why.concat(),
    }
}

fn check(experiment: &Experiment, only: Vec<String>) -> Step {
    let counts = |contender: &&super::catalogue::Contender| {
        only.is_empty() || contender.variants.iter().any(|variant| only.contains(variant))
    };
    let contenders = Vec::from_iter(experiment.contenders.iter().filter(counts));
    let languages = contenders.iter().filter_map(|contender| contender.language).collect();
    let variants = contenders.iter().map(|contender| contender.variants.len()).sum();
    Step::Check { experiment: experiment.name.clone(), only, languages, variants }
}

/// The experiment of this kind that is the quickest to try: the one with contenders in the most languages, for it has
/// those that need no build.
fn of_kind<'a>(kind: &str, catalogue: &'a Catalogue) -> Result<&'a Experiment> {
    let fitting = catalogue.experiments.iter().filter(|one| one.kind == kind && one.services.is_empty());
    let best = fitting.rev().max_by_key(|one| one.one_of_each_language().len());
    best.with_context(|| format!("no experiment of kind {kind} is without a service"))
}

/// The first experiment that is built with this kit, and a contender of it that is.
fn user_of<'a>(kit: &str, catalogue: &'a Catalogue) -> Option<(&'a Experiment, Vec<String>)> {
    catalogue.experiments.iter().find_map(|experiment| {
        let contender = experiment.contenders.iter().find(|one| one.kits.contains(kit))?;
        Some((experiment, vec![contender.variants.first()?.clone()]))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn ours() -> Catalogue {
        Catalogue::read(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()).unwrap()
    }

    /// The steps that are not always made, and not by rotation either.
    fn because_of(changed: &[&str]) -> Vec<String> {
        let changed = changed.iter().map(|&file| file.to_owned()).collect();
        let turn_of_sql_overload = 11;
        let plan = Plan::for_changes(&changed, turn_of_sql_overload, &ours()).unwrap();
        let by_change = plan.steps.into_iter().filter(|(_, why)| why.contains(" changed"));
        by_change.map(|(step, _)| step.to_string()).collect()
    }

    #[test]
    fn what_is_always_checked_comes_whatever_changed_and_what_is_left_behind_comes_last() {
        let plan = Plan::for_changes(&BTreeSet::new(), 0, &ours()).unwrap();
        let always: Vec<String> =
            plan.steps.iter().filter(|(_, why)| why == "always").map(|(step, _)| step.to_string()).collect();
        let expected = [
            "cargo fmt",
            "cargo clippy",
            "cargo doc",
            "cargo xtask tidy",
            "build the binary",
            "tests not made",
            "smoke command",
            "smoke function",
            "smoke http",
            "smoke pacing",
            "smoke task",
            "left behind",
        ];
        assert_eq!(always, expected);
        assert_eq!(plan.steps.last().unwrap().0, Step::LeftBehind);
    }

    #[test]
    fn a_document_needs_nothing_more() {
        assert_eq!(because_of(&["README.md", ".ci/base"]), [""; 0]);
    }

    #[test]
    fn an_experiment_is_checked_whole_and_formatted() {
        let steps = because_of(&["experiments/fib/README.md", "experiments/fib/experiment.toml"]);
        assert_eq!(steps, ["check fib", "format of experiments/fib"]);
    }

    #[test]
    fn a_contender_is_checked_with_those_that_use_it_and_the_others_are_not() {
        let format = |name: &str| format!("format of experiments/{name}");
        let steps = because_of(&["experiments/fib/contenders/node/index.mjs"]);
        let [only, formatted] = &steps[..] else { panic!("{steps:?}") };
        let (name, variants) = only.split_once(" (").unwrap();
        let variants = Vec::from_iter(variants.trim_end_matches(')').split(", "));
        assert_eq!((name, formatted), ("check fib", &format("fib")));
        assert!(["node", "bun", "deno"].iter().all(|name| variants.contains(name)), "{variants:?}");
        assert!(!variants.contains(&"python") && !variants.contains(&"go"), "{variants:?}");
        let steps = because_of(&["experiments/cold-start/contenders/java/pom.xml"]);
        assert!(steps[0].starts_with("check cold-start (java"), "{steps:?}");
        assert!(steps[1].starts_with("check dynamodb (java"), "its contender is built from it: {steps:?}");
        let steps = because_of(&[
            "experiments/compress/contenders/gzip/contender.toml",
            "experiments/compress/contenders/xz/contender.toml",
        ]);
        assert_eq!(steps.len(), 2, "one step for both: {steps:?}");
        let whole = ["check fib".to_owned(), format("fib")];
        assert_eq!(because_of(&["experiments/fib/contenders/gone/main.go"]), whole);
        let both = ["experiments/fib/contenders/go/main.go", "experiments/fib/experiment.toml"];
        assert_eq!(because_of(&both), whole);
    }

    #[test]
    fn a_kit_conforms_and_an_experiment_that_is_built_with_it_is_checked() {
        let steps = because_of(&["kits/rust/src/lib.rs"]);
        assert_eq!(steps, ["check async-api (rust-threads)", "kit rust", "format of kits/rust"]);
    }

    #[test]
    fn a_driver_runs_one_experiment_of_its_kind() {
        let steps = because_of(&["crates/kumite-lab/src/driver/task/metrics.rs"]);
        assert_eq!(steps, ["run async-api (python-sync, go-pebble-sync), 2 blocks"]);
    }

    #[test]
    fn what_no_rule_names_runs_one_experiment_of_each_kind() {
        let kinds = |steps: Vec<String>| -> Vec<String> {
            let catalogue = ours();
            let name = |step: &String| step.split(' ').nth(1).unwrap().to_owned();
            let kind = |name: String| catalogue.experiment(&name).unwrap().kind.clone();
            let mut kinds: Vec<String> = steps.iter().map(name).map(kind).collect();
            kinds.sort();
            kinds
        };
        for file in ["something/new.rs", "experiments/gone/experiment.toml", "kits/gone/kit.gone"] {
            assert_eq!(kinds(because_of(&[file])), KINDS, "{file}");
        }
    }

    #[test]
    fn a_service_and_the_build_have_contenders_that_need_them() {
        assert_eq!(
            because_of(&["crates/kumite-lab/src/service/files.rs"]),
            ["check file-io (python-threads)"]
        );
        let steps = because_of(&["crates/kumite-lab/src/run/prepare.rs"]);
        let [step] = steps.as_slice() else { panic!("{steps:?}") };
        let (name, contenders) = step["check ".len()..].split_once(" (").unwrap();
        let kits = ours().kits.len();
        assert_eq!(contenders.split(", ").count(), kits, "one for each language: {step}");
        let spec = format!("experiments/{name}/experiment.toml");
        let steps = because_of(&["crates/kumite-lab/src/run/prepare.rs", &spec]);
        let all = [format!("check {name}"), format!("format of experiments/{name}")];
        assert_eq!(steps, all, "all of it holds a part of it");
    }

    #[test]
    fn every_experiment_has_its_turn_within_as_many_turns_as_there_are() {
        let catalogue = ours();
        let mut seen = BTreeSet::new();
        for turn in 5..5 + catalogue.experiments.len() {
            let plan = Plan::for_changes(&BTreeSet::new(), turn, &catalogue).unwrap();
            let checks = plan.steps.iter().filter_map(|(step, _)| step.checks_all_of());
            seen.extend(checks.map(str::to_owned));
        }
        assert_eq!(seen.len(), catalogue.experiments.len());
    }

    #[test]
    fn all_is_every_experiment_every_kit_and_a_quick_run_of_each_kind() {
        let catalogue = ours();
        let plan = Plan::all(&catalogue).unwrap();
        let count = |matches: fn(&Step) -> bool| plan.steps.iter().filter(|(step, _)| matches(step)).count();
        assert_eq!(count(|step| matches!(step, Step::Check { .. })), catalogue.experiments.len());
        assert_eq!(count(|step| matches!(step, Step::Kit { .. })), catalogue.kits.len());
        assert_eq!(count(|step| matches!(step, Step::Quick { .. })), KINDS.len());
        assert_eq!(
            count(|step| matches!(
                step,
                Step::Windows
                    | Step::Page
                    | Step::Release
                    | Step::Install
                    | Step::Action
                    | Step::Recipes
                    | Step::Cases
                    | Step::Clients
                    | Step::Nodes
                    | Step::Kubernetes
            )),
            10
        );
    }

    #[test]
    fn a_plan_says_what_why_and_about_how_long() {
        let plan = Plan::for_changes(&BTreeSet::from(["kits/go/kit.go".to_owned()]), 3, &ours()).unwrap();
        let text = plan.text();
        assert!(text.contains(" steps, about "), "{text}");
        let line = text.lines().find(|line| line.contains("kit go")).unwrap();
        assert!(line.contains(" s  ") && line.ends_with("kits/go/kit.go changed"), "{line}");
    }
}
