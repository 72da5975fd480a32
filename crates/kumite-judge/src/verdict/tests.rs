//! Verdicts on made-up trials whose answers are known. The noise is the same for both sides of a block, so only
//! pairing sees through it.

use std::collections::BTreeMap;

use kumite_record::{
    AxisValue, Bound, CellName, Doubt, EffectKind, Enough, Mark, Metric, Point, Rule, Run, Sample, Side,
    Sides, Unit,
};

use super::*;
use crate::claim::{self, Names};

/// Claims about "a", "b" and "absent" at 1, 10 and 100 connections.
fn claims(asserts: &[&str], workload: &BTreeMap<String, AxisValue>) -> Vec<ClaimSpec> {
    let contenders = ["a", "b", "absent"].map(str::to_owned).into();
    let mut axes: BTreeMap<String, Vec<AxisValue>> =
        // The last is of another profile.
        [("connections".to_owned(), [1, 10, 100, 2000].map(AxisValue::Int).into())].into();
    if workload.contains_key("server_cores") {
        axes.insert("server_cores".to_owned(), ["one", "all"].map(|it| AxisValue::Text(it.into())).into());
    }
    let metrics = [
        "throughput_rps",
        "response_mean_us",
        "response_p99_us",
        "failures",
        "recovery_ms",
        "peak_rss_bytes",
        "cpu_cores",
        "unsent",
    ];
    let metrics = metrics.map(Metric::named);
    let units = BTreeMap::new();
    let names = Names {
        contenders: &contenders,
        axes: &axes,
        fixed: workload,
        units: &units,
        metrics: &metrics,
        within: None,
        part_metrics: &[],
    };
    let claim = |(nth, assert): (usize, &&str)| ClaimSpec {
        id: nth.to_string(),
        title: None,
        assert: (*assert).to_owned(),
        published: None,
        parsed: claim::Claim::new(assert, &names)
            .unwrap_or_else(|error| panic!("{assert}: column {}: {}", error.column, error.what)),
    };
    asserts.iter().enumerate().map(claim).collect()
}

/// Trials of "a" and "b" at 1, 10 and 100 connections: noise of a few percent around given figures, the same for both in a
/// block, so that only pairing sees through it.
pub(super) struct World {
    pub(super) trials: Vec<Trial>,
    contenders: Vec<Contender>,
    pub(super) run: Run,
}

const DRIFT: [f64; 8] = [1.0, 1.3, 0.8, 1.5, 0.7, 1.2, 0.9, 1.1];
const JITTER: [f64; 8] = [0.01, -0.02, 0.005, 0.015, -0.01, 0.0, 0.02, -0.005];

impl World {
    pub(super) fn new(blocks: usize, a: [f64; 3], b: [f64; 3]) -> World {
        let mut world = World {
            trials: Vec::new(),
            contenders: ["a", "b", "absent"].map(contender).into(),
            run: Run {
                profile: "quick".to_owned(),
                seed: 1,
                rule: Rule::FalseDiscoveryRate,
                points: [1, 10, 100].map(point).into(),
                workload: [
                    ("duration_s".to_owned(), AxisValue::Int(2)),
                    ("timeout_ms".to_owned(), AxisValue::Int(500)),
                ]
                .into(),
                ..Run::default()
            },
        };
        world.contenders[2].status = ContenderStatus::Skipped;
        world.contenders[2].reason = Some("needs elixir".to_owned());
        for block in 0..blocks {
            for (name, rates) in [("a", a), ("b", b)] {
                for (point, rate) in world.run.points.clone().iter().zip(rates) {
                    let jitter = if name == "a" { JITTER[block % 8] } else { -JITTER[(block + 3) % 8] };
                    let rate = rate * DRIFT[block % 8] * (1.0 + jitter);
                    let connections = point.get("connections").and_then(AxisValue::number).unwrap();
                    let metrics = [
                        ("throughput_rps".to_owned(), rate),
                        ("response_mean_us".to_owned(), connections / rate * 1e6),
                        ("failures".to_owned(), 0.0),
                    ];
                    world.trials.push(Trial {
                        seq: world.trials.len() as u32,
                        block: block as u32,
                        contender: name.to_owned(),
                        point: point.clone(),
                        sample: Sample { metrics: metrics.into(), ..Sample::default() },
                        ..Trial::default()
                    });
                }
            }
        }
        world
    }

    pub(super) fn judge(&self, assert: &str) -> Claim {
        self.judge_all(&[assert]).remove(0)
    }

    fn judge_all(&self, asserts: &[&str]) -> Vec<Claim> {
        self.evidence().judge_all(&claims(asserts, &self.run.workload))
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence::new(&self.run, &self.trials.iter().collect::<Vec<_>>(), &self.contenders)
    }

    pub(super) fn near_ties(&self, assert: &str) -> Vec<kumite_record::NearTie> {
        self.evidence().near_ties(&claims(&[assert], &self.run.workload))
    }

    fn verdict(&self, assert: &str) -> Verdict {
        self.judge(assert).verdict
    }
}

/// The number of comparisons that came out like the one that decided, the number of all, and the text of that one.
fn decided(claim: &Claim) -> (usize, usize, String) {
    let decider = claim.decided_by.as_ref().unwrap();
    (decider.alike, decider.of, format!("{} at {}", decider.comparison, decider.point))
}

/// The value of the claim's effect, and its bound.
fn effect(claim: &Claim) -> (f64, Bound) {
    claim.effect.as_ref().map(|effect| (effect.value, effect.bound)).unwrap()
}

fn cell(contender: &str, connections: i64) -> CellName {
    CellName { contender: contender.to_owned(), point: point(connections) }
}

fn contender(name: &str) -> Contender {
    Contender { name: name.to_owned(), model: "threads".to_owned(), ..Contender::default() }
}

