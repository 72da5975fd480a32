//! A smaller version of the tables, and answers that are known.

use kumite_stats::ErrorRate;

use crate::noise::NOISES;
use crate::rates::{Rate, Rates, simulate_all};
use crate::run::{ALPHA, Dependence, LAST, Scenario};
use crate::scenarios::{self, Row};
use crate::truth::{Claim, Comparison};
use crate::wealths::Wealths;

const RUNS: usize = 200;

/// The rates of each row, in each kind of noise.
fn found(mut rows: Vec<Row>) -> Vec<(String, Rates)> {
    let name = |row: &Row| format!("{}, k = {}, {:?}", row.truth, row.k, row.dependence);
    let names: Vec<String> = rows.iter().flat_map(|row| vec![name(row); NOISES.len()]).collect();
    let scenarios: Vec<Scenario> = rows.iter_mut().flat_map(|row| row.scenarios.drain(..)).collect();
    names.into_iter().zip(simulate_all(&scenarios, RUNS)).collect()
}

/// Asserts that no rate is above its limit in any scenario, and that there was something to find.
fn assert_bounded(found: &[(String, Rates)], of: fn(&Rates) -> &[Rate; 3], limit: f64) {
    for (name, rates) in found {
        for rate in of(rates) {
            assert!(!rate.is_above(limit), "{name}: {:.3}", rate.mean());
        }
    }
    let highest = found.iter().flat_map(|(_, rates)| of(rates)).map(Rate::mean).fold(0.0, f64::max);
    assert!(highest > limit / 3.0, "{highest}");
}

#[test]
fn at_most_five_percent_of_verdicts_are_false_however_claims_depend_and_whenever_one_stops() {
    let found = found(scenarios::plain(ErrorRate::FalseDiscovery, &[1, 2, 6]));
    assert_bounded(&found, |rates| &rates.discovery, ALPHA);
    // Of either end of a ratio.
    assert_bounded(&found, |rates| &rates.coverage, 2.0 * ALPHA);
    for (name, rates) in found.iter().filter(|(name, _)| name.contains("true and clear, k = 1")) {
        assert!(rates.decided[1].mean() > 0.0 && rates.decided[2].mean() > 0.99, "{name}");
    }
}

#[test]
fn strictly_at_most_five_percent_of_runs_have_any_false_verdict() {
    assert_bounded(&found(scenarios::plain(ErrorRate::FamilyWise, &[1, 2])), |rates| &rates.family, ALPHA);
}

#[test]
fn at_most_five_percent_of_verdicts_are_false_with_a_margin_and_in_bands() {
    let mut rows = scenarios::no_difference(&[1, 2]);
    rows.extend(scenarios::bands());
    assert_bounded(&found(rows), |rates| &rates.discovery, ALPHA);
}

#[test]
fn blocks_that_are_void_where_one_contender_is_slower_make_it_look_faster() {
    let found = found(scenarios::voids());
    let mean = |name: &str| {
        let here: Vec<f64> = found
            .iter()
            .filter(|(found, _)| found.starts_with(name))
            .map(|(_, rates)| rates.discovery[2].mean())
            .collect();
        here.iter().sum::<f64>() / here.len() as f64
    };
    assert!(mean("void 10 % and 2 %") < mean("void 2 % and 2 %"));
    assert!(mean("void 2 % and 2 %") < mean("void 2 % and 20 %"));
    assert!(mean("void 2 % and 20 %") > ALPHA, "the bias is one that is seen");
}

/// How likely a fair coin says "holds" before it says "fails" in so many rounds: exactly, by following every number of
/// heads.
fn said_to_hold(threshold: f64) -> f64 {
    let wealths = Wealths::new(LAST);
    let mut alive = vec![1.0];
    let mut holds = 0.0;
    for n in 1..=LAST {
        let mut next = vec![0.0; n + 1];
        for (heads, share) in alive.iter().enumerate() {
            next[heads] += share / 2.0;
            next[heads + 1] += share / 2.0;
        }
        for (heads, share) in next.iter_mut().enumerate() {
            let is_decided = wealths.get(heads, n).max(wealths.get(n - heads, n)) >= threshold;
            if is_decided {
                holds += if 2 * heads > n { *share } else { 0.0 };
                *share = 0.0;
            }
        }
        alive = next;
    }
    holds
}

/// How often a run of six equal claims has a false verdict, in each kind of noise.
fn any_false(dependence: Dependence, rate: ErrorRate, runs: usize) -> Vec<f64> {
    let scenario = |noise| Scenario {
        noise,
        claims: vec![Claim::new(vec![Comparison::above_one(1.0)]); 6],
        dependence,
        rate,
        voids: (0.0, 0.0),
    };
    let scenarios: Vec<Scenario> = NOISES.iter().map(scenario).collect();
    simulate_all(&scenarios, runs).iter().map(|rates| rates.family[2].mean()).collect()
}

#[test]
fn runs_of_equal_claims_are_false_as_often_as_is_known_exactly() {
    let runs = 4_000;
    let one_of_six = 1.0 - (1.0 - said_to_hold(120.0)).powi(6);
    let strict = any_false(Dependence::Independent, ErrorRate::FamilyWise, runs);
    // Where all see the same pairs, all six are decided at once.
    let tied = any_false(Dependence::TiedClaims, ErrorRate::FalseDiscovery, runs);
    for (expected, found) in [(one_of_six, strict), (said_to_hold(20.0), tied)] {
        let chance = 4.0 * (expected * (1.0 - expected) / runs as f64).sqrt();
        for found in found {
            assert!((found - expected).abs() < chance, "{found} and {expected}");
        }
    }
}
