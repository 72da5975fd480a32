//! The way to a node of a Slurm job: a step that has all that the job has of the node, and keeps no other step
//! waiting.

use std::net::Ipv4Addr;

use crate::ssh::quoted;

/// The environment variable that tells an agent its node's IPv4 address and the driver's, with a space between them. It
/// is set for an agent that srun starts, because only sshd sets such a variable itself.
pub const ADDRESSES: &str = "KUMITE_ADDRESSES";

/// A node of a Slurm job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobNode {
    /// The number of the job; for a heterogeneous job, that of its first component.
    pub job: String,
    /// The number of the component that has the node, in a heterogeneous job. `None` in any other job.
    pub component: Option<u32>,
    /// The name of the node in Slurm.
    pub name: String,
    /// The node's address, and the driver's on the way there. `None` if Slurm knows no IPv4 address of the node, or
    /// this machine has none on the way there.
    pub addresses: Option<(Ipv4Addr, Ipv4Addr)>,
}

impl JobNode {
    /// A shell command that runs this script on the node, as a step of the job. The step has all that the job has of
    /// the node, since kumite itself pins what it starts to CPUs. It overlaps with other steps, which may be the
    /// agents of other roles.
    pub(crate) fn command(&self, script: &str) -> String {
        let addresses = self.addresses.map(|(own, driver)| format!("env {ADDRESSES}='{own} {driver}' "));
        format!(
            "exec srun --jobid={}{} --nodelist={} --nodes=1 --ntasks=1 --whole --overlap --cpu-bind=none --chdir=/ --quiet \
             {}sh -c {}",
            quoted(&self.job),
            self.component.map(|component| format!(" --het-group={component}")).unwrap_or_default(),
            quoted(&self.name),
            addresses.unwrap_or_default(),
            quoted(script)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_one_node_of_the_job_and_all_of_it() {
        let addresses = Some(([10, 0, 0, 2].into(), [10, 0, 0, 1].into()));
        let mut node = JobNode { job: "12".to_owned(), component: None, name: "n;1".to_owned(), addresses };
        let options = "--nodes=1 --ntasks=1 --whole --overlap --cpu-bind=none --chdir=/ --quiet";
        assert_eq!(
            node.command("echo 'a'"),
            format!(
                "exec srun --jobid=12 --nodelist='n;1' {options} env KUMITE_ADDRESSES='10.0.0.2 10.0.0.1' sh -c \"echo 'a'\""
            )
        );
        (node.addresses, node.component) = (None, Some(1));
        assert_eq!(
            node.command("x"),
            format!("exec srun --jobid=12 --het-group=1 --nodelist='n;1' {options} sh -c x")
        );
    }
}
