//! When the requests of an open loop are sent: at the instants that the arrivals say, as exactly as the pace wants.

use super::*;
use crate::engine::simulated::LOOK;
use crate::{Arrivals, Gaps, Pace};

fn arrivals(text: &str, gaps: Gaps, burst: u32) -> Arrivals {
    Arrivals::Rate { pieces: Arrivals::pieces(text).unwrap(), gaps, burst }
}

/// The outcome of an open loop with more connections than it needs, against a quick server.
fn offered(arrivals: Arrivals, pace: Pace, machine: &Machine) -> Outcome {
    let limit = Limit { requests: None, duration: arrivals.length() };
    let load = Load { arrivals: Some(arrivals), pace, limit, connections: 20, ..load(0) };
    let outcome = machine.run(&load, after(50 * US));
    assert_eq!((outcome.requests, outcome.errors), (outcome.ok, Errors::default()));
    outcome
}

/// For each request the instant at which it was due, and the time by which it was sent late, in ns.
fn sent(outcome: &Outcome) -> Vec<(u64, u64)> {
    outcome.log.iter().map(|it| (it.due, it.sent.unwrap() - it.due)).collect()
}

fn times(text: &str) -> Vec<u64> {
    let machine = Machine::default();
    let sent = sent(&offered(arrivals(text, Gaps::Even, 1), Pace::Precise, &machine));
    assert!(sent.iter().all(|(_, late)| *late < LOOK), "{sent:?}");
    sent.into_iter().map(|(due, _)| due).collect()
}

#[test]
fn a_rate_that_no_thread_can_send_is_refused_and_the_most_is_named() {
    let at = |text: &str, cores: &[usize], connections| {
        let (arrivals, cores) = (Some(arrivals(text, Gaps::Even, 1)), cores.to_vec());
        Load { arrivals, cores, connections, ..lasting(1000) }.check().map_err(|error| error.to_string())
    };
    assert_eq!(at("1e7", &[], 1), Ok(()));
    assert_eq!(at("2e7", &[0, 1], 2), Ok(()));
    for (text, cores, connections) in [("2e7", &[][..], 9), ("2e7", &[0, 1], 1), ("5@1s,0..2e7@1s", &[0], 9)]
    {
        let why = at(text, cores, connections).unwrap_err();
        let start =
            "a rate of 20000000 requests a second cannot be offered: the most is 10000000 (threads: 1)";
        assert!(why.starts_with(start), "{why}");
    }
}

#[test]
fn a_constant_rate_is_kept_to_the_nanosecond() {
    let outcome = offered(arrivals("500@300ms", Gaps::Even, 1), Pace::Precise, &Machine::default());
    assert_eq!(sent(&outcome), (0..150).map(|nth| (nth * 2 * MS, 0)).collect::<Vec<_>>());
    assert_eq!((outcome.elapsed, outcome.send_lag.len(), outcome.send_lag.max()), (ms(300), 150, 0));
}

#[test]
fn steps_and_ramps_are_kept() {
    let steps = (0..20).map(|n| n * 10 * MS).chain((0..80).map(|n| 200 * MS + n * 2_500 * US));
    assert_eq!(times("100@200ms,400@200ms"), steps.collect::<Vec<_>>());
    // From 0 to 1,000 a second in a second: the nth when n = 500 t².
    let ramp = (0..500).map(|n| ((f64::from(n) / 500.0).sqrt() * 1e9).round());
    let times = times("0..1000@1s");
    assert_eq!(times.len(), 500);
    assert!(times.iter().zip(ramp).all(|(due, expected)| (*due as f64 - expected).abs() <= 1.0), "{times:?}");
}

#[test]
fn random_arrivals_are_those_of_their_seed() {
    let poisson = || arrivals("300@200ms,0..2000@100ms", Gaps::Poisson { seed: 5 }, 3);
    let outcome = offered(poisson(), Pace::Precise, &Machine::default());
    let dues: Vec<u64> = poisson().instants(0, 1).collect();
    assert_eq!(outcome.log.iter().map(|it| it.due).collect::<Vec<_>>(), dues);
    assert!(sent(&outcome).iter().all(|(_, late)| *late < LOOK));
    assert!(dues.len() > 60 && dues.as_chunks::<3>().0.iter().all(|[a, b, c]| a == b && b == c));
    let again = offered(poisson(), Pace::Precise, &Machine::default());
    assert_eq!(again.log, outcome.log);
}

