//! What a report shows for one kind of workload alone. The kinds are registered here, each has a file of its own, and
//! nothing else in this crate knows one.

pub mod chapter;
mod command;
mod function;
mod http;
mod pacing;
mod task;

use kumite_record::{Cell, Metric, Point};

use crate::record::Record;
use crate::tables::cells::Filled;
use crate::tables::facts::Fact;
use crate::tables::failure::{Disturbed, Failed};
use crate::tables::group::Groups;
use chapter::{Chapter, DisturbedPictures, PageChapter};

const KINDS: [&dyn KindReport; 5] =
    [&http::Http, &task::Task, &function::Function, &pacing::Pacing, &command::Command];

/// The kind of a record, or one that says only what is true of all.
pub fn kind_of(record: &Record) -> &'static dyn KindReport {
    let name = record.export.run.kind.as_str();
    KINDS.into_iter().find(|kind| kind.name() == name).unwrap_or(&Unknown)
}

/// What a report shows for a kind of workload; without an answer of its own, what is true of all.
pub trait KindReport: Sync {
    /// The word of the record.
    fn name(&self) -> &'static str;

    /// What is at work beside the contenders.
    fn engine(&self) -> &'static str {
        "kumite"
    }

    /// What one must know to read the tables.
    fn reading(&self) -> Option<&'static str> {
        None
    }

    /// What figures are of, where trials say whether they were steady.
    fn steady(&self) -> &'static str {
        "Figures are of the part of each trial that was steady, or of all of it where no part was; the column “over time” says whether one was."
    }

    /// What must lie beyond a percentile in every trial.
    fn needs(&self) -> &'static str {
        "ten requests"
    }

    /// What no figure of its reports says, beside what no figure of any report does.
    fn limits(&self) -> Option<&'static str> {
        None
    }

    /// What one needs to know to doubt its figures.
    fn facts(&self, _: &Record) -> Vec<Fact> {
        Vec::new()
    }

    /// A column of the main table that is no metric.
    fn column(&self, _: &Record, _: &[&Cell], _: &Point) -> Option<Filled> {
        None
    }

    /// Each cell in the form that the source of its experiments used.
    fn source_lines(&self, _: &Record, _: &[&Cell]) -> Vec<String> {
        Vec::new()
    }

    /// Whether a metric has a chart over the x axis: it is in the main table, and what is there does not say it already.
    fn is_drawn(&self, metric: &Metric) -> bool {
        !metric.is_detail && !has_role(metric, &["cpu", "threads"])
    }

    /// Its chapters as text.
    fn chapters(&self, _: &Record, _: &Groups) -> Vec<Chapter> {
        Vec::new()
    }

    /// Its chapters on a page.
    fn page(&self, _: &Record, _: &Groups) -> Vec<PageChapter> {
        Vec::new()
    }

    /// The templates of these.
    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// What the chapter on failures is called.
    fn failures(&self) -> &'static str {
        "Failures"
    }

    /// What failed within trials that count.
    fn failed(&self, _: &Record, _: &Groups) -> Option<Failed> {
        None
    }

    /// What was done to the contenders, at each point where anything was.
    fn disturbances(&self, _: &Record, _: &Groups) -> Vec<Disturbed> {
        Vec::new()
    }

    /// Pictures of the same.
    fn disturbance_pictures(&self, _: &Record, _: &Groups) -> Vec<DisturbedPictures> {
        Vec::new()
    }
}

/// One that this report has never heard of.
struct Unknown;

impl KindReport for Unknown {
    fn name(&self) -> &'static str {
        ""
    }
}

/// Whether a metric has one of these roles.
fn has_role(metric: &Metric, roles: &[&str]) -> bool {
    metric.role.as_deref().is_some_and(|role| roles.contains(&role))
}
