//! Chapters that a report has for one kind of workload alone.

use minijinja::value::{Serde, Value};
use serde::Serialize;

use crate::charts::{RowChart, Timelines};
use crate::tables::cells::{Overview, Table};

/// A chapter of text.
#[derive(Debug)]
pub struct Chapter {
    pub title: &'static str,
    /// A sentence below the title, where the title does not say enough.
    pub about: Option<&'static str>,
    pub points: Vec<ChapterPoint>,
}

/// A chapter's part on one point.
#[derive(Debug, Serialize)]
pub struct ChapterPoint {
    /// The point among all.
    pub place: String,
    /// Contenders by the axis within trials: short enough for a terminal, too.
    pub overviews: Vec<Overview>,
    /// How to read these.
    pub note: Option<&'static str>,
    pub table: Option<Table>,
    /// The label of the table that is unfolded, if it is.
    pub summary: Option<&'static str>,
}

/// A chapter of a page.
#[derive(Debug, Serialize)]
pub struct PageChapter {
    pub id: &'static str,
    /// How the page's contents call it.
    pub link: &'static str,
    pub template: &'static str,
    /// The value that its template shows.
    pub shown: Value,
    pub script: Option<Script>,
}

/// A script with its data, by which a reader chooses.
#[derive(Debug, Serialize)]
pub struct Script {
    pub data: Value,
    pub text: &'static str,
}

impl PageChapter {
    /// One that shows each of these in its turn; none where there is nothing.
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

/// How long recovery took, and one trial of each contender over time.
#[derive(Debug, Serialize)]
pub struct DisturbedPictures {
    pub rows: Option<RowChart>,
    pub timelines: Timelines,
}
