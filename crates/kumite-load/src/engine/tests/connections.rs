//! Connections that end after a number of requests, and connections that carry none.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use super::*;
use crate::{Arrivals, Session};

/// The number of requests on each connection that had any, in the order in which the connections were asked for; and
/// the outcome.
fn carried(load: &Load) -> (Vec<u64>, Outcome) {
    let mut carried: BTreeMap<u64, u64> = BTreeMap::new();
    let outcome = run(
        load,
        Answering::new(|turn: Turn| {
            *carried.entry(turn.connection).or_default() += 1;
            pong(turn.at + (1 + turn.request % 3) * MS)
        }),
    );
    (carried.into_values().collect(), outcome)
}

/// The load with connections of so many requests.
fn of(most: u64, load: Load) -> Load {
    Load { requests_per_connection: NonZeroU64::new(most), ..load }
}

/// Asserts that every connection carried `most` requests, but for the last of each of `connections`.
#[track_caller]
fn ends_after(most: u64, load: Load, connections: u64) {
    let (carried, outcome) = carried(&of(most, load));
    assert!(carried.iter().all(|requests| (1..=most).contains(requests)), "{carried:?}");
    let short = carried.iter().filter(|requests| **requests < most).count() as u64;
    assert!(short <= connections, "{carried:?}");
    assert_eq!(
        (carried.iter().sum::<u64>(), outcome.ok),
        (outcome.requests + outcome.drained, outcome.requests)
    );
    assert_eq!((outcome.reconnects, outcome.errors), (carried.len() as u64 - connections, Errors::default()));
}

#[test]
fn a_connection_ends_after_its_requests_and_no_request_is_lost_by_that() {
    let (one_each, outcome) = carried(&of(1, load(10)));
    assert_eq!((one_each, outcome.ok, outcome.reconnects), (vec![1; 10], 10, 9));
    for connections in [1, 4, 50, 1000] {
        ends_after(7, Load { connections, ..load(7 * 1000 + 3) }, connections as u64);
    }
    for most in [1, 3, 4, 5] {
        ends_after(most, Load { pipeline: 4, connections: 3, ..load(200) }, 3);
    }
}

#[test]
fn an_open_loop_replaces_its_connections_too() {
    let load = Load { arrivals: Some(Arrivals::constant(1000.0)), connections: 8, ..lasting(500) };
    let (carried, outcome) = carried(&of(5, load));
    assert!(carried.iter().all(|requests| *requests <= 5), "{carried:?}");
    assert!(carried.iter().filter(|requests| **requests < 5).count() <= 8, "{carried:?}");
    assert_eq!((carried.iter().sum::<u64>(), outcome.ok, outcome.errors), (500, 500, Errors::default()));
    // One is opened as soon as another has ended.
    assert_eq!(outcome.reconnects, carried.iter().filter(|requests| **requests == 5).count() as u64);
    assert_eq!(outcome.send_lag.max(), 0);
}

/// A session of three steps, on connections of two requests: it goes on over the next one.
#[test]
fn a_session_goes_on_over_the_next_connection() {
    let step = load(1).sessions[0].steps[0].clone();
    let session = |think: [u64; 3]| Session {
        name: "user".to_owned(),
        weight: 1,
        steps: think.map(|think| Step { think: ms(think), ..step.clone() }).to_vec(),
    };
    for think in [[0, 0, 0], [0, 5, 5]] {
        let load = Load { sessions: vec![session(think)], ..load(10) };
        let (carried, outcome) = carried(&of(2, load.clone()));
        assert_eq!((carried, outcome.ok, outcome.errors.total()), (vec![2; 15], 30, 0), "{think:?}");
        assert_eq!(outcome.log.len(), 30);
        let load = Load { arrivals: Some(Arrivals::constant(20.0)), ..load };
        let (carried, outcome) = self::carried(&of(2, load));
        assert_eq!((carried, outcome.ok, outcome.errors.total()), (vec![2; 15], 30, 0), "{think:?}");
    }
}

