//! The engine against servers whose faults are known: every count must be exact. Times are not looked at: those are tested
//! in simulation (src/engine/tests).

mod connections;
mod logged;
mod offered;
mod server;
mod sessions;

use std::io::Read;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::io;
use kumite_load::{
    Burst, Disturbance, DisturbanceKind, Disturbed, Errors, Event, Expect, Io, Limit, Load, Outcome,
    Recovery, Request, Step, Target,
};
use rustix::net::sockopt::set_socket_linger;
use server::{PONG, Server, Then, nobody, write};

/// Nothing takes so long unless something is wrong, on a machine that stands still for a while neither.
const LONG: Duration = Duration::from_secs(60);

/// `requests` requests on one connection that want `pong`.
fn load(io: Io, addr: SocketAddr, requests: u64) -> Load {
    let expect = Expect { status: Some(200), equals: Some(b"pong".to_vec()), ..Expect::default() };
    let step = Step { expect, ..Step::new(Target::plain(addr)) };
    Load { timeout: LONG, io, ..Load::new(step, Limit { requests: Some(requests), duration: None }) }
}

/// This load with another right answer.
fn wanting(expect: &Expect, load: Load) -> Load {
    load.with_steps(|step| step.expect = expect.clone())
}

/// This load of another request.
fn sending(request: &Request, load: Load) -> Load {
    load.with_steps(|step| step.request = request.clone())
}

/// For so long, on three connections.
fn timed(io: Io, addr: SocketAddr, ms: u64) -> Load {
    let limit = Limit { requests: None, duration: Some(Duration::from_millis(ms)) };
    Load { limit, connections: 3, ..load(io, addr, 0) }
}

/// Runs it and checks what must hold whatever the server does.
fn run(load: &Load) -> Outcome {
    run_with(load, &mut |_| {})
}

fn run_with(load: &Load, on_event: &mut dyn FnMut(Event)) -> Outcome {
    let mut seen = Vec::new();
    let mut on_event = |event: Event| {
        if let Event::Interval(interval) = event {
            seen.push(*interval);
        }
        on_event(event);
    };
    let outcome = load.run(&AtomicBool::new(false), &mut on_event).unwrap();
    assert_eq!(outcome.requests, outcome.ok + outcome.errors.total());
    assert_eq!(outcome.response.len(), outcome.ok);
    assert_eq!(outcome.intervals, seen);
    let warm_up_ms = load.warm_up.as_millis().next_multiple_of(100) as i64;
    for (index, interval) in (0..).zip(&seen) {
        assert_eq!(interval.start_ms, index * 100 - warm_up_ms);
    }
    let window_ms = outcome.elapsed.as_micros().div_ceil(1000) as i64;
    let sums = |from: i64, to: i64| {
        let within = || seen.iter().filter(|interval| (from..to).contains(&interval.start_ms));
        (within().map(|i| i.ok).sum::<u64>(), within().map(|i| i.errors).sum::<u64>())
    };
    let warm_up_errors = outcome.warm_up_errors.total();
    let warm_up = (outcome.warm_up_requests - warm_up_errors, warm_up_errors);
    let after = outcome.disturbed.map_or((0, 0), |it| (it.ok, it.errors.total()));
    if load.arrivals.is_some() {
        // Counts are by when requests were due, intervals by when they were finished.
        let all = (warm_up.0 + outcome.ok + after.0, warm_up.1 + outcome.errors.total() + after.1);
        assert_eq!(sums(i64::MIN, i64::MAX), all);
    } else {
        assert_eq!(outcome.recovery.is_some(), outcome.errors.total() > 0);
        assert_eq!(sums(i64::MIN, 0), warm_up);
        assert_eq!(sums(0, window_ms.max(1)), (outcome.ok, outcome.errors.total()));
        assert_eq!(sums(window_ms.max(1), i64::MAX), after);
    }
    if let Some(requests) = load.limit.requests
        && load.limit.duration.is_none()
    {
        let sessions = outcome.sessions.iter().map(|session| session.ok + session.failed).sum();
        assert_eq!(if outcome.sessions.is_empty() { outcome.requests } else { sessions }, requests);
    }
    assert!(!outcome.stopped);
    assert_eq!(outcome.disturbed.is_some(), load.disturbance.is_some());
    outcome
}

