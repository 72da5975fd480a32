//! Sittings that agree, contradict one another or are too few, with known answers.

use kumite_record::{Doubt, Outcome, Reason, Rule, Sitting, SittingSide, Verdict};

use super::super::tests::World;

const FASTER: &str = "throughput_rps(a at connections=10) > throughput_rps(b at connections=10)";
const BOTH: &str = "throughput_rps(a at connections=10) > throughput_rps(b at connections=10) and throughput_rps(a at connections=1) > throughput_rps(b at connections=1)";
const NEAR: &str = "throughput_rps(a at connections=10) within 5 % of throughput_rps(b at connections=10)";

/// A world of sittings a day apart. Each has these ratios of "a" to "b" at 10 connections, round by round; at 1
/// connection "a" is twice as fast.
fn world(sittings: &[&[f64]]) -> World {
    let rounds = sittings.iter().map(|of| of.len()).sum();
    let mut world = World::new(rounds, [200.0, 100.0, 100.0], [100.0, 100.0, 100.0]);
    let ratios = sittings.concat();
    for trial in &mut world.trials {
        let is_a = trial.contender == "a";
        let at_10 = trial.point.get("connections").and_then(kumite_record::AxisValue::number) == Some(10.0);
        let rate = match (is_a, at_10) {
            (true, true) => 100.0 * ratios[trial.block as usize],
            (true, false) => 200.0,
            (false, _) => 100.0,
        };
        trial.sample.metrics.insert("throughput_rps".to_owned(), rate);
    }
    world.run.rule = Rule::Strict;
    let mut first_round = 0;
    for (day, of) in (0..).zip(sittings) {
        let at = |hour: i64| jiff::Timestamp::from_second((day * 24 + hour) * 3600).unwrap();
        let rounds = of.len() as u32;
        let (started, finished) = (at(0), Some(at(1)));
        world.run.sittings.push(Sitting { started, finished, first_round, rounds, ..Sitting::default() });
        first_round += rounds;
    }
    world
}

/// The ratios of `n` rounds: `ratio` in `so` of them, and its reciprocal in the others.
fn rounds(so: usize, n: usize, ratio: f64) -> Vec<f64> {
    (0..n).map(|nth| if nth < so { ratio } else { 1.0 / ratio }).collect()
}

#[test]
fn what_all_sittings_agree_on_holds() {
    let ten = rounds(10, 10, 1.2);
    let claim = world(&[&ten, &ten, &ten]).judge(FASTER);
    assert_eq!((claim.verdict, &claim.doubts[..]), (Verdict::Holds, &[][..]));
    let sides: Vec<_> = claim.sittings.iter().map(|of| (of.side, of.rounds, of.sittings.clone())).collect();
    assert_eq!(sides, [0, 1, 2].map(|nth| (SittingSide::So, 10, vec![nth])));
    let next = claim.next_sitting.unwrap();
    assert!((next.low_80 - 1.2).abs() < 1e-9 && (next.high_95 - 1.2).abs() < 1e-9, "they are all alike");
}

#[test]
fn no_wealth_of_all_rounds_outweighs_one_sitting_whose_median_is_beyond() {
    let (for_it, against) = (rounds(20, 20, 1.2), rounds(4, 10, 1.2));
    // 44 of 50 rounds would be enough for any run.
    let claim = world(&[&for_it, &for_it, &against]).judge(FASTER);
    assert_eq!(claim.verdict, Verdict::Undecided);
    assert_eq!(claim.sittings[2].side, SittingSide::NotSo);
    assert_eq!(claim.reason, Some(Reason::MoreSittings { sittings: None }), "no number of them would tell");
    assert_eq!(claim.bet.unwrap().evidence, 0.0);
}

#[test]
fn what_is_clear_in_one_sitting_and_clearly_not_so_in_another_depends_on_the_sitting() {
    let (so, not_so) = (rounds(6, 6, 1.2), rounds(0, 6, 1.2));
    let of = |sittings: &[&[f64]], assert| world(sittings).judge(assert).verdict;
    assert_eq!(of(&[&so, &not_so, &so], FASTER), Verdict::DependsOnSitting);
    // 8 of 9 are clear for one of three sittings, 7 of 8 are not.
    assert_eq!(of(&[&rounds(8, 9, 1.2), &not_so, &so[..2]], FASTER), Verdict::DependsOnSitting);
    assert_eq!(of(&[&rounds(7, 8, 1.2), &not_so, &so[..2]], FASTER), Verdict::Undecided);
    // Five rounds are clear where only one other sitting shares the level.
    assert_eq!(of(&[&so[..5], &not_so[..5]], FASTER), Verdict::DependsOnSitting);
    assert_eq!(of(&[&so[..4], &not_so[..5]], FASTER), Verdict::Undecided);
    // Against a claim of two comparisons one is clear only at half of the level: 6 rounds of two sittings, not 5.
    assert_eq!(of(&[&so, &not_so], BOTH), Verdict::DependsOnSitting);
    assert_eq!(of(&[&so, &not_so[..5]], BOTH), Verdict::Undecided);
    let claim = world(&[&so, &not_so, &so]).judge(FASTER);
    let effects: Vec<f64> = claim.sittings.iter().map(|of| (of.effect * 100.0).round()).collect();
    assert_eq!(effects, [120.0, 83.0, 120.0]);
}

