//! The closed loop: what answers take, the warm-up, the end.

use super::*;
use crate::Event;
use crate::record::outcome::Recovery;

#[test]
fn an_answer_takes_as_long_as_the_server_takes() {
    let outcome = run(&load(20), Answering::new(|turn| pong(turn.at + turn.request * 100 * US)));
    assert_eq!(service(&outcome), (1..=20).map(|n| n * 100 * US).collect::<Vec<_>>());
    // Each is sent when the one before is answered.
    let finished: Vec<u64> = outcome.log.iter().map(|it| it.finished).collect();
    assert_eq!(outcome.log.iter().map(|it| it.due).skip(1).collect::<Vec<_>>(), finished[..19]);
    assert_eq!((outcome.log[0].due, outcome.elapsed), (0, ms(21)));
    assert!(outcome.response.equivalent(outcome.response.max(), 2 * MS));
    assert!(outcome.response.equivalent(outcome.response.min(), 100 * US));
}

#[test]
fn a_stall_is_one_slow_answer() {
    let stall = |turn: Turn| if turn.request == 100 { 500 * MS } else { 0 };
    let outcome = run(&load(200), Answering::new(|turn| pong(turn.at + MS + stall(turn))));
    let slow: Vec<u64> = service(&outcome).into_iter().filter(|took| *took != MS).collect();
    assert_eq!((slow, outcome.ok), (vec![501 * MS], 200));
    assert!(outcome.response.equivalent(outcome.response.max(), 501 * MS));
    // It was sent at 99 ms.
    let empty = outcome.intervals.iter().filter(|interval| interval.ok == 0);
    assert_eq!(empty.map(|interval| interval.start_ms).collect::<Vec<_>>(), [100, 200, 300, 400, 500]);
}

/// A server that answers 503 for 100 ms, and `pong` afterwards, each after a millisecond.
fn wrong_at_first() -> impl Server {
    let answer = |turn: Turn| if turn.at < 100 * MS { PONG.replace("200", "503") } else { PONG.to_owned() };
    Answering::new(move |turn| vec![say(turn.at + MS, &answer(turn))])
}

#[test]
fn what_finished_in_the_warm_up_is_not_of_the_window() {
    let load = Load { warm_up: ms(200), connections: 4, ..lasting(300) };
    let outcome = run(&load, wrong_at_first());
    assert_eq!((outcome.warm_up_requests, outcome.warm_up_errors.status), (199 * 4, 100 * 4));
    // From 200 ms to 499 ms; what comes at 500 ms is too late.
    assert_eq!((outcome.ok, outcome.errors, outcome.drained), (300 * 4, Errors::default(), 4));
    assert_eq!((outcome.elapsed, outcome.reconnects, outcome.recovery), (ms(300), 0, None));
    let counts = outcome.intervals.iter().map(|it| (it.start_ms, it.ok, it.errors)).collect::<Vec<_>>();
    assert_eq!(counts, [(-200, 0, 99 * 4), (-100, 99 * 4, 4), (0, 400, 0), (100, 400, 0), (200, 400, 0)]);
}

#[test]
fn a_number_of_requests_counts_from_the_end_of_the_warm_up() {
    let outcome = run(&Load { warm_up: ms(50), connections: 4, ..load(20) }, after(MS));
    assert_eq!((outcome.warm_up_requests, outcome.ok, outcome.elapsed), (49 * 4, 20, ms(4)));
    assert_eq!((outcome.log.len(), outcome.drained), (49 * 4 + 20, 0));
}

#[test]
fn the_first_second_and_the_intervals_of_the_warm_up() {
    let outcome = run(&Load { warm_up: ms(250), connections: 3, ..lasting(850) }, after(MS));
    let starts: Vec<i64> = outcome.intervals.iter().map(|interval| interval.start_ms).collect();
    assert_eq!(starts, (-3..9).map(|i| i * 100).collect::<Vec<_>>());
    let counts: Vec<u64> = outcome.intervals.iter().map(|interval| interval.ok).collect();
    assert_eq!(counts[..3], [49 * 3, 300, 300], "the first one has only 50 ms");
    assert_eq!(outcome.first_second, Some(999 * 3), "what comes when it is over is not in it");
    assert_eq!(run(&lasting(100), after(MS)).first_second, None);
}

