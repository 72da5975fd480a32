//! TLS and HTTP/2: what is agreed on first is part of connecting, and in HTTP/2 a request is late alone.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::Arc;

use rcgen::KeyPair;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};

use super::*;
use crate::{Arrivals, Http, Trust};

const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A server of HTTP/2 that answers each request by a script: with `pong` at an instant in ns, or never.
struct Multiplexed<F> {
    answer: F,
    requests: u64,
    /// The time in ns from the head of an answer to its body.
    body_after: u64,
    held: BTreeMap<u64, Vec<u8>>,
}

impl<F: FnMut(u64, u64) -> Option<u64>> Multiplexed<F> {
    fn new(answer: F) -> Multiplexed<F> {
        Multiplexed { answer, requests: 0, body_after: 0, held: BTreeMap::new() }
    }
}

impl<F: FnMut(u64, u64) -> Option<u64>> Server for Multiplexed<F> {
    fn receive(&mut self, connection: u64, at: u64, bytes: &[u8]) -> Deeds {
        let held = self.held.entry(connection).or_default();
        held.extend_from_slice(bytes);
        let mut deeds = Vec::new();
        if held.starts_with(b"PRI") && held.len() >= 24 {
            held.drain(..24);
            deeds.push((at, Deed::Say(frame(SETTINGS, 0, 0, &[]))));
        }
        while let Some([a, b, c, kind, _, id @ ..]) = held.first_chunk::<9>().copied() {
            let length = u32::from_be_bytes([0, a, b, c]) as usize;
            if held.len() < 9 + length {
                break;
            }
            held.drain(..9 + length);
            if kind != HEADERS {
                continue;
            }
            self.requests += 1;
            if let Some(at) = (self.answer)(self.requests, at) {
                let stream = u32::from_be_bytes(id);
                // END_HEADERS and `:status: 200`; END_STREAM.
                let [head, body] = [frame(HEADERS, 4, stream, &[0x88]), frame(0, 1, stream, b"pong")];
                if self.body_after == 0 {
                    deeds.push((at, Deed::Say([head, body].concat())));
                } else {
                    deeds.extend([(at, Deed::Say(head)), (at + self.body_after, Deed::Say(body))]);
                }
            }
        }
        deeds
    }
}

fn http2(requests: u64, pipeline: usize) -> Load {
    Load { http: Http::Http2, pipeline, ..load(requests) }
}

/// Every answer is counted for its own request: while one takes its time, others come and go.
#[test]
fn answers_out_of_order_have_their_own_times() {
    let slow = |nth: u64| if nth % 100 == 1 { 200 * MS } else { MS };
    let outcome = run(&http2(400, 2), Multiplexed::new(|nth, at| Some(at + slow(nth))));
    let mut took = service(&outcome);
    took.sort_unstable();
    assert_eq!(took, [vec![MS; 396], vec![200 * MS; 4]].concat());
}

/// The heads come in the order of the requests, the bodies later and in between.
#[test]
fn streams_have_their_own_first_bytes() {
    let server =
        |body_after| Multiplexed { body_after, ..Multiplexed::new(|nth, at| Some(at + nth % 7 * MS)) };
    let outcome = run(&http2(400, 8), server(3 * MS));
    let mut expected = crate::Histogram::<u64>::new(3).unwrap();
    service(&outcome).iter().for_each(|took| expected.record(took - 3 * MS).unwrap());
    assert_eq!((outcome.ok, &outcome.first_byte), (400, &expected));
    let outcome = run(&http2(400, 8), server(0));
    assert_eq!(outcome.first_byte, outcome.response);
}

/// No stream is cut by the end of its connection: that waits for the last of them.
#[test]
fn a_connection_of_streams_ends_after_its_requests() {
    let load = Load { requests_per_connection: std::num::NonZeroU64::new(10), ..http2(400, 8) };
    let mut server = Multiplexed::new(|nth, at| Some(at + nth % 7 * MS));
    let outcome = run(&load, &mut server);
    assert_eq!((outcome.ok, outcome.errors.total()), (400, 0));
    assert_eq!((server.held.len(), outcome.reconnects), (40, 39));
    // Those that never end are given up, and their connection is replaced when the last is.
    let load = Load { timeout: ms(20), ..load };
    let mut server = Multiplexed::new(|nth, at| (nth % 10 != 5).then_some(at + MS));
    let outcome = run(&load, &mut server);
    assert_eq!((outcome.ok, outcome.errors), (360, timeouts(40)));
    assert_eq!((server.requests, server.held.len()), (400, 40));
}

#[test]
fn a_connection_that_carries_no_request_makes_its_handshake_and_is_kept() {
    let mut server = Multiplexed::new(|_, at| Some(at + MS));
    let outcome = run(&Load { idle_connections: 100, ..http2(50, 1) }, &mut server);
    assert_eq!((outcome.idle_open, outcome.idle_ended, outcome.ok), (100, 0, 50));
    assert_eq!((server.held.len(), server.requests), (101, 50));
}

