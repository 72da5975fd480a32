//! The whole report of a run for a terminal. Verdicts come first, and once more at the end, where readers see them.

use anstyle::AnsiColor;
use comfy_table::CellAlignment;
use kumite_record::Export;

use crate::document::{Document, FROM_ELSEWHERE};
use crate::kinds::chapter::ChapterPoint;
use crate::kinds::kind_of;
use crate::record::Record;
use crate::style::{Style, color};
use crate::summary;
use crate::tables::cells::{GroupTables, Overview, PointTables, Table};
use crate::tables::failure::{Failed, Failures, NOT_RECOVERED};
use crate::tables::grid::grid;
use crate::tables::group::Groups;
use crate::tables::published::PublishedText;
use crate::words::control::ControlText;
use crate::words::gate::last_line;
use crate::words::verdict::VerdictText;

/// The report of a run for a terminal. No line is wider than `style` says, except commands, which are to be copied,
/// and the answer of a gate, which programs find.
pub fn terminal(export: &Export, style: &Style) -> String {
    let (record, groups, style) = (Record::new(export), Groups::new(export), *style);
    let document = Document::new(&record, &groups);
    let mut out = head_lines(&document, style);
    out += &check_lines(&document, style);
    out += &heading("verdicts", style);
    out += &style.wrap(&document.tally, 0);
    for verdict in &document.verdicts {
        out += &format!("\n{}", verdict_lines(verdict, style));
    }

    out += &heading("measurements", style);
    out += &style.wrap(&document.reading, 0);
    out += &document.no_groups.map_or(String::new(), |text| style.wrap(text, 0));
    for group in &document.groups {
        out += &group_lines(group, style);
    }
    for point in kind_of(&record).chapters(&record, &groups).iter().flat_map(|chapter| &chapter.points) {
        out += &chapter_lines(point, style);
    }
    out += &failure_lines(&document.failures, style);
    if let Some(published) = &document.published {
        out += &published_lines(published, style);
    }

    if !document.absent.is_empty() {
        out += &heading("not measured", style);
        for absent in &document.absent {
            out += &labelled(&format!("{} {}", absent.name, absent.status), &absent.reason, style);
        }
    }
    if !document.versions.is_empty() {
        out += &heading("versions", style);
        for version in &document.versions {
            out += &labelled(&version.name, &version.version, style);
        }
    }
    if !document.warnings.is_empty() {
        out += &heading("warnings", style);
        for warning in &document.warnings {
            out += &labelled(&format!("! {}", warning.place), &warning.what, style);
        }
    }
    out += &heading("how this was measured", style);
    for fact in &document.facts {
        out += &labelled(fact.name, &fact.text, style);
    }
    out += &labelled("not in any figure here", &document.limits, style);
    out += &format!("again: {}\n", document.command);
    if !export.claims.is_empty() {
        out += &heading("verdicts, once more", style);
        out += &summary::verdict_lines(export, &document, style);
    }
    out + &last_line(export, style)
}

fn head_lines(document: &Document, style: Style) -> String {
    let mut lines = style.bold(&style.wrap(&format!("{}: {}", document.experiment, document.question), 0));
    if let Some(source) = &document.source {
        lines += &style.wrap(&format!("source: {source}"), 0);
    }
    if let Some(reason) = &document.cut_short {
        let alarm = AnsiColor::Yellow.on_default().bold();
        lines += &format!("\n{}", style.paint(alarm, &style.wrap(&format!("! CUT SHORT: {reason}"), 0)));
    }
    if let Some(resumed) = &document.resumed {
        lines += &format!("\n{}", style.wrap(&format!("! {resumed}"), 0));
    }
    if let Some(ControlText { is_off, said }) = &document.control {
        let alarm = AnsiColor::Yellow.on_default().bold();
        lines += &match is_off {
            true => style.paint(alarm, &style.wrap(&format!("! {said}"), 0)),
            false => style.wrap(said, 0),
        };
    }
    lines
}

/// The lines on checks that are red or were not tested. Green ones are only counted.
fn check_lines(document: &Document, style: Style) -> String {
    let Some(checks) = &document.checks else { return String::new() };
    let mut lines = format!("\n{}", style.wrap(&checks.tally, 0));
    let alarm = AnsiColor::Red.on_default().bold();
    for check in &checks.red {
        let title = style.wrap(&format!("check {} is red: {}", check.id, check.title), 2);
        lines += &format!("{} {}", style.paint(alarm, "✗"), title.trim_start());
        lines += &check.what.iter().map(|what| style.wrap(what, 4)).collect::<String>();
        lines += &style.wrap(&check.because, 2);
    }
    for check in &checks.not_tested {
        lines += &labelled(&format!("– check {} was not tested", check.id), &check.what.join("; "), style);
    }
    lines
}