#[test]
fn what_is_on_its_way_at_the_end_is_drained_and_not_counted() {
    let machine = Machine::default();
    let outcome = machine.run(&Load { connections: 20, ..lasting(100) }, after(3 * MS));
    assert_eq!((outcome.requests, outcome.drained, outcome.log.len()), (33 * 20, 20, 33 * 20));
    // Then it listens for 10 ms.
    assert_eq!((outcome.elapsed, machine.time.now()), (ms(100), 112 * MS));
}

#[test]
fn the_end_waits_half_a_second_for_what_is_on_its_way_and_no_longer() {
    let machine = Machine::default();
    let outcome = machine.run(&Load { connections: 4, ..lasting(250) }, Answering::new(|_| Vec::new()));
    assert_eq!((outcome.requests, outcome.drained, outcome.elapsed), (0, 0, ms(250)));
    assert_eq!(outcome.intervals.len(), 3);
    // It looks once in a millisecond.
    assert_eq!(machine.time.now(), (250 + 500 + 2) * MS);
    let late = |by: u64| run(&lasting(1), Answering::new(move |turn| pong(turn.at + by))).drained;
    assert_eq!([late(502 * MS), late(504 * MS)], [1, 0]);
}

#[test]
fn a_stop_is_seen_within_100_ms_whatever_the_server_does() {
    let minute = Duration::from_secs(60);
    for (answers, warm_up, sees) in
        [(true, Duration::ZERO, 150), (false, Duration::ZERO, 200), (false, minute, 200)]
    {
        let machine = Machine { stops_at: Some(150 * MS), ..Machine::default() };
        let load = Load { warm_up, ..lasting(60_000) };
        let server = Answering::new(|turn| if answers { pong(turn.at + MS) } else { Vec::new() });
        let outcome = machine.run(&load, server);
        assert!(outcome.stopped);
        assert_eq!((machine.time.now(), outcome.intervals.len()), (sees * MS, 2), "{warm_up:?}");
        assert_eq!(outcome.ok, if answers { 150 } else { 0 });
        assert_eq!(outcome.elapsed, if warm_up.is_zero() { ms(sees) } else { Duration::ZERO });
    }
}

#[test]
fn answers_of_the_same_instant_are_read_one_after_the_other_and_their_lag_says_so() {
    let machine = Machine::default();
    let time = machine.time.clone();
    // To send takes 10 µs; the second requests are sent between the first answers.
    let server = Answering::new(|turn| {
        let answer = pong(turn.at.next_multiple_of(MS) + if turn.at == 0 { MS } else { 0 });
        time.pass(10 * US);
        answer
    });
    let outcome = machine.run(&Load { connections: 3, ..lasting(10) }, server);
    let lags: Vec<u64> = outcome.receive_lag.iter_recorded().map(|it| it.value_iterated_to()).collect();
    // A request that is sent on the millisecond has its answer at once, and that waits until all three are sent.
    assert_eq!(lags.len(), 4, "{lags:?}");
    for (lag, expected) in lags.iter().zip([0, 10 * US, 20 * US, 30 * US]) {
        assert!(outcome.receive_lag.equivalent(*lag, expected), "{lags:?}");
    }
    let at: Vec<u64> = outcome.log.iter().map(|it| it.finished % MS).collect();
    assert!(at.contains(&0) && at.contains(&(10 * US)) && at.contains(&(20 * US)), "{at:?}");
}

/// A server that answers after a millisecond; answers that fall between `from` and `until` come at `until`.
fn stopped(from: u64, until: u64) -> impl Server {
    Answering::new(move |turn: Turn| {
        let at = turn.at + MS;
        pong(if (from..until).contains(&at) { until } else { at })
    })
}

