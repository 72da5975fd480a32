//! Where an agent is started.

use crate::srun::JobNode;
use crate::ssh::Host;

/// A node, and by what one comes to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// The system's ssh.
    Ssh(Host),
    /// A step of a Slurm job.
    OfJob(JobNode),
}

impl Node {
    /// What users call it.
    pub fn name(&self) -> &str {
        match self {
            Node::Ssh(host) => host.name(),
            Node::OfJob(node) => &node.name,
        }
    }

    /// The command that runs a script there.
    pub(crate) fn command(&self, script: &str) -> String {
        match self {
            Node::Ssh(host) => host.command(script),
            Node::OfJob(node) => node.command(script),
        }
    }
}
