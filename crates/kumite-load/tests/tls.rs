//! TLS against servers that are known, over both transports: every count must be exact. Times are not looked at: those are
//! tested in simulation (src/engine/tests).

mod secure;
mod transports;

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use kumite_load::{
    Arrivals, Error, Errors, Expect, Io, Limit, Load, Outcome, Request, Step, Target, TlsError,
    TlsSessionError, Trust,
};
use secure::{Identity, Server, Then};

const PONG: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong";

/// Nothing takes so long unless something is wrong, on a machine that stands still for a while neither.
const LONG: Duration = Duration::from_secs(60);

/// epoll, and io_uring where it is to be had.
fn both() -> Vec<Io> {
    [Io::Epoll].into_iter().chain(transports::uring()).collect()
}

/// `requests` requests on one connection that want `pong`, with the certificate trusted.
fn load(server: &Server, requests: u64, io: Io) -> Load {
    let url = format!("https://localhost:{}/", server.addr.port());
    let expect = Expect { status: Some(200), equals: Some(b"pong".to_vec()), ..Expect::default() };
    let step = Step { expect, ..Step::new(Target::parse(&url).unwrap()) };
    Load {
        timeout: LONG,
        trust: Trust::Also(server.identity.path.clone()),
        io,
        ..Load::new(step, Limit { requests: Some(requests), duration: None })
    }
}

/// This load with its one step changed to ask another target.
fn asking(target: &Target, load: Load) -> Load {
    load.with_steps(|step| step.target = target.clone())
}

fn run(load: &Load) -> Outcome {
    let outcome = load.run(&AtomicBool::new(false), &mut |_| {}).unwrap();
    assert_eq!(outcome.requests, outcome.ok + outcome.errors.total());
    outcome
}

fn connect(errors: u64) -> Errors {
    Errors { connect: errors, ..Errors::default() }
}

fn pong() -> Server {
    Server::start(Identity::new("localhost"), |stream, _| {
        let _ = stream.write_all(PONG);
        Then::Keep
    })
}

#[test]
fn right_answers_in_tls_are_all_counted_ok() {
    let server = pong();
    for (io, sent) in both().into_iter().zip([300, 600]) {
        let outcome = run(&Load { connections: 20, ..load(&server, 300, io) });
        assert_eq!((outcome.ok, outcome.reconnects, server.requests()), (300, 0, sent));
    }
}

#[test]
fn an_open_loop_in_tls_sends_what_is_due() {
    let server = pong();
    for io in both() {
        let outcome = run(&Load {
            connections: 4,
            arrivals: Some(Arrivals::constant(2500.0)),
            limit: Limit { requests: None, duration: Some(Duration::from_millis(80)) },
            ..load(&server, 0, io)
        });
        assert_eq!((outcome.ok, outcome.errors.total()), (200, 0));
    }
}

#[test]
fn a_certificate_that_is_not_trusted_is_no_connection() {
    let (server, other) = (pong(), Identity::new("localhost"));
    let elsewhere = Server::start(Identity::new("elsewhere"), |stream, _| {
        let _ = stream.write_all(PONG);
        Then::Keep
    });
    for io in both() {
        let stranger = Trust::Also(other.path.clone());
        let outcome = run(&Load { trust: stranger, ..load(&server, 3, io) });
        assert_eq!(outcome.errors, connect(3));
        let why = outcome.first_wrong.unwrap();
        assert!(why.contains("not signed by an authority that is trusted") && why.contains("--ca"), "{why}");

        let outcome = run(&load(&elsewhere, 3, io));
        assert_eq!(outcome.errors, connect(3));
        let why = outcome.first_wrong.unwrap();
        assert!(
            why.contains("localhost") && why.contains("elsewhere") && why.contains("--insecure"),
            "{why}"
        );

        let outcome = run(&Load { trust: Trust::Any, ..load(&elsewhere, 3, io) });
        assert_eq!((outcome.ok, outcome.errors), (3, Errors::default()));
        let address = Target::parse(&format!("https://{}/", server.addr)).unwrap();
        let outcome = run(&Load { trust: Trust::Any, ..asking(&address, load(&server, 3, io)) });
        assert_eq!(outcome.ok, 3);
    }
}