#[test]
fn a_request_that_times_out_is_given_up_alone_if_others_are_answered() {
    let load = Load { timeout: ms(150), ..http2(200, 2) };
    let outcome = run(&load, Multiplexed::new(|nth, at| (nth % 50 != 1).then_some(at + 2 * MS)));
    // The very first one is alone until it is answered, so nothing comes on its connection.
    assert_eq!((outcome.errors, outcome.reconnects), (timeouts(4), 1));
    let late: Vec<u64> = service(&outcome).into_iter().filter(|took| *took != 2 * MS).collect();
    assert!(late.len() == 4 && late.iter().all(|took| (150 * MS + 1..=151 * MS).contains(took)), "{late:?}");
}

#[test]
fn a_connection_on_which_nothing_comes_for_a_time_out_is_replaced() {
    let load = Load { timeout: ms(150), ..http2(6, 2) };
    let outcome = run(&load, Multiplexed::new(|_, _| None));
    // The first request is alone, until it is answered.
    assert_eq!((outcome.errors, outcome.reconnects), (timeouts(6), 3));
    assert!(service(&outcome).iter().all(|took| (150 * MS + 1..=151 * MS).contains(took)), "{outcome:?}");
}

/// A server of TLS, which takes `step` ns for its part of the handshake, and a millisecond for an answer.
struct Secured {
    config: Arc<ServerConfig>,
    step: u64,
    /// The time in ns after an answer at which the server ends the session; `None` for never.
    ends: Option<u64>,
    sessions: BTreeMap<u64, ServerConnection>,
}

impl Secured {
    fn new(step: u64, ends: Option<u64>) -> Secured {
        let key = KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap().der().clone();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
            .unwrap();
        Secured { config: Arc::new(config), step, ends, sessions: BTreeMap::new() }
    }
}

impl Server for Secured {
    fn receive(&mut self, connection: u64, at: u64, mut bytes: &[u8]) -> Deeds {
        let config = self.config.clone();
        let tls = self.sessions.entry(connection).or_insert_with(|| ServerConnection::new(config).unwrap());
        let (mut plain, mut deeds) = (Vec::new(), Vec::new());
        let mut said = |tls: &mut ServerConnection, at| {
            let mut said = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut said).unwrap();
            }
            if !said.is_empty() {
                deeds.push((at, Deed::Say(said)));
            }
        };
        while !bytes.is_empty() {
            tls.read_tls(&mut bytes).unwrap();
            tls.process_new_packets().unwrap();
        }
        let _ = tls.reader().read_to_end(&mut plain);
        said(tls, at + if tls.is_handshaking() { self.step } else { 0 });
        if plain.is_empty() {
            return deeds;
        }
        assert!(plain.ends_with(b"\r\n\r\n"));
        tls.writer().write_all(PONG.as_bytes()).unwrap();
        said(tls, at + MS);
        if let Some(ends) = self.ends {
            tls.send_close_notify();
            said(tls, at + MS + ends);
            deeds.push((at + MS + ends, Deed::End));
        }
        deeds
    }
}

/// A server that says nothing, whatever it is told.
struct Silent;

impl Server for Silent {
    fn receive(&mut self, _: u64, _: u64, _: &[u8]) -> Deeds {
        Vec::new()
    }
}

fn in_tls(load: Load) -> Load {
    let target = Target::parse("https://localhost:1/").unwrap();
    let load = Load { trust: Trust::Any, ..load };
    load.with_steps(|step| {
        step.target = Target { address: step.target.address.clone(), ..target.clone() };
    })
}

#[test]
fn the_handshake_is_part_of_connecting_and_in_no_response_time() {
    let outcome = run(&in_tls(load(10)), Secured::new(100 * MS, None));
    assert_eq!((outcome.ok, service(&outcome)), (10, vec![MS; 10]));
    assert_eq!((outcome.log[0].due, outcome.elapsed), (100 * MS, ms(110)));
}

#[test]
fn a_handshake_that_takes_longer_than_the_time_out_is_no_connection() {
    let load = Load { timeout: ms(100), ..in_tls(load(2)) };
    let outcome = run(&load, Silent);
    assert_eq!(outcome.errors, Errors { connect: 2, ..Errors::default() });
    assert_eq!(outcome.first_wrong.unwrap(), "the TLS handshake took longer than the time-out");
    // Up to its very end it may be established.
    let last = |step| run(&load, Secured::new(step, None)).ok;
    assert_eq!([last(100 * MS), last(102 * MS)], [2, 0]);
}

#[test]
fn a_session_that_ends_while_idle_is_no_error() {
    let load = Load { arrivals: Some(Arrivals::constant(10.0)), ..in_tls(lasting(800)) };
    let outcome = run(&load, Secured::new(0, Some(MS)));
    assert_eq!((outcome.ok, outcome.errors, outcome.reconnects), (8, Errors::default(), 8));
}

/// A server that, from each instant in `limits` on, allows the number of streams there on a connection, and before
/// the first any number.
struct Allowing<S> {
    server: S,
    limits: Vec<(u64, u32)>,
    told: u64,
}

