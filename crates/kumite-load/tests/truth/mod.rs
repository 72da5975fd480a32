//! The engine against servers whose faults are known: every count must be exact.

mod logged;
mod offered;
mod server;
#[path = "../../../../tests/still.rs"]
mod still;

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use super::io;
use kumite_load::{
    Burst, Check, Disturbance, DisturbanceKind, Disturbed, Errors, Event, Expect, Limit, Load, Outcome,
    Recovery, Request, Target,
};
use rustix::net::sockopt::set_socket_linger;
use server::{PONG, Server, Then, Turn, nobody, write};
use still::{undisturbed, undisturbed_as_seen};

/// Nothing takes so long unless something is wrong, on a machine that stands still for a while neither.
const LONG: Duration = Duration::from_secs(60);
const TIMEOUT: Duration = Duration::from_millis(200);

/// `requests` requests on one connection that want `pong`.
fn load(addr: SocketAddr, requests: u64) -> Load {
    Load {
        expect: Expect { status: Some(200), body: Check::Equals(b"pong".to_vec()) },
        timeout: LONG,
        io: io(),
        ..Load::new(Target::plain(addr), Limit { requests: Some(requests), duration: None })
    }
}

/// For so long, with the time-out that recoveries are measured with.
fn timed(addr: SocketAddr, ms: u64) -> Load {
    let limit = Limit { requests: None, duration: Some(Duration::from_millis(ms)) };
    Load { limit, connections: 3, timeout: TIMEOUT, ..load(addr, 0) }
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
        assert_eq!(outcome.requests, requests);
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
fn right_answers() {
    let server = pong();
    let outcome = run(&Load { connections: 100, ..load(server.addr, 2000) });
    assert_eq!((outcome.ok, outcome.reconnects), (2000, 0));
    assert_eq!(server.requests(), 2000);
    assert!(outcome.response.min() > 1000, "{} ns is no response time", outcome.response.min());
    assert!(Duration::from_nanos(outcome.response.max()) <= outcome.elapsed * 101 / 100);
    assert!(outcome.cpu > Duration::ZERO && outcome.cpu < outcome.elapsed * 2);
}

#[test]
fn never_more_is_sent_than_asked_for() {
    let server = pong();
    let outcome = run(&Load { connections: 50, ..load(server.addr, 7) });
    assert_eq!((outcome.ok, server.requests()), (7, 7));
}

#[test]
fn every_100th_body_is_wrong() {
    let server = Server::start(0, |stream, turn| {
        write(stream, if turn.request % 100 == 0 { PONG.replace("pong", "pink") } else { PONG.into() });
        Then::Keep
    });
    let outcome = run(&Load { connections: 5, ..load(server.addr, 1000) });
    assert_eq!(outcome.errors, Errors { body: 10, ..Errors::default() });
    assert_eq!(outcome.reconnects, 0);
    assert_eq!(server.requests(), 1000);
}

#[test]
fn closed_with_notice_after_the_10th_answer() {
    let server = Server::start(0, |stream, turn| {
        let last = turn.on_connection == 10;
        let close = "Connection: close\r\nContent-Length";
        write(stream, if last { PONG.replace("Content-Length", close) } else { PONG.into() });
        if last { Then::Close } else { Then::Keep }
    });
    let outcome = run(&load(server.addr, 1000));
    assert_eq!((outcome.ok, outcome.reconnects), (1000, 99));
}

/// However the server's close and the next request cross, the request that is lost counts as `closed`.
#[test]
fn closed_without_notice_after_the_10th_answer() {
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
        let outcome = run(&load(server.addr, 11 * cycles));
        let expected = Errors { closed: cycles, ..Errors::default() };
        assert_eq!((outcome.errors, outcome.ok), (expected, 10 * cycles), "{name}");
        assert_eq!(outcome.reconnects, cycles - 1, "{name}");
        assert_eq!(server.requests(), 10 * cycles, "{name}");
    }
}

#[test]
fn every_10th_connection_is_closed_without_an_answer() {
    let server = Server::start(0, |stream, turn| {
        if turn.connection % 10 != 0 {
            write(stream, PONG.replace("Content-Length", "Connection: close\r\nContent-Length"));
        }
        Then::Close
    });
    let outcome = run(&load(server.addr, 100));
    assert_eq!(outcome.errors, Errors { closed: 10, ..Errors::default() });
    assert_eq!((outcome.ok, outcome.reconnects), (90, 99));
}

#[test]
fn reset_instead_of_an_answer_and_within_one() {
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
        let outcome = run(&load(server.addr, 10 * (right_before + 1)));
        assert_eq!(outcome.errors, expected, "{sent} bytes after {right_before} right answers");
    }
}

