//! One tree from start to end, with shell commands for contenders. (`adopted.rs` has it as a subreaper.)

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_process::{Error, available_cores};
use kumite_testing::process::{Bench, ESCAPES, alive, output, sleeps};
use kumite_testing::{LONG, eventually};

const SECOND: Duration = Duration::from_secs(1);
static NEVER: AtomicBool = AtomicBool::new(false);

#[test]
fn a_root_that_exits_says_how() {
    let bench = Bench::new();
    let mut tree = bench.start("exit 7");
    assert_eq!(tree.wait(LONG, &NEVER).unwrap().unwrap().code(), Some(7));
    assert_eq!(tree.exited().unwrap().unwrap().code(), Some(7), "as often as asked");
    let ended = tree.stop(SECOND);
    assert_eq!(ended.status.unwrap().code(), Some(7));
    assert!(!ended.killed && ended.left_behind == 0 && ended.usage.processes == 0, "{ended:?}");
}

#[test]
fn a_root_that_a_signal_ended_says_which() {
    let bench = Bench::new();
    let mut tree = bench.start("kill -KILL $$");
    assert_eq!(tree.wait(LONG, &NEVER).unwrap().unwrap().signal(), Some(9));
    assert_eq!(tree.stop(SECOND).status.unwrap().signal(), Some(9));
}

#[test]
fn a_tree_has_its_own_processes_while_they_run() {
    let bench = Bench::new();
    let mut tree = bench.start("sleep 300 & echo $! > child; wait");
    let child = bench.pid("child");
    let root = tree.id();
    assert!(tree.has(root) && tree.has(child));
    assert!(!tree.has(std::process::id()) && !tree.has(1));
    let signalled = output(std::process::Command::new("kill").arg(child.to_string())).unwrap();
    assert!(signalled.status.success());
    eventually(|| !tree.has(child));
}

#[test]
fn a_running_tree_has_not_exited_and_ends_at_sigterm() {
    let bench = Bench::new();
    let mut tree = bench.start("sleep 300 & echo $! > child; wait");
    let child = bench.pid("child");
    assert_eq!(tree.exited().unwrap(), None);
    assert_eq!(tree.wait(Duration::from_millis(20), &NEVER).unwrap(), None);
    let root = tree.id();
    assert!(alive(root) && alive(child));
    let ended = tree.stop(LONG);
    assert_eq!(ended.status.unwrap().signal(), Some(15));
    assert!(!ended.killed && ended.left_behind == 0 && ended.took < LONG, "{ended:?}");
    assert!(!alive(root) && !alive(child));
}

#[test]
fn the_stop_flag_ends_a_wait() {
    let bench = Bench::new();
    let mut tree = bench.start("sleep 300");
    let began = Instant::now();
    assert_eq!(tree.wait(Duration::MAX, &AtomicBool::new(true)).unwrap(), None);
    assert!(began.elapsed() < LONG);
}

#[test]
fn a_tree_that_ignores_sigterm_is_killed_after_the_grace() {
    let bench = Bench::new();
    let tree = bench.start("trap '' TERM; echo $$ > ready; while :; do sleep 300; done");
    let root = bench.pid("ready");
    let grace = Duration::from_millis(200);
    let ended = tree.stop(grace);
    assert_eq!(ended.status.unwrap().signal(), Some(9));
    assert!(ended.killed && ended.took >= grace && ended.took < LONG, "{ended:?}");
    assert!(!alive(root));
}

#[test]
fn a_slow_end_within_the_grace_is_waited_for() {
    let bench = Bench::new();
    let tree = bench.start(
        "trap 'sleep 0.2; echo bye > said; exit 3' TERM; echo $$ > ready; while :; do sleep 0.01; done",
    );
    bench.pid("ready");
    let ended = tree.stop(LONG);
    assert_eq!(ended.status.unwrap().code(), Some(3));
    assert!(!ended.killed, "{ended:?}");
    assert_eq!(bench.read("said"), "bye\n");
}

#[test]
fn a_slow_child_of_a_root_that_is_gone_is_waited_for() {
    let bench = Bench::new();
    let slow = "trap 'sleep 0.2; echo bye > said; exit' TERM; echo $$ > child; while :; do sleep 0.01; done";
    let tree = bench.start(&format!("sh -c \"{}\" & wait", slow.replace('$', "\\$")));
    bench.pid("child");
    let ended = tree.stop(LONG);
    assert_eq!(bench.read("said"), "bye\n");
    assert!(!ended.killed && ended.left_behind == 0, "{ended:?}");
}

/// As Erlang's helper does: it has a session of its own, and ends once its parent has.
#[test]
fn a_helper_that_ends_after_its_parent_is_not_left_behind() {
    let bench = Bench::new();
    let helper = "setsid sh -c 'echo $$ > helper; read x; sleep 0.05; echo bye > said'";
    let tree = bench.start(&format!("mkfifo pipe; {helper} < pipe & exec sleep 300 > pipe"));
    bench.pid("helper");
    let ended = tree.stop(LONG);
    assert_eq!(bench.read("said"), "bye\n");
    assert!(!ended.killed && ended.left_behind == 0, "{ended:?}");
}

#[test]
fn a_daemon_that_left_group_and_session_is_found_and_ended() {
    let bench = Bench::new();
    let mut tree = bench.start("setsid sh -c 'sh -c \"echo \\$\\$ > daemon; exec sleep 300\" & exit' & wait");
    let daemon = bench.pid("daemon");
    tree.wait(LONG, &NEVER).unwrap().unwrap();
    assert!(alive(daemon));
    eventually(|| tree.usage().processes == 1);
    let ended = tree.stop(SECOND);
    assert_eq!(ended.left_behind, 1, "{ended:?}");
    assert!(!alive(daemon));
}

