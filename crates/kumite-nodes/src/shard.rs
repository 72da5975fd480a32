//! `--shard`: the share of a run's blocks that is executed here.
//!
//! The share is given by number, or found from the variables that Slurm sets for a task of an array and Kubernetes
//! for a pod of an Indexed Job. An array whose tasks do not count from 0 or 1 on in equal steps is refused: two
//! submissions of parts of one array would otherwise make shards of two different runs, which could not be merged.

use std::str::FromStr;

use kumite_lab::Experiment;
use kumite_record::Shard;

use crate::misuse::Misuse;

/// A share, as the flag gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// A share by its number, such as `2/8`.
    Of {
        /// The number of the share, from 1 on.
        nth: u32,
        /// The number of shares.
        of: u32,
    },
    /// The share that Slurm or Kubernetes gave this process: `auto`, `auto/8`.
    OfLauncher {
        /// The number of shares; none if it is not given.
        of: Option<u32>,
    },
}

/// The reason why a text is no share.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NotAShare {
    /// The text has none of the forms of `--shard`.
    #[error("write it as 2/8, the second of eight; or auto, or auto/8")]
    Form,
    /// The number of the share is above the number of shares.
    #[error("there is no shard {nth} of {of}: they count from 1")]
    TooHigh {
        /// The number of the share.
        nth: u32,
        /// The number of shares.
        of: u32,
    },
}

impl FromStr for Share {
    type Err = NotAShare;

    fn from_str(text: &str) -> Result<Share, NotAShare> {
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
        let (nth, of) = match text.split_once('/') {
            Some((nth, of)) => (nth, Some(number(of).ok_or(NotAShare::Form)?)),
            None => (text, None),
        };
        match (nth, number(nth), of) {
            ("auto", _, of) => Ok(Share::OfLauncher { of }),
            (_, Some(nth), Some(of)) if nth <= of => Ok(Share::Of { nth, of }),
            (_, Some(nth), Some(of)) => Err(NotAShare::TooHigh { nth, of }),
            _ => Err(NotAShare::Form),
        }
    }
}

/// An error if the experiment has fewer than `of` blocks, since some shares would have none. `option` and `what` are
/// for the error's text, as in [`Misuse::TooFewBlocks`].
pub fn some_for_each(
    option: &'static str,
    of: u32,
    what: &'static str,
    experiment: &Experiment,
) -> Result<(), Misuse> {
    match experiment.blocks {
        blocks if blocks < of => Err(Misuse::TooFewBlocks { option, of, what, blocks }),
        _ => Ok(()),
    }
}

impl Share {
    /// The shard of this process, with the name of its node (`unnamed` if nothing tells it). For [`Share::OfLauncher`],
    /// the number of the shard comes from the environment, and so does the number of shards if it is not given. An error
    /// if the environment lacks one of them, if a Slurm array has another number of tasks than is given, has gaps or
    /// begins above 1, or if the index of a pod is not below the number of shards. [`Share::Of`] never fails.
    pub fn here(self) -> Result<Shard, Misuse> {
        self.shard(&of_environment)
    }

