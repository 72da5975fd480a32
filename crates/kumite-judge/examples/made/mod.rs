//! The parts of made-up runs that the examples judge: contenders, their trials, and claims on their throughput.

use std::collections::{BTreeMap, BTreeSet};

use kumite_judge::{Claim, ClaimSpec, Names};
use kumite_record::{Contender, Metric, Sample, Trial};

const METRIC: &str = "throughput_rps";

/// A claim that `left` has a higher throughput than `right`.
pub fn claim(id: &str, left: &str, right: &str) -> ClaimSpec {
    let assert = format!("{METRIC}({left}) > {METRIC}({right})");
    let names = Names {
        contenders: &BTreeSet::from([left, right].map(str::to_owned)),
        axes: &BTreeMap::new(),
        fixed: &BTreeMap::new(),
        units: &BTreeMap::new(),
        metrics: &[Metric::named(METRIC)],
        within: None,
        part_metrics: &[],
    };
    let parsed = Claim::new(&assert, &names).unwrap_or_else(|error| panic!("{}", error.what));
    ClaimSpec { id: id.to_owned(), title: None, assert, published: None, parsed }
}

/// A contender that ran.
pub fn contender(name: &str) -> Contender {
    Contender { name: name.to_owned(), model: "threads".to_owned(), ..Contender::default() }
}

/// A trial of a contender with this throughput.
pub fn trial(round: u32, contender: &str, rate: f64) -> Trial {
    let metrics = [(METRIC.to_owned(), rate)].into();
    Trial {
        seq: round,
        block: round,
        contender: contender.to_owned(),
        sample: Sample { metrics, ..Sample::default() },
        ..Trial::default()
    }
}
