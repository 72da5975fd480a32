//! Commands as what is compared: prepare, run, keep.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_host::Clock;
use kumite_process::{
    CommandLine, Job, MOST_QUEUED, Output, Runner, Stdin, TimedRun, available_cores, how_it_ended,
};
use kumite_record::{Comparison, ComparisonEnd, Costs, Machine};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::bench::{Bench, CompareError, Setting};
use super::document::{Found, document, memory_side};
use super::duet::BESIDE;
use super::gate;
use super::hooks::{Hooks, check_readable};
use super::judge::Side;
use super::outside::Outside;
use super::same_output::SameOutput;
use super::sequence::{Blocks, Cut, Executed, Progressed, Rules, until_decided};

/// How often the cost of a process is looked at.
const EMPTY_RUNS: usize = 10;
/// What looking for memory below the floor may take, or a tenth of the time of the comparison.
const MEMORY_TIME: Duration = Duration::from_secs(1);
/// In so many blocks at most.
const MEMORY_BLOCKS: usize = 30;

/// Compares commands, and says what came of it; with an error beside it, if that is why it ended.
pub fn compare(
    setting: &Setting,
    rules: &Rules,
    machine: Machine,
    clock: &dyn Clock,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Progressed),
) -> Result<(Comparison, Option<CompareError>), CompareError> {
    if let Stdin::File(path) = &setting.stdin {
        check_readable(path)?;
    }
    let lines: Vec<CommandLine> = setting
        .benches
        .iter()
        .map(|bench| CommandLine::new(&bench.command, &setting.shell))
        .collect::<Result<_, _>>()
        .map_err(CompareError::Usage)?;
    let hooks = Hooks::new(setting)?;
    let compared = hooks
        .setup(stop)
        .and_then(|()| Commands::start(setting, &lines, &hooks, clock, rules.seed))
        .and_then(|commands| commands.compare(rules, machine, stop, watch));
    match (compared, hooks.cleanup()) {
        (Ok((comparison, error)), cleaned) => Ok((comparison, error.or(cleaned.err()))),
        (Err(error), _) => Err(error),
    }
}

struct Commands<'a> {
    setting: &'a Setting,
    lines: &'a [CommandLine],
    hooks: &'a Hooks<'a>,
    clock: &'a dyn Clock,
    runner: Runner,
    same_output: Option<SameOutput>,
    outside: Outside,
    /// Time in what goes around runs.
    aside: Duration,
    /// CPU time since noise was last looked at.
    ours: Duration,
    found: Found,
}

/// How a run is made.
#[derive(Clone, Copy)]
struct How<'a> {
    cores: &'a [usize],
    /// So that little memory shows; the time is then not to be used.
    forked: bool,
}

