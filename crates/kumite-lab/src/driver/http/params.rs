//! The parameters of an http workload.

use super::protocol::Protocol;
use crate::parameter::{Param, Takes};

const MAX_CONNECTIONS: i64 = 100_000;
const MAX_STREAMS: i64 = 1000;
const MAX_REQUESTS: i64 = 1_000_000_000;
pub(super) const MAX_RATE: f64 = 10_000_000.0;
const TIMEOUT_MS: [f64; 2] = [1.0, 600_000.0];

/// The parameters of the one request that there is without a scenario.
pub(super) const OF_ONE_REQUEST: [&str; 3] = ["method", "path", "body"];

pub(super) static PARAMS: &[Param] = &[
    Param::text("method", "GET", "Request method; not CONNECT."),
    Param::text("path", "/", "Request target: path and query."),
    Param::text("body", "", "Request body."),
    Param::word(
        "protocol",
        &Protocol::WORDS,
        "The version of HTTP: 1.1 in the clear or in TLS, 2 in TLS, or 2 in the clear from the first byte on.",
    ),
    Param::count(
        "connections",
        50,
        [1, MAX_CONNECTIONS],
        "Keep-alive connections, each with one request in flight, or `streams`: the most of an open loop.",
    ),
    Param::count(
        "streams",
        1,
        [1, MAX_STREAMS],
        "Requests in flight on each connection, if the contender allows so many; above 1 in HTTP/2 alone.",
    ),
    Param::count(
        "requests_per_connection",
        0,
        [0, MAX_REQUESTS],
        "How many requests a connection carries before it is ended and another is opened; 0 for as many as the contender takes.",
    ),
    Param::count(
        "idle_connections",
        0,
        [0, MAX_CONNECTIONS],
        "Connections that are held open beside the load and carry no request.",
    ),
    Param::new(
        "rate_rps",
        Takes::Steps { default: 0.0, least: 0.0, most: MAX_RATE },
        "Requests a second, whatever the contender makes of them (open loop); 0 for a closed loop. Or steps, each with its length: `10@4s,40@6s,66@20s`.",
    ),
    Param::word(
        "arrivals",
        &["even", "poisson"],
        "How the requests of an open loop follow one another: evenly, or at random, the same in each trial.",
    ),
    Param::count(
        "burst_requests",
        1,
        [1, MAX_CONNECTIONS],
        "How many requests of an open loop come at once.",
    ),
    Param::number(
        "duration_s",
        5.0,
        [0.1, 86_400.0],
        "Length of the measured window; not of a load in steps. With the warm-up, 1.5 s are the least in which a steady state can be found.",
    ),
    Param::number(
        "warm_up_s",
        1.0,
        [0.0, 3600.0],
        "Time under load before the window, at least; not of a load in steps. What is not steady by then is left out of the figures of a closed loop.",
    ),
    Param::number(
        "warm_up_limit_s",
        0.0,
        [0.0, 3600.0],
        "That time at most: after `warm_up_s` the load goes on until it is steady, or until then, and the trial may be marked `unsteady`. Evidence takes thirty points and more. 0 for no more than `warm_up_s`. Not of a load in steps.",
    ),
    Param::number("timeout_ms", 1000.0, TIMEOUT_MS, "An answer that takes longer is a failure."),
    Param::new(
        "server_cores",
        Takes::Cores,
        "How many CPUs the contender is given beside the load engine's; `all` shares them with it, and the trial is marked.",
    ),
    Param::number(
        "ready_s",
        30.0,
        [0.1, 600.0],
        "A contender that takes longer to give its first right answer has failed.",
    ),
    Param::text(
        "objective",
        "",
        "An objective, such as `p99 < 20ms and errors < 0.1%`: after the window the rate up to which the contender meets it is searched for, in at most 20 s, as `capacity_rps`. `p95 of NAME < 20ms` is about one request of several. Not of a load in steps, nor with a disturbance.",
    ),
    Param::word(
        "disturbance",
        &["none", "pause", "burst"],
        "What is done to the contender after the window: it is stopped for a time, or a burst of connections is opened.",
    ),
    Param::number("pause_s", 2.0, [0.1, 60.0], "How long `pause` stops it."),
    Param::number(
        "reopen_spread_ms",
        0.0,
        [0.0, 60_000.0],
        "Over how long connections that end after `pause` has begun are opened again, each at a place of its own; 0 for all at once.",
    ),
    Param::count("burst_connections", 4096, [1, MAX_CONNECTIONS], "How many connections `burst` opens."),
    Param::number(
        "watch_s",
        6.0,
        [1.0, 600.0],
        "How long the contender is watched after the disturbance, or after the drop of a load in steps.",
    ),
    Param::number(
        "drop_to_rps",
        0.0,
        [0.0, MAX_RATE],
        "What a load in steps falls to after the last one, for `watch_s`; 0 for none.",
    ),
    Param::number(
        "good_ms",
        1000.0,
        TIMEOUT_MS,
        "In a load in steps: an answer within it counts to goodput.",
    )
    .like("timeout_ms"),
    Param::number(
        "normal_ms",
        1000.0,
        TIMEOUT_MS,
        "In a load in steps: an answer within it is as in normal times, for recovery.",
    )
    .like("good_ms"),
    Param::number(
        "quick_ms",
        100.0,
        TIMEOUT_MS,
        "In a load in steps: an answer with another status within it is a quick refusal.",
    ),
];
