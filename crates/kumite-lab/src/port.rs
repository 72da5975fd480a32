//! Free ports for contenders and services.

use crate::error::Error;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

const FIRST: u16 = 10_240;
const FEWEST: u16 = 1000;
const DEFAULT_EPHEMERAL: u16 = 32_768;

/// A free port of this address, another one at each call until all have been given. It lies, unless fewer than
/// [`FEWEST`] would be left, below the range that the kernel takes source ports from: in that range one of our own
/// connections could take it, or even connect to itself, before the contender listens. An error if none is free.
pub(crate) fn free_port(host: Ipv4Addr) -> Result<u16, Error> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let count = ephemeral().saturating_sub(FIRST);
    if count < FEWEST {
        // The kernel hands out almost every port; one that it calls free is the best there is.
        let listener = TcpListener::bind((host, 0)).and_then(|listener| listener.local_addr());
        return listener.map(|addr| addr.port()).map_err(Error::step(format!("no free port on {host}")));
    }
    // Kumites that are started together have ids that are near each other; their ports must not be, or one takes what
    // another has just found free. Multiplied by the golden ratio, near ids are far apart (Knuth, TAOCP 3, section 6.4).
    let spread = std::process::id().wrapping_mul(0x9E37_79B9);
    let start = ((u64::from(spread) * u64::from(count)) >> 32) as u16;
    for _ in 0..count {
        let step = NEXT.fetch_add(1, Ordering::Relaxed) % count;
        let port = FIRST + ((u32::from(start) + u32::from(step)) % u32::from(count)) as u16;
        if TcpListener::bind((host, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(Error::NoPort { host, first: FIRST, count })
}

fn ephemeral() -> u16 {
    std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range")
        .ok()
        .and_then(|range| range.split_whitespace().next()?.parse().ok())
        .unwrap_or(DEFAULT_EPHEMERAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ_and_are_outside_the_ephemeral_range() {
        let (a, b) = (free_port(Ipv4Addr::LOCALHOST).unwrap(), free_port(Ipv4Addr::LOCALHOST).unwrap());
        if ephemeral().saturating_sub(FIRST) >= FEWEST {
            assert_ne!(a, b);
            assert!(a >= FIRST && a < ephemeral());
        }
    }
}
