//! The page of one record, section by section: what each says, then its charts, then its tables.

use std::ops::Range;

use kumite_report::html;
use roxmltree::Node;

use crate::fixture;
use crate::page::parsed;

/// A section's own words, its charts, and its tables, each as it is written.
#[derive(Default)]
struct Parts {
    words: String,
    charts: String,
    tables: String,
}

impl Parts {
    fn new(page: &str, section: Node) -> Parts {
        let mut parts = Parts::default();
        let mut rest = section.range();
        for node in section.descendants() {
            let (place, to) = if node.tag_name().name() == "figure" {
                ("[chart]", &mut parts.charts)
            } else if node.attribute("class") == Some("scroll") {
                ("[table]", &mut parts.tables)
            } else {
                continue;
            };
            let Range { start, end } = node.range();
            assert!(rest.start <= start, "none is in another one");
            *to += &format!("{}\n\n", &page[start..end]);
            parts.words += &page[rest.start..start];
            parts.words += place;
            rest.start = end;
        }
        parts.words += &page[rest];
        parts
    }
}

/// The elements directly in the page, by name: `header`, the verdicts, `nav`, then the other sections.
fn sections(page: &str) -> Vec<(String, Parts)> {
    let document = parsed(page);
    let main = document.descendants().find(|node| node.tag_name().name() == "main").unwrap();
    let name = |node: &Node| node.attribute("aria-labelledby").unwrap_or(node.tag_name().name()).to_owned();
    let elements = main.children().filter(Node::is_element);
    elements.map(|node| (name(&node), Parts::new(page, node))).collect()
}

#[test]
fn each_section_says_what_was_reviewed() {
    let page = html(&fixture::export());
    let sections = sections(&page);
    let names: Vec<&str> = sections.iter().map(|(name, _)| &**name).collect();
    assert_eq!(
        names,
        [
            "header",
            "verdicts",
            "nav",
            "measurements",
            "percentiles",
            "failures",
            "noise",
            "absent",
            "versions",
            "warnings",
            "method"
        ]
    );
    for (name, parts) in &sections {
        insta::assert_snapshot!(format!("{name}"), parts.words);
        for (kind, text) in [("charts", &parts.charts), ("tables", &parts.tables)] {
            if !text.is_empty() {
                insta::assert_snapshot!(format!("{name}_{kind}"), text);
            }
        }
    }
}
