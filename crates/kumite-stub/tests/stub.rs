//! The stub through real sockets. Nothing may be early, and nothing miscounted; how late it is depends on the machine, and
//! is no test's business.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use kumite_stub::{Config, Delay, Error, FailureKind, Failures, OverLimit, Running, Stall, Stub};
use rustix::net::sockopt::set_socket_linger;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\npong";
/// Nothing takes so long unless something is wrong.
const LONG: Duration = Duration::from_secs(60);

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn start(config: Config) -> Running {
    Stub::start(config).unwrap()
}

fn delayed(spec: &str) -> Config {
    Config { delay: spec.parse().unwrap(), ..Config::default() }
}

struct Client(TcpStream);

impl Client {
    fn new(addr: SocketAddr) -> Client {
        let stream = TcpStream::connect(addr).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client(stream)
    }

    fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    /// So many bytes.
    fn read(&mut self, count: usize) -> String {
        let mut bytes = vec![0; count];
        self.0.read_exact(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// One answer with a body, and its status.
    fn status(&mut self) -> u16 {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            head += &self.read(1);
        }
        let length = head.split("Content-Length: ").nth(1).unwrap().lines().next().unwrap();
        self.read(length.parse().unwrap());
        head[9..12].parse().unwrap()
    }

    /// Sends a GET, and the time from then to its whole answer.
    fn get(&mut self) -> Duration {
        let begin = Instant::now();
        self.send(GET);
        assert_eq!(self.read(ANSWER.len()), ANSWER);
        begin.elapsed()
    }

    fn rest(&mut self) -> String {
        let mut text = String::new();
        self.0.read_to_string(&mut text).unwrap();
        text
    }
}

#[test]
fn each_answer_takes_as_long_as_was_drawn_for_it() {
    for spec in ["5ms", "uniform:1ms..9ms", "bimodal:100us,20ms@0.2", "lognormal:2ms,2.0"] {
        let stub = start(Config { seed: 7, ..delayed(spec) });
        let mut client = Client::new(stub.addr);
        let delay: Delay = spec.parse().unwrap();
        for (nth, drawn) in delay.draws(7).take(30).enumerate() {
            let took = client.get();
            assert!(took >= drawn, "{spec}: number {nth} took {took:?}, {drawn:?} was drawn");
        }
        let report = stub.stop().unwrap();
        assert_eq!((report.requests, report.answers, report.lateness.len()), (30, 30, 30));
    }
}

#[test]
fn a_request_can_ask_for_its_delay_and_shifts_no_other() {
    let stub = start(Config { seed: 3, ..delayed("bimodal:0,1h@0.5") });
    let mut client = Client::new(stub.addr);
    let delay: Delay = "bimodal:0,1h@0.5".parse().unwrap();
    for drawn in delay.draws(3).take(20) {
        if drawn.is_zero() {
            client.get();
        } else {
            let begin = Instant::now();
            client.send(b"GET /x?a=b&delay=5ms HTTP/1.1\r\n\r\n");
            client.read(ANSWER.len());
            assert!(begin.elapsed() >= ms(5));
        }
    }
}

#[test]
fn pipelined_requests_are_answered_in_order_one_after_the_other() {
    let failures = Failures { share: 0.4, kind: FailureKind::Status(503) };
    let stub = start(Config { failures: Some(failures), seed: 5, ..delayed("2ms") });
    let mut client = Client::new(stub.addr);
    let begin = Instant::now();
    // More than one buffer of them, with bodies between.
    let padding = "x".repeat(5000);
    let request = format!("POST / HTTP/1.1\r\nContent-Length: 5000\r\n\r\n{padding}");
    client.send(request.repeat(40).as_bytes());
    for (nth, fails) in failures.draws(5).take(40).enumerate() {
        assert_eq!(client.status(), if fails { 503 } else { 200 }, "number {nth}");
        assert!(begin.elapsed() >= ms(2) * (nth as u32 + 1), "number {nth} was early");
    }
    let report = stub.stop().unwrap();
    let errors = failures.draws(5).take(40).filter(|fails| *fails).count() as u64;
    assert_eq!((report.requests, report.answers, report.errors), (40, 40, errors));
}

#[test]
fn many_pipelined_requests_without_a_delay_are_answered() {
    let stub = start(Config::default());
    let mut client = Client::new(stub.addr);
    let mut writer = client.0.try_clone().unwrap();
    let sending = thread::spawn(move || writer.write_all(&GET.repeat(20_000)).unwrap());
    for _ in 0..20_000 {
        assert_eq!(client.read(ANSWER.len()), ANSWER);
    }
    sending.join().unwrap();
    let report = stub.stop().unwrap();
    assert_eq!((report.requests, report.answers, report.accepted), (20_000, 20_000, 1));
}

#[test]
fn the_share_of_failures_is_exactly_that_of_the_seed() {
    let failures = Failures { share: 0.1, kind: FailureKind::Reset };
    let stub = start(Config { failures: Some(failures), seed: 9, ..Config::default() });
    let mut client = Client::new(stub.addr);
    let mut resets = 0;
    for fails in failures.draws(9).take(500) {
        client.send(GET);
        let mut answer = vec![0; ANSWER.len()];
        match client.0.read_exact(&mut answer) {
            Ok(()) => assert!(!fails),
            Err(error) => {
                assert!(fails);
                assert_eq!(error.kind(), ErrorKind::ConnectionReset);
                resets += 1;
                client = Client::new(stub.addr);
            }
        }
    }
    assert!(resets > 0);
    let report = stub.stop().unwrap();
    assert_eq!((report.requests, report.answers, report.resets), (500, 500 - resets, resets));
    assert_eq!((report.errors, report.unanswered, report.accepted), (0, 0, resets + 1));
}

#[test]
fn no_more_than_the_workers_are_at_work() {
    for workers in [1, 2] {
        let stub = start(Config { workers: Some(workers), ..delayed("10ms") });
        let mut clients: Vec<Client> = (0..7).map(|_| Client::new(stub.addr)).collect();
        let begin = Instant::now();
        for client in &mut clients {
            client.send(GET);
        }
        let mut took: Vec<Duration> = thread::scope(|scope| {
            let read = |client: &'_ mut Client| {
                client.read(ANSWER.len());
                begin.elapsed()
            };
            let threads: Vec<_> =
                clients.iter_mut().map(|client| scope.spawn(move || read(client))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        took.sort();
        for (nth, took) in took.iter().enumerate() {
            let least = ms(10) * (nth / workers + 1) as u32;
            assert!(*took >= least, "{workers} workers: number {nth} took {took:?}");
        }
        let report = stub.stop().unwrap();
        assert_eq!((report.requests, report.answers), (7, 7));
        assert!(report.longest_queue <= 7 - workers as u64);
    }
}

#[test]
fn a_client_that_goes_is_counted_and_harms_no_other() {
    const DELAY: Duration = ms(200);
    let stub = start(Config::default());
    let mut client = Client::new(stub.addr);
    let mut goes = || {
        let mut gone = Client::new(stub.addr);
        let sent = Instant::now();
        gone.send(b"GET /?delay=200ms HTTP/1.1\r\n\r\n");
        // The request that came first was read first: the stub has begun with it when this one has its answer.
        client.get();
        set_socket_linger(&gone.0, Some(Duration::ZERO)).unwrap();
        drop(gone);
        client.get();
        sent.elapsed() < DELAY
    };
    // On a machine that stands still it may have had its answer before it went.
    let went = (1..).find(|_| goes()).unwrap();
    // Due later than that of the one that is gone.
    client.send(b"GET /?delay=200ms HTTP/1.1\r\n\r\n");
    assert_eq!(client.read(ANSWER.len()), ANSWER);
    let report = stub.stop().unwrap();
    assert_eq!((report.requests, report.answers + report.unanswered), (3 * went + 1, 3 * went + 1));
    assert!((1..=went).contains(&report.unanswered), "{} of {went}", report.unanswered);
    assert_eq!(report.lateness.len(), report.answers);
}

#[test]
fn connections_too_many_wait_or_are_closed() {
    let limited = |over_limit| start(Config { connections: Some(2), over_limit, ..Config::default() });

    let stub = limited(OverLimit::Wait);
    let (mut first, mut second) = (Client::new(stub.addr), Client::new(stub.addr));
    first.get();
    second.get();
    let mut third = Client::new(stub.addr);
    third.send(GET);
    third.0.set_read_timeout(Some(ms(100))).unwrap();
    let silence = || third.0.read(&mut [0]).unwrap_err().kind();
    let mut kinds = std::iter::repeat_with(silence).skip_while(|kind| *kind == ErrorKind::Interrupted);
    assert_eq!(kinds.next(), Some(ErrorKind::WouldBlock));
    second.get();
    drop(first);
    third.0.set_read_timeout(Some(LONG)).unwrap();
    assert_eq!(third.read(ANSWER.len()), ANSWER);
    let report = stub.stop().unwrap();
    assert_eq!((report.accepted, report.most_connections, report.refused, report.answers), (3, 2, 0, 4));

    let stub = limited(OverLimit::Close);
    let (mut first, mut second) = (Client::new(stub.addr), Client::new(stub.addr));
    first.get();
    second.get();
    assert_eq!(Client::new(stub.addr).rest(), "", "it is closed");
    first.get();
    drop(first);
    // It may not be seen at once that there is room again.
    let limit = Instant::now() + LONG;
    let mut refused = 1;
    loop {
        let mut fourth = Client::new(stub.addr);
        let mut answer = vec![0; ANSWER.len()];
        if fourth.0.write_all(GET).is_ok() && fourth.0.read_exact(&mut answer).is_ok() {
            break;
        }
        refused += 1;
        assert!(Instant::now() < limit);
    }
    let report = stub.stop().unwrap();
    assert_eq!((report.accepted, report.most_connections, report.refused), (3, 2, refused));
}

#[test]
fn nothing_is_done_in_a_stall() {
    let stall = Stall { at: ms(50), length: ms(150), every: Some(ms(300)) };
    let stub = start(Config { stall: Some(stall), ..Config::default() });
    let mut delayed = Client::new(stub.addr);
    delayed.send(b"GET /?delay=60ms HTTP/1.1\r\n\r\n");
    let mut at_once = Client::new(stub.addr);
    at_once.get();
    // By now it has begun, and what is sent can only be answered after its end.
    for (asleep, end) in [(ms(60), ms(200)), (ms(360), ms(500))] {
        thread::sleep(asleep.saturating_sub(stub.start.elapsed()));
        let mut new = Client::new(stub.addr);
        at_once.send(GET);
        new.send(GET);
        for client in [&mut at_once, &mut new] {
            client.read(ANSWER.len());
            let at = stub.start.elapsed();
            assert!(at >= end, "{at:?}");
        }
    }
    delayed.read(ANSWER.len());
    let report = stub.stop().unwrap();
    assert_eq!((report.requests, report.answers, report.accepted), (6, 6, 4));
}

#[test]
fn what_was_due_in_a_stall_is_answered_after_it() {
    let stall = Stall { at: ms(50), length: ms(150), every: None };
    let stub = start(Config { stall: Some(stall), ..delayed("60ms") });
    Client::new(stub.addr).get();
    assert!(stub.start.elapsed() >= ms(200), "{:?}", stub.start.elapsed());
}

#[test]
fn a_stub_can_be_stopped_in_a_stall() {
    let stall = Stall { at: ms(0), length: Duration::from_secs(3600), every: None };
    let stub = start(Config { stall: Some(stall), ..Config::default() });
    let mut client = Client::new(stub.addr);
    client.send(GET);
    assert_eq!(stub.stop().unwrap().requests, 0);
    assert!(client.0.read_to_string(&mut String::new()).is_err(), "it never took the connection");
}

#[test]
fn its_counts_are_those_of_its_clients() {
    let stub = start(delayed("uniform:0..2ms"));
    let (addr, together) = (stub.addr, Barrier::new(20));
    thread::scope(|scope| {
        for nth in 0..20 {
            let together = &together;
            scope.spawn(move || {
                let mut client = Client::new(addr);
                client.get();
                together.wait();
                for _ in 0..nth {
                    client.get();
                }
            });
        }
    });
    let report = stub.stop().unwrap();
    assert_eq!((report.requests, report.answers), (20 + 190, 20 + 190));
    assert_eq!((report.accepted, report.most_connections, report.refused), (20, 20, 0));
    assert_eq!((report.errors, report.resets, report.unanswered, report.malformed), (0, 0, 0, 0));
    assert_eq!(report.lateness.len(), 210);
    assert!(report.cpu > Duration::ZERO && report.cpu < report.duration * 2);
}

#[test]
fn what_is_not_answered_by_the_end_is_counted() {
    let stub = start(delayed("1h"));
    let mut client = Client::new(stub.addr);
    client.send(b"GET / HTTP/1.1\r\n\r\nGET /?delay=0 HTTP/1.1\r\n\r\n");
    let mut other = Client::new(stub.addr);
    other.send(b"GET /?delay=0 HTTP/1.1\r\n\r\n");
    other.read(ANSWER.len());
    let report = stub.stop().unwrap();
    assert_eq!(client.rest(), "");
    assert_eq!(
        (report.requests, report.answers, report.unanswered),
        (2, 1, 1),
        "the pipelined one was not read"
    );
}

#[test]
fn connections_end_when_they_should() {
    let last = ANSWER.replace("\r\n\r\npong", "\r\nConnection: close\r\n\r\npong");
    let stub = start(Config { close_after: Some(3), ..Config::default() });
    for (sent, answers) in [
        ("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", last.clone()),
        ("GET / HTTP/1.0\r\n\r\n", last.clone()),
        (&"GET / HTTP/1.1\r\n\r\n".repeat(3), [ANSWER, ANSWER, &last].concat()),
        (
            "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nHEAD / HTTP/1.1\r\nConnection: close\r\n\r\n",
            last.replace("close", "keep-alive") + last.trim_end_matches("pong"),
        ),
    ] {
        let mut client = Client::new(stub.addr);
        client.send(sent.as_bytes());
        assert_eq!(client.rest(), answers, "{sent:?}");
    }
    let mut half_closed = Client::new(stub.addr);
    half_closed.send(b"GET /?delay=20ms HTTP/1.1\r\n\r\n");
    half_closed.0.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(half_closed.rest(), ANSWER);
    let report = stub.stop().unwrap();
    assert_eq!((report.requests, report.answers, report.accepted), (8, 8, 5));
}

#[test]
fn what_is_no_request_gets_a_400_and_an_end() {
    let stub = start(Config::default());
    for sent in [
        "ping\r\n\r\n".to_owned(),
        format!("GET / HTTP/1.1\r\n\r\nGET /?delay=soon HTTP/1.1\r\n\r\n{}", "x".repeat(300_000)),
        format!("GET /{}", "x".repeat(300_000)),
    ] {
        let mut client = Client::new(stub.addr);
        client.send(sent.as_bytes());
        client.0.shutdown(std::net::Shutdown::Write).unwrap();
        let said = client.rest();
        assert!(said.contains("HTTP/1.1 400 Bad Request\r\n"), "{said}");
        assert!(said.ends_with("Connection: close\r\n\r\nmalformed request\n"), "{said}");
    }
    let report = stub.stop().unwrap();
    assert_eq!((report.malformed, report.requests, report.answers, report.unanswered), (3, 1, 1, 0));
}

#[test]
fn long_bodies_go_both_ways() {
    let body = "b".repeat(8 << 20);
    let stub = start(Config { body: body.clone().into_bytes(), ..Config::default() });
    let mut client = Client::new(stub.addr);
    client.send(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n");
    let go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    assert_eq!(client.read(go_on.len()), go_on);
    client.send(&vec![b'a'; 1_000_000]);
    // More than the kernel takes at once.
    assert_eq!(client.status(), 200);
    for byte in
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\nping\r\n0\r\n\r\n"
    {
        client.send(&[*byte]);
    }
    assert!(client.rest().ends_with(&body));
    let report = stub.stop().unwrap();
    assert_eq!((report.requests, report.answers), (2, 2));
}

#[test]
fn a_port_that_is_taken_is_an_error_with_a_remedy() {
    let stub = start(Config::default());
    let port = stub.addr.port();
    let error = Stub::listen(Config { port, ..Config::default() }).unwrap_err();
    assert!(matches!(error, Error::Listen { port: taken, .. } if taken == port), "{error}");
}
