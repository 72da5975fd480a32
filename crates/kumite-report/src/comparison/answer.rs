//! The answer of a comparison in words, and the notes below it.

use kumite_record::{
    CommandMetric, ComparedCommand, ComparedPair, Comparison, ComparisonEnd, ImportedRatio, Ratio, Remaining,
    Speed, SteadyClass, Thrift, Unit, short_commit,
};

use crate::words::noise_floor::noise_floor;
use crate::words::number::{plural, significant};
use crate::words::quantity::{Measured, length};
use crate::words::text::one_line;

use super::factor::factor;
use super::level::{level_of, percent};
use super::names::Names;
use super::{baseline, counts, doubts, failures, metrics};

/// `A is 1.2× as fast as B`, the faster one first, with the interval; `after` says how many pairs it took. Other
/// sentences say that there is no difference or no decision.
pub(super) fn sentence(pair: &ComparedPair, after: &str, comparison: &Comparison, names: &Names) -> String {
    let (a, b) = (names.of(&pair.a), names.of(&pair.b));
    let level = level(comparison);
    let fast = |a: &str, b: &str, ratio: Ratio| match interval(ratio) {
        Some(interval) => format!("{a} is {} as fast as {b} ({level}: {interval})", times(ratio)),
        None => format!("too few pairs to tell {a} from {b}"),
    };
    match pair.verdict {
        Speed::Faster => format!("{}, decided {after}", fast(&a, &b, pair.ratio)),
        Speed::Slower => format!("{}, decided {after}", fast(&b, &a, reciprocal(pair.ratio))),
        Speed::NoDifference => format!(
            "no difference: {a} is as fast as {b} within ±{} ({level}: {}), decided {after}",
            margin(comparison),
            interval(pair.ratio).unwrap_or_default()
        ),
        Speed::Undecided => {
            format!("undecided {after}: {}; {}", fast(&a, &b, pair.ratio), more(pair.remaining))
        }
    }
}

/// A clause on how many more pairs would tell, and how long they would take; without an estimate it says that more
/// would not.
pub(super) fn more(remaining: Option<Remaining>) -> String {
    match remaining {
        Some(more) => {
            format!("about {} (~{}) would tell", plural(more.blocks, "more pair"), length(more.seconds))
        }
        None => "as it looks, more pairs would not tell".to_owned(),
    }
}

/// `A takes 18.7 ms (95 %: …), the median of 50 runs in 3 s`: the answer for a command that is compared with nothing.
/// None if there are several.
pub(super) fn alone_sentence(comparison: &Comparison, names: &Names) -> Option<String> {
    comparison.alone.as_ref()?;
    let command = comparison.commands.first()?;
    let (value, interval) = Unit::Seconds.estimate(command.wall_s.as_ref()?);
    let interval = interval.map_or(String::new(), |interval| format!(" (95 %: {interval})"));
    let runs = plural(command.times.len(), "run");
    let seconds = length(comparison.costs.seconds);
    Some(format!("{} takes {value}{interval}, the median of {runs} in {seconds}", names.of(&command.name)))
}

/// Notes on the runs of a command that is compared with nothing: their spread, a warm-up or slowdown, and outliers.
/// Empty if there are several commands or no run.
fn alone_notes(comparison: &Comparison) -> Vec<String> {
    let Some((alone, command)) = comparison.alone.as_ref().zip(comparison.commands.first()) else {
        return Vec::new();
    };
    let (times, n) = (&command.times, command.times.len() as f64);
    if times.is_empty() {
        return Vec::new();
    }
    let text = |seconds: f64| Unit::Seconds.text(seconds);
    let mean = times.iter().sum::<f64>() / n;
    let deviation = (times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
    let (least, most) =
        times.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), time| (a.min(*time), b.max(*time)));
    let mut notes =
        vec![format!("mean {} ± {}, from {} to {}", text(mean), text(deviation), text(least), text(most))];
    notes.extend(match (alone.steadiness, alone.warm_up_runs) {
        (Some(SteadyClass::WarmUp), Some(runs)) => Some(format!(
            "the first {} took longer: a warm-up, which --warmup {runs} leaves out",
            plural(runs, "run")
        )),
        (Some(SteadyClass::Slowdown), Some(runs)) => Some(format!(
            "after {} it became slower: was it the command, or the machine?",
            plural(runs, "run")
        )),
        (Some(SteadyClass::NoSteadyState), _) => {
            Some("its times never became steady: more runs (--runs) may show why".to_owned())
        }
        _ => None,
    });
    let far = alone.outliers.len();
    if far > 0 {
        let mean = |switches: f64, of: f64| significant(switches / of.max(1.0), 2);
        let theirs: u64 = alone.outliers.iter().map(|run| run.involuntary_switches).sum();
        let others = command.involuntary_switches - theirs.min(command.involuntary_switches);
        let longest = alone.outliers.iter().map(|run| run.wall_s).fold(0.0, f64::max);
        notes.push(format!(
            "{} far from the others, the longest {}; there the command gave way to other processes {} times a run, else {}",
            if far == 1 { "1 run is".to_owned() } else { format!("{far} runs are") },
            text(longest),
            mean(theirs as f64, far as f64),
            mean(others as f64, n - far as f64)
        ));
    }
    notes
}

