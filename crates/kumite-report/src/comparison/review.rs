//! A comparison in cases: one for each pair and metric that is judged, one for each pair's instruction counts, one
//! for a command that is compared with nothing, and one for the comparison as a whole.

use jiff::Timestamp;
use kumite_record::{
    CommandMetric, ComparedPair, Comparison, ComparisonEnd, CountState, FailureVerdict, GateDoubt, GateState,
    JudgedMetric, PairGate, Ratio, Remaining, Speed, Thrift,
};

use crate::review::{Case, Gate, Kind, Outcome, Review};
use crate::words::control::ControlText;
use crate::words::number::{plural, significant};
use crate::words::text::one_line;

use super::answer::{level, margin, more, reciprocal};
use super::metrics::word;
use super::names::Names;
use super::uses::{cannot, cannot_be_told, cannot_in};
use super::{answer, counts, cut_short, failures, gate};

const TITLE: &str = "kumite compare";

/// The review of a comparison: its verdicts as cases, and the gate's answer, for test reports, comments and
/// annotations.
pub fn compare_review(comparison: &Comparison) -> Review {
    let names = Names::in_full();
    let pairs = comparison.pairs.iter().flat_map(|pair| asked(pair, comparison));
    let mut cases: Vec<Case> = pairs.map(|asked| asked.case(comparison)).collect();
    cases.extend(comparison.pairs.iter().filter_map(|pair| counted(pair, comparison, &names)));
    cases.extend(comparison.pairs.iter().filter_map(|pair| of_failures(pair, comparison, &names)));
    cases.extend(alone(comparison, &names));
    cases.push(whole(comparison));
    let control = ControlText::of_comparison(comparison).filter(|control| control.is_off);
    let warnings = comparison.warnings.iter();
    let warnings =
        warnings.map(|warning| format!("{}: {}", one_line(&warning.place), one_line(&warning.what)));
    Review {
        title: TITLE.to_owned(),
        asked: (!comparison.pairs.is_empty())
            .then(|| format!("margin {}, intervals at {}", margin(comparison), level(comparison))),
        against: comparison.pairs.first().map(|pair| one_line(&pair.b)),
        gate: comparison
            .gate
            .zip(gate::line(comparison, &names))
            .map(|(gate, line)| Gate { state: gate.state, line }),
        doubts: control
            .map(|control| control.said)
            .into_iter()
            .chain(failures::notes(comparison, &names))
            .chain(warnings)
            .collect(),
        cases,
        started: comparison.started,
        seconds: comparison.costs.seconds,
        kumite: one_line(&comparison.kumite),
        command: one_line(&comparison.command),
    }
}

/// The review of a comparison that could not begin: one case, an error for the reason `why`.
pub fn compare_failure(why: &str, command: &str, kumite: &str, started: Timestamp) -> Review {
    let (outcome, sentence) = (Outcome::Error, one_line(why));
    let whole =
        Case { kind: Kind::Whole, subject: String::new(), metric: None, outcome, sentence, beyond: 0.0 };
    Review {
        title: TITLE.to_owned(),
        asked: None,
        against: None,
        gate: None,
        doubts: Vec::new(),
        cases: vec![whole],
        started,
        seconds: 0.0,
        kumite: one_line(kumite),
        command: one_line(command),
    }
}

/// A question about a pair, with what was measured.
struct Asked<'a> {
    pair: &'a ComparedPair,
    metric: &'static str,
    /// The value of the one that is judged over that of the reference.
    change: Ratio,
    /// True if more of the metric is better.
    is_gain: bool,
    outcome: Outcome,
    /// The estimated further effort until an answer. None if there is one, or if none is in sight.
    remaining: Option<Remaining>,
    /// The doubt that the reference's two runs raise. None without a gate, and if they raise none.
    doubt: Option<GateDoubt>,
    /// The reason why no number of pairs would tell. None if more pairs may.
    never: Option<String>,
}

/// The questions about a pair: one for each metric that was named, or else one by wall time or throughput; and one by
/// the metric that the gate is on, if it is none of these.
fn asked<'a>(pair: &'a ComparedPair, comparison: &Comparison) -> Vec<Asked<'a>> {
    let has_gate = comparison.gate.is_some();
    // What a gate by counts says is no answer on a metric.
    let by_counts = comparison.gate.is_some_and(|gate| gate.by_counts);
    let on = comparison.gate.and_then(|gate| gate.on);
    let alone = on.filter(|on| pair.metrics.iter().all(|judged| judged.metric != *on));
    let mut all = of_metrics(pair, has_gate);
    if all.is_empty() || alone.is_some() {
        all.push(by_one(pair, alone, pair.gate.filter(|_| !by_counts), comparison));
    }
    all
}

