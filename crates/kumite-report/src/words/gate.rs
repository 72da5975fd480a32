//! The line that answers `--gate` for a run. On a terminal it is the last one, and is not wrapped, so that programs
//! find it.

use anstyle::AnsiColor;
use kumite_record::{
    Amiss, CheckOutcome, Contender, ContenderStatus, Export, GateBar, GateReason, GateState, Lost, Reason,
    Run, Verdict,
};

use crate::style::Style;
use crate::words::number::plural;
use crate::words::reason::reason;
use crate::words::text::one_line;

/// The most reasons that the line names; of more it gives the number.
const MOST_NAMED: usize = 3;

/// The line that answers `--gate` for a run, without a line feed; none if no gate was asked. It names at most three
/// reasons.
pub fn run_gate(export: &Export) -> Option<String> {
    let gate = export.gate.as_ref()?;
    let named = |reasons: &[GateReason]| -> Vec<String> {
        reasons.iter().map(|reason| one_line(&reason.why)).collect()
    };
    let because = named(&gate.because);
    let more = because.len().saturating_sub(MOST_NAMED);
    let mut parts: Vec<String> = because.into_iter().take(MOST_NAMED).collect();
    parts.extend((more > 0).then(|| format!("and {more} more")));
    match gate.state {
        GateState::Open => parts.push(passed(export)),
        GateState::Undecided => parts.push(passing(gate.passes).to_owned()),
        GateState::Shut => {}
    }
    if !gate.allowed.is_empty() {
        parts.push(format!("ignored by --gate-allow: {}", named(&gate.allowed).join(", ")));
    }
    Some(format!("gate: {}: {}", gate.state.as_str(), parts.join("; ")))
}

/// The reason, in a sentence, why a claim, a check or a contender does not pass the gate.
pub fn gate_reason(run: &Run, amiss: &Amiss) -> GateReason {
    let name = amiss.name();
    let why = match amiss {
        Amiss::Claim(claim) => match claim.verdict {
            Verdict::Fails => format!("claim {name} fails"),
            Verdict::NotTested => {
                let why = claim.reason.as_ref().map(|why| format!(": {}", reason(run, why)));
                format!("claim {name} was not tested{}", why.unwrap_or_default())
            }
            Verdict::DependsOnSitting => format!("claim {name} depends on the sitting"),
            verdict => {
                let off = claim.reason.as_ref().filter(|of| matches!(of, Reason::ControlIsOff { .. }));
                let why = off.map(|why| format!(": {}", reason(run, why)));
                format!("claim {name} is {verdict}{}", why.unwrap_or_default())
            }
        },
        Amiss::Check(check) if check.outcome == CheckOutcome::Red => format!("check {name} is red"),
        Amiss::Check(_) => format!("check {name} was not tested"),
        Amiss::Absent(contender) => format!("contender {name} {}", absent_said(contender)),
        Amiss::Lost(lost) => format!("contender {name} {}", lost_said(lost)),
    };
    GateReason { name: name.to_owned(), why }
}

/// `was skipped: needs go >= 1.24`, or `failed: …`: the part of a contender that did not run, with the reason.
pub(crate) fn absent_said(contender: &Contender) -> String {
    let why = contender.reason.as_deref().unwrap_or("no reason recorded");
    let verb = if contender.status == ContenderStatus::Skipped { "was " } else { "" };
    format!("{verb}{}: {why}", contender.status.as_str())
}

/// `failed in 3 of 20 trials: …`, or `answered wrong in …`, with the first line of the first reason.
pub(crate) fn lost_said(Lost { failed, wrong, trials, reason, .. }: &Lost) -> String {
    let why = reason.and_then(|reason| reason.lines().next()).map(|line| format!(": {line}"));
    let what = match failed {
        0 => format!("answered wrong in {wrong}"),
        _ => format!("failed in {failed}"),
    };
    format!("{what} of {trials} trials{}", why.unwrap_or_default())
}

/// The line that answers `--gate`, in colour and with an empty line before it; empty if no gate was asked.
pub(crate) fn last_line(export: &Export, style: Style) -> String {
    let gate = export.gate.as_ref().zip(run_gate(export));
    gate.map_or(String::new(), |(gate, line)| format!("\n{}", painted(&line, gate.state, style)))
}

fn passed(export: &Export) -> String {
    let ran = export.contenders.iter().filter(|contender| contender.status == ContenderStatus::Ran).count();
    let counts = [(export.claims.len(), "claim"), (export.checks.len(), "check"), (ran, "contender")];
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| plural(*count, word));
    format!("nothing is wrong with {}", counts.collect::<Vec<_>>().join(", "))
}

pub(crate) fn painted(line: &str, state: GateState, style: Style) -> String {
    let color = match state {
        GateState::Open => AnsiColor::Green,
        GateState::Shut => AnsiColor::Red,
        GateState::Undecided => AnsiColor::Yellow,
    };
    style.paint(color.on_default().bold(), line) + "\n"
}

/// A clause on whether the gate lets pass what is undecided.
pub(crate) fn passing(bar: GateBar) -> &'static str {
    match bar {
        GateBar::Fails => "--gate passes what is undecided",
        GateBar::Holds => "--gate=holds does not pass what is undecided",
    }
}
