//! A player for the tests: `fake_player MODE` plays what it is told to, or misbehaves. It is never exact. A `watcher` plays
//! right only where kumite keeps CPUs busy.

use std::fs;
use std::io::{BufRead, Lines, Read, StdinLock, Write};
use std::os::unix::process::parent_id;
use std::process::exit;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long who hangs does so: longer than any test.
const FOREVER: Duration = Duration::from_secs(600);
/// Where it misbehaves in a play.
const MIDDLE: usize = 5;

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    match mode.as_str() {
        "crash" => {
            eprintln!("fake: no configuration found");
            exit(7);
        }
        "mute" => only_reads(),
        "greeter" => write("hello\n"),
        _ => write("ready\n"),
    }
    let mut lines = std::io::stdin().lock().lines();
    let mut plays = 0;
    while let Some(request) = line(&mut lines) {
        let words: Vec<&str> = request.split(' ').collect();
        let ["play", how, count] = words[..] else {
            eprintln!("fake: no play: {request}");
            exit(1);
        };
        let states: Vec<(Duration, String)> =
            (0..count.parse().unwrap()).filter_map(|_| line(&mut lines)).map(|line| state(&line)).collect();
        play(&mode, how, &states);
        plays += 1;
        if mode == "once" && plays == 1 {
            exit(0);
        }
    }
    if mode == "lingerer" {
        sleep(FOREVER);
    }
}

/// Says nothing any more, and ends with its input.
fn only_reads() -> ! {
    // Standard input itself is locked by who reads requests.
    let mut input = fs::File::open("/dev/stdin").expect("it has an input");
    while input.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
    exit(0);
}

fn play(mode: &str, how: &str, states: &[(Duration, String)]) {
    let is_loaded = mode == "watcher" && is_loaded();
    if how == "relative" {
        eprintln!("fake: relative");
    }
    let start = Instant::now();
    for (nth, (at, state)) in states.iter().enumerate() {
        let held = nth.checked_sub(1).map(|before| *at - states[before].0).unwrap_or_default();
        match how {
            // Half as long again: it drifts on any machine.
            "relative" => sleep(held * 3 / 2),
            _ => sleep(at.saturating_sub(start.elapsed())),
        }
        match mode {
            // In one piece, so that it is there when the play is over.
            "talker" if nth + 1 == states.len() => write(&format!("{state}\nthat was it\n")),
            "watcher" if !is_loaded => write("no CPU is busy\n"),
            "wrong" if nth == MIDDLE => write("1 2 3\n"),
            "leaver" if nth == MIDDLE => {
                eprintln!("fake: out of order");
                exit(3);
            }
            "hanger" if nth == MIDDLE => only_reads(),
            _ => write(&format!("{state}\n")),
        }
    }
}

/// True if whoever started it has busy threads, by their name.
fn is_loaded() -> bool {
    let mut pid = parent_id();
    while pid > 1 {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let mut names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
        if names.any(|name| name.starts_with("busy-")) {
            return true;
        }
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
        pid = parent.and_then(|parent| parent.trim().parse().ok()).unwrap_or_default();
    }
    false
}

fn state(line: &str) -> (Duration, String) {
    let (at, state) = line.split_once(' ').expect("an offset and a state");
    (Duration::from_nanos(at.parse().expect("ns")), state.to_owned())
}

fn line(lines: &mut Lines<StdinLock>) -> Option<String> {
    lines.next().map(|line| line.expect("standard input can be read"))
}

fn write(text: &str) {
    // Ends quietly if nobody listens any more.
    if std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush()).is_err() {
        exit(0);
    }
}