/// The question by the metric that the gate is on, or by wall time or throughput if `on` is none.
fn by_one<'a>(
    pair: &'a ComparedPair,
    on: Option<CommandMetric>,
    gate: Option<PairGate>,
    comparison: &Comparison,
) -> Asked<'a> {
    let is_gain = !comparison.servers.is_empty();
    let outcome = match pair.verdict {
        Speed::Slower => Outcome::Failed,
        Speed::Faster | Speed::NoDifference => Outcome::Passed,
        Speed::Undecided => Outcome::Undecided,
    };
    let metric = on.unwrap_or(CommandMetric::TimeWallClock);
    let ratio = gate.and_then(|gate| gate.ratio).unwrap_or(pair.ratio);
    let untold = gate.map_or(0, |gate| gate.untold);
    let is_untold = on.is_some() && pair.blocks > 0 && 2 * untold >= pair.blocks;
    Asked {
        pair,
        metric: if is_gain { "throughput" } else { word(metric) },
        change: if is_gain { ratio } else { reciprocal(ratio) },
        is_gain,
        outcome: of_gate(pair, gate, comparison.gate.is_some(), outcome),
        remaining: gate.map_or(pair.remaining, |gate| gate.remaining),
        doubt: gate.and_then(|gate| gate.doubt),
        never: is_untold.then(|| cannot_in(metric, untold, pair.blocks)),
    }
}

fn of_metrics(pair: &ComparedPair, has_gate: bool) -> Vec<Asked<'_>> {
    let of = |judged: &JudgedMetric| {
        let outcome = match judged.verdict {
            Thrift::More => Outcome::Failed,
            Thrift::Less | Thrift::NoDifference => Outcome::Passed,
            Thrift::Undecided => Outcome::Undecided,
        };
        Asked {
            pair,
            metric: word(judged.metric),
            change: reciprocal(judged.gate.and_then(|gate| gate.ratio).unwrap_or(judged.ratio)),
            is_gain: false,
            outcome: of_gate(pair, judged.gate, has_gate, outcome),
            remaining: judged.gate.map_or(judged.remaining, |gate| gate.remaining),
            doubt: judged.gate.and_then(|gate| gate.doubt),
            never: cannot_be_told(judged, pair).then(|| cannot(judged, pair)),
        }
    };
    pair.metrics.iter().map(of).collect()
}

/// The outcome by the answer of the gate. A question that a gate does not ask is passed; without a gate, the verdict
/// decides. A pair without a block was not tested.
fn of_gate(pair: &ComparedPair, gate: Option<PairGate>, has_gate: bool, by_verdict: Outcome) -> Outcome {
    if pair.blocks == 0 {
        return Outcome::NotTested;
    }
    match gate.map(|gate| gate.state) {
        Some(GateState::Shut) => Outcome::Failed,
        Some(GateState::Open) => Outcome::Passed,
        Some(GateState::Undecided) => Outcome::Undecided,
        None if has_gate => Outcome::Passed,
        None => by_verdict,
    }
}

impl Asked<'_> {
    fn case(self, comparison: &Comparison) -> Case {
        let worse = self.least();
        Case {
            kind: Kind::Pair,
            subject: one_line(&self.pair.a),
            metric: Some(self.metric),
            outcome: self.outcome,
            sentence: self.sentence(comparison),
            beyond: worse.map_or(0.0, |least| least.ln().abs()),
        }
    }

    /// The least change for the worse: the end of the interval that is nearer to no change. None if that end is no
    /// change for the worse.
    fn least(&self) -> Option<f64> {
        match self.is_gain {
            true => self.change.high.filter(|high| *high < 1.0),
            false => self.change.low.filter(|low| *low > 1.0),
        }
    }

    /// How much it changed at least, how much as measured, and how sure that is.
    fn sentence(&self, comparison: &Comparison) -> String {
        let Ratio { estimate, low, high } = self.change;
        let (level, pairs) = (level(comparison), plural(self.pair.blocks, "pair"));
        let measured = match (low, high) {
            (Some(low), Some(high)) => {
                format!(
                    "{} measured ({level}: {} to {}; {pairs})",
                    change(estimate),
                    change(low),
                    change(high)
                )
            }
            (Some(low), None) => format!("{} or more ({level}; {pairs})", change(low)),
            (None, Some(high)) => format!("{} or less ({level}; {pairs})", change(high)),
            (None, None) => match &self.never {
                Some(why) => why.clone(),
                None => format!("{pairs} are too few to tell"),
            },
        };
        let why = self.doubt.map(|doubt| gate::why(doubt, &one_line(&self.pair.b)));
        match self.outcome {
            Outcome::NotTested => "no pair was measured".to_owned(),
            Outcome::Failed if low.is_some() && high.is_some() => {
                let but = why.map_or(String::new(), |why| format!("; but {why}"));
                match self.least() {
                    Some(least) => format!("{} at least, {measured}{but}", change(least)),
                    None => format!("{measured}{but}"),
                }
            }
            Outcome::Undecided if why.is_some() => {
                format!("{measured}; cannot be told: {}", why.unwrap_or_default())
            }
            Outcome::Undecided if self.never.is_none() => format!("{measured}; {}", more(self.remaining)),
            _ => measured,
        }
    }
}

