//! Baselines in words: what each one is, and its figures of the day on which it was saved.

use std::cmp::Ordering;

use kumite_record::{
    ComparedBaseline, ComparedCommand, ComparedCounts, Comparison, CountState, Machine, Unit,
};

use super::counts;
use super::names::Names;
use super::one_answer::Answer;
use crate::words::number::{count, significant};
use crate::words::quantity::{Measured, bytes};
use crate::words::text::one_line;

/// A note for each baseline, and one on the size of each program beside it.
pub(super) fn notes(comparison: &Comparison, names: &Names) -> Vec<String> {
    let note = |command: &ComparedCommand| {
        let baseline = command.baseline.as_ref()?;
        let of = match &baseline.program {
            Some(program) => format!(", with {} as it was kept", one_line(&program.word)),
            None => String::new(),
        };
        let what = format!("{}{of}, ", one_line(&command.command));
        Some(format!("{}: {what}{}", names.of(&command.name), saved(baseline, &comparison.machine)))
    };
    let measured = comparison.commands.iter().filter_map(note);
    let counted = comparison.since.iter().map(|since| {
        let saved = saved(&since.baseline, &comparison.machine);
        format!("{}: {saved}; it cannot be measured again", called(&since.baseline))
    });
    measured.chain(counted).chain(sizes(comparison, names)).collect()
}

/// The answer on each command by the counts of another day.
pub(super) fn answers(comparison: &Comparison, names: &Names) -> Vec<Answer> {
    let Some((since, counting)) = comparison.since.as_ref().zip(comparison.counts.as_ref()) else {
        return Vec::new();
    };
    let answer = |(name, counts): (&String, &ComparedCounts)| {
        let whom = format!("{} did", called(&since.baseline));
        let text = counts::finding(&names.of(name), &whom, counts, counting);
        let text = text.unwrap_or_else(|| "cannot tell: it was not counted".to_owned());
        Answer { is_decided: counts.state != CountState::CannotTell, text: format!("instructions: {text}") }
    };
    since.commands.iter().map(answer).collect()
}

/// The size of each program that stands beside a baseline whose program is known.
fn sizes(comparison: &Comparison, names: &Names) -> Vec<String> {
    let mut commands = comparison.commands.iter();
    let then = commands.find(|command| command.baseline.is_some()).and_then(|command| command.program_bytes);
    let Some(then) = then else { return Vec::new() };
    let size = |command: &ComparedCommand| {
        let now = command.program_bytes.filter(|_| command.baseline.is_none())?;
        let change = match now.cmp(&then) {
            Ordering::Equal => format!("{}, as before", bytes(now as f64)),
            order => {
                let sign = if order == Ordering::Less { "−" } else { "+" };
                let share = (now as f64 / then.max(1) as f64 - 1.0).abs();
                let [then, now] = [then, now].map(|size| count(size as f64));
                format!("{then} → {now} bytes ({sign}{} %)", significant(share * 100.0, 2))
            }
        };
        Some(format!("size of the program of {}: {change}", names.of(&command.name)))
    };
    comparison.commands.iter().filter_map(size).collect()
}

fn called(baseline: &ComparedBaseline) -> String {
    format!("baseline {}", one_line(&baseline.name))
}

/// The day and the machine of a baseline, and its figures of that day.
fn saved(baseline: &ComparedBaseline, now: &Machine) -> String {
    let day = baseline.saved.strftime("%Y-%m-%d %H:%M UTC");
    format!("saved {day} on {}{}", other_machine(&baseline.machine, now), then(baseline))
}

/// The figures of that day. Those above are of now.
fn then(baseline: &ComparedBaseline) -> String {
    let counted = baseline.counts.as_ref().and_then(counts::range);
    let executed = counted.map(|range| format!("it executed {range} instructions then"));
    let took = baseline.wall_s.as_ref().map(|wall| {
        let (value, interval) = Unit::Seconds.estimate(wall);
        let interval = interval.map_or(String::new(), |interval| format!(" (95 %: {interval})"));
        format!("it took {value}{interval} then, which is compared with nothing: the times above are of now")
    });
    executed.into_iter().chain(took).map(|figure| format!("; {figure}")).collect()
}

/// `this machine`, or what is another about it.
fn other_machine(then: &Machine, now: &Machine) -> String {
    let mut other = Vec::new();
    if then.cpu != now.cpu {
        other.push(one_line(&then.cpu));
    }
    if then.cpus != now.cpus {
        other.push(format!("{} CPUs", then.cpus));
    }
    if then.memory_bytes != now.memory_bytes {
        other.push(format!("{} of memory", bytes(then.memory_bytes as f64)));
    }
    if !other.is_empty() {
        return format!("another machine ({})", other.join(", "));
    }
    match then.kernel == now.kernel {
        true => "this machine".to_owned(),
        false => format!("this machine, with another kernel ({})", one_line(&then.kernel)),
    }
}
