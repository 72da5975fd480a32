//! What nodes can and cannot give, asked of their agents: `kumite doctor --on`.

use std::sync::atomic::AtomicBool;

use kumite_agent::{Link, Node, Program, Way};
use kumite_host::Finding;
use serde::Serialize;

use crate::failure::Failure;

/// The findings of kumite's doctor on a node.
#[derive(Debug, Serialize)]
pub struct NodeFindings {
    /// The node's name.
    pub node: String,
    /// In the order in which its doctor gives them.
    pub findings: Vec<Finding>,
}

/// Asks all nodes, one after the other. Their agents are of this version.
pub fn findings(nodes: &[Node], version: &str, stop: &AtomicBool) -> Result<Vec<NodeFindings>, Failure> {
    let kumite = Program::own()?;
    let log = tempfile::NamedTempFile::new().map_err(Failure::Scratch)?;
    let ask = |node: &Node| {
        let way = Way::To(node, &kumite);
        let node = node.name().to_owned();
        let mut link = Link::open(&node, &way, version, log.path(), stop)?;
        let facts = link.facts(stop)?;
        link.close();
        match serde_json::from_slice(&facts) {
            Ok(findings) => Ok(NodeFindings { node, findings }),
            Err(source) => Err(Failure::Findings { node, source }),
        }
    };
    nodes.iter().map(ask).collect()
}