#[test]
fn it_is_not_betted_that_what_all_sittings_miss_holds_and_it_fails() {
    let ten = rounds(1, 10, 1.2);
    let claim = world(&[&ten, &ten, &ten]).judge(FASTER);
    assert_eq!(claim.verdict, Verdict::Fails);
    // One of two comparisons is missed, in every sitting.
    assert_eq!(world(&[&ten, &ten, &ten]).judge(BOTH).verdict, Verdict::Fails);
}

#[test]
fn within_and_no_difference_need_every_sitting_too() {
    let (near, far) = (rounds(9, 9, 1.002), rounds(9, 9, 1.2));
    assert_eq!(world(&[&near, &near, &near]).judge(NEAR).verdict, Verdict::Holds);
    assert_eq!(world(&[&near, &near, &far]).judge(NEAR).verdict, Verdict::DependsOnSitting);
    assert_eq!(world(&[&far, &far, &far]).judge(NEAR).verdict, Verdict::Fails);
    let mut equal = world(&[&near, &near, &near]);
    equal.run.margin_percent = 1.0;
    assert_eq!(equal.judge(FASTER).verdict, Verdict::NoDifference);
    let mut apart = world(&[&near, &near, &rounds(9, 9, 1.02)]);
    apart.run.margin_percent = 1.0;
    assert_eq!(apart.judge(FASTER).verdict, Verdict::Holds, "more than the margin in one of them");
}

#[test]
fn sittings_back_to_back_are_one_and_say_nothing_of_the_next() {
    let (so, not_so) = (rounds(10, 10, 1.2), rounds(1, 5, 1.2));
    let mut world = world(&[&so, &so, &not_so]);
    let began = world.run.sittings[0].started;
    world.run.sittings.iter_mut().for_each(|of| (of.started, of.finished) = (began, Some(began)));
    let claim = world.judge(FASTER);
    assert_eq!((claim.verdict, claim.sittings.len()), (Verdict::Holds, 1), "one of 25 rounds");
    assert_eq!((claim.doubts, claim.next_sitting), (vec![Doubt::OneSitting], None));
}

#[test]
fn a_sitting_that_its_verdicts_ended_and_one_that_may_differ_are_doubts() {
    let ten = |ratio| rounds(10, 10, ratio);
    let mut world = world(&[&ten(1.02), &ten(1.2), &ten(1.02)]);
    world.run.sittings[1].ended_by_verdicts = true;
    let claim = world.judge(FASTER);
    assert_eq!(claim.verdict, Verdict::Holds);
    assert_eq!(claim.doubts, [Doubt::AnotherSittingMayDiffer, Doubt::EndedByVerdicts { sitting: 1 }]);
}

#[test]
fn a_sitting_without_rounds_of_a_claim_leaves_it_open() {
    let ten = rounds(10, 10, 1.2);
    let mut world = world(&[&ten, &ten, &ten]);
    world
        .trials
        .iter_mut()
        .filter(|trial| trial.block >= 20)
        .for_each(|trial| trial.outcome = Outcome::Failed);
    let claim = world.judge(FASTER);
    assert_eq!((claim.verdict, claim.sittings.len()), (Verdict::Undecided, 2));
}

#[test]
fn with_strict_nothing_freezes() {
    let run = |sides: &[f64]| {
        let mut world = world(&[sides]);
        world.run.sittings.clear();
        world.run.min_blocks = 6;
        world
    };
    // After 8 rounds it would be decided; after 16 it is not.
    let turning = [rounds(8, 8, 1.2), rounds(0, 8, 1.2)].concat();
    assert_eq!(run(&turning[..8]).judge(FASTER).verdict, Verdict::Holds);
    assert_eq!(run(&turning).judge(FASTER).verdict, Verdict::Undecided);
    let mut plain = run(&turning);
    plain.run.rule = Rule::FalseDiscoveryRate;
    let frozen = plain.judge(FASTER);
    assert_eq!((frozen.verdict, frozen.bet.unwrap().rounds), (Verdict::Holds, 6));
    let all = frozen.all_rounds.unwrap();
    assert_eq!((all.rounds, (all.effect * 100.0).round()), (16, 102.0), "the median of all stands beside it");
    let [Doubt::LaterRounds { rounds: 10, effect }] = frozen.doubts[..] else {
        panic!("{:?}", frozen.doubts)
    };
    assert!(effect < 0.84);
    // Four later rounds say too little.
    plain.trials.retain(|trial| trial.block < 10);
    assert_eq!((plain.judge(FASTER).doubts, plain.judge(FASTER).all_rounds.unwrap().rounds), (vec![], 10));
}