#[test]
fn a_stall_is_one_slow_answer() {
    let outcome = undisturbed(ms(300), || {
        let server = Server::start(0, |stream, turn| {
            if turn.request == 100 {
                std::thread::sleep(ms(500));
            }
            write(stream, PONG);
            Then::Keep
        });
        let outcome = run(&load(server.addr, 200));
        assert_eq!(outcome.ok, 200);
        assert!(outcome.response.max() >= 500_000_000);
        assert!(outcome.intervals.iter().filter(|i| i.ok == 0).count() >= 3);
        outcome
    });
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.response.iter_recorded().filter(|v| v.value_iterated_to() >= 490_000_000).count(), 1);
}

#[test]
fn a_stall_longer_than_the_time_out_is_one_time_out() {
    let outcome = undisturbed(ms(150), || {
        let server = Server::start(0, |stream, turn| {
            if turn.request == 100 {
                std::thread::sleep(ms(600));
            }
            write(stream, PONG);
            Then::Keep
        });
        run(&Load { timeout: ms(300), ..load(server.addr, 200) })
    });
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.errors, Errors { timeout: 1, ..Errors::default() });
    assert_eq!(outcome.reconnects, 1);
}

/// The engine is kept from looking until the answer has come, too late: it sees the answer before the time-out.
#[test]
fn a_late_answer_is_a_time_out() {
    for late in [PONG.to_owned(), PONG.replace("pong", "pink"), PONG.replace("200", "503"), "?".into()] {
        let outcome = undisturbed(ms(250), || {
            let late = late.clone();
            let server = Server::start(0, move |stream, turn| {
                // Longer than an interval, so that one ends between the second request and its answer.
                std::thread::sleep(ms(if turn.request == 1 { 0 } else { 400 }));
                write(stream, if turn.request == 1 { PONG } else { &late });
                Then::Keep
            });
            let load = Load { timeout: ms(600), ..load(server.addr, 2) };
            let mut on_event = |event: Event| {
                let slow = matches!(event, Event::Interval(interval) if interval.ok > 0);
                std::thread::sleep(ms(if slow { 700 } else { 0 }));
            };
            load.run(&AtomicBool::new(false), &mut on_event).unwrap()
        });
        let Some(outcome) = outcome else { return };
        assert_eq!((outcome.ok, outcome.errors), (1, Errors { timeout: 1, ..Errors::default() }));
    }
}

#[test]
fn one_byte_at_a_time() {
    let server = Server::start(0, |stream, _| {
        for byte in PONG.bytes() {
            write(stream, [byte]);
        }
        Then::Keep
    });
    assert_eq!(run(&Load { connections: 3, ..load(server.addr, 100) }).ok, 100);
}

#[test]
fn chunks_in_odd_pieces() {
    let server = Server::start(0, |stream, turn| {
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                      1;name=\"value\"\r\np\r\n03\r\nong\r\n0\r\nTrailer: yes\r\n\r\n";
        for piece in answer.as_bytes().chunks(1 + turn.request as usize % 17) {
            write(stream, piece);
        }
        Then::Keep
    });
    assert_eq!(run(&Load { connections: 3, ..load(server.addr, 100) }).ok, 100);
}

#[test]
fn always_503() {
    let server = always(PONG.replace("200 OK", "503 No"), Then::Keep);
    let outcome = run(&Load { connections: 3, ..load(server.addr, 50) });
    assert_eq!(outcome.errors, Errors { status: 50, ..Errors::default() });
    assert_eq!(outcome.reconnects, 0, "a whole answer leaves the connection as it is");
}

#[test]
fn any_2xx_or_the_one_status_expected() {
    let server = always(PONG.replace("200", "206"), Then::Keep);
    let any = Expect { status: None, body: Check::Any };
    assert_eq!(run(&Load { expect: any.clone(), ..load(server.addr, 5) }).ok, 5);
    assert_eq!(run(&load(server.addr, 5)).errors.status, 5);
    let server = always(PONG.replace("200", "404"), Then::Keep);
    assert_eq!(run(&Load { expect: any, ..load(server.addr, 5) }).errors.status, 5);
    let missing = Expect { status: Some(404), body: Check::Any };
    assert_eq!(run(&Load { expect: missing, ..load(server.addr, 5) }).ok, 5);
}

/// A listener that never accepts: the kernel takes connections and bytes, no one answers.
#[test]
fn no_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = load(listener.local_addr().unwrap(), 12);
    let silent = Load { connections: 4, timeout: ms(200), ..silent };
    let Some(outcome) = undisturbed(ms(100), || run(&silent)) else { return };
    assert_eq!(outcome.errors, Errors { timeout: 12, ..Errors::default() });
    // One after the other would take 2.4 s.
    assert!((ms(600)..ms(1800)).contains(&outcome.elapsed), "{:?}", outcome.elapsed);
}