fn point(connections: i64) -> Point {
    Point([("connections".to_owned(), AxisValue::Int(connections))].into())
}

const FASTER: &str = "throughput_rps(a at connections=10) > throughput_rps(b at connections=10)";

#[test]
fn a_percentile_that_one_trial_has_too_few_requests_for_is_not_tested() {
    let mut world = World::new(8, [100.0, 200.0, 300.0], [50.0, 100.0, 150.0]);
    for trial in &mut world.trials {
        trial.sample.metrics.insert("response_p99_us".into(), 5.0);
    }
    let holds = world.judge("response_p99_us(a at connections=10) < 9 us");
    assert_eq!(holds.verdict, Verdict::Holds);
    let point = point(10);
    let slow = world.trials.iter_mut().find(|trial| trial.contender == "a" && trial.point == point).unwrap();
    slow.sample.metrics.remove("response_p99_us");
    slow.sample.needs.insert("response_p99_us".into(), 512);
    let enough = Enough { have: 488, parameter: "duration_s".into(), value: 2.5 };
    slow.sample.enough.insert("response_p99_us".into(), enough.clone());
    let next = slow.block + 1;
    let of_cell = |trial: &&mut Trial| trial.contender == "a" && trial.point == point && trial.block == next;
    let less_slow = world.trials.iter_mut().find(of_cell).unwrap();
    less_slow.sample.needs.insert("response_p99_us".into(), 3);
    let claim = world.judge("response_p99_us(a at connections=10) < 9 us");
    assert_eq!(claim.verdict, Verdict::NotTested);
    let (cell, metric) = (cell("a", 10), "response_p99_us".to_owned());
    let reason = Reason::TooFewValues { cell, metric, missing: 512, enough: Some(enough) };
    assert_eq!(claim.reason, Some(reason));
    assert_eq!(world.judge("response_p99_us(a at connections=1) < 9 us").verdict, Verdict::Holds);
}

#[test]
fn pairs_see_through_a_drift_that_separate_means_do_not() {
    // 10 % apart, while the machine drifts by a factor of two.
    let world = World::new(8, [1e3, 1.1e4, 1e5], [1e3, 1e4, 1e5]);
    let claim = world.judge(FASTER);
    assert_eq!((claim.verdict, claim.effect.as_ref().unwrap().kind), (Verdict::Holds, EffectKind::Ratio));
    // The end that is shown went by the verdict, so it is no surer than the interval.
    let (effect, Bound::AtLeast { low, high: Some(high), level: 0.9 }) = effect(&claim) else {
        panic!("{claim:?}")
    };
    assert!(low > 1.05 && high < 1.15 && (low..=high).contains(&effect), "{effect} {low} {high}");
    assert_eq!(
        world.verdict("throughput_rps(a at connections=10) < throughput_rps(b at connections=10)"),
        Verdict::Fails
    );
}

#[test]
fn a_difference_within_the_noise_is_undecided_whichever_way_it_is_asked() {
    let world = World::new(8, [1e3, 1e4, 1e5], [1e3, 1e4, 1e5]);
    for op in ["<", "<=", ">", ">="] {
        let assert = format!("throughput_rps(a at connections=10) {op} throughput_rps(b at connections=10)");
        assert_eq!(world.verdict(&assert), Verdict::Undecided, "{op}");
    }
}

#[test]
fn an_equivalence_needs_its_whole_interval_inside_the_band() {
    let within = |share: &str| {
        format!("throughput_rps(a at connections=10) within {share} of throughput_rps(b at connections=10)")
    };
    let same = World::new(8, [1e3, 1e4, 1e5], [1e3, 1e4, 1e5]);
    assert_eq!(same.verdict(&within("10%")), Verdict::Holds);
    assert_eq!(same.verdict(&within("0.5%")), Verdict::Undecided);
    let apart = World::new(8, [1e3, 1.5e4, 1e5], [1e3, 1e4, 1e5]);
    assert_eq!(apart.verdict(&within("10%")), Verdict::Fails);
}

#[test]
fn fewer_than_five_blocks_decide_nothing_however_clear_they_look() {
    let world = World::new(4, [1e3, 9e4, 1e5], [1e3, 1e4, 1e5]);
    let claim = world.judge(FASTER);
    assert_eq!(claim.verdict, Verdict::Undecided);
    assert_eq!(claim.reason, Some(Reason::MoreBlocks { blocks: Some(1), alone: None }));
    assert_eq!(effect(&claim).1, Bound::Unknown);
    assert_eq!(World::new(5, [1e3, 9e4, 1e5], [1e3, 1e4, 1e5]).verdict(FASTER), Verdict::Holds);
}

#[test]
fn every_takes_each_value_of_the_axis_within_its_bounds() {
    // b leads at 100 only.
    let world = World::new(8, [2e3, 2e4, 1e5], [1e3, 1e4, 2e5]);
    let lead = |every: &str| format!("{every}: throughput_rps(a) > throughput_rps(b)");
    assert_eq!(world.verdict(&lead("every $connections <= 10")), Verdict::Holds);
    assert_eq!(world.verdict(&lead("every $connections > 1 and < 100")), Verdict::Holds);
    let all = world.judge(&lead("every $connections"));
    assert_eq!(all.verdict, Verdict::Fails);
    assert_eq!(decided(&all), (1, 3, "throughput_rps(a) > throughput_rps(b) at connections=100".to_owned()));
    let none = world.judge(&lead("every $connections > 1000"));
    assert_eq!(none.verdict, Verdict::NotTested);
    assert_eq!(none.reason, Some(Reason::NoPart { profile: "quick".to_owned() }));
}