/// Notes on how the answer came about.
pub(super) fn notes(comparison: &Comparison, names: &Names) -> Vec<String> {
    let mut notes = failures::notes(comparison, names);
    notes.extend(alone_notes(comparison));
    notes.extend(comparison.commands.iter().filter_map(|command| revision_note(command, names)));
    notes.extend(baseline::notes(comparison, names));
    notes.extend(comparison.pairs.iter().flat_map(|pair| imported_notes(pair, names)));
    notes.extend(counts::notes(comparison, names));
    let verdicts = verdicts(comparison);
    if verdicts > 1 {
        let by = if comparison.metrics.is_empty() { " by each metric" } else { "" };
        notes.push(format!(
            "{verdicts} verdicts{by}, each at {} (Bonferroni): at most {} of such comparisons have a false one among them",
            percent(comparison.alpha_per_pair),
            percent(comparison.alpha)
        ));
    }
    if let Some(width) = comparison.duet.as_ref().and_then(|duet| Some((duet.pairs, duet.sequential_width?)))
    {
        notes.push(format!(
            "both ran at once; pairs in turn would give an interval {}× as wide in the same time (from {} of either)",
            significant(width.1, 2),
            plural(width.0, "pair")
        ));
    }
    match comparison.ended {
        ComparisonEnd::Budget => notes.push("it ended because --budget was spent".to_owned()),
        ComparisonEnd::MaxRuns if comparison.pairs.iter().any(has_undecided) => {
            notes.push("it ended because the maximum number of runs was reached".to_owned());
        }
        _ => {}
    }
    if let Some(floor) = &comparison.noise_floor {
        notes.push(format!("noise floor: {}", noise_floor(Some(floor))));
    }
    notes.extend(doubts::probes(comparison));
    notes.push(how(comparison));
    notes
}

/// A note on the revision of a command: its commit, and its build. None if the command has no revision.
fn revision_note(command: &ComparedCommand, names: &Names) -> Option<String> {
    let revision = command.revision.as_ref()?;
    let at = match command.name == revision.name {
        true => String::new(),
        false => format!("{}, ", one_line(&revision.name)),
    };
    let commit = short_commit(&revision.commit);
    let changed = if revision.changed.is_some() { " with changes" } else { "" };
    let built = match (revision.build_s, revision.was_cached) {
        (Some(seconds), false) => format!(", built in {}", Unit::Seconds.text(seconds)),
        (Some(seconds), true) => format!(", built before, in {}", Unit::Seconds.text(seconds)),
        (None, _) => String::new(),
    };
    Some(format!("{}: {at}commit {commit}{changed}{built}", names.of(&command.name)))
}

/// A note for each ratio that an imported document gives for this pair.
fn imported_notes(pair: &ComparedPair, names: &Names) -> Vec<String> {
    let (a, b) = (names.of(&pair.a), names.of(&pair.b));
    let note = |imported: &ImportedRatio, metric: CommandMetric| {
        let (who, as_much, whom) = match metric {
            CommandMetric::TimeWallClock => (&a, "is {}× as fast as".to_owned(), &b),
            metric => (&b, format!("{} {{}}× as {} as", metrics::verb(metric).0, metrics::much(metric)), &a),
        };
        let stddev = imported.stddev.map_or(String::new(), |stddev| format!(" ± {}", factor(stddev)));
        format!(
            "{}: {who} {} {whom} there, by means of runs that were made one command after the other",
            one_line(&imported.file),
            as_much.replace("{}", &(factor(imported.ratio) + &stddev)),
        )
    };
    if pair.metrics.is_empty() {
        return pair.imported.iter().map(|imported| note(imported, CommandMetric::TimeWallClock)).collect();
    }
    let of_metrics = pair.metrics.iter();
    of_metrics.filter_map(|judged| Some(note(judged.imported.as_ref()?, judged.metric))).collect()
}

