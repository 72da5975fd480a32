//! Conditions that every page meets, as a browser reads it and as XML.

use std::sync::LazyLock;

use kumite_record::Probe;
use kumite_report::html;
use scraper::node::Element;
use scraper::{ElementRef, Html, Selector};

use crate::fixture;

/// The sections there are, in reading order.
const SECTIONS: [&str; 19] = [
    "red",
    "verdicts",
    "checks",
    "measurements",
    "by-step",
    "calls",
    "pacing",
    "percentiles",
    "time",
    "threads",
    "jobs",
    "failures",
    "noise",
    "machine",
    "published",
    "absent",
    "versions",
    "warnings",
    "method",
];
const CSS: &str = include_str!("../../src/page/report.css");
const SCRIPT: &str = include_str!("../../src/kinds/http/explorer.js");

/// The page of many trials with time series: made once, for it takes long.
pub fn sparse() -> &'static str {
    static PAGE: LazyLock<String> = LazyLock::new(|| html(&fixture::sparse()));
    &PAGE
}

/// As XML.
pub fn parsed(page: &str) -> roxmltree::Document<'_> {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    roxmltree::Document::parse_with_options(page, options).unwrap_or_else(|error| panic!("{error}\n{page}"))
}

/// Asserts all that holds for every page; says how many charts and tables it has.
pub fn accessible(page: &str) -> (usize, usize) {
    let html = Html::parse_document(page);
    assert!(html.errors.is_empty(), "{:?}", html.errors);
    let names: Vec<&str> = all(&html, "*").iter().map(|node| node.value().name()).collect();
    let xml = parsed(page);
    let as_xml: Vec<&str> =
        xml.descendants().filter(|node| node.is_element()).map(|node| node.tag_name().name()).collect();
    assert_eq!(names, as_xml, "a browser reads what an XML parser reads");

    ids_and_links(&html);
    sections(&html);
    headings(&html);
    nothing_from_elsewhere(&html);
    let charts = all(&html, "svg:not(.plot)");
    charts.iter().for_each(chart);
    let tables = all(&html, "table:not(#steps)");
    tables.iter().for_each(table);
    (charts.len(), tables.len())
}

/// Asserts all that holds for a page of one sheet; says how many charts it has.
pub fn leaf(page: &str) -> usize {
    let html = Html::parse_document(page);
    assert!(html.errors.is_empty(), "{:?}", html.errors);
    parsed(page);
    ids_and_links(&html);
    headings(&html);
    assert_eq!(all(&html, "h1").len(), 1, "only the title is a heading");
    let charts = all(&html, "svg");
    charts.iter().for_each(chart);
    charts.len()
}

fn all<'a>(html: &'a Html, what: &str) -> Vec<ElementRef<'a>> {
    html.select(&Selector::parse(what).unwrap()).collect()
}

fn within<'a>(node: &ElementRef<'a>, what: &str) -> Vec<ElementRef<'a>> {
    node.select(&Selector::parse(what).unwrap()).collect()
}

fn text(node: &ElementRef) -> String {
    node.text().collect()
}

/// The texts of the elements that a selector finds, each as a browser shows it: white space is one space.
pub fn texts(page: &str, what: &str) -> Vec<String> {
    all(&Html::parse_document(page), what).iter().map(one_line).collect()
}

fn one_line(node: &ElementRef) -> String {
    text(node).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A section as somebody hears it who does not see its charts and tables: a line for each paragraph, caption and
/// description.
pub fn heard(page: &str, section: &str) -> String {
    let html = Html::parse_document(page);
    let [section] = all(&html, &format!("section[aria-labelledby={section}]"))[..] else {
        panic!("{section}")
    };
    let lines = within(&section, "h2, h3, h4, p, dt, dd, figcaption, desc");
    lines.iter().map(|node| one_line(node) + "\n").collect()
}

fn ids_and_links(html: &Html) {
    let ids: Vec<&str> = all(html, "[id]").iter().filter_map(|node| node.attr("id")).collect();
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "an id is used twice");
    for link in all(html, "[href]").iter().filter_map(|node| node.attr("href")) {
        let id = link.strip_prefix('#').unwrap_or_else(|| panic!("{link} leads out of the page"));
        assert!(ids.contains(&id), "{link} leads nowhere");
    }
    for id in all(html, "[aria-labelledby]").iter().filter_map(|node| node.attr("aria-labelledby")) {
        assert!(id.split(' ').all(|id| ids.contains(&id)), "{id} names nothing");
    }
}

/// Each is named by its heading; the links below the verdicts lead to the others in their order.
fn sections(html: &Html) {
    let name = |node: &ElementRef| {
        let id = node.attr("aria-labelledby").expect("a section has a name").to_owned();
        let heading = within(node, ":scope > h2, :scope > details > summary > h2")[0];
        assert_eq!(heading.attr("id"), Some(&*id));
        id
    };
    let found: Vec<String> = all(html, "main > section").iter().map(name).collect();
    assert_eq!(all(html, "section, h2").len(), 2 * found.len(), "none is in another one");
    let known: Vec<&str> = SECTIONS.into_iter().filter(|id| found.iter().any(|found| found == id)).collect();
    assert_eq!(found, known);
    let first = usize::from(known[0] == "red");
    let checks = usize::from(known.contains(&"checks"));
    assert_eq!((known[first], known[first + checks + 1]), ("verdicts", "measurements"));
    assert_eq!(found.last().map(String::as_str), Some("method"));
    let links: Vec<String> =
        all(html, "nav a").iter().map(|node| node.attr("href").unwrap()[1..].to_owned()).collect();
    let linked: Vec<String> = found.into_iter().filter(|id| links.contains(id)).collect();
    assert_eq!(links, linked);
}

