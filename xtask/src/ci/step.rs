//! A step: what is checked, about how long that takes, and how it is made.

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::checkout::{Checkout, run};
use super::language::Language;
use super::{format, kits, left_behind, not_tested};
use anyhow::{Context, Result, anyhow};

/// The steps there are, in the order in which they are made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Format,
    Clippy,
    /// Each link in the documentation of an item leads somewhere.
    Doc,
    Tidy,
    /// The binary and the fake contenders, which most other steps need.
    Build,
    /// Tests that this machine could not make are counted.
    NotTested,
    /// The experiment of a kind below `tests/smoke/`, with fake contenders.
    Smoke {
        kind: &'static str,
    },
    Windows,
    Page,
    Release,
    /// Contenders of an experiment are built, start, and answer right: these variants, or all.
    Check {
        experiment: String,
        only: Vec<String>,
        languages: Vec<Language>,
        variants: usize,
    },
    /// A kit conforms.
    Kit {
        name: String,
    },
    /// Contenders, kits and scripts in a folder are formatted.
    Formatted {
        folder: String,
    },
    /// A few blocks of a few contenders.
    Run {
        experiment: String,
        only: Vec<String>,
        blocks: usize,
    },
    /// The quick profile, by the binary that users get.
    Quick {
        experiment: String,
    },
    /// The GitHub action, in a plain Debian and against an API that is made here.
    Action,
    /// The recipes of docs/ci.md, in repositories with a change that is slower and one that is not.
    Recipes,
    /// Small inputs on which a tool can be wrong.
    Cases,
    /// AWS's own clients call functions, and run them.
    Clients,
    /// Nodes share a run, and fail.
    Nodes,
    /// The manifest that `kumite manifest` prints, on a Kubernetes.
    Kubernetes,
    /// The packages are made, installed where nothing else is, and used.
    Install,
    /// Nothing is left behind by all of these.
    LeftBehind,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Step::Format => f.write_str("cargo fmt"),
            Step::Clippy => f.write_str("cargo clippy"),
            Step::Doc => f.write_str("cargo doc"),
            Step::Tidy => f.write_str("cargo xtask tidy"),
            Step::Build => f.write_str("build the binary"),
            Step::NotTested => f.write_str("tests not made"),
            Step::Smoke { kind } => write!(f, "smoke {kind}"),
            Step::Windows => f.write_str("cargo xtask windows"),
            Step::Page => f.write_str("the player's page"),
            Step::Release => f.write_str("cargo build --release"),
            Step::Check { experiment, only, .. } if only.is_empty() => write!(f, "check {experiment}"),
            Step::Check { experiment, only, .. } => write!(f, "check {experiment} ({})", only.join(", ")),
            Step::Kit { name } => write!(f, "kit {name}"),
            Step::Formatted { folder } => write!(f, "format of {folder}"),
            Step::Run { experiment, only, blocks } => {
                write!(f, "run {experiment} ({}), {blocks} blocks", only.join(", "))
            }
            Step::Quick { experiment } => write!(f, "run {experiment}, quick"),
            Step::Install => f.write_str("install and first minute"),
            Step::Action => f.write_str("the GitHub action"),
            Step::Recipes => f.write_str("recipes for CI"),
            Step::Cases => f.write_str("cases"),
            Step::Clients => f.write_str("AWS's clients"),
            Step::Nodes => f.write_str("nodes that share a run"),
            Step::Kubernetes => f.write_str("the manifest on Kubernetes"),
            Step::LeftBehind => f.write_str("left behind"),
        }
    }
}

impl Step {
    /// The experiment that it checks with all its contenders.
    pub fn checks_all_of(&self) -> Option<&str> {
        match self {
            Step::Check { experiment, only, .. } if only.is_empty() => Some(experiment),
            _ => None,
        }
    }

