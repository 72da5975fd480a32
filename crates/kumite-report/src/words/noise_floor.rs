//! The self-check of a machine in one line: the smallest differences that it can show.

use kumite_record::{FalseVerdicts, NoiseFloor, SmallestDifference};

use super::number::{plural, significant};
use super::text::one_line;

/// The line on the noise floor, without a line feed. If there is none, the line says that it was not measured. Commands
/// are in backquotes.
pub fn noise_floor(floor: Option<&NoiseFloor>) -> String {
    let Some(floor) = floor else {
        return "not measured on this machine: `kumite selfcheck` does".to_owned();
    };
    let mut parts = vec![format!("measured {}", floor.measured.strftime("%Y-%m-%d %H:%M UTC"))];
    let of = |of: &FalseVerdicts| {
        format!(
            "{} of {} by {} ({})",
            of.false_verdicts,
            of.comparisons,
            one_line(&of.metric),
            share_interval(of)
        )
    };
    let false_verdicts: Vec<String> = floor.false_verdicts.iter().map(of).collect();
    if !false_verdicts.is_empty() {
        parts.push(format!("what is the same was said to differ in {}", false_verdicts.join(", ")));
    }
    let seen = |between: &str, of: &Option<SmallestDifference>| {
        of.map(|of| format!("{} between {between}", small(of.percent)))
    };
    let seen: Vec<String> =
        [seen("commands", &floor.command), seen("servers", &floor.server)].into_iter().flatten().collect();
    if !seen.is_empty() {
        parts.push(format!("a minute shows {}", seen.join(", ")));
    }
    if floor.problems > 0 {
        parts.push(format!("{} worse than promised", plural(floor.problems, "thing")));
    }
    parts.push("`kumite selfcheck` measures it anew".to_owned());
    parts.join("; ")
}

pub fn share_interval(of: &FalseVerdicts) -> String {
    format!("{}–{}", significant(of.low * 100.0, 2), percent(of.high))
}

pub fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0, 2))
}

pub fn small(percent: f64) -> String {
    format!("{} %", significant(percent, 2))
}
