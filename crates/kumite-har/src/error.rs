//! The reasons why a recording cannot be made into a scenario.

use crate::limits::{LARGEST, MOST_REQUESTS};
use crate::origin::Origin;

const SAVE: &str = "the network panel of a browser saves a recording (\"Save all as HAR\")";

/// The reason why a recording cannot be made into a scenario. A message names the place in the file, if there is one. It
/// repeats no text of the recording but the addresses of servers, because the rest may be secret.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The recording has more than [`LARGEST`] bytes.
    #[error("it has more than {} MiB: record fewer pages, or save it without content", LARGEST >> 20)]
    TooLarge,
    /// The text is not UTF-8 from this place on.
    #[error("{line}:{column}: what stands here is not UTF-8: {SAVE}")]
    NotUtf8 {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in bytes.
        column: usize,
    },
    /// The text is no JSON: the parser fails at this place.
    #[error("{line}:{column}: what stands here is no JSON: {SAVE}")]
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in bytes.
        column: usize,
    },
    /// The text is JSON up to this place, but what ends here is not as HAR 1.2 has it.
    #[error("{line}:{column}: what ends here is not as in HAR 1.2: {SAVE}")]
    NotHar {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in bytes.
        column: usize,
    },
    /// There is no list `log.entries`.
    #[error("it has no list log.entries: {SAVE}")]
    NoEntries,
    /// The list `log.entries` is empty.
    #[error("log.entries is empty: open the network panel first, and then the page")]
    Empty,
    /// A value of an entry cannot be used in a request.
    #[error("log.entries[{entry}].{key}: {what}")]
    At {
        /// The entry's number, from 0.
        entry: usize,
        /// The path of the value within the entry.
        key: &'static str,
        /// The fault, and its remedy.
        what: &'static str,
    },
    /// No request went to the server that is asked for.
    #[error("it has no request to {asked}, {}", listed(.recorded))]
    OtherOrigins {
        /// The server that is asked for.
        asked: Origin,
        /// The servers that were recorded, each with its number of requests, the most frequent first. Empty if all
        /// entries are of other schemes than `http` and `https`.
        recorded: Vec<(Origin, usize)>,
    },
    /// No request to the server can be taken. [`NotTaken`](crate::NotTaken) has the possible reasons.
    #[error("it has no request to {asked} that can be taken; not taken: {}", .why.join(", "))]
    NoneTaken {
        /// The server.
        asked: Origin,
        /// The reasons in words, each after the number of requests that were not taken for it.
        why: Vec<String>,
    },
    /// The session would have more than [`MOST_REQUESTS`] requests.
    #[error(
        "it has {requests} requests to {asked}, and a session has at most {MOST_REQUESTS}: record fewer pages"
    )]
    TooMany {
        /// The server.
        asked: Origin,
        /// The number of requests to the server that could be taken.
        requests: usize,
    },
}

fn listed(recorded: &[(Origin, usize)]) -> String {
    if recorded.is_empty() {
        return "and none to another server: open the network panel first, and then the page".to_owned();
    }
    let shown = recorded.iter().take(5).map(|(origin, requests)| format!("{origin} ({requests})"));
    let more = (recorded.len() > 5).then(|| format!("{} others", recorded.len() - 5));
    let all = shown.chain(more).collect::<Vec<_>>().join(", ");
    format!("but to {all}: give the server that you mean as the URL")
}
