//! Control groups as this machine has them.

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_process::{Control, Group, Spawn, Tree, Unavailable, available_cores, spawn_unmarked};
use kumite_testing::process::{Bench, ESCAPES, alive, groups_of, guardian, helper};
use kumite_testing::{Capability, LONG, eventually, lacks};

const MS: Duration = Duration::from_millis(1);
static NEVER: AtomicBool = AtomicBool::new(false);

/// This machine lets us limit, count and freeze; says so if it does not.
fn may() -> bool {
    let control = Control::look();
    says(Capability::ControlGroup, control.cpu) && says(Capability::ControlGroup, control.freezer)
}

/// This machine lets us freeze; says so if it does not.
pub fn freezes() -> bool {
    says(Capability::ControlGroup, Control::look().freezer)
}

fn says<T>(capability: Capability, may: Result<T, Unavailable>) -> bool {
    may.map_err(|why| lacks(capability, why)).is_ok()
}

fn start(bench: &Bench, group: &Group, command: &str) -> Tree {
    Tree::start(&Spawn { group: Some(group), ..bench.spawn(&[], &bench.log(), command) }).unwrap()
}

fn length(bench: &Bench, file: &str) -> u64 {
    fs::metadata(bench.dir().join(file)).map_or(0, |file| file.len())
}

#[test]
fn a_tree_is_in_its_group_from_the_beginning_and_cannot_be_without() {
    if !may() {
        return;
    }
    let (bench, group) = (Bench::new(), Group::new().unwrap());
    let mut tree = start(&bench, &group, "cat /proc/$$/cgroup > first; echo \"$0 $GREETING\"; exit 3");
    assert_eq!(tree.wait(LONG, &NEVER).unwrap().unwrap().code(), Some(3));
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
    let limit = rustix::event::Timespec { tv_sec: 60, tv_nsec: 0 };
    assert_eq!(rustix::event::poll(&mut fds, Some(&limit)).unwrap(), 1);
    assert!({ tree }.exited().unwrap().is_some());
}

/// Two that spin.
const SPIN: &str = "(while :; do :; done) & while :; do :; done";

#[test]
fn a_tree_that_wants_more_than_its_share_is_stopped_and_counted_until_the_limit_is_gone() {
    if !may() {
        return;
    }
    let (bench, group) = (Bench::new(), Group::new().unwrap());
    group.limit_cpu(Some(0.1)).unwrap();
    let mut tree = start(&bench, &group, SPIN);
    eventually(|| group.throttled().unwrap() > Duration::ZERO);
    assert!(group.cpu().unwrap() > Duration::ZERO);
    let of_members = tree.usage().cpu;
    assert!(of_members <= group.cpu().unwrap() + 10 * MS);

    group.limit_cpu(None).unwrap();
    let (before, throttled) = (group.cpu().unwrap(), group.throttled());
    eventually(|| group.cpu().unwrap() > before + 100 * MS);
    assert_eq!(group.throttled(), throttled, "nobody stops it any more");
    group.limit_cpu(Some(0.02)).unwrap();
    eventually(|| group.throttled() > throttled);
    assert!(matches!(group.limit_cpu(Some(0.0)), Err(kumite_process::Error::Share { .. })));
}

#[test]
#[ignore = "timing"]
fn no_more_cpu_time_is_given_than_the_share() {
    if !may() {
        return;
    }
    let (bench, group) = (Bench::new(), Group::new().unwrap());
    group.limit_cpu(Some(0.1)).unwrap();
    let _tree = start(&bench, &group, SPIN);
    let began = Instant::now();
    std::thread::sleep(Duration::from_secs(2));
    let used = group.cpu().unwrap();
    // A CPU overruns by a tick, or by the 5 ms that it takes in advance, and pays later.
    let most = began.elapsed().mul_f64(0.1) + available_cores().len() as u32 * 10 * MS;
    assert!(Duration::ZERO < used && used <= most, "{used:?} of at most {most:?}");
}

