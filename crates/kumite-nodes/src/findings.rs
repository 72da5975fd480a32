//! The facts of nodes, as `kumite doctor --on` shows them.

use std::sync::atomic::AtomicBool;

use kumite_agent::{Link, Node, Program, Way};
use kumite_record::NodeFindings;

use crate::failure::Failure;

/// Asks each node in turn for its facts, and returns them in the order of `nodes`. Agents must be of this version. An
/// error at the first node that fails; the nodes after it are not asked.
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
