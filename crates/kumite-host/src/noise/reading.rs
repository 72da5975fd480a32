//! A reading of the kernel's counters at one moment.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::clocks::Clocks;
use crate::groups::Groups;
use crate::system::System;

/// The unit of the times in `/proc/stat`, in ms: USER_HZ is 100 on every architecture that both Rust and Linux still
/// support.
const TICK_MS: u64 = 10;

/// Paths of the files of cgroups that are read.
#[derive(Clone, Debug)]
pub(super) struct CgroupFiles {
    /// The file of the exact CPU time of all that runs on the machine, for each CPU. `None` if the kernel has none;
    /// only version 1 of cgroups has it.
    tasks: Option<String>,
    /// The paths of `cpu.stat` of our own cgroup and those above it, where they count throttling.
    quotas: Vec<String>,
}

impl CgroupFiles {
    pub fn find(system: &System) -> CgroupFiles {
        let groups = Groups::read(system);
        // Below the root, as in a container, it would be the time of some processes only. The root alone has
        // `release_agent`.
        let root = groups.v1_mount("cpuacct").filter(|root| system.exists(&format!("{root}/release_agent")));
        let stats = groups.folders("cpu").map(|folder| format!("{folder}/cpu.stat"));
        CgroupFiles {
            tasks: root.map(|root| format!("{root}/cpuacct.usage_percpu")),
            quotas: stats.filter(|file| quota_throttles(system, file).is_some()).collect(),
        }
    }
}

/// All counters at about one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    pub clocks: Clocks,
    /// The times of each watched CPU that the kernel shows, by its number.
    pub cpus: BTreeMap<usize, CpuTime>,
    /// The CPU time of all processes and kernel threads on the watched CPUs, exact to a tick of the scheduler. `None`
    /// if the kernel does not keep it.
    pub tasks: Option<Duration>,
    /// The number of context switches on the machine since its boot.
    pub switches: u64,
    /// The CPU time of kumite's own process.
    pub own_cpu: Duration,
    /// The number of times that the watched CPUs were slowed down because of heat. `None` if the kernel does not
    /// count them.
    pub thermal_throttles: Option<u64>,
    /// The number of times that a CPU limit of our own cgroup, or of one above it, stopped us. `None` if no cgroup
    /// counts them.
    pub quota_throttles: Option<u64>,
}

/// The times of a CPU that the kernel measures. The others in `/proc/stat` (user, nice, system) are guessed at the
/// ticks of the clock: a server that works for less than a tick at a time can be missing from them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CpuTime {
    /// The time in which nothing ran.
    pub idle: Duration,
    /// The time in which interrupts were served. Zero if the kernel counts it in the time of processes.
    pub interrupts: Duration,
    /// The time in which something would have run and the hypervisor ran something else. `None` if the kernel does
    /// not count it.
    pub stolen: Option<Duration>,
    /// The CPU's frequency now, in kHz. `None` if the kernel does not show it.
    pub khz: Option<f64>,
}

impl Reading {
    /// Reads the counters. Those that the kernel keeps for each CPU are read for these CPUs alone.
    pub fn take(system: &System, groups: &CgroupFiles, cpus: &BTreeSet<usize>) -> Reading {
        let stat = system.text("/proc/stat").unwrap_or_default();
        let quotas = groups.quotas.iter().filter_map(|file| quota_throttles(system, file));
        Reading {
            clocks: Clocks::read(),
            cpus: stat.lines().filter_map(|line| cpu_time(system, cpus, line)).collect(),
            tasks: groups.tasks.as_deref().and_then(|file| tasks(&system.text(file)?, cpus)),
            switches: stat.lines().find_map(|line| line.strip_prefix("ctxt ")?.parse().ok()).unwrap_or(0),
            own_cpu: own_cpu(),
            thermal_throttles: thermal_throttles(system, cpus),
            quota_throttles: quotas.reduce(|a, b| a + b),
        }
    }
}

/// The CPU time of this process until now, all its threads included; children are not.
pub fn own_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // A clock that somebody fakes may be negative.
    u64::try_from(time.tv_sec).map_or(Duration::ZERO, |seconds| Duration::new(seconds, time.tv_nsec as u32))
}

fn cpu_time(system: &System, cpus: &BTreeSet<usize>, line: &str) -> Option<(usize, CpuTime)> {
    let (name, times) = line.split_once(' ')?;
    let cpu = name.strip_prefix("cpu")?.parse().ok().filter(|cpu| cpus.contains(cpu))?;
    let khz = system.value(&format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"));
    Some((cpu, CpuTime { khz: khz.filter(|khz| *khz > 0.0), ..CpuTime::parse(times)? }))
}

fn tasks(usage: &str, cpus: &BTreeSet<usize>) -> Option<Duration> {
    let times: Option<Vec<u64>> = usage.split_ascii_whitespace().map(|time| time.parse().ok()).collect();
    let times = times?;
    cpus.iter().map(|cpu| times.get(*cpu).copied().map(Duration::from_nanos)).sum()
}

fn thermal_throttles(system: &System, cpus: &BTreeSet<usize>) -> Option<u64> {
    let file = |cpu, what| format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{what}_throttle_count");
    let files = cpus.iter().flat_map(|cpu| ["core", "package"].map(|what| file(cpu, what)));
    files.filter_map(|file| system.value::<u64>(&file)).reduce(|a, b| a + b)
}

impl CpuTime {
    /// Parses the times of a CPU in `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal. `None` if
    /// one before steal is missing.
    fn parse(times: &str) -> Option<CpuTime> {
        let ticks: Vec<u64> = times.split_ascii_whitespace().map_while(|time| time.parse().ok()).collect();
        let time = |nth: usize| Some(Duration::from_millis(TICK_MS * *ticks.get(nth)?));
        let (hard, soft) = (time(5)?, time(6)?);
        // A kernel that does not measure interrupts (no IRQ_TIME_ACCOUNTING) counts their time as that of the process
        // that they interrupt, and its count of hard ones stays 0.
        let interrupts = if hard.is_zero() { Duration::ZERO } else { hard + soft };
        Some(CpuTime { idle: time(3)? + time(4)?, interrupts, stolen: time(7), khz: None })
    }
}

fn quota_throttles(system: &System, file: &str) -> Option<u64> {
    system.text(file)?.lines().find_map(|line| line.strip_prefix("nr_throttled ")?.trim().parse().ok())
}
