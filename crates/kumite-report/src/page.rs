//! Pages from the templates below `page/`.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, Value};

/// The head of every page. Of its context it shows `title` and `css`.
const HEAD: (&str, &str) = ("head.html", include_str!("page/head.html"));
/// How they look.
pub(crate) const CSS: &str = include_str!("page/report.css");

/// The first of these templates, which may include the others. Their names' endings turn escaping on: each is written so that
/// it is XML, too.
pub(crate) fn page(templates: &[(&'static str, &'static str)], context: Value) -> String {
    let page = || -> Result<String, Error> {
        let mut known = Environment::new();
        known.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        for (name, text) in templates.iter().chain([&HEAD]) {
            known.add_template(name, text)?;
        }
        known.get_template(templates[0].0)?.render(context)
    };
    page().expect("the templates are part of the program and its tests render them")
}
