//! The parts of a report that only one kind of workload has. The kinds are registered here and each has a file of its
//! own; no other part of this crate knows one by name.

pub mod chapter;
mod command;
mod function;
mod http;
mod pacing;
mod task;

pub use task::EVENTS_TEMPLATE;
pub use task::events::{EventChart, event_charts};

use kumite_record::{Cell, Metric, Point};

use crate::record::Record;
use crate::tables::cells::Filled;
use crate::tables::facts::Fact;
use crate::tables::failure::{Disturbed, Failed};
use crate::tables::group::Groups;
use chapter::{Chapter, DisturbedPictures, PageChapter};

const KINDS: [&dyn KindReport; 5] =
    [&http::Http, &task::Task, &function::Function, &pacing::Pacing, &command::Command];

/// The parts of a report for the kind of this record; for an unknown kind, the parts that are right for all kinds.
pub fn kind_of(record: &Record) -> &'static dyn KindReport {
    let name = record.export.run.kind.as_str();
    KINDS.into_iter().find(|kind| kind.name() == name).unwrap_or(&Unknown)
}

/// The parts of a report that differ between kinds of workload. A default is right for every kind.
pub trait KindReport: Sync {
    /// The kind's name in the record.
    fn name(&self) -> &'static str;

    /// The name of the program that works beside the contenders.
    fn engine(&self) -> &'static str {
        "kumite"
    }

    /// A sentence that readers of the tables need; none if they need none.
    fn reading(&self) -> Option<&'static str> {
        None
    }

    /// The sentence that says from which part of a trial the figures are. It is for reports whose trials say whether
    /// they were steady.
    fn steady(&self) -> &'static str {
        "Figures are of the part of each trial that was steady, or of all of it where no part was."
    }

    /// The number of values that must lie beyond a percentile in every trial, in words.
    fn needs(&self) -> &'static str {
        "ten requests"
    }

    /// The questions that no figure of this kind answers, beside those that no report answers; none if there are
    /// none.
    fn limits(&self) -> Option<&'static str> {
        None
    }

    /// The facts about a run that a reader needs to judge figures of this kind.
    fn facts(&self, _: &Record) -> Vec<Fact> {
        Vec::new()
    }

    /// A column of the main table that is no metric; none if the kind has none.
    fn column(&self, _: &Record, _: &[&Cell], _: &Point) -> Option<Filled> {
        None
    }

    /// A line for each cell, in the format that the source of the experiment used. Empty if the kind has no such
    /// format.
    fn source_lines(&self, _: &Record, _: &[&Cell]) -> Vec<String> {
        Vec::new()
    }

    /// True of a metric that gets a chart over the x axis. By default, those of the main table other than CPU use and
    /// threads.
    fn is_drawn(&self, metric: &Metric) -> bool {
        !metric.is_detail && !has_role(metric, &["cpu", "threads"])
    }

    /// The kind's chapters as text.
    fn chapters(&self, _: &Record, _: &Groups) -> Vec<Chapter> {
        Vec::new()
    }

    /// The kind's chapters as parts of a page.
    fn page(&self, _: &Record, _: &Groups) -> Vec<PageChapter> {
        Vec::new()
    }

    /// Names and texts of the templates that the kind's chapters on a page use.
    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The title of the chapter on failures.
    fn failures(&self) -> &'static str {
        "Failures"
    }

    /// The table of failures within trials that count; none if the kind has no such table, or leaves an empty one
    /// out.
    fn failed(&self, _: &Record, _: &Groups) -> Option<Failed> {
        None
    }

    /// Disturbances of the contenders, for each point that has any.
    fn disturbances(&self, _: &Record, _: &Groups) -> Vec<Disturbed> {
        Vec::new()
    }

    /// Pictures of the disturbances, one entry for each point that has any.
    fn disturbance_pictures(&self, _: &Record, _: &Groups) -> Vec<DisturbedPictures> {
        Vec::new()
    }
}

/// A kind that this version of kumite does not know.
struct Unknown;

impl KindReport for Unknown {
    fn name(&self) -> &'static str {
        ""
    }
}

fn has_role(metric: &Metric, roles: &[&str]) -> bool {
    metric.role.as_deref().is_some_and(|role| roles.contains(&role))
}
