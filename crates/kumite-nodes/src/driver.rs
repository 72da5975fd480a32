//! The driver: the side that asked for a run on other nodes, and watches it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kumite_agent::{Link, Node, Program, Way};

/// The side that asked for a run on other nodes.
#[derive(Clone, Debug)]
pub struct Driver {
    /// The driver's version of kumite, which agents must have, too.
    pub version: &'static str,
    /// Gets news, one line at a time: the progress of a node, a job that waits, a node that is lost.
    pub note: fn(&str),
    /// True once everything is to end. The caller sets it, or this crate when a node with a role is lost. It is seen
    /// within a second.
    pub stop: Arc<AtomicBool>,
}

impl Driver {
    /// Gives a line of news to `note`.
    pub(crate) fn note(&self, text: &str) {
        (self.note)(text);
    }

    /// Connects to a node's agent. Standard error of the way there, such as ssh's, is written to `log`.
    pub(crate) fn link(
        &self,
        node: &Node,
        program: &Program,
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<Link, kumite_agent::Error> {
        let name = node.name();
        let link = Link::open(name, &Way::To(node, program), self.version, log, stop)?;
        self.note(&format!("{name}: connected in {:.1} s", link.connected_in.as_secs_f64()));
        Ok(link)
    }
}
