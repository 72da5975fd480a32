use kumite_record::{Bound, NearTie, Remedy, Rule, Sitting, Verdict};

use super::super::tests::World;

const FASTER: &str = "throughput_rps(a at connections=10) > throughput_rps(b at connections=10)";
const BOTH: &str = "throughput_rps(a at connections=10) > throughput_rps(b at connections=10) and throughput_rps(a at connections=1) > throughput_rps(b at connections=1)";

/// A world in which "a" has these ratios to "b" at 10 connections, round by round; at 1 connection "a" is twice as
/// fast.
fn world(ratios: &[f64]) -> World {
    let mut world = World::new(ratios.len(), [200.0, 100.0, 100.0], [100.0, 100.0, 100.0]);
    for trial in &mut world.trials {
        let at_10 = trial.point.get("connections").and_then(kumite_record::AxisValue::number) == Some(10.0);
        let rate = match (trial.contender == "a", at_10) {
            (true, true) => 100.0 * ratios[trial.block as usize],
            (true, false) => 200.0,
            (false, _) => 100.0,
        };
        trial.sample.metrics.insert("throughput_rps".to_owned(), rate);
    }
    world
}

/// The ratios of `n` rounds, whose logarithms lie by turns `apart` above and below that of `ratio`.
fn rounds(n: usize, ratio: f64, apart: f64) -> Vec<f64> {
    (0..n).map(|nth| if nth % 2 == 0 { ratio * apart.exp() } else { ratio / apart.exp() }).collect()
}

fn near(ratios: &[f64], assert: &str) -> Option<NearTie> {
    world(ratios).near_ties(assert).pop()
}

#[test]
fn a_border_that_is_further_away_than_sittings_usually_scatter_is_no_near_tie() {
    // Rounds scatter by 2.14 %, and their median by 0.95 %. With 5 % between sittings: 1.8124 times 5.09 % is 9.22 %.
    let of = |ratio| near(&rounds(8, ratio, 0.02), FASTER);
    assert_eq!((of(1.1), of(0.9)), (None, None));
    let near = of(1.09).unwrap();
    assert_eq!((near.verdict, near.sittings), (Verdict::Holds, 1));
    let Bound::Both { low, high, level } = near.effect.bound else { panic!("{:?}", near.effect) };
    assert!((low - 1.09 / 1.0966).abs() < 1e-3 && (high - 1.09 * 1.0966).abs() < 1e-3, "{low} {high}");
    assert_eq!(level, 0.8);
    // No number of rounds takes 8.6 % out of the 9.06 % of sittings alone. Of ten rounds: Φ(0.0862 / 0.0507)³ = 0.955³.
    let Remedy::Sittings { sittings: 3, agree } = near.remedy else { panic!("{:?}", near.remedy) };
    assert!((agree - 0.872).abs() < 1e-3, "{agree}");
}

#[test]
fn what_is_the_same_in_all_rounds_is_no_near_tie() {
    assert_eq!((near(&[1.02; 8], FASTER), near(&[1.0; 8], FASTER)), (None, None));
    // Rounds scatter by 0.107 %, and sittings by no more than four times as much: 1.8124 times 0.43 %.
    assert_eq!(near(&rounds(8, 1.01, 0.001), FASTER), None);
    assert!(near(&rounds(8, 1.007, 0.001), FASTER).is_some());
}

#[test]
fn rounds_that_scatter_widely_are_mended_by_more_of_them() {
    // The median of eight that are 20 % off scatters by more than 8 %: 15 % is within that, and would not be with more.
    let near = near(&rounds(8, 1.15, 0.2), FASTER).unwrap();
    let Remedy::Rounds(rounds) = near.remedy else { panic!("{:?}", near.remedy) };
    // s = 0.2138 of eight, and π/2 · s² / ((ln 1.15 / 1.8124)² − 0.0025) = 20.8.
    assert_eq!(rounds, 21);
}

#[test]
fn a_claim_is_as_near_as_the_comparison_that_would_turn_it_round() {
    // One is clear and one near: it holds by a hair. One fails clearly: whatever the other does, it fails.
    assert_eq!(near(&rounds(8, 1.02, 0.02), BOTH).unwrap().decided_by.comparison, FASTER);
    assert_eq!(near(&[0.5; 8], BOTH), None);
}

#[test]
fn of_several_sittings_their_own_scatter_counts() {
    let of = |medians: &[f64]| {
        let mut world = world(&medians.iter().flat_map(|ratio| [*ratio; 6]).collect::<Vec<_>>());
        world.run.rule = Rule::Strict;
        for (day, _) in (0..).zip(medians) {
            let at = |hour: i64| jiff::Timestamp::from_second((i64::from(day) * 24 + hour) * 3600).unwrap();
            let (started, finished, first_round, rounds) = (at(0), Some(at(1)), day * 6, 6);
            world.run.sittings.push(Sitting { started, finished, first_round, rounds, ..Sitting::default() });
        }
        world.near_ties(FASTER).pop()
    };
    // They are alike, and so is the next: 3 % are far away.
    assert_eq!(of(&[1.03, 1.031, 1.029]), None);
    let near = of(&[1.10, 1.02, 1.06]).unwrap();
    assert_eq!(near.sittings, 3);
    assert!(matches!(near.remedy, Remedy::Sittings { sittings: 4, .. }), "{:?}", near.remedy);
}

#[test]
fn no_difference_is_out_of_reach_where_sittings_differ_by_more_than_the_margin() {
    let mut world = world(&rounds(12, 1.0, 0.004));
    world.run.margin_percent = 1.0;
    let near = world.near_ties(FASTER).pop().unwrap();
    assert_eq!((near.verdict, near.remedy), (Verdict::NoDifference, Remedy::Margin));
}

#[test]
fn jobs_whose_scatter_is_that_of_the_rounds_are_what_there_are_too_few_of() {
    let mut world = world(&rounds(8, 1.15, 0.2));
    for trial in &mut world.trials {
        let job = |elapsed_ms| kumite_record::Job { elapsed_ms, ..kumite_record::Job::default() };
        trial.sample.jobs = [1.0, 1.6, 0.7].map(job).to_vec();
    }
    let near = world.near_ties(FASTER).pop().unwrap();
    // 21 rounds of 3 jobs are 63, in 8 rounds of 8.
    assert_eq!(near.remedy, Remedy::Jobs { now: 3, enough: 8 });
}
