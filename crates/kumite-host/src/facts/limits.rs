//! Findings on the kernel's limits: open files, connections that wait to be accepted, and ports.

use kumite_record::{Finding, Fitness};

use crate::system::System;

const GROUP: &str = "limits";
/// The number of connections of a usual experiment; [`BURST`] is that of a burst.
const USUAL: u64 = 1000;
const BURST: u64 = 4096;
/// The number of files that a runtime has open beside its connections.
const SPARE: u64 = 100;
/// The seconds for which the kernel keeps the port of a closed connection.
const TIME_WAIT_S: u64 = 60;
const MANY_PORTS: u64 = 10_000;

pub(super) fn findings(system: &System) -> Vec<Finding> {
    vec![open_files(system), backlog(system), ports(system), reuse(system)]
}

/// The soft and the hard limit of this name in `/proc/self/limits`; either is `None` if it is unlimited. `None`
/// instead of the pair if the file has no limit of this name.
pub(super) fn limit(system: &System, name: &str) -> Option<(Option<u64>, Option<u64>)> {
    let text = system.text("/proc/self/limits")?;
    let mut words = text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace();
    let mut next = || match words.next()? {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    };
    Some((next()?, next()?))
}

fn open_files(system: &System) -> Finding {
    let Some((soft, hard)) = limit(system, "Max open files") else {
        return Finding::unknown(GROUP, "open-files", "the kernel does not say how many may be open");
    };
    let show = |limit: Option<u64>| limit.map_or("unlimited".to_owned(), |limit| limit.to_string());
    let enough = |connections: u64| hard.is_none_or(|hard| hard >= connections + SPARE);
    let found = format!("{}, and up to {} on request", show(soft), show(hard));
    let mut found = Finding::ok(GROUP, "open-files", found);
    for (name, limit) in [("soft", soft), ("hard", hard)] {
        if let Some(limit) = limit {
            found = found.figure(name, limit as f64);
        }
    }
    if enough(BURST) {
        found.found += &format!(": enough for {BURST} connections");
        return found;
    }
    let few = if enough(USUAL) { BURST } else { USUAL };
    found.but(
        Fitness::Limited,
        format!("{few} connections cannot be open at the same time; a run that needs them fails"),
        format!("raise the hard limit to {} (limits.conf, LimitNOFILE=, docker run --ulimit)", BURST + SPARE),
    )
}

fn backlog(system: &System) -> Finding {
    const FILE: &str = "/proc/sys/net/core/somaxconn";
    let Some(longest) = system.value::<u64>(FILE) else {
        return Finding::unknown(GROUP, "listen-backlog", "the kernel does not say how long it may be");
    };
    let found =
        Finding::ok(GROUP, "listen-backlog", format!("up to {longest} connections wait to be accepted"));
    let found = found.figure("connections", longest as f64);
    if longest >= BURST {
        return found;
    }
    found.but(
        Fitness::Limited,
        format!("of more connects at once some are dropped and tried again after 1 s, whatever the server does ({BURST} is a burst)"),
        format!("as root: sysctl net.core.somaxconn={BURST}"),
    )
}

fn ports(system: &System) -> Finding {
    let range = system.text("/proc/sys/net/ipv4/ip_local_port_range").and_then(|text| {
        let mut ends = text.split_whitespace().map(|end| end.parse::<u64>().ok());
        let (first, last) = (ends.next()??, ends.next()??);
        (first <= last && last < 65_536).then_some((first, last))
    });
    let Some((first, last)) = range else {
        return Finding::unknown(GROUP, "ports", "the kernel does not say which it gives to connections");
    };
    let count = last - first + 1;
    let found = Finding::ok(GROUP, "ports", format!("{count} for connections, {first} to {last}"));
    let found = found.figure("ports", count as f64);
    if count >= MANY_PORTS {
        return found;
    }
    found.but(
        Fitness::Limited,
        format!(
            "no more than {count} connections to one server, and it runs out sooner if connections are closed"
        ),
        "as root: sysctl net.ipv4.ip_local_port_range='32768 60999'",
    )
}

fn reuse(system: &System) -> Finding {
    let Some(reuse) = system.value::<u8>("/proc/sys/net/ipv4/tcp_tw_reuse") else {
        return Finding::unknown(
            GROUP,
            "port-reuse",
            "the kernel does not say whether it waits before it reuses one",
        );
    };
    match reuse {
        1 => Finding::ok(GROUP, "port-reuse", "at once"),
        2 => Finding::ok(GROUP, "port-reuse", "at once on loopback"),
        _ => Finding::ok(GROUP, "port-reuse", format!("after {TIME_WAIT_S} s")).but(
            Fitness::Limited,
            "a server that closes each connection uses up all ports; further connects fail",
            "as root: sysctl net.ipv4.tcp_tw_reuse=2",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: &str = "Limit                     Soft Limit           Hard Limit           Units     \n\
        Max open files            SOFT                 HARD                 files     \n\
        Max realtime priority     0                    unlimited            \n";

    fn files(soft: &str, hard: &str) -> Finding {
        open_files(&System::with(&[(
            "proc/self/limits",
            &LIMITS.replace("SOFT", soft).replace("HARD", hard),
        )]))
    }

    #[test]
    fn open_files_are_judged_by_the_hard_limit() {
        assert_eq!(files("1024", "20000").state, Fitness::Ok);
        assert_eq!(
            files("1024", "unlimited").found,
            "1024, and up to unlimited on request: enough for 4096 connections"
        );
        let few = files("1024", "4096");
        assert_eq!(few.state, Fitness::Limited);
        assert!(few.consequence.unwrap().starts_with("4096 connections"));
        assert!(files("1024", "1024").consequence.unwrap().starts_with("1000 connections"));
        assert_eq!(files("some", "more").state, Fitness::Unknown);
        let system = System::with(&[("proc/self/limits", LIMITS)]);
        assert_eq!(limit(&system, "Max realtime priority"), Some((Some(0), None)));
    }

    #[test]
    fn settings_are_compared_with_what_a_burst_needs() {
        let with = |file: &str, text: &str| System::with(&[(file, text)]);
        let somaxconn = |text| backlog(&with("proc/sys/net/core/somaxconn", text)).state;
        assert_eq!((somaxconn("4096\n"), somaxconn("128\n")), (Fitness::Ok, Fitness::Limited));
        let range = |text| ports(&with("proc/sys/net/ipv4/ip_local_port_range", text));
        assert_eq!(range("32768\t60999\n").found, "28232 for connections, 32768 to 60999");
        let states =
            [range("32768\t60999\n"), range("50000 50099"), range("9 1"), range("1")].map(|f| f.state);
        assert_eq!(states, [Fitness::Ok, Fitness::Limited, Fitness::Unknown, Fitness::Unknown]);
        let reuse = |text| reuse(&with("proc/sys/net/ipv4/tcp_tw_reuse", text)).state;
        assert_eq!([reuse("0"), reuse("1"), reuse("2")], [Fitness::Limited, Fitness::Ok, Fitness::Ok]);
    }
}
