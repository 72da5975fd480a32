//! HTTP/2 against servers that are known, over both transports: every count must be exact. Times are not looked at: those
//! are tested in simulation (src/engine/tests).

mod multiplexed;
#[allow(dead_code)]
mod secure;
mod transports;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use kumite_load::{
    Address, Arrivals, Check, Errors, Expect, Finished, HeaderCheck, Http, Io, Limit, Load, Outcome, Pattern,
    Request, Rows, Session, Step, Take, TakePlace, Target, Trust, Variables,
};
use multiplexed::{
    ACK, CONTINUATION, Call, DATA, END_HEADERS, END_STREAM, Frame, GOAWAY, HEADERS, INITIAL_WINDOW_SIZE,
    MAX_CONCURRENT_STREAMS, Manner, Moody, OK, PING, PUSH_PROMISE, RST_STREAM, SETTINGS, Server, converse,
    field, frames, setting,
};
use secure::Identity;
use tokio::sync::watch;

/// Nothing takes so long unless something is wrong, on a machine that stands still for a while neither.
const LONG: Duration = Duration::from_secs(60);

/// epoll, and io_uring where it is to be had.
fn both() -> Vec<Io> {
    [Io::Epoll].into_iter().chain(transports::uring()).collect()
}

/// `requests` requests on one connection that want `pong`.
fn load(addr: SocketAddr, requests: u64, io: Io) -> Load {
    let expect = Expect { status: Some(200), equals: Some(b"pong".to_vec()), ..Expect::default() };
    let step = Step { expect, ..Step::new(Target::plain(addr)) };
    Load {
        timeout: LONG,
        http: Http::Http2,
        io,
        ..Load::new(step, Limit { requests: Some(requests), duration: None })
    }
}

/// This load with its one step changed to ask another target.
fn asking(target: &Target, load: Load) -> Load {
    load.with_steps(|step| step.target = target.clone())
}

/// This load with its one step changed to send another request, with another right answer.
fn sending(request: &Request, expect: &Expect, load: Load) -> Load {
    load.with_steps(|step| (step.request, step.expect) = (request.clone(), expect.clone()))
}

fn run(load: &Load) -> Outcome {
    let outcome = load.run(&AtomicBool::new(false), &mut |_| {}).unwrap();
    assert_eq!(outcome.requests, outcome.ok + outcome.errors.total());
    assert_eq!(outcome.response.len(), outcome.ok);
    outcome
}

fn pong(manner: Manner) -> Server {
    Server::start(manner, |call| async { call.answer(200, "pong") })
}

#[test]
fn right_answers_over_http2_are_all_counted_ok() {
    let server = pong(Manner::default());
    let mut sent = 0;
    for (io, pipeline) in both().into_iter().flat_map(|io| [(io, 1), (io, 50)]) {
        let outcome = run(&Load { connections: 5, pipeline, ..load(server.addr, 1000, io) });
        sent += 1000;
        assert_eq!((outcome.ok, outcome.reconnects, server.requests()), (1000, 0, sent));
    }
}

#[test]
fn http2_in_tls_is_agreed_on_and_right() {
    let identity = Identity::new("localhost");
    let mut config = rustls::ServerConfig::clone(&identity.config);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let server = pong(Manner { tls: Some(Arc::new(config)), ..Manner::default() });
    let target = Target::parse(&format!("https://localhost:{}/", server.addr.port())).unwrap();
    let trust = Trust::Also(identity.path.clone());
    for (io, pipeline) in both().into_iter().flat_map(|io| [(io, 1), (io, 50)]) {
        let outcome = run(&Load {
            trust: trust.clone(),
            connections: 3,
            pipeline,
            ..asking(&target, load(server.addr, 300, io))
        });
        assert_eq!(outcome.ok, 300, "{:?} {:?}", outcome.errors, outcome.first_wrong);
    }
}

