//! The process that probes, for tests; without an argument it probes once and prints the figures.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use kumite_probe::{PROBER, Prober, TRIAL, probe_main};

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|first| first == PROBER) {
        return probe_main();
    }
    let program = std::env::current_exe().expect("a program has a path");
    let began = Instant::now();
    let mut prober = Prober::start(&program).expect("it starts");
    println!("started in {:?}", began.elapsed());
    let cpus = kumite_process::available_cores();
    for _ in 0..10 {
        let began = Instant::now();
        let found = prober.probe(&cpus, TRIAL, &AtomicBool::new(false)).expect("it answers");
        println!("{:?} {found:?}", began.elapsed());
    }
    ExitCode::SUCCESS
}
