//! An agent on a node that has a role.
//!
//! The link lives as long as the run. A node that answers "I cannot" fails the trial that asked. A node that is lost
//! (its link broke, 30 s passed without a sign, or work had no answer in time) ends the run as Ctrl-C does: nothing
//! is measured without it, and what was measured is kept. When a [`Linked`] is dropped, its agent ends its services
//! and removes its files.

use std::net::Ipv4Addr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use kumite_agent::{Ask, Link, Node, Program, Worked};
use kumite_lab::{Experiment, Fault, Talk, chain};

use crate::driver::Driver;
use crate::failure::Failure;
use crate::fresh_key::fresh_key;
use crate::on::sent_folders;

/// The most time without a word from a node while it gets ready: a build may take long.
const READYING: Duration = Duration::from_secs(30 * 60);
/// The most time without a word from a node that is ready. To start a service takes longest.
const WORKING: Duration = Duration::from_secs(3 * 60);

/// The links to the other nodes, for a run on the engine's node.
pub(crate) struct Relays(pub(super) Vec<Linked>);

impl Relays {
    /// Asks a node on behalf of the run. Returns the frame with its answer, also if the node is unknown or lost.
    pub fn answer(&mut self, node: &str, work: &str) -> Ask {
        let Some(linked) = self.0.iter_mut().find(|linked| linked.name == node) else {
            return Ask::Relayed {
                worked: Worked::Failed(format!("there is no node {node}")),
                cut_off_ms: 0,
            };
        };
        let worked = linked.work(work);
        let cut_off_ms = u64::try_from(linked.cut_off().as_millis()).unwrap_or(u64::MAX);
        Ask::Relayed { worked, cut_off_ms }
    }
}

/// An agent that has a role.
pub(super) struct Linked {
    pub name: String,
    /// The link; none once it is closed.
    link: Option<Link>,
    /// The node's address, and this machine's as it is seen there.
    pub addresses: (Ipv4Addr, Ipv4Addr),
    driver: Driver,
    is_ready: bool,
    /// The folder for the log of the way there. It lives as long as the link may write to it.
    _log: tempfile::TempDir,
}

impl Linked {
    pub fn to(
        node: &Node,
        program: &Program,
        experiment: &Experiment,
        driver: &Driver,
    ) -> Result<Linked, Failure> {
        let folder = tempfile::tempdir().map_err(Failure::Scratch)?;
        let log = folder.path().join("way.log");
        let name = node.name().to_owned();
        let stop = &driver.stop;
        let mut link = driver.link(node, program, &log, stop)?;
        let (named, folders) = sent_folders(experiment)?;
        let addresses = link.addresses()?;
        link.prepare(&fresh_key(), &folders, stop)?;
        link.role(&named, stop)?;
        let driver = driver.clone();
        Ok(Linked { name, link: Some(link), addresses, driver, is_ready: false, _log: folder })
    }

    fn work(&mut self, work: &str) -> Worked {
        let limit = if self.is_ready { WORKING } else { READYING };
        let name = &self.name;
        let driver = &self.driver;
        let mut note = |text: &str| driver.note(&format!("{name}: {text}"));
        let Some(link) = &mut self.link else { return Worked::Lost(format!("{name}: it is closed")) };
        let worked = link.work(work, limit, &mut note, &driver.stop);
        self.is_ready = true;
        worked.unwrap_or_else(|lost| Worked::Lost(chain(&lost)))
    }
}

impl Drop for Linked {
    /// Closes the link. The agent removes what it was sent before it ends.
    fn drop(&mut self) {
        self.link.take().into_iter().for_each(Link::close);
    }
}

impl Talk for Linked {
    fn answer(&mut self, work: &str) -> Result<String, Fault> {
        answered(self.work(work), &self.driver)
    }

    fn cut_off(&mut self) -> Duration {
        self.link.as_mut().map_or(Duration::ZERO, Link::cut_off)
    }
}

/// The answer of a node, or the fault. If the node is lost, `stop` is set, and the run ends.
pub(super) fn answered(worked: Worked, driver: &Driver) -> Result<String, Fault> {
    match worked {
        Worked::Answer(answer) => Ok(answer),
        Worked::Failed(why) => Err(Fault::new(why)),
        Worked::Lost(why) => {
            if !driver.stop.swap(true, Ordering::Relaxed) {
                driver.note(&format!("{why}; the run ends here"));
            }
            Err(Fault::new(why))
        }
    }
}
