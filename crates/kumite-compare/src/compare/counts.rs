//! Counting the instructions of commands under valgrind.
//!
//! This comes after the times, so that no time is measured beside it. A command runs as it did for its times, with its
//! hooks; but one that leaves a process behind is not counted, because that process has no count. Each command is run
//! [`LEAST`] times, and [`MOST`] times if its counts are not steady. One run that cannot be counted is enough for the
//! command to have no counts: a count of some of its processes is no count.

mod annotate;
mod callgrind;
mod change;
mod kept;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{CommandLine, Error, Job, Output, Runner, TimedRun};
use kumite_record::{
    CommandCounts, ComparedBaseline, ComparedCommand, ComparedCounts, Comparison, ComparisonEnd, CountState,
    Counting, CountsSince, Uncounted, Warning,
};

use super::bench::{Bench, Counts, Setting};
use super::error::CompareError;
use super::gate::{self, GateRules};
use super::hooks::Hooks;
use super::nth::Nth;
use super::sequence::Progressed;
use callgrind::Counted;

/// The number of counted runs of a command whose counts are steady.
const LEAST: usize = 3;
/// The number of counted runs of a command whose counts differ by more than [`STEADY`].
const MOST: usize = 10;
const STEADY: f64 = 1e-4;
/// The most files of callgrind's that are kept of a command, and looked into for functions: those of the processes
/// with the most instructions.
const MOST_FILES: usize = 64;
/// A run under valgrind may take so many times as long as the longest run without it, or [`LEAST_LIMIT`] if that is
/// longer: valgrind is some 50 times slower, and lets one thread run at a time.
const SLOWER: u32 = 500;
const LEAST_LIMIT: Duration = Duration::from_secs(60);

/// Counts the instructions of all commands, and puts the findings into the comparison. An error ends the counting,
/// and what was found until then is there. If the user stops it, that is no error: the comparison has then ended as
/// interrupted.
pub(crate) fn count(
    setting: &Setting,
    lines: &[CommandLine],
    hooks: &Hooks,
    gate: Option<GateRules>,
    comparison: &mut Comparison,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Progressed),
) -> Result<(), CompareError> {
    let Some(by) = &setting.counts else { return Ok(()) };
    let gate = gate.filter(|gate| !gate.is_on_runs());
    let folder = kept::folder(&by.folder, comparison.started, comparison.seed)?;
    let of = comparison.commands.len();
    let slowest = |at: usize| comparison.commands[at].times.iter().copied().fold(0.0, f64::max);
    let limit = |at| LEAST_LIMIT.max(Duration::from_secs_f64(slowest(at)).saturating_mul(SLOWER));
    let mut counter = Counter {
        by,
        gates: gate.is_some(),
        setting,
        lines,
        hooks,
        runner: None,
        limits: (0..of).map(limit).collect(),
        tallies: vec![Tally::default(); of],
        folder,
    };
    let done = counter.count(stop, watch);
    let is_interrupted = matches!(done, Err(CompareError::Interrupted));
    counter.tell(comparison, stop);
    comparison.since = by.since.clone().map(|baseline| since(baseline, comparison, by.margin));
    if is_interrupted {
        comparison.ended = ComparisonEnd::Interrupted;
    }
    if let Some(gate) = gate {
        comparison.gate = Some(gate::comparison_gate(gate, comparison));
    }
    if is_interrupted { Ok(()) } else { done }
}

/// The counts of each command, compared with those that a baseline had on another day.
fn since(baseline: ComparedBaseline, comparison: &Comparison, margin: f64) -> CountsSince {
    let instructions = |counts: &Option<CommandCounts>| {
        counts.as_ref().map_or(Vec::new(), |counts| counts.instructions.clone())
    };
    let then = instructions(&baseline.counts);
    let of = |command: &ComparedCommand| {
        let (state, ratio) = change::compared(&instructions(&command.counts), &then, margin);
        (command.name.clone(), ComparedCounts { state, ratio, functions: Vec::new() })
    };
    let commands = comparison.commands.iter().map(of).collect();
    CountsSince { baseline, commands }
}

struct Counter<'a> {
    by: &'a Counts,
    /// The counts decide the gate.
    gates: bool,
    setting: &'a Setting,
    lines: &'a [CommandLine],
    hooks: &'a Hooks<'a>,
    /// None before the first run, and after a run that has ended the runner.
    runner: Option<Runner>,
    /// The longest time of a run, by command.
    limits: Vec<Duration>,
    tallies: Vec<Tally>,
    /// The folder of this comparison.
    folder: PathBuf,
}

