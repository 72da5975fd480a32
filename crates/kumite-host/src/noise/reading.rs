//! The kernel's counters at one moment.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::clocks::Clocks;
use crate::groups::Groups;
use crate::system::System;

/// Of `/proc/stat`: USER_HZ is 100 in the ABI of every architecture that Rust and Linux both still serve.
const TICK_MS: u64 = 10;

/// Paths of the files of cgroups that are read.
#[derive(Clone, Debug)]
pub(super) struct CgroupFiles {
    /// The exact CPU time of all that runs here, CPU by CPU, where the kernel keeps it: in version 1 of cgroups.
    tasks: Option<String>,
    /// `cpu.stat` of our own cgroup and those above it.
    quotas: Vec<String>,
}

impl CgroupFiles {
    pub fn find(system: &System) -> CgroupFiles {
        let groups = Groups::read(system);
        // Below the root, as in a container, it would be the time of some processes only. The root alone has this file.
        let root = groups.v1_mount("cpuacct").filter(|root| system.exists(&format!("{root}/release_agent")));
        let stats = groups.folders("cpu").map(|folder| format!("{folder}/cpu.stat"));
        CgroupFiles {
            tasks: root.map(|root| format!("{root}/cpuacct.usage_percpu")),
            quotas: stats.filter(|file| quota_throttles(system, file).is_some()).collect(),
        }
    }
}

/// All counters, at about one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    pub clocks: Clocks,
    /// Of those that are watched and that the kernel tells of.
    pub cpus: BTreeMap<usize, CpuTime>,
    /// CPU time of all processes and kernel threads on the watched CPUs, exact to a tick of the scheduler.
    pub tasks: Option<Duration>,
    /// Context switches of the machine.
    pub switches: u64,
    /// CPU time of kumite's own process.
    pub own_cpu: Duration,
    /// Times that CPUs were slowed down for their heat.
    pub thermal_throttles: Option<u64>,
    /// Times that a cgroup's CPU limit stopped us.
    pub quota_throttles: Option<u64>,
}

/// Of the times in `/proc/stat`, those that are measured. The others (user, nice, system) are guessed at the ticks of the
/// clock: a server that works for less than a tick at a time can be missing from them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CpuTime {
    /// Nothing ran.
    pub idle: Duration,
    /// Interrupts were served, if that is in no process's time.
    pub interrupts: Duration,
    /// Something would have run, and the hypervisor ran something else.
    pub stolen: Option<Duration>,
    /// Its frequency now.
    pub khz: Option<f64>,
}

impl Reading {
    /// Reads the counters of these CPUs, each of them once.
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

/// CPU time of this process.
pub fn own_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // One that was faked may be negative.
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
    /// From user, nice, system, idle, iowait, irq, softirq, steal.
    fn parse(times: &str) -> Option<CpuTime> {
        let ticks: Vec<u64> = times.split_ascii_whitespace().map_while(|time| time.parse().ok()).collect();
        let time = |nth: usize| Some(Duration::from_millis(TICK_MS * *ticks.get(nth)?));
        let (hard, soft) = (time(5)?, time(6)?);
        // A kernel that does not measure them (no IRQ_TIME_ACCOUNTING) leaves them in the time of whom they interrupt, and
        // never finds itself in a hard one when it looks.
        let interrupts = if hard.is_zero() { Duration::ZERO } else { hard + soft };
        Some(CpuTime { idle: time(3)? + time(4)?, interrupts, stolen: time(7), khz: None })
    }
}

fn quota_throttles(system: &System, file: &str) -> Option<u64> {
    system.text(file)?.lines().find_map(|line| line.strip_prefix("nr_throttled ")?.trim().parse().ok())
}
