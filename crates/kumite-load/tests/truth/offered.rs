//! The load that is offered: open loops, several threads, pipelining, several targets, variables, cookies, Unix
//! sockets.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kumite_load::{Address, Arrivals, Expect, Gaps, Io, Limit, Load, Session, Step, Target};
use kumite_stub::{Config, Delay, Running, Stub};

use super::{LONG, run};
use crate::io;

fn stub(config: Config) -> Running {
    Stub::start(config).unwrap()
}

fn delay(text: &str) -> Delay {
    text.parse().unwrap()
}

/// Requests to a stub.
fn load(io: Io, stub: &Running, limit: Limit) -> Load {
    to(io, stub.addr.into(), limit)
}

fn to(io: Io, address: Address, limit: Limit) -> Load {
    let target = Target { address, ..Target::parse("http://127.0.0.1:1/").unwrap() };
    let expect = Expect { status: Some(200), equals: Some(b"pong".to_vec()), ..Expect::default() };
    Load { timeout: LONG, io, ..Load::new(Step { expect, ..Step::new(target) }, limit) }
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

#[test]
fn an_open_loop_sends_what_is_due_and_nothing_else() {
    let Some(io) = io() else { return };
    let stub = stub(Config::default());
    let outcome = run(&open(load(io, &stub, ms(60)), 2500.0, 5));
    assert_eq!((outcome.ok, outcome.requests), (150, 150));
    assert_eq!(outcome.elapsed, Duration::from_millis(60));
    // Those that waited for a connection have no send lag.
    assert!(outcome.send_lag.len() <= 150);
    assert_eq!(stub.stop().unwrap().answers, 150);
}

#[test]
fn an_open_loop_with_a_warm_up_counts_what_was_due_in_the_window() {
    let Some(io) = io() else { return };
    let stub = stub(Config { delay: delay("2ms"), ..Config::default() });
    let load = Load { warm_up: Duration::from_millis(20), ..open(load(io, &stub, ms(40)), 5000.0, 50) };
    let outcome = run(&load);
    assert_eq!((outcome.warm_up_requests, outcome.ok), (100, 200));
    assert_eq!(stub.stop().unwrap().answers, 300);
}

#[test]
fn an_open_loop_of_so_many_requests() {
    let Some(io) = io() else { return };
    let stub = stub(Config::default());
    let load = Load { warm_up: Duration::from_millis(10), ..open(load(io, &stub, requests(77)), 5000.0, 5) };
    let outcome = run(&load);
    assert_eq!((outcome.warm_up_requests, outcome.ok), (50, 77));
    assert_eq!(stub.stop().unwrap().answers, 127);
}

#[test]
fn recorded_arrivals_are_sent_as_recorded() {
    let Some(io) = io() else { return };
    let stub = stub(Config::default());
    let arrivals = Arrivals::recorded("0\n0\n0\n0.05\n").unwrap();
    let limit = Limit { requests: None, duration: arrivals.length() };
    let outcome = run(&Load { arrivals: Some(arrivals), connections: 2, ..load(io, &stub, limit) });
    assert_eq!(outcome.ok, 4);
    let at: Vec<u64> = outcome.intervals.iter().map(|interval| interval.ok).collect();
    assert_eq!(at.iter().sum::<u64>(), 4);
}

#[test]
fn random_arrivals_are_as_many_as_their_seed_says() {
    let Some(io) = io() else { return };
    let stub = stub(Config::default());
    let pieces = Arrivals::pieces("1500@40ms,0..10000@20ms").unwrap();
    let arrivals = Arrivals::Rate { pieces, gaps: Gaps::Poisson { seed: 5 }, burst: 3 };
    let limit = Limit { requests: None, duration: arrivals.length() };
    let load = Load { arrivals: Some(arrivals), connections: 3, ..load(io, &stub, limit) };
    let (one, two) = (run(&load), run(&load));
    assert_eq!(one.ok, two.ok);
    assert!(one.ok.is_multiple_of(3) && one.ok > 60, "{}", one.ok);
}

#[test]
fn an_open_loop_goes_on_when_connections_end() {
    let Some(io) = io() else { return };
    let stub = stub(Config { close_after: Some(10), ..Config::default() });
    let outcome = run(&open(load(io, &stub, ms(100)), 2000.0, 4));
    assert_eq!((outcome.ok, stub.stop().unwrap().answers), (200, 200));
}

#[test]
fn threads_share_a_load() {
    let Some(io) = io() else { return };
    let stub = stub(Config::default());
    let cores: Vec<usize> = allowed().into_iter().cycle().take(3).collect();
    let both = Load { cores, connections: 7, ..load(io, &stub, requests(1000)) };
    let outcome = run(&both);
    assert_eq!((outcome.ok, outcome.reconnects), (1000, 0));
    let limited = run(&Load { cores: both.cores.clone(), ..open(load(io, &stub, ms(250)), 1000.0, 7) });
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
fn a_cpu_that_is_not_there_is_an_error() {
    let Some(io) = io() else { return };
    let stub = stub(Config::default());
    for cores in [vec![1023], vec![allowed()[0], 1023]] {
        let load = Load { cores, connections: 4, ..load(io, &stub, requests(10)) };
        let error = load.run(&AtomicBool::new(false), &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("CPU 1023"), "{error}");
    }
}

#[test]
fn several_requests_on_their_way_on_one_connection() {
    let Some(io) = io() else { return };
    let stub = stub(Config::default());
    let outcome = run(&Load { pipeline: 8, connections: 3, ..load(io, &stub, requests(1000)) });
    assert_eq!(outcome.ok, 1000);
    let open = open(load(io, &stub, ms(50)), 4000.0, 2);
    assert_eq!(run(&Load { pipeline: 8, ..open }).ok, 200);
    assert_eq!(stub.stop().unwrap().answers, 1200);
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
                    let is_first = {
                        let mut heads = heads.lock().unwrap();
                        heads.push(std::mem::take(&mut head));
                        heads.len() == 1
                    };
                    let cookie = if is_first { "Set-Cookie: a=b; Path=/\r\n" } else { "" };
                    let answer = format!("HTTP/1.1 200 OK\r\n{cookie}Content-Length: 4\r\n\r\npong");
                    stream.write_all(answer.as_bytes()).unwrap();
                }
            });
        }
    });
}

