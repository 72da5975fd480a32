//! Has trees, and never stops them.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_process::{Job, Output, Runner, Spawn, Stdin, Tree};
use kumite_testing::eventually;
use kumite_testing::process::{ESCAPES, helper};

use crate::stay;

/// Two, one of them paused. `how` is what it does then, or that all of it is below another one.
pub fn have_trees(dir: &Path, how: &str) {
    let spawn = |command: &str, log: &str| {
        let log = &dir.join(log);
        Tree::start(&Spawn { command, dir, env: &[], keeps: None, cores: &[], log, group: None }).unwrap()
    };
    if how == "below-another" {
        let command = format!("exec '{}' trees '{}' stay", helper().display(), dir.display());
        let _tree = spawn(&command, "outer-log");
        stay();
    }
    let _one = spawn(
        &(ESCAPES.to_owned() + " trap '' TERM HUP; setsid sh -c 'sh -c \"echo \\$\\$ > daemon; exec sleep 300\" & exit' &
         env -i sh -c 'echo $$ > cleared; exec sleep 300' & sleep 300 & echo $! > child; echo $$ > root; wait"),
        "log",
    );
    let mut two = spawn("echo $$ > paused; sleep 300", "log");
    // A shell makes the file before it writes into it, and must not be paused in between.
    eventually(|| fs::read(dir.join("paused")).is_ok_and(|pid| pid.ends_with(b"\n")));
    assert!(two.pause());
    fs::write(dir.join("ready"), std::process::id().to_string()).unwrap();
    if how == "exit" {
        eventually(|| dir.join("exit").exists());
        std::process::exit(0);
    }
    stay();
}

/// By a runner.
pub fn run_what_does_not_end(dir: &Path) {
    let script = "sleep 300 & echo $! > child; echo $PPID > helper; echo $$ > root; wait";
    let job = Job {
        program: "sh".into(),
        args: vec!["-c".to_owned(), script.to_owned()],
        dir: dir.to_owned(),
        env: Vec::new(),
        stdin: Stdin::Null,
        output: Output::Null,
    };
    let mut runner = Runner::start(&helper(), &["runner"], &[job]).unwrap();
    runner.run(0, &[], &AtomicBool::new(false)).unwrap();
}
