//! What a tree is said to have used, against what it must have used.

mod common;

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use common::{Bench, LONG, alive, eventually};
use kumite_process::available_cores;
use rustix::fs::OFlags;

const SECOND: Duration = Duration::from_secs(1);
static NEVER: AtomicBool = AtomicBool::new(false);

/// Awk that burns CPU time until it has used this many seconds of it, and adds how many those were to `account`: by its own
/// account, so that the load of the machine does not matter. `before` and `after` are awk too.
fn awk(before: &str, seconds: f64, after: &str) -> String {
    format!(
        "awk 'BEGIN {{ {before}; while (i++ < 1e9) if (i % 10000 == 0) {{ getline s < \"/proc/self/stat\"; \
             close(\"/proc/self/stat\"); split(s, f, \" \"); if (f[14] + f[15] >= {}) break }} \
             used = (f[14] + f[15]) / 100; print used >> \"account\"; close(\"account\"); {after} }}'",
        seconds * 100.0
    )
}

fn burn(seconds: f64) -> String {
    awk("", seconds, "")
}

/// Lets go on whoever reads from this pipe, or will.
fn tell(bench: &Bench, pipe: &str) {
    let path = bench.dir().join(pipe);
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    // There is an error as long as nobody has it open to read.
    eventually(|| {
        let opened = File::options().write(true).custom_flags(flags).open(&path);
        opened.is_ok_and(|mut file| file.write_all(b"\n").is_ok())
    });
}

/// What those that burn have used, in seconds, and how many they are.
fn accounts(bench: &Bench) -> (f64, usize) {
    let text = std::fs::read_to_string(bench.dir().join("account")).unwrap_or_default();
    let accounts: Vec<f64> = text.split_terminator('\n').map(|line| line.parse().unwrap()).collect();
    (accounts.iter().sum(), accounts.len())
}

/// To start a shell, and to be one, costs CPU time too, and `/proc` tells it in ticks of 10 ms.
#[track_caller]
fn assert_used(cpu: Duration, account: f64) {
    let cpu = cpu.as_secs_f64();
    assert!((account - 0.04..account + 0.15).contains(&cpu), "{cpu} of {account}");
}

#[test]
fn the_cpu_time_of_a_living_grandchild_counts_and_never_falls() {
    let bench = Bench::new();
    let core = *available_cores().last().unwrap();
    let began = Instant::now();
    let mut tree =
        bench.start_on(&[core], &format!("sh -c \"{}; sleep 300\" & wait", burn(0.3).replace('"', "\\\"")));
    let mut cpu = Duration::ZERO;
    while cpu < Duration::from_millis(250) {
        assert!(began.elapsed() < LONG, "{cpu:?}");
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
    std::fs::write(bench.dir().join("burn"), burn(0.2)).unwrap();
    std::fs::write(bench.dir().join("burn-and-say"), awk("", 0.2, "print > \"burnt\"")).unwrap();
    let mut tree = bench.start(
        "mkfifo burnt; sh burn; sh -c 'sh burn; :'; (sh burn-and-say & read x < burnt; sleep 0.2); sleep 0.1; \
         echo $$ > ready; sleep 300",
    );
    let began = Instant::now();
    while !bench.dir().join("ready").exists() {
        assert!(began.elapsed() < LONG);
        tree.usage();
        std::thread::sleep(Duration::from_millis(10));
    }
    let running = tree.usage().cpu;
    let ended = tree.stop(SECOND);
    let (account, burnt) = accounts(&bench);
    assert_eq!(burnt, 3);
    assert_used(running, account);
    assert_used(ended.usage.cpu, account);
    assert!(ended.usage.cpu >= running, "{:?} after {running:?}", ended.usage.cpu);
}

#[test]
fn a_child_that_nobody_waits_for_is_remembered() {
    let bench = Bench::new();
    // Who ignores SIGCHLD has its children reaped by the kernel, which adds their time to nobody's. The root goes on
    // long after its child has ended, so that its own time alone would exceed the highest sum until then.
    let child = awk("", 0.2, "print \"\" > \"burnt\"; close(\"burnt\"); getline x < \"go\"");
    let root = awk("getline x < \"gone\"", 0.5, "");
    let mut tree = bench
        .start(&format!("mkfifo go gone; {child} & echo $! > child; exec env --ignore-signal=CHLD {root}"));
    let child = bench.pid("child");
    eventually(|| bench.dir().join("burnt").exists());
    tree.usage();
    tell(&bench, "go");
    eventually(|| !alive(child));
    tell(&bench, "gone");
    eventually(|| {
        tree.usage();
        tree.exited().unwrap().is_some()
    });
    let (account, burnt) = accounts(&bench);
    assert_eq!(burnt, 2);
    assert_used(tree.stop(SECOND).usage.cpu, account);
}

#[test]
fn user_and_system_time_are_those_of_the_root_and_its_own() {
    let bench = Bench::new();
    let mut tree = bench.start(&burn(0.1));
    tree.wait(LONG, &NEVER).unwrap().unwrap();
    let ended = tree.stop(SECOND);
    let (times, account) = (ended.user + ended.system, Duration::from_secs_f64(accounts(&bench).0));
    assert!((account..account + SECOND / 10).contains(&times), "{times:?} of {account:?}");
    assert!(ended.usage.cpu.abs_diff(times) < Duration::from_millis(2), "{times:?} {:?}", ended.usage.cpu);
}

#[test]
fn resident_memory_is_seen_at_its_height_also_between_two_looks() {
    let bench = Bench::new();
    // 30 MB in a variable of the shell, then nothing.
    let command = "mkfifo seen; x=$(head -c 30000000 /dev/zero | tr '\\0' x); echo $$ > ready; read y < seen; x=; \
                   echo $$ > empty; sleep 300";
    let mut tree = bench.start(command);
    bench.pid("ready");
    let full = tree.usage();
    tell(&bench, "seen");
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
    tree.wait(LONG, &NEVER).unwrap().unwrap();
    let peak = tree.stop(SECOND).usage.peak_rss_bytes;
    assert!((60_000_000..400_000_000).contains(&peak), "{peak}");
}

#[test]
fn processes_are_counted() {
    let bench = Bench::new();
    let mut tree = bench.start("sleep 300 & sleep 300 & echo $! > ready; wait");
    bench.pid("ready");
    assert_eq!(tree.usage().processes, 3);
}

#[test]
fn two_that_share_a_cpu_wait_for_it() {
    let bench = Bench::new();
    let core = *available_cores().last().unwrap();
    let mut tree = bench
        .start_on(&[core], &format!("sh -c '{}' & {}; wait", burn(60.0).replace('\'', "'\\''"), burn(60.0)));
    let began = Instant::now();
    let (mut before, mut ran) = (tree.waits(), tree.usage().cpu);
    loop {
        std::thread::sleep(Duration::from_millis(10));
        assert!(began.elapsed() < LONG);
        // The waits begin before what ran does, and end after it, however long this takes.
        let (waits, usage) = (tree.waits(), tree.usage());
        if usage.processes < 3 {
            (before, ran) = (waits, usage.cpu);
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
    let mut tree = bench.start("sleep 300 & sleep 300 & wait");
    let began = Instant::now();
    while tree.usage().threads != 3 {
        assert!(began.elapsed() < LONG, "{:?}", tree.usage());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(tree.usage().processes, 3);
}
