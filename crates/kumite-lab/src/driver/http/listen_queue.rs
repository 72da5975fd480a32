//! The connections that the kernel has dropped because the listen queue of a server was full.
//!
//! The client of such a connection thinks that it is connected, and the server knows nothing of the connection: a
//! request on it has no answer before the kernel tries again, seconds later.

/// The number of times so far that the kernel has found a listen queue full, over all servers in this process's network
/// namespace. A server that is reached by the loopback is among them. None if the kernel does not say.
pub(super) fn overflows() -> Option<u64> {
    parse(&std::fs::read_to_string("/proc/self/net/netstat").ok()?)
}

/// Reads the counter from the kernel's table, in which a line of names stands above each line of values.
fn parse(netstat: &str) -> Option<u64> {
    let mut lines = netstat.lines().filter_map(|line| line.strip_prefix("TcpExt: "));
    let (names, values) = (lines.next()?, lines.next()?);
    let mut counters = names.split(' ').zip(values.split(' '));
    counters.find(|(name, _)| *name == "ListenOverflows")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_counter_is_found_by_its_name() {
        let table = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 3 41 59\nIpExt: InNoRoutes\nIpExt: 0\n";
        assert_eq!(parse(table), Some(41));
        for other in ["", "TcpExt: ListenDrops\nTcpExt: 3\n", "TcpExt: ListenOverflows\nTcpExt: many\n"] {
            assert_eq!(parse(other), None, "{other:?}");
        }
    }

    /// A server that accepts nothing, and more clients than its queue has room for.
    #[test]
    fn a_full_listen_queue_counts() {
        let before = overflows().expect("Linux has this counter");
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&server, 1).unwrap();
        let at = server.local_addr().unwrap();
        let clients: Vec<_> =
            (0..8).map(|_| TcpStream::connect_timeout(&at, Duration::from_millis(100))).collect();
        assert!(clients.iter().any(Result::is_err), "the queue has room for all");
        assert!(overflows().unwrap() > before);
    }
}
