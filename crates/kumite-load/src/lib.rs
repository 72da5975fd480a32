//! The HTTP load engine: offers HTTP/1.1 load from one thread for each CPU, and checks every answer.
//!
//! [`Load::run`] composes three parts: the *schedule* says which requests may be sent and when it is over, the *transport*
//! moves bytes over sockets, the *recorder* counts and times what is finished. The engine knows nothing of experiments.
//!
//! - In a *closed loop* each connection sends as soon as its last request is finished; only at the beginning it waits after
//!   its first one until all have had an answer, for a second at most.
//! - In an *open loop* requests are due at given instants ([`Arrivals`]), whatever the server makes of them. Each is sent
//!   on the connection that has been free for longest; if none is free it waits for one. Its response time counts from when
//!   it was due, its service time from when it was sent. What has not been sent a time-out after it was due is not sent any
//!   more and counts as `unsent`, also where a connection is free because this machine stood still.
//!
//! How requests are counted:
//!
//! - A request is finished when its answer is right, or when it has failed; each failure is of one kind ([`Errors`]).
//!   An attempt to connect that fails is a finished request too.
//! - After a failure the connection is closed and opened again; after a failure to connect, 10 ms later. But a whole answer
//!   in time leaves it as it is, also a wrong one. At most 64 connects are in flight at once.
//! - A connection that a server announces to close (`Connection: close`, HTTP/1.0) or closes while it is idle is replaced
//!   without an error. One that it closes *without notice* takes the request with it that was sent at the same moment:
//!   that request counts as `closed` and is never sent again, for nobody can tell whether the server acted on it.
//! - In TLS and HTTP/2 what is agreed on first is part of connecting: it is in no response time, and where it fails or
//!   takes longer than the time-out, that counts as `connect`, with the reason in [`Outcome::first_wrong`].
//! - In HTTP/2 a request that fails or times out fails alone, and its connection goes on, unless nothing has come on it
//!   since the request was sent. A connection on which the server says goodbye (GOAWAY) is replaced without an error when
//!   its last answer has come; what the server says it has not looked at counts as `closed`.
//! - Connections that the engine closes stay in TIME_WAIT for a minute. A server that fails thousands of requests a
//!   second can so use up the free ports: then the load ends with [`Error::NoPort`], for that is no failure of the server's.
//!
//! Three stretches of time, counted apart: the warm-up, the *window*, which is what is measured, and, if a [`Disturbance`]
//! is asked for, what it brings: a server that is stopped for a while, or a burst of connections, and then the time in
//! which it is watched. The load goes on through all of them without a pause. [`Recovery`] says how long failures lasted:
//! from the first one, and after a disturbance never from before it was over ([`Disturbed`]).
//!
//! [`Load::run`] raises the process's soft limit on open files when the connections need it; processes started later
//! inherit that.

mod check;
mod clock;
mod connection;
mod disturbance;
mod engine;
mod field;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod json;
mod protocol;
mod record;
mod request;
mod schedule;
mod threads;
mod transport;

use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::Duration;

pub use check::{Check, CheckError, JsonCheck, Pattern};
pub use disturbance::{Disturbance, DisturbanceKind};
pub use hdrhistogram::Histogram;
pub use json::Json;

use protocol::tls::Security;
pub use protocol::tls::{Tls, TlsError, TlsSessionError};
pub use record::errors::{Errors, Failure};
pub use record::last_second::LastSecond;
pub use record::log::{Finished, LOG_LIMIT, WrongStatus};
pub use record::opener::Opener;
pub use record::outcome::{Burst, Disturbed, Interval, Outcome, Recovery};
pub use record::percentile::{PERCENTILES, percentile, requests_for};
pub use record::times::Times;
pub use request::target::{Address, Target, TargetError};
pub use request::template::{Rows, TemplateError, Variables};
pub use request::{Request, RequestError};
pub use schedule::arrivals::{Arrivals, ArrivalsError, Gaps, Piece};
pub use schedule::pace::Pace;
pub use transport::Io;

/// The right answer; every other is a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expect {
    /// The status; `None` for any 2xx.
    pub status: Option<u16>,
    /// The check of its body.
    pub body: Check,
}

/// When the window closes: at whichever comes first. At least one must be given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limit {
    /// Exactly so many requests are finished in the window, and without a warm-up no more than these are sent.
    pub requests: Option<u64>,
    /// How long the window is.
    pub duration: Option<Duration>,
}

/// The version of HTTP that is spoken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Http {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2: in TLS as agreed on there, else with prior knowledge. Requests on their way on one connection are its streams,
    /// as many as [`Load::pipeline`] says if the server takes so many. A request that times out is given up alone, unless
    /// nothing has come since it was sent. What a path cannot hold (`{`, `|` …) is sent percent-encoded.
    Http2,
}

impl Http {
    /// Its name in TLS.
    fn alpn(self) -> &'static [u8] {
        match self {
            Http::Http1 => b"http/1.1",
            Http::Http2 => b"h2",
        }
    }
}

