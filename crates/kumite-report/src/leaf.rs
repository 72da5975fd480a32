//! The page of one sheet for a comparison, for a load, and for two runs beside each other.

use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use crate::charts::strip::StripChart;
use crate::charts::{RowChart, Timeline};
use crate::page::{CSS, page};

/// The contents of the page, in the order from top to bottom.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Leaf {
    pub title: String,
    /// Doubts, which stand above the answer.
    pub alarms: Vec<String>,
    /// The sentences of the answer, a paragraph each.
    pub sentences: Vec<String>,
    pub ratios: Option<RowChart>,
    pub strip: Option<StripChart>,
    pub tables: Vec<Table>,
    pub bars: Vec<Bar>,
    pub series: Option<Timeline>,
    pub notes: Vec<String>,
    /// The command that repeats the measurement; empty if there is none.
    pub command: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Table {
    pub heads: Vec<Head>,
    pub rows: Vec<Vec<String>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Head {
    pub text: String,
    /// True of a column of figures, which are aligned to the right.
    pub figures: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct Bar {
    pub label: String,
    pub number: String,
    pub percent: f64,
}

impl Table {
    pub(crate) fn from_rows((heads, rows): (Vec<(String, bool)>, Vec<Vec<String>>)) -> Table {
        let heads = heads.into_iter().map(|(text, figures)| Head { text, figures });
        Table { heads: heads.collect(), rows }
    }
}

pub(crate) fn leaf(leaf: &Leaf) -> String {
    let templates = [("leaf.html", include_str!("page/leaf.html"))];
    page(&templates, context! { title => &leaf.title, css => CSS, leaf => Serde(leaf) })
}
