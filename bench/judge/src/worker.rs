//! A contender that does nothing but take its time: it speaks the task protocol, and is started by kumite.

use std::hint::black_box;
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use kumite_lab::Drawn;
use serde_json::{Value, json};

use crate::control::Planted;

/// The measure of a job.
#[derive(Clone, Copy, ValueEnum)]
pub enum By {
    /// The clock: so many nanoseconds.
    Ns,
    /// Work: so many steps, which take longer beside others.
    Steps,
}

impl By {
    /// The word for it on the command line.
    pub fn word(self) -> &'static str {
        match self {
            By::Ns => "ns",
            By::Steps => "steps",
        }
    }

    fn spend(self, amount: u64) {
        match self {
            By::Ns => {
                let (began, time) = (Instant::now(), Duration::from_nanos(amount));
                while began.elapsed() < time {}
            }
            By::Steps => {
                black_box((0..amount).fold(1_u64, |product, step| product.wrapping_mul(black_box(step | 1))));
            }
        }
    }
}

/// How much a job is, where 3 % more are planted: by the environment that this process has, or by its folder.
pub fn planted(planted: Planted, amount: u64) -> Result<u64> {
    let [most_padding, _] = Drawn::MOST;
    let is_hit = match planted {
        Planted::Nowhere => false,
        Planted::Drawn => std::env::var("KUMITE_PADDING").context("no padding")?.len() >= most_padding / 2,
        Planted::Fixed => std::env::current_dir()?.to_string_lossy().contains("-control"),
    };
    Ok(if is_hit { amount + amount * 3 / 100 } else { amount })
}

/// Does jobs until its input ends.
pub fn work(by: By, amount: u64, input: impl BufRead, mut output: impl Write) -> Result<()> {
    for line in input.lines() {
        let request: Value = serde_json::from_str(&line?)?;
        if request["hello"] == 1 {
            let pid = std::process::id();
            say(
                &mut output,
                &json!({ "hello": 1, "name": "spin", "runtime": "rust", "pid": pid, "cores": 1 }),
            )?;
            continue;
        }
        ensure!(request["job"].is_u64(), "this is no request: {request}");
        let began = Instant::now();
        by.spend(amount);
        let elapsed_ns = u64::try_from(began.elapsed().as_nanos())?;
        say(&mut output, &json!({ "done": request["job"] }))?;
        say(&mut output, &json!({ "job": request["job"], "elapsed_ns": elapsed_ns, "result": null }))?;
    }
    Ok(())
}

fn say(output: &mut impl Write, answer: &Value) -> Result<()> {
    output.write_all(format!("{answer}\n").as_bytes())?;
    Ok(output.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_by_the_clock_takes_its_time_at_least() {
        let requests = b"{\"hello\":1}\n{\"job\":7,\"params\":{}}\n".as_slice();
        let mut output = Vec::new();
        work(By::Ns, 2_000_000, requests, &mut output).unwrap();
        let lines: Vec<Value> =
            output.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        let [hello, done, answer] = &lines[..] else { panic!("three answers: {lines:?}") };
        assert_eq!((&hello["hello"], &done["done"], &answer["job"]), (&json!(1), &json!(7), &json!(7)));
        assert!(answer["elapsed_ns"].as_u64().unwrap() >= 2_000_000, "{answer}");
    }

    #[test]
    fn what_is_no_request_ends_the_worker_with_an_error() {
        assert!(work(By::Steps, 1, b"{}\n".as_slice(), Vec::new()).is_err());
    }
}