#[test]
fn a_claim_about_a_contender_that_was_left_out_is_not_tested() {
    let world = World::new(8, [1e3, 1e4, 1e5], [1e3, 1e4, 1e5]);
    let claim = world.judge("throughput_rps(absent at connections=1) > throughput_rps(a at connections=1)");
    assert_eq!(claim.verdict, Verdict::NotTested);
    let absent = Reason::Absent {
        contender: "absent".to_owned(),
        status: ContenderStatus::Skipped,
        why: "needs elixir".to_owned(),
    };
    assert_eq!(claim.reason, Some(absent));
    // Nor can a claim hold of every contender when one was left out.
    assert_eq!(
        world.verdict("every contender: failures(contender at connections=1) = 0"),
        Verdict::NotTested
    );
    assert_eq!(
        world.verdict("every contender except absent: failures(contender at connections=1) = 0"),
        Verdict::Holds
    );
}

#[test]
fn a_part_that_fails_decides_though_another_was_not_tested() {
    let world = World::new(8, [1e3, 1e4, 1e5], [2e3, 2e4, 2e5]);
    let untested = "throughput_rps(absent at connections=1) > 1 /s";
    assert_eq!(world.verdict(&format!("{untested} and {FASTER}")), Verdict::Fails);
    assert_eq!(
        world.verdict(&format!("{untested} and throughput_rps(a at connections=1) > 1 /s")),
        Verdict::NotTested
    );
}

#[test]
fn a_wrong_answer_takes_its_trial_out_and_is_a_claim_of_its_own() {
    let mut world = World::new(8, [1e3, 9e4, 1e5], [1e3, 1e4, 1e5]);
    assert_eq!(world.verdict("disqualified(a)"), Verdict::Fails);
    for trial in world.trials.iter_mut().filter(|trial| trial.contender == "a" && trial.block < 3) {
        trial.outcome = Outcome::Disqualified;
        trial.reason = Some("3 of 100 answers were wrong".to_owned());
    }
    let claim = world.judge("disqualified(a)");
    assert_eq!((claim.verdict, effect(&claim)), (Verdict::Holds, (9.0, Bound::Exact)));
    assert_eq!(claim.effect.unwrap().kind, EffectKind::Exact);
    // Five of eight blocks are left.
    let claim = world.judge(FASTER);
    let rounds = claim.bet.as_ref().unwrap().evidence;
    assert_eq!((claim.verdict, rounds), (Verdict::Holds, kumite_stats::wealth(5, 5)));
    for trial in world.trials.iter_mut().filter(|trial| trial.contender == "a") {
        trial.outcome = Outcome::Disqualified;
    }
    let claim = world.judge(FASTER);
    assert_eq!(claim.verdict, Verdict::NotTested);
    let cell = cell("a", 10);
    let why = "3 of 100 answers were wrong".to_owned();
    assert_eq!(claim.reason, Some(Reason::NoUsableTrial { cell, outcome: Outcome::Disqualified, why }));
}

#[test]
fn numbers_units_and_parameters_are_compared_in_seconds() {
    let world = World::new(8, [1e3, 1e4, 1e5], [1e3, 1e4, 1e5]);
    for (assert, verdict) in [
        ("response_mean_us(a at connections=1) < 2 ms", Verdict::Holds),
        ("response_mean_us(a at connections=1) < 100 us", Verdict::Fails),
        ("response_mean_us(a at connections=1) < $timeout_ms", Verdict::Holds),
        ("throughput_rps(a at connections=1) * $duration_s > 1000", Verdict::Holds),
        ("throughput_rps(a at connections=1) - 5 /s > 0 /s", Verdict::Holds),
        ("$timeout_ms + 0 * response_mean_us(a at connections=1) = 0.5 s", Verdict::Holds),
        (
            "(2 * 3 + 4) * throughput_rps(a at connections=1) < (2 + 3) * 2 * throughput_rps(a at connections=1)",
            Verdict::Fails,
        ),
    ] {
        assert_eq!(world.verdict(assert), verdict, "{assert}");
    }
}

#[test]
fn folds_go_over_the_points_of_an_axis() {
    // Response time over connections: a takes the same time at each, b in proportion.
    let world = World::new(8, [1e3, 1e4, 1e5], [1e3, 1e3, 1e3]);
    for (assert, verdict) in [
        ("slope(response_mean_us(b) over connections) within 10% of 1", Verdict::Holds),
        ("slope(response_mean_us(b) over connections) > 0", Verdict::Holds),
        ("slope(response_mean_us(a) over connections) > 0.5", Verdict::Fails),
        (
            "spread(response_mean_us(a) over connections) < spread(response_mean_us(b) over connections)",
            Verdict::Holds,
        ),
        (
            "max(throughput_rps(a) over connections) > 50 * min(throughput_rps(a) over connections)",
            Verdict::Holds,
        ),
        (
            "throughput_rps(a at connections=100) >= 0.9 * max(throughput_rps(a) over connections)",
            Verdict::Holds,
        ),
    ] {
        let claim = world.judge(assert);
        assert_eq!(claim.verdict, verdict, "{assert}: {claim:?}");
    }
}

#[test]
fn an_exact_value_is_exact_in_every_block() {
    let mut world = World::new(8, [1e3, 1e4, 1e5], [1e3, 1e4, 1e5]);
    let none = "failures(a at connections=10) = 0";
    assert_eq!(world.verdict(none), Verdict::Holds);
    let one =
        world.trials.iter_mut().find(|t| t.contender == "a" && t.point == point(10) && t.block == 5).unwrap();
    one.sample.metrics.insert("failures".to_owned(), 3.0);
    let claim = world.judge(none);
    assert_eq!((claim.verdict, effect(&claim)), (Verdict::Fails, (3.0, Bound::Exact)));
    let sides = claim.decided_by.unwrap().sides.unwrap();
    assert_eq!((sides.left.value(), sides.right), (Some(3.0), Side::Number { value: 0.0 }));
}

