//! The delay stub: an HTTP/1.1 server whose behaviour is known, to measure load engines and what stands in between.
//!
//! One thread over epoll gives one prepared answer to every request, whatever its method and path (to HEAD without
//! the body), after a delay that is drawn from a seeded distribution. It can also fail, stall, and have too few
//! connections or workers, on purpose. Its [`Report`] says what it really did, and how late.
//!
//! - **The delay counts from when a request was read**: from when the read returned that brought its last byte. It is
//!   never shorter; it is longer by the lateness, which is measured. A client waits longer still: for the way there
//!   and back, and for the stub to come to its request when many came at once.
//! - With [`Config::workers`], a request that finds all of them at work waits. Its delay then counts from when the
//!   answer was due that set a worker free, so lateness does not add up: N workers give exactly N answers in each
//!   delay.
//! - **The n-th request that is read has the n-th delay** of [`Delay::draws`] and the n-th fate of
//!   [`Failures::draws`], so that both repeat with the seed. A delay in a request's query (`/?delay=20ms`, fixed
//!   times alone) replaces its own and shifts no other. With one connection, or open-loop load in the same order,
//!   runs repeat exactly.
//! - Requests on a connection are served one after the other: one that was sent before the answer to the one before
//!   it (pipelining) is read when that answer is sent. Answers are thus in order.
//! - A failure comes when its answer would have been due.
//! - In a [`Stall`] nothing is done, as if the process were stopped. What is due in it is done at its end, and counts
//!   as late only from then on.
//! - Above [`Config::connections`], a new connection waits in the kernel's backlog ([`OverLimit::Wait`], as with
//!   servers that have a pool of threads), where its client already takes it for open; or it is accepted and closed
//!   at once ([`OverLimit::Close`], as with servers that shed load). Without a limit, as many are open as files may
//!   be.
//! - Input that is no request gets a 400 at once, and the rest of that connection's input is discarded.

mod answers;
mod clock;
mod delay;
mod draw;
mod failures;
mod notation;
mod report;
mod request;
mod server;
mod stall;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

pub use delay::Delay;
pub use failures::{FailureKind, Failures};
pub use notation::NotationError;
pub use report::Report;
pub use stall::Stall;

/// The behaviour of a stub.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The address on which the stub listens; 127.0.0.1 by default.
    pub host: Ipv4Addr,
    /// The port on which the stub listens; 0 for any that is free.
    pub port: u16,
    /// The distribution of the delays before answers.
    pub delay: Delay,
    /// The body of every answer to a request, failures included. The 400 to other input has a body of its own.
    pub body: Vec<u8>,
    /// The status of answers that do not fail, from 200 to 599. With 204 and 304 there is no body.
    pub status: u16,
    /// The failures among the answers; none for no failures.
    pub failures: Option<Failures>,
    /// The stretches of time in which the stub does nothing; none for none.
    pub stall: Option<Stall>,
    /// The most connections that are open at once, at least 1; none for as many as files may be open.
    pub connections: Option<usize>,
    /// The fate of connections above `connections`.
    pub over_limit: OverLimit,
    /// The most requests that are in their delay at once, at least 1; others wait in order. None for no limit.
    pub workers: Option<usize>,
    /// The most connections that the kernel holds until they are accepted. The kernel has a limit of its own
    /// (`net.core.somaxconn`).
    pub backlog: i32,
    /// The number of answers after which a connection is closed, at least 1; none to keep connections open.
    pub close_after: Option<u64>,
    /// The seed of the delays and the failures.
    pub seed: u64,
}

impl Default for Config {
    /// A stub that answers `200 pong` at once, always.
    fn default() -> Config {
        Config {
            host: Ipv4Addr::LOCALHOST,
            port: 0,
            delay: Delay::NONE,
            body: b"pong".to_vec(),
            status: 200,
            failures: None,
            stall: None,
            connections: None,
            over_limit: OverLimit::Wait,
            workers: None,
            backlog: 4096,
            close_after: None,
            seed: 0,
        }
    }
}