#[test]
fn each_request_has_its_own_values() {
    let Some(io) = io() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let heads = Arc::new(Mutex::new(Vec::new()));
    listening(UnixListener::bind(&path).unwrap(), heads.clone());
    let mut load = to(io, Address::Unix(path), requests(40));
    let step = load.sessions[0].steps[0].clone();
    let at = |path: &str, weight| {
        let mut step = step.clone();
        step.target.path = path.to_owned();
        step.request.headers = vec![("X-Connection".to_owned(), "{{connection}}".to_owned())];
        Session { weight, ..step.into() }
    };
    load.sessions = vec![at("/a/{{seq}}", 3), at("/b", 1)];
    load.cookies = true;
    load.connections = 4;
    load.cores = allowed().into_iter().cycle().take(2).collect();
    let outcome = run(&load);
    assert_eq!(outcome.ok, 40);

    let heads = heads.lock().unwrap();
    let asked = |path: &str| heads.iter().filter(|head| head.starts_with(path)).count() as u64;
    let steps: Vec<u64> = outcome.sessions.iter().map(|session| session.steps[0].ok).collect();
    assert_eq!(steps, [asked("GET /a/"), asked("GET /b")]);
    // How many of both each connection has asked for.
    let mut connections: BTreeMap<&str, u64> = BTreeMap::new();
    let mut asked_a: BTreeMap<&str, u64> = BTreeMap::new();
    let mut numbers: Vec<u64> = Vec::new();
    for head in heads.iter() {
        let number = head.strip_prefix("GET /a/").and_then(|rest| rest.split(' ').next());
        numbers.extend(number.map(|number| number.parse::<u64>().unwrap()));
        let connection = head.split("X-Connection: ").nth(1).unwrap().lines().next().unwrap();
        *connections.entry(connection).or_default() += 1;
        *asked_a.entry(connection).or_default() += u64::from(number.is_some());
    }
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len() as u64, steps[0]);
    assert!(numbers.last().is_some_and(|last| *last < 40), "{numbers:?}");
    for (connection, all) in &connections {
        let had = asked_a.get(connection).copied().unwrap_or(0);
        assert!((had * 4).abs_diff(all * 3) < 8, "{had} of {all} on connection {connection}");
    }
    assert_eq!(connections.keys().copied().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    // Only the connection that was given a cookie sends it back, from then on.
    let first = heads[0].split("X-Connection: ").nth(1).unwrap().lines().next().unwrap();
    let with_cookie = heads.iter().filter(|head| head.contains("Cookie: a=b")).count() as u64;
    assert_eq!(with_cookie, connections[first] - 1);
    assert!(
        heads.iter().all(|head| !head.contains("Cookie") || head.contains(&format!("X-Connection: {first}")))
    );
}
