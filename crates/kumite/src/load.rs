//! `kumite load`: the load engine as a tool of its own.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Parser;
use kumite_lab::{
    Clock, External, FindRateError, RateRules, Ready, RealClock, Session, Slo, cores, execute, find_rate,
    load_result, machine, plan,
};
use kumite_load::{Check, Expect, Interval, Limit, Load, Request, Target};
use kumite_record::{LoadResult, Point, Question, RateTrial, Run, SearchEnd, Store};

use crate::exit::Failure;
use crate::progress::Progress;
use crate::{duration, output, stop};

const DEFAULT_DURATION: Duration = Duration::from_secs(10);
const DEFAULT_TRIAL: Duration = Duration::from_secs(2);

#[derive(Parser)]
pub struct Args {
    /// What to ask, e.g. http://127.0.0.1:3000/path?query
    url: String,
    /// Keep-alive connections, each with one request in flight
    #[arg(short, long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    connections: u32,
    /// End after exactly this many requests
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    requests: Option<u64>,
    /// End after this time, e.g. 10s or 2m [default: 10s, if -n is not given]
    #[arg(short = 'z', long, value_name = "TIME", value_parser = duration::parse)]
    duration: Option<Duration>,
    /// Time under load before counting begins, e.g. 1s
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    warm_up: Option<Duration>,
    /// An answer that takes longer is a failure
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = duration::parse)]
    timeout: Duration,
    /// Request method [default: GET, or POST if there is a body]
    #[arg(short, long)]
    method: Option<String>,
    /// Request body
    #[arg(short = 'd', value_name = "TEXT", conflicts_with = "body_file")]
    body: Option<String>,
    /// Request body from a file
    #[arg(short = 'D', value_name = "FILE")]
    body_file: Option<PathBuf>,
    /// Request header, e.g. -H 'accept: text/plain' (may be given several times)
    #[arg(short = 'H', value_name = "HEADER", value_parser = header)]
    headers: Vec<(String, String)>,
    /// The status of a right answer [default: any 2xx]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=599))]
    expect_status: Option<u16>,
    /// The whole body of a right answer [default: any]
    #[arg(long, value_name = "TEXT")]
    expect_body: Option<String>,
    /// Search for the highest rate at which trials of -z (default 2s) meet --slo
    #[arg(long, requires = "slo", conflicts_with = "requests")]
    find_rate: bool,
    /// What a trial has to meet, e.g. 'p99 < 10ms' or 'p50 < 2ms and p99.9 < 50ms and errors < 0.1%' [default for errors: none]
    #[arg(long, value_name = "SLO", requires = "find_rate", value_parser = Slo::parse)]
    slo: Option<Slo>,
    /// The time of the whole search
    #[arg(long, value_name = "TIME", requires = "find_rate", default_value = "3m", value_parser = duration::parse)]
    budget: Duration,
    /// Write the result as JSON (- for standard output, in place of the report)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let load = load(args)?;
    let stop = stop::flag()?;
    if let Some(slo) = &args.slo {
        return search(args, &load, slo, &stop);
    }
    let result = measure(args, load, &stop)?;
    match args.json.as_deref() {
        Some(file) if file == std::path::Path::new("-") => output::print(&output::json(&result)?)?,
        file => {
            output::print(&kumite_report::load_terminal(&result, &output::style()))?;
            if let Some(file) = file {
                output::write(file, &output::json(&result)?)?;
            }
        }
    }
    judge(args, &result)
}

/// Searches for the highest rate that meets the SLO.
fn search(args: &Args, load: &Load, slo: &Slo, stop: &AtomicBool) -> Result<(), Failure> {
    let rules = RateRules {
        trial: args.duration.unwrap_or(DEFAULT_TRIAL),
        budget: args.budget,
        seed: 1,
        command: output::command_line(),
        url: args.url.clone(),
    };
    let progress = Progress::new(0);
    let mut watch = |trial: &RateTrial| progress.note(&kumite_report::rate_trial_line(trial));
    let found = find_rate(load, slo, &rules, &cores().engine, stop, &mut watch);
    progress.clear();
    let found = found.map_err(|error| match error {
        FindRateError::Recorded | FindRateError::Timeout { .. } => Failure::Usage(error.to_string()),
        FindRateError::NoAnswer { .. } => Failure::Gate(error.to_string()),
        FindRateError::Load(_) => Failure::Incomplete(error.to_string()),
    })?;
    match args.json.as_deref() {
        Some(file) if file == std::path::Path::new("-") => output::print(&output::json(&found)?)?,
        file => {
            output::print(&kumite_report::found_rate_terminal(&found, &output::style()))?;
            if let Some(file) = file {
                output::write(file, &output::json(&found)?)?;
            }
        }
    }
    match found.ended {
        SearchEnd::Found => Ok(()),
        SearchEnd::NeverMet => Err(Failure::Gate(format!("no rate was found that meets {slo}"))),
        SearchEnd::EngineLimit => Err(Failure::Incomplete("the load engine was the limit".to_owned())),
        SearchEnd::OutOfTime => {
            Err(Failure::Incomplete("the budget was spent: give more with --budget".to_owned()))
        }
        SearchEnd::Interrupted => Err(Failure::Incomplete("it was interrupted".to_owned())),
    }
}

