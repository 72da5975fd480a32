//! `cargo xtask ci`: the checks that a change has to pass. The cheap ones are always made; of the rest, those that the
//! changed files make necessary, and those of one experiment in rotation.

pub mod base;
mod catalogue;
mod changed;
mod checkout;
mod format;
pub mod git;
mod kits;
mod language;
mod left_behind;
mod not_tested;
mod outcome;
mod plan;
mod step;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use base::Base;
use catalogue::Catalogue;
use checkout::Checkout;
use plan::{Plan, minutes};
use step::Step;

pub const USAGE: &str = "\
usage: cargo xtask ci                    check what is cheap, what this branch changed, and an experiment in rotation
       cargo xtask ci --all              check everything
       cargo xtask ci --plan [--all]     print what would be checked, why, and about how long it takes
       cargo xtask ci --tests STATUS     count the tests, which ended with this status before, as a step
       cargo xtask ci --set-base COMMIT  name the commit to compare main itself with; a branch needs none
       cargo xtask ci --timing           measure what can only be seen in real time; no change fails by it";

/// The number of steps that are named as the slowest.
const SLOWEST: usize = 10;

/// The arguments, read.
#[derive(Debug, Default, PartialEq)]
struct Args {
    all: bool,
    plan: bool,
    timing: bool,
    tests: Option<i32>,
    set_base: Option<String>,
}

/// Ends with 1 if a step failed, with 2 if nothing could be checked.
pub fn run(arguments: &[&str]) -> ExitCode {
    let args = match parse(arguments) {
        Ok(args) => args,
        Err(why) => {
            eprintln!("error: {why:#}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match obey(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why:#}");
            ExitCode::from(2)
        }
    }
}

/// An error names the argument.
fn parse(arguments: &[&str]) -> Result<Args> {
    let mut args = Args::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = |what| rest.next().with_context(|| format!("{argument} needs {what} after it"));
        match *argument {
            "--all" => args.all = true,
            "--plan" => args.plan = true,
            "--timing" => args.timing = true,
            "--tests" => {
                let status = value("the status that the tests ended with")?;
                let number = status.parse().map_err(|_| anyhow!("--tests {status}: a status is a number"))?;
                args.tests = Some(number);
            }
            "--set-base" => args.set_base = Some((*value("a commit")?).to_owned()),
            _ => bail!("there is no argument {argument}"),
        }
    }
    Ok(args)
}

/// True if every step passed.
fn obey(args: &Args) -> Result<bool> {
    let root = crate::project::root();
    if let Some(commit) = &args.set_base {
        let base = Base::set(root, commit)?;
        println!("base: {}, turn {}", base.commit, base.turn);
        return Ok(true);
    }
    if args.timing {
        let tests = ["test", "--release", "--workspace", "--no-fail-fast", "--", "--ignored", "--nocapture"];
        let status = Command::new("cargo").args(tests).current_dir(root).status();
        return Ok(status.is_ok_and(|status| status.success()));
    }
    let catalogue = Catalogue::read(root)?;
    let plan = if args.all {
        Plan::all(&catalogue)?
    } else {
        let base = Base::find(root)?;
        let changed = git::changed(root, &base.commit)?;
        println!("{} files differ from {}, {}", changed.len(), base.commit, base.source);
        Plan::for_changes(&changed, base.turn, &catalogue)?
    };
    print!("{}", plan.text());
    if args.plan {
        return Ok(true);
    }
    let checkout = Checkout { root: root.to_owned(), binaries: binaries()? };
    Ok(made(&plan, args.tests, &checkout))
}

/// Makes every step, whatever became of those before it. True if all passed.
fn made(plan: &Plan, tests: Option<i32>, checkout: &Checkout) -> bool {
    let mut passed = usize::from(tests == Some(0));
    let mut failed = Vec::from_iter(tests.filter(|&status| status != 0).map(|_| "cargo test".to_owned()));
    let mut times: Vec<(Duration, &Step)> = Vec::new();
    for (step, _) in &plan.steps {
        println!("\n==> {step}");
        let began = Instant::now();
        match step.make(checkout) {
            Ok(()) => passed += 1,
            Err(why) => {
                println!("FAILED: {step}: {why:#}");
                failed.push(step.to_string());
            }
        }
        println!("    ({} s)", began.elapsed().as_secs());
        times.push((began.elapsed(), step));
    }
    times.sort();
    println!("\nthe slowest:");
    for (time, step) in times.iter().rev().take(SLOWEST) {
        println!("  {:>6}  {step}", minutes(*time));
    }
    for step in &failed {
        println!("failed: {step}");
    }
    println!("\n{passed} passed, {} failed", failed.len());
    failed.is_empty()
}

/// The folder of this program, and so of all that was built with it.
fn binaries() -> Result<PathBuf> {
    let program = std::env::current_exe().context("this program's place")?;
    program.parent().map(Path::to_owned).context("this program is nowhere")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_and_what_is_unknown_or_unfinished_is_refused_by_its_name() {
        let right = |arguments: &[&str]| parse(arguments).unwrap();
        assert_eq!(right(&[]), Args::default());
        assert_eq!(right(&["--all", "--plan"]), Args { all: true, plan: true, ..Args::default() });
        assert_eq!(right(&["--tests", "101"]), Args { tests: Some(101), ..Args::default() });
        for (wrong, why) in [
            (&["--tests"][..], "--tests needs the status that the tests ended with after it"),
            (&["--tests", "x"], "--tests x: a status is a number"),
            (&["--all", "--set-base"], "--set-base needs a commit after it"),
            (&["--all", "now"], "there is no argument now"),
        ] {
            assert_eq!(parse(wrong).unwrap_err().to_string(), why, "{wrong:?}");
        }
    }
}