/// A certificate as `openssl req -x509` makes it without more ado is taken where it was named itself, and only there.
#[test]
fn a_certificate_of_an_authority_is_one_of_a_server_if_it_is_named() {
    let server = Server::start(Identity::authority("localhost"), |stream, _| {
        let _ = stream.write_all(PONG);
        Then::Keep
    });
    assert_eq!(run(&load(&server, 1, Io::Auto)).ok, 1);
    load(&server, 1, Io::Auto).check_certificate().unwrap();
    let other = Identity::authority("localhost");
    let stranger = Trust::Also(other.path.clone());
    let stranger = Load { trust: stranger, ..load(&server, 1, Io::Auto) };
    let outcome = run(&stranger);
    assert_eq!(outcome.errors, connect(1));
    let why = outcome.first_wrong.unwrap();
    assert!(why.contains("CA:TRUE") && why.contains("--ca") && why.contains("--insecure"), "{why}");
    let error = stranger.check_certificate().unwrap_err();
    assert!(matches!(error, Error::Certificate(TlsSessionError::Refused(_))));
    assert_eq!(error.to_string(), why);
    let elsewhere = Target::parse(&format!("https://{}/", server.addr)).unwrap();
    let elsewhere = asking(&elsewhere, load(&server, 1, Io::Auto));
    let why = elsewhere.check_certificate().unwrap_err().to_string();
    assert!(
        why.contains("127.0.0.1") && why.contains("localhost"),
        "it is named, but is not of that host: {why}"
    );
    assert_eq!(run(&Load { trust: Trust::Any, ..load(&server, 1, Io::Auto) }).ok, 1);
}

/// Neither the name in it nor a signature counts, only that it is the one.
#[test]
fn the_only_certificate_that_is_trusted() {
    let identity = Identity::new("somewhere");
    let copy = identity.path.with_extension("only.pem");
    std::fs::copy(&identity.path, &copy).unwrap();
    let [server, other] = [identity, Identity::new("localhost")].map(|identity| {
        Server::start(identity, |stream, _| {
            let _ = stream.write_all(PONG);
            Then::Keep
        })
    });
    let asked = |server: &Server| Load { trust: Trust::Only(copy.clone()), ..load(server, 2, Io::Auto) };
    assert_eq!(run(&asked(&server)).ok, 2);
    asked(&server).check_certificate().unwrap();
    assert_eq!(run(&asked(&other)).errors, connect(2));
    let error = asked(&other).check_certificate().unwrap_err();
    assert!(matches!(error, Error::Certificate(TlsSessionError::Refused(_))));
    assert_eq!(error.to_string(), "the server's certificate is another than the one that it was given");
    std::fs::remove_file(&copy).unwrap();
}

#[test]
fn a_server_that_speaks_no_tls() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        for stream in listener.incoming().take(4) {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let target = Target { secure: true, ..Target::plain(addr) };
    for io in both() {
        let limit = Limit { requests: Some(2), duration: None };
        let outcome = run(&Load { io, trust: Trust::Any, ..Load::new(target.clone(), limit) });
        assert_eq!(outcome.errors, connect(2));
        assert!(outcome.first_wrong.unwrap().contains("does not answer in TLS"));
    }
    server.join().unwrap();
}

#[test]
fn a_server_that_hangs_up_in_the_handshake() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let target = Target { secure: true, ..Target::plain(listener.local_addr().unwrap()) };
    let server = std::thread::spawn(move || {
        for stream in listener.incoming().take(4) {
            let _ = stream.unwrap().read(&mut [0; 4096]);
        }
    });
    for io in both() {
        let limit = Limit { requests: Some(2), duration: None };
        let outcome = run(&Load { io, trust: Trust::Any, ..Load::new(target.clone(), limit) });
        assert_eq!(outcome.errors, connect(2));
        let why = outcome.first_wrong.unwrap();
        assert!(why.contains("closed the connection during the TLS handshake"), "{why}");
    }
    server.join().unwrap();
}

/// Sessions that end between two requests are replaced; what they took with them counts as closed.
#[test]
fn a_server_that_ends_the_session_after_the_10th_answer() {
    let server = Server::start(Identity::new("localhost"), |stream, turn| {
        let last = turn == 10;
        let close = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\npong";
        let _ = stream.write_all(if last { close.as_bytes() } else { PONG });
        if last { Then::Close } else { Then::Keep }
    });
    for io in both() {
        let outcome = run(&load(&server, 50, io));
        assert_eq!((outcome.ok, outcome.reconnects), (50, 4));
    }
    assert!(server.resumed() >= 8, "{} sessions were resumed", server.resumed());
}

