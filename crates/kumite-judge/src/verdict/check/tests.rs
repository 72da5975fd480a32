//! Checks of made-up trials whose answers are known.

use std::collections::BTreeMap;

use kumite_record::{
    AxisValue, Check, CheckOutcome, Claim, Contender, ContenderStatus, Doubt, EffectKind, Metric, Outcome,
    Point, Question, Reason, Run, Sample, Source, Trial,
};

use super::{Binds, CheckSpec};
use crate::claim::{self, ClaimSpec, Names};

/// The values of "a" and "b" in three rounds at n = 1 and n = 10; "b" is not planned at n = 10, "c" was skipped.
struct World {
    run: Run,
    contenders: Vec<Contender>,
    trials: Vec<Trial>,
}

fn int(name: &str, value: i64) -> (String, AxisValue) {
    (name.to_owned(), AxisValue::Int(value))
}

fn point(n: i64) -> Point {
    Point([int("n", n)].into())
}

impl World {
    /// Makes a world with the `elapsed_ms` of each cell, round by round. `sent` has the same values.
    fn new(elapsed_ms: &[(&str, i64, [f64; 3])]) -> World {
        let contender = |name: &&str| Contender {
            name: (*name).to_owned(),
            model: "threads".to_owned(),
            status: if *name == "c" { ContenderStatus::Skipped } else { ContenderStatus::Ran },
            reason: Some("needs elixir".to_owned()),
            ..Contender::default()
        };
        let all = ["a", "b", "c"];
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let run = Run {
            profile: "quick".to_owned(),
            points: [1, 10].map(point).into(),
            contenders_at: vec![names(&["a", "b", "c"]), names(&["a"])],
            workload: [int("n", 1), int("delay_ms", 50)].into(),
            ..Run::default()
        };
        let trial = |name: &str, n: i64, block: usize, ms: f64| Trial {
            seq: 0,
            block: block as u32,
            attempt: 0,
            contender: name.to_owned(),
            point: point(n),
            started: jiff::Timestamp::UNIX_EPOCH,
            outcome: Outcome::Ok,
            reason: None,
            sample: Sample {
                metrics: [("elapsed_ms".to_owned(), ms), ("sent".to_owned(), ms.round())].into(),
                ..Sample::default()
            },
            marks: Vec::new(),
            ready_ms: None,
            load_ms: None,
            control: false,
            took_ms: None,
            node: None,
            log: None,
            void: None,
        };
        let trials = elapsed_ms.iter().flat_map(|(name, n, rounds)| {
            rounds.iter().enumerate().map(move |(block, ms)| trial(name, *n, block, *ms))
        });
        World { trials: trials.collect(), contenders: all.iter().map(contender).collect(), run }
    }

    fn spec(&self, id: &str, assert: &str) -> ClaimSpec {
        let metrics = ["elapsed_ms", "recovery_ms", "sent"].map(Metric::named);
        let names = Names {
            contenders: &self.contenders.iter().map(|contender| contender.name.clone()).collect(),
            // The last is of another profile.
            axes: &[("n".to_owned(), [1, 10, 100].map(AxisValue::Int).to_vec())].into(),
            fixed: &self.run.workload,
            units: &BTreeMap::new(),
            metrics: &metrics,
            within: None,
            part_metrics: &[],
        };
        let parsed = claim::Claim::new(assert, &names).unwrap_or_else(|error| panic!("{assert}: {error:?}"));
        ClaimSpec { id: id.to_owned(), title: None, assert: assert.to_owned(), published: None, parsed }
    }

    fn judge(&self, claims: &[&str], binds: Binds, check: &str) -> (Vec<Claim>, Check) {
        let claims: Vec<ClaimSpec> = claims.iter().map(|assert| self.spec(assert, assert)).collect();
        let says = self.spec("check", check);
        let checks = [CheckSpec { says, binds, because: "It waits.".to_owned() }];
        let trials: Vec<&Trial> = self.trials.iter().collect();
        let (claims, mut checks) = crate::judge(&self.run, &trials, &self.contenders, &claims, &checks);
        (claims, checks.remove(0))
    }

    fn check(&self, binds: Binds, check: &str) -> Check {
        self.judge(&[], binds, check).1
    }
}

fn world() -> World {
    World::new(&[
        ("a", 1, [50.0, 50.0, 50.0]),
        ("a", 10, [500.0, 480.0, 450.0]),
        ("b", 1, [100.0, 51.0, 52.0]),
    ])
}

#[test]
fn a_floor_that_binds_trials_is_red_by_one_of_them_and_says_which_is_furthest_off() {
    let check = world().check(Binds::Trials, "every $n: elapsed_ms(a) >= $n * $delay_ms");
    assert_eq!((check.outcome, check.green, check.of), (CheckOutcome::Red, 1, 2));
    let [red] = &check.red[..] else { panic!("{check:?}") };
    assert_eq!(red.comparison, "elapsed_ms(a) >= $n * $delay_ms at n=10");
    assert_eq!((red.violated, red.rounds, red.effect_kind), (2, 3, EffectKind::Ratio));
    assert!((red.effect - 0.9).abs() < 1e-9, "{}", red.effect);
}