/// A load to offer.
#[derive(Debug, Clone)]
pub struct Load {
    /// Where it goes, and how often in comparison with the others: all targets are on one server, which they name
    /// alike.
    pub targets: Vec<(Target, u32)>,
    /// The request that is sent again and again.
    pub request: Request,
    /// The values of names in double braces, in the request and in the targets' paths.
    pub variables: Variables,
    /// Each connection sends back the cookies that it is given.
    pub cookies: bool,
    /// The answer that should come back.
    pub expect: Expect,
    /// The number of connections, at least 1.
    pub connections: usize,
    /// How many requests may be on their way on one connection; in HTTP/1.1 1 but for a server that takes pipelined ones.
    pub pipeline: usize,
    /// When requests are due; `None` for a closed loop.
    pub arrivals: Option<Arrivals>,
    /// How exactly requests of an open loop are sent when they are due.
    pub pace: Pace,
    /// When the window closes. Without a disturbance the load ends then, too.
    pub limit: Limit,
    /// How long the load goes on before the window opens. What is found in that time is counted apart.
    pub warm_up: Duration,
    /// May open the window sooner; `None` if the warm-up's length is fixed.
    pub opener: Option<Opener>,
    /// The longest time for an answer, from the start of sending, for a connect, and for a request of an open loop to wait
    /// for a connection. An answer that takes longer is a failure even if it is seen in the same moment.
    pub timeout: Duration,
    /// Happens when the window closes, and the recovery from it is watched; `None` for nothing. The limit must be a
    /// duration alone.
    pub disturbance: Option<Disturbance>,
    /// Every finished request is kept ([`Outcome::log`]).
    pub log: bool,
    /// The system interface that moves the bytes.
    pub io: Io,
    /// The version of HTTP.
    pub http: Http,
    /// How the server's certificate is checked, if it is spoken to in TLS.
    pub tls: Tls,
    /// One thread on each of these CPUs, but not more than connections, and one for a load with a disturbance. If there
    /// are none, the calling thread, wherever it runs. With a disturbance the calling thread too, which then stays on the first.
    pub cores: Vec<usize>,
}

impl Load {
    /// `GET`, answered by any 2xx, in a closed loop over one connection, with a time-out of one second.
    pub fn new(target: Target, limit: Limit) -> Load {
        Load {
            targets: vec![(target, 1)],
            variables: Variables::default(),
            cookies: false,
            request: Request { method: "GET".to_owned(), headers: Vec::new(), body: Vec::new() },
            expect: Expect::default(),
            connections: 1,
            pipeline: 1,
            arrivals: None,
            pace: Pace::default(),
            limit,
            warm_up: Duration::ZERO,
            opener: None,
            timeout: Duration::from_secs(1),
            disturbance: None,
            log: false,
            io: Io::default(),
            http: Http::default(),
            tls: Tls::default(),
            cores: Vec::new(),
        }
    }
}

/// An event of a load that goes on. Without [`Load::cores`], or with a disturbance, `on_event` is called by the
/// engine's thread: the time that it takes delays answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// A tenth of a second is over.
    Interval(&'a Interval),
    /// Stop the server: the window has closed.
    Pause,
    /// Let the server go on. This comes after every [`Event::Pause`], also when the run is stopped or fails.
    Resume,
}