#[test]
fn a_server_that_does_not_agree_to_http2_is_no_connection() {
    for protocols in [vec![], vec![b"http/1.1".to_vec()]] {
        let identity = Identity::new("localhost");
        let mut config = rustls::ServerConfig::clone(&identity.config);
        config.alpn_protocols = protocols;
        let server = pong(Manner { tls: Some(Arc::new(config)), ..Manner::default() });
        let target = Target { secure: true, ..Target::plain(server.addr) };
        for io in both() {
            let outcome = run(&Load { trust: Trust::Any, ..asking(&target, load(server.addr, 2, io)) });
            assert_eq!(outcome.errors, Errors { connect: 2, ..Errors::default() });
            let why = outcome.first_wrong.unwrap();
            assert!(why.contains("does not offer") && why.contains("ALPN"), "{why}");
        }
    }
}

#[test]
fn an_open_loop_over_http2_sends_what_is_due() {
    let server = pong(Manner::default());
    for io in both() {
        let outcome = run(&Load {
            connections: 2,
            pipeline: 4,
            arrivals: Some(Arrivals::constant(2500.0)),
            limit: Limit { requests: None, duration: Some(Duration::from_millis(80)) },
            ..load(server.addr, 0, io)
        });
        assert_eq!((outcome.ok, outcome.errors.total()), (200, 0));
    }
}

/// Every answer is counted for its own request: in each hundred one waits until 20 others are answered, and is wrong.
#[test]
fn answers_out_of_order() {
    for io in both() {
        let answered = Arc::new(watch::channel(0).0);
        let server = Server::start(Manner::default(), move |call: Call| {
            let answered = answered.clone();
            async move {
                let waits = call.number % 100 == 2;
                if waits {
                    let before = *answered.borrow();
                    let _ = answered.subscribe().wait_for(|now| *now >= before + 20).await;
                }
                call.answer(if waits { 500 } else { 200 }, "pong");
                answered.send_modify(|answered| *answered += 1);
            }
        });
        let outcome = run(&Load { pipeline: 2, log: true, ..load(server.addr, 400, io) });
        assert_eq!((outcome.ok, outcome.errors), (396, Errors { status: 4, ..Errors::default() }));
        for wrong in outcome.log.iter().filter(|it| it.failure.is_some()) {
            let meanwhile = |it: &&Finished| it.sent >= wrong.sent && it.finished <= wrong.finished;
            let others = outcome.log.iter().filter(meanwhile).count() - 1;
            assert!(others >= 20, "{others} came and went while {wrong:?} waited");
        }
    }
}

#[test]
fn large_bodies_both_ways() {
    let body: Bytes = (0..1 << 20).map(|n: u32| ((n * 31) >> 3) as u8).collect();
    let server = Server::start(Manner::default(), |mut call: Call| async move {
        let body = call.body().await;
        call.answer(200, body);
    });
    for (io, pipeline) in both().into_iter().flat_map(|io| [(io, 1), (io, 5)]) {
        let request = Request { method: "POST".into(), headers: Vec::new(), body: body.to_vec() };
        let expect = Expect { equals: Some(body.to_vec()), ..Expect::default() };
        let outcome = run(&Load { pipeline, ..sending(&request, &expect, load(server.addr, 10, io)) });
        assert_eq!(outcome.ok, 10, "{:?} {:?}", outcome.errors, outcome.first_wrong);
    }
}

