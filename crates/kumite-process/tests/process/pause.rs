//! A tree that stands still for a while.

use std::fs;
use std::time::Duration;

use kumite_testing::process::{Bench, alive};
use kumite_testing::{LONG, eventually};

/// Four that write as fast as they can: the root, a child, one that left group and session, and one that does nothing
/// but start others (each in a session of its own).
const BUSY: &str = "
    count() { while :; do echo x >> $1; done; }
    count child &
    setsid sh -c 'while :; do echo x >> left; done' &
    while :; do setsid sh -c 'echo x >> forked; sleep 0.05' & sleep 0.002; done &
    count root";
/// Of what they write.
const LINE: u64 = 2;

fn written(bench: &Bench) -> Vec<u64> {
    let length = |name| fs::metadata(bench.dir().join(name)).map_or(0, |file| file.len());
    ["root", "child", "left", "forked"].map(length).to_vec()
}

#[test]
fn nothing_goes_on_while_paused_and_everything_does_afterwards() {
    let bench = Bench::new();
    let mut tree = bench.start(BUSY);
    for _ in 0..3 {
        let before = written(&bench);
        eventually(|| written(&bench).iter().zip(&before).all(|(now, before)| now > before));
        assert!(tree.pause());
        let (at_once, processes) = (written(&bench), tree.usage().processes);
        // A process amid a write finishes that one, which takes as long as the disk and the scheduler like.
        let mut paused = at_once.clone();
        eventually(|| {
            let cpu = tree.usage().cpu;
            paused = written(&bench);
            std::thread::sleep(Duration::from_millis(50));
            written(&bench) == paused && tree.usage().cpu == cpu
        });
        let finished: Vec<u64> = paused.iter().zip(&at_once).map(|(now, then)| (now - then) / LINE).collect();
        let one_each = finished[..3].iter().all(|lines| *lines <= 1) && finished[3] <= processes as u64;
        assert!(one_each, "{finished:?} lines by {processes} processes");
        assert_eq!(tree.usage().processes, processes);
        assert!(tree.pause(), "once more changes nothing");
        tree.resume();
        eventually(|| written(&bench).iter().zip(&paused).all(|(now, paused)| now > paused));
    }
    tree.stop(Duration::from_millis(50));
    let ours = format!("KUMITE_BENCH={}", bench.dir().display());
    assert!(!kumite_testing::process::anyone_carries(&ours));
}

#[test]
fn a_paused_tree_ends_at_sigterm() {
    let bench = Bench::new();
    let mut tree = bench.start(
        "setsid sh -c 'echo $$ > left; exec sleep 300' & trap 'echo bye > said; exit 3' TERM; echo $$ > ready; \
         while :; do sleep 0.01; done",
    );
    let (root, left) = (bench.pid("ready"), bench.pid("left"));
    assert!(tree.pause());
    let ended = tree.stop(LONG);
    assert_eq!(ended.status.unwrap().code(), Some(3));
    assert!(!ended.killed && ended.took < LONG, "{ended:?}");
    assert_eq!(bench.read("said"), "bye\n");
    assert!(!alive(root) && !alive(left));
}

#[test]
fn a_paused_tree_that_is_dropped_ends() {
    let bench = Bench::new();
    let mut tree = bench.start("sleep 300 & echo $! > child; wait");
    let child = bench.pid("child");
    assert!(tree.pause());
    let root = tree.id();
    drop(tree);
    assert!(!alive(root) && !alive(child));
}

#[test]
fn a_tree_that_has_ended_can_be_paused() {
    let bench = Bench::new();
    let mut tree = bench.start("exit 4");
    eventually(|| tree.exited().unwrap().is_some());
    assert!(tree.pause());
    tree.resume();
    assert_eq!(tree.stop(LONG).status.unwrap().code(), Some(4));
}
