//! `--on slurm`: nodes of a Slurm cluster, by Slurm's own commands.

mod ask;
mod job;
mod nodes;

use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_agent::Node;
use kumite_lab::humane;

use crate::exit::Failure;
use crate::{duration, output};

pub use job::{Job, State, Task, wait};
pub use nodes::nodes_of;

#[derive(Clone, clap::Args)]
pub struct Options {
    /// With --on slurm: options for sbatch, e.g. '--partition=bench --time=60 --nodes=4'. With --role, 'OPTIONS : OPTIONS' gives
    /// each role's node its own, in the order of the roles
    #[arg(
        long = "slurm",
        value_name = "OPTIONS",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    options: Words,
    /// With --on slurm: give up if the job has not begun after this time
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "1h")]
    queue_timeout: Duration,
}

/// What sbatch is to be given for each part of a job.
#[derive(Clone, Debug, PartialEq)]
struct Words(Vec<Vec<String>>);

impl FromStr for Words {
    type Err = String;

    fn from_str(text: &str) -> Result<Words, String> {
        let words = shlex::split(text).ok_or("a quotation mark is not closed")?;
        Ok(Words(words.split(|word| word == ":").map(<[String]>::to_vec).collect()))
    }
}

/// What nodes a job is to have.
#[derive(Debug)]
pub enum Wanted<'a> {
    /// As many as the options say, or one.
    Nodes,
    /// One for each role; its name, where the user gave one.
    Roles(Vec<Option<&'a str>>),
}

/// Nodes of a job, and the job if it is ours: it ends with this.
pub struct Allocation {
    pub nodes: Vec<Node>,
    pub job: Job,
}

impl Options {
    /// Whether any are given that make sense with Slurm alone.
    pub fn are_given(&self) -> bool {
        self.options.0.iter().any(|words| !words.is_empty())
    }

    /// The nodes of the job that we are in, or those of a new one.
    pub fn allocate(&self, wanted: &Wanted, what: &str, stop: &AtomicBool) -> Result<Allocation, Failure> {
        let job = match own_job() {
            Some(_) if self.are_given() => {
                let why = "--slurm: this is inside a job already, whose nodes are used; leave --slurm, or submit from outside of it";
                return Err(Failure::Usage(why.to_owned()));
            }
            Some(id) => Job::found(id),
            None => self.submit(&self.words(wanted)?, what, stop)?,
        };
        let tasks = job.begun(self.queue_timeout, stop).map_err(Failure::Incomplete)?;
        let nodes = nodes_of(&tasks, stop).map_err(Failure::Incomplete)?;
        let named: Vec<&str> = nodes.iter().map(Node::name).collect();
        output::note(&format!("job {} has {}", job.id(), named.join(", ")));
        if let Some(left) = tasks.iter().filter_map(|task| task.left).min() {
            output::note(&format!("job {} ends in {} at the latest", job.id(), humane(left)));
        }
        Ok(Allocation { nodes, job })
    }

    /// An array of so many jobs of one node.
    pub fn array(&self, indices: &str, what: &str, stop: &AtomicBool) -> Result<Job, Failure> {
        let [options] = &self.options.0[..] else {
            return Err(Failure::Usage("--slurm: ':' is for roles".to_owned()));
        };
        let mut words = vec![format!("--array={indices}"), "--nodes=1".to_owned()];
        words.extend(options.iter().cloned());
        self.submit(&words, what, stop)
    }

    /// For how long a job may wait.
    pub fn queue_timeout(&self) -> Duration {
        self.queue_timeout
    }

    fn submit(&self, words: &[String], what: &str, stop: &AtomicBool) -> Result<Job, Failure> {
        Job::submit(words, what, stop).map_err(Failure::Incomplete)
    }

    fn words(&self, wanted: &Wanted) -> Result<Vec<String>, Failure> {
        let parts = &self.options.0;
        match wanted {
            Wanted::Nodes if parts.len() > 1 => {
                Err(Failure::Usage("--slurm: ':' is for the nodes of roles".to_owned()))
            }
            Wanted::Nodes => Ok(parts[0].clone()),
            Wanted::Roles(roles) if parts.len() > 1 && parts.len() != roles.len() => Err(Failure::Usage(
                format!("--slurm: options for {} nodes, and roles for {}", parts.len(), roles.len()),
            )),
            Wanted::Roles(roles) if parts.len() == 1 => {
                let named: Vec<&str> = roles.iter().copied().flatten().collect();
                let mut words = vec![format!("--nodes={}", roles.len())];
                words.extend((!named.is_empty()).then(|| format!("--nodelist={}", named.join(","))));
                words.extend(parts[0].iter().cloned());
                Ok(words)
            }
            Wanted::Roles(roles) => {
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

/// The job that this process is in.
pub fn own_job() -> Option<String> {
    std::env::var("SLURM_JOB_ID").ok().filter(|id| !id.is_empty())
}

/// The node of it that this process is on.
pub fn own_node() -> Option<String> {
    own_job().and_then(|_| std::env::var("SLURMD_NODENAME").ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(options: &str, wanted: &Wanted) -> Result<String, String> {
        let options = Options { options: options.parse()?, queue_timeout: Duration::from_secs(1) };
        options.words(wanted).map(|words| words.join(" ")).map_err(|failure| failure.to_string())
    }

    #[test]
    fn what_sbatch_is_given() {
        let named = Wanted::Roles(vec![Some("n3"), None]);
        assert_eq!(words("", &Wanted::Nodes), Ok(String::new()));
        assert_eq!(
            words("--nodes=4 --comment='a b'", &Wanted::Nodes),
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
            ("a : b", &Wanted::Nodes, "--slurm: ':' is for the nodes of roles"),
        ] {
            assert_eq!(words(options, wanted), Err(expected.to_owned()));
        }
    }
}
