//! Hierarchies that the machine at hand may lack: folders that stand for them, and a real one without the other
//! version.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kumite_testing::{Capability, lacks};
use tempfile::TempDir;

use super::dirs::CgroupDirs;
use super::{Group, Hierarchies, Version};
use crate::{Error, Spawn, Tree, Unavailable};

const V2_FILES: [(&str, &str); 9] = [
    ("cgroup.procs", ""),
    ("cgroup.freeze", ""),
    ("cgroup.events", "populated 0\nfrozen 1\n"),
    ("cpu.max", ""),
    ("cpu.stat", "usage_usec 1234567\nuser_usec 1\nthrottled_usec 89\n"),
    ("memory.max", ""),
    ("memory.swap.max", ""),
    ("memory.events", "oom 7\noom_kill 3\noom_group_kill 1\n"),
    ("memory.peak", "4096\n"),
];
const V1_FILES: [(&str, &str); 11] = [
    ("cgroup.procs", ""),
    ("freezer.state", ""),
    ("cpu.cfs_quota_us", ""),
    ("cpu.cfs_period_us", ""),
    ("cpu.stat", "nr_throttled 3\nthrottled_time 89000\n"),
    ("cpuacct.usage", "1234567000\n"),
    ("memory.limit_in_bytes", ""),
    ("memory.memsw.limit_in_bytes", ""),
    ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"),
    ("memory.max_usage_in_bytes", "4096\n"),
    ("memory.swappiness", "60"),
];
const V2_HERE: [(&str, &str); 4] = [
    ("proc/self/cgroup", "0::/a/b\n"),
    ("proc/self/mounts", "proc /proc proc rw 0 0\ncgroup2 /cg cgroup2 rw 0 0\n"),
    ("cg/a/b/cgroup.controllers", "cpu memory\n"),
    ("cg/a/b/cgroup.subtree_control", "\n"),
];
const V1_HERE: [(&str, &str); 4] = [
    ("proc/self/cgroup", "4:memory:/a\n3:freezer:/hidden\n2:cpu,cpuacct:/../x\n1:pids:/\n"),
    (
        "proc/self/mounts",
        "cgroup /cg/cpu cgroup rw,cpu,cpuacct 0 0\ncgroup /cg/memory cgroup rw,memory 0 0\n\
         cgroup /cg/freezer cgroup rw,freezer 0 0\ncgroup /cg/pids cgroup rw,pids 0 0\n",
    ),
    ("cg/memory/a/x", ""),
    ("cg/x/x", ""),
];

fn machine(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let file = root.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    for folder in ["cg/cpu", "cg/freezer", "cg/pids"] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    root
}

fn dirs(root: &Path, files: &[(&'static str, &'static str)]) -> CgroupDirs {
    let mut hierarchies = Hierarchies::at(root);
    hierarchies.files = files.to_vec();
    CgroupDirs::below(&hierarchies)
}

/// The text of this file, in whichever folder of the group it is.
fn written(dirs: &CgroupDirs, file: &str) -> String {
    dirs.folders().iter().map(|folder| fs::read_to_string(folder.join(file)).unwrap()).collect()
}

#[test]
fn version_2_is_written_to_and_read_as_it_is_documented() {
    let root = machine(&V2_HERE);
    let dirs = dirs(root.path(), &V2_FILES);
    let control = dirs.control();
    assert_eq!(control.cpu, Ok(Version::V2));
    assert_eq!((control.memory, control.freezer), (Ok(Version::V2), Ok(Version::V2)));
    let folders = Vec::from_iter(dirs.folders());
    assert_eq!(folders.len(), 1);
    assert_eq!(folders[0].parent().unwrap(), root.path().join("cg/a/b"));
    let asked = fs::read_to_string(root.path().join("cg/a/b/cgroup.subtree_control")).unwrap();
    assert_eq!(asked, "+memory", "and +cpu before");

    dirs.limit_cpu(Some(128.0 / 1769.0)).unwrap();
    assert_eq!(written(&dirs, "cpu.max"), "1447 20000");
    dirs.limit_memory(1 << 27).unwrap();
    assert_eq!(
        (written(&dirs, "memory.max"), written(&dirs, "memory.swap.max")),
        ("134217728".into(), "0".into())
    );
    dirs.freeze().unwrap();
    assert_eq!(written(&dirs, "cgroup.freeze"), "1");
    dirs.thaw().unwrap();
    assert_eq!(written(&dirs, "cgroup.freeze"), "0");
    assert_eq!(dirs.cpu().unwrap(), Duration::from_micros(1_234_567));
    assert_eq!(dirs.throttled(), Some(Duration::from_micros(89)));
    assert_eq!((dirs.oom_kills(), dirs.peak_memory_bytes()), (Some(3), Some(4096)));
}

