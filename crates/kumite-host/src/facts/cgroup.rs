//! Findings on cgroups: the limits that apply to this process, and whether kumite could set limits itself.

use super::memory::{gib, total};
use kumite_record::{Finding, Fitness};

use crate::groups::{CgroupDir, Groups};
use crate::system::System;

const GROUP: &str = "cgroups";

pub(super) fn findings(system: &System, cpus: usize) -> Vec<Finding> {
    let groups = Groups::read(system);
    let cannot = [
        ("cpu", "a contender can be given whole CPUs and not a part of one"),
        ("cpuset", "contenders are kept to their CPUs by affinity only, which they may change themselves"),
        ("memory", "a contender's memory is measured and not limited"),
    ];
    let mut findings: Vec<Finding> =
        cannot.iter().map(|(name, consequence)| controller(system, &groups, name, consequence)).collect();
    findings.push(cpu_limit(system, &groups, cpus));
    findings.push(memory_limit(system, &groups));
    findings
}

fn controller(system: &System, groups: &Groups, name: &str, consequence: &str) -> Finding {
    if !groups.known {
        return Finding::unknown(GROUP, name, "the kernel does not say in which cgroup this process is");
    }
    let v2 = groups.v2.as_ref().filter(|dir| {
        let there = system.text(&format!("{}/cgroup.controllers", dir.folder)).unwrap_or_default();
        there.split_whitespace().any(|other| other == name)
    });
    let (version, folder, writable) = match (groups.v1(name), v2) {
        (Some(folder), _) => (1, folder, system.writable(folder)),
        (None, Some(CgroupDir { folder, .. })) => (
            2,
            folder.as_str(),
            system.writable(folder) && system.writable(&format!("{folder}/cgroup.subtree_control")),
        ),
        (None, None) => {
            return Finding::ok(GROUP, name, "not to be had here").but(
                Fitness::Missing,
                consequence,
                "a kernel, or a container, that has this cgroup controller",
            );
        }
    };
    let right = if writable { "may be written to" } else { "may not be written to" };
    let found = Finding::ok(GROUP, name, format!("v{version}, {folder} {right}"))
        .figure("version", f64::from(version));
    if writable {
        return found;
    }
    let remedy = match version {
        1 => "run as root",
        _ => {
            "run as root, or below a cgroup of one's own: systemd-run --user --scope -p Delegate=yes kumite …"
        }
    };
    found.but(Fitness::Missing, consequence, remedy)
}

fn cpu_limit(system: &System, groups: &Groups, cpus: usize) -> Finding {
    const NAME: &str = "cpu-limit";
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| *number > 0.0);
    let v1 = |folder: &str| {
        let read = |file: &str| system.value::<String>(&format!("{folder}/cpu.cfs_{file}_us"));
        Some(number(&read("quota")?)? / number(&read("period")?)?)
    };
    let v2 = |folder: &str| {
        let text = system.text(&format!("{folder}/cpu.max"))?;
        let (quota, period) = text.split_once(' ')?;
        Some(number(quota)? / number(period)?)
    };
    let Some(least) = smallest(groups, "cpu", v1, v2) else {
        return unlimited(NAME, groups.known);
    };
    let found =
        Finding::ok(GROUP, NAME, format!("{least} CPUs' time for all of this cgroup")).figure("cpus", least);
    if least >= cpus as f64 {
        return found;
    }
    found.but(
        Fitness::Limited,
        "contenders and the load engine are stopped together when it is used up: latencies have holes in them",
        "run outside the container, or give it as many CPUs as it sees (docker run --cpuset-cpus, without --cpus)",
    )
}

fn memory_limit(system: &System, groups: &Groups) -> Finding {
    const NAME: &str = "memory-limit";
    let v1 = |folder: &str| system.value::<f64>(&format!("{folder}/memory.limit_in_bytes"));
    let v2 = |folder: &str| system.value::<f64>(&format!("{folder}/memory.max"));
    let Some(least) = smallest(groups, "memory", v1, v2) else {
        return unlimited(NAME, groups.known);
    };
    let Some(total) = total(system).filter(|total| least < *total as f64) else {
        return unlimited(NAME, groups.known);
    };
    let found = format!("{} of {} for all of this cgroup", gib(least as u64), gib(total));
    Finding::ok(GROUP, NAME, found).figure("bytes", least).but(
        Fitness::Limited,
        "the contender, the load engine and builds share it; the kernel ends one of them when it is used up",
        "run outside the container, or give it more memory",
    )
}