/// A server that sends the same bytes to each request and goes on or closes.
fn always(bytes: impl AsRef<[u8]> + Send + Sync + 'static, then: Then) -> Server {
    Server::start(0, move |stream, _| {
        write(stream, &bytes);
        then
    })
}

fn pong() -> Server {
    always(PONG, Then::Keep)
}

#[test]
fn right_answers_are_all_counted_ok() {
    let Some(io) = io() else { return };
    let server = pong();
    let before = thread_cpu();
    let outcome = run(&Load { connections: 100, ..load(io, server.addr, 1000) });
    let spent = thread_cpu() - before;
    assert_eq!((outcome.ok, outcome.reconnects), (1000, 0));
    assert_eq!(server.requests(), 1000);
    assert!(Duration::from_nanos(outcome.response.max()) <= outcome.elapsed * 1001 / 1000);
    assert!(outcome.cpu > Duration::ZERO && outcome.cpu <= spent, "{:?} of {spent:?}", outcome.cpu);
}

fn thread_cpu() -> Duration {
    let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(cpu).unwrap()
}

#[test]
fn never_more_is_sent_than_asked_for() {
    let Some(io) = io() else { return };
    let server = pong();
    let outcome = run(&Load { connections: 50, ..load(io, server.addr, 7) });
    assert_eq!((outcome.ok, server.requests()), (7, 7));
}

#[test]
fn a_wrong_body_in_a_hundred_is_counted() {
    let Some(io) = io() else { return };
    let server = Server::start(0, |stream, turn| {
        write(stream, if turn.request % 100 == 0 { PONG.replace("pong", "pink") } else { PONG.into() });
        Then::Keep
    });
    let outcome = run(&Load { connections: 5, ..load(io, server.addr, 1000) });
    assert_eq!(outcome.errors, Errors { body: 10, ..Errors::default() });
    assert_eq!(outcome.reconnects, 0);
    assert_eq!(server.requests(), 1000);
}

#[test]
fn closed_with_notice_after_the_10th_answer() {
    let Some(io) = io() else { return };
    let server = Server::start(0, |stream, turn| {
        let last = turn.on_connection == 10;
        let close = "Connection: close\r\nContent-Length";
        write(stream, if last { PONG.replace("Content-Length", close) } else { PONG.into() });
        if last { Then::Close } else { Then::Keep }
    });
    let outcome = run(&load(io, server.addr, 1000));
    assert_eq!((outcome.ok, outcome.reconnects), (1000, 99));
}

/// However the server's close and the next request cross, the request that is lost counts as `closed`.
#[test]
fn closed_without_notice_after_the_10th_answer() {
    let Some(io) = io() else { return };
    type Close = fn(&mut std::net::TcpStream);
    let at_once: Close = |_| {};
    let late: Close = |_| std::thread::sleep(Duration::from_millis(1));
    let half: Close = |stream| {
        let _ = stream.shutdown(Shutdown::Write);
        std::thread::sleep(Duration::from_millis(1));
    };
    let hard: Close = |stream| {
        set_socket_linger(&*stream, Some(Duration::ZERO)).unwrap();
    };
    for (name, close, cycles) in
        [("at once", at_once, 300), ("late", late, 30), ("half", half, 30), ("hard", hard, 30)]
    {
        let server = Server::start(0, move |stream, turn| {
            write(stream, PONG);
            if turn.on_connection < 10 {
                return Then::Keep;
            }
            close(stream);
            Then::Close
        });
        let outcome = run(&load(io, server.addr, 11 * cycles));
        let expected = Errors { closed: cycles, ..Errors::default() };
        assert_eq!((outcome.errors, outcome.ok), (expected, 10 * cycles), "{name}");
        assert_eq!(outcome.reconnects, cycles - 1, "{name}");
        assert_eq!(server.requests(), 10 * cycles, "{name}");
    }
}

