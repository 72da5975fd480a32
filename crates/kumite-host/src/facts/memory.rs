//! The finding on the machine's memory.

use kumite_record::{Finding, Fitness};

use crate::system::System;

const GROUP: &str = "memory";
/// The available memory that is enough, in bytes: several runtimes and a build, in turn, may take this much.
const ENOUGH: u64 = 1 << 30;

pub(super) fn findings(system: &System) -> Vec<Finding> {
    vec![memory(system)]
}

/// The memory of the machine in bytes; `None` if the kernel does not say.
pub(super) fn total(system: &System) -> Option<u64> {
    bytes(system, "MemTotal")
}

/// A number of bytes as text, in GiB with one decimal.
pub(super) fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

fn memory(system: &System) -> Finding {
    let (Some(total), Some(available)) = (total(system), bytes(system, "MemAvailable")) else {
        return Finding::unknown(GROUP, "memory", "the kernel does not say how much there is");
    };
    let found = Finding::ok(GROUP, "memory", format!("{}, {} of it available", gib(total), gib(available)))
        .figure("total_bytes", total as f64)
        .figure("available_bytes", available as f64);
    if available >= ENOUGH {
        return found;
    }
    found.but(
        Fitness::Limited,
        "what runs here may be swapped out, or ended by the kernel",
        format!("end what else runs until {} are available", gib(ENOUGH)),
    )
}

fn bytes(system: &System, name: &str) -> Option<u64> {
    let kib: u64 = system.field("/proc/meminfo", name)?.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_judged_by_what_is_available() {
        let with = |available: &str| {
            let text = format!("MemTotal:       8388608 kB\nMemAvailable:   {available} kB\n");
            memory(&System::with(&[("proc/meminfo", &text)]))
        };
        assert_eq!(
            (with("4194304").state, with("4194304").found.as_str()),
            (Fitness::Ok, "8.0 GiB, 4.0 GiB of it available")
        );
        assert_eq!(with("1024").state, Fitness::Limited);
        assert_eq!(with("much").state, Fitness::Unknown);
    }
}