#[test]
fn a_verdict_that_rests_on_marked_samples_says_so() {
    let mut world = World::new(8, [1e3, 9e4, 1e5], [1e3, 1e4, 1e5]);
    for trial in world.trials.iter_mut().filter(|trial| trial.contender == "a") {
        trial.marks.push(Mark::GeneratorBound);
    }
    let claim = world.judge(FASTER);
    assert_eq!(claim.verdict, Verdict::Holds);
    let cell = cell("a", 10);
    assert_eq!(claim.doubts, [Doubt::Marked { cell, mark: Mark::GeneratorBound }]);
}

#[test]
fn what_has_no_value_is_not_tested() {
    let world = World::new(8, [1e3, 1e4, 1e5], [1e3, 1e4, 1e5]);
    let division = "throughput_rps(a at connections=1) / failures(a at connections=1) > 1 /s";
    assert_eq!(world.verdict(division), Verdict::NotTested);
    let missing = world.judge("peak_rss_bytes(a at connections=1) < 1 GiB");
    assert_eq!(missing.verdict, Verdict::NotTested);
    let (cell, metric) = (cell("a", 1), "peak_rss_bytes".to_owned());
    assert_eq!(missing.reason, Some(Reason::NoMetric { cell, metric }));
}

#[test]
fn the_same_record_gives_the_same_verdict() {
    let world = World::new(8, [1e3, 1.01e4, 1e5], [1e3, 1e4, 1e5]);
    assert_eq!(world.judge(FASTER), world.judge(FASTER));
}

#[test]
fn disqualified_looks_only_where_it_is_asked_and_needs_an_answer() {
    let mut world = World::new(8, [1e3, 1e4, 1e5], [1e3, 1e4, 1e5]);
    for trial in world.trials.iter_mut().filter(|trial| trial.contender == "a" && trial.point == point(1)) {
        trial.outcome = Outcome::Disqualified;
    }
    let claim = world.judge("every $connections = 1: disqualified(a)");
    assert_eq!((claim.verdict, claim.wrong_as_claimed), (Verdict::Holds, vec!["a".to_owned()]));
    let claim = world.judge("every $connections > 1: disqualified(a)");
    assert_eq!((claim.verdict, claim.wrong_as_claimed), (Verdict::Fails, vec![]));
    assert_eq!(world.verdict("disqualified(absent)"), Verdict::NotTested);
    for trial in world.trials.iter_mut().filter(|trial| trial.contender == "b") {
        trial.outcome = Outcome::Failed;
    }
    assert_eq!(world.verdict("disqualified(b)"), Verdict::NotTested);
}

#[test]
fn trials_that_were_lost_are_not_passed_over() {
    let mut world = World::new(8, [1e3, 9e4, 1e5], [1e3, 1e4, 1e5]);
    for trial in world.trials.iter_mut().filter(|trial| trial.contender == "a" && trial.point == point(10)) {
        if trial.block % 4 == 0 {
            trial.outcome = Outcome::Failed;
        }
    }
    let claim = world.judge(FASTER);
    assert_eq!(claim.verdict, Verdict::Holds);
    let cell = cell("a", 10);
    assert_eq!(
        claim.doubts,
        [Doubt::LostTrials { cell, lost: 2, trials: 7 }],
        "of those before it was decided"
    );
    // A trial that did not end well has no value that could be the exact one.
    assert_eq!(world.verdict("failures(a at connections=10) = 0"), Verdict::Fails);
    assert_eq!(world.verdict("failures(a at connections=1) = 0"), Verdict::Holds);
}

#[test]
fn the_clearest_failure_and_the_least_clear_success_are_shown() {
    let failing = World::new(8, [1e3, 5e3, 9.5e4], [1e4, 1e4, 1e5]);
    let claim = failing.judge("every $connections: throughput_rps(a) > throughput_rps(b)");
    assert_eq!(decided(&claim).2, "throughput_rps(a) > throughput_rps(b) at connections=1");
    let holding = failing.judge("every $connections: throughput_rps(a) < throughput_rps(b)");
    assert_eq!(
        decided(&holding),
        (3, 3, "throughput_rps(a) < throughput_rps(b) at connections=100".to_owned())
    );
}

#[test]
fn marks_of_every_comparison_are_shown_whichever_decides() {
    let mut world = World::new(8, [1e3, 1e4, 1e5], [1e3, 1e4, 1e5]);
    for trial in world.trials.iter_mut().filter(|trial| trial.contender == "a" && trial.point == point(1)) {
        trial.marks.push(Mark::GeneratorBound);
    }
    let claim = world
        .judge("throughput_rps(a at connections=10) > 1 /s and throughput_rps(a at connections=1) > 1 /s");
    assert_eq!(claim.verdict, Verdict::Holds);
    let cell = cell("a", 1);
    assert_eq!(claim.doubts, [Doubt::Marked { cell, mark: Mark::GeneratorBound }]);
}

/// A world with a second axis that has a default: its other value is tried at one value of the first axis only, and
/// "b" not everywhere.
fn sparse() -> World {
    let mut world = World::new(8, [100.0, 200.0, 300.0], [50.0, 100.0, 150.0]);
    let with = |point: &mut Point, cores: &str| {
        point.0.insert("server_cores".to_owned(), AxisValue::Text(cores.to_owned()));
    };
    world.run.workload.insert("server_cores".to_owned(), AxisValue::Text("one".to_owned()));
    let mut shared: Vec<Trial> =
        world.trials.iter().filter(|trial| trial.point.to_string() == "connections=10").cloned().collect();
    for trial in &mut shared {
        with(&mut trial.point, "all");
        *trial.sample.metrics.get_mut("throughput_rps").unwrap() *=
            if trial.contender == "a" { 2.0 } else { 1.0 };
    }
    world.run.points.iter_mut().for_each(|point| with(point, "one"));
    world.trials.iter_mut().for_each(|trial| with(&mut trial.point, "one"));
    world.run.points.push(shared[0].point.clone());
    world.trials.extend(shared);
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let all = names(&["a", "absent", "b"]);
    world.run.contenders_at = vec![all.clone(), all.clone(), names(&["a"]), all];
    world.trials.retain(|trial| {
        !(trial.contender == "b" && trial.point.get("connections") == Some(&AxisValue::Int(100)))
    });
    world
}

