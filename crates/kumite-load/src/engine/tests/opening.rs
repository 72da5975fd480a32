//! How connections are opened: how many at once, who waits for whom, and what follows a refusal.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use rustix::io::Errno;

use super::*;

/// The instants at which connects were begun, in ns, each with their number; and the outcome.
fn connects(
    load: &Load,
    mut connect: impl FnMut(u64, u64) -> Option<(u64, Result<(), Errno>)>,
    server: impl Server,
) -> (Vec<(u64, u64)>, Outcome) {
    let mut at: BTreeMap<u64, u64> = BTreeMap::new();
    let counted = |connection, now| {
        *at.entry(now).or_default() += 1;
        connect(connection, now)
    };
    let outcome = run(load, Connecting { connect: counted, server });
    (at.into_iter().collect(), outcome)
}

#[test]
fn while_no_connect_is_answered_64_are_in_flight() {
    let load = Load { connections: 150, timeout: ms(100), ..lasting(150) };
    let (at, outcome) = connects(&load, |_, _| None, after(MS));
    // Those that failed rest for 10 ms, and stand behind those that never had their turn.
    assert_eq!(at, [(0, 64), (101 * MS, 64)]);
    assert_eq!(outcome.errors, Errors { connect: 64, ..Errors::default() });
}

#[test]
fn a_server_that_does_not_answer_gets_64_connections_in_10_ms() {
    let load = Load { connections: 400, ..lasting(500) };
    let (at, _) = connects(&load, |_, at| Some((at, Ok(()))), Answering::new(|_| Vec::new()));
    let tens = (0..6).map(|n| (n * 10 * MS, 64)).chain([(60 * MS, 16)]);
    assert_eq!(at, tens.collect::<Vec<_>>());
}

/// The server takes one connection after the other from its listen queue, and answers a request when it has taken its
/// connection.
#[test]
fn a_server_that_is_quick_enough_never_has_more_than_64_in_its_listen_queue() {
    const EACH: u64 = 150 * US;
    let (accepts, longest) = (RefCell::new(Vec::<u64>::new()), Cell::new(0));
    let server = Answering::new(|turn: Turn| {
        let accepted = accepts.borrow()[turn.connection as usize - 1];
        pong((turn.at + US).max(accepted))
    });
    let connect = |_, at: u64| {
        let mut accepts = accepts.borrow_mut();
        let free = accepts.last().map_or(at, |last| at.max(*last));
        accepts.push(free + EACH);
        longest.set(longest.get().max(accepts.iter().filter(|accepted| **accepted > at).count()));
        Some((at, Ok(())))
    };
    let (_, outcome) = connects(&Load { connections: 400, ..load(1200) }, connect, server);
    assert_eq!((outcome.ok, longest.get()), (1200, 64));
}

#[test]
fn a_connection_that_was_refused_rests_for_10_ms() {
    let load = Load { connections: 10, ..load(100) };
    let refuse = |_, at| Some((at, Err(Errno::CONNREFUSED)));
    let (at, outcome) = connects(&load, refuse, after(MS));
    assert_eq!(at, (0..10).map(|n| (n * 10 * MS, 10)).collect::<Vec<_>>());
    assert_eq!(outcome.errors, Errors { refused: 100, ..Errors::default() });
    assert_eq!((outcome.elapsed, outcome.reconnects), (ms(90), 0));
}

/// The instants, in ns, at which each connection sent its requests; and the outcome.
fn sent(load: &Load, first: impl Fn(u64) -> Deeds, length: u64) -> (BTreeMap<u64, Vec<u64>>, Outcome) {
    let mut sent: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let outcome = run(
        load,
        Answering::new(|turn: Turn| {
            sent.entry(turn.connection).or_default().push(turn.at);
            if turn.on_connection == 1 { first(turn.connection) } else { pong(turn.at + length) }
        }),
    );
    (sent, outcome)
}

