//! `--on slurm`: nodes of a Slurm cluster, by Slurm's own commands.

mod ask;
mod job;
mod nodes;

use std::str::FromStr;
use std::time::Duration;

use kumite_agent::Node;
use kumite_lab::humane;

use crate::driver::Driver;
use crate::failure::Failure;

pub(crate) use job::{Job, State, Task, wait};
pub(crate) use nodes::nodes_of;

/// What one says of jobs.
#[derive(Clone, Debug)]
pub struct SlurmOptions {
    /// For sbatch.
    pub words: SbatchWords,
    /// For how long a job may wait.
    pub queue_timeout: Duration,
}

/// What sbatch is to be given for each part of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct SbatchWords(Vec<Vec<String>>);

impl FromStr for SbatchWords {
    type Err = String;

    fn from_str(text: &str) -> Result<SbatchWords, String> {
        let words = shlex::split(text).ok_or("a quotation mark is not closed")?;
        Ok(SbatchWords(words.split(|word| word == ":").map(<[String]>::to_vec).collect()))
    }
}

/// What nodes a job is to have.
#[derive(Debug)]
pub enum NodesWanted<'a> {
    /// As many as the options say, or one.
    Nodes,
    /// One for each role; its name, where the user gave one.
    Roles(Vec<Option<&'a str>>),
}

/// Nodes that are there for us until this is dropped.
pub struct Allocation {
    /// Which; none if it is all done here.
    pub nodes: Vec<Node>,
    /// The job that has them. If it is ours, it ends with this.
    pub(crate) job: Option<Job>,
}

impl SlurmOptions {
    /// Whether any are given that make sense with Slurm alone.
    pub fn are_given(&self) -> bool {
        self.words.0.iter().any(|words| !words.is_empty())
    }

    /// The nodes of the job that we are in, or those of a new one.
    pub(crate) fn allocate(
        &self,
        wanted: &NodesWanted,
        what: &str,
        driver: &Driver,
    ) -> Result<Allocation, Failure> {
        let job = match own_job() {
            Some(_) if self.are_given() => {
                let why = "--slurm: this is inside a job already, whose nodes are used; leave --slurm, or submit from outside of it";
                return Err(Failure::Usage(why.to_owned()));
            }
            Some(id) => Job::found(id, driver),
            None => submit(&self.words_for(wanted)?, what, driver)?,
        };
        let tasks = job.begun(self.queue_timeout).map_err(Failure::Incomplete)?;
        let nodes = nodes_of(&tasks, &driver.stop).map_err(Failure::Incomplete)?;
        let named: Vec<&str> = nodes.iter().map(Node::name).collect();
        driver.note(&format!("job {} has {}", job.id(), named.join(", ")));
        if let Some(left) = tasks.iter().filter_map(|task| task.left).min() {
            driver.note(&format!("job {} ends in {} at the latest", job.id(), humane(left)));
        }
        Ok(Allocation { nodes, job: Some(job) })
    }

    /// An array of so many jobs of one node.
    pub(crate) fn array(&self, indices: &str, what: &str, driver: &Driver) -> Result<Job, Failure> {
        let [options] = &self.words.0[..] else {
            return Err(Failure::Usage("--slurm: ':' is for roles".to_owned()));
        };
        let mut words = vec![format!("--array={indices}"), "--nodes=1".to_owned()];
        words.extend(options.iter().cloned());
        submit(&words, what, driver)
    }

    fn words_for(&self, wanted: &NodesWanted) -> Result<Vec<String>, Failure> {
        let parts = &self.words.0;
        match wanted {
            NodesWanted::Nodes if parts.len() > 1 => {
                Err(Failure::Usage("--slurm: ':' is for the nodes of roles".to_owned()))
            }
            NodesWanted::Nodes => Ok(parts[0].clone()),
            NodesWanted::Roles(roles) if parts.len() > 1 && parts.len() != roles.len() => {
                Err(Failure::Usage(format!(
                    "--slurm: options for {} nodes, and roles for {}",
                    parts.len(),
                    roles.len()
                )))
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
                    // What is before the first colon is of the whole job.
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

fn submit(words: &[String], what: &str, driver: &Driver) -> Result<Job, Failure> {
    Job::submit(words, what, driver).map_err(Failure::Incomplete)
}

/// The job that this process is in.
pub fn own_job() -> Option<String> {
    std::env::var("SLURM_JOB_ID").ok().filter(|id| !id.is_empty())
}

/// The node of it that this process is on.
pub(crate) fn own_node() -> Option<String> {
    own_job().and_then(|_| std::env::var("SLURMD_NODENAME").ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(options: &str, wanted: &NodesWanted) -> Result<String, String> {
        let options = SlurmOptions { words: options.parse()?, queue_timeout: Duration::from_secs(1) };
        options.words_for(wanted).map(|words| words.join(" ")).map_err(|failure| failure.to_string())
    }

    #[test]
    fn what_sbatch_is_given() {
        let named = NodesWanted::Roles(vec![Some("n3"), None]);
        assert_eq!(words("", &NodesWanted::Nodes), Ok(String::new()));
        assert_eq!(
            words("--nodes=4 --comment='a b'", &NodesWanted::Nodes),
            Ok("--nodes=4 --comment=a b".to_owned())
        );
        assert_eq!(words("-p x", &named), Ok("--nodes=2 --nodelist=n3 -p x".to_owned()));
        assert_eq!(
            words("-C bench : -C load", &named),
            Ok("--nodes=1 --nodelist=n3 -C bench : --exclusive --nodes=1 -C load".to_owned())
        );
        for (options, wanted, expected) in [
            ("'", &named, "a quotation mark is not closed"),
            ("a : b : c", &named, "--slurm: options for 3 nodes, and roles for 2"),
            ("a : b", &NodesWanted::Nodes, "--slurm: ':' is for the nodes of roles"),
        ] {
            assert_eq!(words(options, wanted), Err(expected.to_owned()));
        }
    }
}
