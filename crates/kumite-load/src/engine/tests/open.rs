//! The open loop: what counts from when a request was due, and what becomes of it if no connection is free.

use super::*;
use crate::{Arrivals, Disturbance, DisturbanceKind, Histogram};

fn open(load: Load, rate: f64, connections: usize) -> Load {
    Load { arrivals: Some(Arrivals::constant(rate)), connections, ..load }
}

/// A server with one worker, which takes `length` ns for each request.
fn one_worker(length: u64) -> impl Server {
    let mut free = 0;
    Answering::new(move |turn: Turn| {
        free = turn.at.max(free) + length;
        pong(free)
    })
}

/// Asserts that a histogram holds just these times, in ns.
fn holds(histogram: &Histogram<u64>, times: &[u64]) {
    let mut expected = Histogram::<u64>::new(3).unwrap();
    times.iter().for_each(|time| expected.record(*time).unwrap());
    assert_eq!(histogram, &expected);
}

/// For 300 ms the server does nothing. The response time of every request that was due in that time includes its
/// wait, whether it was sent or not; the model is a queue before two connections. The service times include only the
/// wait of requests that were sent.
#[test]
fn a_stall_is_in_the_response_times_of_all_that_was_due_in_it() {
    const STALL: std::ops::Range<u64> = 300 * MS..600 * MS;
    const EACH: u64 = 100 * US;
    let answered = |at: u64| if STALL.contains(&at) { STALL.end } else { at } + EACH;
    let outcome = run(&open(lasting(900), 1000.0, 2), Answering::new(|turn| pong(answered(turn.at))));

    let mut free = [0, 0];
    let model: Vec<(u64, u64)> = (0..900)
        .map(|nth| {
            let due = nth * MS;
            let connection = usize::from(free[1] < free[0]);
            let sent = due.max(free[connection]);
            free[connection] = answered(sent);
            (sent - due, free[connection] - due)
        })
        .collect();
    let seen: Vec<(u64, u64)> =
        outcome.log.iter().map(|it| (it.sent.unwrap() - it.due, it.finished - it.due)).collect();
    assert_eq!((outcome.ok, &seen), (900, &model));
    assert_eq!(
        seen[302..304],
        [(298 * MS + EACH, 298 * MS + 2 * EACH), (297 * MS + EACH, 297 * MS + 2 * EACH)]
    );

    let responses: Vec<u64> = model.iter().map(|(_, took)| *took).collect();
    holds(&outcome.response, &responses);
    assert!(responses[300..=500].iter().all(|took| *took >= 100 * MS));
    let services: Vec<u64> = model.iter().map(|(waited, took)| took - waited).collect();
    holds(&outcome.service, &services);
    assert_eq!(services.iter().filter(|took| **took > EACH).count(), 2, "those that were sent in it");
}

#[test]
fn what_waits_for_a_connection_is_sent_in_order_and_has_no_send_lag() {
    let outcome = run(&open(lasting(10), 1000.0, 1), after(3 * MS));
    let sent: Vec<(u64, u64)> = outcome.log.iter().map(|it| (it.due / MS, it.sent.unwrap() / MS)).collect();
    assert_eq!(sent, (0..10).map(|nth| (nth, 3 * nth)).collect::<Vec<_>>());
    assert_eq!((outcome.ok, outcome.send_lag.len()), (10, 1));
    assert_eq!(outcome.intervals[0].backlog, 6);
}

