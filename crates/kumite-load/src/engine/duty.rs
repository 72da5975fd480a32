//! A thread's part of a load: its share of the connections, the requests and the arrivals, and all that it needs to
//! read answers by itself. Threads share no counts and no connections.

use crate::engine::sampler::Sampler;
use crate::protocol::incoming::ExpectedAnswer;
use crate::protocol::layers::Dialect;
use crate::protocol::response::{Asked, HELD_LIMIT, HeldRoom, Keep};
use crate::record::log::Log;
use crate::request::source::RequestSource;
use crate::schedule::arrivals::Instants;
use crate::{Limit, Load, Step};

pub(crate) struct Duty {
    pub base_connections: usize,
    /// The number of this thread's first connection in the whole load, counted from 0.
    pub first_connection: usize,
    /// The number of connections for a burst, besides `base_connections`.
    pub burst_connections: usize,
    /// The number of connections that are held open and carry no request, besides all others.
    pub idle_connections: usize,
    pub limit: Limit,
    pub arrivals: Option<Instants>,
    pub dialect: Dialect,
    /// The expected answer of each step, numbered through.
    pub expected: Vec<ExpectedAnswer>,
    pub log: Option<Log>,
    pub sampler: Option<Sampler>,
}

impl Duty {
    /// The number of this thread's connections.
    pub fn all_connections(&self) -> usize {
        self.base_connections + self.burst_connections + self.idle_connections
    }

    /// The part of thread number `thread`, counted from 0. If the load cannot be divided evenly, each of the first
    /// threads gets one more connection, or request, than the others.
    pub fn of_thread(
        load: &Load,
        requests: &RequestSource,
        dialect: &Dialect,
        thread: usize,
        threads: usize,
    ) -> Duty {
        let part = |all: usize, nth: usize| all / threads + usize::from(nth < all % threads);
        let sessions = load
            .limit
            .requests
            .map(|all| all / threads as u64 + u64::from((thread as u64) < all % threads as u64));
        let held = HeldRoom::new(HELD_LIMIT / threads);
        let expected = |(number, step): (u32, &Step)| {
            let takings = requests.takings(number).to_vec();
            let keep = Keep {
                head: takings.iter().any(|taking| taking.take.place.is_in_head()),
                body: takings.iter().any(|taking| taking.take.place.is_in_body()),
            };
            let Step { request, expect, .. } = step;
            let asked =
                Asked::new(request.method == "HEAD", request.asks_to_close(), expect.clone(), load.cookies);
            let asked = Asked { wants_excerpt: load.log, held: held.clone(), keep, ..asked };
            ExpectedAnswer { asked, takings, request: requests.label(number).to_owned() }
        };
        Duty {
            base_connections: part(load.connections, thread),
            first_connection: (0..thread).map(|before| part(load.connections, before)).sum(),
            burst_connections: load.disturbance.map_or(0, |disturbance| disturbance.connections()),
            idle_connections: part(load.idle_connections, thread),
            limit: Limit { requests: sessions, ..load.limit },
            arrivals: load.arrivals.as_ref().map(|arrivals| arrivals.instants(thread, threads)),
            dialect: dialect.of_thread(),
            expected: (0..)
                .zip(load.sessions.iter().flat_map(|session| &session.steps))
                .map(expected)
                .collect(),
            log: load.log.then(|| Log::of_thread(threads)),
            sampler: Sampler::of_thread(load, sessions, thread, threads),
        }
    }
}
