//! Comparing commands: they are prepared, run, checked, and their figures kept.
//!
//! Runs without `--prepare` and `--conclude` are queued, so that the helper goes from one to the next, unless outputs
//! are checked or two run at once; otherwise each is made on its own. Every run is checked before it is kept, and a
//! block is kept whole or not at all. With `--ignore-failure` a run that fails is left out, and the comparison goes on;
//! a helper that was ended with it is started anew.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kumite_host::Clock;
use kumite_process::{
    CommandLine, Counter, Error, Job, MOST_QUEUED, Output, Runner, Stdin, TimedRun, available_cores, total,
    try_counters,
};
use kumite_record::{CommandMetric, Comparison, ComparisonEnd, Costs, LeftOutReason, Machine, Warning};

use super::bench::{Bench, Setting};
use super::between::Between;
use super::counts;
use super::deadline::within;
use super::document::{Found, NO_COSTS, document};
use super::duet::BESIDE;
use super::error::{CompareError, UsageError};
use super::gate::{self, GateRules};
use super::hooks::{Hooks, check_readable};
use super::left_out::{self, Outcome};
use super::nth::{ITERATION, Nth};
use super::outside::Outside;
use super::reading::{Reading, counter};
use super::same_output::SameOutput;
use super::sequence::{Blocks, Cut, Executed, GRACE, Progressed, Rules, until_decided};

/// The number of runs of an empty process, whose median time is kept.
const EMPTY_RUNS: usize = 10;

/// Compares commands. Returns the comparison, and the error that ended it early or that its cleanup made; `None` if
/// there was none. An error alone if the comparison could not begin.
///
/// `watch` is told of the progress. Once `stop` is set, nothing more is run but the hooks that tidy up; a comparison
/// that has begun is then returned as interrupted, without an error.
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
    check_counters(rules)?;
    let lines: Vec<CommandLine> = setting
        .benches
        .iter()
        .map(|bench| bench.line(&setting.shell))
        .collect::<Result<_, _>>()
        .map_err(UsageError::Command)?;
    let hooks = Hooks::new(setting)?;
    hooks.check()?;
    let mut commands = None;
    let compared = hooks
        .setup(rules.ends_blocks.then(|| rules.budget.max(GRACE)), stop)
        .and_then(|()| Commands::start(setting, &lines, &hooks, clock, rules, stop))
        .and_then(|started| commands.insert(started).compare(rules, machine, stop, watch))
        .map(|compared| counted(setting, &lines, &hooks, rules.gate, compared, stop, watch));
    let cleaned = hooks.cleanup();
    // Processes that were left are ended only now: one may have served the next run, or been for the cleanup to end.
    let mut left = commands.map(Commands::finish).unwrap_or_default();
    left.extend(hooks.finish());
    match (compared, cleaned) {
        (Ok((mut comparison, error)), cleaned) => {
            comparison.warnings.extend(ended_at_last(&left));
            Ok((comparison, error.or(cleaned.err())))
        }
        (Err(error), _) => Err(error),
    }
}

/// The comparison with instruction counts, if they are asked for and its times are whole.
fn counted(
    setting: &Setting,
    lines: &[CommandLine],
    hooks: &Hooks,
    gate: Option<GateRules>,
    (mut comparison, error): (Comparison, Option<CompareError>),
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Progressed),
) -> (Comparison, Option<CompareError>) {
    let has_times = comparison.commands.iter().all(|command| !command.times.is_empty());
    if error.is_some() || !has_times || comparison.ended == ComparisonEnd::Interrupted {
        return (comparison, error);
    }
    let error = counts::count(setting, lines, hooks, gate, &mut comparison, stop, watch).err();
    (comparison, error)
}

/// The metrics that are counters, of all that are judged or waited for.
fn counted_metrics(rules: &Rules) -> Vec<CommandMetric> {
    let mut metrics = [rules.judged(), &rules.waited_for()].concat();
    metrics.retain(|metric| counter(*metric).is_some());
    metrics.sort();
    metrics.dedup();
    metrics
}

