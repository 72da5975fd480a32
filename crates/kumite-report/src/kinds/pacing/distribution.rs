//! The chapter on the errors of players' states, with a row for each contender.

use kumite_record::{Metric, Trial, Unit};
use minijinja::value::{Serde, Value};
use serde::Serialize;

use super::errors::{ErrorScales, error_chart};
use super::states::{PacedAt, Pooled, SHARES, frame_us, has_arrivals, paced, pooled};
use crate::charts::rows::{LABEL_CHARS, PLOT, Row, RowMark, chart, row_y};
use crate::charts::scale::Scale;
use crate::charts::{Look, MARKERS, RowChart, Timelines, shortened};
use crate::kinds::chapter::{Chapter, ChapterPoint, PageChapter};
use crate::metric::Named;
use crate::record::Record;
use crate::tables::cells::{Column, Entry, Filled, Table, lost};
use crate::tables::group::Groups;
use crate::tables::trials::median_trials;
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// The contents of the chapter on a page: the states of all trials at each point, and those of one trial of each
/// contender over time.
#[derive(Debug, Serialize)]
struct OnPage {
    about: &'static str,
    distributions: Vec<RowChart>,
    tables: Vec<ChapterPoint>,
    points: Vec<Timelines>,
}

/// The sentence above the figures of all states.
const POOLED: &str = "Of the states of all trials that count: how far off 50, 90, 99 and 99.9 % of them were at most, and the worst of all, early or late.";

/// The chapter on how exactly states came, as tables for formats without pictures; none if no state came.
pub fn chapter(record: &Record, groups: &Groups) -> Option<Chapter> {
    let points = tables(record, &paced(record, groups));
    let chapter = Chapter { title: "How exactly states came", about: Some(POOLED), points };
    (!chapter.points.is_empty()).then_some(chapter)
}

/// The chapter on how exactly states came, for a page, with pictures; none if no state came.
pub fn page(record: &Record, groups: &Groups) -> Option<PageChapter> {
    let points = paced(record, groups);
    let shown = OnPage {
        about: POOLED,
        distributions: charts(record, &points),
        tables: tables(record, &points),
        points: state_by_state(record, &points),
    };
    let shown = Value::from(Serde(shown));
    let chapter =
        PageChapter { id: "pacing", link: "State by state", template: "states.html", shown, script: None };
    (!points.is_empty()).then_some(chapter)
}

fn tables(record: &Record, points: &[PacedAt]) -> Vec<ChapterPoint> {
    let point = |(paced, cells): (&PacedAt, Vec<Pooled>)| ChapterPoint {
        place: paced.place.clone(),
        overviews: Vec::new(),
        note: None,
        table: Some(table(&cells)),
        summary: None,
    };
    points.iter().zip(pooled(record, points)).map(point).collect()
}

fn table(cells: &[Pooled]) -> Table {
    let names = cells.iter().map(|pooled| Entry::plain(one_line(&pooled.cell.contender))).collect();
    let share = |(nth, (_, name)): (usize, &(f64, &str))| -> Filled {
        let entry = |pooled: &Pooled| match pooled.within_us {
            Some(within_us) => Entry::plain(Unit::Microseconds.text(within_us[nth])),
            None if nth == 0 => Entry { lost: true, ..Entry::plain(lost(pooled.cell).to_owned()) },
            None => Entry::plain("–".to_owned()),
        };
        let column = Column { name: (*name).to_owned(), numeric: true };
        (column, cells.iter().map(entry).collect())
    };
    let first = (Column { name: "contender".to_owned(), numeric: false }, names);
    Table::from_columns(std::iter::once(first).chain(SHARES.iter().enumerate().map(share)).collect())
}

fn state_by_state(record: &Record, points: &[PacedAt]) -> Vec<Timelines> {
    let chosen: Vec<(Metric, Vec<&Trial>)> =
        points.iter().map(|at| median_trials(record, at.point, None, has_arrivals)).collect();
    let all: Vec<&Trial> = chosen.iter().flat_map(|(_, trials)| trials.iter().copied()).collect();
    let frames = points.iter().filter_map(|at| frame_us(record, at.point));
    let scales = ErrorScales::new(&all, frames.reduce(f64::max));
    let timelines = |(nth, (at, (by, trials))): (usize, (&PacedAt, &(Metric, Vec<&Trial>)))| {
        let frame_us = frame_us(record, at.point);
        let chart = |(of, trial): (usize, &&Trial)| {
            error_chart(record, format!("errors-{nth}-{of}"), trial, frame_us, &scales)
        };
        let charts = trials.iter().enumerate().map(chart).collect();
        Timelines { place: at.place.clone(), by: by.words(), charts }
    };
    points.iter().zip(&chosen).enumerate().map(timelines).collect()
}

/// A chart for each point, all on one scale; empty if no trial counts.
fn charts(record: &Record, points: &[PacedAt]) -> Vec<RowChart> {
    let all = pooled(record, points);
    let ends = all.iter().flatten().filter_map(|pooled| pooled.within_us).flatten();
    let Some(scale) = Scale::logarithmic(ends, PLOT.x()) else { return Vec::new() };
    let labels = SHARES.map(|(_, label)| label);
    let drawn = |(nth, (paced, cells)): (usize, (&PacedAt, &Vec<Pooled>))| {
        let rows = cells.iter().enumerate().map(|(nth, pooled)| row(record, pooled, &scale, row_y(nth)));
        let title = paced.place.clone();
        chart(format!("distribution-{nth}"), title, rows.collect(), &scale, &Unit::Microseconds, &labels)
    };
    points.iter().zip(&all).enumerate().map(drawn).collect()
}

fn row(record: &Record, Pooled { cell, within_us }: &Pooled, scale: &Scale, y: f64) -> Row {
    let name = one_line(&cell.contender);
    let mark = |(nth, us): (usize, f64)| RowMark {
        x: scale.at(us),
        whisker: None,
        marker: MARKERS[nth],
        open: false,
        text: format!("{name}: {} within {}", SHARES[nth].1, Unit::Microseconds.text(us)),
    };
    let marks: Vec<RowMark> = within_us.iter().flatten().copied().enumerate().map(mark).collect();
    Row {
        label: shortened(&name, LABEL_CHARS),
        y,
        color: Look::of_contender(record.export, &cell.contender).color,
        span: marks.first().zip(marks.last()).map(|(first, last)| (first.x, last.x)),
        lost: marks.is_empty().then(|| lost(cell)),
        marks,
    }
}
