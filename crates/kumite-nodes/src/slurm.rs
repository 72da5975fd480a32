//! `--on slurm`: nodes of a Slurm cluster, by Slurm's own commands.
//!
//! A job that kumite submits does nothing but hold nodes; all work is done by an agent on each node, which is a step
//! of the job. So one way to nodes serves an interactive allocation (`salloc`) as well as kumite's own job, and
//! kumite needs no file on the cluster. A job that was submitted here ends when its [`Allocation`] is dropped: after
//! the run, after an error, after Ctrl-C. After a SIGKILL it ends by itself, some ten minutes after the last step. A
//! job that kumite was started in is never ended.
//!
//! `squeue` is the only witness of a job's state. If Slurm's controller does not answer, the job has not ended: the
//! controller is asked again, and only a limit or Ctrl-C ends the waiting.

mod ask;
mod job;
mod nodes;

use std::str::FromStr;
use std::time::Duration;

use kumite_agent::Node;
use kumite_report::length;

use crate::driver::Driver;
use crate::failure::Failure;
use crate::misuse::Misuse;

pub use crate::slurm_error::{Error, TaskEnd};
pub(crate) use job::{Job, Task, TaskState, wait};
pub(crate) use nodes::nodes_of;

/// The options for submitting jobs.
#[derive(Clone, Debug)]
pub struct SlurmOptions {
    /// The options for sbatch, as the user gave them.
    pub words: SbatchWords,
    /// The longest time that a job may wait for its nodes.
    pub queue_timeout: Duration,
}

/// Options for sbatch, in a list for each part of a job. In text, the word `:` stands between two parts.
#[derive(Clone, Debug, PartialEq)]
pub struct SbatchWords(Vec<Vec<String>>);

/// The error for options in which a quotation mark is not closed, or which end with a backslash.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a quotation mark is not closed, or a backslash stands at the end")]
pub struct UnclosedQuote;

impl FromStr for SbatchWords {
    type Err = UnclosedQuote;

    fn from_str(text: &str) -> Result<SbatchWords, UnclosedQuote> {
        let words = shlex::split(text).ok_or(UnclosedQuote)?;
        Ok(SbatchWords(words.split(|word| word == ":").map(<[String]>::to_vec).collect()))
    }
}

/// The nodes that a job must have.
#[derive(Debug)]
pub enum NodesWanted<'a> {
    /// As many nodes as the options for sbatch ask for; if they do not say, sbatch's own default.
    Nodes,
    /// A node for each item: the node of this name, or any node if there is no name. A node that several roles name is
    /// listed once.
    Roles(Vec<Option<&'a str>>),
}

/// The nodes on which something is done. If a job was submitted for them, the job ends when this is dropped.
pub struct Allocation {
    /// The nodes, in the order of the job or of `--on`; empty if all is done on this machine.
    pub nodes: Vec<Node>,
    /// The job that has the nodes; none if they are no job's. If kumite submitted it, it ends when this is dropped.
    pub(crate) job: Option<Job>,
}

impl SlurmOptions {
    /// True if any options for sbatch are given.
    pub fn are_given(&self) -> bool {
        self.words.0.iter().any(|words| !words.is_empty())
    }

    /// Allocates the nodes of the job that this process is in, or else of a new one, for which it waits.
    pub(crate) fn allocate(
        &self,
        wanted: &NodesWanted,
        what: &str,
        driver: &Driver,
    ) -> Result<Allocation, Failure> {
        let job = match own_job() {
            Some(_) if self.are_given() => return Err(Misuse::InsideJob.into()),
            Some(id) => Job::found(id, driver),
            None => Job::submit(&self.arguments(wanted)?, what, driver)?,
        };
        let tasks = job.begun(self.queue_timeout)?;
        let nodes = nodes_of(&tasks, &driver.stop)?;
        let named: Vec<&str> = nodes.iter().map(Node::name).collect();
        driver.note(&format!("job {} has {}", job.id(), named.join(", ")));
        if let Some(left) = tasks.iter().filter_map(|task| task.left).min() {
            driver.note(&format!("job {} ends in {} at the latest", job.id(), length(left.as_secs_f64())));
        }
        Ok(Allocation { nodes, job: Some(job) })
    }

