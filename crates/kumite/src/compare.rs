//! `kumite compare`: commands against each other.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use kumite_lab::{
    Bench, Clock, Output, Progressed, RealClock, Rules, Setting, Shell, Stdin, compare, cores, machine,
};
use kumite_record::Comparison;

use crate::exit::Failure;
use crate::progress::Progress;
use crate::{duration, output, stop};

/// The hidden argument with which kumite is the helper that starts and times commands.
pub const HELPER: &str = "--runner-helper";

const ALPHA: f64 = 0.05;

#[derive(Parser)]
pub struct Args {
    /// Commands, two or more; the first is the reference
    #[arg(value_name = "COMMAND")]
    commands: Vec<String>,
    /// Runs of each command before the first that counts
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    warmup: usize,
    /// No verdict before each command has so many runs [default: the fewest with which there can be one]
    #[arg(short, long, value_name = "N", value_parser = count())]
    min_runs: Option<u64>,
    /// At most so many runs of each command
    #[arg(short = 'M', long, value_name = "N", value_parser = count())]
    max_runs: Option<u64>,
    /// Exactly so many runs of each command
    #[arg(short, long, value_name = "N", conflicts_with_all = ["min_runs", "max_runs"], value_parser = count())]
    runs: Option<u64>,
    /// Begin no block that would end after this time, once there are --min-runs
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = duration::parse)]
    budget: Duration,
    /// A ratio that is this near to 1 is no difference, e.g. 0.25% or 0.0025
    #[arg(long, value_name = "SHARE", default_value = "0.25%", value_parser = share)]
    margin: f64,
    /// What runs the commands: a shell such as 'bash --norc', default, or none [default: sh, where it is needed]
    #[arg(short = 'S', long, value_name = "SHELL", value_parser = Shell::parse)]
    shell: Option<Shell>,
    /// The same as --shell none
    #[arg(short = 'N', conflicts_with = "shell")]
    no_shell: bool,
    /// Repeat the order of an earlier comparison
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// What a command is called in reports (once for each, in their order)
    #[arg(short = 'n', long = "command-name", value_name = "NAME")]
    names: Vec<String>,
    /// Write everything as JSON (- for standard output, in place of the report)
    #[arg(long, alias = "export-json", value_name = "FILE")]
    json: Option<PathBuf>,
}

fn count() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=1_000_000)
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let setting = setting(args)?;
    let stop = stop::flag()?;
    let clock = RealClock::default();
    let rules = rules(args, &clock, setting.benches.len());
    let mut progress = Progress::new(0);
    let mut shown = Duration::ZERO;
    let mut watch = |at: Progressed| {
        if at.elapsed >= shown + Duration::from_millis(250) {
            shown = at.elapsed;
            let (low, high) = (at.ratio.low.unwrap_or(0.0), at.ratio.high.unwrap_or(f64::INFINITY));
            progress.step(
                0,
                0,
                &format!("{} blocks in {:.0} s: {low:.3}–{high:.3}×", at.blocks, at.elapsed.as_secs_f64()),
            );
        }
    };
    let compared = compare(&setting, &rules, machine(cores()), &clock, &stop, &mut watch);
    progress.clear();
    let (comparison, error) = compared.map_err(failure)?;
    let comparison = Comparison { command: command(args, rules.seed), ..comparison };
    match args.json.as_deref() {
        Some(file) if file == std::path::Path::new("-") => output::print(&output::json(&comparison)?)?,
        file => {
            output::print(&kumite_report::compare_terminal(&comparison, &output::style()))?;
            if let Some(file) = file {
                output::write(file, &output::json(&comparison)?)?;
            }
        }
    }
    match (error, kumite_report::cut_short(comparison.ended)) {
        (Some(error), _) => Err(failure(error)),
        (None, Some(why)) => Err(Failure::Incomplete(why.to_owned())),
        (None, None) => Ok(()),
    }
}

fn failure(error: kumite_lab::CompareError) -> Failure {
    match error {
        kumite_lab::CompareError::Usage(what) => Failure::Usage(what),
        error => Failure::Incomplete(error.to_string()),
    }
}

fn setting(args: &Args) -> Result<Setting, Failure> {
    if args.commands.len() < 2 {
        return Err(Failure::Usage("there is nothing to compare with: give two commands or more".to_owned()));
    }
    let helper = std::env::current_exe()
        .map_err(|error| Failure::Incomplete(format!("cannot find kumite's own program: {error}")))?;
    let names = args.names.iter().map(Some).chain(std::iter::repeat(None));
    let benches = args.commands.iter().zip(names).map(|(command, name)| Bench {
        name: name.unwrap_or(command).clone(),
        command: command.clone(),
        parameters: Default::default(),
    });
    Ok(Setting {
        benches: told_apart(benches.collect()),
        shell: if args.no_shell { Shell::Never } else { args.shell.clone().unwrap_or(Shell::IfNeeded) },
        stdin: Stdin::Null,
        output: Output::Null,
        cores: Vec::new(),
        warm_up: args.warmup,
        helper: (helper, HELPER.to_owned()),
    })
}

/// Two of the same name get numbers.
fn told_apart(mut benches: Vec<Bench>) -> Vec<Bench> {
    let names: Vec<String> = benches.iter().map(|bench| bench.name.clone()).collect();
    for (at, bench) in benches.iter_mut().enumerate() {
        let same = |names: &[String]| names.iter().filter(|name| *name == &bench.name).count();
        if same(&names) > 1 {
            let nth = same(&names[..=at]);
            bench.name += &format!(" ({nth})");
        }
    }
    benches
}

fn rules(args: &Args, clock: &RealClock, of: usize) -> Rules {
    let started = clock.timestamp();
    let fresh =
        || (u64::from(started.subsec_nanosecond() as u32) ^ u64::from(std::process::id()) << 8) & 0xffff_ffff;
    let mut rules = Rules {
        alpha: ALPHA,
        margin: args.margin,
        min_blocks: 1,
        max_blocks: args.max_runs.or(args.runs).map(|runs| runs as usize),
        budget: args.budget,
        seed: args.seed.unwrap_or_else(fresh),
        reference: 0,
    };
    rules.min_blocks = args.min_runs.or(args.runs).map_or(rules.fewest(of), |runs| runs as usize);
    rules
}

fn command(args: &Args, seed: u64) -> String {
    let again = if args.seed.is_none() { format!(" --seed {seed}") } else { String::new() };
    output::command_line() + &again
}

fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let share = number.trim().parse::<f64>().map_err(|_| "expected a share such as 0.25% or 0.0025")? * unit;
    if share.is_finite() && (0.0..1.0).contains(&share) {
        Ok(share)
    } else {
        Err("it must be at least 0 and below 100%".to_owned())
    }
}