#[test]
fn a_duration_ends_though_the_server_hangs() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let limit = Limit { requests: None, duration: Some(ms(250)) };
    let took = undisturbed(ms(100), || {
        let began = Instant::now();
        let outcome = run(&Load { connections: 4, limit, ..load(listener.local_addr().unwrap(), 0) });
        assert_eq!((outcome.requests, outcome.elapsed), (0, ms(250)));
        assert_eq!(outcome.intervals.len(), 3);
        began.elapsed()
    });
    let Some(took) = took else { return };
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn refused() {
    let (addr, _port) = nobody();
    let outcome = undisturbed(ms(100), || {
        let outcome = run(&Load { connections: 10, ..load(addr, 100) });
        assert_eq!(outcome.errors, Errors { refused: 100, ..Errors::default() });
        assert!(outcome.elapsed >= ms(90), "no back-off: {:?}", outcome.elapsed);
        assert_eq!(outcome.reconnects, 0);
        outcome
    });
    let Some(outcome) = outcome else { return };
    assert!(outcome.elapsed < Duration::from_secs(2), "{:?}", outcome.elapsed);
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
    let (addr, _listening) = full();
    let outcome = run(&Load { timeout: Duration::from_millis(80), ..load(addr, 3) });
    assert_eq!(outcome.errors, Errors { connect: 3, ..Errors::default() });
}

#[test]
fn answers_that_are_nearly_right() {
    let length = |length: &str| PONG.replace("Length: 4", &format!("Length: {length}"));
    let errors = Errors::default();
    for (answer, then, expected) in [
        (PONG[..PONG.len() - 1].to_owned(), Then::Close, Errors { closed: 9, ..errors }),
        (PONG[..10].to_owned(), Then::Close, Errors { closed: 9, ..errors }),
        (length("5"), Then::Close, Errors { closed: 9, ..errors }),
        (length("5"), Then::Keep, Errors { timeout: 9, ..errors }),
        (length("3"), Then::Keep, Errors { malformed: 9, ..errors }),
        (format!("{PONG}s"), Then::Keep, Errors { malformed: 9, ..errors }),
        (format!("{PONG}s"), Then::Close, Errors { malformed: 9, ..errors }),
        (format!("{PONG}{PONG}"), Then::Keep, Errors { malformed: 9, ..errors }),
        (length("5").replace("pong", "pongs"), Then::Keep, Errors { body: 9, ..errors }),
        (PONG.replace("200", "500"), Then::Keep, Errors { status: 9, ..errors }),
        (PONG.replace("200", "500").replace("pong", "no!!"), Then::Keep, Errors { status: 9, ..errors }),
        ("HTTP/1.1 200 OK\r\n\r\npon".into(), Then::Close, Errors { body: 9, ..errors }),
        ("HTTP/1.1 200 OK\r\n\r\npong".into(), Then::Keep, Errors { timeout: 9, ..errors }),
        ("pong".into(), Then::Keep, Errors { malformed: 9, ..errors }),
    ] {
        let server = always(answer.clone(), then);
        let outcome = match expected.timeout {
            0 => Some(run(&load(server.addr, 9))),
            _ => undisturbed(ms(60), || run(&Load { timeout: ms(120), ..load(server.addr, 9) })),
        };
        let Some(outcome) = outcome else { continue };
        assert_eq!(outcome.errors, expected, "{answer:?}, {then:?}");
    }
}

#[test]
fn an_answer_that_ends_with_the_connection() {
    let server = always("HTTP/1.0 200 OK\r\n\r\npong", Then::Close);
    let outcome = run(&load(server.addr, 50));
    assert_eq!((outcome.ok, outcome.reconnects), (50, 49));
}

/// One connection has nothing left to send and is closed, while another still waits for its answer.
#[test]
fn closing_an_idle_connection_is_no_error() {
    let server = Server::start(0, |stream, turn| {
        if turn.request == 1 {
            std::thread::sleep(Duration::from_millis(100));
        }
        write(stream, PONG);
        if turn.request == 1 { Then::Keep } else { Then::Close }
    });
    let outcome = run(&Load { connections: 2, ..load(server.addr, 2) });
    assert_eq!((outcome.ok, outcome.reconnects, server.requests()), (2, 0, 2));
}

#[test]
fn a_body_larger_than_the_socket_takes() {
    let body = vec![b'x'; 8 << 20];
    let server = Server::start(body.len(), |stream, _| {
        write(stream, PONG);
        Then::Keep
    });
    let request = Request { method: "POST".into(), headers: Vec::new(), body };
    let outcome = run(&Load { connections: 2, request, ..load(server.addr, 6) });
    assert_eq!((outcome.ok, outcome.reconnects, server.requests()), (6, 0, 6));
}

/// The server answers when it has seen the head of a request whose body is still on its way.
#[test]
fn an_answer_before_the_whole_request() {
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
    let expect = Expect { status: Some(413), body: Check::Any };
    let outcome = run(&Load { request, expect, ..load(addr, 3) });
    assert_eq!((outcome.ok, outcome.reconnects, server.join().unwrap().len()), (3, 2, 3));
}

