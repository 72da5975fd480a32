//! How many of a cell's states were off by how much: from the median outwards, a row for each contender.

use kumite_record::Unit;

use super::rows::{LABEL_CHARS, LEFT, RIGHT, Row, RowChart, RowMark, chart, row_y};
use super::scale::Scale;
use super::{Look, MARKERS, shortened};
use crate::pacing::{PacedAt, Pooled, SHARES, pooled};
use crate::quantity::Measured;
use crate::record::Record;
use crate::table::lost;
use crate::text::one_line;

/// The charts of all points, on one scale.
pub fn distribution_charts(record: &Record, points: &[PacedAt]) -> Vec<RowChart> {
    let all = pooled(record, points);
    let ends = all.iter().flatten().filter_map(|pooled| pooled.within_us).flatten();
    let Some(scale) = Scale::logarithmic(ends, LEFT, RIGHT) else { return Vec::new() };
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
        color: Look::of(record.export, &cell.contender).color,
        span: marks.first().zip(marks.last()).map(|(first, last)| (first.x, last.x)),
        lost: marks.is_empty().then(|| lost(cell)),
        marks,
    }
}
