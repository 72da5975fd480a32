//! `cargo run --release -p bench-compare --bin verdicts`: how often `kumite compare` is right about commands whose
//! difference is known, beside hyperfine and Welch's test on its times.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use kumite_process::pin_thread;
use serde_json::Value;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Let kumite compare a command of about 20 ms with itself and with exact extra work, over and over
#[derive(Parser)]
struct Args {
    /// Comparisons of each kind
    #[arg(long, value_name = "N", default_value_t = 100)]
    rounds: usize,
    /// Extra work of the second command, in percent
    #[arg(long, value_name = "P,P", value_delimiter = ',', default_values_t = [0.0, 0.5, 1.0, 2.0])]
    extra: Vec<f64>,
    /// Let hyperfine compare them too, in every n-th round; 0 for never
    #[arg(long, value_name = "N", default_value_t = 8)]
    hyperfine_every: usize,
    /// Keep the first core busy all the while
    #[arg(long)]
    loaded: bool,
    /// The kumite that is tried
    #[arg(long, value_name = "PATH", default_value = "target/release/kumite")]
    kumite: PathBuf,
    /// Further flags for it, e.g. --kumite-arg=--budget=5s
    #[arg(long, value_name = "ARG")]
    kumite_arg: Vec<String>,
}

/// About 19 ms on the machine this was written on.
const ITERATIONS: u64 = 11_000_000;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some("spin") => {
            spin(words.next().and_then(|word| word.parse().ok()).unwrap_or(ITERATIONS));
            return ExitCode::SUCCESS;
        }
        Some("burn") => {
            burn();
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    match measure(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn spin(iterations: u64) {
    let mut x: u64 = 88_172_645_463_325_252;
    for _ in 0..iterations {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x = black_box(x);
    }
}

/// Keeps the first core busy until its parent is gone.
fn burn() {
    let parent = std::os::unix::process::parent_id();
    let _ = pin_thread(&[0]);
    while std::os::unix::process::parent_id() == parent {
        spin(1_000_000);
    }
}

/// The results of the comparisons of one kind.
#[derive(Default)]
struct Tally {
    faster: usize,
    slower: usize,
    no_difference: usize,
    undecided: usize,
    cpu_differs: usize,
    memory_differs: usize,
    /// Of those that said `slower`, which is right where there is extra work.
    pairs: Vec<f64>,
    seconds: Vec<f64>,
    /// The state of the gate, if there was one.
    gate: Gate,
    claims: Vec<Peer>,
}

/// How often the gate was open, shut and undecided.
#[derive(Default)]
struct Gate {
    open: usize,
    shut: usize,
    undecided: usize,
}

/// The verdict by hyperfine's figures.
struct Peer {
    /// X − Y > 1 in "X ± Y times faster", and which way.
    claims: Option<bool>,
    /// Welch's test on its times at 5 %.
    differs: bool,
    seconds: f64,
}

fn measure(args: &Args) -> Result<()> {
    ensure!(args.kumite.is_file(), "there is no {}: cargo build --release", args.kumite.display());
    let ours = std::env::current_exe()?;
    let folder = tempfile::tempdir()?;
    let _load = args.loaded.then(|| Load::new(&ours)).transpose()?;
    let mut tallies: Vec<Tally> = args.extra.iter().map(|_| Tally::default()).collect();
    for round in 0..args.rounds {
        for (extra, tally) in args.extra.iter().zip(&mut tallies) {
            let iterations = |extra: f64| (ITERATIONS as f64 * (1.0 + extra / 100.0)) as u64;
            let commands =
                [0.0, *extra].map(|extra| format!("{} spin {}", ours.display(), iterations(extra)));
            compare(args, &commands, &folder.path().join("kumite.json"), tally)
                .with_context(|| format!("round {round}, {extra} % more"))?;
            if args.hyperfine_every > 0 && round % args.hyperfine_every == 0 {
                // Each comes first as often as second.
                let swapped = (round / args.hyperfine_every) % 2 == 1;
                tally.claims.push(hyperfine(&commands, swapped, &folder.path().join("hyperfine.json"))?);
            }
        }
        eprint!("\r{} of {} rounds", round + 1, args.rounds);
    }
    eprintln!();
    print(args, &tallies);
    Ok(())
}

fn compare(args: &Args, commands: &[String; 2], file: &Path, tally: &mut Tally) -> Result<()> {
    let done = Command::new(&args.kumite)
        .arg("compare")
        .args(commands)
        .arg("--json")
        .arg(file)
        .args(&args.kumite_arg)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()?;
    let document: Value = serde_json::from_str(&fs::read_to_string(file)?)?;
    let (gate, status) = (&mut tally.gate, done.status.code());
    match document["gate"]["state"].as_str() {
        Some("open") => gate.open += 1,
        Some("shut") => gate.shut += 1,
        Some("undecided") => gate.undecided += 1,
        _ => {}
    }
    let expected = i32::from(document["gate"]["state"] == "shut");
    ensure!(status == Some(expected), "{}", String::from_utf8_lossy(&done.stderr));
    let pair = &document["pairs"][0];
    match pair["verdict"].as_str() {
        Some("faster") => tally.faster += 1,
        Some("slower") => tally.slower += 1,
        Some("no-difference") => tally.no_difference += 1,
        Some("undecided") => tally.undecided += 1,
        other => anyhow::bail!("what verdict is {other:?}?"),
    }
    let differs = |what: &str| matches!(pair[what]["verdict"].as_str(), Some("less" | "more"));
    tally.cpu_differs += usize::from(differs("cpu"));
    tally.memory_differs += usize::from(differs("memory"));
    if pair["verdict"] == "slower" {
        tally.pairs.push(pair["blocks"].as_f64().context("no blocks")?);
    }
    tally.seconds.push(pair["seconds"].as_f64().context("no seconds")?);
    Ok(())
}

fn hyperfine(commands: &[String; 2], swapped: bool, file: &Path) -> Result<Peer> {
    let [first, second] = if swapped { [1, 0] } else { [0, 1] }.map(|nth: usize| &commands[nth]);
    let began = Instant::now();
    let done = Command::new("hyperfine")
        .args(["-N", "--style", "none", "--export-json"])
        .arg(file)
        .args([first, second])
        .output()
        .context("hyperfine cannot be run (apt-get install hyperfine), or --hyperfine-every 0")?;
    ensure!(done.status.success(), "hyperfine: {}", String::from_utf8_lossy(&done.stderr));
    let seconds = began.elapsed().as_secs_f64();
    let document: Value = serde_json::from_str(&fs::read_to_string(file)?)?;
    let times = |nth: usize| -> Vec<f64> {
        let times = document["results"][nth]["times"].as_array();
        times.into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let (mut a, mut b) = (Moments::of(&times(0)), Moments::of(&times(1)));
    if swapped {
        std::mem::swap(&mut a, &mut b);
    }
    let (fast, slow) = if a.mean < b.mean { (&a, &b) } else { (&b, &a) };
    let ratio = slow.mean / fast.mean;
    let spread = ratio * ((slow.sd() / slow.mean).powi(2) + (fast.sd() / fast.mean).powi(2)).sqrt();
    let claims = (ratio - spread > 1.0).then_some(a.mean < b.mean);
    Ok(Peer { claims, differs: welch(&a, &b) < 0.05, seconds })
}

struct Moments {
    n: f64,
    mean: f64,
    variance: f64,
}

impl Moments {
    fn of(values: &[f64]) -> Moments {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Moments { n, mean, variance }
    }

    fn sd(&self) -> f64 {
        self.variance.sqrt()
    }
}

/// The two-sided p value of Welch's t test.
fn welch(a: &Moments, b: &Moments) -> f64 {
    let (of_a, of_b) = (a.variance / a.n, b.variance / b.n);
    let t = (a.mean - b.mean) / (of_a + of_b).sqrt();
    let freedom = (of_a + of_b).powi(2) / (of_a.powi(2) / (a.n - 1.0) + of_b.powi(2) / (b.n - 1.0));
    StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |student| 2.0 * student.cdf(-t.abs()))
}

fn print(args: &Args, tallies: &[Tally]) {
    let load = if args.loaded { "the first core busy" } else { "nothing else running" };
    println!("{} comparisons of each kind, {load}. The second command has so much more work:\n", args.rounds);
    println!(
        "| more | faster | slower | no difference | undecided | gate: open, shut, undecided | CPU differs | memory differs | pairs, median / p90 / max | seconds, median / max | hyperfine: claims A, B, none; Welch p < 0.05; median s |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (extra, tally) in args.extra.iter().zip(tallies) {
        let (pairs, seconds) = (sorted(&tally.pairs), sorted(&tally.seconds));
        let claims = |wanted| tally.claims.iter().filter(|peer| peer.claims == wanted).count();
        let differs = tally.claims.iter().filter(|peer| peer.differs).count();
        let peer_seconds = sorted(&tally.claims.iter().map(|peer| peer.seconds).collect::<Vec<_>>());
        println!(
            "| {extra} % | {} | {} | {} | {} | {}, {}, {} | {} | {} | {} / {} / {} | {:.1} / {:.1} | {}, {}, {}; {differs} of {}; {:.1} |",
            tally.faster,
            tally.slower,
            tally.no_difference,
            tally.undecided,
            tally.gate.open,
            tally.gate.shut,
            tally.gate.undecided,
            tally.cpu_differs,
            tally.memory_differs,
            at(&pairs, 0.5),
            at(&pairs, 0.9),
            at(&pairs, 1.0),
            at(&seconds, 0.5),
            at(&seconds, 1.0),
            claims(Some(true)),
            claims(Some(false)),
            claims(None),
            tally.claims.len(),
            at(&peer_seconds, 0.5),
        );
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values
}

fn at(sorted: &[f64], share: f64) -> f64 {
    let place = ((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len().max(1)) - 1;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

/// Something that keeps the first core busy, for as long as this lives.
struct Load(Child);

impl Load {
    fn new(ours: &Path) -> Result<Load> {
        Ok(Load(Command::new(ours).arg("burn").spawn()?))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn welch_is_that_of_scipy() {
        // scipy.stats.ttest_ind([1, 2, 3, 4, 5], [2, 4, 4, 5, 7, 9], equal_var=False), scipy 1.17.1
        let (a, b) = (Moments::of(&[1.0, 2.0, 3.0, 4.0, 5.0]), Moments::of(&[2.0, 4.0, 4.0, 5.0, 7.0, 9.0]));
        let p = welch(&a, &b);
        assert!((p - 0.115_385_780_465_576_6).abs() < 1e-9, "{p}");
    }
}
