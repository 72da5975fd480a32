//! The report of a run as one page that fetches nothing: style, charts and data are in the file.

use kumite_record::Export;
use minijinja::context;
use minijinja::value::Serde;

use crate::charts::forest::Forest;
use crate::document::{Document, FROM_ELSEWHERE};
use crate::kinds::kind_of;
use crate::page::{CSS, page};
use crate::pictures::Pictures;
use crate::record::Record;
use crate::summary::doubts;
use crate::tables::failure::NOT_RECOVERED;
use crate::tables::group::Groups;

const TEMPLATES: [(&str, &str); 4] = [
    ("report.html", include_str!("page/report.html")),
    ("forest.html", include_str!("page/forest.html")),
    ("measurements.html", include_str!("page/measurements.html")),
    ("line-charts.html", include_str!("page/line-charts.html")),
];

/// The report as one self-contained page: it needs no network, and has a light and a dark look. Its only script shows
/// the time series of the trial that the reader chooses.
pub fn html(export: &Export) -> String {
    let (record, groups) = (Record::new(export), Groups::new(export));
    let document = Document::new(&record, &groups);
    let doubts = doubts(export, &document);
    let templates = [&TEMPLATES, kind_of(&record).templates()].concat();
    page(
        &templates,
        context! {
            title => format!("{}: {}", document.experiment, document.question),
            css => CSS,
            document => Serde(document),
            doubts => doubts,
            forest => Serde(Forest::new(export)),
            pictures => Serde(Pictures::new(&record, &groups)),
            not_recovered => NOT_RECOVERED,
            chapters => Serde(kind_of(&record).page(&record, &groups)),
            from_elsewhere => FROM_ELSEWHERE,
        },
    )
}