#[test]
fn a_recording_is_replayed() {
    let recorded = Arrivals::recorded("0\n0\n0\n0.05\n0.0500015\n").unwrap();
    let outcome = offered(recorded, Pace::Precise, &Machine::default());
    assert_eq!(sent(&outcome), [(0, 0), (0, 0), (0, 0), (50 * MS, 0), (50 * MS + 1500, 500)]);
    assert_eq!(outcome.intervals.iter().map(|interval| interval.ok).collect::<Vec<_>>(), [5]);
}

/// The system wakes the engine late; a precise pace has it wake up before a request is due.
#[test]
fn a_precise_pace_makes_up_for_waking_late_and_a_sleeping_one_does_not() {
    let late = |pace, wakes_late| {
        let machine = Machine { wakes_late, ..Machine::default() };
        let outcome = offered(arrivals("500@100ms", Gaps::Even, 1), pace, &machine);
        let mut late: Vec<u64> = sent(&outcome)[1..].iter().map(|(_, late)| *late).collect();
        late.dedup();
        late
    };
    assert_eq!(late(Pace::Precise, 59 * US), [0]);
    assert_eq!(late(Pace::Precise, 61 * US), [US]);
    assert_eq!(late(Pace::Sleeping, 59 * US), [59 * US]);
    assert_eq!(late(Pace::Sleeping, 0), [0]);
}

#[test]
fn an_economical_pace_wakes_once_in_a_millisecond() {
    let text = "4000@20ms";
    let outcome = offered(arrivals(text, Gaps::Even, 1), Pace::Economical, &Machine::default());
    let grain = |due: u64| due.next_multiple_of(MS);
    assert!(outcome.log.iter().all(|it| it.sent == Some(grain(it.due))), "{:?}", sent(&outcome));
    assert_eq!(outcome.ok, 80);
}

/// Three are due at once, and to send takes 10 µs.
#[test]
fn what_is_due_at_once_is_sent_one_after_the_other_and_the_lag_says_so() {
    let machine = Machine::default();
    let server = Answering::new(|turn: Turn| {
        machine.time.pass(10 * US);
        pong(turn.at + MS)
    });
    let burst = arrivals("300@100ms", Gaps::Even, 3);
    let limit = Limit { requests: None, duration: burst.length() };
    let outcome = machine.run(&Load { arrivals: Some(burst), limit, connections: 3, ..load(0) }, server);
    let late: Vec<u64> = sent(&outcome).iter().map(|(_, late)| *late).collect();
    assert_eq!(late, [0, 10 * US, 20 * US].repeat(10));
    assert!(outcome.send_lag.equivalent(outcome.send_lag.max(), 20 * US));
    let response = |nth: usize| outcome.log[nth].finished - outcome.log[nth].due;
    assert_eq!([response(0), response(1), response(2)], [MS, MS + 10 * US, MS + 20 * US]);
}

/// The machine stands still from before the window's beginning until after its end. All requests that were due in the
/// window are late.
#[test]
fn a_standstill_over_the_whole_window_is_in_the_lag() {
    let machine = Machine::default();
    machine.time.stand_still(50 * MS..500 * MS);
    let arrivals = arrivals("100@400ms", Gaps::Even, 1);
    let limit = Limit { requests: None, duration: Some(ms(300)) };
    let load = Load { arrivals: Some(arrivals), warm_up: ms(100), limit, connections: 60, ..load(0) };
    let outcome = machine.run(&load, after(50 * US));
    assert_eq!((outcome.ok, outcome.send_lag.len()), (30, 30));
    let most = outcome.send_lag.max();
    assert!((400 * MS..401 * MS).contains(&most), "the first was due at 100 ms: {most}");
}
