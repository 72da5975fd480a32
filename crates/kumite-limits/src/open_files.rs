//! The limit on open files: room for one file descriptor for each connection.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The hard limit on open files is too low for the connections asked for, or the system did not let the soft one be
/// raised.
#[derive(Debug, thiserror::Error)]
#[error(
    "{connections} connections need {needed} open files but the hard limit is {limit}: \
     use fewer connections or raise it (ulimit -Hn)"
)]
pub struct TooManyConnections {
    /// The number of connections asked for.
    pub connections: usize,
    /// The number of open files needed: one for each connection, those that are open now (64 if they cannot be
    /// counted), and 16 to spare.
    pub needed: u64,
    /// The hard limit on open files of this process; `u64::MAX` if there is none.
    pub limit: u64,
}

/// The number of file descriptors that other parts of this process may open during a run.
const SPARE: u64 = 16;

/// Raises the soft limit on open files to the number that this process needs if it opens `connections` more. A limit
/// that is high enough is left as it is.
///
/// Processes that are started later inherit the limit: call this before the first of several that are compared.
///
/// # Errors
///
/// If the hard limit is below that number, or the system does not let the soft one be raised.
pub fn make_room(connections: usize) -> Result<(), TooManyConnections> {
    let open = std::fs::read_dir("/proc/self/fd").map_or(64, |entries| entries.count() as u64);
    let needed = (connections as u64).saturating_add(open).saturating_add(SPARE);
    let limit = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= needed);
    if enough(limit.current) {
        return Ok(());
    }
    let refused = || TooManyConnections { connections, needed, limit: limit.maximum.unwrap_or(u64::MAX) };
    if !enough(limit.maximum) {
        return Err(refused());
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum })
        .map_err(|_| refused())
}