/// The counts of one command so far.
#[derive(Clone, Default)]
struct Tally {
    instructions: Vec<u64>,
    /// The first run; its files are kept.
    first: Option<Counted>,
    uncounted: Option<Uncounted>,
}

impl Tally {
    fn needs_more(&self) -> bool {
        let enough = if change::is_within(&self.instructions, STEADY) { LEAST } else { MOST };
        self.uncounted.is_none() && self.instructions.len() < enough
    }
}

impl Counter<'_> {
    fn count(&mut self, stop: &AtomicBool, watch: &mut dyn FnMut(Progressed)) -> Result<(), CompareError> {
        for nth in 0..MOST {
            for at in 0..self.tallies.len() {
                if self.tallies[at].needs_more() {
                    watch(Progressed::Counting { name: &self.setting.benches[at].name, run: nth + 1 });
                    let counted = self.one(at, nth, stop)?;
                    self.take(at, counted)?;
                }
            }
        }
        Ok(())
    }

    /// The folder of a command's kept files.
    fn of_command(&self, at: usize) -> PathBuf {
        self.folder.join((at + 1).to_string())
    }

    /// The folder that callgrind writes to, emptied before each run.
    fn scratch(&self, at: usize) -> PathBuf {
        self.of_command(at).join("run")
    }

    /// Makes one run with its hooks, and counts it. The inner error is the reason why the command has no counts; the
    /// outer one ends the counting.
    fn one(
        &mut self,
        at: usize,
        nth: usize,
        stop: &AtomicBool,
    ) -> Result<Result<Counted, Uncounted>, CompareError> {
        let scratch = self.scratch(at);
        kept::emptied(&scratch)?;
        let (bench, variable) = (&self.setting.benches[at], Nth::Counted(nth).as_hyperfine_says());
        let variable = (super::nth::ITERATION, &*variable);
        self.hooks.prepare(bench, variable, stop)?;
        let run = self.run(at, variable, stop);
        let concluded = self.hooks.conclude(bench, variable, None);
        let run = match run {
            Ok(Some(run)) if !run.interrupted => run,
            Ok(_) => return Err(CompareError::Interrupted),
            Err(Error::TooLong { limit, .. }) => {
                return Ok(Err(Uncounted::TooLong { seconds: limit.as_secs_f64() }));
            }
            Err(error) => return Ok(Err(Uncounted::Error { error: error.to_string() })),
        };
        concluded?;
        let code = super::exit_code::exit_code(&run);
        if run.status.signal().is_some() || !self.setting.allowed.allows(code) {
            return Ok(Err(Uncounted::Failed { exit_code: code, said: callgrind::last_words(&scratch) }));
        }
        let shell = self.lines[at].shell.is_some().then(|| self.lines[at].words.join(" "));
        Ok(match callgrind::read(&scratch, shell.as_deref()) {
            // Valgrind itself ended with a status that the command may have.
            Err(Uncounted::NoProcess) if shell.is_none() => {
                Err(Uncounted::Failed { exit_code: code, said: callgrind::last_words(&scratch) })
            }
            read => read,
        })
    }

    fn run(
        &mut self,
        at: usize,
        (name, value): (&str, &str),
        stop: &AtomicBool,
    ) -> Result<Option<TimedRun>, Error> {
        let mut runner = match self.runner.take() {
            Some(runner) => runner,
            None => {
                let (helper, argument) = &self.setting.helper;
                let jobs: Vec<Job> = (0..self.tallies.len()).map(|at| self.job(at)).collect();
                Runner::start(helper, &[argument], &jobs)?
            }
        };
        if !self.setting.same_output {
            runner.set_variable(name, value);
        }
        runner.limit(self.limits[at]);
        let run = runner.run(at, &self.setting.cores, stop)?;
        self.runner = Some(runner);
        Ok(run)
    }

    fn job(&self, at: usize) -> Job {
        let (bench, scratch) = (&self.setting.benches[at], self.scratch(at));
        Job {
            program: self.by.valgrind.clone().into(),
            args: callgrind::arguments(&scratch, &self.lines[at].words),
            dir: bench.folder().to_owned(),
            env: bench.env(),
            stdin: self.setting.stdin.clone(),
            output: self.output(bench, &scratch),
        }
    }

    /// The destination of output: the command's own. If that is nowhere or a file, standard error goes to another
    /// file, so that it can be told why valgrind did not run the command.
    fn output(&self, bench: &Bench, scratch: &Path) -> Output {
        let stderr = scratch.join(callgrind::STDERR);
        let to = |stdout: PathBuf| Output::Files { stdout, stderr };
        match &bench.output {
            _ if self.setting.same_output => to(self.hooks.file("counted-output")),
            Output::Null => to(PathBuf::from("/dev/null")),
            Output::File(file) => to(file.clone()),
            output => output.clone(),
        }
    }

    /// Adds a run to its command's tally, and keeps the files of the first one.
    fn take(&mut self, at: usize, counted: Result<Counted, Uncounted>) -> Result<(), CompareError> {
        let folder = self.of_command(at);
        let tally = &mut self.tallies[at];
        match counted {
            Ok(counted) => {
                tally.instructions.push(counted.instructions);
                if tally.first.is_none() {
                    let files = kept::copied(counted.files.iter().take(MOST_FILES), &folder)?;
                    tally.first = Some(Counted { files, ..counted });
                }
            }
            Err(why) => tally.uncounted = Some(why),
        }
        kept::removed(&folder.join("run"))
    }

    /// Puts the findings into the comparison.
    fn tell(&mut self, comparison: &mut Comparison, stop: &AtomicBool) {
        for tally in &mut self.tallies {
            if tally.needs_more() {
                tally.uncounted = Some(Uncounted::Interrupted);
            }
            if tally.uncounted.is_some() {
                tally.instructions.clear();
            }
        }
        let tools = || self.tallies.iter().filter_map(|tally| tally.first.as_ref());
        comparison.counts = Some(Counting {
            tool: tools().map(|first| first.tool.clone()).next(),
            margin: self.by.margin,
            folder: self.folder.display().to_string(),
        });
        for (command, tally) in comparison.commands.iter_mut().zip(&self.tallies) {
            let first = tally.first.as_ref().filter(|_| tally.uncounted.is_none());
            command.counts = Some(CommandCounts {
                instructions: tally.instructions.clone(),
                processes: first.map_or(0, |first| first.processes),
                file: first.and_then(|first| Some(first.files.first()?.display().to_string())),
                uncounted: tally.uncounted.clone(),
            });
        }
        let names: Vec<String> = comparison.commands.iter().map(|command| command.name.clone()).collect();
        let at = |name: &str| names.iter().position(|other| other == name);
        let mut functions = BTreeMap::new();
        for pair in &mut comparison.pairs {
            let (Some(a), Some(b)) = (at(&pair.a), at(&pair.b)) else { continue };
            let [of_a, of_b] = [a, b].map(|at| &*self.tallies[at].instructions);
            let (state, ratio) = change::compared(of_a, of_b, self.by.margin);
            let mut found = ComparedCounts { state, ratio, functions: Vec::new() };
            if state == CountState::Changed {
                for at in [a, b] {
                    let of = || self.functions(at, stop);
                    functions.entry(at).or_insert_with(of);
                }
                match (&functions[&a], &functions[&b]) {
                    (Ok(a), Ok(b)) => found.functions = change::most_changed(a, b),
                    (Err(error), _) | (_, Err(error)) => comparison.warnings.push(Warning {
                        place: "instructions".to_owned(),
                        what: format!("which functions changed cannot be told: {error}"),
                    }),
                }
            }
            if self.gates {
                pair.gate = Some(gate::of_counts(&found));
            }
            pair.counts = Some(found);
        }
    }

    /// The instructions of each function of a command in its first run, by the files that were kept.
    fn functions(&self, at: usize, stop: &AtomicBool) -> Result<BTreeMap<String, u64>, annotate::Unknown> {
        let annotate = self.by.annotate.as_deref().ok_or(annotate::Unknown::NoTool)?;
        let files = self.tallies[at].first.iter().flat_map(|first| &first.files);
        annotate::functions(annotate, files, &self.hooks.file("annotate.log"), stop)
    }
}

impl Drop for Counter<'_> {
    /// Removes what no run has removed: the folders of runs that were interrupted.
    fn drop(&mut self) {
        for at in 0..self.tallies.len() {
            let _ = fs::remove_dir_all(self.scratch(at));
        }
    }
}