#[test]
fn an_axis_that_is_not_told_has_its_default_and_an_every_what_is_tried() {
    let world = sparse();
    let judge = |assert: &str| world.judge(assert);
    let of_default = judge("throughput_rps(a at connections=10) / throughput_rps(b at connections=10) < 2.2");
    assert_eq!(of_default.verdict, Verdict::Holds);
    let shared = "throughput_rps(a at connections=10, server_cores=all)";
    assert_eq!(
        judge(&format!("{shared} > 3 * throughput_rps(b at connections=10, server_cores=all)")).verdict,
        Verdict::Holds
    );
    // "b" is not tried at 100, so the claim is about 1 and 10.
    let every = judge("every $connections: throughput_rps(a) > throughput_rps(b)");
    assert_eq!(every.decided_by.map(|it| (it.alike, it.of)), Some((2, 2)));
    assert_eq!(
        judge("max(throughput_rps(b) over connections) < max(throughput_rps(a) over connections)").verdict,
        Verdict::Holds
    );
    let apart = judge("throughput_rps(b at connections=100) > 1 /s");
    assert_eq!(apart.verdict, Verdict::NotTested);
    let mut cell = cell("b", 100);
    cell.point.0.insert("server_cores".to_owned(), AxisValue::Text("one".to_owned()));
    let profile = "quick".to_owned();
    assert_eq!(apart.reason, Some(Reason::NotPlanned { profile, cell }));
    // Left out is not the same as not planned.
    assert_eq!(
        judge("every contender: throughput_rps(contender at connections=1) > 1 /s").verdict,
        Verdict::NotTested
    );
    let none = judge("every $connections > 50: throughput_rps(b) > 1 /s");
    assert_eq!(none.verdict, Verdict::NotTested);
}

#[test]
fn a_part_that_speaks_of_nothing_is_not_passed_over() {
    let world = World::new(8, [300.0; 3], [200.0; 3]);
    let claim = world.judge(
        "throughput_rps(a at connections=1) > throughput_rps(b at connections=1) and every $connections > 500: \
         throughput_rps(a) > 1 /s",
    );
    assert_eq!(claim.verdict, Verdict::NotTested);
}

#[test]
fn a_lower_bound_decides_only_what_it_can() {
    let mut world = World::new(8, [300.0; 3], [200.0; 3]);
    for trial in &mut world.trials {
        let ms = if trial.contender == "a" { 3000.0 } else { 100.0 + f64::from(trial.block) };
        trial.sample.metrics.insert("recovery_ms".to_owned(), ms);
        if trial.contender == "a" {
            trial.sample.lower_bounds.insert("recovery_ms".to_owned());
        }
    }
    let verdict = |assert: &str| world.judge(assert);
    let a = "recovery_ms(a at connections=1)";
    let b = "recovery_ms(b at connections=1)";
    assert_eq!(verdict(&format!("{a} > 1 s")).verdict, Verdict::Holds);
    assert_eq!(verdict(&format!("{a} <= 1 s")).verdict, Verdict::Fails);
    assert_eq!(verdict(&format!("{a} > {b}")).verdict, Verdict::Holds);
    // 3 s were watched: whether it takes more than 10 s is not known.
    let beyond = verdict(&format!("{a} <= 10 s"));
    assert_eq!(beyond.verdict, Verdict::Undecided);
    assert_eq!(beyond.reason, Some(Reason::LowerBounds));
    assert_eq!(verdict(&format!("{a} > 100 * {b}")).verdict, Verdict::Undecided);
    assert_eq!(verdict(&format!("{b} <= 1 s")).verdict, Verdict::Holds);
}

#[test]
fn claims_are_judged_together_and_those_that_are_given_share_what_may_go_wrong() {
    let world = World::new(8, [1e3, 1.1e4, 1e5], [1e3, 1e4, 1e5]);
    let judged = |more: &[&str]| {
        let claim = world.judge_all(&[&[FASTER], more].concat()).remove(0);
        let bet = claim.bet.unwrap();
        (claim.verdict, bet.threshold.round(), bet.rounds)
    };
    assert_eq!(judged(&[]), (Verdict::Holds, 20.0, 5));
    let count = "failures(a at connections=1) = 0";
    assert_eq!(judged(&[count]), (Verdict::Holds, 20.0, 5), "a count is not a matter of chance");
    let absent = "throughput_rps(absent at connections=1) > 1 /s";
    assert_eq!(judged(&[absent]), (Verdict::Holds, 20.0, 5), "and what cannot be tested is not either");
    let clear = "throughput_rps(a at connections=1) > 1 /s";
    assert_eq!(judged(&[clear]), (Verdict::Holds, 20.0, 5), "both are given");
    let near = "throughput_rps(a at connections=100) > throughput_rps(b at connections=100)";
    assert_eq!(judged(&[near]), (Verdict::Holds, 40.0, 6), "only one of two is");
}

