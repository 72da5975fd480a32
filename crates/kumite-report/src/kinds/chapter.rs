//! Chapters that a report has for one kind of workload alone.

use minijinja::value::{Serde, Value};
use serde::Serialize;

use crate::charts::{RowChart, Timelines};
use crate::tables::cells::{Overview, Table};

/// A chapter of a report as text.
#[derive(Debug)]
pub struct Chapter {
    pub title: &'static str,
    /// A sentence below the title; none if the title says enough.
    pub about: Option<&'static str>,
    pub points: Vec<ChapterPoint>,
}

/// A chapter's part on one point.
#[derive(Debug, Serialize)]
pub struct ChapterPoint {
    /// The point, in the words that name it among all points.
    pub place: String,
    /// Tables of contenders by the axis within trials, short enough for a terminal.
    pub overviews: Vec<Overview>,
    /// A sentence on how to read the tables; none if they need none.
    pub note: Option<&'static str>,
    pub table: Option<Table>,
    /// The label of the table where it is folded; none if it has no label.
    pub summary: Option<&'static str>,
}

/// A chapter of a report as part of a page.
#[derive(Debug, Serialize)]
pub struct PageChapter {
    pub id: &'static str,
    /// The chapter's name in the contents of the page.
    pub link: &'static str,
    pub template: &'static str,
    /// The values that the template shows.
    pub shown: Value,
    pub script: Option<Script>,
}

/// A script with its data, with which the reader chooses what is shown.
#[derive(Debug, Serialize)]
pub struct Script {
    pub data: Value,
    pub text: &'static str,
}

impl PageChapter {
    /// A chapter that shows each value of `shown` in turn, and has no script. None if `shown` is empty.
    pub fn new<T: Serialize>(
        id: &'static str,
        link: &'static str,
        template: &'static str,
        shown: &[T],
    ) -> Option<PageChapter> {
        let chapter = PageChapter { id, link, template, shown: Value::from(Serde(shown)), script: None };
        (!shown.is_empty()).then_some(chapter)
    }
}

/// The pictures of a disturbance: how long recovery took, and one trial of each contender over time.
#[derive(Debug, Serialize)]
pub struct DisturbedPictures {
    pub rows: Option<RowChart>,
    pub timelines: Timelines,
}