/// A ratio as a change: `+3.31 %`, `−1.20 %`.
fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    let sign = if percent < 0.0 { "−" } else { "+" };
    format!("{sign}{} %", significant(percent.abs(), 3))
}

/// The case of a pair by instruction counts. None without `--counts`.
fn counted(pair: &ComparedPair, comparison: &Comparison, names: &Names) -> Option<Case> {
    let (counts, counting) = pair.counts.as_ref().zip(comparison.counts.as_ref())?;
    // A gate that is on something else does not ask for them.
    let asks = comparison.gate.is_none_or(|gate| gate.by_counts);
    let is_more = counts.ratio.is_some_and(|ratio| ratio.high < 1.0);
    let outcome = match counts.state {
        CountState::CannotTell => Outcome::Undecided,
        CountState::Changed if is_more && asks => Outcome::Failed,
        CountState::Changed | CountState::Same => Outcome::Passed,
    };
    Some(Case {
        kind: Kind::Pair,
        subject: one_line(&pair.a),
        metric: Some("instructions"),
        outcome,
        sentence: counts::sentence(pair, counts, counting, comparison, names),
        beyond: counts.ratio.filter(|_| outcome == Outcome::Failed).map_or(0.0, |ratio| -ratio.high.ln()),
    })
}

/// The case of a pair by how often the two failed. None if nothing failed.
fn of_failures(pair: &ComparedPair, comparison: &Comparison, names: &Names) -> Option<Case> {
    let failures = pair.failures.as_ref()?;
    Some(Case {
        kind: Kind::Pair,
        subject: one_line(&pair.a),
        metric: Some("failures"),
        outcome: match failures.verdict {
            FailureVerdict::More => Outcome::Failed,
            FailureVerdict::Less => Outcome::Passed,
            FailureVerdict::Undecided => Outcome::Undecided,
        },
        sentence: failures::sentence(pair, failures, comparison, names),
        beyond: 0.0,
    })
}

/// The case of a command that is compared with nothing.
fn alone(comparison: &Comparison, names: &Names) -> Option<Case> {
    let sentence = answer::alone_sentence(comparison, names)?;
    Some(Case {
        kind: Kind::Alone,
        subject: one_line(&comparison.commands.first()?.name),
        metric: None,
        outcome: Outcome::Passed,
        sentence,
        beyond: 0.0,
    })
}

/// The case of the comparison as a whole: it came to its end, or it did not.
fn whole(comparison: &Comparison) -> Case {
    let blocks = comparison.pairs.iter().map(|pair| pair.blocks);
    let runs = comparison.commands.iter().map(|command| command.times.len());
    let most = blocks.chain(runs).max().unwrap_or(0);
    let (outcome, sentence) = match (cut_short(comparison.ended), &comparison.failure) {
        (Some(why), None) => (Outcome::Error, format!("cut short: {why}")),
        (Some(_), Some(failure)) => (Outcome::Error, one_line(failure)),
        (None, _) if most == 0 => (Outcome::Error, "it ended before anything was measured".to_owned()),
        (None, _) => (Outcome::Passed, ended(comparison.ended, most)),
    };
    Case { kind: Kind::Whole, subject: String::new(), metric: None, outcome, sentence, beyond: 0.0 }
}

fn ended(ended: ComparisonEnd, blocks: usize) -> String {
    let blocks = plural(blocks, "block");
    match ended {
        ComparisonEnd::Budget => format!("the comparison ended when --budget was spent, after {blocks}"),
        ComparisonEnd::MaxRuns => format!("the comparison ended with its most runs, after {blocks}"),
        _ => format!("the comparison came to its end after {blocks}"),
    }
}
