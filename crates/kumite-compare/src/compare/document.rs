//! The making of a comparison's document from the runs of commands.

use std::time::Duration;

use jiff::Timestamp;
use kumite_process::{CommandLine, TimedRun};
use kumite_record::{
    Better, CommandMetric, ComparedCommand, ComparedPair, ComparedProbe, ComparedUse, Comparison,
    ComparisonEnd, Control, Costs, Estimate, JudgedMetric, LeftOut, Machine, SCHEMA, Unit, Warning,
};
use kumite_stats::sequential_median;

use super::alone::alone;
use super::bench::Setting;
use super::control::{Twice, control, leave_undecided};
use super::doubts::{Question, doubts};
use super::duet::gain;
use super::exit_code::exit_code;
use super::gate;
use super::import::ratio;
use super::judge::{Side, judge, remaining};
use super::left_out::{self, Outcome, failures};
use super::reading::{Log, Reading, counter, untold};
use super::rounds::{Rounds, parts};
use super::sequence::Rules;

/// The share of the shortest median from which on the time of starting a process, or a shell, gives a warning.
const START_MATTERS: f64 = 0.02;

/// The costs of a comparison that has not begun.
pub(crate) const NO_COSTS: Costs =
    Costs { seconds: 0.0, between_runs_us: 0.0, probes_s: None, empty_process_s: None, empty_shell_s: None };

/// The text of the warning that the budget has ended a run.
pub(crate) const CUT_OFF: &str = "what still ran when it was over was ended, and is in no figure";

/// All runs of a comparison.
pub(crate) struct Found {
    /// The outcomes by command, then by block.
    pub outcomes: Vec<Vec<Outcome>>,
    /// The runs made in turn, beside those made two at once; empty for each command without a duet, or if the number
    /// of blocks was given.
    pub in_turn: Vec<Vec<TimedRun>>,
    /// The time from the beginning of the first block to the end of the last.
    pub elapsed: Duration,
    /// The part of `elapsed` that hooks took.
    pub aside: Duration,
    /// The part of `elapsed` that probes took.
    pub probing: Duration,
    pub probes: Vec<ComparedProbe>,
    /// True if the budget has ended a run that was still executed.
    pub was_cut_off: bool,
}

impl Found {
    pub(crate) fn new(of: usize) -> Found {
        Found {
            outcomes: vec![Vec::new(); of],
            in_turn: vec![Vec::new(); of],
            elapsed: Duration::ZERO,
            aside: Duration::ZERO,
            probing: Duration::ZERO,
            probes: Vec::new(),
            was_cut_off: false,
        }
    }

    /// The runs of a command that count.
    pub(crate) fn counted(&self, at: usize) -> Vec<TimedRun> {
        self.outcomes[at].iter().filter_map(Outcome::counted).copied().collect()
    }

    /// The number of the blocks, all together.
    fn blocks(&self) -> std::ops::Range<usize> {
        0..self.outcomes[0].len()
    }

    /// The runs of those blocks in which all count, by command.
    fn of_whole_blocks(&self) -> Vec<Vec<TimedRun>> {
        let is_whole = |block: &usize| self.outcomes.iter().all(|of| of[*block].counted().is_some());
        let whole: Vec<usize> = self.blocks().filter(is_whole).collect();
        let of = |outcomes: &Vec<Outcome>| {
            whole.iter().filter_map(|block| outcomes[*block].counted()).copied().collect()
        };
        self.outcomes.iter().map(of).collect()
    }

    pub(crate) fn costs(&self, costs: Costs) -> Costs {
        let in_turn: Duration = self.in_turn.iter().flatten().map(|run| run.wall).sum();
        let blocks = self.outcomes[0].len();
        let count = blocks * self.outcomes.len() + self.in_turn.iter().map(Vec::len).sum::<usize>();
        // Of two at once, the longer is the time that passed.
        let duet = !self.in_turn[0].is_empty();
        let walls: Duration = (0..blocks)
            .map(|block| {
                let walls = self.outcomes.iter().map(|outcomes| outcomes[block].took());
                if duet { walls.max().unwrap_or_default() } else { walls.sum() }
            })
            .sum();
        let between = self.elapsed.saturating_sub(walls + in_turn + self.aside + self.probing);
        Costs {
            seconds: self.elapsed.as_secs_f64(),
            between_runs_us: between.as_secs_f64() * 1e6 / count.max(1) as f64,
            probes_s: (!self.probing.is_zero()).then_some(self.probing.as_secs_f64()),
            ..costs
        }
    }
}

