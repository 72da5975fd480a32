//! The report's part on workers that do jobs.

pub(super) mod events;
mod jobs;

use super::KindReport;
use crate::kinds::chapter::PageChapter;
use crate::record::Record;
use crate::tables::facts::Fact;
use crate::tables::group::Groups;
use crate::words::quantity::Measured;

/// The name and the text of the template of a chart of events.
pub const EVENTS_TEMPLATE: (&str, &str) = ("events.html", include_str!("task/events.html"));

pub(super) struct Task;

impl KindReport for Task {
    fn name(&self) -> &'static str {
        "task"
    }

    fn reading(&self) -> Option<&'static str> {
        Some(
            "A trial is a fresh process, and its figure the median of its measured jobs; CPU and context switches are those of a job. Elapsed is from the writing of a request to the worker’s word that the job is done, by kumite’s clock: reading the request is in it, and making the answer is not. Worker elapsed is what the worker says of the job alone. What an exchange takes in which nothing is to be done is shown (“empty exchange”, below) and subtracted from nothing.",
        )
    }

    fn steady(&self) -> &'static str {
        "Where the times of jobs became steady, figures are of those from there on."
    }

    fn limits(&self) -> Option<&'static str> {
        Some(
            "how long a process takes to start and get ready; what a job costs beside other work, or after more jobs than were given",
        )
    }

    fn facts(&self, record: &Record) -> Vec<Fact> {
        empty_exchange(record).into_iter().map(|text| Fact { name: "empty exchange", text }).collect()
    }

    fn page(&self, record: &Record, groups: &Groups) -> Vec<PageChapter> {
        [events::page(record, groups), jobs::page(record, groups)].into_iter().flatten().collect()
    }

    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("threads.html", include_str!("task/threads.html")),
            EVENTS_TEMPLATE,
            ("jobs.html", include_str!("task/jobs.html")),
        ]
    }
}

/// The sentence on the time of an exchange that does nothing: the pipe's own cost in each elapsed time. None if it
/// was not measured.
fn empty_exchange(record: &Record) -> Option<String> {
    let metric = record.metric("round-trip")?;
    let estimates = record.export.cells.iter().filter_map(|cell| cell.metrics.get(&metric.name));
    let mut medians: Vec<f64> = estimates.map(|of| of.estimate).filter(|of| of.is_finite()).collect();
    medians.sort_by(f64::total_cmp);
    Some(format!(
        "from kumite to a worker and back with nothing to do took {} to {} by cell (median); it is in every elapsed time \
         and subtracted from none",
        metric.text(*medians.first()?),
        metric.text(*medians.last()?)
    ))
}