    /// About how long it takes on two cores where nothing is cached: for the plan, and for nothing else.
    pub fn about(&self) -> Duration {
        let seconds = match self {
            Step::Format | Step::Tidy | Step::NotTested | Step::LeftBehind => 1,
            Step::Build => 20,
            Step::Clippy => 120,
            Step::Doc => 60,
            Step::Smoke { .. } => 5,
            Step::Windows => 30,
            Step::Page => 60,
            Step::Release => 300,
            Step::Install => 600,
            Step::Action => 120,
            Step::Recipes => 240,
            Step::Cases => 120,
            Step::Clients => 120,
            Step::Nodes => 600,
            Step::Kubernetes => 1200,
            Step::Check { languages, variants, .. } => {
                languages.iter().map(|&language| to_build(language)).sum::<u64>() + 3 * *variants as u64
            }
            Step::Kit { name } => {
                let language = Language::ALL.into_iter().find(|language| language.name() == name);
                language.map_or(30, to_build)
            }
            Step::Formatted { .. } => 15,
            Step::Run { .. } => 60,
            Step::Quick { .. } => 180,
        };
        Duration::from_secs(seconds)
    }

    /// Makes the step; an error says what failed.
    pub fn make(&self, checkout: &Checkout) -> Result<()> {
        let Checkout { root, binaries } = checkout;
        match self {
            Step::Format => cargo(root, &["fmt", "--all", "--check"]),
            Step::Clippy => cargo(root, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
            Step::Doc => cargo(
                root,
                &[
                    "--config",
                    r#"build.rustdocflags=["-D", "warnings"]"#,
                    "doc",
                    "--workspace",
                    "--no-deps",
                    "--document-private-items",
                ],
            ),
            Step::Tidy => cargo(root, &["xtask", "tidy"]),
            // As the tests were built, or all of it would be compiled again with other features.
            Step::Build => cargo(root, &["build", "--workspace", "--bins", "--examples"]),
            Step::NotTested => not_tested::count(binaries),
            Step::Smoke { kind } => {
                checkout.measured(&format!("tests/smoke/{kind}"), &format!("smoke-{kind}"), &["--gate"])
            }
            Step::Windows => cargo(root, &["xtask", "windows"]),
            Step::Page => page(root),
            Step::Release => cargo(root, &["build", "--release"]),
            Step::Check { experiment, only, .. } => {
                let only = only.join(",");
                let only = if only.is_empty() { Vec::new() } else { vec!["--only", &only] };
                let arguments = [&[experiment, "--install"], &only[..]].concat();
                run(checkout.kumite(&binaries.join("kumite"), "check").args(arguments))
            }
            Step::Kit { name } => kits::conforms(checkout, name),
            Step::Formatted { folder } => format::check(checkout, folder),
            Step::Run { experiment, only, blocks } => {
                // Quick profiles of experiments that have the other one try the contenders of their headline alone.
                let text =
                    std::fs::read_to_string(root.join(format!("experiments/{experiment}/experiment.toml")));
                let has_everyone = text.is_ok_and(|text| text.contains("[profiles.everyone]"));
                let profile = if has_everyone { "everyone" } else { "quick" };
                // The experiment's own control may not be among these.
                let control = only.first().map(|name| format!("--control={name}"));
                let (only, blocks) = (only.join(","), blocks.to_string());
                let mut more = vec!["--profile", profile, "--install", "--only", &only, "--blocks", &blocks];
                more.extend(control.as_deref());
                checkout.measured(experiment, experiment, &more)
            }
            Step::Quick { experiment } => {
                let html = format!("target/{experiment}.html");
                let arguments = [experiment, "--profile", "quick", "--install", "--html", &html];
                run(checkout.kumite(&root.join("target/release/kumite"), "run").args(arguments))
            }
            Step::Install => install(root),
            Step::Cases => {
                let kumite = binaries.join("kumite");
                run(Command::new("tests/cases/run.sh").env("KUMITE", kumite).current_dir(root))
            }
            Step::Action => action(checkout),
            Step::Recipes => {
                have("jq", "jq")?;
                let mut test = Command::new("tests/ci-recipes/run.sh");
                made_or_not(test.env("KUMITE", binaries.join("kumite")).current_dir(root))
            }
            Step::Clients => {
                let mut test = Command::new("tests/aws/run.sh");
                made_or_not(test.env("KUMITE", binaries.join("kumite")).current_dir(root))
            }
            Step::Nodes => nodes(checkout),
            Step::Kubernetes => kubernetes(checkout),
            Step::LeftBehind => left_behind::nothing(),
        }
    }
}

/// About how many seconds the build of a contender takes.
fn to_build(language: Language) -> u64 {
    match language {
        Language::Python | Language::Node => 15,
        Language::Go | Language::Cpp => 20,
        Language::Elixir | Language::Java => 40,
        Language::Kotlin => 60,
        Language::Rust => 90,
    }
}

fn cargo(root: &Path, arguments: &[&str]) -> Result<()> {
    run(Command::new("cargo").args(arguments).current_dir(root))
}

/// The page of `kumite play --serve`, in a browser.
fn page(root: &Path) -> Result<()> {
    have("chromium", "chromium")?;
    cargo(root, &["test", "-p", "kumite", "--test", "page"])
}

/// The package in a plain Debian, the wheel in a virtual environment.
fn install(root: &Path) -> Result<()> {
    have("debootstrap", "debootstrap python3-venv")?;
    cargo(root, &["xtask", "dist", "x86_64-unknown-linux-gnu"])?;
    run(Command::new("sh").arg("tests/install/run.sh").current_dir(root))?;
    run(Command::new("sh").arg("tests/install/image.sh").current_dir(root))
}

/// The action's scripts and workflows are linted, and its steps are made in a plain Debian.
fn action(checkout: &Checkout) -> Result<()> {
    have("debootstrap", "debootstrap")?;
    for script in ["tests/action/lint.sh", "tests/action/chroot.sh"] {
        let mut test = Command::new(script);
        let kumite = checkout.binaries.join("kumite");
        made_or_not(test.env("KUMITE", kumite).current_dir(&checkout.root))?;
    }
    Ok(())
}

/// The status of a test that a machine cannot make, as with automake.
const NOT_MADE: i32 = 77;

/// Nodes of this machine, each with an sshd, or with a slurmd.
fn nodes(checkout: &Checkout) -> Result<()> {
    have("sshd", "openssh-server")?;
    have("ssh", "openssh-client")?;
    have("ip", "iproute2")?;
    let kumite = checkout.binaries.join("kumite");
    have("slurmctld", "slurmctld slurmd slurm-client munge")?;
    for script in ["manifest.sh", "ssh.sh", "roles.sh", "slurm.sh"] {
        let script = format!("tests/cluster/{script}");
        let mut test = Command::new("sh");
        made_or_not(test.arg(&script).arg(&kumite).current_dir(&checkout.root))?;
    }
    Ok(())
}

/// A Kubernetes of two nodes on this machine, which the script makes.
fn kubernetes(checkout: &Checkout) -> Result<()> {
    have("ip", "iproute2")?;
    have("openssl", "openssl")?;
    let mut test = Command::new("sh");
    let kumite = checkout.binaries.join("kumite");
    made_or_not(test.arg("tests/cluster/kubernetes.sh").arg(kumite).current_dir(&checkout.root))
}

/// Runs a test that, where it is not made, says what this machine lacks.
fn made_or_not(test: &mut Command) -> Result<()> {
    let status = test.status().with_context(|| format!("{test:?}"))?;
    match status.code() {
        Some(0 | NOT_MADE) => Ok(()),
        _ => Err(anyhow!("{test:?} ended with {status}")),
    }
}

/// Has Debian's packages with that program.
fn have(program: &str, packages: &str) -> Result<()> {
    if on_path(program) {
        return Ok(());
    }
    // Some packages start a daemon, unless they are told not to.
    let install = format!(
        "policy=/usr/sbin/policy-rc.d
        [ -e $policy ] || {{ printf '#!/bin/sh\\nexit 101\\n' > $policy; chmod 755 $policy; trap 'rm $policy' EXIT; }}
        apt-get update -qq && apt-get install -y -qq --no-install-recommends {packages} >/dev/null"
    );
    run(Command::new("sh").args(["-c", &install]))
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
