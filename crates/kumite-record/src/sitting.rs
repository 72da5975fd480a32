//! The sittings of a run.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Machine;

/// The least time from the end of a sitting to the beginning of the next one on the same machine, if the two are to
/// count as two. Sittings that are nearer to each other share the state of the machine, and count as one.
pub const SITTINGS_APART: SignedDuration = SignedDuration::from_hours(1);

/// A stretch of time on one machine in which rounds of a run were measured. A run with sittings is judged by them: it
/// has a verdict only where they agree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sitting {
    /// The id of the run that the sitting was kept as.
    #[serde(deserialize_with = "crate::id::id")]
    pub run: String,
    /// The id of the first sitting's run, if this sitting repeats that run and is not joined with it yet. It says which
    /// sittings belong together. `None` otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_of: Option<String>,
    /// The seed of the order of the sitting's blocks.
    pub seed: u64,
    /// The time at which the sitting began.
    pub started: Timestamp,
    /// The time at which the sitting ended. None while it lasts, and if it was killed.
    pub finished: Option<Timestamp>,
    /// A word for the machine that the sitting was measured on: two sittings with different words were on two machines.
    /// None if it was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The index of the sitting's first round among the rounds of this run, from 0.
    pub first_round: u32,
    /// The number of rounds that the sitting has room for. The last of them are missing if it was cut short.
    pub rounds: u32,
    /// True if the sitting ended when its verdicts were in, so that its length was not planned and depends on its
    /// figures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_by_verdicts: bool,
    /// The reason why the sitting has fewer rounds than were planned: its budget, an interruption, or that it was
    /// killed. None if it is whole, and in a run of one sitting, whose own `cut_short` says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
    /// The machine that the sitting was measured on, if it is another than the run's. None if it is the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Machine>,
}

impl Sitting {
    /// True if the round with this index, from 0, is one of the sitting's.
    pub fn has(&self, round: u32) -> bool {
        (self.first_round..self.first_round.saturating_add(self.rounds)).contains(&round)
    }

    /// True if the two sittings count as one: on one machine, or perhaps on one, and less than an hour apart.
    /// `earlier` began first.
    fn is_one_with(&self, earlier: &Sitting) -> bool {
        let is_elsewhere =
            matches!((&self.machine, &earlier.machine), (Some(here), Some(there)) if here != there);
        let ended = earlier.finished.unwrap_or(earlier.started);
        !is_elsewhere && self.started.duration_since(ended) < SITTINGS_APART
    }
}

/// Groups the sittings that count as one, by their positions, in the order in which the groups began. A sitting joins
/// a group if it began less than an hour after another of the group had ended (or had begun, if it has no recorded
/// end), on the same machine or perhaps the same. Sittings without rounds are left out.
pub fn apart(sittings: &[Sitting]) -> Vec<Vec<usize>> {
    // A sitting that was ended before its first round says nothing.
    let mut order: Vec<usize> = (0..sittings.len()).filter(|&nth| sittings[nth].rounds > 0).collect();
    order.sort_by_key(|&nth| (sittings[nth].started, nth));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for nth in order {
        let is_one_with =
            |group: &Vec<usize>| group.iter().any(|of| sittings[nth].is_one_with(&sittings[*of]));
        // This sitting may be near to two groups, and so join them.
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

/// The effect of a comparison in a sitting, or in several sittings that count as one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SittingEffect {
    /// The positions of the sittings in the run's list, from 0.
    pub sittings: Vec<usize>,
    /// The median effect of the rounds in `sittings`, in the form and unit of the claim's effect.
    pub effect: f64,
    /// The number of rounds in `sittings` in which the comparison was measured.
    pub rounds: usize,
    /// The side of the border on which the claim was in the sittings.
    pub side: SittingSide,
}

/// The side of its borders on which a claim was in one sitting, or in several that count as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SittingSide {
    /// The medians of all comparisons of the claim are on the claimed side.
    So,
    /// The median of at least one comparison of the claim is on the other side.
    NotSo,
    /// The side is not known: a comparison has no rounds in the sitting, or its figures are lower bounds and leave it
    /// open, or a later kumite wrote another value.
    #[default]
    #[serde(other)]
    Open,
}

/// The interval for the effect in one more sitting of the same kind. It is formed by Student's t from the mean and
/// the scatter of the sittings' medians, for a ratio in logarithms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NextSitting {
    /// The lower end of the 80 % interval, in the form and unit of the claim's effect. The interval holds the effect of
    /// a further sitting in four of five cases.
    pub low_80: f64,
    /// The upper end of the 80 % interval, in the form and unit of the claim's effect.
    pub high_80: f64,
    /// The lower end of the 95 % interval, in the form and unit of the claim's effect. The interval holds the effect of
    /// a further sitting in 19 of 20 cases.
    pub low_95: f64,
    /// The upper end of the 95 % interval, in the form and unit of the claim's effect.
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