#[test]
fn version_1_is_written_to_and_read_as_it_is_documented() {
    let root = machine(&V1_HERE);
    let dirs = dirs(root.path(), &V1_FILES);
    let control = dirs.control();
    assert_eq!(control.cpu, Ok(Version::V1));
    assert_eq!((control.memory, control.freezer), (Ok(Version::V1), Ok(Version::V1)));
    let bases = dirs.folders().into_iter().map(|folder| folder.parent().unwrap().to_owned());
    let expected = ["cpu", "freezer", "memory/a"].map(|base| root.path().join("cg").join(base));
    assert_eq!(Vec::from_iter(bases), expected, "the mount point where ours is hidden, and none of pids");

    dirs.limit_cpu(Some(0.3)).unwrap();
    assert_eq!(
        (written(&dirs, "cpu.cfs_period_us"), written(&dirs, "cpu.cfs_quota_us")),
        ("20000".into(), "6000".into())
    );
    dirs.limit_memory(1 << 27).unwrap();
    assert_eq!(written(&dirs, "memory.limit_in_bytes"), "134217728");
    assert_eq!(written(&dirs, "memory.memsw.limit_in_bytes"), "134217728");
    dirs.freeze().unwrap();
    dirs.thaw().unwrap();
    assert_eq!(written(&dirs, "freezer.state"), "THAWED");
    assert_eq!(dirs.cpu().unwrap(), Duration::from_micros(1_234_567));
    assert_eq!(dirs.throttled(), Some(Duration::from_micros(89)));
    assert_eq!((dirs.oom_kills(), dirs.peak_memory_bytes()), (Some(3), Some(4096)));
}

#[test]
fn a_share_is_given_in_short_periods_and_never_less_than_the_kernel_takes() {
    let root = machine(&V2_HERE);
    let dirs = dirs(root.path(), &V2_FILES);
    let max = |share| {
        fs::write(dirs.folders().first().unwrap().join("cpu.max"), "").unwrap();
        dirs.limit_cpu(share).map(|()| written(&dirs, "cpu.max"))
    };
    assert_eq!(max(Some(1.5)).unwrap(), "30000 20000");
    assert_eq!(max(Some(0.05)).unwrap(), "1000 20000");
    assert_eq!(max(Some(0.01)).unwrap(), "1000 100000");
    assert_eq!(max(Some(0.001)).unwrap(), "1000 1000000");
    assert_eq!(max(None).unwrap(), "max");
    for share in [0.0, -1.0, 0.0009, f64::NAN, f64::INFINITY] {
        assert!(matches!(max(Some(share)), Err(Error::Share { .. })), "{share}");
    }
}

