//! `cargo run --release -p bench-compare --bin counts`: whether `kumite compare --counts` counts what a program executes,
//! and how often it is right on two that execute the same, or exactly so much more.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use serde_json::Value;

const LOOPS: &str = include_str!("../../loops/loops.c");
const BARE: &str = include_str!("../../loops/bare.c");
const TURNS: u64 = 1_000_000;

/// Let kumite count programs with loops of known instructions
#[derive(Parser)]
struct Args {
    /// Comparisons of a program with itself
    #[arg(long, value_name = "N", default_value_t = 200)]
    same: usize,
    /// Comparisons of a program with one that does more
    #[arg(long, value_name = "N", default_value_t = 100)]
    more: usize,
    /// Turns of the loop that it does more, in percent
    #[arg(long, value_name = "P", default_value_t = 2.0)]
    extra: f64,
    /// The kumite that is tried
    #[arg(long, value_name = "PATH", default_value = "target/release/kumite")]
    kumite: PathBuf,
}

/// A way to execute loops: its command, with TURNS for their turns, and the number of loops.
struct Way {
    name: &'static str,
    command: &'static str,
    loops: u64,
}

const WAYS: &[Way] = &[
    Way { name: "one process", command: "./loops loop TURNS", loops: 1 },
    Way { name: "two threads", command: "./loops threads TURNS", loops: 2 },
    Way { name: "a process and its fork", command: "./loops fork TURNS", loops: 2 },
    Way { name: "a program that another starts", command: "./loops start TURNS", loops: 1 },
    Way {
        name: "two programs by a shell",
        command: "./loops loop TURNS > out; ./loops loop TURNS",
        loops: 2,
    },
];

impl Way {
    fn with(&self, turns: u64) -> String {
        self.command.replace("TURNS", &turns.to_string())
    }
}

fn main() -> ExitCode {
    match measure(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure(args: &Args) -> Result<()> {
    let kumite = fs::canonicalize(&args.kumite)
        .with_context(|| format!("there is no {}: cargo build --release", args.kumite.display()))?;
    let folder = tempfile::tempdir()?;
    let bench = Bench { kumite, folder: folder.path() };
    bench.make("loops.c", LOOPS, &["-O1", "-pthread", "-o", "loops"])?;
    bench.make("bare.c", BARE, &["-nostdlib", "-static", &format!("-DTURNS={TURNS}"), "-o", "bare"])?;
    bench.known()?;
    bench.copies()?;
    bench.verdicts(args)
}

struct Bench<'a> {
    kumite: PathBuf,
    folder: &'a Path,
}

impl Bench<'_> {
    fn make(&self, name: &str, source: &str, arguments: &[&str]) -> Result<()> {
        fs::write(self.folder.join(name), source)?;
        let mut compiler = Command::new("cc");
        let made = compiler.args(arguments).arg(name).current_dir(self.folder).status().context("cc")?;
        ensure!(made.success(), "cc {arguments:?} {name}: {made}");
        Ok(())
    }

    /// The comparison of these commands, as kumite writes it.
    fn compared(&self, commands: &[String]) -> Result<Value> {
        let mut kumite = Command::new(&self.kumite);
        kumite.args(["compare", "--counts", "--runs", "1", "--json", "-"]).args(commands);
        // So that nothing is left in the user's cache.
        let output = kumite.env("XDG_CACHE_HOME", self.folder).current_dir(self.folder).output()?;
        ensure!(output.status.success(), "{commands:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    fn known(&self) -> Result<()> {
        println!("| known loops | executed | counted | error |\n| --- | ---: | ---: | ---: |");
        let bare = instructions(&self.compared(&["./bare".to_owned()])?, 0)?;
        row("a program without a library, as a whole", 2 * TURNS + 4, bare);
        for way in WAYS {
            let both = self.compared(&[way.with(TURNS), way.with(2 * TURNS)])?;
            let more = instructions(&both, 1)? - instructions(&both, 0)?;
            row(&format!("{}, with twice the turns", way.name), 2 * TURNS * way.loops, more);
        }
        println!();
        Ok(())
    }

    fn copies(&self) -> Result<()> {
        println!("| 64 KiB copied 1,000 times | counted for each |\n| --- | ---: |");
        for (name, what) in [("by `memcpy` of the library", "memcpy"), ("by one `rep movsb`", "movs")] {
            let both = self.compared(&[1_000, 2_000].map(|times| format!("./loops {what} {times}")))?;
            println!("| {name} | {} |", (instructions(&both, 1)? - instructions(&both, 0)?) / 1_000);
        }
        println!();
        Ok(())
    }

    fn verdicts(&self, args: &Args) -> Result<()> {
        println!(
            "| compared | times | same | changed | cannot tell | seconds each |\n| --- | ---: | ---: | ---: | ---: | ---: |"
        );
        for (extra, times) in [(0.0, args.same), (args.extra, args.more)] {
            let (mut found, began) = ([0; 3], Instant::now());
            for nth in 0..times {
                let way = &WAYS[nth % WAYS.len()];
                let turns = (TURNS as f64 * (1.0 + extra / 100.0)).round() as u64;
                let comparison = self.compared(&[way.with(TURNS), way.with(turns)])?;
                let state = comparison["pairs"][0]["counts"]["state"].as_str().context("no state")?;
                let at = ["same", "changed", "cannot-tell"].iter().position(|known| *known == state);
                found[at.with_context(|| format!("unknown state {state}"))?] += 1;
            }
            let name =
                if extra == 0.0 { "with itself".to_owned() } else { format!("with {extra} % more turns") };
            let [same, changed, cannot_tell] = found;
            let each = began.elapsed().as_secs_f64() / times.max(1) as f64;
            println!("| {name} | {times} | {same} | {changed} | {cannot_tell} | {each:.1} |");
        }
        Ok(())
    }
}

fn row(name: &str, executed: u64, counted: u64) {
    let error = (counted as f64 / executed as f64 - 1.0) * 100.0;
    println!("| {name} | {executed} | {counted} | {error:+.4} % |");
}

/// The instructions of a command in its first counted run.
fn instructions(comparison: &Value, command: usize) -> Result<u64> {
    let counts = &comparison["commands"][command]["counts"];
    counts["instructions"][0].as_u64().with_context(|| format!("it was not counted: {counts}"))
}
