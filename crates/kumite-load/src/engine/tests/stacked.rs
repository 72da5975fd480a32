//! A simulated server for each protocol: HTTP/1.1 or HTTP/2, in the clear or in TLS. Requests say in their bodies what
//! they are, which HTTP/2 leaves as it is; a path it would pack.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::rc::Rc;
use std::sync::Arc;

use rcgen::KeyPair;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};

use super::*;
use crate::{Http, Session, Trust};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A protocol as the bytes have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocol {
    pub http: Http,
    pub secure: bool,
}

/// HTTP/1.1 and HTTP/2, each in the clear and in TLS.
pub const PROTOCOLS: [Protocol; 4] = [
    Protocol { http: Http::Http1, secure: false },
    Protocol { http: Http::Http1, secure: true },
    Protocol { http: Http::Http2, secure: false },
    Protocol { http: Http::Http2, secure: true },
];

impl Protocol {
    /// This load over this protocol: with so many requests on their way at once, on connections of HTTP/1.1 or on
    /// streams of one connection of HTTP/2.
    pub fn speaking(self, at_once: usize, load: Load) -> Load {
        let (connections, pipeline) = match self.http {
            Http::Http1 => (at_once, 1),
            Http::Http2 => (1, at_once),
        };
        let load = Load { connections, pipeline, http: self.http, trust: Trust::Any, ..load };
        load.with_steps(|step| step.target.secure = self.secure)
    }
}

/// A step that asks for this, `think` ns after the step before.
pub fn step(what: &str, think: u64) -> Step {
    let mut step = load(0).sessions[0].steps[0].clone();
    (step.request.method, step.request.body) = ("POST".to_owned(), what.as_bytes().to_vec());
    Step { name: what.to_owned(), think: ns(think), ..step }
}

/// A session of these steps.
pub fn session(name: &str, weight: u32, steps: &[Step]) -> Session {
    Session { name: name.to_owned(), weight, steps: steps.to_vec() }
}

/// A request as the server has it: its instant in ns, its connection from 1, and what it asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    pub at: u64,
    pub connection: u64,
    pub what: String,
}

type Visits = Rc<RefCell<Vec<Visit>>>;

/// A server that answers each request, on its stream in HTTP/2, with bytes at an instant in ns, in the order of the
/// requests.
pub struct Stacked<F> {
    protocol: Protocol,
    config: Option<Arc<ServerConfig>>,
    answer: F,
    connections: BTreeMap<u64, Heard>,
}

impl<F: FnMut(&Visit, u32) -> (u64, Vec<u8>)> Stacked<F> {
    pub fn new(protocol: Protocol, answer: F) -> Stacked<F> {
        let config = protocol.secure.then(|| config(protocol.http));
        Stacked { protocol, config, answer, connections: BTreeMap::new() }
    }
}

/// The right answer on this stream.
pub fn right(http: Http, stream: u32) -> Vec<u8> {
    match http {
        Http::Http1 => PONG.as_bytes().to_vec(),
        Http::Http2 => in_frames(stream, &[b"pong"]),
    }
}

/// An answer of HTTP/2 with these parts of a body, each in a frame of its own.
pub fn in_frames(stream: u32, parts: &[&[u8]]) -> Vec<u8> {
    // `:status: 200` has one byte.
    let mut frames = frame(HEADERS, END_HEADERS, stream, &[0x88]);
    parts.iter().for_each(|part| frames.extend(frame(DATA, 0, stream, part)));
    frames.extend(frame(DATA, END_STREAM, stream, b""));
    frames
}

#[derive(Default)]
struct Heard {
    tls: Option<ServerConnection>,
    plain: Vec<u8>,
    greeted: bool,
    /// The instant in ns of the last thing that was said: TLS cannot be said in another order.
    said_at: u64,
}

