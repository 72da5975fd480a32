//! Findings on the rights of this user that matter to measuring.

use kumite_limits::RealTime;

use kumite_record::{Finding, Fitness};

use super::limits;
use crate::groups::Groups;
use crate::system::System;

const GROUP: &str = "rights";
const CAP_SYS_ADMIN: u32 = 21;
const CAP_SYS_NICE: u32 = 23;
const CAP_PERFMON: u32 = 38;

pub(super) fn findings(system: &System) -> Vec<Finding> {
    vec![sched_fifo(system), perf_counters(system), io_uring(system), uinput(system)]
}

fn has_capability(system: &System, capability: u32) -> Option<bool> {
    let mask = u64::from_str_radix(&system.field("/proc/self/status", "CapEff")?, 16).ok()?;
    Some(mask >> capability & 1 == 1)
}

fn sched_fifo(system: &System) -> Finding {
    const NAME: &str = "sched-fifo";
    let missing = |found: &str, remedy: &str| {
        Finding::ok(GROUP, NAME, found).but(
            Fitness::Missing,
            "the load engine and a player can be kept waiting by any other process on their CPU",
            remedy,
        )
    };
    let Some(capable) = has_capability(system, CAP_SYS_NICE) else {
        return Finding::unknown(GROUP, NAME, "the kernel does not say what this process may do");
    };
    // Cgroups v1 with real-time groups refuse even root where a group has no such time.
    let budget = Groups::read(system)
        .v1("cpu")
        .and_then(|folder| system.value::<i64>(&format!("{folder}/cpu.rt_runtime_us")));
    if budget == Some(0) {
        return missing(
            "this cgroup has no real-time budget",
            "as root: give cpu.rt_runtime_us of the cgroup a value",
        );
    }
    let priority = limits::limit(system, "Max realtime priority").map(|(soft, _)| soft);
    match (capable, priority) {
        (true, _) => Finding::ok(GROUP, NAME, "permitted by CAP_SYS_NICE, not tried"),
        (false, Some(soft)) if soft.is_none_or(|soft| soft >= RealTime::PRIORITY.into()) => {
            Finding::ok(GROUP, NAME, "permitted by the limit rtprio, not tried")
        }
        _ => {
            let remedy =
                "run as root, or raise the limit rtprio to 10 (limits.conf, LimitRTPRIO=, ulimit -r)";
            missing("not permitted", remedy)
        }
    }
}

fn perf_counters(system: &System) -> Finding {
    const NAME: &str = "perf-counters";
    let Some(paranoid) = system.value::<i64>("/proc/sys/kernel/perf_event_paranoid") else {
        return Finding::unknown(GROUP, NAME, "the kernel does not say whether they may be read");
    };
    let missing = |found: &str, remedy: &str| {
        Finding::ok(GROUP, NAME, found).but(
            Fitness::Missing,
            "instructions and cache misses cannot be counted to explain a difference",
            remedy,
        )
    };
    let devices = "/sys/bus/event_source/devices";
    let hardware = ["cpu", "cpu_core", "armv8_pmuv3", "armv8_pmuv3_0"];
    if system.exists(devices) && !hardware.iter().any(|name| system.exists(&format!("{devices}/{name}"))) {
        return missing("the CPU shows none", "a machine without a hypervisor, or one that passes them on");
    }
    let capable = [CAP_PERFMON, CAP_SYS_ADMIN].iter().any(|cap| has_capability(system, *cap) == Some(true));
    match paranoid {
        _ if capable => Finding::ok(GROUP, NAME, "may be read"),
        ..=2 => Finding::ok(GROUP, NAME, "may be read for one's own processes"),
        _ => missing("may not be read", "as root: sysctl kernel.perf_event_paranoid=2"),
    }
}