#[test]
fn a_strict_run_shares_what_may_go_wrong_among_all_claims() {
    let mut world = World::new(8, [1e3, 1.1e4, 1e5], [1e3, 1e4, 1e5]);
    world.run.rule = Rule::Strict;
    let claims = world.judge_all(&[FASTER, "throughput_rps(a at connections=1) > 1 /s"]);
    for claim in claims {
        let bet = claim.bet.unwrap();
        assert_eq!((claim.verdict, bet.threshold, bet.rounds), (Verdict::Holds, 40.0, 8), "nothing freezes");
        assert_eq!(claim.effect.unwrap().bound.level(), Some(0.95));
    }
}

#[test]
fn a_decided_claim_is_judged_by_the_rounds_before_it_was() {
    // Clear in six rounds, and turned round in the two that another claim needs.
    let mut world = World::new(8, [1e3, 1.1e4, 1e5], [1e3, 1e4, 1e5]);
    for trial in world.trials.iter_mut().filter(|trial| trial.contender == "a" && trial.block >= 6) {
        trial.sample.metrics.insert("throughput_rps".to_owned(), 1.0);
    }
    let near = "throughput_rps(a at connections=100) > throughput_rps(b at connections=100)";
    let claim = world.judge_all(&[FASTER, near]).remove(0);
    assert_eq!((claim.verdict, claim.bet.unwrap().rounds), (Verdict::Holds, 6));
    world.run.min_blocks = 8;
    let claim = world.judge_all(&[FASTER, near]).remove(0);
    assert_eq!((claim.verdict, claim.bet.unwrap().rounds), (Verdict::Undecided, 8), "nobody looked earlier");
}

#[test]
fn a_claim_of_several_comparisons_fails_by_their_mean() {
    // b leads by 10 % at 10 connections, and there only: three times the wealth takes two blocks more.
    let every = "every $connections: throughput_rps(a) > throughput_rps(b)";
    let world = |blocks| World::new(blocks, [1e3, 1e4, 1e5], [9e2, 1.1e4, 9e4]);
    let claim = world(6).judge(every);
    assert_eq!(claim.verdict, Verdict::Undecided, "{claim:?}");
    let claim = world(7).judge(every);
    assert_eq!((claim.verdict, decided(&claim).0), (Verdict::Fails, 1));
    assert_eq!(decided(&claim).2, "throughput_rps(a) > throughput_rps(b) at connections=10");
    let Bound::AtMost { high, level, .. } = effect(&claim).1 else { panic!("{claim:?}") };
    assert!(high < 0.95);
    assert_eq!(level, 0.9, "it was picked out of three");
    // To hold takes all of them, and no more than one alone.
    let claim = World::new(5, [1e3, 1e4, 1e5], [9e2, 9e3, 9e4]).judge(every);
    assert_eq!((claim.verdict, effect(&claim).1.level()), (Verdict::Holds, Some(0.9)));
}

#[test]
fn where_all_comparisons_fail_it_takes_no_longer_and_none_is_named_as_surely() {
    let world = World::new(5, [1e3, 1e4, 1e5], [2e3, 2e4, 2e5]);
    let claim = world.judge("every $connections: throughput_rps(a) > throughput_rps(b)");
    assert_eq!((claim.verdict, decided(&claim).0), (Verdict::Fails, 0));
    let (effect, bound) = effect(&claim);
    assert!((effect - 0.5).abs() < 0.02);
    // This bound of one of them is as sure as the verdict that one of them fails.
    let Bound::AtMost { low: None, high, level } = bound else { panic!("{claim:?}") };
    assert!((0.48..0.53).contains(&high) && level == 0.9, "{claim:?}");
}

#[test]
fn where_none_is_named_the_one_furthest_off_is_shown_and_is_beyond_the_bound() {
    let world = World::new(5, [1e3, 1e4, 1e5], [1.5e3, 1e5, 2e5]);
    let claim = world.judge("every $connections: throughput_rps(a) > throughput_rps(b)");
    assert_eq!((claim.verdict, decided(&claim).0), (Verdict::Fails, 0));
    assert_eq!(decided(&claim).2, "throughput_rps(a) > throughput_rps(b) at connections=10");
    let (effect, bound) = effect(&claim);
    let Bound::AtMost { high, .. } = bound else { panic!("{claim:?}") };
    assert!((effect - 0.1).abs() < 0.01 && effect <= high, "{effect} {high}");
}

#[test]
fn what_would_be_decided_alone_says_so() {
    let world = World::new(5, [1e3, 1.1e4, 1e5], [1e3, 1e4, 1e5]);
    let near = "throughput_rps(a at connections=100) > throughput_rps(b at connections=100)";
    let claim = world.judge_all(&[FASTER, near]).remove(0);
    assert_eq!(claim.verdict, Verdict::Undecided);
    assert_eq!(claim.reason, Some(Reason::MoreBlocks { blocks: Some(1), alone: Some(Verdict::Holds) }));
    let Bound::Both { low, level: 0.9, .. } = effect(&claim).1 else { panic!("{claim:?}") };
    assert!(low > 1.05, "the bounds that it would have");
}

#[test]
fn a_plan_knows_what_it_takes() {
    let world = World::new(0, [1.0; 3], [1.0; 3]);
    let every = "every $connections: throughput_rps(a) > throughput_rps(b)";
    let within = "throughput_rps(a at connections=1) within 5% of throughput_rps(b at connections=1)";
    let of_absent = "throughput_rps(absent at connections=1) > 1 /s";
    let exact = "failures(a at connections=1) = 0";
    let some = format!("{FASTER} and {of_absent}");
    let specs = claims(&[FASTER, every, within, of_absent, exact, &some], &world.run.workload);
    let prospects = world.evidence().prospects(&specs);
    assert_eq!(prospects.claims, 4);
    let found: Vec<_> =
        prospects.of_claims.iter().map(|of| (of.comparisons, of.to_hold, of.to_fail)).collect();
    let one = found[0].1;
    assert_eq!(found[0], (1, one, one), "a single comparison holds and fails alike");
    assert!(found[1].0 == 3 && found[1].1 == one && found[1].2 > one, "{found:?}");
    assert!(found[2].0 == 2 && found[2].1 == one && found[2].2 > one, "{found:?}");
    assert_eq!((found[3].0, found[3].1), (2, None), "it cannot hold, and it can fail");
    // 16 of 18 rounds have a wealth of 4 / 5 %, and 15 of 17 have not.
    assert_eq!(one, Some(18));
}

