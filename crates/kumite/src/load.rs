//! `kumite load`: the load engine as a tool of its own.

mod check_with;
pub mod connections;
mod engine;
pub mod expect;
mod files;
mod live;
mod objective;
pub mod protocol;
mod rate_failure;
pub mod request;
mod rows;
mod scenario;
mod schedule;
mod search;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Parser;
use kumite_host::RealClock;
use kumite_lab::{LoadOnce, LoadOnceError};
use kumite_load::{Address, Interval, Limit, Load, Session, Step, Target};
use kumite_record::{LoadResult, Named};

use crate::exit::Failure;
use crate::load::live::{End, Live};
use crate::store::Save;
use crate::wait::Wait;
use crate::{duration, output, stop};

const DEFAULT_DURATION: Duration = Duration::from_secs(10);

#[derive(Parser)]
pub struct Args {
    /// URL to request, e.g. http://127.0.0.1:3000/path?query; several of one server take turns
    #[arg(required = true, value_name = "URL")]
    urls: Vec<String>,
    /// Relative frequency of each URL, e.g. 3,1 [default: all alike]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    weights: Vec<u32>,
    /// Keep-alive connections
    #[arg(short, long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    connections: u32,
    /// End after exactly this many requests
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    requests: Option<u64>,
    /// End after this time, e.g. 10s or 2m [default without -n: as long as --rate or --replay says, else 10s]
    #[arg(short = 'z', long, value_name = "TIME", value_parser = duration::parse)]
    duration: Option<Duration>,
    /// Time under load before counting begins, e.g. 1s [default: none]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    warm_up: Option<Duration>,
    /// Longest time of an answer; a later one is a failure
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = timeout)]
    timeout: Duration,
    #[command(flatten)]
    files: files::Files,
    #[command(flatten)]
    wait: Wait,
    #[command(flatten)]
    save: Save,
    #[command(flatten)]
    schedule: schedule::Args,
    #[command(flatten)]
    objective: objective::Args,
    #[command(flatten, next_help_heading = "Request")]
    request: request::Args,
    #[command(flatten)]
    rows: rows::Args,
    #[command(flatten)]
    scenario: scenario::Args,
    #[command(flatten)]
    expect: expect::Args,
    #[command(flatten)]
    check_with: check_with::Args,
    #[command(flatten, next_help_heading = "Connections")]
    protocol: protocol::Args,
    #[command(flatten)]
    lasting: connections::Args,
    #[command(flatten)]
    engine: engine::Args,
}

