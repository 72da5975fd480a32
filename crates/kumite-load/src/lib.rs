//! The HTTP load engine: it offers load in HTTP/1.1 or HTTP/2, from one thread for each CPU, and checks every answer.
//!
//! [`Load::run`] composes three parts. The *schedule* says which requests may be sent and when the load is over, the
//! *transport* moves bytes over sockets, the *recorder* counts and times finished requests. The engine knows nothing
//! of experiments.
//!
//! - In a *closed loop* each connection sends as soon as its last request is finished. Only at the beginning does it
//!   wait after its first request until all connections have had an answer, for a second at most.
//! - In an *open loop* requests are due at given instants ([`Arrivals`]), whatever the server makes of them. Each is
//!   sent on the connection that has been free for longest; if none is free it waits for one. Its response time
//!   counts from when it was due, its service time from when it was sent. A request that has not been sent a time-out
//!   after it was due is not sent any more and counts as `unsent`, even if connections were free all the time and
//!   only this machine stood still.
//!
//! - What is sent is [`Session`]s: steps in order on one connection. A plain request is a session of one step. A step
//!   that fails ends its session. In HTTP/1.1 a session has its connection for itself until it ends; in HTTP/2 several
//!   share one. The response time of a later step counts from the answer before and the pause, and the time of a
//!   session from when it was due to its last answer.
//!
//! How requests are counted:
//!
//! - A request is finished when its answer is right, or when it has failed; each failure is of one kind ([`Errors`]).
//!   In a closed loop, and in a burst, an attempt to connect that fails is a finished request, too. In an open loop
//!   it is none: requests wait for another connection.
//! - After a failure the connection is closed and opened again; after a failure to connect, 10 ms later. But after a
//!   whole answer in time, even a wrong one, the connection stays open. At most 64 connects of a thread are in flight
//!   at once, without those of a burst.
//! - A connection that has had as many requests as one is to have ([`Load::requests_per_connection`]) is closed when
//!   its last answer has come, and replaced as one that the server ends. So no request is lost by that.
//! - If a server announces that it closes a connection (`Connection: close`, HTTP/1.0), or closes it while it is
//!   idle, the connection is replaced without an error. If a server closes a connection *without notice*, a request
//!   that was sent at the same moment is lost: it counts as `closed` and is never sent again, because nobody can tell
//!   whether the server acted on it.
//! - In TLS and HTTP/2 the handshakes are part of connecting, and so in no response time of a closed loop. If they
//!   fail, or take longer than the time-out, that is a connect that failed (`connect`), and [`Outcome::first_wrong`]
//!   may say why.
//! - In HTTP/2 a request that fails or times out fails alone, and its connection goes on, unless nothing has come on
//!   it since the request was sent. A connection that the server ends with GOAWAY is replaced without an error when
//!   its last answer has come. Requests that the server then says it has not looked at count as `closed`.
//! - Connections that the engine closes stay in TIME_WAIT for a minute. So a server that fails thousands of requests
//!   a second can use up the free ports. The load then ends with [`Error::NoPort`], because that is no failure of the
//!   server's.
//!
//! A load has up to three stretches of time, counted apart: the warm-up; the *window*, which is what is measured;
//! and, if there is a [`Disturbance`], the time of the disturbance and of watching the server after it. The load goes
//! on through all of them without a pause. [`Recovery`] says how long failures lasted: from the first one, and after
//! a disturbance never from before it was over ([`Disturbed`]).
//!
//! [`Load::run`] raises the process's soft limit on open files if the connections need it. Processes that are started
//! later inherit the limit.

mod check;
mod clock;
mod connection;
mod disturbance;
mod engine;
mod expect;
mod field;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod in_flight;
mod io;
mod json;
mod protocol;
mod record;
mod request;
mod sampled;
mod schedule;
mod session;
mod threads;
mod transport;

use std::num::NonZeroU64;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::Duration;

