//! Facts of this machine that matter to results, each with its consequence and a remedy. Nothing on the machine is
//! changed to find them.

mod cgroup;
mod clock;
mod cpu;
mod limits;
mod memory;
mod noise;
mod rights;

use std::path::Path;

use kumite_process::available_cores;
use kumite_record::{Cores, Finding};

use crate::machine::cores;
use crate::system::System;

/// Finds all facts of this machine. This takes about a tenth of a second, because the clock is read for a while, and
/// sleeps are tried.
pub fn facts() -> Vec<Finding> {
    let (system, available) = (System::at(Path::new("/")), available_cores());
    let mut found = findings(&system, &cores(), &available);
    found.extend(clock::measured());
    found.push(noise::finding(&system, &available));
    found
}

/// The findings that are read from the kernel's files: all but those of clock measurements and of noise.
fn findings(system: &System, cores: &Cores, available: &[usize]) -> Vec<Finding> {
    let mut findings = cpu::findings(system, cores, available);
    findings.extend(memory::findings(system));
    findings.extend(limits::findings(system));
    findings.extend(cgroup::findings(system, available.len()));
    findings.extend(rights::findings(system));
    findings.push(clock::source(system));
    findings
}

#[cfg(test)]
mod tests {
    use kumite_record::Fitness;

    use super::*;

    fn two_cpus() -> Cores {
        Cores { contender: vec![0], engine: vec![1], apart: false }
    }

    #[test]
    fn a_machine_that_tells_nothing_is_unknown_and_no_panic() {
        let folder = tempfile::tempdir().unwrap();
        let found = findings(&System::at(folder.path()), &two_cpus(), &[0, 1]);
        for finding in &found {
            let known_otherwise = ["cpus", "uinput"].contains(&finding.name.as_str());
            assert_eq!(finding.state == Fitness::Unknown, !known_otherwise, "{finding:?}");
        }
        let nowhere = findings(&System::at(Path::new("/nowhere")), &Cores::default(), &[]);
        assert_eq!(nowhere.len(), found.len());
        assert!(nowhere.iter().all(|finding| finding.state != Fitness::Ok));
    }

    #[test]
    fn files_with_nonsense_in_them_are_no_panic() {
        for nonsense in
            ["\n", "-1", "x y z", "99999999999999999999999999", "cpu  x\nMax open files a b\n0::\n::"]
        {
            let system = System::with(&[
                ("proc/cpuinfo", nonsense),
                ("proc/stat", nonsense),
                ("proc/loadavg", nonsense),
                ("proc/meminfo", nonsense),
                ("proc/self/limits", nonsense),
                ("proc/self/status", nonsense),
                ("proc/self/cgroup", nonsense),
                ("proc/self/mounts", nonsense),
                ("proc/sys/net/core/somaxconn", nonsense),
                ("proc/sys/net/ipv4/ip_local_port_range", nonsense),
                ("proc/sys/net/ipv4/tcp_tw_reuse", nonsense),
                ("proc/sys/kernel/io_uring_disabled", nonsense),
                ("proc/sys/kernel/perf_event_paranoid", nonsense),
            ]);
            assert!(findings(&system, &two_cpus(), &[0, 1]).iter().all(|finding| !finding.found.is_empty()));
        }
    }

    #[test]
    fn a_finding_that_is_limited_or_missing_has_a_consequence_and_a_remedy() {
        let here = findings(&System::at(Path::new("/")), &cores(), &available_cores());
        for finding in here {
            let unmet = matches!(finding.state, Fitness::Limited | Fitness::Missing);
            assert_eq!(unmet, finding.consequence.is_some() && finding.remedy.is_some(), "{finding:?}");
        }
    }

    #[test]
    fn findings_have_unique_names() {
        let mut names: Vec<(String, String)> = findings(&System::at(Path::new("/")), &two_cpus(), &[0, 1])
            .into_iter()
            .chain(clock::measured())
            .map(|finding| (finding.group, finding.name))
            .collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
