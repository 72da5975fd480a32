use std::time::Duration;

use kumite_load::Target;

use super::*;
use crate::simulated::{Server, never, server};

fn found(server: &Server, slo: &str, budget_s: u64, stop: &AtomicBool) -> (FoundRate, usize) {
    let target = Target::parse("http://127.0.0.1:1/").unwrap();
    let load = Load::new(target, kumite_load::Limit::default());
    let load = Load { timeout: Duration::from_secs(1), ..load };
    let rules = RateRules {
        trial: Duration::from_secs(1),
        budget: Duration::from_secs(budget_s),
        seed: 1,
        command: "kumite load".into(),
        url: "http://127.0.0.1:1/".into(),
    };
    let mut told = 0;
    let slo = Slo::parse(slo).unwrap();
    let found = find_rate(server, &load, &slo, &rules, stop, &mut |_| told += 1).unwrap();
    (found, told)
}

#[test]
fn the_rate_that_a_server_is_known_to_have_is_found() {
    // At 2,010/s it is 5 ms behind after a second.
    let (found, told) = found(&server(2_000.0, 1), "max < 6ms", 1_000, &never());
    let rate = found.rate_rps.as_ref().expect("it is found");
    assert_eq!(found.ended, SearchEnd::Found);
    // A bisection ends when its ends are 2 % apart, and its answer is between them.
    assert!((rate.estimate / 2_010.0 - 1.0).abs() < 0.01, "{rate:?}");
    assert!(rate.low <= rate.estimate && rate.estimate <= rate.high, "{rate:?}");
    assert!(rate.n >= 6 && rate.n as usize == found.answers_rps.len(), "{rate:?}");
    assert_eq!(found.trials.len(), told, "each is told of");
    for trial in &found.trials {
        let met = trial.rate_rps <= 2_010.0;
        assert_eq!(trial.verdict, if met { RateVerdict::Met } else { RateVerdict::Unmet }, "{trial:?}");
        assert_eq!(trial.requests, (trial.rate_rps * trial.seconds).round() as u64);
    }
    assert_eq!(found.broke.keys().collect::<Vec<_>>(), ["max < 6ms"]);
}

#[test]
fn a_server_that_is_always_too_slow_has_no_rate() {
    let (found, _) = found(&server(2_000.0, 50), "p50 < 1ms", 100, &never());
    assert_eq!((found.ended, &found.rate_rps, found.met_rps), (SearchEnd::NeverMet, &None, None));
}

#[test]
fn what_is_known_when_time_is_over_is_kept() {
    let (found, _) = found(&server(2_000.0, 1), "max < 900ms", 5, &never());
    assert_eq!((found.ended, &found.rate_rps), (SearchEnd::OutOfTime, &None));
    assert!(found.met_rps.is_some_and(|met| met <= 4_000.0), "{found:?}");
    assert!(found.seconds <= 5.0, "no trial is begun that would end later: {}", found.seconds);
}

#[test]
fn a_stopped_search_ends_with_what_there_is() {
    let stop = never();
    let server = Server { stops: Some((3, &stop)), ..server(2_000.0, 1) };
    let (found, _) = found(&server, "max < 900ms", 100, &stop);
    assert_eq!((found.ended, found.trials.len()), (SearchEnd::Interrupted, 3));
}
