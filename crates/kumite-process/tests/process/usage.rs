//! The usage of a tree against the accounts that its own processes write down.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_process::available_cores;
use kumite_testing::process::{Bench, alive, awk, burn, helper, output};
use kumite_testing::{LONG, eventually};
use rustix::fs::OFlags;

const SECOND: Duration = Duration::from_secs(1);
/// The kernel keeps two figures of one time in different units: they may differ by so much.
const ROUNDED: Duration = Duration::from_millis(2);
static NEVER: AtomicBool = AtomicBool::new(false);

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

/// Seconds of CPU that each burning process says it has used, in the order in which they ended.
fn accounts(bench: &Bench) -> Vec<f64> {
    bench.read("account").lines().map(|line| line.parse().unwrap()).collect()
}

/// `/proc` tells it in ticks of 10 ms, and who has said what it used has still to end. Who burns, burns more than that.
#[track_caller]
fn assert_used(cpu: Duration, account: f64) {
    let cpu = cpu.as_secs_f64();
    assert!((account - 0.04..account + 0.15).contains(&cpu), "{cpu} of {account}");
}

/// Made by us, so that it is no CPU time of the tree.
fn make_pipes(bench: &Bench, names: &[&str]) {
    let made = output(Command::new("mkfifo").args(names).current_dir(bench.dir())).unwrap();
    assert!(made.status.success());
}

/// Seconds by the shell's `times`: its own CPU time and that of the children it waited for.
fn times(bench: &Bench) -> f64 {
    let seconds = |time: &str| {
        let (minutes, seconds) = time.strip_suffix('s').unwrap().split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
    };
    bench.read("times").split_whitespace().map(seconds).sum()
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
    fs::write(bench.dir().join("burn"), burn(0.2)).unwrap();
    make_pipes(&bench, &["go"]);
    let mut tree = bench.start(
        "sh burn; sh -c 'sh burn; :'; (sh burn & echo $! > orphan; exec awk 'BEGIN { getline x < \"go\" }'); \
         times > times; echo $$ > ready; exec sleep 300",
    );
    let ended_unseen = || fs::exists(bench.dir().join("orphan")).unwrap() && !alive(bench.pid("orphan"));
    eventually(|| {
        tree.usage();
        ended_unseen()
    });
    // Its parent is still there, and does not wait.
    tree.usage();
    tell(&bench, "go");
    bench.pid("ready");
    let running = tree.usage().cpu;
    let ended = tree.stop(SECOND);
    let accounts = accounts(&bench);
    assert_eq!(accounts.len(), 3);
    let account = times(&bench) + accounts[2];
    assert_used(running, account);
    assert_used(ended.usage.cpu, account);
    assert!(ended.usage.cpu >= running, "{:?} after {running:?}", ended.usage.cpu);
}

#[test]
fn a_child_that_nobody_waits_for_is_remembered() {
    let bench = Bench::new();
    // A process that ignores SIGCHLD has its children reaped by the kernel, which adds their time to nobody's. The
    // root goes on long after its child has ended, so that its own time alone would exceed the highest sum until then.
    let child = awk("", 0.2, "print \"\" > \"burnt\"; close(\"burnt\"); getline x < \"go\"");
    let root = awk("getline x < \"gone\"", 0.5, "");
    make_pipes(&bench, &["go", "gone"]);
    let mut tree = bench.start(&format!("{child} & echo $! > child; exec env --ignore-signal=CHLD {root}"));
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
    let accounts = accounts(&bench);
    assert_eq!(accounts.len(), 2);
    assert_used(tree.stop(SECOND).usage.cpu, accounts.iter().sum());
}

#[test]
fn user_and_system_time_are_those_of_the_root_and_its_own() {
    let bench = Bench::new();
    let mut tree = bench.start(&burn(0.1));
    tree.wait(LONG, &NEVER).unwrap().unwrap();
    let ended = tree.stop(SECOND);
    let (times, account) = (ended.user + ended.system, Duration::from_secs_f64(accounts(&bench)[0]));
    // Its processes never do two things at once.
    assert!(account <= times && times < ended.wall + ROUNDED, "{times:?} of {account:?} in {:?}", ended.wall);
    assert!(ended.usage.cpu.abs_diff(times) < ROUNDED, "{times:?} {:?}", ended.usage.cpu);
}

#[test]
fn resident_memory_is_seen_at_its_height_also_between_two_looks() {
    let bench = Bench::new();
    // 30 MB in a variable of the shell, then nothing.
    make_pipes(&bench, &["seen"]);
    let command = "x=$(head -c 30000000 /dev/zero | tr '\\0' x); echo $$ > ready; read y < seen; x=; \
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
    let ended = output(Command::new(helper()).arg("peak")).unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn usage_counts_the_processes_of_a_tree() {
    let bench = Bench::new();
    let mut tree = bench.start("sleep 300 & sleep 300 & echo $! > ready; wait");
    bench.pid("ready");
    assert_eq!(tree.usage().processes, 3);
}

#[test]
fn two_processes_that_share_a_cpu_wait_for_it() {
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
    eventually(|| tree.usage().threads == 3);
    assert_eq!(tree.usage().processes, 3);
}