fn has_undecided(pair: &ComparedPair) -> bool {
    match pair.metrics.is_empty() {
        true => pair.verdict == Speed::Undecided,
        false => pair.metrics.iter().any(|judged| judged.verdict == Thrift::Undecided),
    }
}

/// The number of verdicts that share the probability of error.
fn verdicts(comparison: &Comparison) -> usize {
    comparison.pairs.len() * comparison.metrics.len().max(1)
}

fn how(comparison: &Comparison) -> String {
    let shells: Vec<&str> =
        comparison.commands.iter().filter_map(|command| command.shell.as_deref()).collect();
    let mut parts = vec![format!("seed {}", comparison.seed)];
    if let Some(shell) = shells.first() {
        let which =
            if shells.len() == comparison.commands.len() { "through" } else { "some of them through" };
        parts.push(format!("{which} {}", one_line(shell)));
    }
    let us = Unit::Microseconds.text(comparison.costs.between_runs_us);
    let what = if comparison.servers.is_empty() { "run" } else { "load" };
    parts.push(format!("kumite itself took {us} more for each {what}, which no figure contains"));
    if let Some(noise) = &comparison.noise {
        let figure = |name: &str, what: &str| {
            let value = noise.worst.get(name).filter(|value| **value >= 0.005)?;
            Some(format!("{what} up to {} cores", significant(*value, 2)))
        };
        let mut outside: Vec<String> =
            [figure("others_cpu_cores", "other processes"), figure("stolen_cores", "stolen")]
                .into_iter()
                .flatten()
                .collect();
        let marked: Vec<String> =
            noise.marked.iter().map(|(mark, count)| format!("{mark} in {count}")).collect();
        if !marked.is_empty() {
            outside.push(format!("of {} seconds marked: {}", noise.stretches, marked.join(", ")));
        }
        let switches: u64 = comparison.commands.iter().map(|command| command.involuntary_switches).sum();
        let runs: usize = comparison.commands.iter().map(|command| command.times.len()).sum();
        if !outside.is_empty() {
            if runs > 0 {
                outside.push(format!(
                    "{} context switches a run",
                    significant(switches as f64 / runs as f64, 2)
                ));
            }
            parts.push(format!("noise: {}", outside.join(", ")));
        }
    }
    parts.join("; ")
}

/// `95 %`, or `simultaneous 95 %` if several verdicts share the probability of error.
pub(super) fn level(comparison: &Comparison) -> String {
    level_of(comparison.alpha, verdicts(comparison))
}

pub(super) fn reciprocal(ratio: Ratio) -> Ratio {
    Ratio {
        estimate: 1.0 / ratio.estimate,
        low: ratio.high.map(|high| 1.0 / high),
        high: ratio.low.map(|low| 1.0 / low),
    }
}

pub(super) fn times(ratio: Ratio) -> String {
    format!("{}×", estimate(ratio))
}

/// The ratio as text: as `factor` shows it if its interval lies on one side of 1 or the ratio is at least 10.
/// Otherwise it has three decimals, since more would be noise.
pub(super) fn estimate(ratio: Ratio) -> String {
    let is_one_side = ratio.low.is_some_and(|low| low > 1.0) || ratio.high.is_some_and(|high| high < 1.0);
    if is_one_side || ratio.estimate >= 10.0 {
        factor(ratio.estimate)
    } else {
        format!("{:.3}", ratio.estimate)
    }
}

pub(super) fn interval(ratio: Ratio) -> Option<String> {
    Some(format!("{}–{}", factor(ratio.low?), factor(ratio.high?)))
}

/// The margin within which there is no difference, in percent, as it was given.
pub(super) fn margin(comparison: &Comparison) -> String {
    format!("{} %", (comparison.margin * 1e8).round() / 1e6)
}