    /// Submits an array of jobs of one node each, with these indices.
    pub(crate) fn array(&self, indices: &str, what: &str, driver: &Driver) -> Result<Job, Failure> {
        let [options] = &self.words.0[..] else {
            return Err(Misuse::PartsWithoutRoles.into());
        };
        let mut words = vec![format!("--array={indices}"), "--nodes=1".to_owned()];
        words.extend(options.iter().cloned());
        Ok(Job::submit(&words, what, driver)?)
    }

    /// The arguments of sbatch for a job with these nodes.
    fn arguments(&self, wanted: &NodesWanted) -> Result<Vec<String>, Misuse> {
        let parts = &self.words.0;
        match wanted {
            NodesWanted::Nodes if parts.len() > 1 => Err(Misuse::PartsWithoutRoles),
            NodesWanted::Nodes => Ok(parts[0].clone()),
            NodesWanted::Roles(roles) if parts.len() > 1 && parts.len() != roles.len() => {
                Err(Misuse::OtherParts { parts: parts.len(), roles: roles.len() })
            }
            NodesWanted::Roles(roles) if parts.len() == 1 => {
                let named: Vec<&str> = roles.iter().copied().flatten().collect();
                let mut words = vec![format!("--nodes={}", roles.len())];
                words.extend((!named.is_empty()).then(|| format!("--nodelist={}", named.join(","))));
                words.extend(parts[0].iter().cloned());
                Ok(words)
            }
            NodesWanted::Roles(roles) => {
                let mut words = Vec::new();
                for (nth, (role, part)) in roles.iter().zip(parts).enumerate() {
                    // Options before the first colon are those of the whole job.
                    words.extend(
                        (nth > 0).then_some([":", "--exclusive"]).into_iter().flatten().map(str::to_owned),
                    );
                    words.push("--nodes=1".to_owned());
                    words.extend(role.map(|name| format!("--nodelist={name}")));
                    words.extend(part.iter().cloned());
                }
                Ok(words)
            }
        }
    }
}

/// The number of the Slurm job that this process is in, by `SLURM_JOB_ID`; none outside of a job.
pub fn own_job() -> Option<String> {
    std::env::var("SLURM_JOB_ID").ok().filter(|id| !id.is_empty())
}

/// The name of the job's node that this process is on; none if it is in no job, or on none of its nodes, as after
/// `salloc`.
pub(crate) fn own_node() -> Option<String> {
    own_job().and_then(|_| std::env::var("SLURMD_NODENAME").ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// sbatch's arguments for these options, or the error.
    fn arguments(options: &str, wanted: &NodesWanted) -> String {
        let options = SlurmOptions { words: options.parse().unwrap(), queue_timeout: Duration::from_secs(1) };
        options.arguments(wanted).map_or_else(|misuse| misuse.to_string(), |words| words.join(" "))
    }

    #[test]
    fn sbatch_is_given_the_options_and_the_nodes_of_roles() {
        let named = NodesWanted::Roles(vec![Some("n3"), None]);
        for (options, wanted, expected) in [
            ("", &NodesWanted::Nodes, ""),
            ("--nodes=4 --comment='a b'", &NodesWanted::Nodes, "--nodes=4 --comment=a b"),
            ("-p x", &named, "--nodes=2 --nodelist=n3 -p x"),
            (
                "-C bench : -C load",
                &named,
                "--nodes=1 --nodelist=n3 -C bench : --exclusive --nodes=1 -C load",
            ),
            ("a : b : c", &named, "--slurm: options for 3 nodes, and roles for 2"),
            ("a : b", &NodesWanted::Nodes, "--slurm: ':' is for the nodes of roles"),
        ] {
            assert_eq!(arguments(options, wanted), expected);
        }
        for text in ["'", "--time=5 \\"] {
            assert_eq!(text.parse::<SbatchWords>(), Err(UnclosedQuote), "{text}");
        }
    }
}