/// The counters that these metrics are read from.
fn counters(metrics: &[CommandMetric]) -> Vec<Counter> {
    metrics.iter().copied().filter_map(counter).collect()
}

/// Refuses counters that this machine does not have, before a command or a hook is run.
fn check_counters(rules: &Rules) -> Result<(), UsageError> {
    let metrics = counted_metrics(rules);
    try_counters(&counters(&metrics)).map_err(|source| {
        let names = metrics.iter().map(|metric| metric.as_str()).collect();
        UsageError::Counters { names, source }
    })
}

struct Commands<'a> {
    setting: &'a Setting,
    lines: &'a [CommandLine],
    hooks: &'a Hooks<'a>,
    clock: &'a dyn Clock,
    /// Set when the user stops the comparison.
    stopped: &'a AtomicBool,
    /// The budget also ends a run that is still executed.
    ends_blocks: bool,
    runner: Runner,
    jobs: Vec<Job>,
    /// The seed of the next runner, and the counters that it reads.
    seed: u64,
    counters: Vec<Counter>,
    same_output: Option<SameOutput>,
    outside: Outside,
    between: Between<'static>,
    /// The metrics that the comparison goes on for.
    waited_for: Vec<CommandMetric>,
    /// The number of pairs run at once, from the first on, that are followed by a pair run in turn.
    accompanied: usize,
    /// The number of runs that were begun of each command, without warm-up.
    begun: Vec<usize>,
    /// The time that hooks around runs took.
    aside: Duration,
    /// The CPU time of runs, of the helper and of probes since `outside` was last told of it.
    ours: Duration,
    found: Found,
}

