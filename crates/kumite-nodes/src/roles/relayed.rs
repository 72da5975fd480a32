//! The other nodes, for a run on the engine's node: its questions to them go back to the driver, since only the
//! driver has a way to them.
//!
//! A question is a frame on standard output, and its answer is the next line of standard input. If that input ends,
//! or brings anything else, the node counts as lost and the run ends: an answer is never guessed.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::net::Ipv4Addr;
use std::time::Duration;

use kumite_agent::{Ask, Tell, Worked, decode};
use kumite_lab::{Fault, Nodes, Remote, Talk};
use kumite_record::Role;
use serde::{Deserialize, Serialize};

use super::linked::answered;
use crate::driver::Driver;
use crate::frames::tell;

/// The other nodes of a run on the engine's node. The run gets them as JSON, in the flag that begins with
/// [`RELAYED`](crate::RELAYED).
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Relayed {
    pub(super) here: Ipv4Addr,
    pub(super) elsewhere: BTreeMap<Role, RelayedNode>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct RelayedNode {
    pub name: String,
    pub address: Ipv4Addr,
}

impl std::str::FromStr for Relayed {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Relayed, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl Relayed {
    pub(super) fn nodes(&self, driver: &Driver) -> Nodes {
        let mut remotes = BTreeMap::<&str, Remote>::new();
        let elsewhere = self.elsewhere.iter().map(|(role, RelayedNode { name, address })| {
            let relaying =
                || Relaying { node: name.clone(), cut_off: Duration::ZERO, driver: driver.clone() };
            let remote = remotes.entry(name).or_insert_with(|| Remote::new(name, *address, relaying()));
            (*role, remote.clone())
        });
        Nodes { here: self.here, elsewhere: elsewhere.collect(), echo: None }
    }
}

/// A node that only the driver reaches.
struct Relaying {
    node: String,
    cut_off: Duration,
    driver: Driver,
}

impl Talk for Relaying {
    fn answer(&mut self, work: &str) -> Result<String, Fault> {
        let asked = Tell::Relay { node: self.node.clone(), work: work.to_owned() };
        let ask = || {
            tell(&asked)?;
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line)?;
            Ok::<_, std::io::Error>(line)
        };
        let worked = match ask() {
            Ok(line) => match decode(line.trim_end().as_bytes()) {
                Ok(Ask::Relayed { worked, cut_off_ms }) => {
                    self.cut_off += Duration::from_millis(cut_off_ms);
                    worked
                }
                Ok(_) => Worked::Lost(format!("{}: something else was relayed than the answer", self.node)),
                Err(why) => Worked::Lost(format!("{}: the answer was relayed badly: {why}", self.node)),
            },
            Err(error) => Worked::Lost(format!("nobody relays to {}: {error}", self.node)),
        };
        answered(worked, &self.driver)
    }

    fn cut_off(&mut self) -> Duration {
        std::mem::take(&mut self.cut_off)
    }
}
