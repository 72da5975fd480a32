use std::cell::RefCell;

use kumite_load::{Limit, Target};
use kumite_record::{GateBar, GateState};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::simulated::{Server, never, server};

const CAPACITY: f64 = 2_000.0;

fn load(rate: f64) -> Load {
    let target = Target::parse("http://127.0.0.1:1/").unwrap();
    Load { arrivals: Some(Arrivals::constant(rate)), ..Load::new(target, Limit::default()) }
}

fn rules(most: usize) -> SloRules {
    SloRules { load: Duration::from_secs(2), most, command: String::new(), url: String::new() }
}

fn judged(server: &Server, rate: f64, most: usize) -> SloResult {
    let slo = Slo::parse("p99 < 20ms and errors < 0.1%").unwrap();
    meets(server, &load(rate), &slo, &rules(most), &never(), &mut |_| {}).unwrap()
}

/// A server that answers 2,000 requests a second, give or take 2 % from load to load.
fn scattering(seed: u64) -> Server<'static> {
    let random = RefCell::new(ChaCha8Rng::seed_from_u64(seed));
    Server { scatters: Some((0.02, random)), ..server(CAPACITY, 1) }
}

#[test]
fn no_status_is_wrong_at_a_tenth_from_the_limit_and_beyond() {
    let mut wrong = Vec::new();
    let runs = [(0.9, 50), (1.1, 50), (0.5, 10), (2.0, 10)];
    for (factor, runs) in runs {
        for seed in 0..runs {
            let found = judged(&scattering(seed), CAPACITY * factor, 20);
            let right = if factor < 1.0 { GateState::Open } else { GateState::Shut };
            if found.verdict.gate() != right {
                wrong.push((factor, seed, found.verdict));
            }
            // A status is 0 or 1, and an undecided gate passes by one bar only.
            assert_eq!(GateBar::Holds.passes(found.verdict.gate()), factor < 1.0, "{factor} {seed}");
            assert!(found.loads.len() < 20, "it ends early: {factor} {seed}");
        }
    }
    assert_eq!(wrong, []);
}

/// At the limit itself half of the loads meet the objective, so *holds* is false. Exactly, without a seed: the
/// probability of each count of loads that met it, load after load, without those that are decided.
#[test]
fn at_the_limit_a_false_verdict_is_as_rare_as_promised() {
    let mut undecided = vec![1.0];
    let mut holds = 0.0;
    for loads in 1..=200 {
        let mut next = vec![0.0; loads + 1];
        for (met, chance) in undecided.into_iter().enumerate() {
            next[met] += chance / 2.0;
            next[met + 1] += chance / 2.0;
        }
        for (met, chance) in next.iter_mut().enumerate() {
            match (Signs { met, unmet: loads - met, void: 0 }).verdict() {
                SloVerdict::Holds => holds += std::mem::take(chance),
                SloVerdict::Fails => *chance = 0.0,
                SloVerdict::Undecided => {}
            }
        }
        undecided = next;
    }
    assert!((0.03..=0.05).contains(&holds), "{holds}");
}

#[test]
fn five_loads_that_go_alike_decide_and_no_further_one_is_made() {
    assert_eq!(fewest_loads(), 5);
    let met = judged(&server(CAPACITY, 1), 1_000.0, 6);
    assert_eq!(
        (met.verdict, met.ended, met.met, met.loads.len()),
        (SloVerdict::Holds, SloEnd::Decided, 5, 5)
    );
    assert!(met.wealth_holds >= 20.0 && met.wealth_fails < 1.0, "{met:?}");
    assert!((10.0..11.0).contains(&met.seconds), "{}", met.seconds);
    let unmet = judged(&server(CAPACITY, 1), 4_000.0, 6);
    assert_eq!((unmet.verdict, unmet.unmet, unmet.loads.len()), (SloVerdict::Fails, 5, 5));
}

#[test]
fn what_the_loads_that_are_left_cannot_decide_ends_undecided() {
    let mut signs = Signs::default();
    assert!(signs.can_be_decided_by(6) && !signs.can_be_decided_by(4));
    signs.add(RateVerdict::Unmet);
    assert!(signs.can_be_decided_by(5), "five more that do not meet it, or four");
    signs.add(RateVerdict::Met);
    assert!(!signs.can_be_decided_by(4), "five of six are not enough");
    assert!(signs.can_be_decided_by(18));
}

/// If they were left out, a server near its limit would seem to meet what it does not.
#[test]
fn a_load_that_says_nothing_counts_against_either_verdict() {
    let mut signs = Signs { met: 4, unmet: 0, void: 1 };
    assert_eq!(signs.verdict(), SloVerdict::Undecided);
    signs.met = 5;
    assert_eq!(signs.verdict(), SloVerdict::Undecided);
    assert_eq!(Signs { met: 12, unmet: 0, void: 1 }.verdict(), SloVerdict::Holds);
}

#[test]
fn what_cannot_be_judged_is_refused_before_anything_is_sent() {
    let slo = Slo::parse("p99 < 20ms").unwrap();
    let refused = |load: &Load, most| {
        let server = server(CAPACITY, 1);
        let refused = meets(&server, load, &slo, &rules(most), &never(), &mut |_| {}).unwrap_err();
        assert!(server.offered.borrow().is_empty() && server.now.get().is_zero());
        refused.to_string()
    };
    let few = "4 loads decide nothing, even if all go alike: at 5 % it takes 5; give --repeat 5 or more";
    assert_eq!(refused(&load(1_000.0), 4), few);
    assert_eq!(
        refused(&load(100.0), 6),
        "loads of 2s at 100/s are too short for p99 < 20ms and errors = 0: it needs 1000 requests; give -z 11s or more"
    );
    let of_sessions = RateError::TooShort {
        load: Duration::from_secs(2),
        rate: 75.0,
        of_sessions: true,
        slo: "p99 < 20ms".to_owned(),
        needed: 1_000,
        enough: Duration::from_secs(14),
    };
    assert_eq!(
        of_sessions.to_string(),
        "loads of 2s at 75 sessions/s are too short for p99 < 20ms: it needs 1000 sessions, each of a request at least; \
         give -z 14s or more"
    );
    let steps = Arrivals::Rate {
        pieces: Arrivals::pieces("100@5s,200@5s").unwrap(),
        gaps: kumite_load::Gaps::Even,
        burst: 1,
    };
    for arrivals in [None, Some(steps)] {
        let why = refused(&Load { arrivals, ..load(1.0) }, 6);
        assert!(why.starts_with("an objective is judged at one rate"), "{why}");
    }
}

#[test]
fn who_stops_it_has_what_there_is() {
    let stop = never();
    let slo = Slo::parse("p99 < 20ms").unwrap();
    let server = Server { stops: Some((3, &stop)), ..server(CAPACITY, 1) };
    let found = meets(&server, &load(1_000.0), &slo, &rules(6), &stop, &mut |_| {}).unwrap();
    assert_eq!(
        (found.ended, found.verdict, found.loads.len()),
        (SloEnd::Interrupted, SloVerdict::Undecided, 3)
    );
}