/// Makes the document of a comparison, without the machine, the time of its beginning, how it ended, its costs, its
/// noise and its gate.
pub(crate) fn document(setting: &Setting, lines: &[CommandLine], rules: &Rules, found: &Found) -> Comparison {
    let of = lines.len();
    let shown = of - usize::from(rules.control.is_some());
    let mut comparison = Comparison {
        commands: (0..shown).map(|at| command(setting, &lines[at], found, rules, at)).collect(),
        pairs: rules.others(of).map(|other| pair(setting, found, other, rules)).collect(),
        duet: setting.duet.then(|| gain(&found.of_whole_blocks(), &found.in_turn)),
        control: rules.control.map(|twice| itself(setting, found, twice, rules)),
        alone: (of == 1).then(|| alone(&found.counted(0))),
        doubts: doubts(&questions(setting, found, rules), &found.probes, rules),
        probes: found.probes.clone(),
        ..empty(rules, of)
    };
    leave_undecided(&mut comparison);
    comparison.warnings = warnings(found, &comparison);
    comparison
}

/// A document of `of` commands or servers, without runs and verdicts.
pub(crate) fn empty(rules: &Rules, of: usize) -> Comparison {
    Comparison {
        schema: SCHEMA,
        command: String::new(),
        kumite: env!("CARGO_PKG_VERSION").to_owned(),
        started: Timestamp::default(),
        machine: Machine::default(),
        seed: rules.seed,
        alpha: rules.alpha,
        alpha_per_pair: rules.bar(of).alpha,
        metrics: rules.metrics.clone(),
        margin: rules.margin,
        ended: ComparisonEnd::Interrupted,
        failure: None,
        commands: Vec::new(),
        servers: Vec::new(),
        pairs: Vec::new(),
        gate: None,
        control: None,
        costs: NO_COSTS,
        noise: None,
        probes: Vec::new(),
        doubts: Vec::new(),
        noise_floor: None,
        duet: None,
        alone: None,
        counts: None,
        since: None,
        warnings: Vec::new(),
    }
}

fn command(
    setting: &Setting,
    line: &CommandLine,
    found: &Found,
    rules: &Rules,
    at: usize,
) -> ComparedCommand {
    let (bench, runs) = (&setting.benches[at], found.counted(at));
    let values = |of: fn(&TimedRun) -> f64| -> Vec<f64> { runs.iter().map(of).collect() };
    let (times, user_times, system_times) =
        (values(wall), values(|run| run.user.as_secs_f64()), values(|run| run.system.as_secs_f64()));
    ComparedCommand {
        name: bench.name.clone(),
        command: bench.command.clone(),
        shell: line.shell.as_ref().map(|shell| shell.join(" ")),
        parameters: bench.parameters.clone(),
        revision: bench.place.as_ref().map(|place| place.revision.clone()),
        baseline: bench.baseline.clone(),
        program_bytes: bench.program_file().and_then(|file| Some(file.metadata().ok()?.len())),
        wall_s: estimate(&times, Unit::Seconds),
        user_s: estimate(&user_times, Unit::Seconds),
        system_s: estimate(&system_times, Unit::Seconds),
        peak_rss_bytes: estimate(&runs.iter().map(peak_rss).collect::<Vec<_>>(), Unit::Bytes),
        peak_rss_is_floor: runs.iter().filter(|run| run.peak_rss_is_floor).count(),
        times,
        user_times,
        system_times,
        peak_rss: runs.iter().map(|run| run.peak_rss_bytes).collect(),
        exit_codes: runs.iter().map(exit_code).collect(),
        involuntary_switches: runs.iter().map(|run| run.involuntary_switches).sum(),
        counters: rules
            .metrics
            .iter()
            .filter_map(|metric| {
                let counter = counter(*metric)? as usize;
                Some((*metric, runs.iter().map(|run| run.counts[counter]).collect()))
            })
            .collect(),
        left_out: left_out(found, rules, at),
        counts: None,
    }
}

