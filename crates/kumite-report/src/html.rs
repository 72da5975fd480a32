use kumite_record::Export;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, context};

use crate::disturbance::NOT_RECOVERED;
use crate::document::{Document, FROM_ELSEWHERE};
use crate::forest::Forest;
use crate::group::Groups;
use crate::pictures::Pictures;
use crate::record::Record;

/// Their names' endings turn escaping on: each is written so that it is XML, too.
const TEMPLATES: [(&str, &str); 9] = [
    ("report.html", include_str!("page/report.html")),
    ("forest.html", include_str!("page/forest.html")),
    ("measurements.html", include_str!("page/measurements.html")),
    ("table.html", include_str!("page/table.html")),
    ("lanes.html", include_str!("page/lanes.html")),
    ("line-chart.html", include_str!("page/line-chart.html")),
    ("line-charts.html", include_str!("page/line-charts.html")),
    ("row-chart.html", include_str!("page/row-chart.html")),
    ("timeline.html", include_str!("page/timeline.html")),
];

/// The report as one self-contained page: no network, light and dark; its only script shows the time series of a trial that
/// the reader chooses.
pub fn html(export: &Export) -> String {
    let (record, groups) = (Record::of(export), Groups::of(export));
    let page = || -> Result<String, minijinja::Error> {
        let mut templates = Environment::new();
        templates.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        for (name, text) in TEMPLATES.iter().chain(record.kind.templates()) {
            templates.add_template(name, text)?;
        }
        templates.get_template("report.html")?.render(context! {
            document => Serde(Document::of(&record, &groups)),
            forest => Serde(Forest::of(export)),
            pictures => Serde(Pictures::of(&record, &groups)),
            not_recovered => NOT_RECOVERED,
            chapters => Serde(record.kind.page(&record, &groups)),
            from_elsewhere => FROM_ELSEWHERE,
            css => include_str!("page/report.css"),
        })
    };
    page().expect("the templates are part of the program and its tests render them")
}