#[test]
fn a_body_larger_than_the_buffer() {
    let body: Vec<u8> = (0..1 << 20).map(|i: u32| (i % 251) as u8).collect();
    let answer = [b"HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n", &body[..]].concat();
    let server = always(answer, Then::Keep);
    let expect = Expect { status: Some(200), body: Check::Equals(body.clone()) };
    assert_eq!(run(&Load { connections: 2, expect: expect.clone(), ..load(server.addr, 10) }).ok, 10);
    let mut other = body;
    other[1 << 19] ^= 1;
    let expect = Expect { status: Some(200), body: Check::Equals(other) };
    assert_eq!(run(&Load { connections: 2, expect, ..load(server.addr, 10) }).errors.body, 10);
}

#[test]
fn a_request_that_asks_to_close() {
    let server = always(PONG, Then::Close);
    let headers = vec![("Connection".into(), "close".into())];
    let request = Request { method: "GET".into(), headers, body: Vec::new() };
    let outcome = run(&Load { request, ..load(server.addr, 50) });
    assert_eq!((outcome.ok, outcome.reconnects), (50, 49));
}

#[test]
fn a_head_request_has_no_body() {
    let server = always(&PONG[..PONG.len() - 4], Then::Keep);
    let request = Request { method: "HEAD".into(), headers: Vec::new(), body: Vec::new() };
    let expect = Expect { status: Some(200), body: Check::Equals(Vec::new()) };
    assert_eq!(run(&Load { request, expect, ..load(server.addr, 10) }).ok, 10);
}

#[test]
fn a_window_after_a_warm_up() {
    let serve = |wrong_for: Duration| {
        let began = Instant::now();
        Server::start(0, move |stream, _| {
            let wrong = began.elapsed() < wrong_for;
            write(stream, if wrong { PONG.replace("200", "503") } else { PONG.into() });
            std::thread::sleep(ms(1));
            Then::Keep
        })
    };
    let limit = Limit { requests: None, duration: Some(ms(300)) };
    let outcome = undisturbed(ms(50), || {
        let server = serve(ms(100));
        let outcome = run(&Load { limit, warm_up: ms(200), connections: 4, ..load(server.addr, 0) });
        assert_eq!((outcome.reconnects, outcome.elapsed, outcome.intervals.len()), (0, ms(300), 5));
        let counted = outcome.warm_up_requests + outcome.requests;
        assert!((counted..=counted + 4).contains(&server.requests()), "{} of {}", counted, server.requests());
        outcome
    });
    let Some(outcome) = outcome else { return };
    assert!(outcome.warm_up_errors.status > 0 && outcome.warm_up_requests > outcome.warm_up_errors.total());
    assert_eq!(outcome.errors.total(), 0);

    let outcome = undisturbed(ms(30), || {
        let server = serve(Duration::ZERO);
        let outcome = run(&Load { warm_up: ms(50), connections: 4, ..load(server.addr, 20) });
        assert_eq!(outcome.ok, 20);
        outcome
    });
    assert!(outcome.is_none_or(|outcome| outcome.warm_up_requests > 0));
}

#[test]
fn stopped_within_a_tenth_of_a_second() {
    let answering = pong();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let minute = Duration::from_secs(60);
    let limit = Limit { requests: None, duration: Some(minute) };
    for (addr, warm_up) in [
        (answering.addr, Duration::ZERO),
        (silent.local_addr().unwrap(), Duration::ZERO),
        (silent.local_addr().unwrap(), minute),
    ] {
        let stopped = undisturbed(ms(100), || {
            let stop = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let stopped = scope.spawn(|| {
                    std::thread::sleep(ms(150));
                    stop.store(true, Ordering::SeqCst);
                    Instant::now()
                });
                let load = Load { limit, warm_up, timeout: minute, ..load(addr, 0) };
                let outcome = load.run(&stop, &mut |_| {}).unwrap();
                (outcome, stopped.join().unwrap().elapsed())
            })
        });
        let Some((outcome, took)) = stopped else { return };
        assert!(took < ms(500), "{took:?}");
        assert!(outcome.stopped);
        assert_eq!(outcome.ok > 0, addr == answering.addr);
        assert!(outcome.intervals.len() >= 2);
        assert_eq!(outcome.elapsed.is_zero(), !warm_up.is_zero());
    }
}

