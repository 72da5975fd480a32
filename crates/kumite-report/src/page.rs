//! Pages made from templates: those below `page/`, and those of single kinds of workload.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, Value};

/// Templates that any page may include. The head uses `title` and `css` of its context; charts use `chart`.
const COMMON: [(&str, &str); 8] = [
    ("head.html", include_str!("page/head.html")),
    ("table.html", include_str!("page/table.html")),
    ("frame.html", include_str!("page/frame.html")),
    ("lanes.html", include_str!("page/lanes.html")),
    ("line-chart.html", include_str!("page/line-chart.html")),
    ("row-chart.html", include_str!("page/row-chart.html")),
    ("strip.html", include_str!("page/strip.html")),
    ("timeline.html", include_str!("page/timeline.html")),
];
/// The style sheet of all pages.
pub(crate) const CSS: &str = include_str!("page/report.css");

/// Renders the first of `templates`, which may include the others and those of `COMMON`. The endings of their names
/// turn escaping on; each is written so that the page is XML, too. Panics if a template is wrong.
pub(crate) fn page(templates: &[(&'static str, &'static str)], context: Value) -> String {
    let page = || -> Result<String, Error> {
        let mut known = Environment::new();
        known.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        for (name, text) in templates.iter().chain(&COMMON) {
            known.add_template(name, text)?;
        }
        known.get_template(templates[0].0)?.render(context)
    };
    page().expect("the templates are part of the program and its tests render them")
}
