//! Doubts about effects that were made to follow a probe or the time, and about some that were not.

use kumite_record::{Claim, Verdict};

use super::super::tests::World;
use super::*;

const CLAIM: &str = "throughput_rps(a at connections=1) > throughput_rps(b at connections=1)";
const CHEAP_US: f64 = 5.0;
const DEAR_US: f64 = 10.0;

/// A world of `blocks` rounds with dear wake-ups in those that `is_dear` names. In these "a" is faster by `share`,
/// and in the others slower by as much.
fn world(blocks: usize, share: f64, is_dear: fn(u32) -> bool) -> World {
    let mut world = World::new(blocks, [100.0; 3], [100.0; 3]);
    for trial in &mut world.trials {
        let is_dear = is_dear(trial.block);
        trial.started = jiff::Timestamp::from_second(i64::from(trial.seq)).unwrap();
        // Each a little apart from the others, in an order that is not that of time.
        let apart = f64::from(trial.block * 7 % 11) / 100.0;
        let wake_up = apart + if is_dear { DEAR_US } else { CHEAP_US };
        trial.sample.metrics.insert(Probe::WakeUp.name().to_owned(), wake_up);
        if trial.contender == "a" {
            let rate = trial.sample.metrics.get_mut("throughput_rps").unwrap();
            *rate *= if is_dear { 1.0 + share } else { 1.0 - share };
        }
    }
    world
}

fn moved(claim: &Claim) -> Vec<&Doubt> {
    let is = |doubt: &&Doubt| matches!(doubt, Doubt::WentWith { .. } | Doubt::ChangedDuringRun { .. });
    claim.doubts.iter().filter(is).collect()
}

fn every_other(block: u32) -> bool {
    block % 2 == 1
}

#[test]
fn an_effect_that_went_with_wake_ups_is_doubted_with_both_ends() {
    let claim = world(24, 0.2, every_other).judge(CLAIM);
    let [Doubt::WentWith { probe: Probe::WakeUp, low, high }] = moved(&claim)[..] else {
        panic!("{:?}", claim.doubts)
    };
    assert!((low - 0.8).abs() < 0.05 && (high - 1.2).abs() < 0.05, "{low} {high}");
}

#[test]
fn an_effect_that_changed_once_during_the_run_is_of_its_time() {
    // The wake-ups changed at the same moment; the time has more ranks.
    let mut world = world(24, 0.2, |block| block >= 12);
    for trial in world.trials.iter_mut().filter(|trial| trial.contender == "a") {
        *trial.sample.metrics.get_mut("throughput_rps").unwrap() *= 1.0 + f64::from(trial.block) / 1e2;
    }
    let claim = world.judge(CLAIM);
    assert!(
        matches!(moved(&claim)[..], [Doubt::ChangedDuringRun { first, last }] if first < &1.0 && last > &1.0)
    );
}

#[test]
fn an_effect_on_one_side_throughout_is_not_doubted() {
    let mut world = world(24, 0.2, every_other);
    for trial in world.trials.iter_mut().filter(|trial| trial.contender == "a") {
        *trial.sample.metrics.get_mut("throughput_rps").unwrap() *= 3.0;
    }
    let claim = world.judge(CLAIM);
    assert_eq!((claim.verdict, moved(&claim)), (Verdict::Holds, Vec::new()));
}

#[test]
fn fewer_rounds_than_twelve_show_nothing_and_no_probes_are_no_variable() {
    assert_eq!(moved(&world(11, 0.2, every_other).judge(CLAIM)), Vec::<&Doubt>::new());
    let mut world = world(24, 0.2, every_other);
    for trial in &mut world.trials {
        trial.sample.metrics.remove(Probe::WakeUp.name());
    }
    assert_eq!(moved(&world.judge(CLAIM)), Vec::<&Doubt>::new());
}

#[test]
fn what_claims_compare_is_of_their_own_cells() {
    // The other points have wake-ups that would go with the effect, and are not of the claim.
    let mut world = world(24, 0.2, every_other);
    for trial in &mut world.trials {
        let is_ours = trial.point == world.run.points[0];
        let wake_up = trial.sample.metrics.get_mut(Probe::WakeUp.name()).unwrap();
        *wake_up = if is_ours { CHEAP_US } else { *wake_up };
    }
    assert_eq!(moved(&world.judge(CLAIM)), Vec::<&Doubt>::new());
}
