//! The result of the self-check: how far kumite can be trusted on a machine.

use anstyle::AnsiColor;
use comfy_table::CellAlignment::{Left, Right};
use kumite_record::{
    CalmProbe, ClockCheck, CpuCheck, DuetCheck, EngineCheck, EngineFigure, Probe, SameTwice, SelfCheck, Unit,
};

use crate::style::Style;
use crate::tables::grid::grid;
use crate::words::noise_floor::{percent, share_interval, small};
use crate::words::number::{count, plural, significant};
use crate::words::quantity::{Measured, length};
use crate::words::text::one_line;

/// The text that `kumite selfcheck` prints at its end.
pub fn selfcheck_terminal(check: &SelfCheck, style: &Style) -> String {
    let style = *style;
    let mut out = answer(check, style);
    for same in [&check.commands, &check.server].into_iter().flatten() {
        out += &same_twice(same, style);
    }
    if !check.engine.is_empty() {
        out += &heading("the load engine against servers that know what they did", style);
    }
    for check in &check.engine {
        out += &engine(check, style);
    }
    if check.clock.is_some() || !check.cpus.is_empty() {
        out += &heading("clock and CPUs", style);
    }
    out += &check.clock.as_ref().map_or(String::new(), |clock| style.wrap(&clock_text(clock), 0));
    if !check.cpus.is_empty() {
        out += &cpus(&check.cpus, style);
    }
    if !check.probes.is_empty() {
        out += &heading("what the machine charges before a trial", style);
        out += &probes(check, style);
    }
    if let Some(duet) = &check.duet {
        out += &heading("two at once (--duet)", style);
        out += &style.wrap(&duet_text(duet), 0);
    }
    let again = format!("{}; seed {}; again: ", length(check.seconds), check.seed);
    out + &format!("\n{again}{}\n", one_line(&check.command))
}

fn answer(check: &SelfCheck, style: Style) -> String {
    let paint = |color: AnsiColor, text: &str| style.paint(color.on_default().bold(), &style.wrap(text, 0));
    let mut out = String::new();
    if check.cut_short {
        out += &paint(AnsiColor::Yellow, "! cut short: it was interrupted; what there is, is not kept");
    }
    out += &match check.problems.len() {
        0 if check.cut_short => String::new(),
        0 if check.engine.iter().any(|engine| engine.truthful.is_none()) => paint(
            AnsiColor::Yellow,
            "as promised, as far as it could be told: the machine was too busy to judge the load engine",
        ),
        0 => paint(
            AnsiColor::Green,
            "as promised: nothing was found here that makes kumite's results doubtful",
        ),
        n => paint(AnsiColor::Red, &format!("worse than promised: {}", plural(n, "thing"))),
    };
    for problem in &check.problems {
        out += style.wrap(&format!("✗ {}", one_line(&problem.what)), 2).trim_start();
        out += &style.wrap(&one_line(&problem.means), 2);
        out += &style.wrap(&format!("→ {}", one_line(&problem.remedy)), 2);
    }
    out
}

fn probes(check: &SelfCheck, style: Style) -> String {
    let columns = [("for", Left), ("median", Right), ("at most", Right), ("marked beyond", Right)];
    let row = |(probe, of): (&Probe, &CalmProbe)| {
        let text = |value| probe.metric().text(value);
        vec![probe.to_string(), text(of.median), text(of.most), text(of.limit())]
    };
    grid(&columns, &check.probes.iter().map(row).collect::<Vec<_>>(), style)
}

fn heading(text: &str, style: Style) -> String {
    format!("\n{}", style.bold(&style.wrap(text, 0)))
}

fn same_twice(same: &SameTwice, style: Style) -> String {
    let columns = [
        ("said to differ by", Left),
        ("in", Right),
        ("share", Right),
        ("95 % interval", Right),
        ("promised", Right),
    ];
    let rows: Vec<Vec<String>> = same
        .false_verdicts
        .iter()
        .map(|of| {
            vec![
                one_line(&of.metric),
                format!("{} of {}", of.false_verdicts, of.comparisons),
                percent(of.share),
                share_interval(of),
                format!("≤ {}", percent(of.promised)),
            ]
        })
        .collect();
    let many = format!(
        "{}, {} in all, at most {} each, one every {}",
        plural(same.comparisons, "comparison"),
        plural(same.pairs, "pair"),
        same.most_pairs,
        Unit::Seconds.text(same.seconds_per_pair)
    );
    let smallest = match &same.smallest {
        Some(of) => format!(
            "in a minute a difference of {} would be seen nine times of ten (interval ±{}): extrapolated from {} to {}",
            small(of.percent),
            small(of.half_width_percent),
            plural(of.from_pairs, "pair"),
            count(of.pairs_a_minute as f64)
        ),
        None => "too few pairs to say what a minute would show".to_owned(),
    };
    heading(&one_line(&same.what), style)
        + &style.wrap(&many, 0)
        + &grid(&columns, &rows, style)
        + &style.wrap(&smallest, 0)
}

