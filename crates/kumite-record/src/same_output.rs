//! Judges outputs: where all contenders are to write the same, an output that the majority did not write is wrong.

use std::collections::{BTreeMap, HashMap};

use crate::{Outcome, Point, Trial, Written};

/// The first output of each contender at a point, by the contender's name; none for a contender that failed or whose
/// output is wrong by itself. A contender has one vote, however many trials it has.
pub type Votes = BTreeMap<String, Option<Written>>;

/// The fault of an output, in words. None if the output is right. An output is right if more than half of *all*
/// contenders at the point wrote it, or if no contender wrote another: contenders without an output cannot make a
/// minority right. If no output is right, every one has a fault.
pub fn unlike_the_others(written: &Written, votes: &Votes) -> Option<String> {
    let known = || votes.iter().filter_map(|(name, vote)| Some((name, vote.as_ref()?)));
    let who = |digest: &str| -> Vec<&str> {
        known().filter(|(_, vote)| vote.digest == digest).map(|(name, _)| name.as_str()).collect()
    };
    let is_right = |digest: &str| {
        let wrote = who(digest).len();
        2 * wrote > votes.len() || wrote == known().count()
    };
    match known().find(|(_, vote)| is_right(&vote.digest)) {
        Some((_, right)) if right.digest == written.digest => None,
        Some((_, right)) => Some(format!(
            "it is not what {} wrote ({} of {}): compare {} with {}",
            names(&who(&right.digest)),
            who(&right.digest).len(),
            votes.len(),
            written.file,
            right.file
        )),
        None => known().find(|(_, vote)| vote.digest != written.digest).map(|(name, other)| {
            format!(
                "contenders differ, no output is that of more than half of them, and nobody knows which is right: compare \
                 {} with {name}'s {}",
                written.file, other.file
            )
        }),
    }
}

fn names(all: &[&str]) -> String {
    match all {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

/// Disqualifies each trial whose output is not the right one at its point. A disqualified trial whose output is right
/// after all becomes `Ok` again, without a reason. Trials without an output stay as they are. An output is judged by
/// those of all `trials` and nothing else, so a run that was interrupted, or made in shards, is judged like any other.
pub fn judge_outputs(trials: &mut [Trial]) {
    if trials.iter().all(|trial| trial.sample.output.is_none()) {
        return;
    }
    let mut in_turn: Vec<&Trial> = trials.iter().collect();
    in_turn.sort_by_key(|trial| (trial.block, trial.attempt, trial.seq));
    let mut votes = HashMap::<Point, Votes>::new();
    for trial in in_turn {
        let votes = votes.entry(trial.point.clone()).or_default();
        // A control gives its contender no second vote.
        if trial.control {
            continue;
        }
        let vote = votes.entry(trial.contender.clone()).or_default();
        if vote.is_none() {
            vote.clone_from(&trial.sample.output);
        }
    }
    for trial in trials {
        let Some(written) = &trial.sample.output else { continue };
        match unlike_the_others(written, &votes[&trial.point]) {
            Some(why) => {
                (trial.outcome, trial.reason) =
                    (Outcome::Disqualified, Some(format!("its output is wrong: {why}")));
            }
            None if trial.outcome == Outcome::Disqualified => {
                (trial.outcome, trial.reason) = (Outcome::Ok, None);
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AxisValue, Sample};

    /// Trials of contenders: `a=x` wrote x, `a=-` failed. The n-th trial of a contender is in block n.
    fn trials(words: &str) -> Vec<Trial> {
        let mut blocks = BTreeMap::<String, u32>::new();
        let trial = |(seq, word): (usize, &str)| {
            let (contender, wrote) = word.split_once('=').unwrap();
            let block = blocks.entry(contender.to_owned()).and_modify(|block| *block += 1).or_default();
            let output = (wrote != "-")
                .then(|| Written { digest: wrote.to_owned(), file: format!("{contender}.{wrote}") });
            Trial {
                seq: seq as u32,
                block: *block,
                contender: contender.to_owned(),
                point: Point([("n".to_owned(), AxisValue::Int(1))].into()),
                outcome: if output.is_some() { Outcome::Ok } else { Outcome::Failed },
                sample: Sample { output, ..Sample::default() },
                ..Trial::default()
            }
        };
        words.split(' ').enumerate().map(trial).collect()
    }

    /// The positions of the trials that are disqualified.
    fn wrong(words: &str) -> Vec<usize> {
        let mut trials = trials(words);
        judge_outputs(&mut trials);
        let once = trials.clone();
        judge_outputs(&mut trials);
        assert_eq!(trials, once, "judging again changes nothing");
        let is_wrong = |trial: &Trial| trial.outcome == Outcome::Disqualified;
        (0..trials.len()).filter(|nth| is_wrong(&trials[*nth])).collect()
    }

    #[test]
    fn what_more_than_half_of_all_contenders_wrote_first_is_right_whoever_is_tried_first() {
        for (words, expected) in [
            ("a=x b=x c=y", vec![2]),
            ("c=y a=x b=x", vec![0]),
            ("a=x c=y b=x", vec![1]),
            ("a=x b=x c=x", vec![]),
            ("a=x", vec![]),
            ("a=x b=y", vec![0, 1]),
            ("a=x b=y c=z", vec![0, 1, 2]),
            ("a=x b=x c=y d=y", vec![0, 1, 2, 3]),
            ("a=x b=x c=x d=y e=y", vec![3, 4]),
            // A contender votes once: the trials of b are no majority.
            ("a=x b=y b=y b=y", vec![0, 1, 2, 3]),
            ("a=x b=x c=y c=y c=y", vec![2, 3, 4]),
            // A contender may be right in one block and wrong in another.
            ("a=x b=x c=y a=y b=x c=x", vec![2, 3]),
            ("a=x a=y", vec![1]),
        ] {
            assert_eq!(wrong(words), expected, "{words}");
        }
    }

    #[test]
    fn who_gave_nothing_makes_no_minority_right_and_no_output_wrong() {
        assert_eq!(wrong("a=x b=x c=y d=-"), [0, 1, 2], "two of four are not more than half");
        assert_eq!(wrong("a=x b=- c=-"), [0; 0], "nobody differs");
        assert_eq!(wrong("a=x b=y c=- a=x b=y c=x"), [1, 4], "the third has come to its vote");
    }

    #[test]
    fn points_are_judged_apart_and_other_reasons_stay() {
        let mut all = trials("a=x b=y");
        all[1].point = Point([("n".to_owned(), AxisValue::Int(2))].into());
        all[0].reason = Some("it left 1 of its processes behind".to_owned());
        let before = all.clone();
        judge_outputs(&mut all);
        assert_eq!(all, before);
    }

    #[test]
    fn the_reason_names_who_and_both_files() {
        let mut all = trials("a=x b=x c=y");
        judge_outputs(&mut all);
        let why = "its output is wrong: it is not what a and b wrote (2 of 3): compare c.y with a.x";
        assert_eq!(all[2].reason.as_deref(), Some(why));
        let mut all = trials("a=x b=y");
        judge_outputs(&mut all);
        assert_eq!(
            all[1].reason.as_deref(),
            Some(
                "its output is wrong: contenders differ, no output is that of more than half of them, and nobody knows which is right: compare b.y with a's a.x"
            )
        );
    }
}