/// A server that does 100 requests a second is offered 1,000: requests that are due wait for a connection until it is
/// too late.
#[test]
fn what_cannot_be_sent_in_time_is_counted_and_never_sent() {
    let mut requests = 0;
    let mut worker = one_worker(10 * MS);
    let server = Answering::new(|turn: Turn| {
        requests += 1;
        worker.receive(turn.connection, turn.at, b"\r\n\r\n")
    });
    let outcome = run(&Load { timeout: ms(100), ..open(lasting(400), 1000.0, 2) }, server);
    // Two at once, and then one after each answer as long as one waits that was due in the last 100 ms.
    assert_eq!((outcome.ok, requests), (51, 51));
    assert_eq!((outcome.requests, outcome.errors), (400, Errors { unsent: 349, ..Errors::default() }));
    for finished in &outcome.log {
        match (finished.sent, finished.failure) {
            (Some(sent), None) => assert!(sent - finished.due <= 100 * MS),
            (None, Some(Failure::Unsent)) => {
                let waited = finished.finished - finished.due;
                assert!((100 * MS + 1..=101 * MS + 1).contains(&waited), "{waited}");
            }
            other => panic!("{other:?}"),
        }
    }
    let backlog: Vec<u64> = outcome.intervals.iter().map(|interval| interval.backlog).collect();
    assert_eq!((backlog.len(), backlog[0], backlog.iter().max()), (6, 89, Some(&101)), "{backlog:?}");
}

/// The first request hangs, and is seen to at 101 ms; then its connection is opened again, for the second one.
#[test]
fn a_request_waits_for_a_connection_as_long_as_the_time_out_and_no_nanosecond_longer() {
    let load = Load { timeout: ms(100), ..open(lasting(2), 1000.0, 1) };
    let with_connects_of = |length| {
        let server = Connecting {
            connect: |nth, at| Some((at + if nth == 1 { 0 } else { length }, Ok(()))),
            server: Answering::new(|turn| if turn.request == 1 { Vec::new() } else { pong(turn.at + MS) }),
        };
        run(&load, server)
    };
    let outcome = with_connects_of(0);
    assert_eq!((outcome.ok, outcome.errors, outcome.log[1].sent), (1, timeouts(1), Some(101 * MS)));
    let outcome = with_connects_of(1);
    assert_eq!((outcome.ok, outcome.errors), (0, Errors { unsent: 1, ..timeouts(1) }));
    assert_eq!((outcome.log[1].sent, outcome.log[1].finished), (None, 101 * MS + 1));
}

#[test]
fn what_was_due_in_the_window_is_waited_for_beyond_its_end() {
    let machine = Machine::default();
    // The second is sent 99 ms after the end, and answered 90 ms later.
    let outcome = machine.run(&Load { timeout: ms(100), ..open(lasting(2), 1000.0, 1) }, after(99 * MS));
    assert_eq!((outcome.ok, outcome.elapsed), (2, ms(2)));
    assert_eq!(steps(&outcome), [(0, Some(0), 99 * MS), (MS, Some(98 * MS), 99 * MS)]);
    assert_eq!((machine.time.now(), outcome.intervals.len()), (198 * MS, 2));
}

#[test]
fn a_warm_up_has_what_was_due_in_it() {
    let outcome = run(&Load { warm_up: ms(100), ..open(lasting(200), 1000.0, 50) }, after(20 * MS));
    assert_eq!((outcome.warm_up_requests, outcome.ok, outcome.log.len()), (100, 200, 300));
    // The last 20 of them are answered in the window, and are none of its.
    holds(&outcome.response, &[20 * MS; 200]);
    let outcome = run(&Load { warm_up: ms(50), ..open(load(77), 1000.0, 5) }, after(MS / 2));
    assert_eq!((outcome.warm_up_requests, outcome.ok), (50, 77));
    assert_eq!(outcome.log.last().map(|it| it.due), Some(126 * MS));
}

/// The machine stands still for 20 time-outs, beyond the end.
#[test]
fn what_was_due_while_the_engine_stood_still_is_counted() {
    let machine = Machine::default();
    machine.time.stand_still(100 * MS..1100 * MS);
    let load = Load { timeout: ms(50), ..open(lasting(400), 1000.0, 2) };
    let outcome = machine.run(&load, after(100 * US));
    assert_eq!((outcome.requests, outcome.ok), (400, 100));
    assert_eq!(outcome.errors, Errors { unsent: 300, ..Errors::default() });
    assert!(outcome.log[100..].iter().all(|it| (it.sent, it.finished) == (None, 1100 * MS)));
    let late = (100..400).map(|due| (1100 - due) * MS);
    holds(&outcome.send_lag, &(0..100).map(|_| 0).chain(late).collect::<Vec<_>>());
}

