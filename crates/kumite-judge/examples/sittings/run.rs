//! A run of such rounds, judged.

use jiff::Timestamp;
use kumite_judge::{ClaimSpec, judge};
use kumite_record::{Point, Rule, Run, Sitting, Trial};

use crate::made::{claim, contender, trial};
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
    let specs: Vec<ClaimSpec> = (0..claims).map(|nth| claim(&nth.to_string(), "a", "b")).collect();
    judge(&run, &trials, &["a", "b"].map(contender), &specs, &[]).0.remove(0)
}