#[test]
fn wrong_answers_are_told_apart() {
    let server = Server::start(Manner::default(), |call: Call| async move {
        match call.number % 10 {
            0 => call.answer(200, "pink"),
            5 => call.answer(500, "pong"),
            _ => call.answer(200, "pong"),
        }
    });
    for io in both() {
        let outcome = run(&Load { pipeline: 10, ..load(server.addr, 200, io) });
        assert_eq!(outcome.errors, Errors { status: 20, body: 20, ..Errors::default() });
        assert_eq!(outcome.reconnects, 0);
    }
    let expect = Expect { checks: vec![Check::contains("ong").unwrap()], ..Expect::default() };
    let asked = |expect: &Expect| {
        run(&load(server.addr, 10, Io::Epoll).with_steps(|step| step.expect = expect.clone()))
    };
    let outcome = asked(&expect);
    assert_eq!(outcome.errors, Errors { status: 1, body: 1, ..Errors::default() });
    assert_eq!(outcome.first_wrong.unwrap(), "status 500, 4 bytes");
    let header = |pattern| vec![HeaderCheck::matches("X-Bytes", Pattern::new(pattern).unwrap()).unwrap()];
    let other = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let expect = || Expect { headers: header("^4$"), length: Some(4), ..Expect::default() };
    let one = Errors { status: 1, ..Errors::default() };
    for (expect, errors, words) in [
        (expect(), one, "status 500, 4 bytes"),
        (
            Expect { headers: header("^5$"), ..expect() },
            Errors { header: 9, ..one },
            "status 200, 4 bytes, with the header x-bytes: \"4\", which \"^5$\" does not match",
        ),
        (Expect { length: Some(5), ..expect() }, Errors { body: 9, ..one }, "status 200, 4 bytes, not 5"),
        (
            Expect { sha256: other.parse().ok(), checks: vec![Check::contains("pong").unwrap()], ..expect() },
            Errors { body: 9, ..one },
            "status 200, 4 bytes whose SHA-256 digest is 9795c5ff8937f23526ccb207a5684c1fc94a7854e19c021b39d944e51f5baef2, not 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        ),
    ] {
        let outcome = asked(&expect);
        assert_eq!((outcome.errors, outcome.first_wrong.as_deref()), (errors, Some(words)));
    }
}

#[test]
fn a_server_that_says_goodbye_after_10_requests() {
    let server = pong(Manner { goodbye_after: Some(10), ..Manner::default() });
    for io in both() {
        let outcome = run(&load(server.addr, 50, io));
        assert_eq!((outcome.ok, outcome.reconnects), (50, 4), "{:?}", outcome.errors);
        let outcome = run(&Load { pipeline: 4, ..load(server.addr, 50, io) });
        assert_eq!(outcome.ok, 50, "{:?}", outcome.errors);
        assert!((1..=4).contains(&outcome.reconnects), "{}", outcome.reconnects);
    }
}

#[test]
fn streams_that_are_reset() {
    let server = Server::start(Manner::default(), |mut call: Call| async move {
        if call.number.is_multiple_of(5) {
            return call.respond.send_reset(Reason::INTERNAL_ERROR);
        }
        call.answer(200, "pong");
    });
    for io in both() {
        let outcome = run(&Load { pipeline: 10, ..load(server.addr, 200, io) });
        assert_eq!(outcome.errors, Errors { reset: 40, ..Errors::default() });
        assert_eq!((outcome.ok, outcome.reconnects), (160, 0));
    }
}

#[test]
fn no_more_streams_than_the_server_takes() {
    let server = pong(Manner { max_streams: Some(3), ..Manner::default() });
    for io in both() {
        let outcome = run(&Load { pipeline: 50, ..load(server.addr, 200, io) });
        assert_eq!(outcome.ok, 200, "{:?}", outcome.errors);
    }
}

#[test]
fn a_request_says_in_http2_what_it_says_in_http1() {
    let server = Server::start(Manner::default(), |mut call: Call| async move {
        let body = call.body().await;
        let (uri, headers) = (call.request.uri().clone(), call.request.headers().clone());
        let seq = call.number - 1;
        assert_eq!(call.request.method(), "POST");
        assert_eq!((uri.scheme_str(), uri.authority().unwrap().as_str()), (Some("http"), "name:81"));
        assert_eq!(uri.path_and_query().unwrap().as_str(), format!("/{seq}?q=%7C"));
        assert_eq!((headers["x-one"].to_str().unwrap(), headers.len()), (["b", "c"][seq as usize % 2], 2));
        assert_eq!(headers["content-length"].to_str().unwrap(), body.len().to_string());
        assert_eq!(body, format!("<{seq}>").into_bytes());
        call.answer(200, "pong");
    });
    let rows = Rows::read("f", "id\nb\nc\n".as_bytes()).unwrap();
    let headers = [("X-One", "{{id}}"), ("Host", "name:81")].map(|(name, value)| (name.into(), value.into()));
    let target = Target { path: "/{{seq}}?q=|".into(), ..Target::plain(server.addr) };
    let request = Request { method: "POST".into(), headers: headers.into(), body: b"<{{seq}}>".to_vec() };
    let load =
        asking(&target, load(server.addr, 12, Io::Auto)).with_steps(|step| step.request = request.clone());
    let load = Load { variables: Variables { rows, seed: 1 }, ..load };
    assert_eq!(run(&load).ok, 12);
}

#[test]
fn a_header_that_http2_does_not_have_is_refused() {
    for (name, value) in [("Connection", "close"), ("Transfer-Encoding", "chunked"), ("TE", "gzip")] {
        let request =
            Request { method: "GET".into(), headers: vec![(name.into(), value.into())], body: Vec::new() };
        let load = load("127.0.0.1:1".parse().unwrap(), 1, Io::Epoll)
            .with_steps(|step| step.request = request.clone());
        let error = load.run(&AtomicBool::new(false), &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("HTTP/2"), "{error}");
    }
}

/// The head and the body of a right answer.
fn right(id: u32) -> [Frame; 2] {
    [(HEADERS, END_HEADERS, id, vec![OK]), (DATA, END_STREAM, id, b"pong".to_vec())]
}

/// Several sessions share a connection, and each has its own values.
#[test]
fn sessions_share_a_connection_and_keep_their_values_apart() {
    let server = Server::start(Manner::default(), |call: Call| async move {
        let path = call.request.uri().path().to_owned();
        // What was sent before is answered later.
        tokio::time::sleep(Duration::from_micros(300 * (7 - call.number % 7))).await;
        match path.strip_prefix("/login/") {
            Some(seq) => call.answer(200, format!("{{\"token\":\"t{seq}\"}}")),
            None => {
                let token =
                    call.request.headers().get("x-token").map(|token| token.to_str().unwrap().to_owned());
                let right = token == path.strip_prefix("/me/").map(|seq| format!("t{seq}"));
                call.answer(if right { 200 } else { 403 }, "pong");
            }
        }
    });
    let step = |path: &str| {
        let target = Target { path: path.to_owned(), ..Target::plain(server.addr) };
        Step { name: path.to_owned(), ..Step::new(target) }
    };
    let take = Take { name: "token".to_owned(), place: TakePlace::json("/token").unwrap() };
    let mut me = Step { think: Duration::from_millis(1), ..step("/me/{{seq}}") };
    me.request.headers = vec![("X-Token".to_owned(), "{{token}}".to_owned())];
    let steps = vec![Step { takes: vec![take], ..step("/login/{{seq}}") }, me];
    let sessions = vec![Session { name: "user".to_owned(), weight: 1, steps }];
    for io in both() {
        let load =
            Load { connections: 3, pipeline: 5, sessions: sessions.clone(), ..load(server.addr, 300, io) };
        let outcome = run(&load);
        let user = &outcome.sessions[0];
        let steps: Vec<u64> = user.steps.iter().map(|step| step.ok).collect();
        assert_eq!((user.ok, steps), (300, vec![300, 300]), "{:?} {:?}", outcome.errors, outcome.first_wrong);
    }
    assert_eq!(server.requests(), 600 * both().len() as u64);
}

/// Push is refused, and what must be acknowledged is, also while there is no request.
#[test]
fn settings_and_pings_are_acknowledged() {
    let (addr, server) = frames(2, |(kind, flags, id, payload)| match kind {
        SETTINGS if flags == 0 => {
            let push = payload.chunks(6).find(|setting| setting[..2] == [0, 2]).expect("ENABLE_PUSH");
            assert_eq!(push[2..], [0, 0, 0, 0]);
            vec![(SETTINGS, ACK, 0, Vec::new())]
        }
        // The answer comes when the ping is acknowledged.
        HEADERS => vec![(PING, 0, 0, id.to_be_bytes().repeat(2))],
        PING if flags == ACK => right(u32::from_be_bytes(payload[..4].try_into().unwrap())).into(),
        _ => Vec::new(),
    });
    for io in both() {
        assert_eq!(run(&load(addr, 20, io)).ok, 20);
    }
    server.join().unwrap();
}

#[test]
fn http2_works_over_a_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let server = std::thread::spawn(move || {
        for stream in listener.incoming().take(2) {
            converse(stream.unwrap(), |(kind, _, id, _)| match kind {
                HEADERS => right(id).into(),
                _ => Vec::new(),
            });
        }
    });
    let target =
        Target { address: Address::Unix(path.clone()), ..Target::plain("127.0.0.1:80".parse().unwrap()) };
    for io in both() {
        let limit = Limit { requests: Some(20), duration: None };
        let outcome = run(&Load { http: Http::Http2, io, ..Load::new(target.clone(), limit) });
        assert_eq!(outcome.ok, 20, "{:?}", outcome.first_wrong);
    }
    server.join().unwrap();
}

