//! The sittings of a run.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sittings on one machine that are nearer to each other than this share what the machine was like, and count as one.
pub const SITTINGS_APART: SignedDuration = SignedDuration::from_hours(1);

/// A stretch of time on one machine in which rounds of a run were measured. A run with sittings is judged by them: a verdict
/// is given only where they agree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sitting {
    /// The run that it was kept as.
    #[serde(deserialize_with = "crate::id::id")]
    pub run: String,
    /// The first sitting's run, where this is one more of it. It tells what belongs together even where the run that is made of
    /// all of them does not have this one yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_of: Option<String>,
    /// The seed of its order.
    pub seed: u64,
    /// When the sitting began.
    pub started: Timestamp,
    /// When it ended; none while it lasts.
    pub finished: Option<Timestamp>,
    /// Tells machines apart: two sittings that have another were on two machines. None where it was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The first of its rounds, as blocks are numbered in this run, from 0.
    pub first_round: u32,
    /// How many rounds it has room for; the last of them are missing where it was cut short.
    pub rounds: u32,
    /// True if it ended when its verdicts were in: its length was not planned, and depends on its figures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_by_verdicts: bool,
}

impl Sitting {
    /// True for the index of one of its rounds.
    pub fn has(&self, round: u32) -> bool {
        (self.first_round..self.first_round.saturating_add(self.rounds)).contains(&round)
    }

    /// True if the machine may have been as it was in the other, which began earlier.
    fn is_one_with(&self, earlier: &Sitting) -> bool {
        let is_elsewhere =
            matches!((&self.machine, &earlier.machine), (Some(here), Some(there)) if here != there);
        let ended = earlier.finished.unwrap_or(earlier.started);
        !is_elsewhere && self.started.duration_since(ended) < SITTINGS_APART
    }
}

/// The sittings that count as one, by their positions, in the order in which they began: those of one machine of which each
/// began less than an hour after another had ended.
pub fn apart(sittings: &[Sitting]) -> Vec<Vec<usize>> {
    // One that was ended before its first round says nothing.
    let mut order: Vec<usize> = (0..sittings.len()).filter(|&nth| sittings[nth].rounds > 0).collect();
    order.sort_by_key(|&nth| (sittings[nth].started, nth));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for nth in order {
        let is_one_with =
            |group: &Vec<usize>| group.iter().any(|of| sittings[nth].is_one_with(&sittings[*of]));
        // It may be what joins two of them.
        let (joined, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_one_with);
        let mut joined = joined.concat();
        joined.push(nth);
        joined.sort_unstable();
        groups = others;
        groups.push(joined);
    }
    groups.sort_by_key(|group| group.iter().map(|&nth| sittings[nth].started).min());
    groups
}

/// The effect of a comparison in a sitting, or in several that count as one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SittingEffect {
    /// The positions of these sittings in the run's list.
    pub sittings: Vec<usize>,
    /// The median of its rounds' effects.
    pub effect: f64,
    /// How many rounds it has.
    pub rounds: usize,
    /// On which side of the border the claim was in it.
    pub side: SittingSide,
}

/// How a claim came out in one sitting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SittingSide {
    /// The median of each of its comparisons is on the claimed side.
    So,
    /// The median of one of its comparisons is on the other side.
    NotSo,
    /// It has no rounds of one of them, or figures that are lower bounds and leave it open; or a later kumite knows more.
    #[default]
    #[serde(other)]
    Open,
}

/// Where the effect of one more sitting would be, if it is of the same kind as these: from the mean of their medians, for a
/// ratio in logarithms, and their scatter, by Student's t.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NextSitting {
    /// The lower end of the 80 % interval, which holds the effect in four of five cases.
    pub low_80: f64,
    /// The upper end of the 80 % interval.
    pub high_80: f64,
    /// The lower end of the 95 % interval, which holds it in 19 of 20 cases.
    pub low_95: f64,
    /// The upper end of the 95 % interval.
    pub high_95: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sitting(machine: &str, started_min: i64, lasted_min: i64) -> Sitting {
        let at = |minutes: i64| Timestamp::from_second(minutes * 60).unwrap();
        Sitting {
            started: at(started_min),
            finished: Some(at(started_min + lasted_min)),
            rounds: 10,
            machine: (!machine.is_empty()).then(|| machine.to_owned()),
            ..Sitting::default()
        }
    }

    #[test]
    fn what_is_less_than_an_hour_apart_on_one_machine_is_one_sitting() {
        let of = |sittings: &[Sitting]| apart(sittings);
        assert_eq!(of(&[sitting("a", 0, 10), sitting("a", 70, 10)]), [vec![0], vec![1]]);
        assert_eq!(of(&[sitting("a", 0, 10), sitting("a", 69, 10)]), [vec![0, 1]]);
        assert_eq!(of(&[sitting("a", 0, 10), sitting("b", 5, 10)]), [vec![0], vec![1]]);
        assert_eq!(
            of(&[sitting("a", 0, 10), sitting("", 5, 10)]),
            [vec![0, 1]],
            "it may be the same machine"
        );
        // A chain of them, given in another order.
        assert_eq!(of(&[sitting("a", 90, 10), sitting("a", 0, 10), sitting("a", 45, 10)]), [vec![0, 1, 2]]);
        let empty = Sitting { rounds: 0, ..sitting("a", 500, 0) };
        assert_eq!(of(&[sitting("a", 0, 10), empty]), [vec![0]], "it has no round");
        assert_eq!(of(&[]), Vec::<Vec<usize>>::new());
    }
}
