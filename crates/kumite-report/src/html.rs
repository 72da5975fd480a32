use kumite_record::Export;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, context};

use crate::chart::chart_groups;
use crate::document::Document;

/// The report as one self-contained page: no script, no network, light and dark.
pub fn html(export: &Export) -> String {
    let page = || -> Result<String, minijinja::Error> {
        let mut templates = Environment::new();
        templates.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        // The names' endings turn escaping on: both files are written so that they are XML, too.
        templates.add_template("report.html", include_str!("report.html"))?;
        templates.add_template("chart.html", include_str!("chart.html"))?;
        templates.get_template("report.html")?.render(context! {
            document => Serde(Document::of(export)),
            chart_groups => Serde(chart_groups(export)),
            css => include_str!("report.css"),
        })
    };
    page().expect("the templates are part of the program and its tests render them")
}
