//! Disturbances: when they are done, what counts as their recovery, and how long the server is watched.
//!
//! The load's own three connections have a millisecond for each answer.

use std::cell::RefCell;

use super::*;
use crate::{Burst, Disturbance, DisturbanceKind, Disturbed, Event, Recovery};

const TIMEOUT: Duration = Duration::from_millis(200);

fn recovery(took: u64, complete: bool) -> Recovery {
    Recovery { took: ns(took), complete }
}

fn own(length: u64, timeout: Duration, disturbance: Disturbance) -> Load {
    Load { connections: 3, timeout, disturbance: Some(disturbance), ..lasting(length) }
}

/// Stops a server after a warm-up of 100 ms and a window of 300 ms, for 450 ms and `longer` ns; for ever if `longer`
/// is `None`. Returns the outcome, and the instant at which the load ended.
fn paused(longer: Option<u64>) -> (Outcome, u64) {
    let resumes = longer.map_or(u64::MAX, |longer| 850 * MS + longer);
    let server = Answering::new(|turn: Turn| {
        let at = turn.at + MS;
        pong(if (400 * MS..resumes).contains(&at) { resumes.saturating_add(MS) } else { at })
    });
    let disturbance = Disturbance { kind: DisturbanceKind::Pause(ms(450)), watch: ms(1000) };
    let load = Load { warm_up: ms(100), ..own(300, TIMEOUT, disturbance) };
    let (machine, mut told) = (Machine::default(), Vec::new());
    let outcome = machine.run_with(&load, server, &mut |event| match event {
        Event::Interval(_) => {}
        Event::Pause => told.push(("pause", machine.time.now() / MS)),
        Event::Resume => told.push(("resume", machine.time.now() / MS)),
    });
    assert_eq!(told, [("pause", 400), ("resume", 850)]);
    assert_eq!((outcome.elapsed, outcome.errors.total(), outcome.recovery), (ms(300), 0, None));
    let disturbed = outcome.disturbed.unwrap();
    assert_eq!((disturbed.began, disturbed.burst), (ms(300), Burst::default()));
    assert_eq!((disturbed.ended, disturbed.since, disturbed.until), (ms(750), ms(750), ms(1750)));
    (outcome, machine.time.now())
}

#[test]
fn a_server_that_was_paused_and_is_right_at_once() {
    let (outcome, ended) = paused(Some(0));
    let disturbed = outcome.disturbed.unwrap();
    // Sent at 399 ms, at 599 and at 799; the last ones were answered.
    assert_eq!((disturbed.errors, disturbed.recovery), (timeouts(6), recovery(MS, true)));
    assert_eq!(disturbed.first_right, Some(ms(1)), "from when it went on, not from when it was stopped");
    // The answers on their way at the end were a millisecond late, and the engine listens for 10 ms more.
    assert!((1860 * MS..1863 * MS).contains(&ended), "{ended}");
}

#[test]
fn a_server_that_takes_half_a_second_after_a_pause() {
    let disturbed = paused(Some(500 * MS)).0.disturbed.unwrap();
    assert_eq!((disturbed.errors, disturbed.recovery), (timeouts(12), recovery(501 * MS, true)));
    assert_eq!(disturbed.first_right, Some(ms(501)));
}

#[test]
fn a_server_that_never_comes_back_from_a_pause() {
    let (outcome, ended) = paused(None);
    let disturbed = outcome.disturbed.unwrap();
    assert_eq!((disturbed.recovery, disturbed.first_right), (recovery(1000 * MS, false), None));
    // The last ones were sent at 1,799 ms, and are waited for until they time out.
    assert!((2009 * MS..=2011 * MS).contains(&ended), "{ended}");
}

#[test]
fn a_load_that_is_stopped_in_a_pause_resumes_the_server() {
    let (machine, mut told) = (Machine::default(), Vec::new());
    let disturbance = Disturbance { kind: DisturbanceKind::Pause(LONG), watch: LONG };
    let outcome = machine.run_with(&own(100, LONG, disturbance), after(MS), &mut |event| match event {
        Event::Interval(_) => {}
        Event::Pause => {
            machine.stop.store(true, std::sync::atomic::Ordering::Relaxed);
            told.push(("pause", machine.time.now() / MS));
        }
        Event::Resume => told.push(("resume", machine.time.now() / MS)),
    });
    assert_eq!(told, [("pause", 100), ("resume", 101)]);
    assert_eq!((outcome.elapsed, outcome.stopped, outcome.disturbed), (ms(100), true, None));
    assert_eq!(outcome.ok, 3 * 99);
}