/// A request that the server says it has not looked at is closed; one that it was about to answer is not lost.
#[test]
fn a_goodbye_that_leaves_out_the_last_request() {
    let (addr, server) = frames(2 * 2, |(kind, _, id, _)| match (kind, id) {
        (HEADERS, 1) => right(1).into(),
        (HEADERS, 5) => {
            let mut last = vec![(GOAWAY, 0, 0, vec![0, 0, 0, 3, 0, 0, 0, 0])];
            last.extend(right(3));
            last
        }
        _ => Vec::new(),
    });
    for io in both() {
        let outcome = run(&Load { pipeline: 2, ..load(addr, 6, io) });
        assert_eq!(outcome.errors, Errors { closed: 2, ..Errors::default() });
        assert_eq!((outcome.ok, outcome.reconnects), (4, 1));
    }
    server.join().unwrap();
}

#[test]
fn what_breaks_the_rules_is_malformed() {
    let (addr, server) = frames(2 * 2, |(kind, _, id, _)| match kind {
        HEADERS => vec![(PUSH_PROMISE, END_HEADERS, id, vec![0, 0, 0, 2, 0x82, 0x84, 0x86])],
        _ => Vec::new(),
    });
    for io in both() {
        let outcome = run(&load(addr, 2, io));
        assert_eq!(outcome.errors, Errors { malformed: 2, ..Errors::default() }, "{:?}", outcome.first_wrong);
    }
    server.join().unwrap();
}

