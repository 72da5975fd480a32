//! Control groups as this machine has them. What it does not let us do is said, and not tested.

mod common;

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use common::{Bench, alive, eventually};
use kumite_process::{Control, Group, Spawn, Tree, available_cores, end_orphans};

const SECOND: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);
static NEVER: AtomicBool = AtomicBool::new(false);

/// Leaves the group and the session of its root, and has no environment that tells whose it is.
const ESCAPES: &str = "setsid env -i sh -c 'sh -c \"echo \\$\\$ > escaped; exec sleep 30\" & exit' &";

/// Whether this machine lets us; if not, says so.
fn may(test: &str, needs: fn(&Control) -> [&Result<kumite_process::Version, String>; 2]) -> bool {
    let control = Control::look();
    let why = needs(&control).into_iter().find_map(|result| result.as_ref().err());
    if let Some(why) = why {
        eprintln!("SKIPPED {test}: {why}");
    }
    why.is_none()
}

fn start(bench: &Bench, group: &Group, command: &str) -> Tree {
    Tree::start(&Spawn { group: Some(group), ..bench.spawn(&[], &bench.log(), command) }).unwrap()
}

/// The folders of the groups of this process.
fn groups_of(pid: u32) -> Vec<PathBuf> {
    fn below(folder: &Path, named: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                below(&entry.path(), named, found);
                if entry.file_name().to_string_lossy().contains(named) {
                    found.push(entry.path());
                }
            }
        }
    }
    let mut found = Vec::new();
    below(Path::new("/sys/fs/cgroup"), &format!("-{pid}-"), &mut found);
    found
}

fn length(bench: &Bench, file: &str) -> u64 {
    fs::metadata(bench.dir().join(file)).map_or(0, |file| file.len())
}

#[test]
fn a_tree_is_in_its_group_from_the_beginning_and_cannot_be_without() {
    if !may("a_tree_is_in_its_group", |control| [&control.cpu, &control.freezer]) {
        return;
    }
    let (bench, group) = (Bench::new(), Group::new().unwrap());
    let mut tree = start(&bench, &group, "cat /proc/$$/cgroup > first; echo \"$0 $GREETING\"; exit 3");
    assert_eq!(tree.wait(SECOND * 20, &NEVER).unwrap().unwrap().code(), Some(3));
    assert_eq!(bench.read("log"), "/bin/sh hello world\n");
    let first = bench.read("first");
    let named = first.lines().filter_map(|line| line.rsplit_once("/kumite-"));
    let named: Vec<_> = named.collect();
    assert!(!named.is_empty() && named.iter().all(|(_, name)| *name == named[0].1), "{first}");
    let control = Control::look();
    for (controller, had) in [("cpu", control.cpu), ("memory", control.memory), ("freezer", control.freezer)]
    {
        let Ok(version) = had else { continue };
        let controller = if version == kumite_process::Version::V1 { controller } else { "" };
        let is_in = |line: &&str| line.split(':').nth(1).unwrap().split(',').any(|name| name == controller);
        assert!(first.lines().find(is_in).unwrap().contains("/kumite-"), "{controller}: {first}");
    }
    let ours = fs::read_to_string("/proc/self/cgroup").unwrap();
    assert!(!ours.contains(named[0].1), "we are not in it");
}

#[test]
fn the_end_of_a_root_can_be_polled_for() {
    let bench = Bench::new();
    let tree = bench.start("read never; sleep 0.05");
    let mut fds = [rustix::event::PollFd::from_borrowed_fd(tree.pidfd(), rustix::event::PollFlags::IN)];
    let limit = rustix::event::Timespec { tv_sec: 20, tv_nsec: 0 };
    assert_eq!(rustix::event::poll(&mut fds, Some(&limit)).unwrap(), 1);
    assert!({ tree }.exited().unwrap().is_some());
}