/// The machine stands still for four time-outs. All the while connections are free.
#[test]
fn what_was_due_longer_ago_than_its_time_out_is_not_sent_though_a_connection_is_free() {
    let machine = Machine::default();
    machine.time.stand_still(100 * MS..500 * MS);
    let load = Load { timeout: ms(100), ..open(lasting(600), 100.0, 50) };
    let outcome = machine.run(&load, after(MS));
    let expected = (0..60).map(|nth| match nth * 10 * MS {
        due if (100 * MS..400 * MS).contains(&due) => (due, None, 500 * MS - due),
        due if due < 500 * MS => (due, Some((500 * MS).saturating_sub(due) * u64::from(due >= 100 * MS)), MS),
        due => (due, Some(0), MS),
    });
    let mut steps = steps(&outcome);
    steps.sort_unstable();
    assert_eq!(steps, expected.collect::<Vec<_>>());
    assert_eq!(outcome.errors, Errors { unsent: 30, ..Errors::default() });
    let late = (10..50).map(|nth| 500 * MS - nth * 10 * MS);
    holds(&outcome.send_lag, &[vec![0; 20], late.collect()].concat());
}

/// The standstill is in the send lag and in the response times, and not in the service times.
#[test]
fn an_engine_that_stood_still_says_how_late_it_sent() {
    let machine = Machine::default();
    machine.time.stand_still(100 * MS..130 * MS);
    let outcome = machine.run(&open(lasting(200), 100.0, 5), after(MS));
    let late: Vec<(u64, u64)> =
        outcome.log.iter().map(|it| (it.due / MS, it.sent.unwrap() - it.due)).filter(|it| it.1 > 0).collect();
    assert_eq!(late, [(100, 30 * MS), (110, 20 * MS), (120, 10 * MS)]);
    holds(&outcome.send_lag, &[vec![0; 17], vec![30 * MS, 20 * MS, 10 * MS]].concat());
    holds(&outcome.response, &[vec![MS; 17], vec![31 * MS, 21 * MS, 11 * MS]].concat());
    holds(&outcome.service, &[MS; 20]);
}

#[test]
fn an_open_loop_goes_on_when_connections_end() {
    let last = PONG.replace("Content-Length", "Connection: close\r\nContent-Length");
    let server = Answering::new(|turn: Turn| {
        let at = turn.at + 100 * US;
        if turn.on_connection < 10 { pong(at) } else { vec![say(at, &last), (at, Deed::End)] }
    });
    let outcome = run(&open(lasting(400), 500.0, 4), server);
    assert_eq!((outcome.ok, outcome.reconnects), (200, 20));
    assert!(steps(&outcome).iter().all(|step| (step.1, step.2) == (Some(0), 100 * US)));
}

#[test]
fn a_connection_that_ends_while_idle_is_replaced_before_it_is_needed() {
    let server = Answering::new(|turn: Turn| vec![say(turn.at + MS, PONG), (turn.at + 2 * MS, Deed::End)]);
    let outcome = run(&open(lasting(800), 10.0, 1), server);
    assert_eq!((outcome.ok, outcome.errors, outcome.reconnects), (8, Errors::default(), 8));
    assert!(steps(&outcome).iter().all(|step| (step.1, step.2) == (Some(0), MS)));
}

/// Arrivals fall off when the window closes, and not some time later.
#[test]
fn a_drop_comes_when_it_is_time() {
    let load = Load {
        disturbance: Some(Disturbance { kind: DisturbanceKind::Drop, watch: ms(100) }),
        ..open(lasting(101), 200.0, 1)
    };
    let machine = Machine::default();
    let disturbed = machine.run(&load, after(MS)).disturbed.unwrap();
    assert_eq!((disturbed.began, disturbed.ended, disturbed.until), (ms(101), ms(101), ms(201)));
    assert_eq!((disturbed.requests, disturbed.ok), (20, 20), "due from 105 ms to 200 ms");
    assert_eq!(machine.time.now(), 201 * MS);
}