fn heading(text: &str, style: Style) -> String {
    format!("\n{}\n", style.bold(&text.to_uppercase()))
}

/// A name and a text; the text goes below the name if it has several lines.
fn labelled(name: &str, text: &str, style: Style) -> String {
    if text.contains('\n') {
        style.wrap(&format!("{name}:"), 0) + &style.wrap(text, 4)
    } else {
        let wrapped = style.wrap(&format!("{name}: {text}"), 4);
        wrapped.trim_start().to_owned()
    }
}

fn verdict_lines(verdict: &VerdictText, style: Style) -> String {
    let color = color(verdict.key);
    let symbol = style.paint(color, &verdict.symbol.to_string());
    let title = style.wrap(&verdict.title, 2);
    let sentence = style.paint(color, style.wrap(&verdict.sentence, 2).trim_end());
    let mut lines = format!("{symbol} {}{sentence}\n", title.trim_start());
    lines += &style.wrap(&verdict.why, 2);
    for more in verdict.scale.iter().chain(&verdict.parts) {
        lines += &style.wrap(more, 2);
    }
    if let Some(published) = &verdict.published {
        lines += &style.wrap(&format!("published: {published}"), 2);
    }
    let assert = verdict.assert.as_ref().map_or(String::new(), |assert| format!(": {assert}"));
    lines + &style.wrap(&format!("claim {}{assert}", verdict.id), 2)
}

fn group_lines(group: &GroupTables, style: Style) -> String {
    let mut lines = String::new();
    if let Some(Overview { title, sparse, table }) = &group.overview {
        let title = if *sparse { format!("{title} (empty: not planned)") } else { title.clone() };
        lines += &format!("\n{}{}", style.bold(&style.wrap(&title, 0)), table_lines(table, style));
    }
    for point in &group.points {
        lines += &format!("\n{}", point_lines(point, style));
    }
    lines
}

fn chapter_lines(point: &ChapterPoint, style: Style) -> String {
    let mut lines = String::new();
    for Overview { title, table, .. } in &point.overviews {
        let title = format!("{title}, {}", point.place);
        lines += &format!("\n{}{}", style.bold(&style.wrap(&title, 0)), table_lines(table, style));
    }
    lines + &point.note.map_or(String::new(), |note| style.wrap(note, 0))
}

fn point_lines(point: &PointTables, style: Style) -> String {
    if point.main.rows.is_empty() {
        return format!("{}: nothing was measured here\n", style.bold(&point.place));
    }
    let order = if point.order.is_empty() { String::new() } else { format!(" ({})", point.order) };
    style.bold(&style.wrap(&format!("{}{order}", point.place), 0)) + &table_lines(&point.main, style)
}

fn failure_lines(failures: &Failures, style: Style) -> String {
    let Failures { title, disturbances, failed, trials } = failures;
    if !failures.any() {
        return String::new();
    }
    let mut out = heading(title, style);
    for disturbed in disturbances {
        let order =
            if disturbed.order.is_empty() { String::new() } else { format!(" ({})", disturbed.order) };
        out += &style.bold(&style.wrap(&format!("{}{order}", disturbed.title), 0));
        out += &style.wrap(&disturbed.what, 0);
        if disturbed.bounded {
            out += &style.wrap(NOT_RECOVERED, 0);
        }
        out += &format!("{}\n", table_lines(&disturbed.table, style));
    }
    if let Some(Failed { title, table: Some(table), .. }) = failed {
        out += &style.bold(&style.wrap(&title.to_lowercase(), 0));
        out += &table_lines(table, style);
    }
    for lost in trials {
        out += &labelled(&lost.title, &lost.reason, style);
    }
    out.trim_end().to_owned() + "\n"
}

fn published_lines(published: &PublishedText, style: Style) -> String {
    let mut out = heading("what was published, beside ours", style);
    out += &style.wrap(FROM_ELSEWHERE, 0);
    for paragraph in &published.note {
        out += &format!("\n{}", style.wrap(paragraph, 0));
    }
    if let Some(ours) = &published.ours {
        out += &format!("\n{}", style.wrap(ours, 0));
    }
    if let Some(alone) = &published.alone {
        out += &format!("\n{}", style.wrap(alone, 0));
    }
    for beside in &published.metrics {
        out +=
            &format!("\n{}{}", style.bold(&style.wrap(&beside.title, 0)), table_lines(&beside.table, style));
    }
    out
}

fn table_lines(table: &Table, style: Style) -> String {
    let columns: Vec<(&str, CellAlignment)> = table
        .columns
        .iter()
        .map(|column| {
            let align = if column.numeric { CellAlignment::Right } else { CellAlignment::Left };
            (column.name.as_str(), align)
        })
        .collect();
    grid(&columns, &table.rows_flat().collect::<Vec<_>>(), style)
}