#[test]
fn a_server_that_speaks_http1() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        for stream in listener.incoming().take(4) {
            use std::io::{Read, Write};
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
        }
    });
    for io in both() {
        let outcome = run(&load(addr, 2, io));
        assert_eq!(outcome.errors, Errors { connect: 2, ..Errors::default() });
        let why = outcome.first_wrong.unwrap();
        assert!(why.contains("HTTP/2"), "{why}");
    }
    server.join().unwrap();
}

#[test]
fn an_answer_that_is_reset_in_the_middle() {
    let (addr, server) = frames(2, |(kind, _, id, _)| match kind {
        HEADERS if id % 4 == 3 => vec![
            (HEADERS, END_HEADERS, id, vec![OK]),
            (DATA, 0, id, b"po".to_vec()),
            (RST_STREAM, 0, id, vec![0, 0, 0, 2]),
        ],
        HEADERS => right(id).into(),
        _ => Vec::new(),
    });
    for io in both() {
        let outcome = run(&load(addr, 20, io));
        assert_eq!(outcome.errors, Errors { reset: 10, ..Errors::default() });
    }
    server.join().unwrap();
}

/// A server that allows nothing for a while, and then more, however often, is one that answers everything.
#[test]
fn a_server_that_changes_its_mind_about_how_much_it_allows() {
    let identity = Identity::new("localhost");
    let mut config = rustls::ServerConfig::clone(&identity.config);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let config = Arc::new(config);
    for (seed, secure) in (1..=6).zip([false, false, false, false, true, true]) {
        let server = Moody::start(seed * 1000, secure.then(|| config.clone()));
        let target = Target { secure, ..Target::plain(server.addr) };
        let mut sent = 0;
        for io in both() {
            let request =
                Request { method: "POST".into(), headers: Vec::new(), body: b"0123456789".to_vec() };
            let load = Load {
                trust: Trust::Any,
                connections: 4,
                pipeline: 5,
                ..asking(&target, load(server.addr, 300, io))
                    .with_steps(|step| step.request = request.clone())
            };
            let outcome = run(&load);
            sent += 300;
            assert_eq!(
                (outcome.ok, server.requests()),
                (300, sent),
                "seed {seed}: {:?}",
                outcome.first_wrong
            );
            assert_eq!(outcome.reconnects, 0, "seed {seed}");
            let outcome = run(&Load {
                arrivals: Some(Arrivals::constant(1000.0)),
                limit: Limit { requests: None, duration: Some(Duration::from_millis(300)) },
                ..load
            });
            sent += 300;
            assert_eq!(
                (outcome.ok, server.requests()),
                (300, sent),
                "seed {seed}: {:?}",
                outcome.first_wrong
            );
        }
    }
}

