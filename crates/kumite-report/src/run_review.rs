//! A run in cases: one for each claim, check and contender, and one for the run as a whole.

use kumite_record::{
    Amiss, Check, CheckOutcome, Claim, Contender, ContenderStatus, EffectKind, Export, GateBar, Lost,
    RunGate, Trial, Verdict,
};

use crate::document::Document;
use crate::record::Record;
use crate::review::{Case, Gate, Kind, Outcome, Review};
use crate::summary::doubts;
use crate::tables::group::Groups;
use crate::words::check::CheckText;
use crate::words::gate::{absent_said, gate_reason, lost_said, run_gate};
use crate::words::number::plural;
use crate::words::quantity::length;
use crate::words::reason::reason;
use crate::words::text::one_line;
use crate::words::verdict::VerdictText;

/// The review of a run: its claims and checks as cases, and the gate's answer, for test reports, comments and
/// annotations.
pub fn run_review(export: &Export) -> Review {
    let run = &export.run;
    let (record, groups) = (Record::new(export), Groups::new(export));
    let document = Document::new(&record, &groups);
    let off = document.control.iter().filter(|control| control.is_off).map(|control| control.said.clone());
    let claims =
        export.claims.iter().zip(&document.verdicts).map(|(claim, text)| of_claim(export, claim, text));
    let checks = export.checks.iter().map(|check| of_check(export, check));
    let contenders = export.contenders.iter().map(|contender| of_contender(export, contender));
    let seconds = seconds(export);
    let whole = whole(&document, export.trials.len(), seconds);
    Review {
        title: format!("kumite run {}", one_line(&run.experiment)),
        asked: None,
        against: None,
        gate: export
            .gate
            .as_ref()
            .zip(run_gate(export))
            .map(|(gate, line)| Gate { state: gate.state, line: one_line(&line) }),
        doubts: off.chain(doubts(export, &document)).map(|doubt| one_line(&doubt)).collect(),
        cases: claims.chain(checks).chain(contenders).chain([whole]).collect(),
        started: run.started,
        seconds,
        kumite: one_line(&run.kumite),
        command: one_line(&run.command),
    }
}

/// The time that the trials took, with what came between them; if an older kumite did not note it, the time from the
/// beginning of the run to its end.
fn seconds(export: &Export) -> f64 {
    let took: Option<f64> = export.trials.iter().map(|trial: &Trial| trial.took_ms).sum();
    let whole = export.run.finished.map_or(0.0, |end| end.duration_since(export.run.started).as_secs_f64());
    took.map_or(whole, |took| took / 1e3)
}

fn whole(document: &Document, trials: usize, seconds: f64) -> Case {
    let (outcome, sentence) = match &document.cut_short {
        Some(why) => (Outcome::Error, format!("cut short: {why}")),
        None => (
            Outcome::Passed,
            format!("the run came to its end: {} in {}", plural(trials, "trial"), length(seconds)),
        ),
    };
    case(Kind::Whole, "", outcome, sentence)
}

fn case(kind: Kind, subject: &str, outcome: Outcome, sentence: String) -> Case {
    Case {
        kind,
        subject: one_line(subject),
        metric: None,
        outcome,
        sentence: one_line(&sentence),
        beyond: 0.0,
    }
}

/// True if the gate would count this, but for `--gate-allow`.
fn is_allowed(export: &Export, amiss: &Amiss) -> bool {
    let allowed = |gate: &RunGate| gate.allowed.contains(&gate_reason(&export.run, amiss));
    export.gate.as_ref().is_some_and(allowed)
}

/// True if this shuts the gate.
fn shuts(export: &Export, amiss: &Amiss) -> bool {
    let because = |gate: &RunGate| gate.because.contains(&gate_reason(&export.run, amiss));
    export.gate.as_ref().is_some_and(because)
}

