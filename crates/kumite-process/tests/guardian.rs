//! What becomes of the trees of a process that is gone without having stopped them. Each test runs this very program, as
//! `helper`, and never calls `end_orphans`.

mod common;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Bench, LONG, alive, eventually, sleeps};
use kumite_process::{Spawn, Tree};

/// Has two trees, one of them paused, and never stops them.
#[test]
#[ignore = "is what the other tests kill"]
fn helper() {
    let Ok(dir) = std::env::var("HELPER_DIR") else { return };
    let dir = Path::new(&dir);
    if std::env::var_os("HELPER_NESTED").is_some() {
        let this = std::env::current_exe().unwrap();
        let command = format!("exec env -u HELPER_NESTED '{}' --exact helper --ignored", this.display());
        let log = &dir.join("outer-log");
        let _tree =
            Tree::start(&Spawn { command: &command, dir, env: &[], cores: &[], log, group: None }).unwrap();
        std::thread::sleep(Duration::from_secs(300));
    }
    let start = |command| {
        Tree::start(&Spawn { command, dir, env: &[], cores: &[], log: &dir.join("log"), group: None })
            .unwrap()
    };
    let one = start(
        "trap '' TERM HUP; setsid sh -c 'sh -c \"echo \\$\\$ > daemon; exec sleep 300\" & exit' &
         env -i sh -c 'echo $$ > cleared; exec sleep 300' & sleep 300 & echo $! > child; echo $$ > root; wait",
    );
    let mut two = start("echo $$ > paused; sleep 300");
    eventually(|| dir.join("paused").exists());
    assert!(two.pause());
    fs::write(dir.join("ready"), std::process::id().to_string()).unwrap();
    if std::env::var_os("HELPER_EXITS").is_some() {
        eventually(|| dir.join("exit").exists());
        std::process::exit(0);
    }
    std::thread::sleep(Duration::from_secs(300));
    drop((one, two));
}

fn start(bench: &Bench, environment: &[(&str, &str)]) -> (Child, Vec<u32>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "helper", "--ignored", "--nocapture"]).env("HELPER_DIR", bench.dir());
    command.envs(environment.iter().copied()).stdout(Stdio::null()).process_group(0);
    let helper = command.spawn().unwrap();
    let log = || fs::read_to_string(bench.dir().join("outer-log")).unwrap_or_default();
    let began = Instant::now();
    while !bench.dir().join("ready").exists() {
        assert!(began.elapsed() < LONG, "the helper is not ready: {}", log());
        std::thread::sleep(Duration::from_millis(5));
    }
    let members = ["root", "child", "daemon", "cleared", "paused"].map(|name| bench.pid(name));
    let [_, child, daemon, cleared, _] = members;
    eventually(|| [child, daemon, cleared].into_iter().all(sleeps));
    assert!(members.into_iter().all(alive));
    (helper, members.to_vec())
}

fn guardian(of: u32) -> Option<u32> {
    let is_guardian = |pid: &u32| {
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.contains("kumite-guardian") && command.contains(&format!("-{of}-"))
    };
    let pids = fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(is_guardian)
}

fn all_end(helper: &Child, members: &[u32]) {
    eventually(|| !members.iter().any(|&pid| alive(pid)));
    eventually(|| guardian(helper.id()).is_none());
}

#[test]
fn of_one_that_was_killed() {
    let bench = Bench::new();
    let (mut helper, members) = start(&bench, &[]);
    assert!(alive(guardian(helper.id()).unwrap()));
    helper.kill().unwrap();
    helper.wait().unwrap();
    all_end(&helper, &members);
}

#[test]
fn of_one_whose_process_group_was_killed() {
    let bench = Bench::new();
    let (mut helper, members) = start(&bench, &[]);
    let group = format!("-{}", helper.id());
    assert!(Command::new("kill").args(["-KILL", "--", &group]).status().unwrap().success());
    helper.wait().unwrap();
    all_end(&helper, &members);
}

#[test]
fn of_one_that_exits_in_the_middle() {
    let bench = Bench::new();
    let (mut helper, members) = start(&bench, &[("HELPER_EXITS", "1")]);
    fs::write(bench.dir().join("exit"), "").unwrap();
    assert!(helper.wait().unwrap().success());
    all_end(&helper, &members);
}

#[test]
fn of_one_in_a_tree_of_another_that_was_killed() {
    let bench = Bench::new();
    let (mut outer, members) = start(&bench, &[("HELPER_NESTED", "1")]);
    let inner = bench.pid("ready");
    assert!(inner != outer.id() && alive(guardian(inner).unwrap()));
    outer.kill().unwrap();
    outer.wait().unwrap();
    all_end(&outer, &members);
    eventually(|| !alive(inner) && guardian(inner).is_none());
}