/// The fate of a connection above the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverLimit {
    /// The connection waits in the backlog until another one is closed.
    Wait,
    /// The connection is accepted and closed at once.
    Close,
}

/// The reason why a stub cannot work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The stub cannot listen on the address and port.
    #[error("cannot listen on {host}:{port}: {source}; choose another port, or 0 for any that is free")]
    Listen {
        /// The address that was asked for.
        host: Ipv4Addr,
        /// The port that was asked for.
        port: u16,
        /// The error of the system.
        source: io::Error,
    },
    /// More connections are wanted than files may be open, or the limit on open files cannot be raised.
    #[error(transparent)]
    Files(#[from] kumite_limits::TooManyConnections),
    /// The kernel failed to announce events or to accept a connection, or gave no thread.
    #[error("the stub cannot go on: {0}")]
    System(#[from] io::Error),
}

/// A stub that listens, and does not serve yet.
#[derive(Debug)]
pub struct Stub {
    config: Config,
    listener: TcpListener,
    addr: SocketAddr,
    start: Instant,
}

impl Stub {
    /// Starts to listen: from now on connections are taken, and stalls count.
    ///
    /// Raises the process's soft limit on open files, if the connections need it, or to the hard limit if their
    /// number is not limited; processes started later inherit the limit.
    ///
    /// # Errors
    ///
    /// If the address and port cannot be listened on, more connections are wanted than files may be open, or the
    /// limit on these cannot be raised.
    pub fn listen(config: Config) -> Result<Stub, Error> {
        match config.connections {
            Some(connections) => kumite_limits::make_room(connections)?,
            None => {
                let maximum = getrlimit(Resource::Nofile).maximum;
                // If that is refused, there is room for fewer.
                let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
            }
        }
        let listen = || {
            let listener = TcpListener::bind((config.host, config.port))?;
            // The standard library has a backlog of its own.
            rustix::net::listen(&listener, config.backlog)?;
            listener.set_nonblocking(true)?;
            // Connections inherit it.
            rustix::net::sockopt::set_tcp_nodelay(&listener, true)?;
            Ok((listener.local_addr()?, listener))
        };
        let (addr, listener) =
            listen().map_err(|source| Error::Listen { host: config.host, port: config.port, source })?;
        Ok(Stub { config, listener, addr, start: Instant::now() })
    }

    /// The address and port on which the stub listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Serves from the calling thread, whose timer slack becomes 1 ns, until `stop` is set, which is seen within 50
    /// ms. Requests without an answer by then get none.
    ///
    /// # Errors
    ///
    /// If the kernel fails to announce events or to accept connections.
    pub fn serve(self, stop: &AtomicBool) -> Result<Report, Error> {
        Ok(server::serve(self.config, &self.listener, self.start, stop)?)
    }

    /// Listens, and serves from a thread of its own.
    ///
    /// # Errors
    ///
    /// Those of [`listen`](Stub::listen), and if there can be no thread.
    pub fn start(config: Config) -> Result<Running, Error> {
        let stub = Stub::listen(config)?;
        let (addr, start) = (stub.addr, stub.start);
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = thread::Builder::new().name("stub".to_owned()).spawn(move || stub.serve(&seen))?;
        Ok(Running { addr, start, stop, thread: Some(thread) })
    }
}

/// A stub at work on a thread of its own. It ends when this is dropped.
#[derive(Debug)]
pub struct Running {
    /// The address and port on which the stub listens.
    pub addr: SocketAddr,
    /// The moment at which the stub began to listen, from which stalls count.
    pub start: Instant,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Report, Error>>>,
}

impl Running {
    /// Ends the stub, and returns its report.
    ///
    /// # Errors
    ///
    /// Those of [`Stub::serve`].
    pub fn stop(mut self) -> Result<Report, Error> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("only this and dropping take it");
        thread.join().unwrap_or_else(|payload| panic::resume_unwind(payload))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
