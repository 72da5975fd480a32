//! `kumite stub`: a server whose behaviour is known.

use std::io::Write;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Parser, ValueEnum};
use kumite_record::{Lateness, SCHEMA, StubConnections, StubResult};
use kumite_stub::{Config, Delay, Failures, Report, Stall, Stub};

use crate::exit::Failure;
use crate::{lateness, output, stop};

const LONGEST_BODY: u64 = 16 << 20;

#[derive(Parser)]
#[command(group(ArgGroup::new("content").args(["body", "body_bytes"])))]
#[command(after_help = "\
The delay of an answer counts from when its request was read. A request can ask for another, fixed one: /?delay=20ms.
The n-th request that is read has the n-th delay and the n-th fate that the seed gives. SIGINT or SIGTERM ends it.")]
pub struct Args {
    /// The port; 0 for any that is free
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// The address of this machine to listen at
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST)]
    host: Ipv4Addr,
    /// How long answers take: 5ms, uniform:1ms..9ms, bimodal:1ms,100ms@0.1 (the second with that probability), or
    /// lognormal:5ms,2.0 (median and geometric standard deviation)
    #[arg(short, long, value_name = "SPEC", default_value = "0")]
    delay: Delay,
    /// The body of every answer
    #[arg(long, value_name = "TEXT", default_value = "pong")]
    body: String,
    /// A body of so many bytes in its place
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=LONGEST_BODY))]
    body_bytes: Option<u64>,
    /// The status of every answer that does not fail
    #[arg(long, value_name = "STATUS", default_value_t = 200, value_parser = clap::value_parser!(u16).range(200..=599))]
    status: u16,
    /// How many requests fail, and how: 0.1 (of all, with status 500), 0.1:503, or 0.1:reset (the connection is)
    #[arg(long, value_name = "SHARE[:HOW]")]
    errors: Option<Failures>,
    /// Do nothing at all from AT after the start on for FOR, and again EVERY so often: 2s:500ms or 2s:500ms:5s
    #[arg(long, value_name = "AT:FOR[:EVERY]")]
    stall: Option<Stall>,
    /// The most connections that are open at once [default: as many as files may be open]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    connections: Option<u32>,
    /// What happens to more of them
    #[arg(long, value_enum, default_value_t = OverLimit::Wait, requires = "connections")]
    over_limit: OverLimit,
    /// The most requests that are in their delay at once; the others wait in order [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    workers: Option<u32>,
    /// The most connections that the kernel holds until they are accepted; at most net.core.somaxconn
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(i32).range(1..))]
    backlog: i32,
    /// Close each connection with this answer on it [default: never]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    close_after: Option<u64>,
    /// Of delays and failures
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write what it did as JSON at its end (- for standard output, in place of the closing line; where it listens is then
    /// said on standard error)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum OverLimit {
    /// They wait in the backlog, where their clients take them for open
    Wait,
    /// They are accepted and closed at once
    Close,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let to_stdout = args.json.as_deref() == Some(Path::new("-"));
    if let Some(file) = args.json.as_deref().filter(|_| !to_stdout) {
        output::check_writable(file)?;
    }
    let stop = stop::flag()?;
    let stub = Stub::listen(config(args)).map_err(failure)?;
    let url = format!("http://{}/", stub.addr());
    let listening = format!("listening on {url}");
    if to_stdout {
        output::note(&listening);
    } else {
        output::print(&format!("{listening}\n"))?;
        // Whoever does not read has no use for it.
        let _ = std::io::stdout().flush();
    }
    let report = stub.serve(&stop).map_err(failure)?;
    if let Some(file) = &args.json {
        output::write(file, &output::json(&result(&report, url, args.seed))?)?;
    }
    if to_stdout { Ok(()) } else { output::print(&closing_line(&report)) }
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

fn closing_line(report: &Report) -> String {
    let line = format!(
        "{} requests, {} answers ({} with an error status), {} resets, {} unanswered, {} malformed; \
         {} connections, at most {} at once, {} refused",
        report.requests,
        report.answers,
        report.errors,
        report.resets,
        report.unanswered,
        report.malformed,
        report.accepted,
        report.most_connections,
        report.refused
    );
    line + &lateness::closing(&report.lateness) + "\n"
}
