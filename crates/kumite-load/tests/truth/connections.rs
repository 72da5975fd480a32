//! Connections that end by count, and connections that carry nothing, counted by the server.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

#[test]
fn the_server_counts_as_many_requests_on_each_connection_as_were_asked_for() {
    let Some(io) = io() else { return };
    for (connections, requests) in [(1, 1003), (50, 1003), (1000, 10_007)] {
        let counts = Arc::new(Mutex::new(std::collections::BTreeMap::<u64, u64>::new()));
        let seen = counts.clone();
        let server = Server::start(0, move |stream, turn| {
            seen.lock().unwrap().insert(turn.connection, turn.on_connection);
            write(stream, PONG);
            Then::Keep
        });
        let requests_per_connection = NonZeroU64::new(5);
        let outcome = run(&Load { connections, requests_per_connection, ..load(io, server.addr, requests) });
        assert_eq!((outcome.ok, outcome.errors, server.requests()), (requests, Errors::default(), requests));
        let counts: Vec<u64> = counts.lock().unwrap().values().copied().collect();
        assert_eq!(counts.iter().sum::<u64>(), requests);
        assert!(counts.iter().all(|on_connection| *on_connection <= 5));
        let short = counts.iter().filter(|on_connection| **on_connection < 5).count();
        assert!(short <= connections, "{short} of {connections}");
        assert_eq!(outcome.reconnects, (counts.len() - connections) as u64);
    }
}

#[test]
fn the_server_holds_as_many_idle_connections_as_were_asked_for() {
    let Some(io) = io() else { return };
    for arrivals in [None, Some(kumite_load::Arrivals::constant(500.0))] {
        let (ended, used) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (seen_ended, seen_used) = (ended.clone(), used.clone());
        let server = Server::start_on_connections(move |stream, _| {
            let mut requests = 0;
            while server::read_request(stream, 0).is_some() {
                requests += 1;
                write(stream, PONG);
            }
            seen_used.fetch_add(u64::from(requests > 0), Ordering::SeqCst);
            seen_ended.fetch_add(1, Ordering::SeqCst);
        });
        let outcome = run(&Load { idle_connections: 200, arrivals, ..timed(io, server.addr, 300) });
        assert_eq!((outcome.idle_open, outcome.idle_ended, outcome.errors.total()), (200, 0, 0));
        assert!(outcome.ok > 0);
        // All of them end with the load; the server is told a little later.
        while ended.load(Ordering::SeqCst) < 203 {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!((used.load(Ordering::SeqCst), ended.load(Ordering::SeqCst)), (3, 203));
    }
}