/// The outcome of a burst beside the load's own connections, after 200 ms; to connect takes 10 µs.
struct Bursting {
    outcome: Outcome,
    disturbed: Disturbed,
    /// The instants, in ns, at which connects were begun.
    connects: Vec<u64>,
    requests: u64,
}

/// Runs a load with a burst of `count` connections. `answer` is given `true` for a request of the burst, and the time
/// in ns since the burst's first request came, `None` before that.
fn burst(
    count: usize,
    timeout: Duration,
    mut answer: impl FnMut(Turn, bool, Option<u64>) -> Deeds,
) -> Bursting {
    let machine = Machine::default();
    let (connects, mut requests, mut first) = (RefCell::new(Vec::new()), 0, None);
    let server = Connecting {
        connect: |_, at| {
            connects.borrow_mut().push(at);
            machine.time.pass(10 * US);
            Some((at, Ok(())))
        },
        server: Answering::new(|turn: Turn| {
            requests += 1;
            let of_burst = (4..=3 + count as u64).contains(&turn.connection);
            if of_burst {
                first.get_or_insert(turn.at);
            }
            answer(turn, of_burst, first.map(|first| turn.at - first))
        }),
    };
    let disturbance = Disturbance { kind: DisturbanceKind::Burst(count), watch: ms(700) };
    let outcome = machine.run(&own(200, timeout, disturbance), server);
    let disturbed = outcome.disturbed.unwrap();
    assert_eq!((outcome.elapsed, disturbed.began), (ms(200), ms(200)));
    assert_eq!((outcome.errors.total(), outcome.reconnects), (0, 0));
    assert_eq!(disturbed.requests, disturbed.ok + disturbed.errors.total());
    let connects = connects.into_inner();
    assert_eq!(disturbed.ended, ns(connects[2 + count]), "when the last connect was begun");
    Bursting { outcome, disturbed, connects, requests }
}

#[test]
fn a_burst_is_so_many_requests_beside_the_others() {
    // More than are begun at a time.
    let Bursting { outcome, disturbed, connects, requests } =
        burst(300, LONG, |turn, _, _| pong(turn.at + MS));
    assert_eq!((disturbed.burst, disturbed.errors), (Burst { ok: 300, errors: 0 }, Errors::default()));
    assert_eq!((connects.len(), requests), (303, outcome.requests + disturbed.requests + outcome.drained));
    assert_eq!(
        disturbed.recovery,
        recovery(0, false),
        "none failed, but it was watched for less than a time-out"
    );
    assert_eq!(disturbed.since, disturbed.ended);
    assert_eq!(connects[3], 200 * MS);
    // 256 of them are begun, 10 µs each, before the others are looked at.
    let of_own =
        |from: u64, to: u64| outcome.log.iter().filter(|it| (from..to).contains(&it.finished)).count();
    assert_eq!(of_own(connects[3] + 1, connects[258] + 1), 0);
    assert!(of_own(connects[258] + 1, connects[259] + 1) > 0);
}

#[test]
fn a_burst_is_watched_from_its_last_answer() {
    let Bursting { disturbed, connects, .. } =
        burst(20, LONG, |turn, of_burst, _| pong(turn.at + if of_burst { 300 * MS } else { MS }));
    let (first, last) = (connects[3], connects[22]);
    assert_eq!((first, last), (200 * MS, 200 * MS + 190 * US));
    // They are established when the last connect was begun, and sent then.
    let sent = last + 10 * US;
    assert_eq!(disturbed.until, ns(sent + 300 * MS) + ms(700));
}

