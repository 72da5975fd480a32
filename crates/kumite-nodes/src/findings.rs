//! The facts of nodes, asked of their agents: `kumite doctor --on`.

use std::sync::atomic::AtomicBool;

use kumite_agent::{Link, Node, Program, Way};
use kumite_record::NodeFindings;

use crate::failure::Failure;

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