#[test]
fn every_10th_connection_is_closed_without_an_answer() {
    let Some(io) = io() else { return };
    let server = Server::start(0, |stream, turn| {
        if turn.connection % 10 != 0 {
            write(stream, PONG.replace("Content-Length", "Connection: close\r\nContent-Length"));
        }
        Then::Close
    });
    let outcome = run(&load(io, server.addr, 100));
    assert_eq!(outcome.errors, Errors { closed: 10, ..Errors::default() });
    assert_eq!((outcome.ok, outcome.reconnects), (90, 99));
}

#[test]
fn reset_instead_of_an_answer_and_within_one() {
    let Some(io) = io() else { return };
    let errors = Errors::default();
    for (right_before, sent, expected) in [
        (0, 0, Errors { reset: 10, ..errors }),
        (0, 20, Errors { reset: 10, ..errors }),
        (1, 0, Errors { closed: 10, ..errors }),
        (1, 20, Errors { reset: 10, ..errors }),
    ] {
        let server = Server::start(0, move |stream, turn| {
            if turn.on_connection <= right_before {
                write(stream, PONG);
                return Then::Keep;
            }
            write(stream, &PONG[..sent]);
            set_socket_linger(&*stream, Some(Duration::ZERO)).unwrap();
            Then::Close
        });
        let outcome = run(&load(io, server.addr, 10 * (right_before + 1)));
        assert_eq!(outcome.errors, expected, "{sent} bytes after {right_before} right answers");
    }
}

#[test]
fn an_answer_of_single_bytes_is_right() {
    let Some(io) = io() else { return };
    let server = Server::start(0, |stream, _| {
        for byte in PONG.bytes() {
            write(stream, [byte]);
        }
        Then::Keep
    });
    assert_eq!(run(&Load { connections: 3, ..load(io, server.addr, 100) }).ok, 100);
}

#[test]
fn an_answer_of_odd_chunks_is_right() {
    let Some(io) = io() else { return };
    let server = Server::start(0, |stream, turn| {
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                      1;name=\"value\"\r\np\r\n03\r\nong\r\n0\r\nTrailer: yes\r\n\r\n";
        for piece in answer.as_bytes().chunks(1 + turn.request as usize % 17) {
            write(stream, piece);
        }
        Then::Keep
    });
    assert_eq!(run(&Load { connections: 3, ..load(io, server.addr, 100) }).ok, 100);
}

#[test]
fn a_503_counts_as_a_wrong_status_and_keeps_its_connection() {
    let Some(io) = io() else { return };
    let server = always(PONG.replace("200 OK", "503 No"), Then::Keep);
    let outcome = run(&Load { connections: 3, ..load(io, server.addr, 50) });
    assert_eq!(outcome.errors, Errors { status: 50, ..Errors::default() });
    assert_eq!(outcome.reconnects, 0, "a whole answer leaves the connection as it is");
}

#[test]
fn the_status_expected_is_any_2xx_or_the_one_given() {
    let Some(io) = io() else { return };
    let server = always(PONG.replace("200", "206"), Then::Keep);
    let any = Expect::default();
    assert_eq!(run(&wanting(&any, load(io, server.addr, 5))).ok, 5);
    assert_eq!(run(&load(io, server.addr, 5)).errors.status, 5);
    let server = always(PONG.replace("200", "404"), Then::Keep);
    assert_eq!(run(&wanting(&any, load(io, server.addr, 5))).errors.status, 5);
    let missing = Expect { status: Some(404), ..Expect::default() };
    assert_eq!(run(&wanting(&missing, load(io, server.addr, 5))).ok, 5);
}