/// The runs of a command that are left out, with those of its second run in each block, in the order of the blocks.
fn left_out(found: &Found, rules: &Rules, at: usize) -> Vec<LeftOut> {
    let again = rules.control.filter(|twice| twice.of == at).map(|twice| twice.at);
    let second = again.into_iter().flat_map(|again| left_out::left_out(&found.outcomes[again], true));
    let mut all: Vec<LeftOut> = left_out::left_out(&found.outcomes[at], false).chain(second).collect();
    all.sort_by_key(|of| (of.block, of.is_second));
    all
}

/// The questions that the comparison went on for: of each pair, by each metric that it waited for.
fn questions(setting: &Setting, found: &Found, rules: &Rules) -> Vec<Question> {
    let of_pair = |other: usize| {
        let [a, b] = [other, rules.reference].map(|at| &setting.benches[at].name);
        rules.waited_for().into_iter().map(move |metric| Question {
            a: a.clone(),
            b: b.clone(),
            metric: Some(metric),
            logs: rounds(found, other, rules, metric).first,
            blocks: Some(
                found.blocks().filter(|block| runs(found, *block, other, rules).is_some()).collect(),
            ),
        })
    };
    rules.others(found.outcomes.len()).flat_map(of_pair).collect()
}

fn rounds(found: &Found, other: usize, rules: &Rules, metric: CommandMetric) -> Rounds {
    let mut rounds = Rounds::default();
    let reading = |run: &TimedRun| Reading::by_metric(metric, run);
    for block in found.blocks() {
        if let Some((a, b, again)) = runs(found, block, other, rules) {
            rounds.add(reading(a), reading(b), again.map(reading));
        }
    }
    rounds
}

/// The runs of a block that make a ratio; `None` if one of them is left out.
fn runs<'a>(
    found: &'a Found,
    block: usize,
    other: usize,
    rules: &Rules,
) -> Option<(&'a TimedRun, &'a TimedRun, Option<&'a TimedRun>)> {
    parts(|at| found.outcomes[at][block].counted(), other, rules.reference, rules.again())
}

fn pair(setting: &Setting, found: &Found, other: usize, rules: &Rules) -> ComparedPair {
    let (seconds, of) = (found.elapsed.as_secs_f64(), found.outcomes.len());
    let (bar, levels) = (rules.bar(of), rules.gate_levels(of));
    let [a, b] = [other, rules.reference].map(|at| &setting.benches[at]);
    let rounds = |metric| rounds(found, other, rules, metric);
    let gate = |metric| levels.map(|levels| gate::pair(&rounds(metric), levels, seconds));
    let used = |metric| {
        let logs = rounds(metric).first;
        let (side, ratio) = judge(&logs, bar);
        ComparedUse { verdict: side.into(), ratio, blocks: logs.len() }
    };
    let imported = |metric| ratio(a.imported.as_ref()?, b.imported.as_ref()?, metric);
    let judged = |metric: &CommandMetric| {
        let logs = rounds(*metric).first;
        let (side, ratio) = judge(&logs, bar);
        JudgedMetric {
            metric: *metric,
            better: Better::Lower,
            verdict: side.into(),
            ratio,
            untold: untold(&logs, 0.0),
            remaining: (side == Side::Unknown).then(|| remaining(&logs, bar, seconds)).flatten(),
            gate: rules.waited_for().contains(metric).then(|| gate(*metric)).flatten(),
            imported: imported(*metric),
        }
    };
    let metrics: Vec<JudgedMetric> = rules.metrics.iter().map(judged).collect();
    let walls = rounds(CommandMetric::TimeWallClock).first;
    let (side, ratio_of_walls) = judge(&walls, bar);
    let gate = rules.gate.filter(|gate| gate.is_on_runs()).and_then(|_| match rules.waited_for()[..] {
        [metric] => gate(metric),
        _ => Some(gate::of_metrics(&metrics)),
    });
    ComparedPair {
        a: a.name.clone(),
        b: b.name.clone(),
        verdict: side.into(),
        ratio: ratio_of_walls,
        blocks: walls.len(),
        seconds,
        remaining: (side == Side::Unknown).then(|| remaining(&walls, bar, seconds)).flatten(),
        gate,
        metrics,
        cpu: Some(used(CommandMetric::TimeCpu)),
        memory: Some(used(CommandMetric::MemoryPeakResident)),
        response_p50: None,
        response_p99: None,
        imported: imported(CommandMetric::TimeWallClock),
        counts: None,
        failures: failures(
            &found.outcomes[other],
            &[Some(rules.reference), rules.again()]
                .into_iter()
                .flatten()
                .map(|at| &*found.outcomes[at])
                .collect::<Vec<_>>(),
            rules.failure_level(of),
        ),
    }
}