#[test]
fn loads_that_cannot_be_run() {
    let nobody = "127.0.0.1:1".parse().unwrap();
    let good = load(nobody, 1);
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
        (Load { request: injection, ..good.clone() }, "the method"),
        (Load { connections: usize::MAX, ..good.clone() }, "open files"),
        (Load { disturbance: burst, ..timed(nobody, 1) }, "open files"),
        (Load { disturbance: pause, ..good.clone() }, "after a duration"),
    ] {
        let error = load.run(&AtomicBool::new(false), &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// For how long this thread wanted to run and did not; nothing if the kernel does not keep it.
fn waited_for_cpu() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited = times.split_ascii_whitespace().nth(1).and_then(|time| time.parse().ok());
    Duration::from_nanos(waited.unwrap_or(0))
}

/// More connections at once than a listen queue holds, to a server that accepts slowly: none may wait for the kernel's
/// second try, a second later.
#[test]
fn many_connections_to_a_short_listen_queue() {
    const CONNECTIONS: usize = 400;
    // It must not be slower than 64 of them in 10 ms.
    let outcome = undisturbed_as_seen(ms(8), || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&listener, 128).unwrap();
        let addr = listener.local_addr().unwrap();
        let held_up = Arc::new(AtomicU64::new(0));
        let longest = held_up.clone();
        std::thread::spawn(move || {
            let mut waited = waited_for_cpu();
            for _ in 0..CONNECTIONS {
                let (mut stream, _) = listener.accept().unwrap();
                let accepted = Instant::now();
                std::thread::spawn(move || server::serve(&mut stream, PONG));
                let waits = waited_for_cpu();
                let here = (waits - waited).max(accepted.elapsed());
                longest.fetch_max(here.as_nanos() as u64, Ordering::SeqCst);
                waited = waits;
            }
        });
        // A connect that waits for the second try is too late.
        let outcome = run(&Load { connections: CONNECTIONS, timeout: ms(900), ..load(addr, 1200) });
        (outcome, Duration::from_nanos(held_up.load(Ordering::SeqCst)))
    });
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.errors.connect, 0, "{:?}", outcome.errors);
}

#[test]
fn no_connection_is_under_load_before_every_one_has_had_an_answer() {
    const CONNECTIONS: u64 = 60;
    // It does not wait for longer than a second.
    let early = undisturbed(ms(300), || {
        let (answered, early) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (first, second) = (answered.clone(), early.clone());
        let server = Server::start(0, move |stream, turn: Turn| {
            match turn.on_connection {
                // Counted before the answer is sent, so that the engine cannot know of it earlier.
                1 => first.fetch_add(1, Ordering::SeqCst),
                _ if first.load(Ordering::SeqCst) < CONNECTIONS => second.fetch_add(1, Ordering::SeqCst),
                _ => 0,
            };
            write(stream, PONG);
            Then::Keep
        });
        let outcome = run(&Load { connections: CONNECTIONS as usize, ..load(server.addr, 600) });
        assert_eq!((outcome.ok, answered.load(Ordering::SeqCst)), (600, CONNECTIONS));
        early.load(Ordering::SeqCst)
    });
    assert!(early.is_none_or(|early| early == 0), "second requests before the last first answer: {early:?}");
}

#[test]
fn a_server_that_takes_only_some_connections_is_not_kept_waiting_for_the_others() {
    let outcome = undisturbed(ms(200), || {
        // Two are taken and answered, the others stay in the queue.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let _serving: Vec<_> = (0..2)
            .map(|_| {
                let listener = listener.try_clone().unwrap();
                std::thread::spawn(move || {
                    let (mut stream, _) = listener.accept().unwrap();
                    server::serve(&mut stream, PONG);
                })
            })
            .collect();
        let limit = Limit { requests: None, duration: Some(ms(1500)) };
        let outcome = run(&Load { connections: 6, limit, ..load(addr, 0) });
        assert_eq!(outcome.errors, Errors::default(), "the others are in flight when it ends");
        outcome
    });
    // Each of the two has its first one at once.
    assert!(outcome.as_ref().is_none_or(|outcome| outcome.ok > 10), "{outcome:?}");
}

/// A server that can be stopped, from the moment that is set on; and again let go on, from a moment that may be later.
#[derive(Clone)]
struct Stoppable(Arc<Mutex<(Option<Instant>, Option<Instant>)>>);

impl Stoppable {
    fn new() -> Stoppable {
        Stoppable(Arc::new(Mutex::new((None, None))))
    }

    fn stop(&self, from: Instant, until: Option<Instant>) {
        *self.0.lock().unwrap() = (Some(from), until);
    }

    fn is_stopped(&self) -> bool {
        let (from, until) = *self.0.lock().unwrap();
        let now = Instant::now();
        from.is_some_and(|from| now >= from) && until.is_none_or(|until| now < until)
    }

    /// Takes a millisecond for each answer, so that it needs little CPU.
    fn serve(&self) -> Server {
        let stoppable = self.clone();
        Server::start(0, move |stream, _| {
            std::thread::sleep(Duration::from_millis(1));
            while stoppable.is_stopped() {
                std::thread::sleep(Duration::from_millis(1));
            }
            write(stream, PONG);
            Then::Keep
        })
    }
}

