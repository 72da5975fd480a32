//! A case of a table of nasty answers, and the run of one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kumite_load::{Errors, Expect, Http, Io, Limit, Load, Outcome, Request, Step, Target, Trust};

use crate::scripted::{FLOOD, Part, Protocol, Script, Server, Then};
use crate::secure::Identity;
use crate::transports;

/// Nothing takes so long unless something is wrong, on a machine that stands still for a while neither.
const LONG: Duration = Duration::from_secs(60);
/// The time-out of a case whose server never comes to an end: longer than it takes to connect on a busy machine.
const PATIENCE: Duration = Duration::from_millis(2_500);
/// The bytes that a case may hold beyond those that the right answer takes, unless it says more.
const MORE_BYTES: u64 = 1 << 20;

/// The outcome of a case: the right answers, the failures, and the first failure in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub ok: u64,
    pub errors: Errors,
    /// The first failure in words, with `N ms` for each time and `SERVER` for the address.
    pub words: Option<String>,
}

/// A nasty answer, and what becomes of requests that get it.
pub struct Case {
    name: &'static str,
    script: Arc<Script>,
    then: Then,
    requests: u64,
    pipeline: usize,
    body: Vec<u8>,
    expect: Expect,
    never_ends: bool,
    more_bytes: u64,
    /// The requests that the server reads; `None` if it reads each of them.
    read: Option<u64>,
    told: Told,
    told_in_tls: Option<Told>,
}

impl Case {
    /// Three requests, one after the other, that want `pong` and get this answer.
    pub fn new(name: &'static str, script: impl Fn(u32) -> Vec<Part> + Send + Sync + 'static) -> Case {
        Case {
            name,
            script: Arc::new(script),
            then: Then::Keep,
            requests: 3,
            pipeline: 1,
            body: Vec::new(),
            expect: Expect { status: Some(200), equals: Some(b"pong".to_vec()), ..Expect::default() },
            never_ends: false,
            more_bytes: MORE_BYTES,
            read: None,
            told: Told { ok: 3, errors: Errors::default(), words: None },
            told_in_tls: None,
        }
    }

    pub fn then(self, then: Then) -> Case {
        Case { then, ..self }
    }

    pub fn requests(self, requests: u64) -> Case {
        Case { requests, told: Told { ok: requests, ..self.told }, ..self }
    }

    pub fn pipeline(self, pipeline: usize) -> Case {
        Case { pipeline, ..self }
    }

    pub fn posting(self, body: &[u8]) -> Case {
        Case { body: body.to_vec(), ..self }
    }

    pub fn expecting(self, expect: Expect) -> Case {
        Case { expect, ..self }
    }

    /// One request, whose answer does not end before its time-out.
    pub fn never_ends(self) -> Case {
        Case { never_ends: true, ..self.requests(1) }
    }

    pub fn more_bytes(self, more_bytes: u64) -> Case {
        Case { more_bytes, ..self }
    }

    /// The server reads only so many of the requests.
    pub fn read(self, read: u64) -> Case {
        Case { read: Some(read), ..self }
    }

    /// The failures, and the first one in words.
    pub fn fails(self, errors: Errors, words: &str) -> Case {
        let ok = self.requests - errors.total();
        Case { told: Told { ok, errors, words: Some(words.to_owned()) }, ..self }
    }

    /// The failures in TLS, if they are others.
    pub fn fails_in_tls(self, errors: Errors, words: &str) -> Case {
        let ok = self.requests - errors.total();
        Case { told_in_tls: Some(Told { ok, errors, words: Some(words.to_owned()) }), ..self }
    }
}