fn unlimited(name: &str, known: bool) -> Finding {
    match known {
        true => Finding::ok(GROUP, name, "none"),
        false => Finding::unknown(GROUP, name, "the kernel does not say in which cgroup this process is"),
    }
}

/// The smallest limit on our cgroup and those above it, of both versions. `v1` and `v2` read the limit of a folder.
/// `None` if there is no limit.
fn smallest(
    groups: &Groups,
    controller: &str,
    v1: impl Fn(&str) -> Option<f64>,
    v2: impl Fn(&str) -> Option<f64>,
) -> Option<f64> {
    let first = groups.v1_dir(controller).into_iter().flat_map(CgroupDir::upwards).filter_map(v1);
    let second = groups.v2.iter().flat_map(CgroupDir::upwards).filter_map(v2);
    first.chain(second).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: [(&str, &str); 2] = [
        ("proc/self/cgroup", "4:memory:/a/b\n2:cpu,cpuacct:/\n0::/\n"),
        (
            "proc/self/mounts",
            "cgroup /cg/cpu cgroup rw,cpu,cpuacct 0 0\ncgroup /cg/memory cgroup rw,memory 0 0\n",
        ),
    ];
    const V2: [(&str, &str); 4] = [
        ("proc/self/cgroup", "0::/a/b\n"),
        ("proc/self/mounts", "proc /proc proc rw 0 0\ncgroup2 /cg cgroup2 rw 0 0\n"),
        ("cg/a/b/cgroup.controllers", "cpu memory\n"),
        ("cg/a/b/cgroup.subtree_control", "\n"),
    ];

    fn named(files: &[&[(&str, &str)]], name: &str) -> Finding {
        let found = findings(&System::with(&files.concat()), 2);
        found.into_iter().find(|finding| finding.name == name).unwrap()
    }

    #[test]
    fn both_versions_are_found() {
        let folders: [(&str, &str); 2] = [("cg/cpu/x", ""), ("cg/memory/a/b/x", "")];
        let cpu = named(&[&V1, &folders], "cpu");
        assert_eq!((cpu.state, cpu.found.as_str()), (Fitness::Ok, "v1, /cg/cpu may be written to"));
        assert_eq!(named(&[&V1, &folders], "memory").found, "v1, /cg/memory/a/b may be written to");
        assert_eq!(named(&[&V1, &folders], "cpuset").state, Fitness::Missing);
        let cpu = named(&[&V2], "cpu");
        assert_eq!((cpu.state, cpu.found.as_str()), (Fitness::Ok, "v2, /cg/a/b may be written to"));
        assert_eq!(named(&[&V2], "cpuset").state, Fitness::Missing);
        assert_eq!(named(&[&V2[..3]], "cpu").state, Fitness::Missing, "without subtree_control");
    }

    #[test]
    fn a_limit_of_a_group_above_counts() {
        let memory = ("proc/meminfo", "MemTotal: 8388608 kB\n");
        let limited = named(
            &[&V2, &[memory, ("cg/a/memory.max", "1073741824\n"), ("cg/a/b/memory.max", "max\n")]],
            "memory-limit",
        );
        assert_eq!(
            (limited.state, limited.found.as_str()),
            (Fitness::Limited, "1.0 GiB of 8.0 GiB for all of this cgroup")
        );
        let none = [memory, ("cg/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n")];
        assert_eq!(named(&[&V1, &none], "memory-limit").found, "none");
        let cpu = |max| named(&[&V2, &[("cg/a/b/cpu.max", max)]], "cpu-limit").state;
        assert_eq!(
            [cpu("150000 100000"), cpu("200000 100000"), cpu("max 100000")],
            [Fitness::Limited, Fitness::Ok, Fitness::Ok]
        );
        let quota = [("cg/cpu/cpu.cfs_quota_us", "50000"), ("cg/cpu/cpu.cfs_period_us", "100000")];
        assert_eq!(named(&[&V1, &quota], "cpu-limit").figures["cpus"], 0.5);
        let off = [("cg/cpu/cpu.cfs_quota_us", "-1"), ("cg/cpu/cpu.cfs_period_us", "100000")];
        assert_eq!(named(&[&V1, &off], "cpu-limit").state, Fitness::Ok);
    }
}
