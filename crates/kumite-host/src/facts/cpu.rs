//! Findings on the CPUs: their division between contender and engine, what they share, how their speed changes, and
//! how much other programs and guests use them.

use std::collections::BTreeSet;

use kumite_record::Cores;

use kumite_record::{Finding, Fitness};

use crate::machine::cpu_list;
use crate::system::System;

const GROUP: &str = "cpu";
/// The most time that the hypervisor may have taken, in percent of the time since the machine was started. Above
/// this, single trials may have lost much more.
const STEAL_LIMIT_PERCENT: f64 = 1.0;
/// The most processes for each CPU that may have wanted to run in the last minute.
const LOAD_LIMIT: f64 = 0.25;

pub(super) fn findings(system: &System, cores: &Cores, available: &[usize]) -> Vec<Finding> {
    vec![
        cpus(cores, available),
        siblings(system, cores, available),
        hypervisor(system),
        governor(system, available),
        boost(system),
        steal(system),
        load(system, available.len()),
    ]
}

fn cpus(cores: &Cores, available: &[usize]) -> Finding {
    let of = |cpus: &[usize]| cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let count = available.len() as f64;
    match available {
        [] => Finding::unknown(GROUP, "cpus", "the system does not say which may be used"),
        [only] => Finding::ok(GROUP, "cpus", format!("only {only} may be used")).figure("cpus", count).but(
            Fitness::Limited,
            "the contender and the load engine share it, and every trial is marked for that",
            "a machine with two CPUs or more, or the right to use more of them",
        ),
        _ => {
            let (contenders, engine) = (of(&cores.contender), of(&cores.engine));
            let found = format!(
                "{} may be used: contenders get {contenders}, the load engine {engine}",
                available.len()
            );
            Finding::ok(GROUP, "cpus", found).figure("cpus", count)
        }
    }
}

fn siblings(system: &System, cores: &Cores, available: &[usize]) -> Finding {
    let list = |cpu| system.text(&format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"));
    let groups: Option<BTreeSet<Vec<usize>>> =
        available.iter().map(|cpu| Some(cpu_list(&list(cpu)?))).collect();
    let Some(mut groups) = groups.filter(|groups| !groups.is_empty()) else {
        return Finding::unknown(GROUP, "smt", "the kernel does not say which CPUs share a physical core");
    };
    groups.retain(|group| group.len() > 1);
    if groups.is_empty() {
        return Finding::ok(GROUP, "smt", "no two of them share a physical core, as far as the kernel knows");
    }
    let words: Vec<String> = groups
        .iter()
        .map(|group| group.iter().map(usize::to_string).collect::<Vec<_>>().join(" and "))
        .collect();
    let found = Finding::ok(GROUP, "smt", format!("sharing a physical core: {}", words.join("; ")));
    let has = |group: &Vec<usize>, cpus: &[usize]| cpus.iter().any(|cpu| group.contains(cpu));
    if !groups.iter().any(|group| has(group, &cores.contender) && has(group, &cores.engine)) {
        return found;
    }
    found.but(
        Fitness::Limited,
        "the contender and the load engine slow each other down, more so the busier both are",
        "keep kumite to one CPU of each physical core (taskset), or turn SMT off: \
         echo off > /sys/devices/system/cpu/smt/control",
    )
}

fn hypervisor(system: &System) -> Finding {
    match system.field("/proc/cpuinfo", "flags") {
        None => Finding::unknown(GROUP, "hypervisor", "the kernel does not say whether there is one"),
        Some(flags) if flags.split(' ').any(|flag| flag == "hypervisor") => Finding::ok(
            GROUP,
            "hypervisor",
            "this is a virtual machine",
        )
        .but(
            Fitness::Limited,
            "other guests take time and caches, unseen but for steal; absolute figures vary from day to day",
            "rely on ratios, which are paired; for absolute figures, a machine without a hypervisor",
        ),
        Some(_) => Finding::ok(GROUP, "hypervisor", "none"),
    }
}

fn governor(system: &System, available: &[usize]) -> Finding {
    let file = |cpu| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
    let governors: BTreeSet<String> = available.iter().filter_map(|cpu| system.value(&file(cpu))).collect();
    let found = governors.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    match found.as_str() {
        "" => Finding::unknown(GROUP, "governor", "the kernel does not show who sets the frequency"),
        "performance" => Finding::ok(GROUP, "governor", found),
        _ => Finding::ok(GROUP, "governor", found).but(
            Fitness::Limited,
            "CPUs change their frequency with the load: a contender that waits much gets slower CPUs",
            "as root: cpupower frequency-set -g performance",
        ),
    }
}

fn boost(system: &System) -> Finding {
    let files = [
        ("/sys/devices/system/cpu/intel_pstate/no_turbo", "0", "1"),
        ("/sys/devices/system/cpu/cpufreq/boost", "1", "0"),
    ];
    for (file, on, off) in files {
        match system.text(file) {
            Some(value) if value == off => return Finding::ok(GROUP, "boost", "off"),
            Some(value) if value == on => {
                return Finding::ok(GROUP, "boost", "on").but(
                    Fitness::Limited,
                    "CPUs are faster while they are cool or others idle: the frequency moves within a run",
                    format!("as root: echo {off} > {file}"),
                );
            }
            _ => {}
        }
    }
    Finding::unknown(GROUP, "boost", "the kernel does not show whether frequencies are boosted")
}

fn steal(system: &System) -> Finding {
    let percent = system.text("/proc/stat").and_then(|text| steal_percent(&text));
    let Some(percent) = percent else {
        return Finding::unknown(GROUP, "steal", "the kernel does not count what a hypervisor took");
    };
    let found = format!("{percent:.2} % of the time since the start was taken by the hypervisor");
    let found = Finding::ok(GROUP, "steal", found).figure("steal_percent", percent);
    if percent <= STEAL_LIMIT_PERCENT {
        return found;
    }
    found.but(
        Fitness::Limited,
        "the CPUs stop now and then for all that runs here: response times at high percentiles are too long",
        "a machine with CPUs of its own, or another time of day",
    )
}

/// The stolen time in percent of all time, from `/proc/stat`, whose line of all CPUs is: user, nice, system, idle,
/// iowait, irq, softirq, steal. `None` if there is no such line, or it has no steal.
fn steal_percent(stat: &str) -> Option<f64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let times: Vec<f64> = line.split_whitespace().take(8).map_while(|time| time.parse().ok()).collect();
    let (steal, all) = (times.get(7)?, times.iter().sum::<f64>());
    (all > 0.0).then_some(100.0 * steal / all)
}