#[test]
fn no_connection_is_under_load_before_every_one_has_had_an_answer() {
    let load = Load { connections: 60, ..load(600) };
    let (sent, outcome) = sent(&load, |connection| pong(connection * MS), MS);
    assert_eq!(outcome.ok, 600);
    for sent in sent.values() {
        assert_eq!(sent[..2], [0, 60 * MS]);
    }
}

#[test]
fn a_server_that_takes_only_some_connections_is_not_kept_waiting_for_longer_than_a_second() {
    let first = |connection| if connection <= 2 { pong(MS) } else { Vec::new() };
    let (sent, outcome) = sent(&Load { connections: 6, ..lasting(1500) }, first, MS);
    assert_eq!((sent[&1][..3].to_vec(), sent[&2].len()), (vec![0, 1000 * MS, 1001 * MS], 501));
    assert_eq!(sent[&3], [0]);
    assert_eq!((outcome.ok, outcome.errors), (2 + 2 * 499, Errors::default()), "the others are in flight");
}

#[test]
fn an_open_loop_begins_when_its_connections_are_open() {
    let load = Load { arrivals: Some(crate::Arrivals::constant(100.0)), connections: 2, ..lasting(20) };
    let machine = Machine::default();
    let slowly = Connecting { connect: |nth, at| Some((at + nth * 100 * MS, Ok(()))), server: after(MS) };
    let outcome = machine.run(&load, slowly);
    assert_eq!(steps(&outcome), [(0, Some(0), MS), (10 * MS, Some(0), MS)]);
    assert_eq!((machine.time.now(), outcome.reconnects), (220 * MS, 0));
}

#[test]
fn an_open_loop_waits_for_its_connections_for_a_second_and_no_longer() {
    let load = Load { arrivals: Some(crate::Arrivals::constant(100.0)), connections: 2, ..lasting(20) };
    let machine = Machine::default();
    let one = Connecting { connect: |nth, at| (nth == 1).then_some((at, Ok(()))), server: after(MS) };
    let outcome = machine.run(&load, one);
    assert_eq!(steps(&outcome), [(0, Some(0), MS), (10 * MS, Some(0), MS)]);
    assert_eq!(machine.time.now(), 1020 * MS);
}

#[test]
fn an_open_loop_sleeps_while_its_connections_are_opened() {
    let pace = crate::Pace::Sleeping;
    let arrivals = Some(crate::Arrivals::constant(100.0));
    let machine = Machine::default();
    let load = Load { arrivals, pace, connections: 2, timeout: ms(20), ..lasting(20) };
    let one = Connecting { connect: |nth, at| (nth == 1).then_some((at, Ok(()))), server: after(MS) };
    machine.run(&load, one);
    // In that second it looks ten times whether it is to stop.
    assert!(machine.waits.get() < 100, "{} waits", machine.waits.get());
}

#[test]
fn an_open_loop_whose_connects_are_refused_sends_nothing() {
    let timeout = ms(40);
    let load =
        Load { arrivals: Some(crate::Arrivals::constant(1000.0)), connections: 2, timeout, ..lasting(100) };
    let refuse = |_, at| Some((at, Err(Errno::CONNREFUSED)));
    let (at, outcome) = connects(&load, refuse, after(MS));
    assert_eq!(at[..3], [(0, 2), (10 * MS, 2), (20 * MS, 2)]);
    assert_eq!(outcome.errors, Errors { unsent: 100, ..Errors::default() });
    assert_eq!(
        outcome.first_wrong.as_deref(),
        Some("no connection to 127.0.0.1:1: Connection refused (os error 111)")
    );
    for (nth, finished) in outcome.log.iter().enumerate() {
        assert_eq!((finished.due, finished.sent), (nth as u64 * MS, None));
        assert_eq!(finished.failure, Some(Failure::Unsent));
        // It looks once in a millisecond.
        let waited = finished.finished - finished.due;
        assert!((40 * MS + 1..=41 * MS + 1).contains(&waited), "{waited}");
    }
}
