//! The comparison of running servers, and the load that they get.

use std::time::Duration;

use kumite_compare::{CompareError, Server, compare_servers};
use kumite_host::{RealClock, cores, machine};
use kumite_load::{Limit, Load, Request, Step, Target};
use kumite_record::Comparison;

use super::gate::refuse_undecidable;
use super::{Args, control, rules, watched};
use crate::exit::Failure;
use crate::load::{connections, expect, protocol, request};
use crate::{duration, stop};

const DURATION: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(1);
const CONNECTIONS: u32 = 50;

#[derive(clap::Args)]
#[command(next_help_heading = "What URLs are asked (see kumite load)")]
// These letters have other meanings for commands.
#[command(mut_arg("method", |arg| arg.short(None)), mut_arg("body_file", |arg| arg.short(None)))]
pub struct LoadArgs {
    /// Keep-alive connections, each with one request in flight [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    connections: Option<u32>,
    /// Time under load in each block [default: 1s]
    #[arg(short = 'z', long, value_name = "TIME", value_parser = duration::parse)]
    duration: Option<Duration>,
    #[command(flatten)]
    request: request::Args,
    #[command(flatten)]
    protocol: protocol::Args,
    #[command(flatten)]
    lasting: connections::Args,
    #[command(flatten)]
    expect: expect::Args,
}

impl LoadArgs {
    /// Refuses any of these flags that is given: they are for URLs alone.
    pub fn refuse(&self) -> Result<(), Failure> {
        let own = [
            ("--connections", self.connections.is_some()),
            ("--duration", self.duration.is_some()),
            ("--expect-…", self.expect.is_given()),
        ];
        let own = own.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag));
        match own.or(self.request.given()).or(self.protocol.given()).or(self.lasting.given()) {
            Some(flag) => Err(Failure::Usage(format!("{flag} is for URLs, and these are commands"))),
            None => Ok(()),
        }
    }
}

pub fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

pub fn compared(args: &Args) -> Result<(Comparison, Option<CompareError>), Failure> {
    refuse(args)?;
    let mut servers: Vec<Server> = Vec::new();
    let mut names = args.names.iter();
    let request = args.load.request.request()?;
    for url in &args.commands {
        let name = names.next().unwrap_or(url);
        let nth = servers.iter().filter(|server| server.url == *url).count() + 1;
        let name = if nth > 1 { format!("{name} ({nth})") } else { name.clone() };
        let load = load(args, url, request.clone())?;
        load.check_certificate().map_err(|error| Failure::Incomplete(format!("{url}: {error}")))?;
        servers.push(Server { name, url: url.clone(), load });
    }
    if servers.len() < 2 {
        return Err(Failure::Usage(
            "there is nothing to compare with: give two URLs or more, or load one by `kumite load`"
                .to_owned(),
        ));
    }
    let wanted = args.reference.as_ref();
    let reference = match wanted {
        Some(wanted) => servers
            .iter()
            .position(|server| server.name == *wanted || server.url == *wanted)
            .ok_or_else(|| Failure::Usage(format!("--reference {wanted} is none of the URLs")))?,
        None => 0,
    };
    let (stop, clock) = (stop::flag()?, RealClock::default());
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    let control = control(args, &names, reference)?;
    if let Some(twice) = control {
        servers.push(servers[twice.of].clone());
    }
    let rules = rules(args, &clock, servers.len(), reference, control);
    let block = args.load.duration.unwrap_or(DURATION) * servers.len() as u32;
    refuse_undecidable(args, &rules, servers.len(), Some(block))?;
    let _turn = args.wait.turn(&stop)?;
    let warm_up = args.amount.warmup as usize;
    Ok(watched(|watch| compare_servers(&servers, warm_up, &rules, machine(cores()), &clock, &stop, watch)))
}

/// Refuses flags that are for commands alone.
fn refuse(args: &Args) -> Result<(), Failure> {
    let around = &args.around;
    let given = [
        ("--setup", around.setup.is_some()),
        ("--prepare", !around.prepare.is_empty()),
        ("--conclude", !around.conclude.is_empty()),
        ("--cleanup", around.cleanup.is_some()),
        ("--shell", around.shell.is_some() || around.no_shell),
        ("--input", around.input.is_some()),
        ("--env", !around.env.is_empty()),
        ("--metrics", args.amount.metrics.is_some()),
        ("--gate-on", args.gate.is_on_one()),
        ("--output", !around.output.is_empty()),
        ("--show-output", around.show_output),
        ("--same-output", around.same_output),
        ("--ignore-failure", around.ignore_failure.is_some()),
        ("--counts", args.counts.is_given()),
        ("--duet", args.amount.duet),
        ("--cores", args.amount.cores.is_some()),
        ("--parameter-list", !args.parameter_list.is_empty()),
        ("--parameter-scan", !args.parameter_scan.is_empty()),
        ("--import", args.import.is_some()),
        ("--rev", args.revisions.are_given()),
        ("--save-baseline", args.baseline.saves()),
        ("--baseline", args.baseline.is_given()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(Failure::Usage(format!("{flag} is for commands, and these are URLs"))),
        None => Ok(()),
    }
}

fn load(args: &Args, url: &str, request: Request) -> Result<Load, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::Usage(format!("{url}: {error}"));
    let of = &args.load;
    let target = Target::parse(url).map_err(|error| usage(&error))?;
    let step = Step { request, expect: of.expect.expect()?, ..Step::new(target) };
    let limit = Limit { requests: None, duration: Some(of.duration.unwrap_or(DURATION)) };
    let load = Load {
        cookies: of.request.cookies,
        connections: of.connections.unwrap_or(CONNECTIONS) as usize,
        pipeline: of.protocol.pipeline(),
        requests_per_connection: of.lasting.requests_each(),
        idle_connections: of.lasting.idle(),
        timeout: args.amount.timeout.unwrap_or(TIMEOUT),
        http: of.protocol.http(),
        trust: of.protocol.trust(),
        ..Load::new(step, limit)
    };
    load.check().map_err(|error| usage(&error))?;
    Ok(load)
}