#[test]
fn a_duration_ends_though_the_server_hangs() {
    let Some(io) = io() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let limit = Limit { requests: None, duration: Some(ms(20)) };
    let outcome = run(&Load { connections: 4, limit, ..load(io, listener.local_addr().unwrap(), 0) });
    assert_eq!((outcome.requests, outcome.elapsed, outcome.intervals.len()), (0, ms(20), 1));
}

#[test]
fn a_refused_connect_counts_as_refused_and_backs_off() {
    let Some(io) = io() else { return };
    let (addr, _port) = nobody();
    let outcome = run(&Load { connections: 10, ..load(io, addr, 50) });
    assert_eq!(outcome.errors, Errors { refused: 50, ..Errors::default() });
    assert!(outcome.elapsed >= ms(40), "no back-off: {:?}", outcome.elapsed);
    assert_eq!(outcome.reconnects, 0);
}

/// Where a connect has no answer: once the listen queue is full the kernel drops what asks to connect, without a word.
fn full() -> (SocketAddr, impl Sized) {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&listener, &"127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
    listen(&listener, 0).unwrap();
    let addr: SocketAddr = getsockname(&listener).unwrap().try_into().unwrap();
    let filling = TcpStream::connect(addr).unwrap();
    (addr, (listener, filling))
}

#[test]
fn a_connect_without_an_answer() {
    let Some(io) = io() else { return };
    let (addr, _listening) = full();
    let outcome = run(&Load { timeout: ms(20), ..load(io, addr, 3) });
    assert_eq!(outcome.errors, Errors { connect: 3, ..Errors::default() });
}

#[test]
fn answers_that_are_nearly_right() {
    let Some(io) = io() else { return };
    let length = |length: &str| PONG.replace("Length: 4", &format!("Length: {length}"));
    let errors = Errors::default();
    for (answer, then, expected) in [
        (PONG[..PONG.len() - 1].to_owned(), Then::Close, Errors { closed: 9, ..errors }),
        (PONG[..10].to_owned(), Then::Close, Errors { closed: 9, ..errors }),
        (length("5"), Then::Close, Errors { closed: 9, ..errors }),
        (length("3"), Then::Keep, Errors { malformed: 9, ..errors }),
        (format!("{PONG}s"), Then::Keep, Errors { malformed: 9, ..errors }),
        (format!("{PONG}s"), Then::Close, Errors { malformed: 9, ..errors }),
        (format!("{PONG}{PONG}"), Then::Keep, Errors { malformed: 9, ..errors }),
        (length("5").replace("pong", "pongs"), Then::Keep, Errors { body: 9, ..errors }),
        (PONG.replace("200", "500"), Then::Keep, Errors { status: 9, ..errors }),
        (PONG.replace("200", "500").replace("pong", "no!!"), Then::Keep, Errors { status: 9, ..errors }),
        ("HTTP/1.1 200 OK\r\n\r\npon".into(), Then::Close, Errors { body: 9, ..errors }),
        ("pong".into(), Then::Keep, Errors { malformed: 9, ..errors }),
    ] {
        let server = always(answer.clone(), then);
        let outcome = run(&load(io, server.addr, 9));
        assert_eq!(outcome.errors, expected, "{answer:?}, {then:?}");
    }
}

#[test]
fn an_answer_that_ends_with_the_connection() {
    let Some(io) = io() else { return };
    let server = always("HTTP/1.0 200 OK\r\n\r\npong", Then::Close);
    let outcome = run(&load(io, server.addr, 50));
    assert_eq!((outcome.ok, outcome.reconnects), (50, 49));
}