#[test]
fn a_tree_that_leaks_is_killed_at_the_limit_and_counted_and_others_go_on() {
    if !says(Capability::MemoryLimit, Control::look().memory) {
        return;
    }
    let (bench, other_bench) = (Bench::new(), Bench::new());
    let (group, other) = (Group::new().unwrap(), Group::new().unwrap());
    let limit = 32 << 20;
    group.limit_memory(limit).unwrap();
    other.limit_memory(limit).unwrap();
    let goes_on = start(&other_bench, &other, "while :; do echo x >> count; sleep 0.01; done");
    let mut leaks = start(&bench, &group, "x=xxxxxxxx; while :; do x=$x$x; done");
    assert_eq!(leaks.wait(LONG, &NEVER).unwrap().unwrap().signal(), Some(9));
    assert_eq!(group.oom_kills(), Some(1));
    let peak = group.peak_memory_bytes().unwrap();
    assert!((limit / 2..=limit).contains(&peak), "{peak}");
    let count = length(&other_bench, "count");
    eventually(|| length(&other_bench, "count") > count);
    assert!(alive(goes_on.id()) && other.oom_kills() == Some(0));
}

#[test]
fn nothing_goes_on_while_frozen_and_everything_does_afterwards() {
    if !may() {
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
    if !freezes() {
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
    let ended = tree.stop(LONG);
    assert_eq!(ended.status.unwrap().code(), Some(3));
    assert!(!ended.killed && bench.read("said") == "bye\n", "{ended:?}");
}

#[test]
fn a_tree_in_which_processes_start_all_the_time_is_frozen_each_time() {
    if !freezes() {
        return;
    }
    let (bench, group) = (Bench::new(), Group::new().unwrap());
    let starts = "while :; do true & sleep 0; done";
    let _tree = start(&bench, &group, &format!("echo $$ > ready; ({starts}) & ({starts}) & {starts}"));
    bench.pid("ready");
    for _ in 0..200 {
        group.freeze().unwrap();
        group.thaw().unwrap();
    }
}

#[test]
fn a_frozen_tree_that_is_dropped_ends() {
    if !freezes() {
        return;
    }
    let (bench, group) = (Bench::new(), Group::new().unwrap());
    let tree = start(&bench, &group, "trap '' TERM; sleep 300 & echo $! > child; wait");
    let (root, child) = (tree.id(), bench.pid("child"));
    group.freeze().unwrap();
    drop(tree);
    assert!(!alive(root) && !alive(child));
}

#[test]
fn a_process_that_escaped_the_tree_does_not_escape_the_group_frozen_or_throttled() {
    if !may() {
        return;
    }
    for dropped in [false, true] {
        let (bench, group) = (Bench::new(), Group::new().unwrap());
        group.limit_cpu(Some(0.05)).unwrap();
        let mut tree = start(&bench, &group, &format!("{ESCAPES} sleep 300"));
        let escaped = bench.pid("escaped");
        group.freeze().unwrap();
        match dropped {
            false => group.kill().unwrap(),
            true => drop(group),
        }
        assert!(!alive(escaped) && !alive(tree.id()));
        assert_eq!(tree.wait(LONG, &NEVER).unwrap().unwrap().signal(), Some(9));
    }
}

#[test]
fn the_frozen_groups_of_one_that_was_killed_are_ended_and_removed() {
    if !freezes() {
        return;
    }
    let bench = Bench::new();
    let mut command = Command::new(helper());
    command.arg("freeze").arg(bench.dir()).stdout(Stdio::null()).process_group(0);
    let mut owner = spawn_unmarked(&mut command).unwrap();
    bench.pid("ready");
    let members = ["root", "escaped"].map(|file| bench.pid(file));
    let groups = groups_of(owner.id());
    assert!(members.iter().all(|&pid| alive(pid)) && groups.len() >= 2, "{groups:?}");
    owner.kill().unwrap();
    owner.wait().unwrap();
    eventually(|| !members.iter().any(|&pid| alive(pid)) && groups_of(owner.id()).is_empty());
    eventually(|| guardian(owner.id()).is_none());
}

#[test]
fn a_group_can_go_to_another_thread() {
    fn goes<T: Send>() {}
    goes::<Group>();
}
