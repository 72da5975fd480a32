//! Baselines in words: what each is, and what it took on the day on which it was saved.

use kumite_record::{ComparedBaseline, Comparison, Machine, Unit};

use super::counts;
use super::names::Names;
use crate::words::quantity::{Measured, bytes};
use crate::words::text::one_line;

/// A note for each command that is a baseline.
pub(super) fn notes(comparison: &Comparison, names: &Names) -> Vec<String> {
    let note = |command: &kumite_record::ComparedCommand| {
        let baseline = command.baseline.as_ref()?;
        let what = match &baseline.program {
            Some(program) => format!(
                "{}, with {} as it was kept ({})",
                one_line(&command.command),
                one_line(&program.word),
                bytes(program.bytes as f64)
            ),
            None => one_line(&command.command),
        };
        let saved = baseline.saved.strftime("%Y-%m-%d %H:%M UTC");
        let machine = other_machine(&baseline.machine, &comparison.machine);
        Some(format!("{}: {what}, saved {saved} on {machine}{}", names.of(&command.name), then(baseline)))
    };
    comparison.commands.iter().filter_map(note).collect()
}

/// The figures of that day. Those above are of now.
fn then(baseline: &ComparedBaseline) -> String {
    let counted = baseline.counts.as_ref().and_then(counts::range);
    let executed = counted.map(|range| format!("it executed {range} instructions then"));
    let took = baseline.wall_s.as_ref().map(|wall| {
        let (value, interval) = Unit::Seconds.estimate(wall);
        let interval = interval.map_or(String::new(), |interval| format!(" (95 %: {interval})"));
        format!(
            "it took {value}{interval} then, which is compared with nothing: the figures above are of now"
        )
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