    /// The shard of a process with these variables.
    fn shard(self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Shard, Misuse> {
        let (nth, of) = match self {
            Share::Of { nth, of } => (nth, of),
            Share::OfLauncher { of } => of_launcher(of, variable)?,
        };
        Ok(Shard { nth, of, node: named(variable) })
    }
}

/// The number of the shard and the number of all, from the variables of a Slurm array or of a Kubernetes Indexed Job.
fn of_launcher(given: Option<u32>, variable: &dyn Fn(&str) -> Option<String>) -> Result<(u32, u32), Misuse> {
    let number = |name: &str| variable(name).and_then(|value| value.trim().parse::<u32>().ok());
    if let (Some(id), Some(least), Some(most), Some(count)) = (
        number("SLURM_ARRAY_TASK_ID"),
        number("SLURM_ARRAY_TASK_MIN"),
        number("SLURM_ARRAY_TASK_MAX"),
        number("SLURM_ARRAY_TASK_COUNT"),
    ) {
        if let Some(given) = given.filter(|of| *of != count) {
            return Err(Misuse::OtherArray { given, count });
        }
        let step = number("SLURM_ARRAY_TASK_STEP").filter(|step| *step > 0).unwrap_or(1);
        // A part of an array that is submitted again has another number of tasks: their shards would be of another run.
        let is_whole = least <= 1 && most.checked_sub(least).is_some_and(|span| span / step + 1 == count);
        let is_of_it = (least..=most).contains(&id) && (id - least) % step == 0;
        if !is_whole || !is_of_it {
            return Err(Misuse::SparseArray { id, count, least, most, step });
        }
        return Ok(((id - least) / step + 1, count));
    }
    match (number("JOB_COMPLETION_INDEX"), given) {
        (Some(index), Some(of)) if index < of => Ok((index + 1, of)),
        (Some(index), Some(of)) => Err(Misuse::IndexTooHigh { index, of }),
        (Some(_), None) => Err(Misuse::UnknownCount),
        (None, _) => Err(Misuse::NoLauncher),
    }
}

/// The name of this node, by Slurm, by `NODE_NAME` or by the kernel; `unnamed` if none knows it.
pub(crate) fn node_name() -> String {
    named(&of_environment)
}

fn of_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn named(variable: &dyn Fn(&str) -> Option<String>) -> String {
    let node = variable("SLURMD_NODENAME").or_else(|| variable("NODE_NAME")).or_else(host);
    node.unwrap_or_else(|| "unnamed".to_owned())
}

fn host() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(text: &str, variables: &[(&str, &str)]) -> Result<(u32, u32, String), Misuse> {
        let found = |name: &str| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        };
        let shard = text.parse::<Share>().unwrap().shard(&found)?;
        Ok((shard.nth, shard.of, shard.node))
    }

    #[test]
    fn a_share_is_what_is_given_or_what_the_launcher_says() {
        let array = [
            ("SLURM_ARRAY_TASK_ID", "5"),
            ("SLURM_ARRAY_TASK_MIN", "1"),
            ("SLURM_ARRAY_TASK_MAX", "8"),
            ("SLURM_ARRAY_TASK_COUNT", "4"),
            ("SLURM_ARRAY_TASK_STEP", "2"),
            ("SLURMD_NODENAME", "n3"),
        ];
        let pod = [("JOB_COMPLETION_INDEX", "0"), ("NODE_NAME", "worker-1")];
        assert_eq!(shard("2/8", &array), Ok((2, 8, "n3".to_owned())));
        assert_eq!(shard("auto", &array), Ok((3, 4, "n3".to_owned())));
        assert_eq!(shard("auto/4", &array), Ok((3, 4, "n3".to_owned())));
        assert_eq!(shard("auto/8", &pod), Ok((1, 8, "worker-1".to_owned())));
        assert!(shard("1/1", &[]).is_ok_and(|(_, _, node)| !node.is_empty()));
    }

    #[test]
    fn an_array_with_gaps_or_another_beginning_is_refused() {
        let of = |array: [&str; 5]| {
            let names = ["ID", "MIN", "MAX", "COUNT", "STEP"].map(|name| format!("SLURM_ARRAY_TASK_{name}"));
            let variables: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(array).collect();
            shard("auto", &variables).map(|(nth, of, _)| (nth, of)).ok()
        };
        // 1-4, 0-3, 1-7:2, 0-6:3, and one task alone.
        assert_eq!(of(["3", "1", "4", "4", "1"]), Some((3, 4)));
        assert_eq!(of(["3", "0", "3", "4", "1"]), Some((4, 4)));
        assert_eq!(of(["7", "1", "7", "4", "2"]), Some((4, 4)));
        assert_eq!(of(["6", "0", "6", "3", "3"]), Some((3, 3)));
        assert_eq!(of(["1", "1", "1", "1", "1"]), Some((1, 1)));
        // 3,5; 2-4; 1,3,5; 1,2,9; a task that is none of it; nonsense.
        assert_eq!(of(["3", "3", "5", "2", "1"]), None);
        assert_eq!(of(["3", "2", "4", "3", "1"]), None);
        assert_eq!(of(["3", "1", "5", "3", "1"]), None);
        assert_eq!(of(["2", "1", "9", "3", "1"]), None);
        assert_eq!(of(["9", "1", "4", "4", "1"]), None);
        assert_eq!(of(["2", "1", "7", "4", "2"]), None);
        assert_eq!(of(["1", "5", "1", "3", "1"]), None);
    }

    #[test]
    fn a_share_that_makes_no_sense_is_refused() {
        for text in ["0/2", "3/2", "2", "a/2", "1/0", "", "1/2/3", "auto/0", "auto/x", "-1/2"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
        let sparse = [
            ("SLURM_ARRAY_TASK_ID", "9"),
            ("SLURM_ARRAY_TASK_MIN", "1"),
            ("SLURM_ARRAY_TASK_MAX", "9"),
            ("SLURM_ARRAY_TASK_COUNT", "3"),
        ];
        let wrong = |text: &str, variables: &[(&str, &str)]| shard(text, variables).unwrap_err();
        let gaps = Misuse::SparseArray { id: 9, count: 3, least: 1, most: 9, step: 1 };
        assert_eq!(wrong("auto", &sparse), gaps);
        assert_eq!(wrong("auto/2", &sparse), Misuse::OtherArray { given: 2, count: 3 });
        assert_eq!(wrong("auto", &[("JOB_COMPLETION_INDEX", "0")]), Misuse::UnknownCount);
        let index = Misuse::IndexTooHigh { index: 2, of: 2 };
        assert_eq!(wrong("auto/2", &[("JOB_COMPLETION_INDEX", "2")]), index);
        assert_eq!(wrong("auto/2", &[]), Misuse::NoLauncher);
    }
}
