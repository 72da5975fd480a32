//! The chapter on disturbances after the window, and how contenders recovered from them.

use kumite_record::{Cell, Disturbance, Metric, Point, Unit};

use super::RECOVERY;
use super::requests::kinds;
use super::time::timelines;
use crate::charts::{Figure, row_chart};
use crate::kinds::chapter::DisturbedPictures;
use crate::metric::Named;
use crate::record::Record;
use crate::tables::cells::{Table, figures, marks, model, sort, text_column};
use crate::tables::failure::{Disturbed, sum};
use crate::tables::group::{Group, Groups};
use crate::words::bound::Bound;
use crate::words::number::count;
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// The table of each point with a disturbance.
pub fn disturbances(record: &Record, groups: &Groups) -> Vec<Disturbed> {
    let all = groups.disturbed().flat_map(|group| group.points.iter().map(move |point| (group, *point)));
    all.map(|(group, point)| disturbed(record, groups, group, point)).collect()
}

/// The pictures of each point with a disturbance.
pub fn pictures(record: &Record, groups: &Groups) -> Vec<DisturbedPictures> {
    let points = groups.disturbed().flat_map(|group| groups.points_of(group));
    points.enumerate().map(|(nth, (place, point))| picture(record, nth, place, point)).collect()
}

fn picture(record: &Record, nth: usize, place: String, point: &Point) -> DisturbedPictures {
    let mut cells = record.at(point).cells.clone();
    let recovery = record.metric(RECOVERY);
    let rows = recovery.and_then(|metric| {
        sort(&mut cells, metric);
        let title = format!("{}, {place}", metric.words());
        let figures = [Figure { metric, label: "" }];
        row_chart(record, format!("recovery-{nth}"), title, &cells, &figures)
    });
    let timelines = timelines(record, &format!("around-{nth}"), place, point, recovery);
    DisturbedPictures { rows, timelines }
}

fn disturbed(record: &Record, groups: &Groups, group: &Group, point: &Point) -> Disturbed {
    let mut cells = record.at(point).cells.clone();
    let recovery = record.metric(RECOVERY);
    let order = recovery.and_then(|metric| sort(&mut cells, metric)).unwrap_or_default();
    let seen = |cell: &Cell| -> Vec<&Disturbance> {
        record.trials_of(cell).filter_map(|trial| trial.sample.disturbance.as_ref()).collect()
    };
    let mut columns = vec![
        text_column(&cells, "contender", false, |cell| cell.contender.clone()),
        text_column(&cells, "model", false, |cell| model(record, &cell.contender).to_owned()),
    ];
    let metrics: Vec<&Metric> = recovery.into_iter().chain(record.metric("first-right")).collect();
    columns.extend(figures(record, &cells, &metrics));
    columns.push(text_column(&cells, "right since", true, |cell| sum(seen(cell).iter().map(|d| d.ok))));
    columns.push(text_column(&cells, "failed since", false, |cell| {
        kinds(seen(cell).iter().map(|disturbance| &disturbance.errors))
    }));
    if cells.iter().any(|cell| seen(cell).iter().any(|d| d.burst_ok + d.burst_errors > 0)) {
        columns.push(text_column(&cells, "of these the burst’s", true, |cell| {
            let right = sum(seen(cell).iter().map(|d| d.burst_ok));
            format!("{right} right, {} failed", sum(seen(cell).iter().map(|d| d.burst_errors)))
        }));
    }
    columns.push(text_column(&cells, "trials", true, |cell| cell.trials.to_string()));
    columns.push(text_column(&cells, "marks", false, |cell| marks(record, cell)));
    let all: Vec<&Disturbance> = cells.iter().flat_map(|cell| seen(cell)).collect();
    Disturbed {
        title: groups.full_place(group, point),
        what: what(group.disturbance.as_deref().unwrap_or_default(), &all),
        order,
        table: Table::from_columns(columns),
        bounded: recovery
            .is_some_and(|metric| cells.iter().any(|cell| Bound::new(record, cell, &metric.name).high)),
    }
}

/// The disturbance in a sentence, from what trials recorded.
fn what(kind: &str, seen: &[&Disturbance]) -> String {
    let median = |of: fn(&Disturbance) -> f64| {
        let mut values: Vec<f64> = seen.iter().map(|disturbance| of(disturbance)).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len().saturating_sub(1) / 2).copied()
    };
    let ms = |value: f64| Unit::Milliseconds.text(value);
    let (Some(lasted), Some(watched), Some(burst)) = (
        median(|d| d.ended_ms - d.began_ms),
        median(|d| d.until_ms - d.ended_ms),
        median(|d| (d.burst_ok + d.burst_errors) as f64),
    ) else {
        return format!("{}: no trial got that far.", one_line(kind));
    };
    let done = match kind {
        "pause" => format!("After the window the contender was stopped for {} and let go on.", ms(lasted)),
        "burst" => format!(
            "After the window {} more connections came at once, each with a request; to begin them took {}.",
            count(burst),
            ms(lasted)
        ),
        kind => format!("After the window there was a {} of {}.", one_line(kind), ms(lasted)),
    };
    let of_median = if seen.len() > 1 { " (medians over trials)" } else { "" };
    format!(
        "{done} Then it was watched for {}{of_median}. The load went on all the time. Recovery is from the first failure, but not from before the end of the disturbance, until answers were steady again. Right and failed requests are counted since the disturbance began, over all trials.",
        ms(watched)
    )
}