pub use check::{Check, CheckError, JsonCheck, JsonPart, Pattern};
pub use disturbance::{Disturbance, DisturbanceKind};
pub use expect::{Expect, HeaderCheck, Sha256Digest};
pub use hdrhistogram::Histogram;
pub use io::Io;
pub use json::Json;

use protocol::tls::Security;
pub use protocol::tls::{TlsError, TlsSessionError, Trust};
pub use record::by_step::{SessionOutcome, StepOutcome};
pub use record::errors::{Errors, Failure};
pub use record::last_second::LastSecond;
pub use record::log::{Finished, LOG_LIMIT, WrongStatus};
pub use record::opener::Opener;
pub use record::outcome::{Burst, Disturbed, Interval, Outcome, Recovery};
pub use record::percentile::{PERCENTILES, percentile, requests_for};
pub use record::times::Times;
pub use request::take::{Take, TakeError, TakePlace};
pub use request::target::{Address, Target, TargetError};
pub use request::template::{Rows, TemplateError, Variables};
pub use request::{Request, RequestError};
pub use sampled::{SampledAnswer, Sampling};
pub use schedule::arrivals::{Arrivals, ArrivalsError, Gaps, Piece};
pub use schedule::pace::Pace;
pub use session::{Session, Step};

/// The end of the window: it closes when the first of these limits is reached or, without a duration, when an open
/// loop has no more arrivals. At least one limit must be given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limit {
    /// The number of sessions after which the window closes: exactly so many finish in it, unless something ends it
    /// sooner. Without a warm-up no more than these are begun. A plain request is a session. `None` for no such limit.
    pub requests: Option<u64>,
    /// The longest time for which the window is open. `None` for no such limit.
    pub duration: Option<Duration>,
}

/// The version of HTTP that the load speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Http {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2: agreed on in TLS, or in the clear with prior knowledge. A connection carries as many requests at once as
    /// [`Load::pipeline`] says, or fewer if the server takes fewer. A request that times out is given up alone, unless
    /// nothing has come on its connection since it was sent. Characters that a path cannot have (`{`, `|` …) are sent
    /// percent-encoded.
    Http2,
}

impl Http {
    /// The name of this version in TLS (ALPN).
    fn alpn(self) -> &'static [u8] {
        match self {
            Http::Http1 => b"http/1.1",
            Http::Http2 => b"h2",
        }
    }
}

/// A load to offer to a server.
#[derive(Debug, Clone)]
pub struct Load {
    /// The sessions that connections begin over and over, each in proportion to its weight.
    pub sessions: Vec<Session>,
    /// The values for names in double braces, in requests and in the targets' paths.
    pub variables: Variables,
    /// `true` if the cookies that the server sets on a connection are sent back on that connection.
    pub cookies: bool,
    /// The number of connections, at least 1.
    pub connections: usize,
    /// The most requests that may be on their way on one connection. In HTTP/1.1 it should be 1, unless the server
    /// takes pipelined requests. At least 1.
    pub pipeline: usize,
    /// The number of requests after which a connection is ended, when the last of their answers has come, and another
    /// one is opened in its place; `None` for as many as the server takes.
    pub requests_per_connection: Option<NonZeroU64>,
    /// The number of connections that are held open beside the load, and carry no request. They are opened before the
    /// load begins; one that ends is opened again.
    pub idle_connections: usize,
    /// The instants at which requests are due; `None` for a closed loop.
    pub arrivals: Option<Arrivals>,
    /// The precision with which requests of an open loop are sent when they are due.
    pub pace: Pace,
    /// The end of the window. Without a disturbance the load ends then, too.
    pub limit: Limit,
    /// The time for which the load goes on before the window opens. Requests of that time are counted apart.
    pub warm_up: Duration,
    /// A handle that may open the window sooner; `None` if the warm-up's length is fixed.
    pub opener: Option<Opener>,
    /// The longest time for an answer, from the start of sending. It also limits a connect, and the time for which a
    /// request of an open loop waits for a connection. A later answer is a failure, even if it is there when the
    /// time-out is noticed.
    pub timeout: Duration,
    /// A disturbance when the window closes, after which the recovery is watched; `None` for none. With a disturbance
    /// the limit must be a duration alone.
    pub disturbance: Option<Disturbance>,
    /// The time over which connections are opened again if they end after a pause has begun. Each connection has a
    /// place of its own in this time: the first comes at once, the last near the end. 0 opens all of them at once.
    /// Without a pause it changes nothing.
    pub reopen_spread: Duration,
    /// `true` if every request that is counted is kept in [`Outcome::log`], up to [`LOG_LIMIT`] of them.
    pub log: bool,
    /// The choice of right answers that are kept in [`Outcome::sampled`]; `None` for none.
    pub sampling: Option<Sampling>,
    /// The system interface that moves the bytes over sockets.
    pub io: Io,
    /// The version of HTTP that the load speaks.
    pub http: Http,
    /// The certificates that are trusted, if the targets are spoken to in TLS.
    pub trust: Trust,
    /// The CPUs to run on: one thread on each, but no more threads than connections. If the list is empty, the calling
    /// thread offers the load, on whatever CPU it runs. With a disturbance the calling thread offers the load, too, and
    /// stays on the first CPU of the list.
    pub cores: Vec<usize>,
}

