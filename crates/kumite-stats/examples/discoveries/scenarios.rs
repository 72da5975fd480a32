//! The runs that are simulated: six claims each, of which none, three or all are false or at equality.

use kumite_stats::ErrorRate;

use crate::noise::{NOISES, Noise};
use crate::run::{Dependence, Scenario};
use crate::truth::{Claim, Comparison, Side};

const CLAIMS: usize = 6;

/// One scenario for each kind of noise.
pub struct Row {
    pub truth: String,
    /// How many comparisons each claim has.
    pub k: usize,
    pub dependence: Dependence,
    pub scenarios: Vec<Scenario<'static>>,
}

/// The true state of some of the six claims, in noise with this clear ratio and with k comparisons.
struct Truth {
    name: &'static str,
    claim: fn(f64, usize) -> Claim,
}

const TRUTHS: [Truth; 4] = [
    // "Holds" is false.
    Truth {
        name: "equal, and claimed to be above",
        claim: |_, k| Claim::new(vec![Comparison::above_one(1.0); k]),
    },
    Truth {
        name: "one comparison equal, the others clear",
        claim: |clear, k| {
            let ratio = |nth: usize| if nth == 0 { 1.0 } else { clear };
            Claim::new((0..k).map(|nth| Comparison::above_one(ratio(nth))).collect())
        },
    },
    // "Fails" is false.
    Truth { name: "equal, and claimed to be above or equal", claim: |_, k| Claim::new(vec![equal(); k]) },
    Truth {
        name: "clearly false",
        claim: |clear, k| Claim::new(vec![Comparison::above_one(1.0 / clear); k]),
    },
];

const MARGIN: f64 = 1.05;

const TRUTHS_AT_MARGIN: [Truth; 6] = [
    // "Holds" is false, and "no difference" is not.
    Truth { name: "equal, margin 5 %", claim: |_, k| with_margin(Comparison::above_one(1.0), MARGIN, k) },
    Truth {
        name: "equal, margin clear",
        claim: |clear, k| with_margin(Comparison::above_one(1.0), clear, k),
    },
    // "No difference" and "fails" are false.
    Truth {
        name: "at 1 + margin, 5 %",
        claim: |_, k| with_margin(Comparison { ratio: MARGIN, ..equal() }, MARGIN, k),
    },
    Truth {
        name: "at 1 + margin, clear",
        claim: |clear, k| with_margin(Comparison { ratio: clear, ..equal() }, clear, k),
    },
    // "No difference" and "holds" are false.
    Truth {
        name: "at 1 / (1 + margin), 5 %",
        claim: |_, k| with_margin(Comparison::above_one(1.0 / MARGIN), MARGIN, k),
    },
    Truth {
        name: "at 1 / (1 + margin), clear",
        claim: |clear, k| with_margin(Comparison::above_one(1.0 / clear), clear, k),
    },
];

const TRUTHS_WITHIN: [Truth; 4] = [
    // "Fails" is false.
    Truth { name: "at the top of 5 %, which is within", claim: |_, _| within(MARGIN, true) },
    Truth { name: "at the top of a clear band, which is within", claim: |clear, _| within(clear, true) },
    // "Holds" is false.
    Truth { name: "at the top of 5 %, which is not within", claim: |_, _| within(MARGIN, false) },
    Truth { name: "at the top of a clear band, which is not within", claim: |clear, _| within(clear, false) },
];

/// `ratio >= 1`, at 1.
fn equal() -> Comparison {
    Comparison { or_equal: true, ..Comparison::above_one(1.0) }
}

fn with_margin(comparison: Comparison, margin: f64, k: usize) -> Claim {
    Claim { comparisons: vec![comparison; k], margin: Some(margin) }
}

/// The claim that a ratio, which is at the top, is above 1 / top and below the top.
fn within(top: f64, or_equal: bool) -> Claim {
    let comparison = |side, border| Comparison { ratio: top, side, border, or_equal };
    Claim::new(vec![comparison(Side::Above, 1.0 / top), comparison(Side::Below, top)])
}

fn clear(ratio: f64, k: usize) -> Claim {
    Claim::new(vec![Comparison::above_one(ratio); k])
}

fn row(truth: &Truth, of_six: usize, k: usize, dependence: Dependence, rate: ErrorRate) -> Row {
    let pairs = match dependence {
        Dependence::Independent => CLAIMS * k,
        Dependence::TiedComparisons => CLAIMS,
        Dependence::TiedClaims => 1,
    };
    let scenario = |noise: &'static Noise| {
        let ratio = noise.clear_ratio(pairs * crate::run::FIXED);
        let claim = |nth: usize| if nth < of_six { (truth.claim)(ratio, k) } else { clear(ratio, k) };
        Scenario { noise, claims: (0..CLAIMS).map(claim).collect(), dependence, rate, voids: (0.0, 0.0) }
    };
    let name = if of_six == 0 { "all true and clear".to_owned() } else { format!("{of_six} {}", truth.name) };
    Row { truth: name, k, dependence, scenarios: NOISES.iter().map(scenario).collect() }
}

fn dependences(k: usize) -> Vec<Dependence> {
    let all = [Dependence::Independent, Dependence::TiedComparisons, Dependence::TiedClaims];
    // One comparison has no other to be tied to.
    all.into_iter().filter(|dependence| k > 1 || *dependence != Dependence::TiedComparisons).collect()
}

fn grid(truths: &[Truth], numbers: &[usize], ks: &[usize], rate: ErrorRate) -> Vec<Row> {
    let mut rows = Vec::new();
    for truth in truths {
        for &of_six in numbers {
            for &k in ks {
                rows.extend(dependences(k).into_iter().map(|ties| row(truth, of_six, k, ties, rate)));
            }
        }
    }
    rows
}

/// Claims without a margin.
pub fn plain(rate: ErrorRate, ks: &[usize]) -> Vec<Row> {
    let mut rows = grid(&TRUTHS[..1], &[0], ks, rate);
    rows.extend(grid(&TRUTHS, &[3, 6], ks, rate));
    rows
}

/// Claims with a margin, within which there is no difference.
pub fn no_difference(ks: &[usize]) -> Vec<Row> {
    grid(&TRUTHS_AT_MARGIN, &[3, 6], ks, ErrorRate::FalseDiscovery)
}

/// Claims that a ratio lies in a band.
pub fn bands() -> Vec<Row> {
    let mut rows = grid(&TRUTHS_WITHIN, &[3, 6], &[2], ErrorRate::FalseDiscovery);
    rows.retain(|row| row.dependence != Dependence::Independent);
    rows
}

/// Contenders that are equal and claimed not to be, with blocks that are void more often where one of them is slower.
pub fn voids() -> Vec<Row> {
    let mut rows = Vec::new();
    for (a, b) in [(0.02, 0.02), (0.1, 0.02), (0.02, 0.05), (0.02, 0.1), (0.02, 0.2)] {
        for dependence in dependences(1) {
            let mut row = row(&TRUTHS[0], CLAIMS, 1, dependence, ErrorRate::FalseDiscovery);
            let is_above: f64 = (1.0 - a) / (2.0 - a - b);
            row.truth =
                format!("void {:.0} % and {:.0} %: {:.1} % above", a * 100.0, b * 100.0, is_above * 100.0);
            row.scenarios.iter_mut().for_each(|scenario| scenario.voids = (a, b));
            rows.push(row);
        }
    }
    rows
}
