//! The cost of control groups, and how well they limit.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_process::{Control, Group, Spawn, Tree, available_cores};
use kumite_testing::eventually;
use kumite_testing::process::Bench;
use nix::time::{ClockId, clock_gettime};

const SHARE: f64 = 128.0 / 1769.0;
static NEVER: AtomicBool = AtomicBool::new(false);

fn start(bench: &Bench, group: Option<&Group>, command: &str) -> Tree {
    let cores = [*available_cores().last().unwrap()];
    Tree::start(&Spawn { group, ..bench.spawn(&cores, &bench.log(), command) }).unwrap()
}

/// The least, the median and the most of ten and more.
fn print(what: &str, mut figures: Vec<f64>, unit: &str) {
    figures.sort_by(f64::total_cmp);
    let (median, last) = (figures[figures.len() / 2], figures[figures.len() - 1]);
    println!("{what}: {median:.1} {unit} ({:.1} to {last:.1})", figures[0]);
}

fn us(action: impl FnOnce()) -> f64 {
    let began = Instant::now();
    action();
    began.elapsed().as_secs_f64() * 1e6
}

/// Now and then wants CPU time of this many milliseconds, and says how long that took.
pub fn burst(cpu_ms: u64) {
    let cpu = || Duration::from(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap());
    for turn in 0..11 {
        std::thread::sleep(Duration::from_millis(200 + 7 * turn));
        let (began, used) = (Instant::now(), cpu());
        while cpu() - used < Duration::from_millis(cpu_ms) {}
        println!("took {}", began.elapsed().as_secs_f64() * 1e3);
    }
}

pub fn costs() {
    println!("{:?}", Control::look());
    print("look", (0..51).map(|_| us(|| drop(Control::look()))).collect(), "µs");
    let bench = Bench::new();
    for grouped in [false, true] {
        let started = |_| {
            let group = Group::new().unwrap();
            let began = Instant::now();
            let _tree = start(&bench, grouped.then_some(&group), "exec sleep 30");
            began.elapsed().as_secs_f64() * 1e6
        };
        print(&format!("start, in a group: {grouped}"), (0..51).map(started).collect(), "µs");
    }
    for (what, command) in [
        ("who sleeps", "echo $$ > ready; exec sleep 30"),
        ("who spins", "echo $$ > ready; while :; do :; done"),
    ] {
        for limited in [false, true] {
            let (bench, group) = (Bench::new(), Group::new().unwrap());
            let _tree = start(&bench, Some(&group), command);
            eventually(|| bench.dir().join("ready").exists());
            group.limit_cpu(limited.then_some(SHARE)).unwrap();
            let (mut freezes, mut thaws) = (Vec::new(), Vec::new());
            for _ in 0..51 {
                std::thread::sleep(Duration::from_millis(20));
                freezes.push(us(|| group.freeze().unwrap()));
                thaws.push(us(|| group.thaw().unwrap()));
            }
            print(&format!("freeze {what}, limited: {limited}"), freezes, "µs");
            print(&format!("thaw {what}, limited: {limited}"), thaws, "µs");
            let limit = || us(|| group.limit_cpu(Some(SHARE)).unwrap());
            print("change the limit", (0..51).map(|_| limit()).collect(), "µs");
        }
    }
}

pub fn shares() {
    let bench = Bench::new();
    for share in [SHARE, 0.3, 1.0] {
        for threads in [1, 2] {
            let group = Group::new().unwrap();
            group.limit_cpu(Some(share)).unwrap();
            let spin = "while :; do :; done & ".repeat(threads);
            let _tree = start(&bench, Some(&group), &format!("{spin} wait"));
            let off = |_| {
                let (began, used) = (Instant::now(), group.cpu().unwrap());
                std::thread::sleep(Duration::from_secs(3));
                let used = (group.cpu().unwrap() - used).as_secs_f64();
                (used / began.elapsed().as_secs_f64() / share - 1.0) * 100.0
            };
            print(&format!("{threads} that spin, off {share:.4}"), (0..11).map(off).collect(), "%");
        }
    }
    for cpu_ms in [5, 20, 100] {
        let group = Group::new().unwrap();
        group.limit_cpu(Some(SHARE)).unwrap();
        let this = std::env::current_exe().unwrap();
        let mut tree = start(&bench, Some(&group), &format!("exec '{}' burst {cpu_ms}", this.display()));
        tree.wait(Duration::from_secs(60), &NEVER).unwrap().unwrap();
        let log = bench.read("log");
        let took = log.lines().filter_map(|line| line.strip_prefix("took ")?.parse().ok()).collect();
        print(&format!("{cpu_ms} ms of CPU time, {:.0} at this share", cpu_ms as f64 / SHARE), took, "ms");
    }
}
