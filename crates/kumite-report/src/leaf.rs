//! A page of one sheet: what `kumite compare` and `kumite load` write as HTML.

use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use crate::charts::tenth;
use crate::page::{CSS, page};

/// The contents of the page, from above.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Leaf {
    pub title: String,
    /// Doubts that come before the answer.
    pub alarms: Vec<String>,
    /// The answer.
    pub sentences: Vec<String>,
    pub strip: Option<Strip>,
    pub tables: Vec<Table>,
    pub bars: Vec<Bar>,
    pub notes: Vec<String>,
    /// The command that repeats it.
    pub command: String,
}

/// Values as dots on a line, a row for each of those that are compared.
#[derive(Debug, Serialize)]
pub(crate) struct Strip {
    pub caption: String,
    pub rows: Vec<StripRow>,
    /// Labels of both ends of the scale.
    pub from: String,
    pub to: String,
}

/// A row, with places from 0 to 600.
#[derive(Debug, Serialize)]
pub(crate) struct StripRow {
    pub label: String,
    pub description: String,
    pub points: Vec<f64>,
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Table {
    pub heads: Vec<Head>,
    pub rows: Vec<Vec<String>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Head {
    pub text: String,
    /// True of a column of figures, which are aligned at the right.
    pub figures: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct Bar {
    pub label: String,
    pub number: String,
    pub percent: f64,
}

/// Of a scale, which is as wide as the page.
pub(crate) const STRIP_WIDTH: f64 = 600.0;

impl Table {
    pub(crate) fn from_rows((heads, rows): (Vec<(String, bool)>, Vec<Vec<String>>)) -> Table {
        let heads = heads.into_iter().map(|(text, figures)| Head { text, figures });
        Table { heads: heads.collect(), rows }
    }
}

/// Where a value stands, from 0 to [`STRIP_WIDTH`].
pub(crate) fn place(value: f64, from: f64, to: f64) -> f64 {
    let share = if to > from { ((value - from) / (to - from)).clamp(0.0, 1.0) } else { 0.5 };
    tenth(STRIP_WIDTH * share)
}

pub(crate) fn leaf(leaf: &Leaf) -> String {
    let templates = [("leaf.html", include_str!("page/leaf.html"))];
    page(&templates, context! { title => &leaf.title, css => CSS, leaf => Serde(leaf) })
}
