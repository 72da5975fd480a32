//! A comparison as a page, on which runs of commands are dots.

use kumite_record::{CommandMetric, ComparedCommand, ComparedPair, Comparison, Estimate, Ratio, Unit};

use super::names::Names;
use super::{Shown, answer, answers, cut_short, doubts, figures, gate, metrics};
use crate::charts::rows::{LABEL_CHARS, PLOT, Row, RowMark, chart, row_y};
use crate::charts::scale::Scale;
use crate::charts::strip::{StripChart, Values, strip_chart};
use crate::charts::{MARKERS, RowChart, shortened};
use crate::leaf::{Leaf, Table, leaf};
use crate::words::control::ControlText;
use crate::words::text::one_line;

const RUNS: &str = "a dot is a run (of more than 400, every second, third or so), the line is the median, and its interval is shaded; what is far off lies at the edge";

/// A comparison as one self-contained page. Each run of a command is a dot; of more than 400 runs every second, every
/// third and so on is drawn.
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
    let control = ControlText::of_comparison(comparison);
    let (off, like_itself) = (control.iter().filter(|of| of.is_off), control.iter().filter(|of| !of.is_off));
    let sentences = answers::answers(comparison, &names).into_iter().map(|answer| answer.text);
    leaf(&Leaf {
        title: "kumite compare".to_owned(),
        alarms: cut_short(comparison.ended)
            .map(|why| format!("cut short: {why}"))
            .into_iter()
            .chain(off.map(|of| of.said.clone()))
            .chain(doubts::doubts(comparison, &names))
            .chain(warnings)
            .collect(),
        sentences: like_itself
            .map(|of| of.said.clone())
            .chain(sentences)
            .chain(answer::alone_sentence(comparison, &names))
            .chain(gate::line(comparison, &names))
            .collect(),
        ratios: ratios(comparison, &names),
        strip: strip(comparison, &names),
        tables,
        notes: legend.chain(answer::notes(comparison, &names)).collect(),
        command: comparison.command.clone(),
        ..Leaf::default()
    })
}

fn is_wall_time_shown(comparison: &Comparison) -> bool {
    metrics::shown(comparison).contains(&CommandMetric::TimeWallClock)
}

/// The chart of each pair's ratio to the reference, by wall time or by throughput of servers; none if there is no
/// pair, or if wall time is not shown.
fn ratios(comparison: &Comparison, names: &Names) -> Option<RowChart> {
    let of_servers = !comparison.servers.is_empty();
    if !of_servers && !is_wall_time_shown(comparison) {
        return None;
    }
    let reference = names.of(&comparison.pairs.first()?.b);
    let by = if of_servers { "throughput" } else { "wall time" };
    let ends =
        comparison.pairs.iter().flat_map(|pair| [Some(pair.ratio.estimate), pair.ratio.low, pair.ratio.high]);
    let ends = ends.flatten().filter(|ratio| *ratio > 0.0).chain([1.0]);
    let scale = Scale::exact(ends, PLOT.x())?;
    let row = |(nth, pair): (usize, &ComparedPair)| {
        let Ratio { estimate, low, high } = pair.ratio;
        let name = names.of(&pair.a);
        let mark = RowMark {
            x: scale.at(estimate),
            whisker: low.zip(high).map(|(low, high)| (scale.at(low), scale.at(high))),
            marker: MARKERS[0],
            open: false,
            text: format!(
                "{name}: {}{}",
                answer::times(pair.ratio),
                answer::interval(pair.ratio).map_or(String::new(), |ends| format!(" ({ends})"))
            ),
        };
        let is_known = estimate.is_finite() && estimate > 0.0;
        Row {
            label: shortened(&name, LABEL_CHARS),
            y: row_y(nth),
            color: 0,
            span: None,
            lost: (!is_known).then_some("no ratio"),
            marks: if is_known { vec![mark] } else { Vec::new() },
        }
    };
    let rows: Vec<Row> = comparison.pairs.iter().enumerate().map(row).collect();
    let texts: Vec<&str> = rows.iter().flat_map(|row| &row.marks).map(|mark| &*mark.text).collect();
    let description = format!("A row for each of them. {}.", texts.join(". "));
    let title = format!("times as fast as {reference}, by {by}");
    let chart = chart("ratios".to_owned(), title, rows, &scale, &Unit::Number, &[]);
    Some(RowChart { description, border: Some(scale.at(1.0)), ..chart })
}

fn strip(comparison: &Comparison, names: &Names) -> Option<StripChart> {
    if !is_wall_time_shown(comparison) {
        return None;
    }
    let commands = comparison.commands.iter().filter(|command| !command.times.is_empty());
    let named: Vec<(String, &ComparedCommand, &Estimate)> = commands
        .filter_map(|command| Some((names.of(&command.name), command, command.wall_s.as_ref()?)))
        .collect();
    let sets: Vec<Values> = named
        .iter()
        .map(|(name, command, wall)| Values {
            name,
            all: &command.times,
            median: wall.estimate,
            low: wall.low,
            high: wall.high,
        })
        .collect();
    strip_chart("runs", RUNS, Unit::Seconds, &sets)
}
