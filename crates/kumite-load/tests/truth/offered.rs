//! What is offered: open loops, several threads, pipelining, several targets, variables, cookies, Unix sockets.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kumite_load::stub::{Config, Delay, Running, Stall, Stub};
use kumite_load::{
    Address, Arrivals, Check, Errors, Event, Expect, Gaps, Limit, Load, Outcome, Target, Variables,
};

use super::server::nobody;
use super::still::undisturbed;
use super::{LONG, io, run};

fn stub(config: Config) -> Running {
    Stub::start(config).unwrap()
}

fn delay(text: &str) -> Delay {
    text.parse().unwrap()
}

/// Requests to a stub.
fn load(stub: &Running, limit: Limit) -> Load {
    to(stub.addr.into(), limit)
}

fn to(address: Address, limit: Limit) -> Load {
    let target = Target { address, ..Target::parse("http://127.0.0.1:1/").unwrap() };
    let expect = Expect { status: Some(200), body: Check::Equals(b"pong".to_vec()) };
    Load { expect, timeout: LONG, io: io(), ..Load::new(target, limit) }
}

fn requests(requests: u64) -> Limit {
    Limit { requests: Some(requests), duration: None }
}

fn ms(ms: u64) -> Limit {
    Limit { requests: None, duration: Some(Duration::from_millis(ms)) }
}

fn open(load: Load, rate: f64, connections: usize) -> Load {
    Load { arrivals: Some(Arrivals::constant(rate)), connections, ..load }
}

/// Right answers that took so long or longer.
fn slower(outcome: &Outcome, ms: u64) -> u64 {
    let below = outcome.response.count_between(0, ms * 1_000_000 - 1);
    outcome.response.len() - below
}

#[test]
fn an_open_loop_sends_what_is_due_and_nothing_else() {
    let stub = stub(Config::default());
    let outcome = run(&open(load(&stub, ms(300)), 500.0, 5));
    assert_eq!((outcome.ok, outcome.requests), (150, 150));
    assert_eq!(outcome.elapsed, Duration::from_millis(300));
    assert_eq!(outcome.send_lag.len() + slower_than_sent(&outcome), 150);
    assert_eq!(stub.stop().unwrap().answers, 150);
}

/// Requests that waited for a connection have no send lag.
fn slower_than_sent(outcome: &Outcome) -> u64 {
    outcome.ok - outcome.send_lag.len()
}

#[test]
fn an_open_loop_with_a_warm_up_counts_what_was_due_in_the_window() {
    let stub = stub(Config { delay: delay("20ms"), ..Config::default() });
    let load = Load { warm_up: Duration::from_millis(100), ..open(load(&stub, ms(200)), 1000.0, 50) };
    let outcome = run(&load);
    assert_eq!((outcome.warm_up_requests, outcome.ok), (100, 200));
    assert_eq!(stub.stop().unwrap().answers, 300);
}

#[test]
fn an_open_loop_of_so_many_requests() {
    let stub = stub(Config::default());
    let load = Load { warm_up: Duration::from_millis(50), ..open(load(&stub, requests(77)), 1000.0, 5) };
    let outcome = run(&load);
    assert_eq!((outcome.warm_up_requests, outcome.ok), (50, 77));
    assert_eq!(stub.stop().unwrap().answers, 127);
}

/// A server that does 100 requests a second gets 1,000: what is due waits for a connection until it is too late.
#[test]
fn what_cannot_be_sent_in_time_is_counted_and_never_sent() {
    let outcome = undisturbed(Duration::from_millis(40), || {
        let stub = stub(Config { delay: delay("10ms"), workers: Some(1), ..Config::default() });
        let timeout = Duration::from_millis(100);
        let outcome = run(&Load { timeout, ..open(load(&stub, ms(400)), 1000.0, 2) });
        assert_eq!(outcome.requests, 400);
        let Errors { unsent, timeout, .. } = outcome.errors;
        assert_eq!(outcome.errors, Errors { unsent, timeout, ..Errors::default() });
        let answers = stub.stop().unwrap().answers;
        assert!(
            (outcome.ok..=outcome.ok + timeout).contains(&answers),
            "the others were never sent: {answers}"
        );
        outcome
    });
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.errors.timeout, 0);
    // In half a second, time-out included, 50 answers at most, and those that were on their way.
    let ok = outcome.ok;
    assert!((10..=53).contains(&ok), "{ok} answers");
    let backlog = outcome.intervals.iter().map(|interval| interval.backlog).max();
    assert!(backlog > Some(50) && backlog <= Some(400), "{backlog:?} waited");
}

