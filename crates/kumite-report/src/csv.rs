//! A run as CSV: one row for each cell and metric, for spreadsheets and statistics programs.

use std::collections::BTreeSet;

use kumite_record::{Cell, Export};

/// A run as CSV. Columns: `contender`, one for each axis,
/// `metric,unit,estimate,low,high,n,lower_bounds,trials,disqualified,failed,marked,needs`. The column of an axis within
/// trials is empty for whole trials. `lower_bounds` is the number of values, among the `n`, that are only lower bounds.
/// Numbers are in full and without separators; an end of an interval that is not known is empty. A metric for
/// which some trial has too few values (requests, for a percentile) has a row with its name and unit but no figures.
/// `needs` is then the number of further values that the trial with the fewest of them would take; in all other rows it
/// is empty. A cell without metrics keeps one row, so that its failures are not lost.
pub fn csv(export: &Export) -> String {
    let axes: BTreeSet<&str> =
        cells(export).flat_map(|cell| cell.point.0.keys()).map(String::as_str).collect();
    let mut header = vec!["contender"];
    header.extend(&axes);
    header.extend(
        "metric unit estimate low high n lower_bounds trials disqualified failed marked needs".split(' '),
    );
    let mut text = row(header);

    for cell in cells(export) {
        let mut head = vec![cell.contender.clone()];
        head.extend(axes.iter().map(|axis| cell.point.get(axis).map_or(String::new(), ToString::to_string)));
        let counts = [cell.trials, cell.disqualified, cell.failed, cell.marked].map(|n| n.to_string());
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let known = cell.metrics.iter().map(|(name, metric)| {
            let values = [
                name.clone(),
                metric.unit.to_string(),
                number(Some(metric.estimate)),
                number(metric.low),
                number(metric.high),
                metric.n.to_string(),
                metric.lower_bounds.to_string(),
            ];
            (values, String::new())
        });
        let missing = cell.needs.iter().filter(|(name, _)| !cell.metrics.contains_key(*name));
        let missing = missing.map(|(name, needs)| {
            let mut values = [const { String::new() }; 7];
            (values[0], values[1]) = (name.clone(), export.run.unit(name).to_string());
            (values, needs.to_string())
        });
        let nothing = (cell.metrics.is_empty() && cell.needs.is_empty())
            .then_some(([const { String::new() }; 7], String::new()));
        for (values, needs) in known.chain(missing).chain(nothing) {
            text += &row(head.iter().chain(&values).chain(&counts).chain([&needs]));
        }
    }
    text
}

/// The cells of whole trials, then those of parts of trials.
fn cells(export: &Export) -> impl Iterator<Item = &Cell> {
    export.cells.iter().chain(&export.parts)
}

/// A row of CSV as RFC 4180 has it, but with a line feed alone at its end.
pub(crate) fn row(fields: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let fields: Vec<String> = fields
        .into_iter()
        .map(|field| match field.as_ref() {
            field if field.contains([',', '"', '\n', '\r']) => format!("\"{}\"", field.replace('"', "\"\"")),
            field => field.to_owned(),
        })
        .collect();
    fields.join(",") + "\n"
}