/// One connection has nothing left to send and is closed, while another still waits for its answer.
#[test]
fn closing_an_idle_connection_is_no_error() {
    let Some(io) = io() else { return };
    let (closed, seen) = mpsc::channel();
    let (closed, seen) = (Mutex::new(closed), Mutex::new(seen));
    let server = Server::start(0, move |stream, turn| {
        if turn.request == 1 {
            seen.lock().unwrap().recv().unwrap();
            write(stream, PONG);
            return Then::Keep;
        }
        write(stream, PONG);
        stream.shutdown(Shutdown::Write).unwrap();
        // The engine has seen it when it closes its own side.
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        closed.lock().unwrap().send(()).unwrap();
        Then::Close
    });
    let outcome = run(&Load { connections: 2, ..load(io, server.addr, 2) });
    assert_eq!((outcome.ok, outcome.reconnects, server.requests()), (2, 0, 2));
}

#[test]
fn a_body_larger_than_the_socket_takes() {
    let Some(io) = io() else { return };
    let body = vec![b'x'; 8 << 20];
    let server = Server::start(body.len(), |stream, _| {
        write(stream, PONG);
        Then::Keep
    });
    let request = Request { method: "POST".into(), headers: Vec::new(), body };
    let outcome = run(&Load { connections: 2, ..sending(&request, load(io, server.addr, 6)) });
    assert_eq!((outcome.ok, outcome.reconnects, server.requests()), (6, 0, 6));
}

/// The server answers when it has seen the head of a request whose body is still on its way.
#[test]
fn an_answer_before_the_whole_request() {
    let Some(io) = io() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let streams: Vec<_> = (0..3)
            .map(|_| {
                let (mut stream, _) = listener.accept().unwrap();
                write(&mut stream, PONG.replace("200 OK", "413 No"));
                stream
            })
            .collect();
        streams
    });
    let request = Request { method: "POST".into(), headers: Vec::new(), body: vec![b'x'; 8 << 20] };
    let expect = Expect { status: Some(413), ..Expect::default() };
    let outcome = run(&sending(&request, wanting(&expect, load(io, addr, 3))));
    assert_eq!((outcome.ok, outcome.reconnects, server.join().unwrap().len()), (3, 2, 3));
}

#[test]
fn a_body_larger_than_the_buffer() {
    let Some(io) = io() else { return };
    let body: Vec<u8> = (0..1 << 20).map(|i: u32| (i % 251) as u8).collect();
    let answer = [b"HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n", &body[..]].concat();
    let server = always(answer, Then::Keep);
    let expect = Expect { status: Some(200), equals: Some(body.clone()), ..Expect::default() };
    assert_eq!(run(&Load { connections: 2, ..wanting(&expect, load(io, server.addr, 10)) }).ok, 10);
    let mut other = body;
    other[1 << 19] ^= 1;
    let expect = Expect { status: Some(200), equals: Some(other), ..Expect::default() };
    assert_eq!(run(&Load { connections: 2, ..wanting(&expect, load(io, server.addr, 10)) }).errors.body, 10);
}

#[test]
fn a_request_that_asks_to_close() {
    let Some(io) = io() else { return };
    let server = always(PONG, Then::Close);
    let headers = vec![("Connection".into(), "close".into())];
    let request = Request { method: "GET".into(), headers, body: Vec::new() };
    let outcome = run(&sending(&request, load(io, server.addr, 50)));
    assert_eq!((outcome.ok, outcome.reconnects), (50, 49));
}

#[test]
fn a_head_request_has_no_body() {
    let Some(io) = io() else { return };
    let server = always(&PONG[..PONG.len() - 4], Then::Keep);
    let request = Request { method: "HEAD".into(), headers: Vec::new(), body: Vec::new() };
    let expect = Expect { status: Some(200), equals: Some(Vec::new()), ..Expect::default() };
    assert_eq!(run(&sending(&request, wanting(&expect, load(io, server.addr, 10)))).ok, 10);
}