impl<'a> Commands<'a> {
    fn start(
        setting: &'a Setting,
        lines: &'a [CommandLine],
        hooks: &'a Hooks<'a>,
        clock: &'a dyn Clock,
        seed: u64,
    ) -> Result<Commands<'a>, CompareError> {
        let same_output = setting.same_output.then(|| SameOutput::new(hooks.file("output")));
        let output = match &same_output {
            Some(same) => Output::File(same.file.clone()),
            None => setting.output.clone(),
        };
        let job = |words: &[String], output: &Output, stdin: &Stdin| Job {
            program: words[0].clone().into(),
            args: words[1..].to_vec(),
            dir: PathBuf::from("."),
            env: Vec::new(),
            stdin: stdin.clone(),
            output: output.clone(),
        };
        let mut jobs: Vec<Job> = lines.iter().map(|line| job(&line.words, &output, &setting.stdin)).collect();
        jobs.push(job(&["true".to_owned()], &Output::Null, &Stdin::Null));
        if let Some(shell) = lines.iter().find_map(|line| line.shell.as_ref()) {
            let empty: Vec<String> = shell.iter().cloned().chain(["-c".to_owned(), String::new()]).collect();
            jobs.push(job(&empty, &Output::Null, &Stdin::Null));
        }
        let (helper, argument) = &setting.helper;
        let mut runner = Runner::start(Path::new(helper), &[argument], &jobs)?;
        runner.vary_environment(seed);
        if let Some(timeout) = setting.timeout {
            runner.limit(timeout);
        }
        let outside = Outside::new(&setting.cores);
        let found = Found::new(lines.len());
        Ok(Commands {
            setting,
            lines,
            hooks,
            clock,
            runner,
            same_output,
            outside,
            aside: Duration::ZERO,
            ours: Duration::ZERO,
            found,
        })
    }

    fn compare(
        mut self,
        rules: &Rules,
        machine: Machine,
        stop: &AtomicBool,
        watch: &mut dyn FnMut(Progressed),
    ) -> Result<(Comparison, Option<CompareError>), CompareError> {
        let started = self.clock.timestamp();
        let costs = self.costs(stop)?;
        let (ended, elapsed) = match self.warm_up(stop) {
            Ok(true) => {
                let (of, clock) = (self.lines.len(), self.clock);
                self.aside = Duration::ZERO;
                self.outside.begin(clock.now());
                until_decided(&mut self, of, rules, clock, stop, watch)
            }
            Ok(false) => (Ok(ComparisonEnd::Interrupted), Duration::ZERO),
            Err(error) => (Err(error), Duration::ZERO),
        };
        self.found.elapsed = elapsed;
        self.found.aside = self.aside;
        let (ended, mut error) = match ended {
            Err(CompareError::Interrupted) => (ComparisonEnd::Interrupted, None),
            Ok(ended) => (ended, None),
            Err(error) => (ComparisonEnd::Failed, Some(error)),
        };
        if !matches!(ended, ComparisonEnd::Interrupted | ComparisonEnd::Failed) {
            error = self.look_below_the_floor(rules, stop).err();
        }
        let costs = self.found.costs(costs);
        let noise = self.outside.found();
        let found = document(self.setting, self.lines, rules, &self.found);
        let mut comparison = Comparison { machine, started, ended, costs, noise, ..found };
        comparison.gate = gate::of(rules, &comparison);
        Ok((comparison, error))
    }

    /// What an empty process and an empty shell take.
    fn costs(&mut self, stop: &AtomicBool) -> Result<Costs, CompareError> {
        let mut median = |job| -> Result<Option<f64>, CompareError> {
            let mut walls = Vec::new();
            for _ in 0..EMPTY_RUNS {
                let run = self.runner.run(job, &self.setting.cores, stop)?;
                walls.push(run.ok_or(CompareError::Interrupted)?.wall.as_secs_f64());
            }
            Ok(kumite_stats::median(&walls))
        };
        let first = self.lines.len();
        let empty_process_s = median(first)?;
        let has_shell = self.lines.iter().any(|line| line.shell.is_some());
        let empty_shell_s = if has_shell { median(first + 1)? } else { None };
        Ok(Costs { seconds: 0.0, between_runs_us: 0.0, empty_process_s, empty_shell_s })
    }

    fn warm_up(&mut self, stop: &AtomicBool) -> Result<bool, CompareError> {
        let how = How { cores: &self.setting.cores, forked: false };
        for _ in 0..self.setting.warm_up {
            for command in 0..self.lines.len() {
                if self.one(command, how, stop)?.is_none() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn bench(&self, command: usize) -> &'a Bench {
        &self.setting.benches[command]
    }

    /// A whole run: what goes before, itself, what goes after.
    fn one(&mut self, command: usize, how: How, stop: &AtomicBool) -> Result<Option<TimedRun>, CompareError> {
        self.prepare(command, stop)?;
        let run = match how.forked {
            true => self.runner.run_forked(command, how.cores, stop),
            false => self.runner.run(command, how.cores, stop),
        };
        self.conclude(command)?;
        let Some(run) = run? else { return Ok(None) };
        self.check(command, &run)?;
        Ok(Some(run))
    }

    fn prepare(&mut self, command: usize, stop: &AtomicBool) -> Result<(), CompareError> {
        let began = self.clock.now();
        let done = self.hooks.prepare(self.bench(command), stop);
        self.aside += self.clock.now().saturating_sub(began);
        done
    }

    fn conclude(&mut self, command: usize) -> Result<(), CompareError> {
        let began = self.clock.now();
        let done = self.hooks.conclude(self.bench(command));
        self.aside += self.clock.now().saturating_sub(began);
        done
    }

    fn check(&mut self, command: usize, run: &TimedRun) -> Result<(), CompareError> {
        let bench = self.bench(command);
        if !self.setting.allowed.allows(super::document::exit_code(run)) {
            let again = self.hooks.said_once_more(bench, &self.lines[command]);
            return Err(CompareError::Failed(format!(
                "`{}` {}; {again} (--ignore-failure goes on all the same)",
                bench.command,
                how_it_ended(run.status)
            )));
        }
        self.same_output.as_mut().map_or(Ok(()), |same| same.check(bench))
    }

    /// Each with what goes around it; by position.
    fn in_turn(
        &mut self,
        order: &[usize],
        how: How,
        stop: &AtomicBool,
    ) -> Result<Option<Vec<TimedRun>>, CompareError> {
        let mut block = vec![None; order.len()];
        for &command in order {
            let Some(run) = self.one(command, how, stop)? else { return Ok(None) };
            block[command] = Some(run);
        }
        Ok(Some(block.into_iter().flatten().collect()))
    }

    /// With nothing around them, so that the helper goes from one run to the next without waiting for us.
    fn queued(&mut self, orders: &[Vec<usize>], stop: &AtomicBool) -> Executed<CompareError> {
        let all = orders.concat();
        let (mut runs, mut cut) = (Vec::new(), None);
        'all: for some in all.chunks(MOST_QUEUED) {
            let queued = some.iter().try_for_each(|&command| self.runner.queue(command, &self.setting.cores));
            if let Err(error) = queued {
                cut = Some(Cut::Failed(error.into()));
                break;
            }
            for _ in some {
                match self.runner.next(stop) {
                    Ok(Some(run)) => runs.push(run),
                    Ok(None) => {
                        cut = Some(Cut::Stopped);
                        break 'all;
                    }
                    Err(error) => {
                        cut = Some(Cut::Failed(error.into()));
                        break 'all;
                    }
                }
            }
        }
        for (nth, (&command, run)) in all.iter().zip(&runs).enumerate() {
            if let Err(error) = self.check(command, run) {
                cut = Some(Cut::Failed(error));
                runs.truncate(nth);
                break;
            }
        }
        let values = orders.iter().zip(runs.chunks_exact(self.lines.len())).map(|(order, runs)| {
            let mut block = vec![runs[0]; order.len()];
            order.iter().zip(runs).for_each(|(&command, run)| block[command] = *run);
            self.keep(&block)
        });
        Executed { values: values.collect(), cut }
    }

    /// By position; what is judged of them.
    fn keep(&mut self, block: &[TimedRun]) -> Vec<f64> {
        self.found.runs.iter_mut().zip(block).for_each(|(runs, run)| runs.push(*run));
        self.ours += block.iter().map(TimedRun::all_cpu).sum::<Duration>();
        block.iter().map(|run| run.wall.as_secs_f64()).collect()
    }

    /// One block of whatever is not simply one run after the other.
    fn block(&mut self, order: &[usize], stop: &AtomicBool) -> Result<Option<Vec<f64>>, CompareError> {
        let setting = self.setting;
        if !setting.duet {
            let how = How { cores: &setting.cores, forked: false };
            let block = self.in_turn(order, how, stop)?;
            return Ok(block.map(|block| self.keep(&block)));
        }
        let Some(block) = self.at_once(order, stop)? else { return Ok(None) };
        if self.found.in_turn[0].len() < BESIDE {
            let [_, half] = halves(&setting.cores);
            let how = How { cores: &half, forked: false };
            let Some(beside) = self.in_turn(order, how, stop)? else { return Ok(None) };
            self.ours += beside.iter().map(TimedRun::all_cpu).sum::<Duration>();
            self.found.in_turn.iter_mut().zip(beside).for_each(|(runs, run)| runs.push(run));
        }
        Ok(Some(self.keep(&block)))
    }

    /// Two at the same time, the first of the order on the first half of the CPUs.
    fn at_once(&mut self, order: &[usize], stop: &AtomicBool) -> Result<Option<Vec<TimedRun>>, CompareError> {
        let [halves, jobs] = [halves(&self.setting.cores), [vec![order[0]], vec![order[1]]]];
        for &command in order {
            self.prepare(command, stop)?;
        }
        let runs = self.runner.run_both([jobs[0][0], jobs[1][0]], [&halves[0], &halves[1]], stop);
        for &command in order {
            self.conclude(command)?;
        }
        let Some(runs) = runs? else { return Ok(None) };
        let mut block = vec![runs[0]; 2];
        for (&command, run) in order.iter().zip(runs) {
            self.check(command, &run)?;
            block[command] = run;
        }
        Ok(Some(block))
    }

    /// A few more blocks for memory alone, where it was too little to show.
    fn look_below_the_floor(&mut self, rules: &Rules, stop: &AtomicBool) -> Result<(), CompareError> {
        let blocks = self.found.runs[0].len();
        let at_floor = self.found.runs.iter().flatten().any(|run| run.peak_rss_is_floor);
        if blocks == 0 || !at_floor {
            return Ok(());
        }
        let allowed = MEMORY_TIME.max(self.found.elapsed / 10);
        let possible = allowed.as_secs_f64() / (self.found.elapsed.as_secs_f64() / blocks as f64);
        let fewest = rules.fewest(self.lines.len());
        if possible < fewest as f64 {
            return Ok(());
        }
        let mut random = ChaCha8Rng::seed_from_u64(rules.seed);
        let mut order: Vec<usize> = (0..self.lines.len()).collect();
        let how = How { cores: &self.setting.cores, forked: true };
        let mut memory = vec![Vec::new(); order.len()];
        for done in 1..=(possible as usize).min(MEMORY_BLOCKS.max(fewest)) {
            order.shuffle(&mut random);
            let Some(block) = self.in_turn(&order, how, stop)? else { return Ok(()) };
            memory.iter_mut().zip(block).for_each(|(runs, run)| runs.push(run));
            let decided =
                |other| other == rules.reference || memory_side(&memory, other, rules) != Side::Unknown;
            if done >= fewest && (0..self.lines.len()).all(decided) {
                break;
            }
        }
        self.found.memory = Some(memory);
        Ok(())
    }
}

