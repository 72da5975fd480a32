//! The messages between a driver and an agent, each a [frame](crate::encode).
//!
//! The agent speaks first: `Hello`, once. Then the driver asks one thing at a time, and waits for its end before it
//! asks the next. `Begin`, `File` and `Relayed` have no answer, so that files travel without a round trip each; if
//! one of them goes wrong, `Failed` says so instead of the next answer. All else ends with just one frame:
//!
//! | asked | ends with | may be before that |
//! | --- | --- | --- |
//! | `Run` | `Done` | `Note`; `Relay`, which the driver answers by `Relayed` |
//! | `Role`, `Forget` | `Done` | |
//! | `Work`, once there is a role | `Worked` | `Note` |
//! | `Store`, `Facts` | `Data` with `more: false` | `Data` with `more: true` |
//!
//! `Failed` may stand for any end; it ends what was asked and not the agent. After `Role` only `Work` is asked:
//! anything else ends the role. `Alive` goes both ways, at any time, each second, and answers nothing.
//!
//! Each broken channel means one thing. The agent's input ends, or brings nothing for 30 s: the driver is gone, and
//! the agent ends what it started and itself. The agent's output ends, or brings nothing for 30 s: the node is lost,
//! and the driver keeps what has arrived whole. Both sides are one version of kumite, which `Hello` makes sure of; so
//! there is no negotiation, and an unknown field is an error.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

/// The version of the protocol, raised with any change of the messages. A driver refuses an agent of another version.
pub const PROTOCOL: u32 = 3;

/// A message from the driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// Make room for a run, or go on with a run of which a part is on the node already. All other questions but `Alive`
    /// and `Facts` are about this run.
    Begin {
        /// The key of the run and the share: 16 to 64 hexadecimal digits.
        key: String,
    },
    /// Write a piece of a file. The pieces of a file come in order, one after the other.
    File {
        /// The path of the file, relative to the run's folder and below it.
        path: String,
        /// True if the file's owner may execute it. Nobody else may read it in any case.
        executable: bool,
        /// True for the first piece of the file, which replaces a file of that path.
        first: bool,
        /// The bytes of the piece, at most 512 KiB, in base64.
        data: String,
    },
    /// Execute a run, or a share of a run. If the node has begun the run before, only the rest is executed.
    Run {
        /// The experiment's folder, relative to the run's.
        experiment: String,
        /// The flags for `kumite run` on the node.
        arguments: Vec<String>,
    },
    /// Take a role in a run of an experiment, until the driver is gone.
    Role {
        /// The experiment's folder, relative to the run's.
        experiment: String,
    },
    /// Do something for the role that was taken.
    Work {
        /// The question, as JSON of kumite-lab.
        work: String,
    },
    /// The outcome of the work that a `Relay` asked of another node.
    Relayed {
        /// The outcome as that node's agent told it, or `Lost`.
        worked: Worked,
        /// The time, in milliseconds, for which the node could not be reached since the work before this one.
        cut_off_ms: u64,
    },
    /// The driver is alive.
    Alive,
    /// Send the run's store.
    Store,
    /// Send what the node can and cannot give: a list of findings, as JSON.
    Facts,
    /// Remove everything that the node has of the run.
    Forget,
}

/// The outcome of a node's work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worked {
    /// The answer, as JSON of kumite-lab.
    Answer(String),
    /// The reason why the work could not be done. The node is still there.
    Failed(String),
    /// The reason why the node is lost. A driver says it, and never the agent of that node.
    Lost(String),
}

/// A message from the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Tell {
    /// The first frame of an agent.
    Hello {
        /// The version of the protocol that the agent speaks ([`PROTOCOL`]). The driver takes no other than its own.
        protocol: u32,
        /// The agent's version of kumite.
        kumite: String,
        /// The node's address by which the driver came, and the driver's own address as the node sees it. `None` if
        /// neither sshd nor the driver gave them as IPv4.
        addresses: Option<(Ipv4Addr, Ipv4Addr)>,
    },
    /// The agent is alive, and its node does not stand still.
    Alive {
        /// The time at which the frame was made, in ms since the agent began, by the agent's clock.
        at_ms: u64,
    },
    /// A note for the user of the driver.
    Note {
        /// The text of the note, one line.
        text: String,
    },
    /// The end of a `Work`.
    Worked {
        /// The outcome, an answer or a failure.
        worked: Worked,
    },
    /// The run that the agent executes asks another node for work. Only the driver can reach that node.
    Relay {
        /// The name of the other node's host.
        node: String,
        /// The question, as JSON of kumite-lab.
        work: String,
    },
    /// The end of a `Run`, `Role` or `Forget`.
    Done {
        /// The exit status of kumite, or -1 if a signal ended it. `None` if nothing had to be started.
        status: Option<i32>,
    },
    /// A piece of what was asked for.
    Data {
        /// The bytes of the piece, at most 512 KiB, in base64.
        data: String,
        /// False for the last piece, which may be empty.
        more: bool,
    },
    /// The end of a question that the agent cannot answer.
    Failed {
        /// The cause, and the file if there is one.
        why: String,
    },
}