#[test]
fn cpu_time_is_limited_and_counted_while_it_runs_and_changes() {
    if !may("cpu_time_is_limited", |control| [&control.cpu, &control.cpu]) {
        return;
    }
    let (bench, group) = (Bench::new(), Group::new().unwrap());
    group.limit_cpu(Some(0.1)).unwrap();
    let mut tree = start(&bench, &group, "(while :; do :; done) & while :; do :; done");
    let began = Instant::now();
    std::thread::sleep(SECOND);
    let used = group.cpu().unwrap();
    // However busy the machine is. A CPU overruns by a tick, or by the 5 ms that it takes in advance, and pays later.
    let most = began.elapsed().mul_f64(0.1) + available_cores().len() as u32 * 10 * MS;
    assert!(Duration::ZERO < used && used <= most, "{used:?} of at most {most:?}");
    eventually(|| group.throttled().unwrap() > Duration::ZERO);
    assert!(tree.usage().cpu <= group.cpu().unwrap() + 10 * MS);

    group.limit_cpu(None).unwrap();
    // At a tenth this takes 10 seconds or more.
    let (before, began) = (group.cpu().unwrap(), Instant::now());
    eventually(|| group.cpu().unwrap() > before + SECOND);
    let took = began.elapsed();
    eprintln!("a second of CPU time without limit took {took:?}");
    group.limit_cpu(Some(0.02)).unwrap();
    assert!(matches!(group.limit_cpu(Some(0.0)), Err(kumite_process::Error::Share { .. })));
}

#[test]
fn who_leaks_is_killed_at_the_limit_and_counted_and_others_go_on() {
    if !may("who_leaks_is_killed", |control| [&control.memory, &control.memory]) {
        return;
    }
    let (bench, other_bench) = (Bench::new(), Bench::new());
    let (group, other) = (Group::new().unwrap(), Group::new().unwrap());
    let limit = 32 << 20;
    group.limit_memory(limit).unwrap();
    other.limit_memory(limit).unwrap();
    let goes_on = start(&other_bench, &other, "while :; do echo x >> count; sleep 0.01; done");
    let mut leaks = start(&bench, &group, "x=xxxxxxxx; while :; do x=$x$x; done");
    assert_eq!(leaks.wait(SECOND * 20, &NEVER).unwrap().unwrap().signal(), Some(9));
    assert_eq!(group.oom_kills(), Some(1));
    let peak = group.peak_memory_bytes().unwrap();
    assert!((limit / 2..=limit).contains(&peak), "{peak}");
    let count = length(&other_bench, "count");
    eventually(|| length(&other_bench, "count") > count);
    assert!(alive(goes_on.id()) && other.oom_kills() == Some(0));
}

#[test]
fn nothing_goes_on_while_frozen_and_everything_does_afterwards() {
    if !may("nothing_goes_on_while_frozen", |control| [&control.freezer, &control.cpu]) {
        return;
    }
    let (bench, group) = (Bench::new(), Group::new().unwrap());
    let busy = "count() { while :; do echo x >> $1; done; }
        setsid env -i sh -c 'while :; do echo x >> left; done' & count root";
    let _tree = start(&bench, &group, busy);
    let written = || ["root", "left"].map(|file| length(&bench, file));
    for _ in 0..3 {
        let before = written();
        eventually(|| written().iter().zip(&before).all(|(now, before)| now > before));
        group.freeze().unwrap();
        let (frozen, used) = (written(), group.cpu().unwrap());
        std::thread::sleep(100 * MS);
        assert_eq!((written(), group.cpu().unwrap()), (frozen, used));
        group.freeze().unwrap();
        group.thaw().unwrap();
        eventually(|| group.cpu().unwrap() > used);
    }
}

#[test]
fn a_frozen_tree_ends_at_sigterm() {
    if !may("a_frozen_tree_ends", |control| [&control.freezer, &control.freezer]) {
        return;
    }
    let (bench, group) = (Bench::new(), Group::new().unwrap());
    let tree = start(
        &bench,
        &group,
        "trap 'echo bye > said; exit 3' TERM; echo $$ > ready; while :; do sleep 0.01; done",
    );
    bench.pid("ready");
    group.freeze().unwrap();
    let ended = tree.stop(SECOND * 20);
    assert_eq!(ended.status.unwrap().code(), Some(3));
    assert!(!ended.killed && bench.read("said") == "bye\n", "{ended:?}");
}