#[test]
fn a_controller_that_cannot_be_had_says_why() {
    let why = |files: &[(&str, &str)], kernel| dirs(machine(files).path(), kernel).control();
    let none = why(&[], &[]);
    assert_eq!(none.cpu, Err(Unavailable::Unmounted { controller: "cpu" }));
    assert_eq!(none.cpu.unwrap_err().to_string(), "not to be had: no cgroup hierarchy with cpu is mounted");
    let undelegated = why(&V2_HERE[..2], &V2_FILES);
    let Err(Unavailable::Undelegated { controller: "cpu", .. }) = &undelegated.cpu else { panic!() };
    assert!(undelegated.cpu.unwrap_err().to_string().contains("does not have cpu; run in a group"));
    let old = why(&V2_HERE, &[("cpu.max", ""), ("memory.max", "")]);
    assert_eq!((old.cpu, old.memory), (Ok(Version::V2), Ok(Version::V2)));
    assert!(matches!(old.freezer, Err(Unavailable::NoFile { file: "cgroup.freeze", .. })));

    let root = machine(&V2_HERE);
    let dirs = dirs(root.path(), &[]);
    let Error::NoGroup { what, source } = dirs.limit_memory(1 << 20).unwrap_err() else { panic!() };
    assert_eq!((what, source), ("limit memory", dirs.control().memory.unwrap_err()));
    assert!(matches!(Group::at(dirs), Err(Error::NoGroup { .. })));
}

#[test]
fn version_2_has_what_version_1_lacks() {
    let both = [
        ("proc/self/cgroup", "2:cpu:/\n0::/\n"),
        ("proc/self/mounts", "cgroup /cg/cpu cgroup rw,cpu 0 0\ncgroup2 /cg cgroup2 rw 0 0\n"),
    ];
    let dirs = dirs(machine(&both).path(), &[V1_FILES.as_slice(), &V2_FILES].concat());
    let control = dirs.control();
    assert_eq!((control.cpu, control.freezer), (Ok(Version::V1), Ok(Version::V2)));
    assert!(control.memory.is_err());
}

#[test]
fn a_tree_that_cannot_be_put_into_its_group_is_not_started() {
    let root = machine(&V2_HERE);
    let group = Group::at(dirs(root.path(), &V2_FILES)).unwrap();
    let dir = root.path();
    let spawn = Spawn {
        command: "echo > ran",
        dir,
        env: &[],
        keeps: None,
        cores: &[],
        log: &dir.join("log"),
        group: Some(&group),
    };
    fs::remove_file(group.dirs().folders().first().unwrap().join("cgroup.procs")).unwrap();
    let Err(Error::Group { path, .. }) = Tree::start(&spawn) else { panic!() };
    assert!(path.ends_with("cgroup.procs"));
    assert!(!dir.join("ran").exists());
}

/// The real version 2 of this machine, as if the machine had no version 1.
#[test]
fn version_2_freezes_counts_and_kills() {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let v2 = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"));
    let ours = fs::read_to_string("/proc/self/cgroup").unwrap();
    let Some((mount, ours)) = v2.zip(ours.lines().find(|line| line.starts_with("0::"))) else {
        return lacks(Capability::ControlGroupV2, "none is mounted");
    };
    let root = machine(&[("proc/self/mounts", mount), ("proc/self/cgroup", ours)]);
    std::os::unix::fs::symlink("/sys", root.path().join("sys")).unwrap();
    let hierarchies = Hierarchies::at(root.path());
    let dirs = CgroupDirs::below(&hierarchies);
    if let Err(why) = dirs.control().freezer {
        return lacks(Capability::ControlGroupV2, why);
    }
    let folders: Vec<PathBuf> = dirs.folders().into_iter().collect();
    let group = Group::at(dirs).unwrap();
    let dir = root.path();
    let command = "while :; do echo x >> count; done";
    let log = &dir.join("log");
    let spawn = Spawn { command, dir, env: &[], keeps: None, cores: &[], log, group: Some(&group) };
    let mut tree = Tree::start(&spawn).unwrap();
    let count = || fs::metadata(dir.join("count")).map_or(0, |file| file.len());
    let grows = |from| {
        while count() <= from {
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    grows(0);
    group.freeze().unwrap();
    let (frozen, used) = (count(), group.cpu().unwrap());
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!((count(), group.cpu().unwrap()), (frozen, used));
    group.thaw().unwrap();
    grows(frozen);
    // The kernel adds up what a running process used at its next tick.
    while group.cpu().unwrap() <= used {
        std::thread::sleep(Duration::from_millis(2));
    }
    group.freeze().unwrap();
    group.kill().unwrap();
    while tree.exited().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(group);
    assert!(folders.iter().all(|folder| !folder.exists()), "{folders:?}");
}
