//! A node, and the way by which an agent is started there.

use crate::srun::JobNode;
use crate::ssh::Host;

/// A node, by the way to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// By the system's ssh.
    Ssh(Host),
    /// By a step of the Slurm job that has it.
    OfJob(JobNode),
}

impl Node {
    /// The name by which users know it.
    pub fn name(&self) -> &str {
        match self {
            Node::Ssh(host) => host.name(),
            Node::OfJob(node) => &node.name,
        }
    }

    /// A shell command that runs this script there, with its own standard input and output.
    pub(crate) fn command(&self, script: &str) -> String {
        match self {
            Node::Ssh(host) => host.command(script),
            Node::OfJob(node) => node.command(script),
        }
    }
}
