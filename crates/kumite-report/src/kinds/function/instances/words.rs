//! Texts on calls and instances.

use kumite_record::{Call, Phase, PhaseKind, Trial, Unit};

use super::{Life, MOST_COLUMNS};
use crate::charts::shortened;
use crate::words::number::{count, plural};
use crate::words::quantity::Measured;

/// The most calls or phases that a description lists; of more it gives the number.
const TOLD: usize = 12;
const WORD_CHARS: usize = 90;

pub(super) fn phase_text(life: &Life, phase: &Phase) -> String {
    let ms = |value: f64| Unit::Milliseconds.text(value);
    let what = match phase.kind {
        PhaseKind::Init => "init".to_owned(),
        PhaseKind::Reinit => "init once more".to_owned(),
        PhaseKind::Frozen => "frozen".to_owned(),
        PhaseKind::Killed => "ended".to_owned(),
        PhaseKind::Invoke => match life.call_at(phase.instance, phase.from_ms) {
            Some(nth) => format!("call {}{}", nth + 1, if life.calls[nth].cold { ", cold" } else { "" }),
            None => "call".to_owned(),
        },
    };
    let ending =
        phase.ending.as_ref().map_or(String::new(), |how| format!(": {}", shortened(how, WORD_CHARS)));
    let instance = phase.instance;
    match phase.kind {
        PhaseKind::Killed => format!("instance {instance}, {what} at {}{ending}", ms(phase.from_ms)),
        _ => format!(
            "instance {instance}, {what}: {} from {} on{ending}",
            ms(phase.to_ms - phase.from_ms),
            ms(phase.from_ms)
        ),
    }
}

pub(super) fn call_text(nth: usize, call: &Call) -> String {
    let ms = |value: f64| Unit::Milliseconds.text(value);
    let on = match call.instance {
        Some(instance) => format!(" on instance {instance}, {}", if call.cold { "cold" } else { "warm" }),
        None => String::new(),
    };
    let init = match call.inits {
        0 => String::new(),
        1 => format!(" init {},", ms(call.init_ms)),
        n => format!(" init {} and {} more within the call,", ms(call.init_ms), n - 1),
    };
    let error =
        call.error.as_ref().map_or(String::new(), |why| format!("; failed: {}", shortened(why, WORD_CHARS)));
    format!(
        "call {}{on}:{init} duration {}, wall {}, billed {} (2016) and {} (2025){error}",
        nth + 1,
        ms(call.duration_ms),
        ms(call.wall_ms),
        ms(call.billed_2016_ms),
        ms(call.billed_2025_ms)
    )
}

/// The trial in words, for readers who do not see the chart: which calls were cold, where each went, and what went
/// wrong.
pub(super) fn described(trial: &Trial, life: &Life, end: &str) -> String {
    let calls = life.calls;
    let numbers = |is: &dyn Fn(&Call) -> bool| -> Vec<String> {
        let numbers = calls.iter().enumerate().filter(|(_, call)| is(call));
        numbers.map(|(nth, _)| (nth + 1).to_string()).collect()
    };
    let list = |all: &[String], between: &str| {
        let more = all.len().saturating_sub(TOLD);
        let told = all[..all.len() - more].join(between);
        if more > 0 { format!("{told} and {} more", count(more as f64)) } else { told }
    };
    let cold = numbers(&|call| call.cold);
    let mut text = format!(
        "{} of {} on {} in {end}. Cold: {}.",
        plural(calls.len(), "call"),
        trial.contender,
        plural(life.instances, "instance"),
        if cold.is_empty() { "none".to_owned() } else { list(&cold, ", ") }
    );
    let instances: Vec<String> = calls
        .iter()
        .take(MOST_COLUMNS)
        .map(|call| call.instance.map_or("none".to_owned(), |instance| instance.to_string()))
        .collect();
    if !instances.is_empty() {
        let rest = if calls.len() > MOST_COLUMNS { " and so on" } else { "" };
        text += &format!(" The instances of the calls in their order: {}{rest}.", instances.join(" "));
    }
    let told =
        |phase: &&Phase| matches!(phase.kind, PhaseKind::Init | PhaseKind::Reinit) || phase.ending.is_some();
    let phases: Vec<String> =
        trial.sample.phases.iter().filter(told).map(|phase| phase_text(life, phase)).collect();
    if !phases.is_empty() {
        text += &format!(" {}.", list(&phases, "; "));
    }
    let failed: Vec<String> = calls
        .iter()
        .enumerate()
        .filter_map(|(nth, call)| {
            let why = call.error.as_ref()?;
            Some(format!("call {}: {}", nth + 1, shortened(why, WORD_CHARS)))
        })
        .collect();
    if !failed.is_empty() {
        text += &format!(" Failed: {}.", list(&failed, "; "));
    }
    text
}