/// One session has nothing left to send and ends, while another still waits for its answer.
#[test]
fn a_session_that_ends_while_idle_is_no_error() {
    for io in both() {
        let (ended, seen) = mpsc::channel();
        let (ended, seen, first) = (Mutex::new(ended), Mutex::new(seen), AtomicBool::new(true));
        let server = Server::start(Identity::new("localhost"), move |stream, _| {
            if first.swap(false, Ordering::SeqCst) {
                seen.lock().unwrap().recv().unwrap();
                let _ = stream.write_all(PONG);
                return Then::Keep;
            }
            let _ = stream.write_all(PONG);
            stream.conn.send_close_notify();
            let _ = stream.flush();
            // The engine has seen it when it closes its own side.
            assert_eq!(stream.sock.read(&mut [0]).unwrap(), 0);
            ended.lock().unwrap().send(()).unwrap();
            Then::Cut
        });
        let outcome = run(&Load { connections: 2, ..load(&server, 2, io) });
        assert_eq!((outcome.ok, outcome.errors, server.requests()), (2, Errors::default(), 2));
    }
}

/// Only a notice tells an answer that is whole from one that was cut.
#[test]
fn answers_that_end_with_the_session() {
    for (then, ok) in [(Then::Close, 2), (Then::Cut, 0)] {
        let server = Server::start(Identity::new("localhost"), move |stream, _| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\npong");
            then
        });
        for io in both() {
            let outcome = run(&load(&server, 2, io));
            assert_eq!((outcome.ok, outcome.errors.closed), (ok, 2 - ok), "{then:?}");
        }
    }
}

#[test]
fn large_bodies_both_ways() {
    let body: Vec<u8> = (0..1 << 20).map(|n: u32| ((n * 31) >> 3) as u8).collect();
    let server = {
        let body = body.clone();
        Server::start_with(body.len(), Identity::new("localhost"), move |stream, _| {
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(&body);
            Then::Keep
        })
    };
    for io in both() {
        let load = load(&server, 6, io).with_steps(|step| {
            step.request = Request { method: "POST".into(), headers: Vec::new(), body: body.clone() };
            step.expect = Expect { equals: Some(body.clone()), ..Expect::default() };
        });
        let outcome = run(&Load { connections: 2, ..load });
        assert_eq!(outcome.ok, 6, "{:?} {:?}", outcome.errors, outcome.first_wrong);
    }
}

#[test]
fn interim_and_chunked_answers_in_pieces() {
    let server = Server::start(Identity::new("localhost"), |stream, _| {
        for piece in [
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 20",
            "0 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\npo",
            "\r\n2\r\nng\r\n0\r\n\r\n",
        ] {
            let _ = stream.write_all(piece.as_bytes()).and_then(|()| stream.flush());
        }
        Then::Keep
    });
    for io in both() {
        assert_eq!(run(&load(&server, 20, io)).ok, 20);
    }
}

/// Bytes that nobody asked for, in the same piece as an answer and after it.
#[test]
fn more_than_one_answer_is_malformed() {
    let server = Server::start(Identity::new("localhost"), |stream, _| {
        let _ = stream.write_all(&PONG.repeat(2));
        Then::Keep
    });
    for io in both() {
        let outcome = run(&load(&server, 4, io));
        assert_eq!((outcome.errors.malformed, outcome.ok), (4, 0));
    }
}

#[test]
fn a_wrong_file_of_certificates_is_named() {
    let server = pong();
    let roots = |path: PathBuf| {
        Load { trust: Trust::Also(path), ..load(&server, 1, Io::Epoll) }
            .run(&AtomicBool::new(false), &mut |_| {})
            .unwrap_err()
    };
    let error = roots("/no/such/file.pem".into());
    let Error::Tls(TlsError::Read { source, .. }) = &error else { panic!("{error}") };
    assert_eq!(source.downcast_ref::<std::io::Error>().unwrap().kind(), std::io::ErrorKind::NotFound);
    assert!(error.to_string().contains("/no/such/file.pem"), "{error}");
    let file = server.identity.path.with_extension("txt");
    for (text, message) in [
        ("hello", "no certificate in it"),
        ("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n", "cannot read its certificates"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "cannot read its certificates"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = roots(file.clone()).to_string();
        assert!(error.contains(message) && error.contains("--ca"), "{error}");
    }
    std::fs::remove_file(&file).unwrap();
}