#[test]
fn a_burst_that_is_dropped() {
    let close = |turn: Turn, of_burst: bool, _| {
        if of_burst { vec![(turn.at + 3 * MS / 2, Deed::End)] } else { pong(turn.at + MS) }
    };
    let Bursting { outcome, disturbed, connects, .. } = burst(100, TIMEOUT, close);
    assert_eq!(disturbed.burst, Burst { ok: 0, errors: 100 });
    assert_eq!(disturbed.errors, Errors { closed: 100, ..Errors::default() });
    assert_eq!(connects.len(), 103, "none is opened again");
    // All were sent when the last connect was begun.
    let closed = connects[102] + 10 * US + 3 * MS / 2;
    let failed: Vec<u64> =
        outcome.log.iter().filter(|it| it.failure.is_some()).map(|it| it.finished).collect();
    assert_eq!(failed, vec![closed; 100]);
    assert_eq!(disturbed.since, ns(closed));
    let right = outcome.log.iter().map(|it| it.finished).filter(|at| *at > closed).min().unwrap();
    assert_eq!(
        (disturbed.recovery, disturbed.first_right),
        (recovery(right - closed, true), Some(ns(right - closed)))
    );
}

#[test]
fn a_server_that_a_burst_hangs_up_has_not_recovered_at_once() {
    let hangs = |turn: Turn, _, since: Option<u64>| {
        pong(turn.at + MS.max((450 * MS).saturating_sub(since.unwrap_or(450 * MS))))
    };
    let Bursting { disturbed, connects, outcome, .. } = burst(20, TIMEOUT, hangs);
    assert_eq!(disturbed.burst, Burst { ok: 0, errors: 20 });
    let failed = outcome.log.iter().filter(|it| it.failure.is_some()).map(|it| it.finished).min().unwrap();
    let sent = connects[22] + 10 * US;
    // From the first time-out until it is right again, 450 ms after the burst's first request.
    assert!((sent + 200 * MS + 1..=sent + 201 * MS).contains(&failed), "{failed}");
    assert_eq!(disturbed.since, ns(failed));
    assert_eq!(disturbed.recovery, recovery(sent + 450 * MS - failed, true));
    assert_eq!(disturbed.first_right, Some(disturbed.recovery.took));
}

#[test]
fn recovery_does_not_wait_for_the_last_request_of_a_burst() {
    // The burst's time out 200 ms before the server is right again; the others fail all the time.
    let fails = |turn: Turn, of_burst, since: Option<u64>| match since {
        Some(since) if since < 400 * MS => {
            vec![(turn.at + if of_burst { 400 * MS - since } else { 10 * MS }, Deed::End)]
        }
        _ => pong(turn.at + MS),
    };
    let Bursting { disturbed, outcome, .. } = burst(20, TIMEOUT, fails);
    assert_eq!(disturbed.burst, Burst { ok: 0, errors: 20 });
    let failed: Vec<u64> =
        outcome.log.iter().filter(|it| it.failure.is_some()).map(|it| it.finished).collect();
    let (first, last) = (*failed.iter().min().unwrap(), *failed.iter().max().unwrap());
    let right = outcome.log.iter().filter(|it| it.failure.is_none()).map(|it| it.finished);
    let right = right.filter(|at| *at > last).min().unwrap();
    assert_eq!(disturbed.since, ns(first));
    assert_eq!(disturbed.recovery, recovery(right - first, true));
    assert!(
        (390 * MS..410 * MS).contains(&(right - first)),
        "from the first that was closed: {}",
        right - first
    );
}

#[test]
fn a_stray_failure_after_a_burst_takes_only_its_own_time() {
    let mut struck = None;
    let strikes = |turn: Turn, _, since: Option<u64>| {
        if struck.is_none() && since.is_some_and(|since| since >= 200 * MS) {
            struck = Some(turn.at);
            return vec![(turn.at + MS / 2, Deed::End)];
        }
        pong(turn.at + MS)
    };
    let Bursting { disturbed, outcome, .. } = burst(20, TIMEOUT, strikes);
    assert_eq!(disturbed.burst, Burst { ok: 20, errors: 0 });
    assert_eq!(disturbed.errors, Errors { closed: 1, ..Errors::default() });
    let failed = struck.unwrap() + MS / 2;
    let right = outcome.log.iter().map(|it| it.finished).filter(|at| *at > failed).min().unwrap();
    assert_eq!((disturbed.since, disturbed.recovery), (ns(failed), recovery(right - failed, true)));
    assert!(right - failed <= MS && disturbed.first_right == Some(ns(right - failed)));
}