/// The control's distance from itself, in the metrics in which it is looked at.
fn itself(setting: &Setting, found: &Found, twice: Twice, rules: &Rules) -> Control {
    let logs = |metric: &CommandMetric| {
        let both = found.outcomes[twice.at].iter().zip(&found.outcomes[twice.of]);
        let both = both.filter_map(|(a, b)| Some((a.counted()?, b.counted()?)));
        let of = |a, b| Log::ratio(Reading::by_metric(*metric, a), Reading::by_metric(*metric, b));
        (metric.as_str(), both.map(|(a, b)| of(a, b)).collect())
    };
    control(&setting.benches[twice.of].name, &rules.looked_at().iter().map(logs).collect::<Vec<_>>())
}

fn warnings(found: &Found, comparison: &Comparison) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |place: &str, what: String| warnings.push(Warning { place: place.to_owned(), what });
    for command in &comparison.commands {
        let n = command.exit_codes.len();
        let failed = command.exit_codes.iter().filter(|code| **code != 0).count();
        if failed > 0 {
            warn(&command.name, format!("{failed} of {n} runs did not end with 0"));
        }
    }
    if comparison.commands.iter().any(|command| command.peak_rss_is_floor > 0) {
        let what = "≤ is an upper bound, because a command begins as a copy of kumite's helper. A peak below the helper's own cannot be seen";
        warn("peak memory", what.to_owned());
    }
    if found.was_cut_off {
        warn("budget", CUT_OFF.to_owned());
    }
    let medians = comparison.commands.iter().filter_map(|command| Some(command.wall_s.as_ref()?.estimate));
    let shortest = medians.fold(f64::INFINITY, f64::min);
    let mut start = |what: &str, cost: Option<f64>| {
        if let Some(cost) = cost.filter(|cost| *cost > START_MATTERS * shortest) {
            let share = cost / shortest * 100.0;
            warn(
                what,
                format!(
                    "starting one takes about {:.2} ms, {share:.0} % of the shortest median; it is in every time, and moves \
                     ratios towards 1",
                    cost * 1e3
                ),
            );
        }
    };
    start("process", comparison.costs.empty_process_s);
    start("shell", comparison.costs.empty_shell_s);
    if let Some(width) =
        comparison.duet.as_ref().and_then(|duet| duet.sequential_width).filter(|width| *width < 1.0)
    {
        warn(
            "duet",
            format!(
                "it does not pay here: without --duet the interval would be about {width:.2} times as wide in the same time"
            ),
        );
    }
    warnings
}

fn wall(run: &TimedRun) -> f64 {
    run.wall.as_secs_f64()
}

fn peak_rss(run: &TimedRun) -> f64 {
    run.peak_rss_bytes as f64
}

/// The median of some values, with its 95 % confidence interval, which may be looked at after every block; without the
/// interval if there are too few values. `None` if there are no values.
pub(crate) fn estimate(values: &[f64], unit: Unit) -> Option<Estimate> {
    let interval = sequential_median(values, 0.05).ok();
    Some(Estimate {
        estimate: kumite_stats::median(values)?,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        unit,
        n: values.len(),
        lower_bounds: 0,
    })
}