impl Drop for Stoppable {
    fn drop(&mut self) {
        self.stop(Instant::now(), Some(Instant::now()));
    }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_server_that_comes_back_has_recovered() {
    let outcome = undisturbed(ms(50), || {
        let server = Stoppable::new();
        let running = server.serve();
        let begin = Instant::now() + ms(150);
        server.stop(begin, Some(begin + ms(700)));
        run(&timed(running.addr, 1400))
    });
    let Some(outcome) = outcome else { return };
    // The first time-out is 200 ms after the stop.
    let Recovery { took, complete } = outcome.recovery.unwrap();
    assert!(complete);
    assert!((ms(300)..ms(900)).contains(&took), "{took:?}");
    assert!((3..=12).contains(&outcome.errors.timeout), "{:?}", outcome.errors);
}

#[test]
fn a_server_that_never_comes_back_has_not() {
    let outcome = undisturbed(ms(50), || {
        let server = Stoppable::new();
        let running = server.serve();
        server.stop(Instant::now() + ms(100), None);
        run(&timed(running.addr, 900))
    });
    let Some(outcome) = outcome else { return };
    let Recovery { took, complete } = outcome.recovery.unwrap();
    assert!(!complete);
    assert!(
        (ms(300)..ms(700)).contains(&took),
        "from the first time-out, about 300 ms after the start, to the end: {took:?}"
    );
}

/// Stops a server for 450 ms, and so much longer, after a window of 300 ms. It comes back between two time-outs.
fn paused(longer: Option<Duration>) -> (Vec<(&'static str, Duration)>, Duration, Outcome) {
    let server = Stoppable::new();
    let running = server.serve();
    let disturbance = Disturbance { kind: DisturbanceKind::Pause(ms(450)), watch: ms(1000) };
    let load = Load { disturbance: Some(disturbance), warm_up: ms(100), ..timed(running.addr, 300) };
    let began = Instant::now();
    let mut told = Vec::new();
    let outcome = run_with(&load, &mut |event| match event {
        Event::Interval(_) => {}
        Event::Pause => {
            told.push(("pause", began.elapsed()));
            server.stop(Instant::now(), None);
        }
        Event::Resume => {
            told.push(("resume", began.elapsed()));
            server.stop(Instant::now(), longer.map(|longer| Instant::now() + longer));
        }
    });
    (told, began.elapsed(), outcome)
}

fn paused_as_told((told, all, outcome): (Vec<(&'static str, Duration)>, Duration, Outcome)) -> Disturbed {
    assert_eq!(told.iter().map(|(what, _)| *what).collect::<Vec<_>>(), ["pause", "resume"]);
    let (pause, resume) = (told[0].1, told[1].1);
    assert!((ms(400)..ms(600)).contains(&pause), "{pause:?}");
    assert!((ms(450)..ms(650)).contains(&(resume - pause)), "{pause:?}, {resume:?}");

    assert_eq!((outcome.elapsed, outcome.errors.total(), outcome.recovery), (ms(300), 0, None));
    let disturbed = outcome.disturbed.unwrap();
    assert_eq!((disturbed.began, disturbed.burst), (ms(300), Burst::default()));
    assert!((ms(750)..ms(1150)).contains(&disturbed.ended), "{:?}", disturbed.ended);
    assert_eq!((disturbed.since, disturbed.until), (disturbed.ended, disturbed.ended + ms(1000)));
    assert!((all - ms(100)).saturating_sub(disturbed.until) < ms(300), "{all:?}, {:?}", disturbed.until);
    assert!(disturbed.errors.timeout >= 3 && disturbed.errors.timeout == disturbed.errors.total());
    disturbed
}

#[test]
fn a_server_that_was_paused() {
    let all = || {
        std::thread::scope(|scope| {
            [Some(Duration::ZERO), Some(ms(500)), None]
                .map(|longer| scope.spawn(move || paused(longer)))
                .map(|paused| paused.join().unwrap())
        })
    };
    let Some(all) = undisturbed(ms(50), all) else { return };
    let [at_once, later, never] = all.map(paused_as_told);
    let Disturbed { recovery, first_right, .. } = at_once;
    assert!(recovery.complete && recovery.took < ms(300), "{recovery:?}");
    assert!(first_right.unwrap() <= recovery.took, "{first_right:?}");
    let Disturbed { recovery, first_right, .. } = later;
    assert!(recovery.complete && (ms(490)..ms(900)).contains(&recovery.took), "{recovery:?}");
    assert!(first_right.unwrap() <= recovery.took, "{first_right:?}");
    let Disturbed { recovery, first_right, .. } = never;
    assert_eq!((recovery, first_right), (Recovery { took: ms(1000), complete: false }, None));
}

#[test]
fn who_is_stopped_in_a_pause_resumes_the_server() {
    let server = pong();
    let disturbance = Some(Disturbance { kind: DisturbanceKind::Pause(LONG), watch: LONG });
    let load = Load { disturbance, ..timed(server.addr, 100) };
    let outcome = undisturbed(ms(50), || {
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
        assert_eq!((outcome.elapsed, outcome.stopped, outcome.disturbed), (ms(100), true, None));
        outcome
    });
    assert!(outcome.is_none_or(|outcome| outcome.ok > 0));
}

fn burst(addr: SocketAddr, connections: usize, timeout: Duration) -> Outcome {
    let disturbance = Some(Disturbance { kind: DisturbanceKind::Burst(connections), watch: ms(700) });
    run(&Load { disturbance, timeout, ..timed(addr, 200) })
}

/// With this time-out, and where nothing was held up.
fn burst_as_watched(outcome: Outcome, timeout: Duration) -> (Outcome, Disturbed) {
    let disturbed = outcome.disturbed.unwrap();
    assert_eq!((outcome.elapsed, disturbed.began), (ms(200), ms(200)));
    let injected = disturbed.ended - disturbed.began;
    assert!(injected > Duration::ZERO && injected < ms(150), "{injected:?}: it does not wait for answers");
    assert!(
        disturbed.since == disturbed.ended
            || disturbed.since > disturbed.ended && disturbed.errors.total() > 0
    );
    let watched = disturbed.until - disturbed.ended;
    assert!((ms(700)..ms(900) + timeout * 2).contains(&watched), "{watched:?}");
    assert_eq!(disturbed.requests, disturbed.ok + disturbed.errors.total());
    assert_eq!((outcome.errors.total(), outcome.reconnects), (0, 0));
    (outcome, disturbed)
}

/// Answers, after a millisecond, what comes on one of the load's own three connections; what comes on another it hands
/// to `other`.
fn on_its_own(other: fn(&mut TcpStream) -> Then) -> (Server, Arc<AtomicU64>) {
    let connections = Arc::new(AtomicU64::new(0));
    let seen = connections.clone();
    let server = Server::start(0, move |stream, turn| {
        seen.fetch_max(turn.connection, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(1));
        if turn.connection > 3 {
            return other(stream);
        }
        write(stream, PONG);
        Then::Keep
    });
    (server, connections)
}

#[test]
fn a_burst_is_so_many_requests_beside_the_others() {
    let found = undisturbed(ms(50), || {
        let (server, connections) = on_its_own(|stream| {
            write(stream, PONG);
            Then::Keep
        });
        // More than are begun at a time.
        let outcome = burst(server.addr, 300, LONG);
        let disturbed = outcome.disturbed.unwrap();
        assert_eq!(disturbed.burst, Burst { ok: 300, errors: 0 });
        assert_eq!((disturbed.errors, connections.load(Ordering::SeqCst)), (Errors::default(), 303));
        let counted = outcome.requests + disturbed.requests;
        assert!((counted..=counted + 3).contains(&server.requests()), "{counted} of {}", server.requests());
        outcome
    });
    let Some(outcome) = found else { return };
    let (_, disturbed) = burst_as_watched(outcome, LONG);
    assert!(disturbed.ok > 300 + 100, "{} with those of the others", disturbed.ok);
    let unconfirmed = Recovery { took: Duration::ZERO, complete: false };
    assert_eq!(disturbed.recovery, unconfirmed, "none failed, but it was watched for less than a time-out");
    let first_right = disturbed.first_right.unwrap();
    assert!(first_right < ms(150), "{first_right:?}");
}

#[test]
fn a_burst_that_is_dropped() {
    let found = undisturbed(ms(50), || {
        let (server, connections) = on_its_own(|_| Then::Close);
        (burst(server.addr, 100, TIMEOUT), connections.load(Ordering::SeqCst))
    });
    let Some((outcome, connections)) = found else { return };
    let (_, disturbed) = burst_as_watched(outcome, TIMEOUT);
    assert_eq!(disturbed.burst, Burst { ok: 0, errors: 100 });
    assert_eq!(disturbed.errors, Errors { closed: 100, ..Errors::default() });
    assert_eq!(connections, 103, "none is opened again");
    let Recovery { took, complete } = disturbed.recovery;
    assert!(complete && took > Duration::ZERO && took < ms(200), "{took:?}");
    assert!(disturbed.first_right.unwrap() <= took, "{:?}", disturbed.first_right);
}

/// Has each request answered after a millisecond, by `answer`, which is told whether it is of the burst of 20, and how
/// long the first one of those has been here; then a burst of 20.
fn burst_on<F>(answer: impl Fn() -> F) -> Option<Disturbed>
where
    F: Fn(&mut TcpStream, bool, Duration) -> Then + Send + Sync + 'static,
{
    let outcome = undisturbed(ms(50), || {
        let (first, answer) = (OnceLock::new(), answer());
        let server = Server::start(0, move |stream, turn| {
            std::thread::sleep(ms(1));
            // Connections are opened again only after the burst's.
            let of_burst = (4..=23).contains(&turn.connection);
            if of_burst {
                first.get_or_init(Instant::now);
            }
            answer(stream, of_burst, first.get().map_or(Duration::ZERO, Instant::elapsed))
        });
        burst(server.addr, 20, TIMEOUT)
    });
    Some(burst_as_watched(outcome?, TIMEOUT).1)
}

#[test]
fn a_server_that_a_burst_hangs_up_has_not_recovered_at_once() {
    let disturbed = burst_on(|| {
        |stream: &mut TcpStream, _, since| {
            if since > Duration::ZERO {
                std::thread::sleep(ms(450).saturating_sub(since));
            }
            write(stream, PONG);
            Then::Keep
        }
    });
    let Some(disturbed) = disturbed else { return };
    assert_eq!(disturbed.burst, Burst { ok: 0, errors: 20 });
    let Recovery { took, complete } = disturbed.recovery;
    assert!(complete && (ms(150)..ms(600)).contains(&took), "from the first time-out: {took:?}");
    let since = disturbed.since - disturbed.ended;
    assert!((ms(150)..ms(350)).contains(&since), "{since:?}");
    assert_eq!(disturbed.first_right, Some(took));
}

#[test]
fn recovery_does_not_wait_for_the_last_request_of_a_burst() {
    // The burst's time out 200 ms before the server is right again; the others fail all the time.
    let disturbed = burst_on(|| {
        |stream: &mut TcpStream, of_burst, since| {
            if since > Duration::ZERO && since < ms(400) {
                std::thread::sleep(if of_burst { ms(400) - since } else { ms(10) });
                return Then::Close;
            }
            write(stream, PONG);
            Then::Keep
        }
    });
    let Some(disturbed) = disturbed else { return };
    assert_eq!(disturbed.burst, Burst { ok: 0, errors: 20 });
    let Recovery { took, complete } = disturbed.recovery;
    assert!(complete && (ms(300)..ms(600)).contains(&took), "from the first that was closed: {took:?}");
}

#[test]
fn a_stray_failure_after_a_burst_takes_only_its_own_time() {
    let disturbed = burst_on(|| {
        let struck = AtomicBool::new(false);
        move |stream: &mut TcpStream, _, since| {
            if since >= ms(200) && !struck.swap(true, Ordering::SeqCst) {
                return Then::Close;
            }
            write(stream, PONG);
            Then::Keep
        }
    });
    let Some(disturbed) = disturbed else { return };
    assert_eq!(disturbed.burst, Burst { ok: 20, errors: 0 });
    assert_eq!(disturbed.errors, Errors { closed: 1, ..Errors::default() });
    let Recovery { took, complete } = disturbed.recovery;
    assert!(complete && took > Duration::ZERO && took < ms(100), "{took:?}");
    assert_eq!(disturbed.first_right, Some(took));
}

#[test]
fn a_burst_that_hangs_is_watched_from_its_time_outs() {
    let outcome = undisturbed(ms(50), || {
        let (server, _) = on_its_own(|stream| {
            let _ = std::io::Read::read(stream, &mut [0]);
            Then::Close
        });
        burst(server.addr, 20, TIMEOUT)
    });
    let Some(outcome) = outcome else { return };
    let (_, disturbed) = burst_as_watched(outcome, TIMEOUT);
    assert_eq!(disturbed.burst, Burst { ok: 0, errors: 20 });
    assert_eq!(disturbed.errors, Errors { timeout: 20, ..Errors::default() });
    let watched = disturbed.until - disturbed.ended;
    assert!((ms(900)..ms(1100)).contains(&watched), "{watched:?}");
    let Recovery { took, complete } = disturbed.recovery;
    assert!(complete && took < ms(100), "the others were right all the time: {took:?}");
}

#[test]
fn all_connects_of_a_burst_are_in_flight_at_once() {
    let disturbed = undisturbed(ms(100), || {
        let (addr, _listening) = full();
        let disturbance = Some(Disturbance { kind: DisturbanceKind::Burst(300), watch: Duration::ZERO });
        let disturbed = run(&Load { disturbance, ..timed(addr, 50) }).disturbed.unwrap();
        assert_eq!(disturbed.burst, Burst { ok: 0, errors: 300 });
        assert_eq!(disturbed.errors.connect, disturbed.requests);
        disturbed
    });
    let Some(disturbed) = disturbed else { return };
    let took = disturbed.until - disturbed.began;
    // On a machine that is taken away for a while; 50 at a time would take six time-outs.
    assert!((TIMEOUT..TIMEOUT * 5).contains(&took), "{took:?} for a time-out of {TIMEOUT:?}");
    assert!(!disturbed.recovery.complete && disturbed.first_right.is_none());
}

#[test]
fn the_first_second_and_the_intervals_of_the_warm_up() {
    let server = Stoppable::new().serve();
    let outcome = run(&Load { warm_up: ms(250), timeout: LONG, ..timed(server.addr, 850) });
    let starts: Vec<i64> = outcome.intervals.iter().map(|interval| interval.start_ms).collect();
    assert_eq!(starts, (-3..9).map(|i| i * 100).collect::<Vec<_>>());
    let first = outcome.first_second.unwrap();
    let before = |end: i64| outcome.intervals.iter().filter(|i| i.start_ms < end).map(|i| i.ok).sum::<u64>();
    assert!((before(700)..=before(800)).contains(&first), "{first} up to 750 ms");
    assert_eq!(run(&timed(server.addr, 100)).first_second, None);
}
