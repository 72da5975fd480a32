//! Trees of a process that is gone without having stopped them are ended although nobody calls `end_orphans`.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use kumite_process::spawn_unmarked;
use kumite_testing::eventually;
use kumite_testing::process::{Bench, alive, guardian, helper, output, sleeps};

fn start(bench: &Bench, how: &str) -> (Child, Vec<u32>) {
    let mut command = Command::new(helper());
    command.arg("trees").arg(bench.dir()).arg(how).stdout(Stdio::null()).process_group(0);
    let helper = spawn_unmarked(&mut command).unwrap();
    eventually(|| bench.dir().join("ready").exists());
    let members = ["root", "child", "daemon", "cleared", "escaped", "paused"].map(|name| bench.pid(name));
    let [_, child, daemon, cleared, escaped, _] = members;
    eventually(|| [child, daemon, cleared, escaped].into_iter().all(sleeps));
    assert!(members.into_iter().all(alive));
    (helper, members.to_vec())
}

fn all_end(helper: &Child, members: &[u32]) {
    eventually(|| !members.iter().any(|&pid| alive(pid)));
    eventually(|| guardian(helper.id()).is_none());
}

#[test]
fn trees_of_a_killed_process_are_ended() {
    let bench = Bench::new();
    let (mut helper, members) = start(&bench, "stay");
    assert!(alive(guardian(helper.id()).unwrap()));
    helper.kill().unwrap();
    helper.wait().unwrap();
    all_end(&helper, &members);
}

#[test]
fn trees_of_a_killed_process_group_are_ended() {
    let bench = Bench::new();
    let (mut helper, members) = start(&bench, "stay");
    let group = format!("-{}", helper.id());
    assert!(output(Command::new("kill").args(["-KILL", "--", &group])).unwrap().status.success());
    helper.wait().unwrap();
    all_end(&helper, &members);
}

#[test]
fn trees_of_a_process_that_exits_are_ended() {
    let bench = Bench::new();
    let (mut helper, members) = start(&bench, "exit");
    fs::write(bench.dir().join("exit"), "").unwrap();
    assert!(helper.wait().unwrap().success());
    all_end(&helper, &members);
}

#[test]
fn trees_below_a_tree_of_a_killed_process_are_ended() {
    let bench = Bench::new();
    let (mut outer, members) = start(&bench, "below-another");
    let inner = bench.pid("ready");
    assert!(inner != outer.id() && alive(guardian(inner).unwrap()));
    outer.kill().unwrap();
    outer.wait().unwrap();
    all_end(&outer, &members);
    eventually(|| !alive(inner) && guardian(inner).is_none());
}