#[test]
fn a_window_after_a_warm_up() {
    let Some(io) = io() else { return };
    let server = pong();
    let limit = Limit { requests: None, duration: Some(ms(50)) };
    let outcome = run(&Load { limit, warm_up: ms(30), connections: 4, ..load(io, server.addr, 0) });
    assert_eq!((outcome.reconnects, outcome.errors), (0, Errors::default()));
    assert_eq!((outcome.elapsed, outcome.intervals.len()), (ms(50), 2));
    let counted = outcome.warm_up_requests + outcome.requests;
    assert!((counted..=counted + 4).contains(&server.requests()), "{} of {}", counted, server.requests());

    let outcome = run(&Load { warm_up: ms(20), connections: 4, ..load(io, server.addr, 20) });
    assert_eq!(outcome.ok, 20);
}

#[test]
fn a_load_that_is_stopped_ends_whatever_the_server_does() {
    let Some(io) = io() else { return };
    let answering = pong();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let hour = Duration::from_secs(3600);
    let limit = Limit { requests: None, duration: Some(hour) };
    for (addr, warm_up) in [
        (answering.addr, Duration::ZERO),
        (silent.local_addr().unwrap(), Duration::ZERO),
        (silent.local_addr().unwrap(), hour),
    ] {
        let stop = AtomicBool::new(false);
        let load = Load { limit, warm_up, timeout: hour, ..load(io, addr, 0) };
        let outcome = load.run(&stop, &mut |_| stop.store(true, Ordering::SeqCst)).unwrap();
        assert!(outcome.stopped);
        assert_eq!(outcome.elapsed.is_zero(), !warm_up.is_zero());
    }
}