#[test]
fn a_daemon_that_left_everything_and_cleared_its_environment_is_found_and_ended() {
    let twice = "setsid env -i sh -c 'setsid env -i sh -c \"sh daemon & exit\" & exit' &";
    for escapes in [ESCAPES, twice] {
        let bench = Bench::new();
        std::fs::write(bench.dir().join("daemon"), "echo $$ > escaped; exec sleep 300").unwrap();
        let mut tree = bench.start(escapes);
        tree.wait(LONG, &NEVER).unwrap().unwrap();
        let escaped = bench.pid("escaped");
        eventually(|| sleeps(escaped));
        let ended = tree.stop(SECOND);
        assert_eq!(ended.left_behind, 1, "{ended:?}");
        assert!(!alive(escaped), "{escapes}");
    }
}

#[test]
fn another_trees_members_are_its_own() {
    let benches = [Bench::new(), Bench::new()];
    let [one, mut other] = benches.each_ref().map(|bench| bench.start(&format!("{ESCAPES} exec sleep 300")));
    let [of_one, of_other] = benches.each_ref().map(|bench| bench.pid("escaped"));
    one.stop(SECOND);
    assert!(!alive(of_one) && alive(of_other) && other.has(of_other));
    other.stop(SECOND);
    assert!(!alive(of_other));
}

#[test]
fn a_dropped_tree_leaves_no_process() {
    let bench = Bench::new();
    let tree =
        bench.start("trap '' TERM; setsid sleep 300 & echo $! > left; sleep 300 & echo $! > stayed; wait");
    let (root, left, stayed) = (tree.id(), bench.pid("left"), bench.pid("stayed"));
    assert!(alive(root) && alive(left) && alive(stayed));
    drop(tree);
    assert!(!alive(root) && !alive(left) && !alive(stayed));
}

#[test]
fn a_tree_that_keeps_forking_is_ended() {
    let bench = Bench::new();
    let tree =
        bench.start("while :; do setsid sh -c 'echo x >> forked; sleep 300 & sleep 300' & sleep 0.005; done");
    eventually(|| std::fs::metadata(bench.dir().join("forked")).is_ok_and(|file| file.len() >= 20));
    let ended = tree.stop(Duration::from_millis(50));
    assert!(ended.took < LONG, "{ended:?}");
    let ours = format!("KUMITE_BENCH={}", bench.dir().display());
    assert!(!kumite_testing::process::anyone_carries(&ours), "{ended:?}");
}

#[test]
fn a_tree_runs_where_and_as_it_was_told_and_its_log_has_both_streams() {
    let bench = Bench::new();
    std::fs::write(bench.dir().join("log"), "of an earlier trial, and longer than the new one").unwrap();
    let mut tree = bench.start("pwd; echo \"$GREETING\" >&2; cat; echo end");
    tree.wait(LONG, &NEVER).unwrap().unwrap();
    tree.stop(SECOND);
    let dir = bench.dir().canonicalize().unwrap();
    assert_eq!(bench.read("log"), format!("{}\nhello world\nend\n", dir.display()));
}

#[test]
fn a_tree_is_pinned_and_we_are_not() {
    let bench = Bench::new();
    let cores = available_cores();
    let last = *cores.last().unwrap();
    let mut tree = bench.start_on(&[last], "grep Cpus_allowed_list /proc/self/status");
    tree.wait(LONG, &NEVER).unwrap().unwrap();
    tree.stop(SECOND);
    assert_eq!(bench.read("log").split_whitespace().last(), Some(last.to_string().as_str()));
    assert_eq!(available_cores(), cores);
}

#[test]
fn a_core_that_is_not_there_is_an_error_that_names_those_that_are() {
    let bench = Bench::new();
    for cores in [vec![1000], vec![available_cores()[0], 1000], vec![1_000_000]] {
        let error = bench.try_start(&cores, "true").unwrap_err();
        let Error::Cores { cores: asked, available, .. } = &error else { panic!("{error:?}") };
        assert_eq!((asked, available), (&cores, &available_cores()));
    }
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let bench = Bench::new();
    let error = bench.try_start_in(Path::new("/nowhere/at all"), "true").unwrap_err();
    assert_eq!(error.to_string(), "cannot run in /nowhere/at all: no such directory");
}

#[test]
fn a_log_that_cannot_be_made_is_named() {
    let bench = Bench::new();
    let error = bench.try_start_logged(Path::new("/nowhere/log"), "true").unwrap_err();
    assert!(matches!(&error, Error::Log { path, .. } if path == Path::new("/nowhere/log")), "{error}");
}

#[test]
fn a_nul_in_the_command_is_an_error() {
    assert!(matches!(Bench::new().try_start(&[], "tr\0ue"), Err(Error::Start { .. })));
}

#[test]
fn wall_time_is_that_of_the_root() {
    let bench = Bench::new();
    let began = Instant::now();
    let mut tree = bench.start("sleep 0.2");
    tree.wait(LONG, &NEVER).unwrap().unwrap();
    let ended = began.elapsed();
    std::thread::sleep(Duration::from_millis(50));
    let wall = tree.stop(SECOND).wall;
    assert!((Duration::from_millis(200)..=ended).contains(&wall), "{wall:?} of {ended:?}");
}

#[test]
fn the_start_of_a_second_tree_does_not_wait_for_the_first() {
    let bench = Bench::new();
    let (mut one, mut two) = (bench.start("sleep 0.2"), Bench::new().start("exit 4"));
    assert_eq!(two.wait(LONG, &NEVER).unwrap().unwrap().code(), Some(4));
    eventually(|| one.exited().unwrap().is_some());
}
