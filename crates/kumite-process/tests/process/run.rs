//! Commands that run to their end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kumite_process::{Error, STDOUT_LIMIT, run, run_leaving};
use kumite_testing::LONG;
use kumite_testing::process::{Bench, alive};

static NEVER: AtomicBool = AtomicBool::new(false);

#[test]
fn stdout_is_kept_and_the_log_has_both_streams_in_order() {
    let bench = Bench::new();
    // Standard output comes through us, and is in the log when we get to it.
    let seen = |word| format!("until grep -q {word} log; do sleep 0.01; done");
    let command = format!("echo one; {}; echo two >&2; {}; echo three; exit 5", seen("one"), seen("two"));
    let finished = run(&bench.spawn(&[], &bench.log(), &command), LONG, &NEVER).unwrap();
    assert_eq!(finished.status.code(), Some(5));
    assert_eq!(finished.stdout, b"one\nthree\n");
    assert_eq!(bench.read("log"), "one\ntwo\nthree\n");
}

#[test]
fn more_stdout_than_is_kept_neither_blocks_nor_is_lost_to_the_log() {
    let bench = Bench::new();
    let command = "head -c 3000000 /dev/zero";
    let finished = run(&bench.spawn(&[], &bench.log(), command), LONG, &NEVER).unwrap();
    assert!(finished.status.success());
    assert_eq!(finished.stdout.len(), STDOUT_LIMIT);
    assert_eq!(bench.read("log").len(), 3_000_000);
}

#[test]
fn a_command_that_closes_stdout_early_is_waited_for() {
    let bench = Bench::new();
    let command = "echo one; exec >&-; sleep 0.2; exit 6";
    let finished = run(&bench.spawn(&[], &bench.log(), command), LONG, &NEVER).unwrap();
    assert_eq!((finished.status.code(), finished.stdout), (Some(6), b"one\n".to_vec()));
}

#[test]
fn a_time_out_ends_the_whole_tree_and_keeps_the_log() {
    let command = "echo begun; sleep 300 & echo $! > child; setsid sleep 300 & echo $! > left; wait";
    let mut limit = Duration::from_millis(200);
    loop {
        let bench = Bench::new();
        let began = Instant::now();
        let error = run(&bench.spawn(&[], &bench.log(), command), limit, &NEVER).unwrap_err();
        assert!((limit..LONG).contains(&began.elapsed()), "{:?}", began.elapsed());
        assert!(matches!(error, Error::TimedOut { limit: named, .. } if named == limit), "{error:?}");
        if bench.dir().join("left").exists() {
            assert!(!alive(bench.pid("child")) && !alive(bench.pid("left")));
            assert_eq!(bench.read("log"), "begun\n");
            return;
        }
        // On this machine it had not begun by then.
        limit *= 4;
    }
}

#[test]
fn who_is_stopped_has_not_timed_out() {
    let (bench, stop) = (Bench::new(), AtomicBool::new(true));
    let log = bench.log();
    let spawn = bench.spawn(&[], &log, "sleep 300");
    let errors = [
        run(&spawn, Duration::ZERO, &stop).unwrap_err(),
        run_leaving(&spawn, Duration::ZERO, &stop).err().unwrap(),
    ];
    for error in errors {
        assert!(matches!(error, Error::Interrupted { .. }), "{error:?}");
    }
}

#[test]
fn the_stop_flag_ends_the_whole_tree() {
    let bench = Bench::new();
    let stop = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            bench.pid("child");
            stop.store(true, Ordering::Relaxed);
        });
        run(&bench.spawn(&[], &bench.log(), "sleep 300 & echo $! > child; wait"), Duration::MAX, &stop)
    });
    assert!(matches!(result, Err(Error::Interrupted { .. })), "{result:?}");
    assert!(!alive(bench.pid("child")));
}

#[test]
fn what_a_command_leaves_behind_is_ended_and_counted() {
    let bench = Bench::new();
    let command = "sleep 300 & echo $! > child; echo done";
    let finished = run(&bench.spawn(&[], &bench.log(), command), LONG, &NEVER).unwrap();
    assert_eq!((finished.stdout, finished.ended.left_behind), (b"done\n".to_vec(), 1));
    assert!(!alive(bench.pid("child")));
}
