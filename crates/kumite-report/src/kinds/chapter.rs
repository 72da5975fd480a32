//! Chapters that a report has for one kind of workload alone.

use minijinja::value::{Serde, Value};
use serde::Serialize;

use crate::charts::{RowChart, Timelines};
use crate::tables::cells::{Overview, Table};

/// A chapter of text.
#[derive(Debug)]
pub struct Chapter {
    pub title: &'static str,
    /// What it is about, where its title does not say it.
    pub about: Option<&'static str>,
    pub points: Vec<ChapterPoint>,
}

/// What it says of a point.
#[derive(Debug, Serialize)]
pub struct ChapterPoint {
    /// The point among all.
    pub place: String,
    /// What a terminal has room for, too: contenders by what is swept within trials.
    pub overviews: Vec<Overview>,
    /// How to read these.
    pub note: Option<&'static str>,
    pub table: Option<Table>,
    /// What the table is called, if it is to be unfolded.
    pub summary: Option<&'static str>,
}

/// A chapter of a page.
#[derive(Debug, Serialize)]
pub struct PageChapter {
    pub id: &'static str,
    /// How the page's contents call it.
    pub link: &'static str,
    pub template: &'static str,
    /// What its template shows.
    pub shown: Value,
    pub script: Option<Script>,
}

/// What makes a chapter answer to its reader.
#[derive(Debug, Serialize)]
pub struct Script {
    pub data: Value,
    pub text: &'static str,
}

impl PageChapter {
    /// One that shows each of these in its turn; none where there is nothing.
    pub fn of<T: Serialize>(
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
