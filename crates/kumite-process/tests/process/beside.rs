//! Processes that another thread starts while trees start and end.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use kumite_process::spawn_unmarked;
use kumite_testing::process::Bench;

/// So many trees: with [`Command::spawn`] several of what is started beside them do not live to their end.
const TREES: usize = 60;

#[test]
fn no_tree_ends_what_was_started_beside_it() {
    let (bench, ended) = (Bench::new(), AtomicBool::new(false));
    let mut seen = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..TREES {
                drop(bench.start("exec sleep 300"));
            }
            ended.store(true, Ordering::Relaxed);
        });
        while !ended.load(Ordering::Relaxed) {
            let mut other = spawn_unmarked(Command::new("sleep").arg("0.02")).unwrap();
            let status = other.wait().unwrap();
            assert!(status.success(), "{status} after {seen}");
            seen += 1;
        }
    });
    assert!(seen > 0);
}
