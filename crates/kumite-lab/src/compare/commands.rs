//! Commands as what is compared: prepare, run, keep.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jiff::Timestamp;
use kumite_process::{Job, Output, Runner, Stdin, TimedRun};
use kumite_record::{
    ComparedCommand, ComparedPair, ComparedUse, Comparison, Costs, Ended, Estimate, Machine, SCHEMA, Thrift,
};
use kumite_stats::sequential_median;
use thiserror::Error;

use super::command::{CommandLine, Shell};
use super::judge::{Bar, Side, judge, log_ratios, remaining};
use super::sequence::{Blocks, Progressed, Rules, until_decided};
use crate::execute::Clock;

/// What is compared and how it is run.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The commands, in the order in which they are reported.
    pub benches: Vec<Bench>,
    /// What runs them.
    pub shell: Shell,
    /// What they may read.
    pub stdin: Stdin,
    /// Where their output goes.
    pub output: Output,
    /// The CPUs they are kept to; none: any.
    pub cores: Vec<usize>,
    /// Runs of each before the first block, which are not counted.
    pub warm_up: usize,
    /// kumite itself, and the argument with which it is the runner's helper.
    pub helper: (PathBuf, String),
}

/// A command.
#[derive(Clone, Debug, Default)]
pub struct Bench {
    /// What it is called; unique.
    pub name: String,
    /// As it was typed, parameters filled in.
    pub command: String,
    /// Those.
    pub parameters: BTreeMap<String, String>,
}

/// Why a comparison could not be made, or not to its end.
#[derive(Debug, Error)]
pub enum CompareError {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The machine did not do it.
    #[error(transparent)]
    Process(#[from] kumite_process::Error),
    /// A command failed.
    #[error("{0}")]
    Failed(String),
}

/// How often the cost of a process is looked at.
const EMPTY_RUNS: usize = 10;

/// Compares, and says what came of it; with an error beside it, if that is why it ended.
pub fn compare(
    setting: &Setting,
    rules: &Rules,
    machine: Machine,
    clock: &dyn Clock,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Progressed),
) -> Result<(Comparison, Option<CompareError>), CompareError> {
    let started = clock.timestamp();
    let mut commands = Commands::start(setting, rules.seed)?;
    let costs = commands.costs(stop)?;
    let (ended, elapsed) = match commands.warm_up(stop) {
        Ok(true) => until_decided(&mut commands, setting.benches.len(), rules, clock, stop, watch),
        Ok(false) => (Ok(Ended::Interrupted), Duration::ZERO),
        Err(error) => (Err(error), Duration::ZERO),
    };
    let (ended, error) = match ended {
        Ok(ended) => (ended, None),
        Err(error) => (Ended::Failed, Some(error)),
    };
    Ok((commands.comparison(rules, machine, started, ended, elapsed, costs), error))
}

struct Commands<'a> {
    setting: &'a Setting,
    lines: Vec<CommandLine>,
    runner: Runner,
    /// By command, then by block.
    runs: Vec<Vec<TimedRun>>,
}

impl<'a> Commands<'a> {
    fn start(setting: &'a Setting, seed: u64) -> Result<Commands<'a>, CompareError> {
        let lines: Vec<CommandLine> = setting
            .benches
            .iter()
            .map(|bench| CommandLine::new(&bench.command, &setting.shell))
            .collect::<Result<_, _>>()
            .map_err(CompareError::Usage)?;
        let job = |words: &[String]| Job {
            program: words[0].clone().into(),
            args: words[1..].to_vec(),
            dir: PathBuf::from("."),
            env: Vec::new(),
            stdin: setting.stdin.clone(),
            output: setting.output.clone(),
        };
        let mut jobs: Vec<Job> = lines.iter().map(|line| job(&line.words)).collect();
        jobs.push(job(&["true".to_owned()]));
        if let Some(shell) = lines.iter().find_map(|line| line.shell.as_ref()) {
            let empty: Vec<String> = shell.iter().cloned().chain(["-c".to_owned(), String::new()]).collect();
            jobs.push(job(&empty));
        }
        let (helper, argument) = &setting.helper;
        let mut runner = Runner::start(Path::new(helper), &[argument], &jobs)?;
        runner.vary_environment(seed);
        let runs = vec![Vec::new(); lines.len()];
        Ok(Commands { setting, lines, runner, runs })
    }

    /// What an empty process and an empty shell take.
    fn costs(&mut self, stop: &AtomicBool) -> Result<Costs, CompareError> {
        let mut median = |job| -> Result<Option<f64>, CompareError> {
            let mut walls = Vec::new();
            for _ in 0..EMPTY_RUNS {
                match self.runner.run(job, &self.setting.cores, stop)? {
                    Some(run) => walls.push(run.wall.as_secs_f64()),
                    None => return Ok(None),
                }
            }
            Ok(kumite_stats::median(&walls))
        };
        let first = self.lines.len();
        let empty_process_s = median(first)?;
        let has_shell = self.lines.iter().any(|line| line.shell.is_some());
        let empty_shell_s = if has_shell && empty_process_s.is_some() { median(first + 1)? } else { None };
        Ok(Costs { seconds: 0.0, between_runs_us: 0.0, empty_process_s, empty_shell_s })
    }

    fn warm_up(&mut self, stop: &AtomicBool) -> Result<bool, CompareError> {
        for _ in 0..self.setting.warm_up {
            for command in 0..self.lines.len() {
                match self.runner.run(command, &self.setting.cores, stop)? {
                    Some(run) => self.check(command, &run)?,
                    None => return Ok(false),
                }
            }
        }
        Ok(true)
    }

    fn check(&self, command: usize, run: &TimedRun) -> Result<(), CompareError> {
        if run.status.success() {
            return Ok(());
        }
        let command = &self.setting.benches[command].command;
        Err(CompareError::Failed(format!("`{command}` ended with {}", run.status)))
    }
}

impl Blocks for Commands<'_> {
    type Error = CompareError;

