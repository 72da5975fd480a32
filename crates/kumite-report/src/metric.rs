//! The names of metrics in words, and the metrics that are shown.

use std::collections::HashSet;

use kumite_record::{Cell, Metric, Unit};

/// The names of a metric in reports.
pub trait Named {
    /// The name in words, without its unit: `response p99.9`.
    fn words(&self) -> String;
    /// The head of the metric's column, with the unit if values are shown without it: `throughput, req/s`.
    fn label(&self) -> String;
}

impl Named for Metric {
    fn words(&self) -> String {
        let mut words: Vec<&str> = Unit::without(&self.name)
            .split('_')
            .map(|word| match word {
                "cpu" => "CPU",
                "rss" => "RSS",
                word => word,
            })
            .collect();
        match words[..] {
            [.., before, last] if is_percentile(before) && last.parse::<u32>().is_ok() => {
                words.pop();
                return format!("{}.{last}", words.join(" "));
            }
            [_, .., "best"] => words.rotate_right(1),
            [_, .., "first"] => words.splice(words.len() - 1.., ["at", "start"]).for_each(drop),
            [_, .., "last"] => words.splice(words.len() - 1.., ["at", "end"]).for_each(drop),
            _ => {}
        }
        words.join(" ")
    }

    fn label(&self) -> String {
        match self.unit {
            Unit::RequestsPerSecond => format!("{}, req/s", self.words()),
            Unit::PerSecond => format!("{} per s", self.words()),
            _ => self.words(),
        }
    }
}

fn is_percentile(word: &str) -> bool {
    word.strip_prefix('p').is_some_and(|number| number.parse::<u32>().is_ok())
}

/// The metrics for which any of the cells has a figure or lacks values, in the order of `known`. Other metrics than the
/// `known` ones are left out.
pub fn present<'m>(known: &'m [Metric], cells: &[&Cell]) -> Vec<&'m Metric> {
    let names: HashSet<&str> = cells.iter().copied().flat_map(names).collect();
    known.iter().filter(|metric| names.contains(&*metric.name)).collect()
}

/// The declared metrics in their order, then all other metrics of the cells, sorted by name.
pub fn known(declared: &[Metric], cells: &[Cell]) -> Vec<Metric> {
    let mut undeclared: Vec<&str> =
        cells.iter().flat_map(names).collect::<HashSet<_>>().into_iter().collect();
    undeclared.retain(|name| declared.iter().all(|metric| metric.name != *name));
    undeclared.sort_unstable();
    declared.iter().cloned().chain(undeclared.into_iter().map(Metric::named)).collect()
}

fn names(cell: &Cell) -> impl Iterator<Item = &str> {
    cell.metrics.keys().chain(cell.needs.keys()).map(String::as_str)
}

#[cfg(test)]
mod tests;
