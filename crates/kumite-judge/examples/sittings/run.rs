//! A run of such rounds, judged.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use kumite_judge::{Claim, ClaimSpec, Names, judge};
use kumite_record::{Contender, ContenderStatus, Metric, Outcome, Point, Rule, Run, Sample, Sitting, Trial};

use crate::model::When;

const DAY_S: i64 = 24 * 3600;

/// `claims` claims, all "a is more than b", judged together: each has a threshold as if they were different.
pub fn judged(sittings: &[Vec<f64>], when: When, claims: usize) -> kumite_record::Claim {
    let mut run = Run { rule: Rule::Strict, points: vec![Point::default()], ..Run::default() };
    let (mut trials, mut first_round) = (Vec::new(), 0);
    for (nth, rounds) in (0..).zip(sittings) {
        let started = if when == When::Apart { nth * DAY_S } else { nth * 60 };
        let at = |second| Timestamp::from_second(second).unwrap_or_default();
        let (started, finished) = (at(started), Some(at(started + 50)));
        let count = rounds.len() as u32;
        run.sittings.push(Sitting { started, finished, first_round, rounds: count, ..Sitting::default() });
        for (round, effect) in (first_round..).zip(rounds) {
            trials.push(trial(round, "a", 1000.0 * effect.exp()));
            trials.push(trial(round, "b", 1000.0));
        }
        first_round += count;
    }
    let trials: Vec<&Trial> = trials.iter().collect();
    let specs: Vec<ClaimSpec> = (0..claims).map(claim).collect();
    judge(&run, &trials, &["a", "b"].map(contender), &specs, &[]).0.remove(0)
}

fn claim(nth: usize) -> ClaimSpec {
    let assert = "throughput_rps(a) > throughput_rps(b)";
    let names = Names {
        contenders: &BTreeSet::from(["a", "b"].map(str::to_owned)),
        axes: &BTreeMap::new(),
        fixed: &BTreeMap::new(),
        units: &BTreeMap::new(),
        metrics: &[Metric::named("throughput_rps")],
        within: None,
        part_metrics: &[],
    };
    let parsed = Claim::new(assert, &names).unwrap_or_else(|error| panic!("{}", error.what));
    ClaimSpec { id: nth.to_string(), title: None, assert: assert.to_owned(), published: None, parsed }
}

fn contender(name: &str) -> Contender {
    Contender {
        name: name.to_owned(),
        model: "threads".to_owned(),
        version: None,
        digests: None,
        status: ContenderStatus::Ran,
        reason: None,
    }
}

fn trial(round: u32, contender: &str, rate: f64) -> Trial {
    Trial {
        seq: round,
        block: round,
        attempt: 0,
        void: None,
        contender: contender.to_owned(),
        point: Point::default(),
        started: Timestamp::UNIX_EPOCH,
        outcome: Outcome::Ok,
        reason: None,
        sample: Sample { metrics: [("throughput_rps".to_owned(), rate)].into(), ..Sample::default() },
        marks: Vec::new(),
        ready_ms: None,
        load_ms: None,
        control: false,
        took_ms: None,
        node: None,
        log: None,
    }
}