fn of_claim(export: &Export, claim: &Claim, text: &VerdictText) -> Case {
    let amiss = Amiss::Claim(claim);
    let must_hold = export.gate.as_ref().is_some_and(|gate| gate.passes == GateBar::Holds);
    let outcome = match claim.verdict {
        Verdict::Holds => Outcome::Passed,
        Verdict::NoDifference if !must_hold => Outcome::Passed,
        _ if is_allowed(export, &amiss) => Outcome::Allowed,
        Verdict::Fails | Verdict::NoDifference => Outcome::Failed,
        Verdict::Undecided | Verdict::DependsOnSitting | Verdict::Other(_) => Outcome::Undecided,
        // Nobody measured what a gate asked for.
        Verdict::NotTested if shuts(export, &amiss) => Outcome::Error,
        Verdict::NotTested => Outcome::NotTested,
    };
    let tells = text.effect.is_none() || claim.verdict == Verdict::Undecided;
    let why = claim.reason.as_ref().filter(|_| tells).map(|of| reason(&export.run, of));
    let joint = if text.effect.is_some() { "; " } else { ": " };
    let why = why.map_or(String::new(), |why| format!("{joint}{why}"));
    let sentence = format!("{}{why}. Claimed: {}", text.sentence, text.title);
    Case { beyond: beyond(claim), ..case(Kind::Claim, &claim.id, outcome, sentence) }
}

/// The distance of the bound that decided a claim from what was claimed, as a logarithm; 0 if its effect is no ratio.
fn beyond(claim: &Claim) -> f64 {
    let effect = claim.effect.as_ref().filter(|effect| effect.kind == EffectKind::Ratio);
    let op = claim.decided_by.as_ref().and_then(|decider| Some(decider.sides.as_ref()?.op));
    let Some((effect, zone)) = effect.zip(op.and_then(|op| op.zone(EffectKind::Ratio))) else { return 0.0 };
    let above = effect.bound.low().zip(zone.to).map(|(low, to)| (low / to).ln());
    let below = effect.bound.high().zip(zone.from).map(|(high, from)| (from / high).ln());
    above.into_iter().chain(below).filter(|far| far.is_finite()).fold(0.0, f64::max)
}

fn of_check(export: &Export, check: &Check) -> Case {
    let text = CheckText::new(&export.run, check);
    let amiss = Amiss::Check(check);
    let (outcome, word) = match check.outcome {
        CheckOutcome::Green => (Outcome::Passed, "green"),
        CheckOutcome::Red => (Outcome::Failed, "red"),
        CheckOutcome::NotTested if shuts(export, &amiss) => (Outcome::Error, "not tested"),
        CheckOutcome::NotTested => (Outcome::NotTested, "not tested"),
    };
    let is_amiss = outcome != Outcome::Passed;
    let outcome = if is_amiss && is_allowed(export, &amiss) { Outcome::Allowed } else { outcome };
    let what = text.what.join("; ");
    let what = if what.is_empty() { what } else { format!(": {what}") };
    case(Kind::Check, &check.id, outcome, format!("{word}{what}. Checked: {}", text.title))
}

fn of_contender(export: &Export, contender: &Contender) -> Case {
    let (amiss, outcome, sentence) = match contender.status {
        ContenderStatus::Ran => match Lost::of(contender, export) {
            None if !export.trials.iter().any(|trial| trial.contender == contender.name) => {
                (None, Outcome::NotTested, "it was given no trial".to_owned())
            }
            None => (None, Outcome::Passed, "no trial failed or gave a wrong answer".to_owned()),
            Some(lost) => {
                let outcome = if lost.failed > 0 { Outcome::Error } else { Outcome::Failed };
                let said = lost_said(&lost);
                (Some(Amiss::Lost(lost)), outcome, said)
            }
        },
        status => {
            let amiss = Amiss::Absent(contender);
            let outcome = match status == ContenderStatus::Failed || shuts(export, &amiss) {
                true => Outcome::Error,
                false => Outcome::NotTested,
            };
            (Some(amiss), outcome, absent_said(contender))
        }
    };
    let outcome = match &amiss {
        Some(amiss) if is_allowed(export, amiss) => Outcome::Allowed,
        _ => outcome,
    };
    case(Kind::Contender, &contender.name, outcome, sentence)
}