#[test]
fn what_is_within_the_margin_is_no_difference_whichever_side_is_larger() {
    let mut world = World::new(8, [1e3, 1e4, 1e5], [1e3, 1e4, 1e5]);
    world.run.margin_percent = 5.0;
    for op in ["<", "<=", ">", ">="] {
        let assert = format!("throughput_rps(a at connections=10) {op} throughput_rps(b at connections=10)");
        assert_eq!(world.verdict(&assert), Verdict::NoDifference, "{op}");
    }
    world.run.margin_percent = 0.5;
    assert_eq!(world.verdict(FASTER), Verdict::Undecided);
}

#[test]
fn an_undecided_claim_says_what_it_would_take_and_keeps_its_cells() {
    let near = World::new(8, [1e3, 1.012e4, 1e5], [1e3, 1e4, 1e5]);
    let claim = near.judge(FASTER);
    assert_eq!(claim.verdict, Verdict::Undecided, "{claim:?}");
    assert!(matches!(claim.reason, Some(Reason::MoreBlocks { blocks: Some(2..), alone: None })), "{claim:?}");
    let cells = |world: &World, assert: &str| {
        let claims = claims(&[assert], &world.run.workload);
        world.evidence().undecided_cells(&claims).into_iter().collect::<Vec<_>>()
    };
    assert_eq!(cells(&near, FASTER), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    let clear = World::new(8, [1e3, 2e4, 1e5], [1e3, 1e4, 1e5]);
    assert_eq!(cells(&clear, FASTER), []);
}

#[test]
fn a_claim_that_became_untestable_after_it_was_decided_stays_decided() {
    let mut world = World::new(8, [1e3, 1.1e4, 1e5], [1e3, 1e4, 1e5]);
    let last =
        world.trials.iter_mut().rfind(|trial| trial.contender == "a" && trial.point == point(10)).unwrap();
    last.sample.metrics.remove("throughput_rps");
    last.sample.needs.insert("throughput_rps".into(), 7);
    let near = "throughput_rps(a at connections=100) > throughput_rps(b at connections=100)";
    let claims = world.judge_all(&[FASTER, near]);
    assert_eq!((claims[0].verdict, claims[0].bet.as_ref().unwrap().rounds), (Verdict::Holds, 6));
    assert_eq!(claims[1].verdict, Verdict::Undecided);
}

#[test]
fn a_cell_whose_first_trial_failed_gets_another() {
    let mut world = World::new(1, [1e3, 1.1e4, 1e5], [1e3, 1e4, 1e5]);
    let is_it = |trial: &Trial| trial.contender == "a" && trial.point == point(10);
    let failed = world.trials.iter_mut().find(|trial| is_it(trial)).unwrap();
    (failed.outcome, failed.reason) = (Outcome::Failed, Some("it did not start".to_owned()));
    let cells = |world: &World| {
        let specs = claims(&[FASTER], &world.run.workload);
        world.evidence().undecided_cells(&specs).len()
    };
    assert_eq!((world.verdict(FASTER), cells(&world)), (Verdict::NotTested, 2));
    let again: Vec<Trial> = world.trials.iter().map(|trial| Trial { block: 1, ..trial.clone() }).collect();
    world.trials.extend(again);
    assert_eq!((world.verdict(FASTER), cells(&world)), (Verdict::NotTested, 0), "twice is enough");
}

#[test]
fn two_lower_bounds_tell_nothing_of_one_another() {
    let mut world = World::new(8, [300.0; 3], [200.0; 3]);
    for trial in &mut world.trials {
        let ms = if trial.contender == "a" { 3000.0 } else { 3001.0 + f64::from(trial.block) };
        trial.sample.metrics.insert("recovery_ms".to_owned(), ms);
        trial.sample.lower_bounds.insert("recovery_ms".to_owned());
    }
    let claim = world.judge("recovery_ms(a at connections=1) < recovery_ms(b at connections=1)");
    assert_eq!((claim.verdict, claim.reason), (Verdict::Undecided, Some(Reason::LowerBounds)));
}

#[test]
fn both_sides_are_named_and_their_figures_are_those_of_the_round_in_the_middle() {
    for blocks in [5, 6] {
        let mut world = World::new(blocks, [1e3, 1.1e4, 1e5], [1e3, 1e4, 1e5]);
        world.run.min_blocks = blocks as u32;
        let claim = world.judge("every $connections: 2 * throughput_rps(a) > 0.5 * throughput_rps(b) / 2");
        assert_eq!(claim.bet.as_ref().unwrap().rounds, world.run.min_blocks);
        let decider = claim.decided_by.as_ref().unwrap();
        let Sides { left, op, right, unit } = decider.sides.clone().unwrap();
        assert_eq!((op, unit), (kumite_record::Op::Greater, Unit::PerSecond));
        let named = |side: &Side| match side {
            Side::Metric { contender, point, metric, times, .. } => {
                (contender.clone(), point.to_string(), metric.clone(), *times)
            }
            other => panic!("{other:?}"),
        };
        let (metric, at) = ("throughput_rps".to_owned(), decider.point.to_string());
        assert_eq!(named(&left), ("a".to_owned(), at.clone(), metric.clone(), 2.0));
        assert_eq!(named(&right), ("b".to_owned(), at, metric, 0.25));
        let (left, right) = (left.value().unwrap(), right.value().unwrap());
        let ratio = 2.0 * left / (0.25 * right);
        assert!((ratio / effect(&claim).0 - 1.0).abs() < 1e-12, "{blocks}: they divide to the effect");
        let measured = |contender: &str| {
            let of_cell = |trial: &&Trial| trial.contender == contender && trial.point == decider.point;
            let of_all =
                world.trials.iter().filter(of_cell).map(|trial| trial.sample.metrics["throughput_rps"]);
            of_all.collect::<Vec<f64>>()
        };
        let is_near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        let round = measured("a").into_iter().zip(measured("b")).position(|(a, _)| is_near(a, left));
        assert_eq!(round.is_some_and(|nth| is_near(measured("b")[nth], right)), blocks == 5);
    }
}

#[test]
fn a_side_that_is_worked_out_has_its_value_and_parameters_are_a_number() {
    let world = World::new(5, [1e3, 1e4, 1e5], [1e3, 1e4, 1e5]);
    let sides = |assert: &str| world.judge(assert).decided_by.unwrap().sides.unwrap();
    let of_sum = sides("response_mean_us(a at connections=1) + 1 ms < 2 * $timeout_ms");
    assert_eq!((of_sum.right, of_sum.unit), (Side::Number { value: 1.0 }, Unit::Seconds));
    let Side::Expression { value: Some(sum) } = of_sum.left else { panic!("{:?}", of_sum.left) };
    assert!((0.001..0.003).contains(&sum), "{sum}");
    // A rate times a time is no rate, so its figure is not that of the metric.
    let of_product = sides("throughput_rps(a at connections=1) * $duration_s > 1000");
    assert!(matches!(of_product.left, Side::Expression { value: Some(1000.0..) }), "{of_product:?}");
    let absent = sides("throughput_rps(absent at connections=1) > 1 /s");
    assert!(matches!(absent.left, Side::Metric { value: None, .. }), "{absent:?}");
}

/// Adds a control to a world. Its second trial in each block has `ratio` times the throughput of "a".
fn with_control(mut world: World, ratio: impl Fn(u32) -> f64) -> World {
    world.run.metrics = ["throughput_rps", "failures"].map(Metric::named).into();
    world.run.control = Some(kumite_record::Control::of("a"));
    let of_a = world.trials.iter().filter(|trial| trial.contender == "a");
    let twin = |trial: &Trial| {
        let mut trial = Trial { contender: "a--control".to_owned(), control: true, ..trial.clone() };
        *trial.sample.metrics.get_mut("throughput_rps").unwrap() *= ratio(trial.block);
        trial
    };
    let twins: Vec<Trial> = of_a.map(twin).collect();
    world.trials.extend(twins);
    world
}

fn control_of(world: &World) -> kumite_record::Control {
    let trials: Vec<&Trial> = world.trials.iter().collect();
    let claims = claims(&[FASTER], &world.run.workload);
    crate::control(&world.run, &trials, &world.contenders, &claims).unwrap()
}

#[test]
fn a_control_is_off_where_all_blocks_say_so_and_not_where_they_lie_on_both_sides() {
    let rates = [100.0, 200.0, 300.0];
    let both =
        with_control(World::new(20, rates, rates), |block| if block % 2 == 0 { 1.03 } else { 1.0 / 1.03 });
    let control = control_of(&both);
    assert_eq!(
        (control.off, control.itself.map(|of| (of.metric, of.blocks))),
        (vec![], Some(("throughput_rps".into(), 60)))
    );
    // Six figures share 1 %: eleven blocks are too few for any, and twelve are enough.
    for (blocks, off) in [(11, 0), (12, 3)] {
        let control = control_of(&with_control(World::new(blocks, rates, rates), |_| 1.03));
        assert_eq!(control.off.len(), off, "{blocks}");
        assert!(control.off.iter().all(|of| (of.ratio.estimate - 1.03).abs() < 1e-9 && of.blocks == blocks));
    }
}

#[test]
fn an_effect_that_a_control_might_carry_over_its_border_is_undecided() {
    let world = |ratio: f64| with_control(World::new(20, [100.0; 3], [100.0 / 1.1; 3]), move |_| ratio);
    let near = "throughput_rps(a at connections=1) > throughput_rps(b at connections=1)";
    assert_eq!(world(1.03).verdict(near), Verdict::Holds);
    for ratio in [1.2, 1.0 / 1.2] {
        let world = world(ratio);
        let claim = world.judge(near);
        assert_eq!(claim.verdict, Verdict::Undecided);
        let Some(Reason::ControlIsOff { by }) = claim.reason else { panic!("{:?}", claim.reason) };
        assert_eq!((by.metric.as_str(), by.point.is_some()), ("throughput_rps", true));
        assert_eq!(world.verdict(&near.replace('>', "<")), Verdict::Undecided);
        let twice = near.replace("> throughput", "> 2 * throughput");
        assert_eq!(world.verdict(&twice), Verdict::Fails, "it is 1.8 times as far from that");
        assert_eq!(
            world.verdict("response_mean_us(a at connections=1) < response_mean_us(b at connections=1)"),
            Verdict::Holds,
            "the control is not off in it"
        );
    }
}

#[test]
fn a_part_that_is_far_from_its_border_fails_a_claim_whatever_the_control_says_of_others() {
    let world = with_control(World::new(20, [100.0, 50.0, 50.0], [100.0 / 1.1, 100.0, 100.0]), |_| 1.2);
    let every = "every $connections: throughput_rps(a) > throughput_rps(b)";
    assert_eq!(world.verdict(every), Verdict::Fails);
}