    fn block(&mut self, order: &[usize], stop: &AtomicBool) -> Result<Option<Vec<f64>>, CompareError> {
        let mut block = vec![None; order.len()];
        for &command in order {
            self.runner.queue(command, &self.setting.cores)?;
        }
        for &command in order {
            let Some(run) = self.runner.next(stop)? else { return Ok(None) };
            self.check(command, &run)?;
            block[command] = Some(run);
        }
        let block: Vec<TimedRun> = block.into_iter().flatten().collect();
        self.runs.iter_mut().zip(&block).for_each(|(runs, run)| runs.push(*run));
        Ok(Some(block.iter().map(|run| run.wall.as_secs_f64()).collect()))
    }
}

impl Commands<'_> {
    fn comparison(
        &self,
        rules: &Rules,
        machine: Machine,
        started: Timestamp,
        ended: Ended,
        elapsed: Duration,
        costs: Costs,
    ) -> Comparison {
        let of = self.lines.len();
        let bar = rules.bar(of);
        let runs: f64 = self.runs.iter().map(|runs| runs.len() as f64).sum();
        let walls: Duration = self.runs.iter().flatten().map(|run| run.wall).sum();
        let costs = Costs {
            seconds: elapsed.as_secs_f64(),
            between_runs_us: elapsed.saturating_sub(walls).as_secs_f64() * 1e6 / runs.max(1.0),
            ..costs
        };
        Comparison {
            schema: SCHEMA,
            command: String::new(),
            kumite: env!("CARGO_PKG_VERSION").to_owned(),
            started,
            machine,
            seed: rules.seed,
            alpha: rules.alpha,
            alpha_per_pair: bar.alpha,
            margin: rules.margin,
            ended,
            commands: (0..of).map(|command| self.command(command)).collect(),
            pairs: (0..of)
                .filter(|other| *other != rules.reference)
                .map(|other| self.pair(other, rules.reference, bar, elapsed))
                .collect(),
            costs,
            warnings: Vec::new(),
        }
    }

    fn command(&self, command: usize) -> ComparedCommand {
        let (bench, line, runs) = (&self.setting.benches[command], &self.lines[command], &self.runs[command]);
        let values = |of: fn(&TimedRun) -> f64| -> Vec<f64> { runs.iter().map(of).collect() };
        let (times, user_times, system_times) =
            (values(wall), values(|run| run.user.as_secs_f64()), values(|run| run.system.as_secs_f64()));
        ComparedCommand {
            name: bench.name.clone(),
            command: bench.command.clone(),
            shell: line.shell.as_ref().map(|shell| shell.join(" ")),
            parameters: bench.parameters.clone(),
            wall_s: estimate(&times, "s"),
            user_s: estimate(&user_times, "s"),
            system_s: estimate(&system_times, "s"),
            peak_rss_bytes: estimate(&values(memory), "bytes"),
            peak_rss_is_floor: runs.iter().filter(|run| run.peak_rss_is_floor).count(),
            times,
            user_times,
            system_times,
            peak_rss: runs.iter().map(|run| run.peak_rss_bytes).collect(),
            exit_codes: runs.iter().map(exit_code).collect(),
            involuntary_switches: runs.iter().map(|run| run.involuntary_switches).sum(),
        }
    }

    fn pair(&self, other: usize, reference: usize, bar: Bar, elapsed: Duration) -> ComparedPair {
        let logs = |of: fn(&TimedRun) -> f64| {
            let values = |command: usize| self.runs[command].iter().map(of).collect::<Vec<_>>();
            log_ratios(&values(other), &values(reference))
        };
        let walls = logs(wall).unwrap_or_default();
        let (side, ratio) = judge(&walls, bar);
        let seconds = elapsed.as_secs_f64();
        let used = |of| {
            logs(of)
                .map(|logs| judge(&logs, bar))
                .map(|(side, ratio)| ComparedUse { verdict: side.into(), ratio })
        };
        let mut used_memory = used(memory);
        let at_floor =
            [other, reference].iter().any(|at| self.runs[*at].iter().any(|run| run.peak_rss_is_floor));
        if let Some(used) = &mut used_memory
            && at_floor
            && used.verdict == Thrift::NoDifference
        {
            // Both are no more than the floor, and may differ below it.
            used.verdict = Thrift::Undecided;
        }
        ComparedPair {
            a: self.setting.benches[other].name.clone(),
            b: self.setting.benches[reference].name.clone(),
            verdict: side.into(),
            ratio,
            blocks: walls.len(),
            seconds,
            remaining: (side == Side::Unknown).then(|| remaining(&walls, bar, seconds)).flatten(),
            cpu: used(|run| (run.user + run.system).as_secs_f64()),
            memory: used_memory,
        }
    }
}

fn wall(run: &TimedRun) -> f64 {
    run.wall.as_secs_f64()
}

fn memory(run: &TimedRun) -> f64 {
    run.peak_rss_bytes as f64
}

/// The median, with the interval that may be looked at after every block.
fn estimate(values: &[f64], unit: &str) -> Option<Estimate> {
    let interval = sequential_median(values, 0.05).ok();
    Some(Estimate {
        estimate: kumite_stats::median(values)?,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        unit: unit.to_owned(),
        n: values.len(),
        lower_bounds: 0,
    })
}

fn exit_code(run: &TimedRun) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    run.status.code().or(run.status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}