#[test]
fn a_connection_that_ends_early_begins_to_count_anew() {
    // The server ends each connection after four of six requests.
    let closing = PONG.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let mut most = 0;
    let server = Answering::new(|turn: Turn| {
        most = most.max(turn.on_connection);
        vec![say(turn.at + MS, if turn.on_connection == 4 { &closing } else { PONG })]
    });
    let outcome = run(&of(6, load(40)), server);
    assert_eq!((outcome.ok, outcome.reconnects, most), (40, 9, 4));
}

/// A server that ends each connection that is asked for in this order, so many ns after that.
struct Ending<S> {
    ends_after: BTreeMap<u64, u64>,
    connects: Vec<u64>,
    server: S,
}

impl<S: Server> Server for Ending<S> {
    fn accepts(&mut self, connection: u64, at: u64) -> Deeds {
        self.connects.push(at);
        self.ends_after.get(&connection).map(|after| (at + after, Deed::End)).into_iter().collect()
    }

    fn receive(&mut self, connection: u64, at: u64, bytes: &[u8]) -> Deeds {
        self.server.receive(connection, at, bytes)
    }
}

#[test]
fn connections_that_carry_no_request_are_open_before_the_load_and_carry_none() {
    for arrivals in [None, Some(Arrivals::constant(1000.0))] {
        let mut used = BTreeMap::<u64, u64>::new();
        let server = Answering::new(|turn: Turn| {
            *used.entry(turn.connection).or_default() += 1;
            pong(turn.at + MS)
        });
        let mut server = Ending { ends_after: BTreeMap::new(), connects: Vec::new(), server };
        let load = Load { idle_connections: 1000, connections: 2, arrivals, ..lasting(100) };
        let outcome = run(&load, &mut server);
        assert_eq!((outcome.idle_open, outcome.idle_ended, outcome.reconnects), (1000, 0, 0));
        // 64 in 10 ms; the load's own come last.
        assert_eq!(server.connects[999], 999 / 64 * 10 * MS);
        assert_eq!(
            (server.connects.len(), used.keys().copied().collect::<Vec<_>>()),
            (1002, vec![1001, 1002])
        );
        assert_eq!(outcome.errors.total(), 0);
        assert!(outcome.elapsed == ms(100) && outcome.ok >= 100, "{outcome:?}");
    }
}

/// A connection that ends before it counts as accepted is counted among those being opened once, and not twice: so ten
/// that end each millisecond are opened again each millisecond.
#[test]
fn connections_that_end_at_once_do_not_use_up_the_room_for_opening() {
    // The eleventh connection is the load's own.
    let ends_after = (1..=101).filter(|connection| *connection != 11).map(|it| (it, MS)).collect();
    let mut server = Ending { ends_after, connects: Vec::new(), server: after(MS) };
    let outcome = run(&Load { idle_connections: 10, ..lasting(300) }, &mut server);
    assert_eq!((outcome.idle_open, outcome.idle_ended, outcome.errors.total()), (10, 100, 0));
    assert_eq!((server.connects.len(), server.connects[110]), (111, 10 * MS));
}

#[test]
fn one_that_ends_is_opened_again_and_counted() {
    for arrivals in [None, Some(Arrivals::constant(1000.0))] {
        // The third ends twice, the second connection of the two included.
        let ends_after = BTreeMap::from([(3, 20 * MS), (13, 30 * MS)]);
        let mut server = Ending { ends_after, connects: Vec::new(), server: after(MS) };
        let load = Load { idle_connections: 10, connections: 2, arrivals, ..lasting(100) };
        let outcome = run(&load, &mut server);
        assert_eq!((outcome.idle_open, outcome.idle_ended, outcome.reconnects), (10, 2, 0));
        assert_eq!((server.connects.len(), outcome.errors.total()), (14, 0));
        assert_eq!((server.connects[12], server.connects[13]), (20 * MS, 50 * MS));
        // One that cannot be had costs the load nothing.
        let refused = |connection: u64, at| {
            Some((at, if connection == 3 { Err(rustix::io::Errno::CONNREFUSED) } else { Ok(()) }))
        };
        let outcome = run(&load, Connecting { connect: refused, server: after(MS) });
        assert_eq!((outcome.idle_open, outcome.idle_ended, outcome.errors.total()), (10, 0, 0));
    }
}