#[test]
fn a_check_that_binds_the_median_is_green_where_a_single_round_is_off() {
    let world = world();
    let within = "elapsed_ms(b at n=1) within 5% of elapsed_ms(a at n=1)";
    assert_eq!(world.check(Binds::Median, within).outcome, CheckOutcome::Green);
    let by_trials = world.check(Binds::Trials, within);
    assert_eq!((by_trials.outcome, by_trials.red[0].violated), (CheckOutcome::Red, 1));
    assert_eq!(by_trials.red[0].effect, 2.0);
    let median = world.check(Binds::Median, "elapsed_ms(b at n=1) within 1% of elapsed_ms(a at n=1)");
    assert_eq!((median.outcome, median.red[0].effect), (CheckOutcome::Red, 52.0 / 50.0));
}

#[test]
fn counts_that_are_to_be_equal_are_off_by_a_number() {
    let check = world().check(Binds::Trials, "sent(b at n=1) = sent(a at n=1)");
    assert_eq!((check.outcome, check.red[0].violated, check.red[0].effect), (CheckOutcome::Red, 3, 50.0));
    assert_eq!(check.red[0].effect_kind, EffectKind::Difference);
    assert_eq!(world().check(Binds::Trials, "sent(a at n=1) = 50").outcome, CheckOutcome::Green);
    assert_eq!(
        world().check(Binds::Trials, "0 * sent(a at n=1) within 5% of 0").outcome,
        CheckOutcome::Green
    );
    // A ratio to nothing has no value, and would be none in JSON.
    for binds in [Binds::Trials, Binds::Median] {
        let check = world().check(binds, "sent(a at n=1) within 5% of 0 * sent(b at n=1)");
        assert_eq!((check.outcome, check.reason), (CheckOutcome::NotTested, Some(Reason::NotPositive)));
    }
}

#[test]
fn what_needs_a_contender_that_was_skipped_or_a_metric_that_is_missing_is_not_tested() {
    let check = world().check(Binds::Trials, "every contender: elapsed_ms(contender at n=1) >= 50 ms");
    assert_eq!((check.outcome, check.green, check.of), (CheckOutcome::NotTested, 2, 3));
    assert!(matches!(check.reason, Some(Reason::Absent { .. })), "{check:?}");
    let missing = world().check(Binds::Trials, "recovery_ms(a at n=1) >= 0 s");
    assert!(matches!(missing.reason, Some(Reason::NoMetric { .. })), "{missing:?}");
    let unplanned = world().check(Binds::Trials, "elapsed_ms(b at n=10) >= 0 s");
    assert!(matches!(unplanned.reason, Some(Reason::NotPlanned { .. })), "{unplanned:?}");
    let no_part = world().check(Binds::Median, "every $n > 10: elapsed_ms(a) >= 0 s");
    assert!(matches!(no_part.reason, Some(Reason::NoPart { .. })), "{no_part:?}");
}

#[test]
fn a_bound_that_decides_the_check_leaves_it_not_tested() {
    let mut world = world();
    for trial in &mut world.trials {
        trial.sample.metrics.insert("recovery_ms".to_owned(), 900.0);
        trial.sample.lower_bounds.insert("recovery_ms".to_owned());
    }
    let check = world.check(Binds::Trials, "recovery_ms(a at n=1) < 1 s");
    assert_eq!((check.outcome, check.reason), (CheckOutcome::NotTested, Some(Reason::LowerBounds)));
    let sure = world.check(Binds::Trials, "recovery_ms(a at n=1) < 800 ms");
    assert_eq!(sure.outcome, CheckOutcome::Red);
}

#[test]
fn a_red_check_is_a_doubt_of_claims_that_share_its_red_cells_and_of_no_other() {
    let claims = ["elapsed_ms(a at n=10) > 1 s", "elapsed_ms(a at n=1) > elapsed_ms(b at n=1)"];
    let (judged, check) = world().judge(&claims, Binds::Trials, "every $n: elapsed_ms(a) >= $n * $delay_ms");
    assert_eq!(check.outcome, CheckOutcome::Red);
    let doubts: Vec<&[Doubt]> = judged.iter().map(|claim| &claim.doubts[..]).collect();
    assert_eq!(doubts, [&[Doubt::Check { id: "check".to_owned() }][..], &[]]);
}

#[test]
fn the_cells_that_claims_need_are_those_of_all_their_comparisons() {
    let world = world();
    let specs = [world.spec("x", "every $n: elapsed_ms(a) > 1 s")];
    let cell = |n| ("a".to_owned(), n);
    assert_eq!(crate::needed(&world.run, &world.contenders, &specs), [cell(0), cell(1)].into());
}

#[test]
fn a_claim_says_the_scale_of_its_cells_where_none_has_the_source_s() {
    let mut world = world();
    let workload = [int("n", 10), int("delay_ms", 100), int("unknown", 1)].into();
    let source = Source { workload, ..Source::default() };
    world.run.question = Question { source: Some(source), ..Question::default() };
    let claims = ["elapsed_ms(a at n=1) > 1 s", "every $n: elapsed_ms(a) > 1 s"];
    let (judged, _) = world.judge(&claims, Binds::Trials, "sent(a at n=1) = 50");
    let delay = ("delay_ms".to_owned(), vec![AxisValue::Int(50)]);
    assert_eq!(judged[0].scale, [delay.clone(), ("n".to_owned(), vec![AxisValue::Int(1)])].into());
    assert_eq!(judged[1].scale, [delay].into(), "one of its points is the source's");
}
