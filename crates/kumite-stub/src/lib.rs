//! The delay stub: an HTTP/1.1 server whose behaviour is known, to measure load engines and what stands in between.
//!
//! One thread over epoll gives one prepared answer to every request, whatever its method and path, after a delay that is
//! drawn from a seeded distribution. It can also fail, stall, and have too few connections or workers, on purpose. What it
//! really did, and how late, is in its [`Report`].
//!
//! - **The delay counts from when a request was read**: from when the read returned that brought its last byte. It is
//!   never shorter; it is longer by the lateness, which is measured. A client waits longer still: for the way there and
//!   back, and for the stub to come to its request when many came at once.
//! - With [`Config::workers`], a request that finds all of them at work waits, and its delay counts from when the answer was due that set one free (so
//!   lateness does not add up: N workers give exactly N answers in each delay).
//! - **The n-th request that is read has the n-th delay** of [`Delay::draws`] and the n-th fate of [`Failures::draws`],
//!   so that both repeat with the seed; a delay in a request's query (`/?delay=20ms`, fixed times alone) replaces its own
//!   and shifts no other. With one connection, or open-loop load in the same order, runs repeat exactly.
//! - Requests on a connection are served one after the other: one that was sent before the answer to the one before it
//!   (pipelining) is read when that answer is sent. Answers are thus in order.
//! - A failure comes when its answer would have been due.
//! - In a [`Stall`] nothing is done, as if the process were stopped. What is due in it is done at its end, and counts
//!   as late only from then on.
//! - Above [`Config::connections`], a new connection waits in the kernel's backlog ([`OverLimit::Wait`], what servers
//!   with a pool of threads do), where its client already takes it for open; or it is accepted and closed at once
//!   ([`OverLimit::Close`], what servers do that shed load). Without a limit, as many are open as files may be.
//! - Input that is no request gets a 400 at once, and nothing after it on that connection is read.

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
    /// The address of this machine where it listens; 127.0.0.1 by default.
    pub host: Ipv4Addr,
    /// The port there; 0 for any that is free.
    pub port: u16,
    /// How long answers take.
    pub delay: Delay,
    /// The body of every answer, failures included.
    pub body: Vec<u8>,
    /// The status of answers that do not fail, from 200 to 599. With 204 and 304 there is no body.
    pub status: u16,
    /// The failures among its answers; `None` for none.
    pub failures: Option<Failures>,
    /// The times at which it does nothing; `None` for none.
    pub stall: Option<Stall>,
    /// The most connections that are open at once, at least 1; none for as many as files may be open.
    pub connections: Option<usize>,
    /// The fate of connections above that.
    pub over_limit: OverLimit,
    /// The most requests that are in their delay at once, at least 1; the others wait in order. None for no limit.
    pub workers: Option<usize>,
    /// The most connections that the kernel holds for it until they are accepted. The kernel has a limit of its own
    /// (`net.core.somaxconn`).
    pub backlog: i32,
    /// The answer on each connection after which it is closed, at least 1; none for no such answer.
    pub close_after: Option<u64>,
    /// The seed of the delays and the failures.
    pub seed: u64,
}

impl Default for Config {
    /// `200 pong` at once, always.
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

/// The fate of a connection too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverLimit {
    /// It waits in the backlog until another one is closed.
    Wait,
    /// It is accepted and closed at once.
    Close,
}

/// Why a stub cannot work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address or the port cannot be had.
    #[error("cannot listen on {host}:{port}: {source}; choose another port, or 0 for any that is free")]
    Listen {
        /// The address.
        host: Ipv4Addr,
        /// The port.
        port: u16,
        /// The system's error.
        source: io::Error,
    },
    /// More connections than files may be open.
    #[error(transparent)]
    Files(#[from] kumite_limits::TooManyConnections),
    /// The kernel failed it.
    #[error("the stub cannot go on: {0}")]
    System(#[from] io::Error),
}

/// A stub that listens and does nothing else yet.
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
    /// Raises the process's soft limit on open files, if the connections need it, or to the hard limit if their number is
    /// not limited; processes started later inherit that.
    ///
    /// # Errors
    ///
    /// If the port is not free, or more connections are wanted than files may be open.
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

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Serves from the calling thread, whose timer slack becomes 1 ns, until `stop` is set, which is looked at at least
    /// every 50 ms. What has no answer by then gets none.
    ///
    /// # Errors
    ///
    /// If the kernel fails to wait for events or to accept connections.
    pub fn serve(self, stop: &AtomicBool) -> Result<Report, Error> {
        Ok(server::serve(self.config, &self.listener, self.start, stop)?)
    }

    /// Listens, and serves from a thread of its own.
    ///
    /// # Errors
    ///
    /// As [`listen`](Stub::listen), or if there can be no thread.
    pub fn start(config: Config) -> Result<Running, Error> {
        let stub = Stub::listen(config)?;
        let (addr, start) = (stub.addr, stub.start);
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = thread::Builder::new().name("stub".to_owned()).spawn(move || stub.serve(&seen))?;
        Ok(Running { addr, start, stop, thread: Some(thread) })
    }
}

/// A stub at work. Ends when it is dropped.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub addr: SocketAddr,
    /// When it began to listen: what stalls count from.
    pub start: Instant,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Report, Error>>>,
}

impl Running {
    /// Ends it, and says what it did.
    ///
    /// # Errors
    ///
    /// As [`Stub::serve`].
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