/// It allows one stream, and none after the first answer.
#[test]
fn a_server_that_allows_nothing_any_more_is_a_time_out_that_is_said() {
    let (addr, _server) = frames(100, |(kind, flags, id, _)| match kind {
        SETTINGS if flags == 0 => vec![(SETTINGS, ACK, 0, Vec::new())],
        HEADERS => [vec![setting(MAX_CONCURRENT_STREAMS, 0)], right(id).into()].concat(),
        _ => Vec::new(),
    });
    for io in both() {
        let outcome = run(&Load { timeout: Duration::from_millis(200), ..load(addr, 4, io) });
        assert_eq!((outcome.ok, outcome.errors), (2, Errors { timeout: 2, ..Errors::default() }));
        let why = outcome.first_wrong.unwrap();
        assert!(why.contains("the server allowed no request") && why.contains("MAX_CONCURRENT"), "{why}");
    }
}

/// After a goodbye the last request is never answered: its connection is replaced all the same.
#[test]
fn a_goodbye_and_then_silence() {
    let (addr, _server) = frames(100, |(kind, _, id, _)| match kind {
        HEADERS => vec![(PING, 0, 0, vec![0; 8]), (GOAWAY, 0, 0, [&id.to_be_bytes()[..], &[0; 4]].concat())],
        // Something goes on on the connection.
        PING => vec![(PING, 0, 0, vec![0; 8])],
        _ => Vec::new(),
    });
    for io in both() {
        let outcome = run(&Load { timeout: Duration::from_millis(200), ..load(addr, 2, io) });
        assert_eq!(outcome.errors, Errors { timeout: 2, ..Errors::default() }, "{:?}", outcome.first_wrong);
    }
}

#[test]
fn a_body_waits_until_the_server_has_room_for_it() {
    let mut first = true;
    let (addr, server) = frames(2, move |(kind, flags, id, payload)| match kind {
        SETTINGS if flags == 0 => vec![setting(INITIAL_WINDOW_SIZE, 0), (SETTINGS, ACK, 0, Vec::new())],
        SETTINGS if std::mem::take(&mut first) => Vec::new(),
        HEADERS => vec![(8, 0, id, 3_u32.to_be_bytes().to_vec())],
        DATA if flags & END_STREAM != 0 => right(id).into(),
        DATA => vec![(8, 0, id, (payload.len() as u32 + 4).to_be_bytes().to_vec())],
        _ => Vec::new(),
    });
    for io in both() {
        let request = Request { method: "POST".into(), headers: Vec::new(), body: vec![b'x'; 10] };
        let outcome = run(&load(addr, 5, io).with_steps(|step| step.request = request.clone()));
        assert_eq!(outcome.ok, 5, "{:?} {:?}", outcome.errors, outcome.first_wrong);
    }
    server.join().unwrap();
}

/// Each with its type, flags and payload.
type Frames = Vec<(u8, u8, Vec<u8>)>;

/// Answers that RFC 9113 forbids and `h2` lets pass.
#[test]
fn an_answer_that_http2_does_not_have_is_malformed() {
    let status = |code: &str| [&[0x08, 3][..], code.as_bytes()].concat();
    let wrong: [(&str, &str, Frames); 4] = [
        (
            "GET",
            "it has a body",
            vec![(HEADERS, END_HEADERS, vec![0x89]), (DATA, END_STREAM, b"pong".to_vec())],
        ),
        (
            "GET",
            "it has a body",
            vec![(HEADERS, END_HEADERS, vec![0x8b]), (DATA, END_STREAM, b"pong".to_vec())],
        ),
        (
            "HEAD",
            "it has a body",
            vec![(HEADERS, END_HEADERS, vec![OK]), (DATA, END_STREAM, b"pong".to_vec())],
        ),
        (
            "GET",
            "its status is 101",
            vec![
                (HEADERS, END_HEADERS, status("101")),
                (HEADERS, END_HEADERS, vec![OK]),
                (DATA, END_STREAM, b"pong".to_vec()),
            ],
        ),
    ];
    for (method, why, answer) in wrong {
        let (addr, server) = frames(both().len(), move |(kind, _, id, _)| match kind {
            HEADERS => answer.iter().map(|(kind, flags, it)| (*kind, *flags, id, it.clone())).collect(),
            _ => Vec::new(),
        });
        for io in both() {
            let request = Request { method: method.into(), headers: Vec::new(), body: Vec::new() };
            let expect = Expect::default();
            let outcome = run(&sending(&request, &expect, load(addr, 3, io)));
            assert_eq!(outcome.errors, Errors { malformed: 3, ..Errors::default() }, "{method} {why}");
            let first = outcome.first_wrong.unwrap();
            assert!(first.contains(why) || first.starts_with("malformed: HTTP/2: "), "{method} {first}");
        }
        server.join().unwrap();
    }
}