#[test]
fn a_frozen_tree_that_is_dropped_ends() {
    if !may("a_frozen_tree_that_is_dropped", |control| [&control.freezer, &control.freezer]) {
        return;
    }
    let (bench, group) = (Bench::new(), Group::new().unwrap());
    let tree = start(&bench, &group, "trap '' TERM; sleep 30 & echo $! > child; wait");
    let (root, child) = (tree.id(), bench.pid("child"));
    group.freeze().unwrap();
    drop(tree);
    assert!(!alive(root) && !alive(child));
}

#[test]
fn who_escaped_the_tree_does_not_escape_the_group_frozen_or_throttled() {
    if !may("who_escaped_the_tree", |control| [&control.freezer, &control.cpu]) {
        return;
    }
    for dropped in [false, true] {
        let (bench, group) = (Bench::new(), Group::new().unwrap());
        group.limit_cpu(Some(0.05)).unwrap();
        let mut tree = start(&bench, &group, &format!("{ESCAPES} sleep 30"));
        let escaped = bench.pid("escaped");
        group.freeze().unwrap();
        match dropped {
            false => group.kill().unwrap(),
            true => drop(group),
        }
        assert!(!alive(escaped) && !alive(tree.id()));
        assert_eq!(tree.wait(SECOND, &NEVER).unwrap().unwrap().signal(), Some(9));
    }
}

/// Has frozen groups, and never thaws them.
#[test]
#[ignore = "is what the other test kills"]
fn helper() {
    let Ok(dir) = std::env::var("HELPER_DIR") else { return };
    let dir = Path::new(&dir);
    let group = Group::new().unwrap();
    let command = format!("{ESCAPES} echo $$ > root; sleep 30");
    let log = dir.join("log");
    let spawn = Spawn { command: &command, dir, env: &[], cores: &[], log: &log, group: Some(&group) };
    let _tree = Tree::start(&spawn).unwrap();
    let _empty = Group::new().unwrap();
    let written = |file| fs::metadata(dir.join(file)).is_ok_and(|file| file.len() > 0);
    eventually(|| ["root", "escaped"].into_iter().all(written));
    group.freeze().unwrap();
    fs::write(dir.join("ready"), std::process::id().to_string()).unwrap();
    std::thread::sleep(SECOND * 30);
}

fn guardian(of: u32) -> Option<u32> {
    let is_guardian = |pid: &u32| {
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.contains("kumite-guardian") && command.contains(&format!("-{of}-"))
    };
    let pids = fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(is_guardian)
}

/// One test, because the second half looks at the whole machine.
#[test]
fn the_frozen_groups_of_one_that_was_killed_are_ended_and_removed() {
    if !may("the_frozen_groups_of_one_that_was_killed", |control| [&control.freezer, &control.freezer]) {
        return;
    }
    for guarded in [true, false] {
        let bench = Bench::new();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "helper", "--ignored", "--nocapture"]).env("HELPER_DIR", bench.dir());
        let mut helper = command.stdout(Stdio::null()).process_group(0).spawn().unwrap();
        bench.pid("ready");
        let members = ["root", "escaped"].map(|file| bench.pid(file));
        let groups = groups_of(helper.id());
        assert!(members.iter().all(|&pid| alive(pid)) && groups.len() >= 2, "{groups:?}");
        let shell = guardian(helper.id()).unwrap();
        if !guarded {
            Command::new("kill").args(["-KILL", &shell.to_string()]).status().unwrap();
            eventually(|| !alive(shell));
        }
        helper.kill().unwrap();
        helper.wait().unwrap();
        if !guarded {
            assert!(members.iter().all(|&pid| alive(pid)), "{members:?} live on without it");
            assert_eq!(groups_of(helper.id()), groups);
            let ended = end_orphans();
            let has = |pid: &u32| ended.iter().any(|orphan| orphan.pid == *pid);
            assert!(members.iter().all(has), "{members:?} {ended:?}");
            assert!(!members.iter().any(|&pid| alive(pid)));
            assert!(groups_of(helper.id()).is_empty());
        }
        eventually(|| !members.iter().any(|&pid| alive(pid)) && groups_of(helper.id()).is_empty());
        eventually(|| guardian(helper.id()).is_none());
    }
}

#[test]
fn a_group_can_go_to_another_thread() {
    fn goes<T: Send>() {}
    goes::<Group>();
}
