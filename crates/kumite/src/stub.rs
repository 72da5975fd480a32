//! `kumite stub`: a server whose behaviour is known.

use std::net::Ipv4Addr;

use clap::{ArgGroup, Parser, ValueEnum};
use kumite_record::{Lateness, SCHEMA, StubConnections, StubResult};
use kumite_stub::{Config, Delay, Failures, Report, Stall, Stub};

use crate::closing::Closing;
use crate::exit::Failure;
use crate::{output, stop};

const LONGEST_BODY: u64 = 16 << 20;

#[derive(Parser)]
#[command(group(ArgGroup::new("content").args(["body", "body_bytes"])))]
#[command(after_help = "\
The delay of an answer counts from when its request was read. A request can ask for another, fixed one: /?delay=20ms.
The n-th request that is read has the n-th delay and the n-th fate that the seed gives. SIGINT or SIGTERM ends it.")]
pub struct Args {
    /// Port; 0 for any that is free
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Address of this machine to listen at
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST)]
    host: Ipv4Addr,
    /// Delay of answers: 5ms, uniform:1ms..9ms, bimodal:1ms,100ms@0.1 (the second with that probability), or
    /// lognormal:5ms,2.0 (median and geometric standard deviation)
    #[arg(short, long, value_name = "SPEC", default_value = "0")]
    delay: Delay,
    /// Body of every answer
    #[arg(long, value_name = "TEXT", default_value = "pong")]
    body: String,
    /// Length of a body of x's, in bytes, in place of --body
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=LONGEST_BODY))]
    body_bytes: Option<u64>,
    /// Status of every answer that does not fail
    #[arg(long, value_name = "STATUS", default_value_t = 200, value_parser = clap::value_parser!(u16).range(200..=599))]
    status: u16,
    /// Share of requests that fail, and how: 0.1 (with status 500), 0.1:503, or 0.1:reset (the connection is reset)
    #[arg(long, value_name = "SHARE[:HOW]")]
    errors: Option<Failures>,
    /// Stand still for FOR, from AT after the start, and again after each EVERY: 2s:500ms or 2s:500ms:5s
    #[arg(long, value_name = "AT:FOR[:EVERY]")]
    stall: Option<Stall>,
    /// Most connections open at once [default: as many as files may be open]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    connections: Option<u32>,
    /// Fate of connections beyond that
    #[arg(long, value_enum, default_value_t = OverLimit::Wait, requires = "connections")]
    over_limit: OverLimit,
    /// Most requests in their delay at once; the others wait in order [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    workers: Option<u32>,
    /// Most connections that the kernel holds until they are accepted; at most net.core.somaxconn
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(i32).range(1..))]
    backlog: i32,
    /// Answers after which a connection is closed [default: never]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    close_after: Option<u64>,
    /// Seed of delays and failures
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    closing: Closing,
}

#[derive(Clone, Copy, ValueEnum)]
enum OverLimit {
    /// Wait in the backlog, where clients take them for open
    Wait,
    /// Accept and close them at once
    Close,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    args.closing.check()?;
    let stop = stop::flag()?;
    let stub = Stub::listen(config(args)).map_err(failure)?;
    let url = format!("http://{}/", stub.addr());
    args.closing.open(&format!("listening on {url}"))?;
    let report = stub.serve(&stop).map_err(failure)?;
    let result = result(&report, url, args.seed);
    args.closing.close(&result, &kumite_report::stub_line(&result))
}

fn config(args: &Args) -> Config {
    Config {
        host: args.host,
        port: args.port,
        delay: args.delay,
        body: match args.body_bytes {
            Some(bytes) => vec![b'x'; bytes as usize],
            None => args.body.clone().into_bytes(),
        },
        status: args.status,
        failures: args.errors,
        stall: args.stall,
        connections: args.connections.map(|limit| limit as usize),
        over_limit: match args.over_limit {
            OverLimit::Wait => kumite_stub::OverLimit::Wait,
            OverLimit::Close => kumite_stub::OverLimit::Close,
        },
        workers: args.workers.map(|limit| limit as usize),
        backlog: args.backlog,
        close_after: args.close_after,
        seed: args.seed,
    }
}

fn failure(error: kumite_stub::Error) -> Failure {
    match error {
        kumite_stub::Error::Listen { .. } | kumite_stub::Error::Files(_) => Failure::Usage(error.to_string()),
        kumite_stub::Error::System(_) => Failure::Incomplete(error.to_string()),
    }
}

fn result(report: &Report, url: String, seed: u64) -> StubResult {
    StubResult {
        schema: SCHEMA,
        command: output::command_line(),
        url,
        seed,
        seconds: report.duration.as_secs_f64(),
        cpu_s: report.cpu.as_secs_f64(),
        requests: report.requests,
        answers: report.answers,
        errors: report.errors,
        resets: report.resets,
        unanswered: report.unanswered,
        malformed: report.malformed,
        connections: StubConnections {
            accepted: report.accepted,
            most: report.most_connections,
            refused: report.refused,
        },
        longest_queue: report.longest_queue,
        late_us: Lateness::of(&report.lateness),
    }
}
