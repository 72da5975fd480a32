//! The questions to a node that has a role, with the type of each answer.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use kumite_record::{self as record, Cores, Machine, Mark, Roles, Void};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::credentials::Credentials;
use crate::parameter::Parameters;

/// A question to a node that has a role.
pub(crate) trait Ask: Into<Work> {
    /// The type of the question's answer.
    type Answer: Serialize + DeserializeOwned;
}

/// Declares the questions: each is a struct, a variant of [`Work`], and has one type of answers.
macro_rules! questions {
    ($($(#[$about:meta])* $name:ident { $($field:ident: $kind:ty),* } -> $answer:ty;)*) => {
        $(
            $(#[$about])*
            #[derive(Debug, Deserialize, Serialize)]
            #[serde(deny_unknown_fields)]
            pub(crate) struct $name {
                $(pub $field: $kind),*
            }

            impl Ask for $name {
                type Answer = $answer;
            }

            impl From<$name> for Work {
                fn from(question: $name) -> Work {
                    Work::$name(question)
                }
            }
        )*

        /// Any question to a node.
        #[derive(Debug, Deserialize, Serialize)]
        #[serde(tag = "do", rename_all = "kebab-case")]
        pub(crate) enum Work {
            $($name($name)),*
        }
    };
}

questions! {
    /// Get ready for the roles.
    Prepare {
        profile: String, roles: Roles, only: Vec<String>, skip: Vec<String>, unplanned: Vec<String>, install: bool
    } -> Readied;
    /// Start the services, which are to listen at `host`, for contenders that come from `clients`. The answer has the
    /// variables that lead a contender to them.
    StartServices { parameters: Parameters, host: Ipv4Addr, clients: Vec<Ipv4Addr>, log: String }
        -> Vec<(String, String)>;
    /// Start the services' counts from zero.
    BeginServices {} -> ();
    /// End the services that were started.
    EndServices {} -> ServicesEnded;
    /// Start a contender, with these credentials if it is to speak TLS. The answer is the port that it has to listen
    /// on.
    StartServer {
        contender: String, host: Ipv4Addr, env: Vec<(String, String)>, credentials: Option<Credentials>,
        cores: Vec<usize>, log: String
    } -> u16;
    /// Look at the server's processes as they are now.
    LookAtServer {} -> ServerSample;
    /// Give the end of the server's log.
    LastLines {} -> String;
    /// Say whether the server itself listens on its port. The answer is the reason to think that it does not, or
    /// none.
    OwnPort {} -> Option<String>;
    /// Say in words on which wrong address the server listens. The answer is none if it listens on no wrong address.
    ListensElsewhere {} -> Option<String>;
    /// Say on which address the server listens.
    Listening {} -> String;
    /// Stop all processes of the server. The answer is true if that succeeded.
    Pause {} -> bool;
    /// Let the server's processes go on. The answer is always true.
    Resume {} -> bool;
    /// Start to watch the node.
    BeginWatch {} -> ();
    /// Give the figures and marks since the watch began.
    EndWatch {} -> NodeNoise;
    /// End the server.
    StopServer {} -> ServerEnded;
    /// Probe the machine of the node, just before a trial. The answer has the figures by name.
    ProbeMachine {} -> BTreeMap<String, f64>;
    /// Start to observe whether the node stands still.
    BeginTrial {} -> ();
    /// End the observation of a trial. The answer is the reason why the trial is void, or none.
    EndTrial {} -> Option<Void>;
}

/// The answer of a node that is ready for its roles.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Readied {
    pub contenders: Vec<record::Contender>,
    pub services: Vec<record::Service>,
    /// The CPUs that a contender may have on the node.
    pub cores: Cores,
    pub machine: Machine,
    /// The port of a stub that answers at once, by which the way to the node and back is timed; 0 on a node that does
    /// not have the role of the server.
    pub echo_port: u16,
}

/// The state of a server at one look.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ServerSample {
    /// The way in which the server ended, in words. None if it still runs.
    pub exited: Option<String>,
    /// A sentence on a log that has become too long. None if it has not.
    pub too_much: Option<String>,
    pub cpu_ns: u64,
    pub peak_rss_bytes: u64,
    /// The time of the look since the server's start, in ns by the clock of the node.
    pub at_ns: u64,
}

/// The noise from outside on a node.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct NodeNoise {
    pub figures: BTreeMap<String, f64>,
    pub marks: Vec<Mark>,
}

/// The end of a server.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ServerEnded {
    /// A sentence on a fault in how the server ended, or on a file that it wrote into the caches of the node. None if
    /// there is neither.
    pub wrong: Option<String>,
    /// The end of the server's log.
    pub log: String,
}

/// The end of the services on a node.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ServicesEnded {
    pub metrics: BTreeMap<String, f64>,
    /// The noise while the services ran. Empty on a node that has the server, too: there the watch of the server sees
    /// it.
    pub seen: NodeNoise,
}
