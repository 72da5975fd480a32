//! Pages from the templates below `page/`.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, Value};

/// Any page may include these. The head shows `title` and `css` of its context; charts show `chart`.
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
/// How they look.
pub(crate) const CSS: &str = include_str!("page/report.css");

/// The first of these templates, which may include the others. Their names' endings turn escaping on: each is written so that
/// it is XML, too.
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