/// Whether the result is what was asked for.
fn judge(args: &Args, result: &LoadResult) -> Result<(), Failure> {
    if result.cut_short {
        return Err(Failure::Incomplete(format!("it was interrupted after {} requests", result.requests)));
    }
    if result.ok == 0 {
        return Err(Failure::Gate(format!("no right answer from {}", args.url)));
    }
    let wrong = result.requests - result.ok;
    if (args.expect_status.is_some() || args.expect_body.is_some()) && wrong > 0 {
        let all = result.requests;
        return Err(Failure::Gate(format!("{wrong} of {all} requests did not get the expected answer")));
    }
    Ok(())
}

fn load(args: &Args) -> Result<Load, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
    let body = match (&args.body, &args.body_file) {
        (Some(text), _) => Some(text.clone().into_bytes()),
        (None, Some(file)) => Some(std::fs::read(file).map_err(|error| {
            Failure::Usage(format!("cannot read the body from {}: {error}", file.display()))
        })?),
        (None, None) => None,
    };
    let default_method = if body.is_some() { "POST" } else { "GET" };
    let request = Request {
        method: args.method.clone().unwrap_or_else(|| default_method.to_owned()),
        headers: args.headers.clone(),
        body: body.unwrap_or_default(),
    };
    let target = Target::parse(&args.url).map_err(|error| usage(&error))?;
    request.encode(&target).map_err(|error| usage(&error))?;
    let unlimited = args.requests.is_none() && args.duration.is_none();
    let limit =
        Limit { requests: args.requests, duration: args.duration.or(unlimited.then_some(DEFAULT_DURATION)) };
    let body = args.expect_body.clone().map_or(Check::Any, |body| Check::Equals(body.into_bytes()));
    Ok(Load {
        request,
        expect: Expect { status: args.expect_status, body },
        connections: args.connections as usize,
        warm_up: args.warm_up.unwrap_or_default(),
        timeout: args.timeout,
        ..Load::new(target, limit)
    })
}

/// The same way that an experiment takes, with one contender, one point and one block.
fn measure(args: &Args, load: Load, stop: &AtomicBool) -> Result<LoadResult, Failure> {
    let clock = RealClock::default();
    let cores = cores();
    let total = load.limit.requests;
    let seconds = load.limit.duration;
    let mut progress = Progress::new(0);
    let (mut done, mut errors) = (0, 0);
    let mut watch = |interval: &Interval| {
        if interval.start_ms < 0 {
            return progress.step(0, 0, &format!("warming up; {}/s", interval.ok * 10));
        }
        done += interval.ok + interval.errors;
        errors += interval.errors;
        let elapsed = (interval.start_ms + 100) as f64 / 1e3;
        let of = match (total, seconds) {
            (Some(total), _) => format!("{done}/{total} requests"),
            (None, Some(limit)) => format!("{elapsed:.0}/{:.0} s", limit.as_secs_f64()),
            (None, None) => format!("{elapsed:.0} s"),
        };
        progress.step(
            0,
            0,
            &format!("{of}; {}/s, p99 {:.2} ms, {errors} errors", interval.ok * 10, interval.p99_us / 1e3),
        );
    };
    let mut executor = External { load, cores: cores.engine.clone(), watch: &mut watch, result: None };
    let mut store = Store::in_memory()?;
    let started = clock.timestamp();
    let run = Run {
        id: Run::new_id(started),
        experiment: "load".to_owned(),
        kind: "http".to_owned(),
        profile: "standard".to_owned(),
        started,
        command: output::command_line(),
        kumite: env!("CARGO_PKG_VERSION").to_owned(),
        question: Question { text: format!("How does {} do?", args.url), source: None },
        points: vec![Point::default()],
        blocks: 1,
        ..Run::default()
    };
    let contender =
        Ready { name: args.url.clone(), folder: PathBuf::new(), run: String::new(), env: Vec::new() };
    store.begin(&run, &machine(cores), &[])?;
    let session = Session {
        run: &run,
        contenders: std::slice::from_ref(&contender),
        plan: &plan(&[vec![0]], 1, run.seed),
        times: &[seconds.unwrap_or_default()],
        kept: &[],
        budget: None,
        undecided: &|_| BTreeSet::new(),
        rerun_marked: false,
    };
    execute(&session, &mut executor, &clock, &mut store, stop, &mut |_| {})?;
    let outcome =
        executor.result.take().ok_or_else(|| Failure::Incomplete("it was interrupted".to_owned()))?;
    progress.clear();
    let outcome = outcome.map_err(|error| Failure::Incomplete(error.to_string()))?;
    let trials = store.trials(&run.id)?;
    let sample = trials.first().map(|trial| trial.sample.clone()).unwrap_or_default();
    Ok(load_result(run.command, args.url.clone(), args.connections as usize, &outcome, &sample))
}

/// For clap.
pub fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("expected 'name: value'")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