/// Runs every case over each transport. Panics if any is not as it says, and names all that are not.
pub fn run_all(cases: &[Case], http: Http, secure: bool) {
    let identity = Identity::new("localhost");
    let tls = secure.then_some(&identity);
    // What is allocated is counted by thread.
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let ios = [Io::Epoll].into_iter().chain(transports::uring());
        let over = |io| scope.spawn(move || run_over(io, cases, http, tls));
        let running: Vec<_> = ios.map(over).collect();
        running.into_iter().flat_map(|io| io.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs every case over a transport. Returns what is not as the cases say.
fn run_over(io: Io, cases: &[Case], http: Http, tls: Option<&Identity>) -> Vec<String> {
    let mut wrong = Vec::new();
    let right = match http {
        Http::Http1 => Case::new("the right answer", |_| vec![Part::Once(crate::answers::PONG.into())]),
        Http::Http2 => Case::new("the right answer", |id| vec![Part::Once(crate::frames::right(id))]),
    };
    let (_, usual_bytes) = run(&right, http, tls, io, &mut wrong);
    for case in cases {
        let (name, before, began) = (case.name, wrong.len(), Instant::now());
        let (told, held) = run(case, http, tls, io, &mut wrong);
        let expected = case.told_in_tls.as_ref().filter(|_| tls.is_some()).unwrap_or(&case.told);
        if told != *expected {
            wrong.push(format!("{io:?}: {name}: was told {told:?}\n    instead of {expected:?}"));
        }
        let most = usual_bytes + case.more_bytes;
        if held > most {
            wrong.push(format!("{io:?}: {name}: {held} bytes were held, more than {most}"));
        }
        let verdict = if wrong.len() == before { "as it should" } else { "WRONG" };
        println!("{io:?}: {name}: {verdict}, {held} bytes held, {:.1?}: {told:?}", began.elapsed());
    }
    wrong
}

/// Runs a case. Returns what was told and the most bytes that the load's thread held. Notes in `wrong` what was not
/// sent or not read.
fn run(case: &Case, http: Http, tls: Option<&Identity>, io: Io, wrong: &mut Vec<String>) -> (Told, u64) {
    let config = tls.map(|identity| {
        let mut config = rustls::ServerConfig::clone(&identity.config);
        config.alpn_protocols = if http == Http::Http2 { vec![b"h2".to_vec()] } else { Vec::new() };
        Arc::new(config)
    });
    let server =
        Server::start(Protocol { tls: config, http2: http == Http::Http2 }, case.script.clone(), case.then);
    let target = Target { secure: tls.is_some(), ..Target::plain(server.addr) };
    let method = if case.body.is_empty() { "GET" } else { "POST" };
    let request = Request { method: method.to_owned(), headers: Vec::new(), body: case.body.clone() };
    let step = Step { request, expect: case.expect.clone(), ..Step::new(target) };
    let load = Load {
        timeout: if case.never_ends { PATIENCE } else { LONG },
        pipeline: case.pipeline,
        http,
        io,
        trust: Trust::Any,
        ..Load::new(step, Limit { requests: Some(case.requests), duration: None })
    };
    let mut outcome = Outcome::default();
    let held = allocation_counter::measure(|| {
        outcome = load.run(&AtomicBool::new(false), &mut |_| {}).unwrap();
    });
    let address = server.addr.to_string();
    let counts = server.stop();
    let [requests, answers, bytes] =
        [&counts.requests, &counts.answers, &counts.bytes].map(|count| count.load(Ordering::SeqCst));
    let mut check = |holds: bool, what: String| {
        if !holds {
            wrong.push(format!("{io:?}: {}: {what}", case.name));
        }
    };
    let read = case.read.unwrap_or(case.requests);
    check(requests == read, format!("the server read {requests} requests, not {read}"));
    check(outcome.requests == case.requests, format!("{} requests were counted", outcome.requests));
    check(
        outcome.response.len() == outcome.ok,
        format!("{} times of {}", outcome.response.len(), outcome.ok),
    );
    let parts = (case.script)(1);
    // An answer that ends is sent whole, unless the engine had enough of its flood before.
    let is_flood = |part: &Part| matches!(part, Part::Flood(_));
    let ends = !parts.iter().any(|part| matches!(part, Part::Endless(_) | Part::Wait));
    let is_refused = parts.iter().any(is_flood) && answers == 0;
    let whole = if ends && !is_refused { read } else { 0 };
    check(answers == whole, format!("{answers} answers were sent whole, not {whole}"));
    // What is more than the kernel's buffers hold has been read by the engine.
    let least = match parts.iter().any(is_flood) {
        true if !is_refused => FLOOD as u64,
        _ => read * parts.iter().map_while(Part::length).sum::<usize>() as u64,
    };
    check(bytes >= least, format!("{bytes} bytes were sent, fewer than {least}"));
    let words = outcome.first_wrong.map(|words| without_numbers(&words, &address));
    (Told { ok: outcome.ok, errors: outcome.errors, words }, held.bytes_max)
}

/// These words without what differs from run to run.
fn without_numbers(words: &str, address: &str) -> String {
    let times = regex::Regex::new(r"\b[0-9]+\.[0-9] ms").unwrap();
    let unread = regex::Regex::new(r"the server has [0-9]+ bytes to read").unwrap();
    let words = times.replace_all(words, "N ms").replace(address, "SERVER");
    unread.replace_all(&words, "the server has N bytes to read").into_owned()
}
