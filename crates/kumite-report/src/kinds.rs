//! The part of a report that only one kind of workload has. The kinds are registered here, each has a file of its
//! own, and nothing else in this crate knows one.

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

/// The part of a report that is a kind's own. Each answer that a kind does not give itself is one that is true of
/// all.
pub trait KindReport: Sync {
    /// The word of the record.
    fn name(&self) -> &'static str;

    /// The program at work beside the contenders.
    fn engine(&self) -> &'static str {
        "kumite"
    }

    /// A sentence that a reader of the tables needs.
    fn reading(&self) -> Option<&'static str> {
        None
    }

    /// The sentence on the time that figures are of, where trials say whether they were steady.
    fn steady(&self) -> &'static str {
        "Figures are of the part of each trial that was steady, or of all of it where no part was; the column “over time” says whether one was."
    }

    /// The number of values that must lie beyond a percentile in every trial.
    fn needs(&self) -> &'static str {
        "ten requests"
    }

    /// The questions that no figure of its reports answers, beside those that no report's do.
    fn limits(&self) -> Option<&'static str> {
        None
    }

    /// Facts without which nobody could doubt its figures.
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

    /// True of a metric with a chart over the x axis: it is in the main table, and no other chart shows it already.
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

    /// The title of the chapter on failures.
    fn failures(&self) -> &'static str {
        "Failures"
    }

    /// Failures within trials that count.
    fn failed(&self, _: &Record, _: &Groups) -> Option<Failed> {
        None
    }

    /// Disturbances of the contenders, for each point that has any.
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

fn has_role(metric: &Metric, roles: &[&str]) -> bool {
    metric.role.as_deref().is_some_and(|role| roles.contains(&role))
}