fn load(system: &System, cpus: usize) -> Finding {
    let load = system.text("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let Some(load) = load else {
        return Finding::unknown(GROUP, "load", "the kernel does not say what else runs");
    };
    let found =
        Finding::ok(GROUP, "load", format!("{load} processes wanted a CPU or a disk in the last minute"));
    let found = found.figure("load_1min", load);
    if load <= LOAD_LIMIT * cpus as f64 {
        return found;
    }
    found.but(
        Fitness::Limited,
        "something else uses the CPUs: intervals become wider, and single trials wrong",
        "end what else runs, or wait for it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIBLINGS: &str = "sys/devices/system/cpu/cpu0/topology/thread_siblings_list";
    const SIBLINGS_1: &str = "sys/devices/system/cpu/cpu1/topology/thread_siblings_list";

    fn state(finding: Finding) -> Fitness {
        finding.state
    }

    fn two() -> Cores {
        Cores { contender: vec![0], engine: vec![1], apart: false }
    }

    #[test]
    fn one_cpu_for_both_roles_is_limited() {
        let one = Cores { contender: vec![0], engine: vec![0], apart: false };
        assert_eq!(state(cpus(&one, &[0])), Fitness::Limited);
        let found = cpus(&two(), &[0, 1]);
        assert_eq!(found.found, "2 may be used: contenders get 0, the load engine 1");
        assert_eq!(found.state, Fitness::Ok);
    }

    #[test]
    fn siblings_matter_where_they_have_different_roles() {
        let shared = System::with(&[(SIBLINGS, "0-1\n"), (SIBLINGS_1, "0-1\n")]);
        let found = siblings(&shared, &two(), &[0, 1]);
        assert_eq!(
            (found.state, found.found.as_str()),
            (Fitness::Limited, "sharing a physical core: 0 and 1")
        );
        let apart = Cores { contender: vec![0, 1], engine: vec![2], apart: false };
        assert_eq!(state(siblings(&shared, &apart, &[0, 1])), Fitness::Ok);
        let alone = System::with(&[(SIBLINGS, "0\n"), (SIBLINGS_1, "1\n")]);
        assert_eq!(state(siblings(&alone, &two(), &[0, 1])), Fitness::Ok);
    }

    #[test]
    fn a_hypervisor_is_a_flag() {
        let with = |flags: &str| System::with(&[("proc/cpuinfo", flags)]);
        assert_eq!(state(hypervisor(&with("flags\t\t: fpu hypervisor sse\n"))), Fitness::Limited);
        assert_eq!(state(hypervisor(&with("flags\t\t: fpu sse\n"))), Fitness::Ok);
        assert_eq!(state(hypervisor(&with("Features\t: fp\n"))), Fitness::Unknown);
    }

    #[test]
    fn a_frequency_that_may_change_is_limited() {
        let file = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
        assert_eq!(state(governor(&System::with(&[(file, "performance\n")]), &[0, 1])), Fitness::Ok);
        assert_eq!(state(governor(&System::with(&[(file, "powersave\n")]), &[0])), Fitness::Limited);
        let (intel, others) =
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "sys/devices/system/cpu/cpufreq/boost");
        for (file, value, expected) in [
            (intel, "0\n", Fitness::Limited),
            (intel, "1\n", Fitness::Ok),
            (others, "1\n", Fitness::Limited),
            (others, "0\n", Fitness::Ok),
            (others, "?\n", Fitness::Unknown),
        ] {
            assert_eq!(state(boost(&System::with(&[(file, value)]))), expected, "{file} {value}");
        }
    }

    #[test]
    fn steal_and_load_are_judged() {
        assert_eq!(steal_percent("cpu  10 0 10 70 0 0 0 10 5 5\ncpu0 1\n"), Some(10.0));
        assert_eq!(steal_percent("cpu  0 0 0 0 0 0 0 0\n"), None);
        assert_eq!(steal_percent("cpu  1 2 3\n"), None);
        let loaded = System::with(&[("proc/loadavg", "0.51 0.2 0.1 1/100 5\n")]);
        assert_eq!((state(load(&loaded, 2)), state(load(&loaded, 4))), (Fitness::Limited, Fitness::Ok));
        assert_eq!(load(&loaded, 2).figures["load_1min"], 0.51);
    }
}