/// Why a load could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A load that goes nowhere.
    #[error("there is no URL: give one or more, all of one server")]
    NoTarget,
    /// Targets on more than one server.
    #[error("all URLs must be of one server: {first} and {other} differ")]
    SeveralServers {
        /// Host and port of the first target.
        first: String,
        /// Host and port of the first that has others, or is to be spoken to in another way.
        other: String,
    },
    /// The request cannot be sent.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// No TLS can be spoken.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A load without connections, or none that may carry a request.
    #[error("no connections, or none that may carry a request: at least 1 is needed")]
    NoConnections,
    /// A load without an end.
    #[error("no limit: give a number of requests, a duration, or both, above 0")]
    NoLimit,
    /// A disturbance after a window whose end is not known beforehand.
    #[error("a disturbance comes after a duration: give that, and no number of requests")]
    DisturbanceLimit,
    /// A rate that no engine can offer.
    #[error(
        "a rate of {rate_rps} requests a second cannot be offered: the most is {most_rps} (threads: {threads}); \
         ask for less, or give the engine more CPUs and connections"
    )]
    Rate {
        /// The highest rate asked for.
        rate_rps: f64,
        /// How many threads would send it.
        threads: usize,
        /// The most that they could send.
        most_rps: f64,
    },
    /// A load whose every request is too late.
    #[error("a time-out of 0 leaves no time for any answer")]
    NoTimeout,
    /// More connections than files may be open.
    #[error(transparent)]
    Files(#[from] kumite_limits::TooManyConnections),
    /// The kernel's event queue failed.
    #[error("cannot wait for events ({io}): {source}")]
    Wait {
        /// The interface that failed.
        io: Io,
        /// The system's error.
        source: std::io::Error,
    },
    /// This machine has no port for another connection, or no address to begin it from.
    #[error(
        "this machine has no local port left for another connection to {place}, or no address to begin it from \
         (EADDRNOTAVAIL), which is no failure of the server's. A connection that ended keeps its port for a minute \
         (TIME_WAIT): ask for fewer connections, or widen net.ipv4.ip_local_port_range"
    )]
    NoPort {
        /// Where it was to lead.
        place: String,
    },
    /// This machine has nothing left to make another connection of.
    #[error(
        "this machine can open no more connections to {place} ({source}), which is no failure of the server's: ask for \
         fewer connections, or raise the limit (ulimit -n)"
    )]
    NoDescriptor {
        /// Where it was to lead.
        place: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// A path that no Unix socket can have.
    #[error("{}: a Unix socket's path has at most 107 bytes, and this one has {bytes}", .path.display())]
    SocketPath {
        /// The path.
        path: std::path::PathBuf,
        /// Its length.
        bytes: usize,
    },
    /// Targets that are never asked.
    #[error("all weights are 0, so nothing would be asked: give one target a weight above 0")]
    NoWeight,
    /// The server has a certificate that is not to be trusted.
    #[error(transparent)]
    Certificate(TlsSessionError),
    /// io_uring was asked for and cannot be had.
    #[error("cannot use io_uring: {0}")]
    Uring(#[from] kumite_ring::RingError),
    /// A CPU that the process may not use.
    #[error("cannot use CPU {core}: {source}")]
    Core {
        /// Its number.
        core: usize,
        /// The system's error.
        source: std::io::Error,
    },
}

/// In 100 ns not even one system call is made. Whatever could not be sent would have to be kept and counted all the same.
const MOST_RPS_OF_A_THREAD: f64 = 1e7;

impl Load {
    /// Refuses a load that cannot be offered, as far as that can be told beforehand.
    pub fn check(&self) -> Result<(), Error> {
        if let Some(Address::Unix(path)) = self.targets.first().map(|(target, _)| &target.address)
            && request::target::is_too_long(path)
        {
            return Err(Error::SocketPath { path: path.clone(), bytes: path.as_os_str().len() });
        }
        if !self.targets.is_empty() && self.targets.iter().all(|(_, weight)| *weight == 0) {
            return Err(Error::NoWeight);
        }
        if self.connections == 0 || self.pipeline == 0 {
            return Err(Error::NoConnections);
        }
        let Limit { requests, duration } = self.limit;
        if (requests.is_none() && duration.is_none())
            || requests == Some(0)
            || duration == Some(Duration::ZERO)
        {
            return Err(Error::NoLimit);
        }
        if self.disturbance.is_some() && requests.is_some() {
            return Err(Error::DisturbanceLimit);
        }
        if self.timeout.is_zero() {
            return Err(Error::NoTimeout);
        }
        let most_rps = self.threads() as f64 * MOST_RPS_OF_A_THREAD;
        let rate_rps = self.arrivals.as_ref().and_then(Arrivals::highest_rate);
        if let Some(rate_rps) = rate_rps.filter(|rate_rps| *rate_rps > most_rps) {
            return Err(Error::Rate { rate_rps, threads: self.threads(), most_rps });
        }
        request::source::RequestSource::new(self).map(drop)
    }

    /// Refuses a server whose certificate is not to be trusted: nothing of a load could be right then. One connection
    /// is made for that, and none if the server is not spoken to in TLS, or whatever it has is trusted. A server that
    /// is not there, or does not speak TLS, is left to the load.
    pub fn check_certificate(&self) -> Result<(), Error> {
        let Some((target, _)) =
            self.targets.first().filter(|(target, _)| target.secure && !self.tls.insecure)
        else {
            return Ok(());
        };
        match Security::new(&self.tls, target, self.http)?.refuses(&target.address, self.timeout) {
            Some(why) => Err(Error::Certificate(why)),
            None => Ok(()),
        }
    }

    /// The number of threads that offer it.
    fn threads(&self) -> usize {
        match self.disturbance {
            Some(_) => 1,
            None => self.cores.len().clamp(1, self.connections),
        }
    }

    /// Offers the load and returns what it found.
    ///
    /// `on_event` is told of each tenth of a second as it ends, from the start of the load on, and of what a disturbance
    /// wants. `stop` is looked at at least every 100 ms; a run that it ends reports what it has.
    pub fn run(&self, stop: &AtomicBool, on_event: &mut dyn FnMut(Event)) -> Result<Outcome, Error> {
        self.check()?;
        threads::run(self, stop, on_event)
    }

    /// As [`run`](Load::run), in a thread of its own, so that `watch`, which is told of the intervals alone, does not hold
    /// the engine up.
    pub fn run_watched(&self, stop: &AtomicBool, watch: &mut dyn FnMut(&Interval)) -> Result<Outcome, Error> {
        let (send, receive) = mpsc::channel();
        std::thread::scope(|scope| {
            let engine = scope.spawn(move || {
                self.run(stop, &mut |event| {
                    if let Event::Interval(interval) = event {
                        let _ = send.send(*interval);
                    }
                })
            });
            for interval in receive {
                watch(&interval);
            }
            engine.join().expect("the load engine does not panic")
        })
    }
}

/// A duration in ns, cut to 146 years so that sums of a few do not overflow.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX / 4)
}
