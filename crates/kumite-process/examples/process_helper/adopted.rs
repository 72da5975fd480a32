//! As a subreaper, which is a property of the whole process.

use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::become_subreaper;
use kumite_testing::process::{Bench, burn};
use kumite_testing::{LONG, eventually};

/// CPU time that each of two uses: more than one of them has is both.
const BURN: Duration = Duration::from_millis(100);

pub fn orphans_come_to_us_count_and_are_reaped() {
    become_subreaper().unwrap();
    let bench = Bench::new();
    // Both go on when they have been looked at: who ends before is nobody's.
    let burn = format!("until [ -e seen ]; do sleep 0.02; done; {}", burn(BURN.as_secs_f64()));
    let daemon = format!("echo $$ > pid; {burn}; echo $$ > burnt; exec sleep 300");
    fs::write(bench.dir().join("daemon"), daemon).unwrap();
    fs::write(bench.dir().join("short"), format!("echo $$ > short.pid; {burn}")).unwrap();
    let mut tree = bench.start("setsid sh daemon & setsid sh short & sleep 0.05");
    tree.wait(LONG, &AtomicBool::new(false)).unwrap().unwrap();
    let (daemon, short) = (bench.pid("pid"), bench.pid("short.pid"));
    assert_eq!(parent(daemon), Some(std::process::id()));
    assert!(tree.has(daemon) && tree.has(short));
    fs::write(bench.dir().join("seen"), "").unwrap();
    eventually(|| {
        tree.usage();
        bench.dir().join("burnt").exists() && !exists(short)
    });
    let usage = tree.usage();
    assert_eq!(usage.processes, 1, "the daemon: the other orphan has ended and was reaped");
    let ended = tree.stop(Duration::from_secs(1));
    assert!(ended.usage.cpu >= usage.cpu && usage.cpu > BURN.mul_f64(1.5), "{ended:?}");
    assert_eq!(ended.left_behind, 1);
    assert!(!exists(daemon), "not even as a zombie");
    let processes: Vec<_> = fs::read_dir("/proc").unwrap().flatten().collect();
    let pids = processes.iter().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let children: Vec<u32> = pids.filter(|&pid| parent(pid) == Some(std::process::id())).collect();
    let [guardian] = children[..] else { panic!("{children:?}") };
    assert!(fs::read_to_string(format!("/proc/{guardian}/cmdline")).unwrap().contains("kumite-guardian"));
}

fn exists(pid: u32) -> bool {
    fs::exists(format!("/proc/{pid}")).unwrap()
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}
