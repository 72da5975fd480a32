//! Shards of made-up runs, merged or refused.

use jiff::Timestamp;

use super::*;

/// A shard that began at this second, with this number of trials, on a machine with this number of CPUs.
fn shard(nth: u32, began: i64, trials: u32, cpus: usize) -> StoredRun {
    let at = |second| Timestamp::from_second(second).unwrap();
    let run = Run {
        id: format!("{nth}-{began}"),
        started: at(began),
        finished: Some(at(began + 1)),
        cut_short: (trials < 4).then(|| "it was interrupted".to_owned()),
        shard: Some(Shard { nth, of: 3, node: "n".to_owned() }),
        ..Run::default()
    };
    let trial = |seq: u32| Trial {
        seq,
        block: seq * 3 + nth - 1,
        contender: "a".to_owned(),
        started: at(began),
        ..Trial::default()
    };
    StoredRun {
        run,
        machine: Machine { cpus, ..Machine::default() },
        contenders: Vec::new(),
        trials: (0..trials).map(trial).collect(),
        claims: Vec::new(),
        checks: Vec::new(),
        warnings: Vec::new(),
    }
}

#[test]
fn the_first_complete_execution_counts_and_where_there_is_none_the_longest() {
    let of = |shards: &[StoredRun]| {
        let by_shard = by_shard(shards).unwrap();
        by_shard.values().map(|of| counts(of).run.id.clone()).collect::<Vec<_>>()
    };
    let first = [shard(2, 30, 4, 2), shard(2, 10, 1, 2), shard(2, 20, 4, 2), shard(1, 5, 4, 2)];
    assert_eq!(of(&first), ["1-5", "2-20"]);
    assert_eq!(of(&[shard(1, 30, 3, 2), shard(1, 10, 1, 2), shard(1, 20, 3, 2)]), ["1-20"]);
}

#[test]
fn what_is_missing_is_said() {
    let said = |shards: &[StoredRun]| incomplete(3, &by_shard(shards).unwrap());
    let all = [shard(1, 1, 4, 2), shard(2, 1, 4, 2), shard(3, 1, 4, 2)];
    assert_eq!(said(&all), None);
    assert_eq!(said(&all[..1]).unwrap(), "shards 2, 3 of 3 are missing");
    assert_eq!(
        said(&[shard(1, 1, 4, 2), shard(3, 1, 2, 2)]).unwrap(),
        "shard 2 of 3 is missing; shard 3 is not complete: it was interrupted"
    );
}

#[test]
fn two_machines_of_one_name_are_two_nodes_and_one_that_comes_again_is_one() {
    let shards = [shard(1, 1, 4, 2), shard(2, 1, 4, 8), shard(3, 1, 4, 2)];
    let (nodes, names) = nodes(&shards.iter().collect::<Vec<_>>());
    assert_eq!(names, ["n", "n#2", "n"]);
    let nodes: Vec<(&str, usize)> =
        nodes.iter().map(|node| (node.name.as_str(), node.machine.cpus)).collect();
    assert_eq!(nodes, [("n", 2), ("n#2", 8)]);
}

#[test]
fn trials_are_in_the_order_of_their_rounds_and_know_their_node() {
    let shards = [shard(1, 1, 2, 2), shard(2, 1, 2, 2)];
    let names = ["a", "b"].map(str::to_owned);
    let trials = trials(&shards.iter().collect::<Vec<_>>(), &names);
    let told: Vec<(u32, u32, &str)> = trials
        .iter()
        .map(|trial| (trial.seq, trial.block, trial.node.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(told, [(0, 0, "a"), (1, 1, "b"), (2, 3, "a"), (3, 4, "b")]);
}

#[test]
fn a_difference_is_named_with_the_two_shards() {
    let (first, mut other) = (shard(1, 1, 4, 2), shard(2, 1, 4, 2));
    let told = |other: &StoredRun| {
        let what = difference(&first, other).unwrap();
        what.map(|what| differ(&first.run, &other.run, &what))
    };
    other.run.kumite = "another".to_owned();
    other.run.question.text = "Other words?".to_owned();
    assert_eq!(told(&other), None);
    other.run.margin_percent = 5.0;
    assert_eq!(
        told(&other).unwrap(),
        "shard 1 of 3 (run 1-1) and shard 2 of 3 (run 2-1) are not of one run, for they differ in \
         margin_percent: 0.0, and 5.0"
    );
}
