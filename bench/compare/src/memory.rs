//! Peak memory of commands, as the runner says and as GNU time says.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};

use crate::Helper;
use crate::way::median;

static NEVER: AtomicBool = AtomicBool::new(false);
const RUNS: usize = 20;

/// Medians of 20 runs, as a Markdown table. `ballast` is what this process itself has taken meanwhile.
pub fn table(no_op: &Path, core: usize, helper: &Helper) -> Result<String> {
    let no_op = no_op.as_os_str();
    let commands: [(&str, &OsStr, &[&str]); 6] = [
        ("no-op, static", no_op, &[]),
        ("true", "true".as_ref(), &[]),
        ("sh -c true", "sh".as_ref(), &["-c", "true"]),
        ("perl -e 1", "perl".as_ref(), &["-e", "1"]),
        ("python3 -c pass", "python3".as_ref(), &["-c", "pass"]),
        ("dd bs=64M count=1", "dd".as_ref(), &["if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"]),
    ];
    let mut table = String::from(
        "| command | runner, KiB | at its floor | runner by fork, KiB | GNU time, KiB |\n\
         | --- | ---: | --- | ---: | ---: |\n",
    );
    for (name, program, args) in commands {
        let Ok(mut runner) = helper.runner(&[(program, args)]) else {
            eprintln!("SKIPPED: {name} is not there");
            continue;
        };
        let (mut spawned, mut forked, mut by_time, mut at_floor) = (vec![], vec![], vec![], 0);
        for _ in 0..RUNS {
            let run = runner.run(0, &[core], &NEVER)?.context("nobody stops it")?;
            at_floor += usize::from(run.peak_rss_is_floor);
            spawned.push(kib(run.peak_rss_bytes));
            forked
                .push(kib(runner.run_forked(0, &[core], &NEVER)?.context("nobody stops it")?.peak_rss_bytes));
            by_time.extend(gnu_time(program, args));
        }
        let by_time = if by_time.is_empty() { "-".to_owned() } else { format!("{:.0}", median(by_time)) };
        table += &format!(
            "| {name} | {:.0} | {at_floor} of {RUNS} | {:.0} | {by_time} |\n",
            median(spawned),
            median(forked)
        );
    }
    Ok(table)
}

fn kib(bytes: u64) -> f64 {
    bytes as f64 / 1024.0
}

fn gnu_time(program: &OsStr, args: &[&str]) -> Option<f64> {
    let mut command = Command::new("/usr/bin/time");
    command.args(["-f", "%M"]).arg(program).args(args).stdin(Stdio::null());
    String::from_utf8(command.output().ok()?.stderr).ok()?.lines().last()?.trim().parse().ok()
}