/// It stands still for 20 time-outs, beyond the end.
#[test]
fn what_was_due_while_the_engine_stood_still_is_counted() {
    let stub = stub(Config::default());
    let timeout = Duration::from_millis(50);
    let load = Load { timeout, ..open(load(&stub, ms(400)), 1000.0, 2) };
    let outcome = load.run(&AtomicBool::new(false), &mut |event| {
        if matches!(event, Event::Interval(interval) if interval.start_ms == 0) {
            std::thread::sleep(20 * timeout);
        }
    });
    let outcome = outcome.unwrap();
    assert_eq!((outcome.requests, outcome.ok + outcome.errors.total()), (400, 400));
    assert!(outcome.errors.unsent >= 200, "{:?}", outcome.errors);
}

/// For 300 ms the server does nothing. What was due in the first 200 ms of them took 100 ms or longer, whether it was sent
/// or not; service times say so only of what was sent.
#[test]
fn a_stall_is_in_the_response_times_of_all_that_was_due_in_it() {
    let stall = Stall { at: Duration::from_millis(300), length: Duration::from_millis(300), every: None };
    let outcome = undisturbed(Duration::from_millis(50), || {
        let stub = stub(Config { stall: Some(stall), ..Config::default() });
        let outcome = run(&open(load(&stub, ms(900)), 1000.0, 2));
        assert_eq!(outcome.ok, 900);
        outcome
    });
    let Some(outcome) = outcome else { return };
    assert!(slower(&outcome, 100) >= 195, "{}", slower(&outcome, 100));
    assert!(outcome.response.max() >= 295_000_000, "{}", outcome.response.max());
    let served_slowly = outcome.service.len() - outcome.service.count_between(0, 99_999_999);
    assert!(served_slowly <= slower(&outcome, 100) / 2, "{served_slowly}");
}

#[test]
fn arrivals_as_recorded() {
    let stub = stub(Config::default());
    let arrivals = Arrivals::recorded("0\n0\n0\n0.05\n").unwrap();
    let limit = Limit { requests: None, duration: arrivals.length() };
    let outcome = run(&Load { arrivals: Some(arrivals), connections: 2, ..load(&stub, limit) });
    assert_eq!(outcome.ok, 4);
    let at: Vec<u64> = outcome.intervals.iter().map(|interval| interval.ok).collect();
    assert_eq!(at.iter().sum::<u64>(), 4);
}

#[test]
fn random_arrivals_are_as_many_as_their_seed_says() {
    let stub = stub(Config::default());
    let pieces = Arrivals::pieces("300@200ms,0..2000@100ms").unwrap();
    let arrivals = Arrivals::Rate { pieces, gaps: Gaps::Poisson { seed: 5 }, burst: 3 };
    let limit = Limit { requests: None, duration: arrivals.length() };
    let load = Load { arrivals: Some(arrivals), connections: 3, ..load(&stub, limit) };
    let (one, two) = (run(&load), run(&load));
    assert_eq!(one.ok, two.ok);
    assert!(one.ok.is_multiple_of(3) && one.ok > 60, "{}", one.ok);
}

/// An open loop opens its connections before it begins.
#[test]
fn an_open_loop_against_nobody() {
    let (address, _port) = nobody();
    let timeout = Duration::from_millis(50);
    let outcome = Load { timeout, ..open(to(address.into(), ms(100)), 1000.0, 2) }
        .run(&AtomicBool::new(false), &mut |_| {})
        .unwrap();
    assert_eq!(outcome.errors, Errors { unsent: 100, ..Errors::default() });
}

#[test]
fn an_open_loop_goes_on_when_connections_end() {
    let outcome = undisturbed(Duration::from_millis(50), || {
        let stub = stub(Config { close_after: Some(10), ..Config::default() });
        let outcome = run(&open(load(&stub, ms(400)), 500.0, 4));
        assert_eq!((outcome.ok, stub.stop().unwrap().answers), (200, 200));
        outcome
    });
    // Those within the window.
    let Some(Outcome { reconnects, .. }) = outcome else { return };
    assert!((16..=20).contains(&reconnects), "{reconnects}");
}

#[test]
fn threads_share_a_load() {
    let stub = stub(Config::default());
    let cores: Vec<usize> = allowed().into_iter().cycle().take(3).collect();
    let both = Load { cores, connections: 7, ..load(&stub, requests(1000)) };
    let outcome = run(&both);
    assert_eq!((outcome.ok, outcome.reconnects), (1000, 0));
    let limited = run(&Load { cores: both.cores.clone(), ..open(load(&stub, ms(250)), 1000.0, 7) });
    assert_eq!(limited.ok, 250);
    // Until the last answer.
    assert!(limited.intervals.len() >= 3, "{}", limited.intervals.len());
    let report = stub.stop().unwrap();
    assert_eq!((report.answers, report.accepted), (1250, 14));
}