fn headings(html: &Html) {
    let mut level = 0;
    let levels = all(html, "h1, h2, h3, h4, h5, h6");
    for heading in &levels {
        let next: usize = heading.value().name()[1..].parse().unwrap();
        assert!(next <= level + 1 && (next == 1) == (level == 0), "h{next} after h{level}");
        assert!(!text(heading).trim().is_empty());
        level = next;
    }
    assert!(level > 0);
}

/// No element and no attribute that fetches something; style and script are ours, as they are in our files.
fn nothing_from_elsewhere(html: &Html) {
    const FETCH: &str = "link, base, img, iframe, frame, object, embed, audio, video, source, track, form, image, use, \
                         foreignObject, [src], [srcset], [data], [action], [formaction], [poster], [ping], [background], \
                         [style], [http-equiv]";
    assert!(all(html, FETCH).is_empty(), "{:?}", all(html, FETCH)[0].value());
    let is_handler = |element: &Element| element.attrs().any(|(name, _)| name.starts_with("on"));
    assert!(!all(html, "*").iter().any(|node| is_handler(node.value())));
    assert_eq!(all(html, "style").iter().map(text).collect::<String>().trim(), CSS.trim());
    let scripts = all(html, "script");
    if !scripts.is_empty() {
        let [data, script] = &scripts[..] else { panic!("{} scripts", scripts.len()) };
        assert_eq!((data.attr("type"), data.attr("id")), (Some("application/json"), Some("trials")));
        serde_json::from_str::<serde_json::Value>(&text(data)).unwrap();
        assert_eq!(script.value().attrs().count(), 0);
        let script = text(script);
        let ours = script.trim().strip_prefix("//<![CDATA[").unwrap().strip_suffix("//]]>").unwrap();
        assert_eq!(ours.trim(), SCRIPT.trim());
    }
}

/// A picture to those who see it, and a title and a description to all.
fn chart(chart: &ElementRef) {
    assert_eq!(chart.attr("role"), Some("img"));
    let named: Vec<&str> = chart.attr("aria-labelledby").unwrap().split(' ').collect();
    let first: Vec<ElementRef> = chart.child_elements().take(2).collect();
    assert_eq!(first.iter().map(|node| node.value().name()).collect::<Vec<_>>(), ["title", "desc"]);
    assert_eq!(first.iter().filter_map(|node| node.attr("id")).collect::<Vec<_>>(), named);
    assert!(first.iter().all(|node| !text(node).trim().is_empty()), "{named:?}");
}

/// With a caption; with a header for each column and each row, and an entry for each of both.
fn table(table: &ElementRef) {
    let [caption] = within(table, "caption")[..] else { panic!("one caption") };
    let caption = text(&caption);
    assert!(!caption.trim().is_empty());
    let columns = within(table, "thead > tr > th[scope=col]").len();
    let rows = within(table, "tbody > tr");
    assert!(columns > 0 && within(table, "thead > tr > *").len() == columns, "{caption}");
    for row in &rows {
        let entries: Vec<&str> = row.child_elements().map(|entry| entry.value().name()).collect();
        assert!(entries.len() == columns && entries[0] == "th", "{caption}: {entries:?}");
        assert!(entries[1..].iter().all(|name| *name == "td"), "{caption}: {entries:?}");
    }
    assert_eq!(within(table, "tbody > tr > th[scope=row]").len(), rows.len());
}

#[test]
fn a_page_has_its_charts_and_tables_and_no_script_with_nothing_to_show() {
    let page = html(&fixture::export());
    // Five metrics over connections, and percentiles at each of four points. An overview, two tables for each point,
    // percentiles for each, and the noise.
    assert_eq!(accessible(&page), (5 + 4, 1 + 4 * 2 + 4 + 1));
    assert!(all(&Html::parse_document(&page), "script").is_empty());
}

#[test]
fn a_page_with_time_series_has_one_script_and_its_data() {
    let html = Html::parse_document(sparse());
    assert_eq!(all(&html, "script").len(), 2);
    assert_eq!(all(&html, "body > script:not([type])").len(), 1);
    assert_eq!(all(&html, "body > script[type='application/json']").len(), 1);
}

#[test]
fn an_empty_run_is_a_page_too() {
    let page = html(&fixture::empty());
    assert_eq!(accessible(&page), (0, 0));
    assert_eq!(texts(&page, ".cut-short"), ["⚠ Cut short: interrupted before the first trial ended"]);
}

#[test]
fn what_the_machine_charged_has_a_chart_for_each_probe_that_there_is() {
    let mut export = fixture::export();
    let (charts, tables) = accessible(&html(&export));
    for (nth, trial) in export.trials.iter_mut().enumerate() {
        for probe in [Probe::WakeUp, Probe::Chase] {
            trial.sample.metrics.insert(probe.name().to_owned(), 5.0 + nth as f64);
        }
    }
    assert_eq!(accessible(&html(&export)), (charts + 2, tables));
}
