use kumite_record::{CommandMetric, ComparedCommand, Comparison, Unit};

use super::names::Names;
use super::{Shown, answer, answers, cut_short, figures, gate, metrics};
use crate::leaf::{Leaf, Strip, StripRow, Table, leaf, place};
use crate::words::number::plural;
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// No picture needs more dots.
const MOST_DOTS: usize = 400;
/// A run is drawn at the edge if it is this many times as far from the median as nine of ten are.
const FAR: f64 = 3.0;

/// The same as one self-contained page, with every run as a dot.
pub fn compare_html(comparison: &Comparison, shown: Shown) -> String {
    let names = Names::of_all(comparison);
    let legend = names.legend.iter().map(|(letter, name)| format!("{letter}: {name}"));
    let warnings = comparison.warnings.iter();
    let warnings =
        warnings.map(|warning| format!("{}: {}", one_line(&warning.place), one_line(&warning.what)));
    let mut tables = vec![Table::from_rows(figures::subjects(comparison, &names, shown))];
    if !comparison.pairs.is_empty() {
        tables.push(Table::from_rows(figures::ratios(comparison, &names)));
    }
    let sentences = answers::answers(comparison, &names).into_iter().map(|answer| answer.text);
    leaf(&Leaf {
        title: "kumite compare".to_owned(),
        alarms: cut_short(comparison.ended)
            .map(|why| format!("cut short: {why}"))
            .into_iter()
            .chain(warnings)
            .collect(),
        sentences: sentences
            .chain(answer::alone_sentence(comparison, &names))
            .chain(gate::line(comparison, &names))
            .collect(),
        strip: strip(comparison, &names),
        tables,
        bars: Vec::new(),
        notes: legend.chain(answer::notes(comparison, &names)).collect(),
        command: comparison.command.clone(),
    })
}

fn strip(comparison: &Comparison, names: &Names) -> Option<Strip> {
    let has_runs = |command: &&ComparedCommand| !command.times.is_empty();
    if !metrics::shown(comparison).contains(&CommandMetric::TimeWallClock) {
        return None;
    }
    let commands: Vec<&ComparedCommand> = comparison.commands.iter().filter(has_runs).collect();
    let ends: Vec<(f64, f64)> = commands.iter().map(|command| nearby(&command.times)).collect();
    let from = ends.iter().map(|(low, _)| *low).reduce(f64::min)?;
    let to = ends.iter().map(|(_, high)| *high).reduce(f64::max)?;
    let row = |command: &ComparedCommand| {
        let wall = command.wall_s.as_ref();
        let median = wall.map_or(0.0, |wall| wall.estimate);
        let at = |value: f64| place(value, from, to);
        let bound = |of: Option<f64>| at(of.unwrap_or(median));
        let every = command.times.len().div_ceil(MOST_DOTS);
        StripRow {
            label: names.of(&command.name),
            description: format!(
                "{} of {}, median {}",
                plural(command.times.len(), "run"),
                names.of(&command.name),
                Unit::Seconds.text(median)
            ),
            points: command.times.iter().step_by(every).map(|time| at(*time)).collect(),
            median: at(median),
            low: bound(wall.and_then(|wall| wall.low)),
            high: bound(wall.and_then(|wall| wall.high)),
        }
    };
    Some(Strip {
        caption: "Each run is a dot, the line is the median, and its interval is shaded; what is far off lies at the edge"
            .to_owned(),
        rows: commands.iter().map(|command| row(command)).collect(),
        from: Unit::Seconds.text(from),
        to: Unit::Seconds.text(to),
    })
}

/// The ends of a scale that shows nearly all of them, and is not made for the farthest.
fn nearby(times: &[f64]) -> (f64, f64) {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    let (low, middle, high) = (at(0.05), at(0.5), at(0.95));
    let reach = FAR * (high - middle).max(middle - low);
    (at(0.0).max(middle - reach), at(1.0).min(middle + reach))
}
