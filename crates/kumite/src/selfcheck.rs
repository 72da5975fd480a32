//! `kumite selfcheck`: how far kumite can be trusted on this machine, now.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use kumite_compare::{HELPER, SelfChecking, selfcheck};
use kumite_host::{Clock, RealClock};
use kumite_record::{SelfCheck, Store};

use crate::compare::failure;
use crate::exit::Failure;
use crate::measure::begin_measuring;
use crate::progress::Progress;
use crate::store::Db;
use crate::wait::Wait;
use crate::{duration, output, seed, stop};

/// The hidden argument by which kumite becomes the command that is compared with itself. The number of steps follows
/// it.
pub const WORKER: &str = "--selfcheck-worker";

/// The least budget: the parts that do not depend on it take about 2 s.
const LEAST: Duration = Duration::from_secs(3);

#[derive(Parser)]
pub struct Args {
    /// Time that it may take, about, at least 3s; longer gives narrower intervals
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = budget)]
    budget: Duration,
    /// Seed of the orders: an earlier check's repeats them [default: a fresh one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write everything as JSON (- for standard output, in place of the report)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    wait: Wait,
    #[command(flatten)]
    db: Db,
}

/// Does the work of the command that is compared with itself: as many steps as the second argument says, or none if
/// this is no number.
pub fn work() -> ExitCode {
    let steps = std::env::args_os().nth(2).and_then(|steps| steps.to_str()?.parse().ok());
    kumite_compare::spin(steps.unwrap_or(0));
    ExitCode::SUCCESS
}

fn budget(text: &str) -> Result<Duration, &'static str> {
    let budget = duration::parse(text)?;
    if budget < LEAST { Err("it takes at least 3s") } else { Ok(budget) }
}

pub fn run(args: &Args) -> Result<(), Failure> {
    if let Some(file) = args.json.as_ref().filter(|file| *file != Path::new("-")) {
        output::check_writable(file)?;
    }
    let (stop, clock) = (stop::flag()?, RealClock::default());
    let mut store = Store::open(&args.db.path())?;
    let _lock = begin_measuring(args.wait, &stop)?;
    let helper = std::env::current_exe()
        .map_err(|error| Failure::Incomplete(format!("cannot find kumite's own program: {error}")))?;
    let asked = SelfChecking {
        helper: (helper, HELPER.to_owned()),
        worker: WORKER.to_owned(),
        budget: args.budget,
        seed: args.seed.unwrap_or_else(|| seed::fresh(&clock)),
    };
    let found = watched(&clock, args.budget, |watch| selfcheck(&asked, &clock, &stop, watch));
    let command = seed::named(output::command_line(), args.seed, asked.seed);
    let found = SelfCheck { command, ..found.map_err(failure)? };
    if !found.cut_short {
        store.keep_selfcheck(&found)?;
    }
    output::report_or_json(&args.json, &found, || {
        kumite_report::selfcheck_terminal(&found, &output::style())
    })?;
    match (found.cut_short, found.problems.len()) {
        (true, _) => Err(Failure::Incomplete("it was interrupted, and is not kept".to_owned())),
        (false, 0) => Ok(()),
        (false, 1) => Err(Failure::Gate(format!("worse than promised: {}", found.problems[0].what))),
        (false, n) => Err(Failure::Gate(format!("{n} things are worse than promised"))),
    }
}

fn watched<T>(clock: &RealClock, budget: Duration, work: impl FnOnce(&mut dyn FnMut(&str)) -> T) -> T {
    let began = clock.now();
    let mut progress = Progress::new(0);
    let done = work(&mut |doing| {
        let elapsed = clock.now().saturating_sub(began);
        progress.step(
            0,
            0,
            &format!("{:.0} of {:.0} s: {doing}", elapsed.as_secs_f64(), budget.as_secs_f64()),
        );
    });
    progress.clear();
    done
}
