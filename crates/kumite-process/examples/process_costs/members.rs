//! The cost of watching a tree.

use std::fs;
use std::time::{Duration, Instant};

use kumite_process::{Spawn, Tree};

pub fn usage() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let processes = || fs::read_dir("/proc").unwrap().flatten().count();
    for children in [0, 3, 30] {
        let command = format!("for i in $(seq {children}); do sleep 20 & done; sleep 20");
        let spawn = Spawn {
            command: &command,
            dir: dir.path(),
            env: &[],
            keeps: None,
            cores: &[],
            log: &log,
            group: None,
        };
        let mut tree = Tree::start(&spawn).unwrap();
        std::thread::sleep(Duration::from_millis(1100));
        let began = Instant::now();
        let members = tree.usage().processes;
        println!("{members} members: first look {:?}", began.elapsed());
        let began = Instant::now();
        (0..100).for_each(|_| assert_eq!(tree.usage().processes, members));
        println!("{members} members: each look {:?}", began.elapsed() / 100);
        let began = Instant::now();
        (0..100).for_each(|_| assert!(tree.waits() != kumite_process::Waits::default()));
        println!("{members} members: waits of their threads {:?}", began.elapsed() / 100);
    }
    let began = Instant::now();
    let entries = (0..100).map(|_| processes()).max();
    println!("{entries:?} entries of /proc: listed in {:?}", began.elapsed() / 100);
}