/// The reason why a text is no timeout.
#[derive(Debug, thiserror::Error)]
enum NotATimeout {
    #[error("{0}")]
    Duration(&'static str),
    /// A number alone: in other tools `-t4` is four threads.
    #[error("{0}; threads are CPUs here, as in --cores 2,3")]
    Threads(&'static str),
}

fn timeout(text: &str) -> Result<Duration, NotATimeout> {
    duration::parse(text).map_err(|why| match text.parse::<u32>() {
        Ok(_) => NotATimeout::Threads(why),
        Err(_) => NotATimeout::Duration(why),
    })
}

pub fn run(args: &Args) -> Result<(), Failure> {
    args.files.check()?;
    args.save.check()?;
    args.objective.check(args.schedule.is_rate_given(), args.requests.is_some())?;
    if args.objective.is_given() {
        args.save.refuse("what a load brings")?;
    }
    if args.scenario.write(&args.urls)? {
        return Ok(());
    }
    let load = load(args)?;
    load.check_certificate().map_err(|error| Failure::Incomplete(error.to_string()))?;
    let stop = stop::flag()?;
    let _turn = args.wait.turn(&stop)?;
    if args.objective.is_given() {
        return args.objective.run(args.urls.join(" "), &load, args.duration, &args.files, &stop);
    }
    let result = measure(args, &load, &stop)?;
    args.files.write(
        &result,
        &|| kumite_report::load_terminal(&result, &output::style()),
        &|| kumite_report::load_markdown(&result),
        &|| kumite_report::load_html(&result),
    )?;
    args.save.keep(|| Named::Load(Box::new(result.clone())))?;
    judge(args, &result)
}

/// The greatest share of failing requests that is a finding; with more, the load did not measure what it was to
/// measure.
const MOST_WRONG: f64 = 0.01;

/// The outcome of the command by the result of the load: an error if too many requests failed, or any of them if the
/// right answer was told.
fn judge(args: &Args, result: &LoadResult) -> Result<(), Failure> {
    if result.cut_short {
        return Err(Failure::Incomplete(format!("it was interrupted after {} requests", result.requests)));
    }
    if result.ok == 0 {
        return Err(Failure::Gate(format!("no right answer from {}", args.urls.join(" "))));
    }
    // Of a connection on which more came than was asked for, the last answer counts as one to something else.
    let wrong = (result.requests - result.ok + result.unasked).min(result.requests);
    if (args.expect.is_given() || args.scenario.is_given()) && wrong > 0 {
        let all = result.requests;
        return Err(Failure::Gate(format!("{wrong} of {all} requests did not get the expected answer")));
    }
    result.answers_checked.as_ref().map_or(Ok(()), check_with::judge)?;
    if wrong as f64 > MOST_WRONG * result.requests as f64 {
        return Err(Failure::Gate(format!(
            "{wrong} of {} requests failed, which is more than 1 %; a status other than 2xx is a failure, unless \
             --expect-status says otherwise",
            result.requests
        )));
    }
    Ok(())
}

fn load(args: &Args) -> Result<Load, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
    if !args.weights.is_empty() && args.weights.len() != args.urls.len() {
        let (urls, weights) = (args.urls.len(), args.weights.len());
        return Err(Failure::Usage(format!(
            "--weights has {weights} numbers and there are {urls} URLs: give one for each"
        )));
    }
    let mut address = match (&args.engine.unix_socket, &args.engine.connect_to) {
        (Some(path), _) => Some(Address::Unix(path.clone())),
        (None, Some(place)) => Some(Address::Tcp(engine::resolved(place)?)),
        (None, None) => None,
    };
    let (request, expect) = (args.request.request()?, args.expect.expect()?);
    let mut sessions = Vec::new();
    for (nth, url) in args.urls.iter().enumerate() {
        let target = address.clone().map_or_else(|| Target::parse(url), |address| Target::at(url, address));
        let target = target.map_err(|error| usage(&error))?;
        if address.is_none() {
            engine::say_address(&target);
        }
        // The others are to be asked where the first is.
        address.get_or_insert_with(|| target.address.clone());
        let step = Step { request: request.clone(), expect: expect.clone(), ..Step::new(target) };
        let weight = args.weights.get(nth).copied().unwrap_or(1);
        sessions.push(Session { weight, ..step.into() });
    }
    let mut variables = args.rows.variables()?;
    let first = sessions.first().and_then(|session| session.steps.first()).map(|step| &step.target);
    let scenario = first.map(|target| args.scenario.read(&args.urls, target)).transpose()?.flatten();
    let mut has_cookies = false;
    if let Some(of_file) = scenario {
        (sessions, variables.rows) = (of_file.sessions, of_file.rows);
        has_cookies = of_file.cookies;
    }
    let arrivals = args.schedule.arrivals(args.objective.is_search())?;
    let warm_up = args.warm_up.unwrap_or_default();
    let length = arrivals.as_ref().and_then(kumite_load::Arrivals::length);
    let length = length.map(|length| length.saturating_sub(warm_up));
    if length.is_some_and(|length| length.is_zero()) {
        return Err(Failure::Usage(
            "--warm-up leaves no time to measure: it is as long as --rate or --replay says, or longer"
                .to_owned(),
        ));
    }
    let default = || args.requests.is_none().then_some(length.unwrap_or(DEFAULT_DURATION));
    let limit = Limit { requests: args.requests, duration: args.duration.or_else(default) };
    let load = Load {
        variables,
        cookies: args.request.cookies || has_cookies,
        connections: args.connections as usize,
        pipeline: args.protocol.pipeline(),
        requests_per_connection: args.lasting.requests_each(),
        idle_connections: args.lasting.idle(),
        arrivals,
        pace: args.schedule.pace(args.engine.has_own_cores()),
        warm_up,
        timeout: args.timeout,
        io: args.engine.io(),
        sampling: args.check_with.sampling(),
        http: args.protocol.http(),
        trust: args.protocol.trust(),
        cores: args.engine.cores()?,
        ..Load::of(sessions, limit)
    };
    load.check().map_err(|error| usage(&error))?;
    Ok(load)
}

fn measure(args: &Args, load: &Load, stop: &AtomicBool) -> Result<LoadResult, Failure> {
    let is_of_requests = load.sessions.iter().all(|session| session.steps.len() == 1);
    let end = End {
        requests: load.limit.requests.filter(|_| is_of_requests),
        duration: load.limit.duration,
        threads: load.cores.len().max(1),
    };
    let mut live = Live::new(end);
    let url = args.urls.join(" ");
    let once = LoadOnce {
        load,
        url,
        command: output::command_line(),
        kumite: crate::VERSION,
        checker: args.check_with.command(),
    };
    let measured = once.measure(&RealClock::default(), stop, &mut |interval: &Interval| live.add(interval));
    live.clear();
    measured.map_err(|error| match error {
        LoadOnceError::Store(error) => error.into(),
        error => Failure::Incomplete(error.to_string()),
    })
}
