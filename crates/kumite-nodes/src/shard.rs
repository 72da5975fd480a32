//! `--shard`: which share of a run's blocks is executed here.

use std::str::FromStr;

use kumite_lab::Experiment;
use kumite_record::Shard;

use crate::failure::Failure;

/// As it is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// `2/8`
    Of {
        /// Which.
        nth: u32,
        /// Among so many.
        of: u32,
    },
    /// `auto`, `auto/8`: whoever started this process says which.
    OfLauncher {
        /// Among so many, if that is said.
        of: Option<u32>,
    },
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Share, String> {
        let usage = || "write it as 2/8, the second of eight; or auto, or auto/8".to_owned();
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
        let (nth, of) = match text.split_once('/') {
            Some((nth, of)) => (nth, Some(number(of).ok_or_else(usage)?)),
            None => (text, None),
        };
        match (nth, number(nth), of) {
            ("auto", _, of) => Ok(Share::OfLauncher { of }),
            (_, Some(nth), Some(of)) if nth <= of => Ok(Share::Of { nth, of }),
            (_, Some(nth), Some(of)) => Err(format!("there is no shard {nth} of {of}: they count from 1")),
            _ => Err(usage()),
        }
    }
}

/// Of too few blocks some would have none.
pub fn some_for_each(option: &str, of: u32, what: &str, experiment: &Experiment) -> Result<(), Failure> {
    match experiment.blocks {
        blocks if blocks < of => {
            Err(Failure::Usage(format!("{option}: {of} {what} of {blocks} blocks: some would have none")))
        }
        _ => Ok(()),
    }
}

impl Share {
    /// Which shard it is, here.
    pub fn here(self) -> Result<Shard, Failure> {
        self.shard(&of_environment).map_err(Failure::Usage)
    }

    /// Which shard it is, by what these variables say.
    fn shard(self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Shard, String> {
        let (nth, of) = match self {
            Share::Of { nth, of } => (nth, of),
            Share::OfLauncher { of } => of_launcher(of, variable)?,
        };
        Ok(Shard { nth, of, node: named(variable) })
    }
}

/// By the variables of a Slurm array or of a Kubernetes Indexed Job.
fn of_launcher(given: Option<u32>, variable: &dyn Fn(&str) -> Option<String>) -> Result<(u32, u32), String> {
    let number = |name: &str| variable(name).and_then(|value| value.trim().parse::<u32>().ok());
    if let (Some(id), Some(least), Some(most), Some(count)) = (
        number("SLURM_ARRAY_TASK_ID"),
        number("SLURM_ARRAY_TASK_MIN"),
        number("SLURM_ARRAY_TASK_MAX"),
        number("SLURM_ARRAY_TASK_COUNT"),
    ) {
        if given.is_some_and(|of| of != count) {
            return Err(format!("--shard auto/{}: Slurm's array has {count} tasks", given.unwrap_or(0)));
        }
        let step = number("SLURM_ARRAY_TASK_STEP").filter(|step| *step > 0).unwrap_or(1);
        // A part of an array that is submitted again has another number of tasks: their shards would be of another run.
        let is_whole = least <= 1 && most.checked_sub(least).is_some_and(|span| span / step + 1 == count);
        let is_of_it = (least..=most).contains(&id) && (id - least) % step == 0;
        if !is_whole || !is_of_it {
            return Err(format!(
                "--shard auto: task {id} of an array of {count} from {least} to {most}, in steps of {step}, does not say \
                 which shard it is: submit it as --array=1-{count}, or write --shard I/N"
            ));
        }
        return Ok(((id - least) / step + 1, count));
    }
    match (number("JOB_COMPLETION_INDEX"), given) {
        (Some(index), Some(of)) if index < of => Ok((index + 1, of)),
        (Some(index), Some(of)) => Err(format!(
            "--shard auto/{of}: JOB_COMPLETION_INDEX is {index}; with {of} shards it is below {of}"
        )),
        (Some(_), None) => {
            Err("--shard auto: an Indexed Job does not say how many there are; write --shard auto/N"
                .to_owned())
        }
        (None, _) => Err(
            "--shard auto: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set; write --shard I/N"
                .to_owned(),
        ),
    }
}

/// This node's name.
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

    fn shard(text: &str, variables: &[(&str, &str)]) -> Result<(u32, u32, String), String> {
        let found = |name: &str| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        };
        let shard = text.parse::<Share>()?.shard(&found)?;
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
    fn what_is_no_share_is_refused() {
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
        assert!(wrong("auto", &sparse).contains("submit it as --array=1-3"));
        assert!(wrong("auto/2", &sparse).contains("Slurm's array has 3 tasks"));
        assert!(wrong("auto", &[("JOB_COMPLETION_INDEX", "0")]).contains("write --shard auto/N"));
        assert!(wrong("auto/2", &[("JOB_COMPLETION_INDEX", "2")]).contains("it is below 2"));
        assert!(wrong("auto/2", &[]).contains("neither SLURM_ARRAY_TASK_ID"));
    }
}
