//! Groups that are frozen, and what becomes of them.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use kumite_process::{Group, Spawn, Tree, end_orphans};
use kumite_testing::eventually;
use kumite_testing::process::{Bench, ESCAPES, alive, groups_of, guardian, helper};

use crate::stay;

/// Has some, and never thaws them.
pub fn freeze(dir: &Path) {
    let group = Group::new().unwrap();
    let command = format!("{ESCAPES} echo $$ > root; sleep 300");
    let log = dir.join("log");
    let spawn =
        Spawn { command: &command, dir, env: &[], keeps: None, cores: &[], log: &log, group: Some(&group) };
    let _tree = Tree::start(&spawn).unwrap();
    let _empty = Group::new().unwrap();
    let written = |file| fs::metadata(dir.join(file)).is_ok_and(|file| file.len() > 0);
    eventually(|| ["root", "escaped"].into_iter().all(written));
    group.freeze().unwrap();
    fs::write(dir.join("ready"), std::process::id().to_string()).unwrap();
    stay();
}

/// Of one that was killed after its guardian.
pub fn are_ended_and_removed() {
    let bench = Bench::new();
    let mut command = Command::new(helper());
    command.arg("freeze").arg(bench.dir()).stdout(Stdio::null()).process_group(0);
    let mut owner = command.spawn().unwrap();
    bench.pid("ready");
    let members = ["root", "escaped"].map(|file| bench.pid(file));
    let groups = groups_of(owner.id());
    let shell = guardian(owner.id()).unwrap();
    Command::new("kill").args(["-KILL", &shell.to_string()]).status().unwrap();
    eventually(|| !alive(shell));
    owner.kill().unwrap();
    owner.wait().unwrap();

    assert!(members.iter().all(|&pid| alive(pid)), "{members:?} live on without it");
    assert_eq!(groups_of(owner.id()), groups);
    let ended = end_orphans();
    let has = |pid: &u32| ended.iter().any(|orphan| orphan.pid == *pid);
    assert!(members.iter().all(has), "{members:?} {ended:?}");
    assert!(!members.iter().any(|&pid| alive(pid)));
    assert!(groups_of(owner.id()).is_empty());
}