/// The CPUs for either of two that run at once.
pub(crate) fn halves(cores: &[usize]) -> [Vec<usize>; 2] {
    let cores = if cores.is_empty() { available_cores() } else { cores.to_vec() };
    let (one, other) = cores.split_at(cores.len() / 2);
    [one.to_vec(), other.to_vec()]
}

impl Blocks for Commands<'_> {
    type Error = CompareError;

    fn execute(&mut self, orders: &[Vec<usize>], stop: &AtomicBool) -> Executed<CompareError> {
        let alone = |bench: &Bench| bench.prepare.is_none() && bench.conclude.is_none();
        let alone = self.setting.benches.iter().all(alone);
        let executed = if alone && !self.setting.duet && self.same_output.is_none() {
            self.queued(orders, stop)
        } else {
            let (mut values, mut cut) = (Vec::new(), None);
            for order in orders {
                match self.block(order, stop) {
                    Ok(Some(block)) => values.push(block),
                    Ok(None) | Err(CompareError::Interrupted) => cut = Some(Cut::Stopped),
                    Err(error) => cut = Some(Cut::Failed(error)),
                }
                if cut.is_some() {
                    break;
                }
            }
            Executed { values, cut }
        };
        self.outside.block(std::mem::take(&mut self.ours), self.clock.now());
        executed
    }
}