#[test]
fn a_burst_that_hangs_is_watched_from_its_time_outs() {
    let hangs = |turn: Turn, of_burst, _| if of_burst { Vec::new() } else { pong(turn.at + MS) };
    let Bursting { disturbed, connects, .. } = burst(20, TIMEOUT, hangs);
    assert_eq!(disturbed.burst, Burst { ok: 0, errors: 20 });
    assert_eq!(disturbed.errors, timeouts(20));
    let watched = disturbed.until - ms(700) - ns(connects[22] + 10 * US);
    assert!(watched > ms(200) && watched <= ms(201), "{watched:?}");
    let Recovery { took, complete } = disturbed.recovery;
    assert!(complete && took <= ms(1), "the others were right all the time: {took:?}");
}

#[test]
fn all_connects_of_a_burst_are_in_flight_at_once() {
    let machine = Machine::default();
    let mut connects = Vec::new();
    let server = Connecting {
        connect: |_, at| {
            connects.push(at);
            None
        },
        server: after(MS),
    };
    let disturbance = Disturbance { kind: DisturbanceKind::Burst(300), watch: Duration::ZERO };
    let disturbed = machine.run(&own(50, TIMEOUT, disturbance), server).disturbed.unwrap();
    assert_eq!(disturbed.burst, Burst { ok: 0, errors: 300 });
    assert_eq!(disturbed.errors.connect, disturbed.requests);
    assert_eq!((disturbed.recovery.complete, disturbed.first_right), (false, None));
    // Beside the three of its own; 64 at a time would take five time-outs.
    assert_eq!(connects.iter().filter(|at| (50 * MS..51 * MS).contains(*at)).count(), 300);
    // They are begun in two batches; the second is seen to a millisecond after the first.
    assert_eq!(disturbed.until - disturbed.began, TIMEOUT + ns(MS + 1));
}

/// The instants, in ns since the beginning, at which 50 connections were asked for; and the outcome. The server is
/// stopped from 100 ms to 250 ms and loses what it was sent meanwhile; a request has 200 ms for its answer.
fn asked_for(reopen_spread: Duration, arrivals: Option<crate::Arrivals>) -> (Vec<u64>, Outcome) {
    let connects = RefCell::new(Vec::new());
    let server = Connecting {
        connect: |_, at| {
            connects.borrow_mut().push(at);
            Some((at, Ok(())))
        },
        server: Answering::new(|turn: Turn| {
            let at = turn.at + MS;
            if (100 * MS..250 * MS).contains(&at) { Vec::new() } else { pong(at) }
        }),
    };
    let disturbance = Disturbance { kind: DisturbanceKind::Pause(ms(150)), watch: ms(700) };
    let load = Load { connections: 50, reopen_spread, arrivals, ..own(100, TIMEOUT, disturbance) };
    let outcome = run(&load, server);
    (connects.into_inner(), outcome)
}

/// In an open loop 50 requests are due at once, every 50 ms.
#[test]
fn what_a_pause_has_ended_is_opened_again_all_at_once_unless_it_is_spread() {
    let pieces = vec![crate::Piece { from: 1000.0, to: 1000.0, lasts: None }];
    let open = crate::Arrivals::Rate { pieces, gaps: crate::Gaps::Even, burst: 50 };
    for arrivals in [None, Some(open)] {
        let (at_once, _) = asked_for(Duration::ZERO, arrivals.clone());
        // What was sent just before 100 ms, or then, is late 200 ms after that.
        let again = at_once[50];
        assert_eq!((&at_once[..50], &at_once[50..]), (&[0; 50][..], &[again; 50][..]));
        assert!((299 * MS..=301 * MS).contains(&again), "{again}");

        let (spread, outcome) = asked_for(ms(100), arrivals);
        assert_eq!(spread[..50], [0; 50], "before the pause nothing is spread");
        let places: Vec<u64> = (0..50).map(|nth| again + nth * 2 * MS).collect();
        assert_eq!(spread[50..], places);
        let disturbed = outcome.disturbed.unwrap();
        // Until a connection is there its request is not sent, and so is not late.
        assert_eq!((disturbed.errors.timeout, outcome.errors.total()), (50, 0));
        assert!(disturbed.recovery.complete, "{disturbed:?}");
    }
}
