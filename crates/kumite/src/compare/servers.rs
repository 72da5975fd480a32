//! The comparison of running servers, and the load that they get.

use std::time::Duration;

use kumite_compare::{CompareError, Server, compare_servers};
use kumite_host::{RealClock, cores, machine};
use kumite_load::{Check, Expect, Limit, Load, Request, Step, Target};
use kumite_record::Comparison;

use super::gate::refuse_undecidable;
use super::{Args, control, rules, watched};
use crate::exit::Failure;
use crate::load::request::header;
use crate::{duration, stop};

const DURATION: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(1);
const CONNECTIONS: u32 = 50;

#[derive(clap::Args)]
#[command(next_help_heading = "What URLs are asked (see kumite load)")]
pub struct LoadArgs {
    /// Keep-alive connections, each with one request in flight [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    connections: Option<u32>,
    /// Time under load in each block [default: 1s]
    #[arg(short = 'z', long, value_name = "TIME", value_parser = duration::parse)]
    duration: Option<Duration>,
    /// Request method [default: GET, or POST if there is a body]
    #[arg(long)]
    method: Option<String>,
    /// Request body
    #[arg(short = 'd', long, value_name = "TEXT")]
    body: Option<String>,
    /// Request header, e.g. -H 'accept: text/plain' (may be given several times)
    #[arg(short = 'H', value_name = "HEADER", value_parser = header)]
    headers: Vec<(String, String)>,
    /// Status of a right answer [default: any 2xx]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=599))]
    expect_status: Option<u16>,
    /// Whole body of a right answer [default: any]
    #[arg(long, value_name = "TEXT")]
    expect_body: Option<String>,
}

impl LoadArgs {
    /// Refuses any of these flags that is given: they are for URLs alone.
    pub fn refuse(&self) -> Result<(), Failure> {
        let given = [
            ("--connections", self.connections.is_some()),
            ("--duration", self.duration.is_some()),
            ("--method", self.method.is_some()),
            ("--body", self.body.is_some()),
            ("-H", !self.headers.is_empty()),
            ("--expect-status", self.expect_status.is_some()),
            ("--expect-body", self.expect_body.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Failure::Usage(format!("{flag} is for URLs, and these are commands"))),
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
    for url in &args.commands {
        let name = names.next().unwrap_or(url);
        let nth = servers.iter().filter(|server| server.url == *url).count() + 1;
        let name = if nth > 1 { format!("{name} ({nth})") } else { name.clone() };
        let load = load(args, url)?;
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
        ("--input", around.input != "null"),
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

fn load(args: &Args, url: &str) -> Result<Load, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::Usage(format!("{url}: {error}"));
    let of = &args.load;
    let default_method = if of.body.is_some() { "POST" } else { "GET" };
    let request = Request {
        method: of.method.clone().unwrap_or_else(|| default_method.to_owned()),
        headers: of.headers.clone(),
        body: of.body.clone().unwrap_or_default().into_bytes(),
    };
    let target = Target::parse(url).map_err(|error| usage(&error))?;
    request.encode(&target).map_err(|error| usage(&error))?;
    let body = of.expect_body.clone().map_or(Check::Any, |body| Check::Equals(body.into_bytes()));
    let limit = Limit { requests: None, duration: Some(of.duration.unwrap_or(DURATION)) };
    let expect = Expect { status: of.expect_status, body };
    let step = Step { request, expect, ..Step::new(target) };
    Ok(Load {
        connections: of.connections.unwrap_or(CONNECTIONS) as usize,
        timeout: args.amount.timeout.unwrap_or(TIMEOUT),
        ..Load::new(step, limit)
    })
}
