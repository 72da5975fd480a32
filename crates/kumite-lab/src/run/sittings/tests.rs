//! Sittings of made-up trials, joined or refused.

use jiff::Timestamp;
use kumite_record::{Contender, Metric, Point, Sample, Saved, SittingSide, Verdict, Warning};

use super::*;

const SPEC: &str = r#"
question = "Which is faster?"
kind = "command"
blocks = 10
[[claim]]
id = "a-first"
assert = "wall_ms(a) < wall_ms(b)"
"#;

/// A sitting on a day. In its rounds "a" takes these shares of the time that "b" takes.
fn sitting(day: i64, ratios: &[f64]) -> StoredRun {
    let at = |hour: i64| Timestamp::from_second((day * 24 + hour) * 3600).unwrap();
    let contender =
        |name: &str| Contender { name: name.to_owned(), model: "threads".to_owned(), ..Contender::default() };
    let run = Run {
        id: format!("day-{day}"),
        experiment: "e".to_owned(),
        kind: kumite_record::Kind::from("command"),
        seed: day as u64,
        started: at(0),
        finished: Some(at(1)),
        blocks: 10,
        points: vec![Point::default()],
        metrics: vec![Metric::named("wall_ms")],
        spec: SPEC.to_owned(),
        ..Run::default()
    };
    let trial = |block: usize, contender: &str, value: f64| Trial {
        seq: block as u32,
        block: block as u32,
        contender: contender.to_owned(),
        started: at(0),
        sample: Sample { metrics: [("wall_ms".to_owned(), value)].into(), ..Sample::default() },
        ..Trial::default()
    };
    let of_round = |(block, ratio): (usize, &f64)| [trial(block, "a", 10.0 * ratio), trial(block, "b", 10.0)];
    StoredRun {
        run,
        machine: kumite_record::Machine::default(),
        contenders: ["a", "b"].map(contender).into(),
        trials: ratios.iter().enumerate().flat_map(of_round).collect(),
        claims: Vec::new(),
        checks: Vec::new(),
        warnings: Vec::new(),
    }
}

fn joined(runs: &[StoredRun]) -> Result<StoredRun, String> {
    join_sittings(runs, "joined".to_owned(), "kumite again".to_owned()).map_err(|error| error.to_string())
}

#[test]
fn sittings_become_one_run_whose_rounds_come_one_after_another() {
    let runs = [sitting(2, &[0.8; 10]), sitting(0, &[0.8; 9]), sitting(1, &[0.8; 10])];
    let of = joined(&runs).unwrap();
    let sittings: Vec<_> =
        of.run.sittings.iter().map(|of| (of.run.as_str(), of.first_round, of.rounds)).collect();
    assert_eq!(sittings, [("day-0", 0, 9), ("day-1", 9, 10), ("day-2", 19, 10)]);
    assert_eq!((of.run.blocks, of.run.rule, of.trials.len()), (29, Rule::Strict, 58));
    assert!(
        of.trials
            .iter()
            .enumerate()
            .all(|(nth, trial)| trial.seq == nth as u32 && trial.block == nth as u32 / 2)
    );
    let claim = &of.claims[0];
    assert_eq!((claim.verdict, claim.sittings.len()), (Verdict::Holds, 3));
}

#[test]
fn a_sitting_that_contradicts_leaves_the_claim_to_depend_on_it() {
    let of = joined(&[sitting(0, &[0.8; 10]), sitting(1, &[1.2; 10]), sitting(2, &[0.8; 10])]).unwrap();
    let claim = &of.claims[0];
    assert_eq!(claim.verdict, Verdict::DependsOnSitting);
    let sides: Vec<SittingSide> = claim.sittings.iter().map(|of| of.side).collect();
    assert_eq!(sides, [SittingSide::So, SittingSide::NotSo, SittingSide::So]);
}

#[test]
fn a_run_that_its_verdicts_ended_is_a_first_sitting_and_one_that_was_cut_short_counts_as_far_as_it_goes() {
    let mut ended = sitting(0, &[0.8; 6]);
    ended.run.saved = Some(Saved { trials: 8, seconds: 80.0, decided: true });
    let mut cut = sitting(1, &[0.8; 3]);
    cut.run.cut_short = Some("the budget of 1 m was spent".to_owned());
    let of = joined(&[ended, cut]).unwrap();
    assert_eq!(of.run.sittings.iter().map(|of| of.ended_by_verdicts).collect::<Vec<_>>(), [true, false]);
    let told = |of: &&Warning| of.place == "sitting 2" && of.what == "the budget of 1 m was spent";
    assert!(of.warnings.iter().find(told).is_some() && of.run.cut_short.is_none(), "{:?}", of.warnings);
}

#[test]
fn what_was_not_measured_alike_is_not_joined_and_the_difference_is_named() {
    let first = sitting(0, &[0.8; 10]);
    let refused = |change: &dyn Fn(&mut StoredRun)| {
        let mut other = sitting(1, &[0.8; 10]);
        change(&mut other);
        joined(&[first.clone(), other]).err()
    };
    assert_eq!(refused(&|other| other.run.blocks = 5), None, "a sitting has a length of its own");
    assert_eq!(refused(&|other| other.run.rule = Rule::Strict), None);
    assert_eq!(
        refused(&|other| other.run.margin_percent = 5.0).unwrap(),
        "runs day-0 and day-1 are not sittings of one run, for they differ in margin_percent: 0.0, and 5.0"
    );
    let is_of_another = |other: &mut StoredRun| other.run.experiment = "f".to_owned();
    assert_eq!(
        refused(&is_of_another).unwrap(),
        "runs day-0 and day-1 are not sittings of one run, for they differ in the experiment: e, and f"
    );
    let is_shard = |other: &mut StoredRun| other.run.merged = Some(kumite_record::Merged::default());
    assert_eq!(
        refused(&is_shard).unwrap(),
        "run day-1 is no sitting: it is a share of a run, or was made of several runs"
    );
}

#[test]
fn what_is_taken_apart_is_joined_again_to_the_same() {
    let mut runs = [sitting(0, &[0.8; 9]), sitting(1, &[0.8; 10]), sitting(2, &[0.8; 3])];
    runs[0].run.saved = Some(Saved { trials: 2, seconds: 1.0, decided: true });
    runs[1].run.kumite = "2".to_owned();
    let whole = joined(&runs).unwrap();
    let parts = take_apart(&whole);
    let rounds: Vec<usize> = parts.iter().map(|of| of.trials.len() / 2).collect();
    assert_eq!(rounds, [9, 10, 3]);
    let again = joined(&parts).unwrap();
    assert_eq!((&again.run.sittings, &again.trials), (&whole.run.sittings, &whole.trials));
    assert_eq!((&again.claims, &again.run.other_versions), (&whole.claims, &whole.run.other_versions));
}
