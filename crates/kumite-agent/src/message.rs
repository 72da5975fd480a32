//! What driver and agent say to each other.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

/// The version of all that is below. Another one is an error on either side.
pub const PROTOCOL: u32 = 3;

/// What a driver asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// To make room for a run, or to go on with what is there of it.
    Begin {
        /// Which run and shard it is: 16 to 64 hexadecimal digits.
        key: String,
    },
    /// To write a piece of a file: it begins where the one before it ended.
    File {
        /// Relative to the run's folder.
        path: String,
        /// Whether it may be executed.
        executable: bool,
        /// Whether it is the first piece.
        first: bool,
        /// What is in it, in base64.
        data: String,
    },
    /// To execute a share of a run, or what is left of it.
    Run {
        /// The experiment's folder, relative to the run's.
        experiment: String,
        /// What else `kumite run` is to be given.
        arguments: Vec<String>,
    },
    /// To have a role in a run of an experiment.
    Role {
        /// The experiment's folder, relative to the run's.
        experiment: String,
    },
    /// To do something for its role.
    Work {
        /// What: JSON.
        work: String,
    },
    /// What came of work that a run there asked another node to do.
    Relayed {
        /// That.
        worked: Worked,
        /// For how long that node could not be reached, since the work before it.
        cut_off_ms: u64,
    },
    /// Nothing: the driver is there.
    Alive,
    /// To send its results store.
    Store,
    /// To say what the node can and cannot give: a list of findings, as JSON.
    Facts,
    /// To keep nothing of the run.
    Forget,
}

/// What came of a node's work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worked {
    /// Its answer: JSON.
    Answer(String),
    /// Why it could not be done.
    Failed(String),
    /// Why the node is not there any more.
    Lost(String),
}

/// What an agent tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Tell {
    /// That it is there: the first frame.
    Hello {
        /// The version of the protocol.
        protocol: u32,
        /// kumite's own.
        kumite: String,
        /// The address of the node that the driver came to, and the driver's own as it is seen there, if that is known.
        addresses: Option<(Ipv4Addr, Ipv4Addr)>,
    },
    /// That it is there still.
    Alive {
        /// When that was, by its clock.
        at_ms: u64,
    },
    /// Something that kumite says on the node while it works.
    Note {
        /// In a line.
        text: String,
    },
    /// What came of something for its role.
    Worked {
        /// That.
        worked: Worked,
    },
    /// Work that a run here asks another node to do.
    Relay {
        /// Which: by the name of its host.
        node: String,
        /// What: JSON.
        work: String,
    },
    /// That what was asked for is done.
    Done {
        /// How kumite ended; none if nothing was started.
        status: Option<i32>,
    },
    /// A piece of what it was asked to send.
    Data {
        /// What is in it, in base64.
        data: String,
        /// Whether there is more to come.
        more: bool,
    },
    /// That it cannot do what was asked.
    Failed {
        /// Why.
        why: String,
    },
}
