//! `kumite function invoke`: a call of a function that is served.

use std::io::Read;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use kumite_function::{ClientError, Invocations, Refusal, invoke_at};

use super::PORT;
use crate::exit::Failure;
use crate::{duration, output};

#[derive(Parser)]
#[command(after_help = "\
The answer goes to standard output, the end of the log to standard error. It ends with 1 if the function failed, with 2 if
the host refused the call for what was typed (no such function, a payload that is no JSON or too long), and with 3 if it
refused it for another reason (all instances are busy), or did not answer.")]
pub struct Args {
    /// Function to call
    name: String,
    /// Payload: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    payload: String,
    /// Address of the host
    #[arg(long, value_name = "URL", default_value_t = format!("http://127.0.0.1:{PORT}"))]
    endpoint: String,
    /// Kind of call: wait for the answer, only hand the call over, or only ask if it could be made
    #[arg(long = "type", value_enum, default_value_t = InvocationKind::RequestResponse)]
    kind: InvocationKind,
    /// Longest time to wait for the answer
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = duration::parse)]
    timeout: Duration,
    /// Print nothing but the answer
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum InvocationKind {
    RequestResponse,
    Event,
    DryRun,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let kind = match args.kind {
        InvocationKind::RequestResponse => Invocations::RequestResponse,
        InvocationKind::Event => Invocations::Event,
        InvocationKind::DryRun => Invocations::DryRun,
    };
    let reply = invoke_at(&args.endpoint, &args.name, kind, payload(&args.payload)?, args.timeout);
    let reply = reply.map_err(|error| match error {
        ClientError::Name(_) | ClientError::Endpoint(_) => Failure::Usage(error.to_string()),
        ClientError::Unanswered { .. } => Failure::Incomplete(error.to_string()),
    })?;
    if let Some(log) = reply.log.as_ref().filter(|_| !args.quiet) {
        output::note(log.trim_end());
    }
    if let Some(Refusal { words, is_callers }) = reply.refusal() {
        return Err(if is_callers { Failure::Usage(words) } else { Failure::Incomplete(words) });
    }
    if reply.status == 200 {
        output::document(&format!("{}\n", String::from_utf8_lossy(&reply.payload).trim_end()))?;
    }
    match reply.function_error {
        true => Err(Failure::Gate(format!("the function {} failed", args.name))),
        false => Ok(()),
    }
}

fn payload(given: &str) -> Result<Vec<u8>, Failure> {
    let unread = |what: &str, error| Failure::Usage(format!("cannot read {what}: {error}"));
    match given.strip_prefix('@') {
        Some(file) => std::fs::read(file).map_err(|error| unread(file, error)),
        None if given == "-" => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().read_to_end(&mut bytes);
            read.map_err(|error| unread("standard input", error))?;
            Ok(bytes)
        }
        None => Ok(given.as_bytes().to_vec()),
    }
}
