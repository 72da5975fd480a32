//! The questions to a node that has a role, and the type of each answer.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use kumite_record::{self as record, Cores, Machine, Mark, Roles, Void};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::parameter::Parameters;

/// Something that a node with a role is asked.
pub(crate) trait Ask: Into<Work> {
    /// The type of its answer.
    type Answer: Serialize + DeserializeOwned;
}

/// Each question is a struct, a variant of [`Work`], and has one type of answers.
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

        /// Any of them.
        #[derive(Debug, Deserialize, Serialize)]
        #[serde(tag = "do", rename_all = "kebab-case")]
        pub(crate) enum Work {
            $($name($name)),*
        }
    };
}

questions! {
    /// To get ready for its roles.
    Prepare {
        profile: String, roles: Roles, only: Vec<String>, skip: Vec<String>, unplanned: Vec<String>, install: bool
    } -> Readied;
    /// To start the services, which are to listen at `host`, for contenders that come from `clients`. Answered by what tells
    /// a contender where they are.
    StartServices { parameters: Parameters, host: Ipv4Addr, clients: Vec<Ipv4Addr>, log: String }
        -> Vec<(String, String)>;
    /// To count from here on.
    BeginServices {} -> ();
    /// To end the services that it started.
    EndServices {} -> ServicesEnded;
    /// To start a contender. Answered by the port that it is to listen on.
    StartServer { contender: String, host: Ipv4Addr, env: Vec<(String, String)>, cores: Vec<usize>, log: String }
        -> u16;
    /// To look at the server's processes as they are now.
    LookAtServer {} -> ServerSample;
    /// The end of its log.
    LastLines {} -> String;
    /// It listens on its port itself; else the reason to think it does not.
    OwnPort {} -> Option<String>;
    /// To say where the server listens that it should not; none where it does not.
    ListensElsewhere {} -> Option<String>;
    /// To say on which address the server listens.
    Listening {} -> String;
    /// To stop all its processes. Answered by whether that succeeded.
    Pause {} -> bool;
    /// To let them go on. Answered by whether anybody was told.
    Resume {} -> bool;
    /// To watch the node from here on.
    BeginWatch {} -> ();
    /// The figures and marks since the watch began.
    EndWatch {} -> NodeNoise;
    /// To end the server.
    StopServer {} -> ServerEnded;
    /// What the node charges, just before a trial: figures by name.
    ProbeMachine {} -> BTreeMap<String, f64>;
    /// To see from here on whether the node is there.
    BeginTrial {} -> ();
    /// Answered by why the trial since then counts for nothing, if that is so.
    EndTrial {} -> Option<Void>;
}

/// The abilities of a node for its roles.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Readied {
    pub contenders: Vec<record::Contender>,
    pub services: Vec<record::Service>,
    /// The CPUs that a contender may have there.
    pub cores: Cores,
    pub machine: Machine,
    /// Where a stub of ours answers at once, to see how long the way there and back takes.
    pub echo_port: u16,
}

/// How a server is.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ServerSample {
    /// How it ended, if it has.
    pub exited: Option<String>,
    /// The fault of its log, if it has become too long.
    pub too_much: Option<String>,
    pub cpu_ns: u64,
    pub peak_rss_bytes: u64,
    /// When that was, by the clock of its node.
    pub at_ns: u64,
}

/// The noise from outside.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct NodeNoise {
    pub figures: BTreeMap<String, f64>,
    pub marks: Vec<Mark>,
}

/// A server after its end.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ServerEnded {
    /// The fault in how it ended.
    pub wrong: Option<String>,
    /// The end of its log.
    pub log: String,
}

/// Services after their end.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ServicesEnded {
    pub metrics: BTreeMap<String, f64>,
    pub seen: NodeNoise,
}
