//! A description of the machine that a run is measured on, and the division of its CPUs.

use std::collections::BTreeSet;
use std::path::Path;

use kumite_process::available_cores;
use kumite_record::{Cores, Machine};

/// The CPUs that this thread may use, divided: the last is for the load engine, the others are for the contender. If
/// there is only one, both have it.
pub fn cores() -> Cores {
    let mut contender = available_cores();
    let engine = contender.last().copied().into_iter().collect();
    if contender.len() > 1 {
        contender.pop();
    }
    Cores { contender, engine, apart: false }
}

/// Describes this machine from the kernel's files. A fact that the kernel does not tell is empty, zero, false or none
/// in the description. `cores` is taken over as it is.
pub fn machine(cores: Cores) -> Machine {
    let available = available_cores();
    let cpuinfo = read("/proc/cpuinfo");
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once([':', '='])?.1.trim().trim_matches('"').to_owned())
    };
    let memory_kib: u64 = field(&read("/proc/meminfo"), "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse().ok())
        .unwrap_or_default();
    Machine {
        kernel: format!("{} {}", read("/proc/sys/kernel/ostype"), read("/proc/sys/kernel/osrelease")),
        os: field(&read("/etc/os-release"), "PRETTY_NAME").unwrap_or_default(),
        cpu: field(&cpuinfo, "model name").unwrap_or_default(),
        cpus: available.len(),
        smt_siblings: siblings(&available),
        memory_bytes: memory_kib * 1024,
        virtual_machine: field(&cpuinfo, "flags")
            .is_some_and(|flags| flags.split(' ').any(|f| f == "hypervisor")),
        governor: Some(read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
            .filter(|g| !g.is_empty()),
        cores,
    }
}

/// The first eight characters of the id that the kernel gives each boot. They are the same in all containers of one
/// machine, and different on other machines. `None` if the kernel does not say.
pub fn boot() -> Option<String> {
    let id = read("/proc/sys/kernel/random/boot_id");
    id.get(..8).map(str::to_owned)
}

fn siblings(available: &[usize]) -> Vec<Vec<usize>> {
    let groups: BTreeSet<Vec<usize>> = available
        .iter()
        .map(|cpu| cpu_list(&read(format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"))))
        .filter(|group| group.len() > 1)
        .collect();
    groups.into_iter().collect()
}

/// The numbers in a kernel's list of CPUs such as `0-2,5`. Parts that are no numbers are left out.
pub(crate) fn cpu_list(text: &str) -> Vec<usize> {
    text.split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
        })
        .flatten()
        .collect()
}

fn read(file: impl AsRef<Path>) -> String {
    std::fs::read_to_string(file).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_list_with_ranges_is_read() {
        assert_eq!(cpu_list("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(cpu_list("3"), [3]);
        assert_eq!(cpu_list(""), [0; 0]);
    }

    #[test]
    fn this_machine_has_a_name_and_memory() {
        let machine = machine(cores());
        assert!(machine.kernel.starts_with("Linux ") && machine.memory_bytes > 0 && machine.cpus > 0);
        let (contender, engine) = (&machine.cores.contender, &machine.cores.engine);
        assert!(!contender.is_empty() && engine.len() == 1);
        assert!(
            machine.cpus == 1 || !contender.contains(&engine[0]),
            "on different CPUs where there are two"
        );
    }
}
