//! The engine against servers that are known, in simulated time: to the nanosecond.

mod closed;
mod connections;
mod cut;
mod disturbed;
mod early;
mod first_byte;
mod late;
mod layered;
mod open;
mod opening;
mod paced;
mod protocols;
mod sampled;
mod sessions;
mod stacked;

use std::time::Duration;

use super::simulated::{Answering, Connecting, Deed, Deeds, Machine, Server, Turn};
use crate::record::log::Finished;
use crate::{Errors, Expect, Failure, Limit, Load, Outcome, Step, Target};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const LONG: Duration = Duration::from_secs(60);
const PONG: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong";

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn ns(ns: u64) -> Duration {
    Duration::from_nanos(ns)
}

/// `requests` requests on one connection that want `pong`.
fn load(requests: u64) -> Load {
    let expect = Expect { status: Some(200), equals: Some(b"pong".to_vec()), ..Expect::default() };
    let step = Step { expect, ..Step::new(Target::plain("127.0.0.1:1".parse().unwrap())) };
    Load { timeout: LONG, log: true, ..Load::new(step, Limit { requests: Some(requests), duration: None }) }
}

/// A load of requests that want `pong`, on one connection, for `length` milliseconds.
fn lasting(length: u64) -> Load {
    Load { limit: Limit { requests: None, duration: Some(ms(length)) }, ..load(0) }
}

fn say(at: u64, bytes: &str) -> (u64, Deed) {
    (at, Deed::Say(bytes.as_bytes().to_vec()))
}

/// The right answer, at the instant `at` in ns.
fn pong(at: u64) -> Deeds {
    vec![say(at, PONG)]
}

/// A server that gives the right answer to each request after `ns` nanoseconds.
fn after(ns: u64) -> impl Server {
    Answering::new(move |turn: Turn| pong(turn.at + ns))
}

fn run(load: &Load, server: impl Server) -> Outcome {
    Machine::default().run(load, server)
}

/// For each logged request the instant at which it was due, the time from then until it was sent (`None` if it was
/// not), and the time from its sending, or else from when it was due, until it was finished; all in ns.
fn steps(outcome: &Outcome) -> Vec<(u64, Option<u64>, u64)> {
    let step = |it: &Finished| {
        let sent = it.sent.map(|sent| sent - it.due);
        (it.due, sent, it.finished - it.sent.unwrap_or(it.due))
    };
    outcome.log.iter().map(step).collect()
}

/// For each request that was sent the time in ns until it was finished.
fn service(outcome: &Outcome) -> Vec<u64> {
    steps(outcome).into_iter().filter(|(_, sent, _)| sent.is_some()).map(|(_, _, took)| took).collect()
}

fn timeouts(timeout: u64) -> Errors {
    Errors { timeout, ..Errors::default() }
}
