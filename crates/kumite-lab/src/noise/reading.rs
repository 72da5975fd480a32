//! What the kernel has counted until now.

use std::collections::BTreeMap;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::clocks::Clocks;
use crate::doctor::{Groups, System};

/// Of `/proc/stat`: USER_HZ is 100 in the ABI of every architecture that Rust and Linux both still serve.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// Where to look.
#[derive(Debug)]
pub(super) struct Sources {
    system: System,
    cpus: Vec<usize>,
    /// `cpu.stat` of our own cgroup and those above it.
    quotas: Vec<String>,
}

/// All counters, at about one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    pub clocks: Clocks,
    /// Of those that are watched and that the kernel tells of.
    pub cpus: BTreeMap<usize, CpuTime>,
    /// Of kumite's own process.
    pub own_cpu: Duration,
    /// How often CPUs were slowed down for their heat.
    pub thermal_throttles: Option<u64>,
    /// How often a cgroup's CPU limit stopped us.
    pub quota_throttles: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CpuTime {
    /// In which something ran, interrupts included.
    pub busy: Duration,
    /// In which something would have run, and the hypervisor ran something else.
    pub stolen: Option<Duration>,
    /// Its frequency now.
    pub khz: Option<f64>,
}

impl Sources {
    pub fn of(system: System, cpus: &[usize]) -> Sources {
        let groups = Groups::of(&system);
        let file = |folder: &str| format!("{folder}/cpu.stat");
        let mut quotas: Vec<String> = groups.folders("cpu").map(file).collect();
        quotas.retain(|file| quota_throttles(&system, file).is_some());
        let mut cpus = cpus.to_vec();
        cpus.sort_unstable();
        cpus.dedup();
        Sources { system, cpus, quotas }
    }

    pub fn read(&self) -> Reading {
        let system = &self.system;
        let mut cpus = self.cpu_times();
        let mut thermal_throttles = None;
        for (cpu, time) in &mut cpus {
            let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
            time.khz = system.value(&format!("{folder}/cpufreq/scaling_cur_freq")).filter(|khz| *khz > 0.0);
            for what in ["core", "package"] {
                let file = format!("{folder}/thermal_throttle/{what}_throttle_count");
                let count: Option<u64> = system.value(&file);
                thermal_throttles =
                    count.map(|count| count + thermal_throttles.unwrap_or(0)).or(thermal_throttles);
            }
        }
        let own_cpu = clock_gettime(ClockId::ProcessCPUTime);
        Reading {
            clocks: Clocks::read(),
            cpus,
            own_cpu: Duration::new(own_cpu.tv_sec.unsigned_abs(), own_cpu.tv_nsec as u32),
            thermal_throttles,
            quota_throttles: self
                .quotas
                .iter()
                .map(|file| quota_throttles(system, file))
                .sum::<Option<u64>>()
                .filter(|_| !self.quotas.is_empty()),
        }
    }

    fn cpu_times(&self) -> BTreeMap<usize, CpuTime> {
        let text = self.system.text("/proc/stat").unwrap_or_default();
        let line = |line: &str| {
            let (name, times) = line.split_once(' ')?;
            let cpu = name.strip_prefix("cpu")?.parse().ok()?;
            Some((cpu, cpu_time(times)?)).filter(|(cpu, _)| self.cpus.contains(cpu))
        };
        text.lines().filter_map(line).collect()
    }
}

/// From user, nice, system, idle, iowait, irq, softirq, steal.
fn cpu_time(times: &str) -> Option<CpuTime> {
    let ticks: Vec<u32> = times.split_whitespace().take(8).map_while(|time| time.parse().ok()).collect();
    let busy = [0, 1, 2, 5, 6].iter().map(|nth| ticks.get(*nth)).sum::<Option<u32>>()?;
    Some(CpuTime { busy: TICK * busy, stolen: ticks.get(7).map(|ticks| TICK * *ticks), khz: None })
}

fn quota_throttles(system: &System, file: &str) -> Option<u64> {
    let text = system.text(file)?;
    text.lines().find_map(|line| line.strip_prefix("nr_throttled ")?.trim().parse().ok())
}