impl Load {
    /// A load of this step, in a closed loop over one connection, without a warm-up, with a time-out of one second. A
    /// [`Target`] may be given for the step: it stands for a `GET` that any 2xx answers.
    pub fn new(step: impl Into<Step>, limit: Limit) -> Load {
        Load::of(vec![step.into().into()], limit)
    }

    /// A load of these sessions, in a closed loop over one connection, without a warm-up, with a time-out of one
    /// second.
    pub fn of(sessions: Vec<Session>, limit: Limit) -> Load {
        Load {
            sessions,
            variables: Variables::default(),
            cookies: false,
            connections: 1,
            pipeline: 1,
            requests_per_connection: None,
            idle_connections: 0,
            arrivals: None,
            pace: Pace::default(),
            limit,
            warm_up: Duration::ZERO,
            opener: None,
            timeout: Duration::from_secs(1),
            disturbance: None,
            reopen_spread: Duration::ZERO,
            log: false,
            sampling: None,
            io: Io::default(),
            http: Http::default(),
            trust: Trust::default(),
            cores: Vec::new(),
        }
    }
}

/// An event of a running load. Without [`Load::cores`], or with a disturbance, the engine's thread calls `on_event`:
/// time that the call takes delays answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// A tenth of a second is over, with these figures.
    Interval(&'a Interval),
    /// The window has closed, and the server is to be stopped.
    Pause,
    /// The server is to go on. This comes after every [`Event::Pause`], even if the run is stopped or fails.
    Resume,
}

