//! What a tree is said to have used, against what it must have used.

mod common;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use common::Bench;
use kumite_process::available_cores;

const SECOND: Duration = Duration::from_secs(1);
static NEVER: AtomicBool = AtomicBool::new(false);

/// Burns CPU time until the shell itself has used this many seconds of it: the load of the machine does not matter.
fn burn(seconds: f64) -> String {
    format!(
        "awk 'BEGIN {{ while (i++ < 1e9) if (i % 10000 == 0) {{ getline s < \"/proc/self/stat\"; \
             close(\"/proc/self/stat\"); split(s, f, \" \"); if (f[14] + f[15] >= {}) exit }} }}'",
        seconds * 100.0
    )
}

#[test]
fn the_cpu_time_of_a_living_grandchild_counts_and_never_falls() {
    let bench = Bench::new();
    let core = *available_cores().last().unwrap();
    let mut tree =
        bench.start_on(&[core], &format!("sh -c \"{}; sleep 30\" & wait", burn(0.3).replace('"', "\\\"")));
    let began = Instant::now();
    let mut cpu = Duration::ZERO;
    while cpu < Duration::from_millis(250) {
        assert!(began.elapsed() < SECOND * 8, "{cpu:?}");
        std::thread::sleep(Duration::from_millis(10));
        let now = tree.usage();
        assert!(now.cpu >= cpu, "{:?} after {cpu:?}", now.cpu);
        assert!(now.cpu <= began.elapsed() + Duration::from_millis(50), "more than one core can give");
        cpu = now.cpu;
    }
}

#[test]
fn cpu_time_is_counted_once_whoever_waited() {
    let bench = Bench::new();
    // A child that was waited for, a grandchild likewise, and one whose parent did not wait.
    let burn = burn(0.1);
    std::fs::write(bench.dir().join("burn"), &burn).unwrap();
    let mut tree = bench
        .start("sh burn; sh -c 'sh burn; :'; (sh burn & sleep 0.3); sleep 0.1; echo $$ > ready; sleep 30");
    let began = Instant::now();
    while !bench.dir().join("ready").exists() {
        assert!(began.elapsed() < SECOND * 8);
        tree.usage();
        std::thread::sleep(Duration::from_millis(10));
    }
    let running = tree.usage().cpu.as_secs_f64();
    let ended = tree.stop(SECOND);
    let total = ended.usage.cpu.as_secs_f64();
    assert!((0.26..0.45).contains(&running), "{running}");
    assert!((running..0.45).contains(&total), "{total} after {running}");
}

#[test]
fn a_child_that_nobody_waits_for_is_remembered() {
    let bench = Bench::new();
    // Who ignores SIGCHLD has its children reaped by the kernel, which adds their time to nobody's. The root goes on
    // long after its child has ended, so that its own time alone would exceed the highest sum until then.
    let mut tree = bench.start(&format!("{} & exec env --ignore-signal=CHLD {}", burn(0.2), burn(0.5)));
    while tree.exited().unwrap().is_none() {
        tree.usage();
        std::thread::sleep(Duration::from_millis(5));
    }
    let cpu = tree.stop(SECOND).usage.cpu.as_secs_f64();
    assert!((0.65..0.85).contains(&cpu), "{cpu}");
}

#[test]
fn user_and_system_time_are_those_of_the_root_and_its_own() {
    let bench = Bench::new();
    let mut tree = bench.start(&burn(0.1));
    tree.wait(SECOND * 5, &NEVER).unwrap().unwrap();
    let ended = tree.stop(SECOND);
    let times = (ended.user + ended.system).as_secs_f64();
    assert!((0.1..0.2).contains(&times), "{times}");
    let total = ended.usage.cpu.as_secs_f64();
    assert!((total - times).abs() < 0.002, "{total} {times}");
}

#[test]
fn resident_memory_is_seen_at_its_height_also_between_two_looks() {
    let bench = Bench::new();
    // 30 MB in a variable of the shell, then nothing.
    let command = "x=$(head -c 30000000 /dev/zero | tr '\\0' x); echo $$ > ready; sleep 0.2; x=; echo $$ > empty; sleep 30";
    let mut tree = bench.start(command);
    bench.pid("ready");
    let full = tree.usage();
    bench.pid("empty");
    let ended = tree.stop(SECOND).usage;
    assert!((30_000_000..200_000_000).contains(&full.rss_bytes), "{full:?}");
    assert!(
        full.peak_rss_bytes >= full.rss_bytes && ended.peak_rss_bytes >= full.peak_rss_bytes,
        "{ended:?}"
    );
}

#[test]
fn the_peak_of_a_command_that_nobody_looked_at_is_known_at_its_end() {
    let bench = Bench::new();
    let mut tree = bench.start("x=$(head -c 60000000 /dev/zero | tr '\\0' x)");
    tree.wait(SECOND * 5, &NEVER).unwrap().unwrap();
    let peak = tree.stop(SECOND).usage.peak_rss_bytes;
    assert!((60_000_000..400_000_000).contains(&peak), "{peak}");
}

#[test]
fn processes_are_counted() {
    let bench = Bench::new();
    let mut tree = bench.start("sleep 30 & sleep 30 & echo $! > ready; wait");
    bench.pid("ready");
    assert_eq!(tree.usage().processes, 3);
}

#[test]
fn two_that_share_a_cpu_wait_for_it() {
    let bench = Bench::new();
    let core = *available_cores().last().unwrap();
    let mut tree = bench
        .start_on(&[core], &format!("sh -c '{}' & {}; wait", burn(5.0).replace('\'', "'\\''"), burn(5.0)));
    let began = Instant::now();
    let (mut before, mut ran) = (tree.waits(), tree.usage().cpu);
    loop {
        std::thread::sleep(Duration::from_millis(10));
        assert!(began.elapsed() < SECOND * 8);
        let usage = tree.usage();
        if usage.processes < 3 {
            (before, ran) = (tree.waits(), usage.cpu);
        } else if usage.cpu - ran > Duration::from_millis(200) {
            break;
        }
    }
    let (ran, waited) = (tree.usage().cpu - ran, tree.waits().since(&before));
    // While one runs the other waits; the time of all runs on if others have the CPU.
    assert!(waited.for_cpu.is_none_or(|waited| waited > ran / 2), "{waited:?} while {ran:?} ran");
    assert!(waited.involuntary_switches > 0, "{waited:?}");
}

#[test]
fn threads_of_all_members_count() {
    let bench = Bench::new();
    let mut tree = bench.start("sleep 30 & sleep 30 & wait");
    let began = Instant::now();
    while tree.usage().threads != 3 {
        assert!(began.elapsed() < SECOND * 5, "{:?}", tree.usage());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(tree.usage().processes, 3);
}
