//! The log of a load has every request in it, as it was.

use kumite_load::{
    Arrivals, Disturbance, DisturbanceKind, Errors, Failure, Finished, Gaps, Limit, Load, Outcome,
    WrongStatus,
};
use kumite_stub::{Config, Stub};

use super::server::{PONG, Server, Then, write};
use super::{LONG, always, load, ms, run};
use crate::io;

fn with_log(load: Load) -> Outcome {
    let outcome = run(&Load { log: true, ..load });
    assert_eq!(outcome.unlogged, 0);
    assert!(outcome.log.is_sorted_by_key(|finished| finished.due));
    for Finished { due, sent, finished, failure, wrong_status } in &outcome.log {
        assert!(sent.is_none_or(|sent| sent >= *due && finished >= &sent) && finished >= due);
        assert_eq!(wrong_status.is_some(), *failure == Some(Failure::Status));
    }
    outcome
}

fn ok(log: &[Finished]) -> u64 {
    log.iter().filter(|finished| finished.failure.is_none()).count() as u64
}

/// 500 requests a second for 40 ms, of these 20 ms to warm up, then 2,000 a second for 40 ms, then 250 a second: warm-up,
/// window and what came after it; every third is refused, in words that come byte by byte and are longer than what is kept.
#[test]
fn the_log_has_every_request_of_an_open_loop() {
    let Some(io) = io() else { return };
    let words = format!("refused after {}", "x".repeat(100));
    let refusal = format!(
        "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{words}\r\n0\r\n\r\n",
        words.len()
    );
    let server = Server::start(0, move |stream, turn| {
        if turn.request % 3 == 0 {
            refusal.as_bytes().iter().for_each(|byte| write(stream, [*byte]));
        } else {
            write(stream, PONG);
        }
        Then::Keep
    });
    let pieces = Arrivals::pieces("500@40ms,2000@40ms,250").unwrap();
    let outcome = with_log(Load {
        arrivals: Some(Arrivals::Rate { pieces, gaps: Gaps::Even, burst: 1 }),
        warm_up: ms(20),
        limit: Limit { requests: None, duration: Some(ms(60)) },
        disturbance: Some(Disturbance { kind: DisturbanceKind::Drop, watch: ms(60) }),
        connections: 20,
        timeout: LONG,
        ..load(io, server.addr, 0)
    });
    let log = &outcome.log;
    let disturbed = outcome.disturbed.unwrap();
    assert_eq!(
        (disturbed.began, disturbed.errors.total(), outcome.requests),
        (ms(60), disturbed.errors.status, 90)
    );
    assert!(disturbed.ended >= ms(60) && disturbed.until == disturbed.ended + ms(60), "{disturbed:?}");
    // The requests that follow are due 4 ms apart, as long as the server is watched.
    assert_eq!(u128::from(disturbed.requests), (disturbed.until - ms(60)).as_nanos().div_ceil(4_000_000));
    let expected: Vec<u64> =
        (0..20).map(|n| n * 2_000_000).chain((0..80).map(|n| 40_000_000 + n * 500_000)).collect();
    assert_eq!(log.iter().map(|it| it.due).take(100).collect::<Vec<_>>(), expected);
    let (warm_up, rest) = log.split_at(10);
    let (window, after) = rest.split_at(90);
    assert_eq!(ok(warm_up), outcome.warm_up_requests - outcome.warm_up_errors.status);
    assert_eq!((ok(window), after.len() as u64, ok(after)), (outcome.ok, disturbed.requests, disturbed.ok));
    assert_eq!(log.len() as u64, server.requests());
    let said: Vec<&WrongStatus> = log.iter().filter_map(|it| it.wrong_status.as_deref()).collect();
    assert_eq!(said.len() as u64, server.requests() / 3);
    assert!(said.iter().all(|said| said.status == 500 && said.text == words[..64]), "{:?}", said[0]);
    let longest = log.iter().filter(|it| it.failure.is_none()).map(|it| it.finished - it.due).max();
    assert!(outcome.response.max() <= longest.unwrap() * 1_001 / 1_000);
}

#[test]
fn the_log_has_the_requests_of_all_threads_of_a_closed_loop() {
    let Some(io) = io() else { return };
    let stub = Stub::start(Config::default()).unwrap();
    let one = with_log(Load { connections: 5, timeout: LONG, ..load(io, stub.addr, 200) });
    assert_eq!((one.log.len(), ok(&one.log)), (200, 200));
    let cores = vec![0, 0];
    let both = with_log(Load { connections: 5, cores, timeout: LONG, ..load(io, stub.addr, 200) });
    assert_eq!((both.log.len(), ok(&both.log)), (200, 200));
}

#[test]
fn a_load_without_a_log_keeps_nothing() {
    let Some(io) = io() else { return };
    let server = always(PONG.replace("200 OK", "503 No"), Then::Keep);
    let outcome = run(&load(io, server.addr, 5));
    assert_eq!((outcome.errors, outcome.log.len()), (Errors { status: 5, ..Errors::default() }, 0));
}

#[test]
fn a_wrong_status_is_logged_with_its_body_even_an_empty_one() {
    let Some(io) = io() else { return };
    let server = always("HTTP/1.1 429 No\r\nContent-Length: 2\r\n\r\n\u{e9}", Then::Keep);
    let empty = always("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", Then::Keep);
    let said = |addr| {
        with_log(load(io, addr, 2)).log.into_iter().map(|it| it.wrong_status.unwrap()).collect::<Vec<_>>()
    };
    let words = |status, text: &str| Box::new(WrongStatus { status, text: text.to_owned() });
    assert_eq!(said(server.addr), [words(429, "é"), words(429, "é")]);
    assert_eq!(said(empty.addr), [words(503, ""), words(503, "")]);
}