fn io_uring(system: &System) -> Finding {
    const NAME: &str = "io-uring";
    let consequence = "contenders that use it fall back to something else, or fail";
    let remedy = "as root: sysctl kernel.io_uring_disabled=0";
    match system.value::<u8>("/proc/sys/kernel/io_uring_disabled") {
        None => Finding::unknown(GROUP, NAME, "this kernel does not say whether it may be used"),
        Some(0) => Finding::ok(GROUP, NAME, "not disabled, not tried"),
        Some(1) => Finding::ok(GROUP, NAME, "only for some").but(Fitness::Limited, consequence, remedy),
        Some(_) => Finding::ok(GROUP, NAME, "disabled").but(Fitness::Missing, consequence, remedy),
    }
}

fn uinput(system: &System) -> Finding {
    const FILE: &str = "/dev/uinput";
    if system.writable(FILE) {
        return Finding::ok(GROUP, "uinput", "may be written to");
    }
    let there = system.exists(FILE);
    let (found, remedy) = match there {
        true => (
            format!("{FILE} may not be written to"),
            "run as root, or get the right to write to it (udev rule)",
        ),
        false => {
            (format!("there is no {FILE}"), "as root: modprobe uinput (not to be had in most containers)")
        }
    };
    Finding::ok(GROUP, "uinput", found).but(
        Fitness::Missing,
        "no input device can be made: playing is not tried through the kernel's input system",
        remedy,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: (&str, &str) = ("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
    const USER: (&str, &str) = ("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n");

    fn limits(priority: &str) -> (&'static str, String) {
        ("proc/self/limits", format!("Max realtime priority     {priority}  {priority}\n"))
    }

    #[test]
    fn real_time_needs_a_right_and_a_budget() {
        let fifo = |files: &[(&str, &str)]| sched_fifo(&System::with(files)).state;
        let (file, none) = limits("0");
        let (_, some) = limits("10");
        let (_, few) = limits("9");
        let soft = "Max realtime priority     0  99\n";
        assert_eq!(fifo(&[ROOT]), Fitness::Ok);
        for limits in [&none, &few, soft] {
            assert_eq!(fifo(&[USER, (file, limits)]), Fitness::Missing, "{limits}");
        }
        assert_eq!(fifo(&[USER, (file, &some)]), Fitness::Ok);
        let v1 = [
            ("proc/self/cgroup", "1:cpu:/\n"),
            ("proc/self/mounts", "cgroup /cg/cpu cgroup rw,cpu 0 0\n"),
            ("cg/cpu/cpu.rt_runtime_us", "0\n"),
        ];
        assert_eq!(fifo(&[&[ROOT][..], &v1].concat()), Fitness::Missing);
    }

    #[test]
    fn counters_need_hardware_and_a_right() {
        let paranoid = |value| ("proc/sys/kernel/perf_event_paranoid", value);
        let counters = |files: &[(&str, &str)]| perf_counters(&System::with(files)).state;
        let hardware = ("sys/bus/event_source/devices/cpu/type", "4");
        let software = ("sys/bus/event_source/devices/software/type", "1");
        assert_eq!(counters(&[USER, hardware, paranoid("2")]), Fitness::Ok);
        assert_eq!(counters(&[USER, hardware, paranoid("3")]), Fitness::Missing);
        assert_eq!(counters(&[ROOT, hardware, paranoid("3")]), Fitness::Ok);
        assert_eq!(counters(&[ROOT, software, paranoid("-1")]), Fitness::Missing);
    }

    #[test]
    fn what_is_disabled_is_missing() {
        let uring = |value| io_uring(&System::with(&[("proc/sys/kernel/io_uring_disabled", value)])).state;
        assert_eq!([uring("0"), uring("1"), uring("2")], [Fitness::Ok, Fitness::Limited, Fitness::Missing]);
        assert_eq!(uinput(&System::with(&[("dev/uinput", "x")])).state, Fitness::Ok);
        assert_eq!(uinput(&System::with(&[])).found, "there is no /dev/uinput");
    }
}
