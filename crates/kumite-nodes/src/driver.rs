use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kumite_agent::{Link, Node, Program, Way};

/// Who has other nodes work.
#[derive(Clone, Debug)]
pub struct Driver {
    /// Its version, which agents must have, too.
    pub version: &'static str,
    /// Is told of what takes long, and of what came of it.
    pub note: fn(&str),
    /// Is set when all is to end.
    pub stop: Arc<AtomicBool>,
}

impl Driver {
    /// Tells whoever watches.
    pub(crate) fn note(&self, text: &str) {
        (self.note)(text);
    }

    /// Goes to a node's agent. What the way there says is written to `log`.
    pub(crate) fn link(
        &self,
        node: &Node,
        program: &Program,
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<Link, String> {
        let name = node.name();
        let link = Link::open(name, &Way::To(node, program), self.version, log, stop)?;
        self.note(&format!("{name}: connected in {:.1} s", link.connected_in.as_secs_f64()));
        Ok(link)
    }
}