impl<'a> Commands<'a> {
    fn start(
        setting: &'a Setting,
        lines: &'a [CommandLine],
        hooks: &'a Hooks<'a>,
        clock: &'a dyn Clock,
        rules: &Rules,
        stopped: &'a AtomicBool,
    ) -> Result<Commands<'a>, CompareError> {
        let same_output = setting.same_output.then(|| SameOutput::new(hooks.file("output")));
        let output = |bench: &Bench| match &same_output {
            Some(same) => Output::File(same.file.clone()),
            None => bench.output.clone(),
        };
        let job = |words: &[String], dir: &Path| Job {
            program: words[0].clone().into(),
            args: words[1..].to_vec(),
            dir: dir.to_owned(),
            env: Vec::new(),
            stdin: Stdin::Null,
            output: Output::Null,
        };
        let of_bench = |(bench, line): (&Bench, &CommandLine)| Job {
            env: bench.env(),
            stdin: setting.stdin.clone(),
            output: output(bench),
            ..job(&line.words, bench.folder())
        };
        let mut jobs: Vec<Job> = setting.benches.iter().zip(lines).map(of_bench).collect();
        let here = Path::new(".");
        jobs.push(job(&["true".to_owned()], here));
        if let Some(shell) = lines.iter().find_map(|line| line.shell.as_ref()) {
            let empty: Vec<String> = shell.iter().cloned().chain(["-c".to_owned(), String::new()]).collect();
            jobs.push(job(&empty, here));
        }
        let counters = counters(&counted_metrics(rules));
        let cpus = if setting.cores.is_empty() { available_cores() } else { setting.cores.clone() };
        let found = Found::new(lines.len());
        Ok(Commands {
            setting,
            lines,
            hooks,
            clock,
            stopped,
            ends_blocks: rules.ends_blocks,
            runner: runner(setting, &jobs, &counters, rules.seed)?,
            jobs,
            seed: rules.seed,
            counters,
            same_output,
            outside: Outside::new(&cpus),
            between: Between::on(&cpus),
            waited_for: rules.waited_for(),
            // A number of runs that the user has given means all of them.
            accompanied: if rules.max_blocks.is_some() { 0 } else { BESIDE },
            begun: vec![0; lines.len()],
            aside: Duration::ZERO,
            ours: Duration::ZERO,
            found,
        })
    }

    fn compare(
        &mut self,
        rules: &Rules,
        machine: Machine,
        stop: &AtomicBool,
        watch: &mut dyn FnMut(Progressed),
    ) -> Result<(Comparison, Option<CompareError>), CompareError> {
        let started = self.clock.timestamp();
        let costs = self.costs(stop)?;
        let runs = (self.setting.warm_up * self.lines.len()) as u32;
        let limit = rules.ends_blocks.then(|| rules.budget.saturating_mul(runs));
        let (ended, elapsed) = match within(limit, stop, |stop| self.warm_up(stop)) {
            (Ok(false) | Err(CompareError::Interrupted), true) => (Ok(ComparisonEnd::Budget), Duration::ZERO),
            (Ok(true), _) => {
                let (of, clock) = (self.lines.len(), self.clock);
                self.aside = Duration::ZERO;
                self.outside.begin(clock.now());
                let (ended, elapsed) = until_decided(self, of, rules, clock, stop, watch);
                let none_counts = |ended| match self.given_up(left_out::always) {
                    Some(error) if ended != ComparisonEnd::Interrupted => Err(error),
                    _ => Ok(ended),
                };
                (ended.and_then(none_counts), elapsed)
            }
            (Ok(false), _) => (Ok(ComparisonEnd::Interrupted), Duration::ZERO),
            (Err(error), _) => (Err(error), Duration::ZERO),
        };
        self.found.elapsed = elapsed;
        self.found.aside = self.aside;
        self.found.probing = self.between.spent();
        self.found.probes = self.between.found().to_vec();
        let (ended, error) = match ended {
            Err(CompareError::Interrupted) => (ComparisonEnd::Interrupted, None),
            Ok(ended) => (ended, None),
            Err(error) => (ComparisonEnd::Failed, Some(error)),
        };
        let costs = self.found.costs(costs);
        let noise = self.outside.found();
        let found = document(self.setting, self.lines, rules, &self.found);
        let failure = error.as_ref().map(CompareError::to_string);
        let mut comparison = Comparison { machine, started, ended, failure, costs, noise, ..found };
        comparison.gate = rules.gate.map(|gate| gate::comparison_gate(gate, &comparison));
        Ok((comparison, error))
    }

    /// Measures the median times of an empty process and, if any command has a shell, of an empty shell.
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
        Ok(Costs { empty_process_s, empty_shell_s, ..NO_COSTS })
    }

    fn warm_up(&mut self, stop: &AtomicBool) -> Result<bool, CompareError> {
        for nth in 0..self.setting.warm_up {
            for command in 0..self.lines.len() {
                if self.one(command, Nth::WarmUp(nth), &self.setting.cores, stop)?.is_none() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The error that a command was left out too often by this rule; `None` if none was.
    fn given_up(&self, rule: fn(&[Outcome]) -> Option<(usize, LeftOutReason)>) -> Option<CompareError> {
        let outcomes = &self.found.outcomes;
        outcomes.iter().zip(&self.setting.benches).find_map(|(outcomes, bench)| {
            let (failed, last) = rule(outcomes)?;
            Some(CompareError::TooOften { command: bench.called(), failed, runs: outcomes.len(), last })
        })
    }

    /// Ends the processes that runs have left, and returns their command lines.
    fn finish(self) -> Vec<String> {
        self.runner.finish()
    }

    /// Counts the next run of a command, and returns its number.
    fn next(&mut self, command: usize) -> Nth {
        self.begun[command] += 1;
        Nth::Run(self.begun[command] - 1)
    }

    fn bench(&self, command: usize) -> &'a Bench {
        &self.setting.benches[command]
    }

    /// Makes one run with its hooks before and after, and checks it. `None` if it was stopped.
    fn one(
        &mut self,
        command: usize,
        nth: Nth,
        cores: &[usize],
        stop: &AtomicBool,
    ) -> Result<Option<Outcome>, CompareError> {
        self.prepare(command, nth, stop)?;
        self.number(nth);
        let run = self.runner.run(command, cores, stop);
        // The run's error comes first: after a run that failed or was stopped, `--conclude` may fail just for that.
        let concluded = self.conclude(command, nth, stop);
        let Some(outcome) = self.outcome(command, nth, run)? else { return Ok(None) };
        match outcome {
            Outcome::Counts(_) => concluded.map(|()| Some(outcome)),
            Outcome::LeftOut { .. } => Ok(Some(outcome)),
        }
    }

    /// Sets the variable with the number of the run that is ordered next. It is not set if all runs are to write the
    /// same.
    fn number(&mut self, nth: Nth) {
        if !self.setting.same_output {
            self.runner.set_variable(ITERATION, &nth.as_hyperfine_says());
        }
    }

    fn prepare(&mut self, command: usize, nth: Nth, stop: &AtomicBool) -> Result<(), CompareError> {
        let began = self.clock.now();
        let done = self.hooks.prepare(self.bench(command), (ITERATION, &nth.as_hyperfine_says()), stop);
        self.aside += self.clock.now().saturating_sub(began);
        done
    }

    fn conclude(&mut self, command: usize, nth: Nth, stop: &AtomicBool) -> Result<(), CompareError> {
        let began = self.clock.now();
        let stopped = self.stopped;
        let is_cut_off = || stop.load(Ordering::Relaxed) && !stopped.load(Ordering::Relaxed);
        let is_cut_off: Option<&(dyn Fn() -> bool + Sync)> =
            if self.ends_blocks { Some(&is_cut_off) } else { None };
        let variable = (ITERATION, &*nth.as_hyperfine_says());
        let done = self.hooks.conclude(self.bench(command), variable, is_cut_off);
        self.aside += self.clock.now().saturating_sub(began);
        done
    }

    /// The outcome of a run. `None` if it was stopped.
    fn outcome(
        &mut self,
        command: usize,
        nth: Nth,
        run: Result<Option<TimedRun>, Error>,
    ) -> Result<Option<Outcome>, CompareError> {
        let Setting { allowed, .. } = self.setting;
        let run = match run {
            Err(Error::TooLong { limit, .. }) if allowed.leaves_out() => {
                self.runner = self.next_runner()?;
                let why = LeftOutReason::TimedOut { seconds: limit.as_secs_f64() };
                return Ok(Some(Outcome::LeftOut { why, run: None, took: limit }));
            }
            run => run?,
        };
        let Some(run) = run else { return Ok(None) };
        if run.interrupted {
            return Err(CompareError::Interrupted);
        }
        let bench = self.bench(command);
        match left_out::reason(&run, self.lines[command].shell.is_some(), allowed) {
            Some(why) if allowed.leaves_out() => {
                Ok(Some(Outcome::LeftOut { why, run: Some(run), took: run.wall }))
            }
            Some(_) => Err(CompareError::Command { command: bench.called(), nth, status: run.status }),
            None => {
                self.same_output.as_mut().map_or(Ok(()), |same| same.check(bench))?;
                Ok(Some(Outcome::Counts(run)))
            }
        }
    }

    /// A runner in place of one that was ended with a run that took too long.
    fn next_runner(&mut self) -> Result<Runner, Error> {
        self.seed = self.seed.wrapping_add(1);
        runner(self.setting, &self.jobs, &self.counters, self.seed)
    }

    /// Runs a block one command after the other, each with its hooks. Returns the runs by the commands' positions;
    /// `None` if it was stopped in a run. A stop in a hook, or Ctrl-C that went to a command, is the error
    /// `Interrupted`.
    fn in_turn(
        &mut self,
        order: &[usize],
        cores: &[usize],
        stop: &AtomicBool,
    ) -> Result<Option<Vec<Outcome>>, CompareError> {
        let mut block = vec![None; order.len()];
        for &command in order {
            let nth = self.next(command);
            let Some(outcome) = self.one(command, nth, cores, stop)? else { return Ok(None) };
            block[command] = Some(outcome);
        }
        Ok(Some(block.into_iter().flatten().collect()))
    }

    /// Runs blocks of commands without hooks, queued so that the helper goes from one run to the next without waiting
    /// for us.
    fn queued(&mut self, orders: &[Vec<usize>], stop: &AtomicBool) -> Executed<CompareError> {
        let all = orders.concat();
        let (mut outcomes, mut cut) = (Vec::new(), None);
        for some in all.chunks(MOST_QUEUED) {
            cut = match self.in_a_queue(some, &mut outcomes, stop) {
                Ok(true) => None,
                Ok(false) | Err(CompareError::Interrupted) => Some(Cut::Stopped),
                Err(error) => Some(Cut::Failed(error)),
            };
            if cut.is_some() {
                self.runner.forget_queued(stop);
                break;
            }
        }
        let values = orders.iter().zip(outcomes.chunks_exact(self.lines.len())).map(|(order, outcomes)| {
            let mut block = vec![outcomes[0]; order.len()];
            order.iter().zip(outcomes).for_each(|(&command, outcome)| block[command] = *outcome);
            self.keep(&block)
        });
        Executed { values: values.collect(), cut }
    }

    /// Queues some runs, at most as many as a queue can hold, and appends their outcomes. The helper runs nothing more
    /// once one has ended the comparison. `false` if they were stopped.
    fn in_a_queue(
        &mut self,
        some: &[usize],
        outcomes: &mut Vec<Outcome>,
        stop: &AtomicBool,
    ) -> Result<bool, CompareError> {
        let numbered: Vec<(usize, Nth)> = some.iter().map(|&command| (command, self.next(command))).collect();
        let mut left = &numbered[..];
        while !left.is_empty() {
            for &(command, nth) in left {
                self.number(nth);
                self.runner.queue(command, &self.setting.cores)?;
            }
            while let Some((&(command, nth), behind)) = left.split_first() {
                let run = self.runner.next(stop);
                let took_the_queue = matches!(run, Err(Error::TooLong { .. }));
                let Some(outcome) = self.outcome(command, nth, run)? else { return Ok(false) };
                outcomes.push(outcome);
                left = behind;
                if took_the_queue {
                    break;
                }
            }
        }
        Ok(true)
    }

    /// Keeps a block's outcomes, which are by position, and returns the readings that are judged.
    fn keep(&mut self, block: &[Outcome]) -> Vec<Option<Vec<Reading>>> {
        self.found.outcomes.iter_mut().zip(block).for_each(|(outcomes, outcome)| outcomes.push(*outcome));
        self.are_ours(block);
        let judged = |run| self.waited_for.iter().map(|metric| Reading::by_metric(*metric, run)).collect();
        block.iter().map(|outcome| outcome.counted().map(judged)).collect()
    }

    /// Counts the CPU time of these runs as ours.
    fn are_ours(&mut self, block: &[Outcome]) {
        let cpu = total(block.iter().filter_map(Outcome::made).map(TimedRun::all_cpu));
        self.ours = self.ours.saturating_add(cpu);
    }

    /// Runs one block that cannot be queued: with hooks, with checked outputs, or two commands at once. `None` if it
    /// was stopped.
    fn block(
        &mut self,
        order: &[usize],
        stop: &AtomicBool,
    ) -> Result<Option<Vec<Option<Vec<Reading>>>>, CompareError> {
        let setting = self.setting;
        if !setting.duet {
            let block = self.in_turn(order, &setting.cores, stop)?;
            return Ok(block.map(|block| self.keep(&block)));
        }
        let Some(block) = self.at_once(order, stop)? else { return Ok(None) };
        if self.found.in_turn[0].len() < self.accompanied {
            let [_, half] = halves(&setting.cores);
            let Some(beside) = self.in_turn(order, &half, stop)? else { return Ok(None) };
            self.are_ours(&beside);
            // They are no part of the comparison, and tell something together only.
            if let Some(pair) = beside.iter().map(Outcome::counted).collect::<Option<Vec<_>>>() {
                self.found.in_turn.iter_mut().zip(pair).for_each(|(runs, run)| runs.push(*run));
            }
        }
        Ok(Some(self.keep(&block)))
    }

    /// Runs two commands at the same time, the first of the order on the first half of the CPUs. `None` if they were
    /// stopped.
    fn at_once(&mut self, order: &[usize], stop: &AtomicBool) -> Result<Option<Vec<Outcome>>, CompareError> {
        let [halves, jobs] = [halves(&self.setting.cores), [vec![order[0]], vec![order[1]]]];
        let numbers = [self.next(order[0]), self.next(order[1])];
        for (&command, nth) in order.iter().zip(numbers) {
            self.prepare(command, nth, stop)?;
        }
        self.number(numbers[0]);
        let runs = self.runner.run_both([jobs[0][0], jobs[1][0]], [&halves[0], &halves[1]], stop);
        let pair = || order.iter().copied().zip(numbers);
        let concluded: Vec<_> = pair().map(|(command, nth)| self.conclude(command, nth, stop)).collect();
        let runs = match runs {
            Err(Error::TooLong { limit, .. }) if self.setting.allowed.leaves_out() => {
                self.runner = self.next_runner()?;
                let why = LeftOutReason::EitherTimedOut { seconds: limit.as_secs_f64() };
                return Ok(Some(vec![Outcome::LeftOut { why, run: None, took: limit }; 2]));
            }
            runs => runs?,
        };
        let Some(runs) = runs else { return Ok(None) };
        let mut block = vec![None; 2];
        for ((command, nth), run) in pair().zip(runs) {
            block[command] = self.outcome(command, nth, Ok(Some(run)))?;
        }
        let block: Vec<Outcome> = block.into_iter().flatten().collect();
        if block.iter().all(|outcome| outcome.counted().is_some()) {
            concluded.into_iter().collect::<Result<(), _>>()?;
        }
        Ok(Some(block))
    }
}

/// A runner of these jobs, each of which is a command as the setting has it.
fn runner(setting: &Setting, jobs: &[Job], counters: &[Counter], seed: u64) -> Result<Runner, Error> {
    let (helper, argument) = &setting.helper;
    let mut runner = Runner::start(Path::new(helper), &[argument], jobs)?;
    // A command may write down its environment, which must not vary if all are to write the same.
    if !setting.same_output {
        runner.vary_environment(seed);
    }
    runner.run_as_from_a_shell();
    runner.count(counters);
    runner.end_queue_unless(setting.allowed.passes());
    if let Some(timeout) = setting.timeout {
        runner.limit(timeout);
    }
    Ok(runner)
}

/// A warning that names the processes that still ran when the comparison was over; `None` if there was none.
fn ended_at_last(left: &[String]) -> Option<Warning> {
    const SHOWN: usize = 5;
    let shown: Vec<String> = left.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = match left.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let what = format!(
        "{}{more} still ran after everything, and {} ended",
        shown.join(", "),
        if left.len() == 1 { "was" } else { "were" }
    );
    (!left.is_empty()).then(|| Warning { place: "left by hooks or runs".to_owned(), what })
}

/// The CPUs for each of two commands that run at once: the halves of these, or of all CPUs if there are none.
pub(crate) fn halves(cores: &[usize]) -> [Vec<usize>; 2] {
    let cores = if cores.is_empty() { available_cores() } else { cores.to_vec() };
    let (one, other) = cores.split_at(cores.len() / 2);
    [one.to_vec(), other.to_vec()]
}

impl Blocks for Commands<'_> {
    type Error = CompareError;

    fn between(&mut self, blocks: usize, elapsed: Duration, clock: &dyn Clock, stop: &AtomicBool) {
        self.ours += self.between.after(blocks, elapsed, clock, stop);
    }

    fn cut_off(&mut self) {
        self.found.was_cut_off = true;
    }

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
        match self.given_up(left_out::too_often) {
            Some(error) if executed.cut.is_none() => Executed { cut: Some(Cut::Failed(error)), ..executed },
            _ => executed,
        }
    }
}
