//! `--on`: the hosts on which something is done, and the folders that they need.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use kumite_agent::{Error as AgentError, Folder, Host, Node, NotAHost};
use kumite_lab::Experiment;

use crate::driver::Driver;
use crate::failure::Failure;
use crate::slurm::{Allocation, NodesWanted, SlurmOptions};

/// The place where something is done.
#[derive(Clone, Debug, PartialEq)]
pub enum On {
    /// This machine.
    Local,
    /// These hosts, by ssh. None is named twice.
    Ssh(Vec<Host>),
    /// Nodes of a Slurm cluster.
    Slurm,
}

/// The reason why a text is no place for `--on`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotAPlace {
    /// The text has none of the forms of `--on`.
    #[error("write local, ssh:HOST,HOST or slurm")]
    Form,
    /// A text between the commas cannot be a host.
    #[error(transparent)]
    Host(#[from] NotAHost),
    /// A host is named twice.
    #[error("{0} is named twice, and a host has one share")]
    Twice(String),
}

impl FromStr for On {
    type Err = NotAPlace;

    fn from_str(text: &str) -> Result<On, NotAPlace> {
        match text {
            "local" => return Ok(On::Local),
            "slurm" => return Ok(On::Slurm),
            _ => {}
        }
        let hosts = text.strip_prefix("ssh:").ok_or(NotAPlace::Form)?;
        let hosts: Vec<Host> = hosts.split(',').map(str::parse).collect::<Result<_, _>>()?;
        match hosts.iter().enumerate().find(|(nth, host)| hosts[..*nth].contains(host)) {
            Some((_, twice)) => Err(NotAPlace::Twice(twice.name().to_owned())),
            None => Ok(On::Ssh(hosts)),
        }
    }
}

impl On {
    /// The nodes; no node for `local`. With Slurm, the nodes are those of the job that this process is in, or else of a
    /// new job, which has `what` in its name and is waited for. An error if Slurm gives no nodes in time, if its
    /// options do not fit, or if the waiting is interrupted. The nodes of a job are not counted.
    pub fn allocate(
        &self,
        slurm: &SlurmOptions,
        wanted: &NodesWanted,
        what: &str,
        driver: &Driver,
    ) -> Result<Allocation, Failure> {
        match self {
            On::Local => Ok(Allocation { nodes: Vec::new(), job: None }),
            On::Ssh(hosts) => {
                Ok(Allocation { nodes: hosts.iter().cloned().map(Node::Ssh).collect(), job: None })
            }
            On::Slurm => slurm.allocate(wanted, what, driver),
        }
    }
}

/// The path of the experiment's folder on a node, and all folders and files to send: the experiment's, the `kits`
/// beside `experiments`, and others that contenders use. Their relative paths are the same on the node as here.
pub(crate) fn sent_folders(of: &Experiment) -> Result<(String, Vec<Folder>), Failure> {
    let canonical = |path: &Path| path.canonicalize().map_err(AgentError::cannot("send", path));
    let experiment = canonical(&of.folder)?;
    let root = experiment.ancestors().nth(2).unwrap_or(Path::new("/")).to_owned();
    let mut wanted = vec![experiment.clone()];
    wanted.extend(Some(root.join("kits")).filter(|kits| kits.is_dir()));
    for contender in &of.contenders {
        for used in &contender.uses {
            let used = canonical(&contender.folder.join(used))?;
            if wanted.iter().all(|folder| !used.starts_with(folder)) {
                wanted.push(used);
            }
        }
    }
    let named = |from: PathBuf| {
        let within = from.strip_prefix(&root).ok().and_then(Path::to_str);
        match within.map(str::to_owned) {
            Some(to) => Ok(Folder { from, to }),
            None => Err(Failure::Elsewhere { folder: from, root: root.clone() }),
        }
    };
    let folders: Vec<Folder> = wanted.into_iter().map(named).collect::<Result<_, Failure>>()?;
    Ok((folders[0].to.clone(), folders))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_once_each() {
        let parse = str::parse::<On>;
        assert_eq!((parse("local"), parse("slurm")), (Ok(On::Local), Ok(On::Slurm)));
        let Ok(On::Ssh(hosts)) = parse("ssh:n1,root@n2") else { panic!("no hosts") };
        assert_eq!(hosts.iter().map(Host::name).collect::<Vec<_>>(), ["n1", "root@n2"]);
        for text in ["", "ssh:", "ssh:a,a", "ssh:a,,b", "slurm:a", "ssh:-a"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