/// The outcome of a load over this protocol, and the requests that the server had; the clock of both is the load's.
pub fn visited(
    protocol: Protocol,
    load: &Load,
    mut answer: impl FnMut(&Visit) -> u64,
) -> (Outcome, Vec<Visit>) {
    let visits = Visits::default();
    // The load begins when its connections are open, and its first request is due then.
    let mut began = None;
    let server = Stacked::new(protocol, |visit, stream| {
        visits.borrow_mut().push(visit.clone());
        let began = *began.get_or_insert(visit.at);
        let answered = began + answer(&Visit { at: visit.at - began, ..visit.clone() });
        (answered, right(protocol.http, stream))
    });
    let outcome = run(load, server);
    let mut visits = visits.take();
    let began = visits.first().map_or(0, |first| first.at);
    visits.iter_mut().for_each(|visit| visit.at -= began);
    (outcome, visits)
}

fn config(http: Http) -> Arc<ServerConfig> {
    let key = KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap().der().clone();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
        .unwrap();
    config.alpn_protocols = vec![http.alpn().to_vec()];
    Arc::new(config)
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

impl Heard {
    /// What is asked next, with its stream; `None` if it has not come whole. In HTTP/1.1 a request is the whole of what
    /// has come.
    fn take_request(&mut self, http: Http) -> Option<(String, u32)> {
        if http == Http::Http1 {
            let head = self.plain.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
            let what = self.plain.split_off(head);
            self.plain.clear();
            return Some((String::from_utf8(what).unwrap(), 0));
        }
        while let Some([a, b, c, kind, flags, id @ ..]) = self.plain.first_chunk::<9>().copied() {
            let end = 9 + u32::from_be_bytes([0, a, b, c]) as usize;
            if self.plain.len() < end {
                break;
            }
            let payload = self.plain[9..end].to_vec();
            self.plain.drain(..end);
            if kind == DATA && flags & END_STREAM != 0 {
                return Some((String::from_utf8(payload).unwrap(), u32::from_be_bytes(id)));
            }
        }
        None
    }

    /// Says this at the instant `at`.
    fn say(&mut self, at: u64, plain: &[u8], deeds: &mut Deeds) {
        assert!(at >= self.said_at, "{at} is before {}", self.said_at);
        let mut said = plain.to_vec();
        if let Some(tls) = &mut self.tls {
            said.clear();
            tls.writer().write_all(plain).unwrap();
            while tls.wants_write() {
                tls.write_tls(&mut said).unwrap();
            }
        }
        if !said.is_empty() {
            self.said_at = at;
            deeds.push((at, Deed::Say(said)));
        }
    }
}

impl<F: FnMut(&Visit, u32) -> (u64, Vec<u8>)> Server for Stacked<F> {
    fn receive(&mut self, connection: u64, at: u64, mut bytes: &[u8]) -> Deeds {
        let (http, mut deeds) = (self.protocol.http, Deeds::new());
        let heard = self.connections.entry(connection).or_insert_with(|| Heard {
            tls: self.config.clone().map(|config| ServerConnection::new(config).unwrap()),
            ..Heard::default()
        });
        match &mut heard.tls {
            None => heard.plain.extend_from_slice(bytes),
            Some(tls) => {
                while !bytes.is_empty() {
                    tls.read_tls(&mut bytes).unwrap();
                    tls.process_new_packets().unwrap();
                }
                let _ = tls.reader().read_to_end(&mut heard.plain);
                if tls.wants_write() {
                    heard.say(at, b"", &mut deeds);
                }
            }
        }
        if http == Http::Http2 && !heard.greeted && heard.plain.len() >= 24 {
            heard.greeted = true;
            heard.plain.drain(..24);
            heard.say(at, &frame(SETTINGS, 0, 0, &[]), &mut deeds);
        }
        while let Some((what, stream)) = heard.take_request(http) {
            let (answered, answer) = (self.answer)(&Visit { at, connection, what }, stream);
            heard.say(answered, &answer, &mut deeds);
        }
        deeds
    }
}