#[test]
fn a_load_that_cannot_be_run_is_refused() {
    let Some(io) = io() else { return };
    let nobody = "127.0.0.1:1".parse().unwrap();
    let good = load(io, nobody, 1);
    let none = Limit { requests: None, duration: None };
    let zero = Limit { requests: None, duration: Some(Duration::ZERO) };
    let disturbance = |kind| Some(Disturbance { kind, watch: LONG });
    let pause = disturbance(DisturbanceKind::Pause(LONG));
    let burst = disturbance(DisturbanceKind::Burst(usize::MAX));
    let injection = Request { method: "GET\r\n".into(), headers: Vec::new(), body: Vec::new() };
    for (load, message) in [
        (Load { connections: 0, ..good.clone() }, "no connections"),
        (Load { limit: none, ..good.clone() }, "no limit"),
        (Load { limit: zero, ..good.clone() }, "no limit"),
        (Load { timeout: Duration::ZERO, ..good.clone() }, "time-out of 0"),
        (sending(&injection, good.clone()), "the method"),
        (Load { connections: usize::MAX, ..good.clone() }, "open files"),
        (Load { disturbance: burst, ..timed(io, nobody, 1) }, "open files"),
        (Load { disturbance: pause, ..good.clone() }, "after a duration"),
    ] {
        let error = load.run(&AtomicBool::new(false), &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// More connections at once than a listen queue holds, to a server that accepts them one by one.
#[test]
fn many_connections_to_a_short_listen_queue() {
    let Some(io) = io() else { return };
    const CONNECTIONS: usize = 400;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 128).unwrap();
    let addr = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for _ in 0..CONNECTIONS {
            let (mut stream, _) = listener.accept().unwrap();
            std::thread::spawn(move || server::serve(&mut stream, PONG));
        }
    });
    let outcome = run(&Load { connections: CONNECTIONS, ..load(io, addr, 1200) });
    assert_eq!((outcome.ok, outcome.errors), (1200, Errors::default()));
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_pause_is_told_once_and_so_is_its_end() {
    let Some(io) = io() else { return };
    let server = pong();
    let disturbance = Disturbance { kind: DisturbanceKind::Pause(ms(10)), watch: ms(20) };
    let load = Load { disturbance: Some(disturbance), warm_up: ms(100), ..timed(io, server.addr, 100) };
    let mut told = Vec::new();
    let outcome = run_with(&load, &mut |event| match event {
        Event::Interval(_) => {}
        Event::Pause => told.push("pause"),
        Event::Resume => told.push("resume"),
    });
    assert_eq!(told, ["pause", "resume"]);
    assert_eq!((outcome.elapsed, outcome.errors, outcome.recovery), (ms(100), Errors::default(), None));
    let disturbed = outcome.disturbed.unwrap();
    assert_eq!((disturbed.began, disturbed.burst, disturbed.errors.total()), (ms(100), Burst::default(), 0));
    assert!(disturbed.ended >= ms(110), "{disturbed:?}");
    assert_eq!((disturbed.since, disturbed.until), (disturbed.ended, disturbed.ended + ms(20)));
}

#[test]
fn a_load_that_is_stopped_in_a_pause_resumes_the_server() {
    let Some(io) = io() else { return };
    let server = pong();
    let disturbance = Some(Disturbance { kind: DisturbanceKind::Pause(LONG), watch: LONG });
    let load = Load { disturbance, ..timed(io, server.addr, 20) };
    let stop = AtomicBool::new(false);
    let mut told = Vec::new();
    let outcome = load.run(&stop, &mut |event| match event {
        Event::Interval(_) => {}
        Event::Pause => {
            stop.store(true, Ordering::SeqCst);
            told.push("pause");
        }
        Event::Resume => told.push("resume"),
    });
    let outcome = outcome.unwrap();
    assert_eq!(told, ["pause", "resume"]);
    assert_eq!((outcome.elapsed, outcome.stopped, outcome.disturbed), (ms(20), true, None));
}

/// So many beside the load's own three connections.
fn burst(io: Io, addr: SocketAddr, connections: usize) -> (Outcome, Disturbed) {
    let disturbance = Some(Disturbance { kind: DisturbanceKind::Burst(connections), watch: ms(20) });
    let outcome = run(&Load { disturbance, ..timed(io, addr, 100) });
    let disturbed = outcome.disturbed.unwrap();
    assert_eq!((outcome.elapsed, disturbed.began), (ms(100), ms(100)));
    assert!(disturbed.ended > disturbed.began && disturbed.until >= disturbed.ended + ms(20));
    assert_eq!(disturbed.requests, disturbed.ok + disturbed.errors.total());
    assert_eq!((outcome.errors.total(), outcome.reconnects), (0, 0));
    (outcome, disturbed)
}

#[test]
fn a_burst_is_so_many_requests_beside_the_others() {
    let Some(io) = io() else { return };
    let connections = Arc::new(AtomicU64::new(0));
    let seen = connections.clone();
    let server = Server::start(0, move |stream, turn| {
        seen.fetch_max(turn.connection, Ordering::SeqCst);
        write(stream, PONG);
        Then::Keep
    });
    // More than are begun at a time.
    let (outcome, disturbed) = burst(io, server.addr, 300);
    assert_eq!(disturbed.burst, Burst { ok: 300, errors: 0 });
    assert_eq!((disturbed.errors, connections.load(Ordering::SeqCst)), (Errors::default(), 303));
    let counted = outcome.requests + disturbed.requests;
    assert!((counted..=counted + 3).contains(&server.requests()), "{counted} of {}", server.requests());
    assert_eq!(disturbed.recovery, Recovery { took: Duration::ZERO, complete: false });
}

#[test]
fn a_burst_that_is_dropped() {
    let Some(io) = io() else { return };
    let connections = Arc::new(AtomicU64::new(0));
    let seen = connections.clone();
    let server = Server::start(0, move |stream, turn| {
        seen.fetch_max(turn.connection, Ordering::SeqCst);
        if turn.connection > 3 {
            return Then::Close;
        }
        write(stream, PONG);
        Then::Keep
    });
    let (_, disturbed) = burst(io, server.addr, 100);
    assert_eq!(disturbed.burst, Burst { ok: 0, errors: 100 });
    assert_eq!(disturbed.errors, Errors { closed: 100, ..Errors::default() });
    assert_eq!(connections.load(Ordering::SeqCst), 103, "none is opened again");
}