impl<S: Server> Server for Allowing<S> {
    fn receive(&mut self, connection: u64, at: u64, bytes: &[u8]) -> Deeds {
        let mut deeds = self.server.receive(connection, at, bytes);
        if connection > self.told {
            self.told = connection;
            let says = |&(from, most): &(u64, u32)| {
                let setting = [&[0, 3][..], &most.to_be_bytes()].concat();
                (from.max(at), Deed::Say(frame(SETTINGS, 0, 0, &setting)))
            };
            deeds.extend(self.limits.iter().map(says));
        }
        deeds
    }
}

fn allowing(limits: &[(u64, u32)], answer: impl FnMut(u64, u64) -> Option<u64>) -> impl Server {
    Allowing { server: Multiplexed::new(answer), limits: limits.to_vec(), told: 0 }
}

#[test]
fn a_connection_goes_on_when_the_server_allows_requests_again() {
    let in_a_ms = |_, at| Some(at + MS);
    for connections in [1, 3] {
        let load = Load { connections, ..http2(60, 2) };
        let outcome = run(&load, allowing(&[(3 * MS, 0), (500 * MS, 100)], in_a_ms));
        assert_eq!((outcome.ok, outcome.errors, outcome.reconnects), (60, Errors::default(), 0));
        assert!((ms(500)..ms(540)).contains(&outcome.elapsed), "{:?}", outcome.elapsed);
    }
    // While the others still have their first answer to get, nothing is sent twice.
    let slow = |nth, at| Some(at + if nth == 2 { 400 * MS } else { MS });
    let outcome = run(
        &Load { connections: 2, ..http2(20, 1) },
        allowing(&[(2 * MS, 0), (100 * MS, 7), (200 * MS, 0), (300 * MS, 7)], slow),
    );
    assert_eq!((outcome.ok, outcome.reconnects), (20, 0));
    let open =
        Load { arrivals: Some(Arrivals::constant(100.0)), http: Http::Http2, pipeline: 5, ..lasting(1000) };
    let outcome = run(&open, allowing(&[(105 * MS, 0), (600 * MS, 100)], in_a_ms));
    assert_eq!((outcome.ok, outcome.errors, outcome.reconnects), (100, Errors::default(), 0));
    let last = outcome.response.max();
    assert!((490 * MS..500 * MS).contains(&last), "{last}");
}

#[test]
fn a_server_that_allows_nothing_any_more_is_a_time_out() {
    let in_a_ms = |_, at| Some(at + MS);
    let load = Load { timeout: ms(150), ..http2(20, 2) };
    let outcome = run(&load, allowing(&[(10 * MS, 0)], in_a_ms));
    assert!(outcome.errors.timeout > 0 && outcome.errors == timeouts(outcome.errors.timeout), "{outcome:?}");
    let why = outcome.first_wrong.unwrap();
    assert!(why.contains("the server allowed no request"), "{why}");
    let open = Load {
        arrivals: Some(Arrivals::constant(100.0)),
        timeout: ms(150),
        http: Http::Http2,
        ..lasting(1000)
    };
    let outcome = run(&open, allowing(&[(105 * MS, 0)], |_, _| None));
    assert_eq!(outcome.requests, 100);
    let outcome = run(&lasting_http2(100), allowing(&[(10 * MS, 0)], in_a_ms));
    let why = outcome.first_wrong.unwrap();
    assert!(why.starts_with("at the end the server allowed no request on 1 connections"), "{why}");
}

fn lasting_http2(length: u64) -> Load {
    Load { http: Http::Http2, ..lasting(length) }
}

#[test]
fn a_server_that_never_allows_a_request_is_no_connection() {
    struct Shut;
    impl Server for Shut {
        fn receive(&mut self, _: u64, at: u64, bytes: &[u8]) -> Deeds {
            let settings = frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 0]);
            if bytes.starts_with(b"PRI") { vec![(at, Deed::Say(settings))] } else { Vec::new() }
        }
    }
    let outcome = run(&Load { timeout: ms(100), ..http2(2, 1) }, Shut);
    assert_eq!(outcome.errors, Errors { connect: 2, ..Errors::default() });
    let why = outcome.first_wrong.unwrap();
    assert!(why.contains("leave to send a request"), "{why}");
}

/// Answers that come after their requests were given up are ignored, however many there are: the others on the same
/// connection lose nothing by them.
#[test]
fn thousands_of_late_answers_end_no_connection() {
    let late = |nth: u64| nth % 10 != 1;
    let load = Load { timeout: ms(100), ..http2(6_000, 100) };
    let outcome = run(&load, Multiplexed::new(|nth, at| Some(at + if late(nth) { 150 * MS } else { MS })));
    let (all, on_time) = (outcome.requests, outcome.ok);
    assert_eq!(
        (all, outcome.errors, outcome.reconnects),
        (6_000, timeouts(6_000 - on_time), 0),
        "{:?}",
        outcome.first_wrong
    );
    assert_eq!(on_time, 600);
}
