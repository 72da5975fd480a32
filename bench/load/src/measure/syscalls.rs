//! System calls for each request, as strace counts them.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};

use super::{Section, closed};
use crate::acceptance::{Limit, Line};
use crate::kumite::IO_URING;
use crate::{Bench, Effort, Point, Shape, spread};

const CONNECTIONS: u32 = 50;
const COUNTS: &str = "strace.txt";
const UNDER: &str = "strace -c -f -o strace.txt";
const SHOWN: usize = 3;

/// Of one load.
struct Calls {
    all: f64,
    /// The most frequent ones, for each request.
    main: String,
}

pub fn run(bench: &Bench, effort: Effort) -> Result<Section> {
    let heading = "## System calls\n\n";
    if !on_path("strace") {
        eprintln!("SKIPPED: syscalls, strace is not on PATH: apt-get install strace");
        let text = format!("{heading}Not measured: strace is not installed.\n");
        return Ok(Section { text, lines: Vec::new(), faults: Vec::new() });
    }
    let point = Point { under: UNDER, ..Point::new(CONNECTIONS, Shape::Closed) };
    let cells = bench.rounds(
        "syscalls",
        &[point],
        effort,
        |_, _| true,
        |_, trial| {
            let text = fs::read_to_string(bench.dir.join(COUNTS)).context("strace has written nothing")?;
            calls(&text, trial.requests as f64).context("cannot understand what strace counted")
        },
    )?;
    let mut text = format!(
        "{heading}Closed loop, {CONNECTIONS} connections, {} s under `strace -c -f`, which slows the generators down; those of \
         start and end are in it.\n\n| generator | calls/request | the most frequent |\n| --- | ---: | --- |\n",
        effort.seconds
    );
    for name in cells.present(0) {
        let all = cells.values(0, name, |calls| Some(calls.all));
        let main = cells.of(0, name).first().map_or("", |calls| &calls.main);
        let _ = writeln!(text, "| {name} | {} | {main} |", spread(&all, 2));
    }
    text += &closed::failures(&cells.failures);
    let lines = vec![Line {
        what: format!("system calls/request, {IO_URING}, {CONNECTIONS} connections"),
        measured: cells.median(0, IO_URING, |calls| Some(calls.all)),
        limit: Limit::Most(0.2),
        rounds: cells.of(0, IO_URING).len() as u32,
        needs: 1,
    }];
    Ok(Section { text, lines, faults: Vec::new() })
}

fn on_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

/// Lines of `% time  seconds  usecs/call  calls  [errors]  name`, the last of which is the total.
fn calls(text: &str, requests: f64) -> Option<Calls> {
    let count = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let share = fields.first()?.parse::<f64>().is_ok();
        let count = fields.get(3).filter(|_| share)?.parse::<u64>().ok()?;
        Some((count, (*fields.last()?).to_owned()))
    };
    let mut counts: Vec<(u64, String)> = text.lines().filter_map(count).collect();
    let at = counts.iter().position(|(_, name)| name == "total")?;
    let (all, _) = counts.remove(at);
    counts.sort();
    let main: Vec<String> = counts
        .iter()
        .rev()
        .take(SHOWN)
        .map(|(count, name)| format!("{name} {:.2}", *count as f64 / requests))
        .collect();
    Some(Calls { all: all as f64 / requests, main: main.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strace_printed() {
        let text = "% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.70    0.313893      313893         1           clock_nanosleep
 19.58    0.101236           9     10148           write
 10.63    0.054970           2     20430           epoll_ctl
  6.59    0.034089           3     10140           read
  0.22    0.001162          22        51        50 connect
------ ----------- ----------- --------- --------- ----------------
100.00    0.517115          12     41626        51 total
";
        let of_10_000 = calls(text, 10_000.0).unwrap();
        assert_eq!(of_10_000.all, 4.1626);
        assert_eq!(of_10_000.main, "epoll_ctl 2.04, write 1.01, read 1.01");
        assert!(calls("strace: exec: not found", 1.0).is_none());
    }
}