#[test]
fn a_server_that_comes_back_has_recovered() {
    let load = Load { connections: 3, timeout: ms(200), ..lasting(1400) };
    let outcome = run(&load, stopped(150 * MS, 850 * MS));
    // Sent at 149 ms, and again after each time-out.
    let failed: Vec<u64> =
        outcome.log.iter().filter(|it| it.failure.is_some()).map(|it| it.finished).collect();
    assert_eq!(failed, [[349 * MS + 1; 3], [549 * MS + 2; 3], [749 * MS + 3; 3]].concat());
    assert_eq!((outcome.errors, outcome.reconnects), (timeouts(9), 9));
    assert_eq!(outcome.recovery, Some(Recovery { took: ns(501 * MS - 1), complete: true }));
}

#[test]
fn a_server_that_never_comes_back_has_not() {
    let load = Load { connections: 3, timeout: ms(200), ..lasting(900) };
    let outcome = run(&load, stopped(100 * MS, u64::MAX));
    assert_eq!(outcome.recovery, Some(Recovery { took: ns(601 * MS - 1), complete: false }));
}

#[test]
fn a_recovery_is_complete_when_answers_were_right_for_one_and_a_half_time_outs() {
    for (window, complete) in [(1150, true), (1149, false)] {
        let load = Load { connections: 3, timeout: ms(200), ..lasting(window) };
        let took = ns(501 * MS - 1);
        assert_eq!(run(&load, stopped(150 * MS, 850 * MS)).recovery, Some(Recovery { took, complete }));
    }
}

#[test]
fn an_interval_is_told_as_soon_as_it_is_over() {
    let machine = Machine::default();
    let mut told = Vec::new();
    machine.run_with(&lasting(250), after(7 * MS), &mut |event| {
        if let Event::Interval(interval) = event {
            told.push((interval.start_ms, machine.time.now() / MS));
        }
    });
    // The last one with what was on its way, sent at 245 ms, and after 10 ms of listening.
    assert_eq!(told, [(0, 100), (100, 200), (200, 262)]);
}

/// The server's last answer comes twice, the second time after the load is over.
#[test]
fn an_answer_that_nobody_asked_for_is_no_request() {
    let twice = |turn: Turn| {
        let more = (turn.request == 60).then(|| say(turn.at + 3 * MS, PONG));
        pong(turn.at + MS).into_iter().chain(more).collect()
    };
    let outcome = run(&load(60), Answering::new(twice));
    assert_eq!((outcome.requests, outcome.ok, outcome.errors), (60, 60, Errors::default()));
    assert_eq!(outcome.unasked, 1);
    let first = outcome.first_wrong.unwrap();
    assert!(first.starts_with("malformed: "), "{first}");
    // Bytes that come before the end are the answer to the next request; those after the last one are too much.
    let early = |turn: Turn| {
        let more = (turn.request == 3).then(|| say(turn.at + 3 * MS / 2, PONG));
        pong(turn.at + MS).into_iter().chain(more).collect()
    };
    let outcome = run(&load(60), Answering::new(early));
    assert_eq!((outcome.requests, outcome.ok, outcome.unasked), (60, 60, 1), "{:?}", outcome.first_wrong);
    assert_eq!(run(&load(60), after(MS)).unasked, 0);
}

/// The engine takes 5 ms to send one request; 2 ms after it began, an answer comes on the other connection.
#[test]
fn an_answer_that_comes_while_others_are_handled_has_that_wait_in_its_receive_lag() {
    let machine = Machine::default();
    let time = machine.time.clone();
    let server = Answering::new(move |turn: Turn| match (turn.connection, turn.on_connection) {
        (1, 3) => {
            time.pass(5 * MS);
            pong(time.now() + MS)
        }
        (2, 2) => pong(turn.at + 3 * MS),
        _ => pong(turn.at + MS),
    });
    let outcome = machine.run(&Load { connections: 2, ..load(7) }, server);
    assert_eq!(outcome.ok, 7);
    let longest = outcome.receive_lag.max();
    assert!(
        (3 * MS..6 * MS).contains(&longest),
        "it waited for 3 ms of the 5, and the lag says {longest} ns at most"
    );
}