#[test]
fn interim_answers_are_passed_over() {
    let (addr, server) = frames(2, move |(kind, _, id, _)| match kind {
        HEADERS => {
            let early = (HEADERS, END_HEADERS, id, [&[0x08, 3][..], b"103"].concat());
            [vec![early.clone(), early], right(id).into()].concat()
        }
        _ => Vec::new(),
    });
    for io in both() {
        assert_eq!(run(&load(addr, 20, io)).ok, 20);
    }
    server.join().unwrap();
}

/// A server that has replies asked for and never reads them is not kept in memory.
#[test]
fn a_flood_of_frames_that_need_a_reply_ends_the_connection() {
    for flood in [(PING, 0, 0, vec![0; 8]), setting(INITIAL_WINDOW_SIZE, 65_535)] {
        for io in both() {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let addr = listener.local_addr().unwrap();
            let flood = multiplexed::bytes(&flood).repeat(1000);
            let server = std::thread::spawn(move || {
                use std::io::Write;
                let (mut stream, _) = listener.accept().unwrap();
                stream.write_all(&multiplexed::bytes(&(SETTINGS, 0, 0, Vec::new()))).unwrap();
                let mut written = 0;
                while stream.write_all(&flood).is_ok() {
                    written += flood.len();
                }
                written
            });
            let outcome = run(&load(addr, 1, io));
            assert_eq!(outcome.errors, Errors { malformed: 1, ..Errors::default() });
            let why = outcome.first_wrong.unwrap();
            assert!(why.contains("bytes to read, most of them replies"), "{why}");
            // One side keeps what the other side's kernel does not take, and a mebibyte.
            let written = server.join().unwrap();
            assert!(written < 64 << 20, "{written} bytes were taken in");
        }
    }
}

#[test]
fn a_head_without_end_ends_the_connection() {
    let endless: [Vec<Frame>; 3] = [
        [
            vec![(HEADERS, 0, 1, vec![OK])],
            (0..100)
                .map(|nth| (CONTINUATION, 0, 1, field(&format!("x-{nth}"), &"v".repeat(16_000))))
                .collect(),
        ]
        .concat(),
        [vec![(HEADERS, 0, 1, vec![OK])], vec![(CONTINUATION, 0, 1, Vec::new()); 100]].concat(),
        [
            vec![(HEADERS, 0, 1, [&[OK][..], &field("x", &"v".repeat(16_000))].concat())],
            (0..4).map(|nth| (CONTINUATION, 0, 1, field(&format!("x-{nth}"), &"v".repeat(16_000)))).collect(),
            vec![(CONTINUATION, END_HEADERS, 1, field("z", "")), (DATA, END_STREAM, 1, b"pong".to_vec())],
        ]
        .concat(),
    ];
    for frames_of_one in endless {
        let (addr, server) = frames(both().len(), move |(kind, ..)| match kind {
            HEADERS => frames_of_one.clone(),
            _ => Vec::new(),
        });
        for io in both() {
            let outcome = run(&load(addr, 1, io));
            assert_eq!(outcome.errors.total(), 1, "{outcome:?}");
            assert_eq!(outcome.errors.malformed, 1, "{:?} {:?}", outcome.errors, outcome.first_wrong);
        }
        server.join().unwrap();
    }
}