/// The reason why a load could not be run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The load has no target.
    #[error("there is no URL: give one or more, all of one server")]
    NoTarget,
    /// The targets are on more than one server.
    #[error("all URLs must be of one server: {first} and {other} differ")]
    SeveralServers {
        /// Host and port of the first target, as its URL has them.
        first: String,
        /// Host and port of a target that differs from the first in them, in its address, or in TLS.
        other: String,
    },
    /// The request cannot be sent.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// [`Load::connections`] or [`Load::pipeline`] is 0.
    #[error("no connections, or none that may carry a request: at least 1 is needed")]
    NoConnections,
    /// The load has no limit, or one of 0.
    #[error("no limit: give a number of requests, a duration, or both, above 0")]
    NoLimit,
    /// The load has a disturbance and a limit in requests: the end of the window must be known beforehand.
    #[error("a disturbance comes after a duration: give that, and no number of requests")]
    DisturbanceLimit,
    /// The arrivals have a rate that this engine cannot offer.
    #[error(
        "a rate of {rate_rps} requests a second cannot be offered: the most is {most_rps} (threads: {threads}); \
         ask for less, or give the engine more CPUs and connections"
    )]
    Rate {
        /// The highest rate of the arrivals, in requests a second.
        rate_rps: f64,
        /// The number of threads that would send the requests.
        threads: usize,
        /// The most requests a second that these threads could send.
        most_rps: f64,
    },
    /// The time-out is 0, so that every answer would be too late.
    #[error("a time-out of 0 leaves no time for any answer")]
    NoTimeout,
    /// More connections are asked for than files may be open.
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
    /// This machine has no local port for another connection, or no address to begin it from.
    #[error(
        "this machine has no local port left for another connection to {place}, or no address to begin it from \
         (EADDRNOTAVAIL), which is no failure of the server's. A connection that ended keeps its port for a minute \
         (TIME_WAIT): ask for fewer connections, or widen net.ipv4.ip_local_port_range"
    )]
    NoPort {
        /// The address that the connection was to lead to.
        place: String,
    },
    /// This machine lacks files or memory for another connection.
    #[error(
        "this machine can open no more connections to {place} ({source}), which is no failure of the server's: ask for \
         fewer connections, or raise the limit (ulimit -n)"
    )]
    NoDescriptor {
        /// The address that the connection was to lead to.
        place: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The path of a Unix socket is too long.
    #[error("{}: a Unix socket's path has at most 107 bytes, and this one has {bytes}", .path.display())]
    SocketPath {
        /// The path of the socket.
        path: std::path::PathBuf,
        /// The path's length in bytes.
        bytes: usize,
    },
    /// A session has no step.
    #[error("the session {name:?} has no request: give it one")]
    NoSteps {
        /// The session's name.
        name: String,
    },
    /// The first step of a session has a pause before it.
    #[error(
        "the first request of the session {name:?} has a pause before it: a session begins when it is due"
    )]
    FirstPause {
        /// The session's name.
        name: String,
    },
    /// A session has several steps, and HTTP/1.1 is to have several requests on their way on one connection.
    #[error(
        "the session {name:?} has its connection for itself in HTTP/1.1: ask for one request in flight, or for HTTP/2"
    )]
    Pipeline {
        /// The session's name.
        name: String,
    },
    /// A session has several steps, and the load has a burst, whose connections carry one request each.
    #[error("a burst is of single requests, and the session {name:?} has several")]
    BurstOfSession {
        /// The session's name.
        name: String,
    },
    /// A step takes a value under a name that stands for something else already, such as `seq` or a column of the CSV
    /// file.
    #[error(
        "a value taken in the session {session:?} has the name {name:?}, which stands for something else: give another"
    )]
    TakeName {
        /// The session's name.
        session: String,
        /// The name of the value.
        name: String,
    },
    /// The sessions' weights, divided by their greatest common divisor, add up to more than `most`.
    #[error(
        "the weights add up to more than {most}, after they are divided by what they have in common: give rounder ones"
    )]
    Weights {
        /// The largest sum that is allowed.
        most: u64,
    },
    /// All sessions have the weight 0, so that none is ever begun.
    #[error("all weights are 0, so nothing would be asked: give one target a weight above 0")]
    NoWeight,
    /// The server's certificate is not to be trusted.
    #[error(transparent)]
    Certificate(TlsSessionError),
    /// io_uring was asked for and cannot be used.
    #[error("cannot use io_uring: {0}")]
    Uring(#[from] kumite_ring::RingError),
    /// A CPU of [`Load::cores`] may not be used by this process.
    #[error("cannot use CPU {core}: {source}")]
    Core {
        /// The CPU's number.
        core: usize,
        /// The system's error.
        source: std::io::Error,
    },
}

/// The most requests a second that one thread is asked for. In the 100 ns between two of them not even one system
/// call is made, and each that could not be sent would have to be kept and counted all the same.
const MOST_RPS_OF_A_THREAD: f64 = 1e7;

