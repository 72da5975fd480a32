//! Nodes, and the commands that start an agent there.

use crate::srun::JobNode;
use crate::ssh::Host;

/// A node, and the way in which it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A host that the system's ssh reaches.
    Ssh(Host),
    /// A node of a Slurm job, reached by a step of the job.
    OfJob(JobNode),
}

impl Node {
    /// The name of the node, as users know it: the host as it was typed, or Slurm's name of the node.
    pub fn name(&self) -> &str {
        match self {
            Node::Ssh(host) => host.name(),
            Node::OfJob(node) => &node.name,
        }
    }

    /// A shell command that runs this script on the node, with its own standard input and output.
    pub(crate) fn command(&self, script: &str) -> String {
        match self {
            Node::Ssh(host) => host.command(script),
            Node::OfJob(node) => node.command(script),
        }
    }
}