fn engine(check: &EngineCheck, style: Style) -> String {
    let verdict = match check.truthful {
        Some(true) => "it saw that",
        Some(false) => "it did not see that",
        None => "whether it saw that cannot be told",
    };
    let marks: Vec<&str> = check.marks.iter().map(|mark| mark.as_str()).collect();
    let marks = if marks.is_empty() { String::new() } else { format!("; marked {}", marks.join(", ")) };
    let tries = if check.tries > 1 { format!(", in try {}", check.tries) } else { String::new() };
    let what = format!(
        "{}: {verdict}{tries} ({}{marks})",
        one_line(&check.server),
        plural(check.requests as usize, "request")
    );
    let columns = [("", Left), ("server", Right), ("engine", Right), ("may be", Right), ("", Left)];
    let row = |of: &EngineFigure| {
        let unit = Unit::of_name(&of.name).unwrap_or(Unit::Count);
        let text = |value: f64| unit.text(value);
        let may_be = match of.least == of.most {
            true => "the same".to_owned(),
            false => format!("{} to {}", text(of.least), text(of.most)),
        };
        let name = Unit::without(&of.name).replace('_', " ");
        let agrees = if of.agrees() { "✓" } else { "✗" };
        vec![one_line(&name), text(of.server), text(of.engine), may_be, agrees.to_owned()]
    };
    style.wrap(&what, 0) + &grid(&columns, &check.figures.iter().map(row).collect::<Vec<_>>(), style)
}

fn clock_text(clock: &ClockCheck) -> String {
    format!(
        "reading the clock costs {} ns, its smallest step is {} ns; the time of day and it parted by {} µs in {}",
        significant(clock.cost_ns, 2),
        significant(clock.resolution_ns, 2),
        significant(clock.realtime_ahead_us.abs(), 2),
        length(clock.over_s)
    )
}

fn cpus(cpus: &[CpuCheck], style: Style) -> String {
    let us = Unit::Microseconds;
    let first = cpus.first().map_or(String::new(), |first| format!("same work / CPU {} [95 %]", first.cpu));
    let columns = [
        ("CPU", Left),
        ("pinning", Left),
        ("worst gap", Right),
        ("held up", Right),
        (&*first, Right),
        ("scatter", Right),
    ];
    let row = |check: &CpuCheck| {
        let pinning = match check.elsewhere {
            0 => "works".to_owned(),
            n => format!("elsewhere in {} of {} looks", count(n as f64), count(check.looks as f64)),
        };
        let slower = check.slower.and_then(|ratio| {
            let digits = |value| format!("{value:.3}");
            Some(format!("{} [{}–{}]", digits(ratio.estimate), digits(ratio.low?), digits(ratio.high?)))
        });
        vec![
            check.cpu.to_string(),
            pinning,
            us.text(check.worst_gap_us),
            format!("{} %", significant(check.held_up_percent, 2)),
            slower.unwrap_or_else(|| "–".to_owned()),
            check.scatter_percent.map_or("–".to_owned(), small),
        ]
    };
    grid(&columns, &cpus.iter().map(row).collect::<Vec<_>>(), style)
}

fn duet_text(duet: &DuetCheck) -> String {
    let ratio = duet.sequential_width;
    let interval = ratio.low.zip(ratio.high).map_or(String::new(), |(low, high)| {
        format!(" (95 %: {}–{})", significant(low, 2), significant(high, 2))
    });
    let so = match duet.pays {
        Some(true) => "it pays here",
        Some(false) => "it does not pay here",
        None => "whether it pays is undecided",
    };
    format!(
        "{so}: in the same time, pairs in turn give an interval {}× as wide{interval}, over {} of 20 pairs of either kind",
        significant(ratio.estimate, 2),
        plural(duet.rounds, "round")
    )
}