fn allowed() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None).unwrap();
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

#[test]
fn a_cpu_that_is_not_there() {
    let stub = stub(Config::default());
    for cores in [vec![1023], vec![allowed()[0], 1023]] {
        let load = Load { cores, connections: 4, ..load(&stub, requests(10)) };
        let error = load.run(&AtomicBool::new(false), &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("CPU 1023"), "{error}");
    }
}

#[test]
fn several_requests_on_their_way_on_one_connection() {
    let stub = stub(Config::default());
    let outcome = run(&Load { pipeline: 8, connections: 3, ..load(&stub, requests(1000)) });
    assert_eq!(outcome.ok, 1000);
    let open = open(load(&stub, ms(200)), 1000.0, 2);
    assert_eq!(run(&Load { pipeline: 8, ..open }).ok, 200);
    assert_eq!(stub.stop().unwrap().answers, 1200);
}

#[test]
fn what_is_on_its_way_at_the_end_of_a_closed_loop_is_drained() {
    // It is not waited for longer than half a second.
    let found = undisturbed(Duration::from_millis(200), || {
        let stub = stub(Config { delay: delay("3ms"), ..Config::default() });
        let outcome = run(&Load { connections: 20, ..load(&stub, ms(100)) });
        (outcome, stub.stop().unwrap().answers)
    });
    let Some((outcome, answers)) = found else { return };
    assert!(outcome.drained > 0);
    assert_eq!(outcome.requests + outcome.drained, answers);
}

/// A server that keeps the heads of requests.
fn listening(listener: UnixListener, heads: Arc<Mutex<Vec<String>>>) {
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, heads) = (stream.unwrap(), heads.clone());
            std::thread::spawn(move || {
                let mut head = String::new();
                for line in BufReader::new(stream.try_clone().unwrap()).lines() {
                    let Ok(line) = line else { return };
                    if !line.is_empty() {
                        head += &(line + "\n");
                        continue;
                    }
                    let nth = heads.lock().unwrap().len();
                    heads.lock().unwrap().push(std::mem::take(&mut head));
                    let cookie = if nth == 0 { "Set-Cookie: a=b; Path=/\r\n" } else { "" };
                    let answer = format!("HTTP/1.1 200 OK\r\n{cookie}Content-Length: 4\r\n\r\npong");
                    stream.write_all(answer.as_bytes()).unwrap();
                }
            });
        }
    });
}

#[test]
fn each_request_has_its_own_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let heads = Arc::new(Mutex::new(Vec::new()));
    listening(UnixListener::bind(&path).unwrap(), heads.clone());
    let mut load = to(Address::Unix(path), requests(40));
    let (target, _) = load.targets[0].clone();
    let at = |path: &str| Target { path: path.to_owned(), ..target.clone() };
    load.targets = vec![(at("/a/{{seq}}"), 3), (at("/b"), 1)];
    load.request.headers = vec![("X-Connection".to_owned(), "{{connection}}".to_owned())];
    load.variables = Some(Variables::default());
    load.cookies = true;
    load.connections = 4;
    load.cores = allowed().into_iter().cycle().take(2).collect();
    assert_eq!(run(&load).ok, 40);

    let heads = heads.lock().unwrap();
    let mut connections: BTreeMap<&str, u64> = BTreeMap::new();
    let mut numbers: Vec<u64> = Vec::new();
    for head in heads.iter() {
        let number = head.strip_prefix("GET /a/").and_then(|rest| rest.split(' ').next());
        numbers.extend(number.map(|number| number.parse::<u64>().unwrap()));
        let connection = head.split("X-Connection: ").nth(1).unwrap().lines().next().unwrap();
        *connections.entry(connection).or_default() += 1;
    }
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!((numbers.len(), numbers.last().is_some_and(|last| *last < 40)), (30, true), "{numbers:?}");
    assert_eq!(connections.keys().copied().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    // Only the connection that was given a cookie sends it back, from then on.
    let first = heads[0].split("X-Connection: ").nth(1).unwrap().lines().next().unwrap();
    let with_cookie = heads.iter().filter(|head| head.contains("Cookie: a=b")).count() as u64;
    assert_eq!(with_cookie, connections[first] - 1);
    assert!(
        heads.iter().all(|head| !head.contains("Cookie") || head.contains(&format!("X-Connection: {first}")))
    );
}