impl Load {
    /// Returns an error if the load's own settings show that it cannot be offered. No connection is made, and no file
    /// of certificates is read.
    pub fn check(&self) -> Result<(), Error> {
        if let Some(Address::Unix(path)) = self.first_target().map(|target| &target.address)
            && request::target::is_too_long(path)
        {
            return Err(Error::SocketPath { path: path.clone(), bytes: path.as_os_str().len() });
        }
        self.sessions.iter().try_for_each(|session| self.check_session(session))?;
        if !self.sessions.is_empty() && self.sessions.iter().all(|session| session.weight == 0) {
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

    fn check_session(&self, session: &Session) -> Result<(), Error> {
        let name = || session.name.clone();
        let first = session.steps.first().ok_or_else(|| Error::NoSteps { name: name() })?;
        if !first.think.is_zero() {
            return Err(Error::FirstPause { name: name() });
        }
        if session.steps.len() > 1 && self.pipeline > 1 && self.http == Http::Http1 {
            return Err(Error::Pipeline { name: name() });
        }
        let has_burst = self.disturbance.is_some_and(|disturbance| disturbance.connections() > 0);
        if session.steps.len() > 1 && has_burst {
            return Err(Error::BurstOfSession { name: name() });
        }
        let mut takes = session.steps.iter().flat_map(|step| &step.takes);
        match takes.find(|take| self.variables.has(&take.name)) {
            Some(take) => Err(Error::TakeName { session: name(), name: take.name.clone() }),
            None => Ok(()),
        }
    }

    /// Checks that the server's certificate is trusted, because without trust no answer of a load could be right. Makes
    /// one connection; none if the server is not spoken to in TLS, or any certificate is trusted. A server that is not
    /// there, or does not speak TLS, passes: the load will show it.
    ///
    /// [`Error::Certificate`] if the certificate is not trusted, [`Error::Tls`] if TLS cannot be set up.
    pub fn check_certificate(&self) -> Result<(), Error> {
        let target = self.first_target().filter(|target| target.secure && self.trust != Trust::Any);
        let Some(target) = target else { return Ok(()) };
        match Security::new(&self.trust, target, self.http)?.refuses(&target.address, self.timeout) {
            Some(why) => Err(Error::Certificate(why)),
            None => Ok(()),
        }
    }

    /// The target of the first step, which names the server.
    fn first_target(&self) -> Option<&Target> {
        self.sessions.first().and_then(|session| session.steps.first()).map(|step| &step.target)
    }

    /// The same load, with `change` applied to each of its steps.
    pub fn with_steps(mut self, mut change: impl FnMut(&mut Step)) -> Load {
        self.sessions.iter_mut().flat_map(|session| &mut session.steps).for_each(&mut change);
        self
    }

    /// The number of threads that offer the load.
    fn threads(&self) -> usize {
        match self.disturbance {
            Some(_) => 1,
            None => self.cores.len().clamp(1, self.connections),
        }
    }

    /// Offers the load, and returns its outcome.
    ///
    /// `on_event` is called when a tenth of a second ends, from the start of the load on, and for the pauses of a
    /// disturbance. `stop` is looked at every 100 ms or more often. A load that `stop` ends returns its outcome until
    /// then.
    ///
    /// An error if the load cannot be offered as it is described, or this machine cannot offer it. A server that fails
    /// or cannot be reached is no error: its failures are counted in [`Outcome::errors`].
    pub fn run(&self, stop: &AtomicBool, on_event: &mut dyn FnMut(Event)) -> Result<Outcome, Error> {
        self.check()?;
        threads::run(self, stop, on_event)
    }

    /// Offers the load as [`run`](Load::run) does, in a thread of its own. The calling thread calls `watch` with each
    /// interval, so `watch` cannot delay the engine. A disturbance's [`Event::Pause`] and [`Event::Resume`] are not
    /// passed on, so a load with a pause needs [`run`](Load::run).
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
