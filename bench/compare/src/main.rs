//! What timing a command costs: the runner beside bare posix_spawn and hyperfine.

use std::ffi::CString;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_process::{Job, Output, Runner, Stdin, available_cores, pin_thread};
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, posix_spawn};
use nix::sys::wait::waitpid;

static NEVER: AtomicBool = AtomicBool::new(false);

fn main() {
    if std::env::args().nth(1).as_deref() == Some("runner") {
        kumite_process::runner_main();
        return;
    }
    let noop = std::env::args().nth(1).unwrap();
    let rounds: usize = std::env::args().nth(2).map_or(1, |n| n.parse().unwrap());
    let helper = std::env::args().nth(3).map_or(std::env::current_exe().unwrap(), Into::into);
    let pin_us = std::env::var_os("PIN_US").is_some();
    let n = 1000;
    let core = *available_cores().last().unwrap();
    for _ in 0..rounds {
        let job = Job { program: noop.clone().into(), args: vec![], dir: ".".into(), env: vec![], stdin: Stdin::Null, output: Output::Null };
        let mut runner = Runner::start(&helper, &["runner"], &[job]).unwrap();
        std::thread::scope(|scope| { scope.spawn(|| {
        if pin_us { pin_thread(&[core]).unwrap(); }
        let began = Instant::now();
        let mut timed = Vec::new();
        let mut peak = Vec::new();
        let depth: usize = std::env::var("DEPTH").map_or(1, |d| d.parse().unwrap());
        let mut over = vec![];
        for _ in 1..depth { runner.queue(0, &[core]).unwrap(); }
        for i in 0..n {
            if i + depth <= n { runner.queue(0, &[core]).unwrap(); }
            let run = runner.next(&NEVER).unwrap().unwrap();
            over.push(run.overhead);
            timed.push(run.wall);
            peak.push(run.peak_rss_bytes);
        }
        show("runner", began.elapsed(), timed);
        peak.sort(); over.sort();
        println!("overhead median {:?} p90 {:?} mean {:?}", over[n/2], over[n*9/10], over.iter().sum::<Duration>() / n as u32);
        println!("floor {} peak min {} median {} max {}", runner.rss_floor_bytes() / 1024, peak[0] / 1024, peak[n / 2] / 1024, peak[n - 1] / 1024);
        }); });

        std::thread::scope(|scope| { scope.spawn(|| {
            pin_thread(&[core]).unwrap();
            let (attr, actions) = (PosixSpawnAttr::init().unwrap(), PosixSpawnFileActions::init().unwrap());
            let program = CString::new(noop.clone()).unwrap();
            let env: Vec<CString> = std::env::vars().map(|(k, v)| CString::new(format!("{k}={v}")).unwrap()).collect();
            let began = Instant::now();
            let mut timed = Vec::new();
            for _ in 0..n {
                let began = Instant::now();
                let pid = posix_spawn(&*program, &actions, &attr, &[&*program], &env).unwrap();
                waitpid(pid, None).unwrap();
                timed.push(began.elapsed());
            }
            show("bare", began.elapsed(), timed);
            let began = Instant::now();
            let json = Path::new("/tmp/b-hf.json");
            let mut c = Command::new("hyperfine");
            c.args(["-N", "--warmup", "0", "--style", "none", "--runs", &n.to_string(), "--export-json"]).arg(json).arg(&noop);
            c.output().unwrap();
            let took = began.elapsed();
            let text: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
            let timed = text["results"][0]["times"].as_array().unwrap().iter().map(|t| Duration::from_secs_f64(t.as_f64().unwrap())).collect();
            show("hyperfine", took, timed);
        }); });
    }
}

fn show(who: &str, total: Duration, mut timed: Vec<Duration>) {
    let n = timed.len() as u32;
    timed.sort();
    let sum: Duration = timed.iter().sum();
    println!("{who}: wall {:?}, timed median {:?} mean {:?}, outside {:?}", total / n, timed[timed.len() / 2], sum / n, (total - sum) / n);
}
