//! A window that opens before the longest warm-up is over.

use super::*;
use crate::{Arrivals, Disturbance, DisturbanceKind, Event, Interval, Opener};

/// The outcome of a load whose window is asked to open once the last `alike` intervals have had as many answers; and
/// the instant at which it was to open, `None` if it was not asked.
fn when_alike(load: Load, alike: usize, server: impl Server) -> (Outcome, Option<Duration>) {
    let opener = Opener::default();
    let load = Load { opener: Some(opener.clone()), ..load };
    let (mut answers, mut opens) = (Vec::new(), None);
    let outcome = Machine::default().run_with(&load, server, &mut |event| {
        let Event::Interval(Interval { ok, .. }) = event else { return };
        answers.push(*ok);
        let last = answers.len().checked_sub(alike).map(|from| &answers[from..]);
        if opens.is_none() && last.is_some_and(|last| last.iter().all(|other| other == ok)) {
            opens = Some(opener.open());
        }
    });
    (outcome, opens)
}

/// A server that takes 11 ms at first and a millisecond less every 300 ms, until it takes 1 ms.
fn getting_faster() -> impl Server {
    Answering::new(|turn| pong(turn.at + 11 * MS - (turn.at / (300 * MS)).min(10) * MS))
}

fn starts(outcome: &Outcome) -> Vec<i64> {
    outcome.intervals.iter().map(|interval| interval.start_ms).collect()
}

#[test]
fn a_window_opens_where_the_server_has_become_steady() {
    let load = Load { warm_up: ms(10_000), connections: 2, ..lasting(500) };
    let (outcome, opens) = when_alike(load, 5, getting_faster());
    // It is steady from 3 s on; five intervals later that is seen, and the window opens at the end of the next but one.
    let opened = opens.unwrap();
    assert!((ms(3500)..=ms(3800)).contains(&opened), "{opened:?}");
    assert_eq!((outcome.ok, outcome.elapsed), (500 * 2, ms(500)));
    assert!(outcome.response.equivalent(outcome.response.max(), MS), "only what is steady is measured");
    let before = opened.as_millis() as i64;
    assert_eq!(starts(&outcome), (-before / 100..5).map(|nth| nth * 100).collect::<Vec<_>>());
    let warm_up: u64 = outcome.intervals.iter().filter(|it| it.start_ms < 0).map(|it| it.ok).sum();
    // An answer at the opening itself is the window's.
    assert!(outcome.warm_up_requests.abs_diff(warm_up) <= 2, "{warm_up}");
}

#[test]
fn a_window_of_a_server_that_never_becomes_steady_opens_at_the_limit() {
    let load = Load { warm_up: ms(2000), connections: 2, ..lasting(500) };
    let slower = || Answering::new(|turn: Turn| pong(turn.at + MS + turn.at / (100 * MS) * MS));
    let (outcome, opens) = when_alike(load.clone(), 5, slower());
    assert_eq!((opens, starts(&outcome)[0], outcome.elapsed), (None, -2000, ms(500)));
    let fixed = run(&load, slower());
    assert_eq!((fixed.ok, fixed.warm_up_requests), (outcome.ok, outcome.warm_up_requests));
}

#[test]
fn a_window_asked_for_near_the_limit_opens_at_the_limit() {
    for limit in [1100, 1180] {
        let load = Load { warm_up: ms(limit), ..lasting(300) };
        let (outcome, opens) = when_alike(load, 10, after(MS));
        assert!(opens.is_some_and(|opens| opens >= ms(limit)), "{opens:?}");
        let (whole, rest) = (limit as i64 / 100, limit as i64 % 100);
        assert_eq!(starts(&outcome)[0], -(whole + i64::from(rest > 0)) * 100);
        assert_eq!((outcome.elapsed, outcome.ok), (ms(300), 300));
    }
}

#[test]
fn intervals_of_a_warm_up_that_is_no_whole_number_of_them_end_with_it() {
    let load = Load { warm_up: ms(2550), ..lasting(300) };
    let (outcome, opens) = when_alike(load, 3, after(MS));
    assert_eq!(
        (opens, starts(&outcome)),
        (Some(ms(550)), vec![-600, -500, -400, -300, -200, -100, 0, 100, 200])
    );
    assert_eq!(outcome.warm_up_requests, 549);
}

#[test]
fn an_open_loop_opens_early_and_has_its_whole_window() {
    let load = Load {
        warm_up: ms(60_000),
        connections: 20,
        arrivals: Some(Arrivals::constant(1000.0)),
        ..lasting(1000)
    };
    let (outcome, opens) = when_alike(load, 4, after(5 * MS));
    // The first interval lacks the answers on their way; the next four are alike.
    assert_eq!((opens, outcome.ok, outcome.requests), (Some(ms(700)), 1000, 1000));
    assert_eq!((outcome.warm_up_requests, outcome.elapsed), (700, ms(1000)));
    assert_eq!((starts(&outcome)[0], outcome.errors), (-700, Errors::default()));
}

#[test]
fn a_disturbance_comes_when_an_early_window_closes() {
    let disturbance = Disturbance { kind: DisturbanceKind::Pause(ms(200)), watch: ms(400) };
    let load = Load { warm_up: ms(9000), timeout: ms(200), disturbance: Some(disturbance), ..lasting(500) };
    let (outcome, opens) = when_alike(load, 5, after(MS));
    let disturbed = outcome.disturbed.unwrap();
    assert_eq!((opens, disturbed.began, disturbed.ended), (Some(ms(800)), ms(500), ms(700)));
    assert_eq!((outcome.ok, outcome.elapsed), (500, ms(500)));
}
