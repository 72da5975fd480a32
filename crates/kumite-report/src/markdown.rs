//! The report of a run in GitHub's Markdown, with the same words and tables as in a terminal.
//!
//! The words of others are escaped, so that no name of a contender can be a link, a table or HTML.

use std::fmt::Write;

use kumite_record::Export;

use crate::document::{Document, FROM_ELSEWHERE};
use crate::kinds::chapter::{Chapter, ChapterPoint};
use crate::kinds::kind_of;
use crate::record::Record;
use crate::tables::cells::{GroupTables, Overview, PointTables, Table};
use crate::tables::failure::{Failed, Failures, NOT_RECOVERED};
use crate::tables::group::Groups;
use crate::tables::published::PublishedText;
use crate::words::check::{CheckText, ChecksText};
use crate::words::control::ControlText;
use crate::words::verdict::VerdictText;

/// The report in GitHub's Markdown.
pub fn markdown(export: &Export) -> String {
    let (record, groups) = (Record::new(export), Groups::new(export));
    let document = Document::new(&record, &groups);
    let mut out = head_lines(&document);
    out += &document.checks.as_ref().map_or(String::new(), check_lines);
    out += &format!("\n## Verdicts\n\n{}\n", document.tally);
    for verdict in &document.verdicts {
        out += &verdict_lines(verdict);
    }

    out += &format!("\n## Measurements\n\n{}\n", escaped(&document.reading));
    out += &document.no_groups.map_or(String::new(), |text| format!("\n{text}\n"));
    for group in &document.groups {
        out += &group_lines(group);
    }
    for Chapter { title, about, points } in kind_of(&record).chapters(&record, &groups) {
        out += &format!("\n## {title}\n");
        out += &about.map_or(String::new(), |about| format!("\n{}\n", escaped(about)));
        out += &points.iter().map(chapter_lines).collect::<String>();
    }
    out += &failure_lines(&document.failures);
    if let Some(published) = &document.published {
        out += &published_lines(published);
    }

    if !document.absent.is_empty() {
        out += "\n## Not measured\n\n";
        for absent in &document.absent {
            out +=
                &format!("- **{}** {}: {}\n", escaped(&absent.name), absent.status, escaped(&absent.reason));
        }
    }
    if !document.versions.is_empty() {
        out += "\n## Versions\n\n";
        for version in &document.versions {
            out += &format!("- **{}**: {}\n", escaped(&version.name), escaped(&version.version));
        }
    }
    if !document.warnings.is_empty() {
        out += "\n## Warnings\n\n";
        for warning in &document.warnings {
            out += &format!("- ⚠ **{}**: {}\n", escaped(&warning.place), escaped(&warning.what));
        }
    }
    out += "\n## How this was measured\n\n";
    for fact in &document.facts {
        out += &format!("- {}: {}\n", fact.name, escaped(&fact.text));
    }
    out += &format!("\nNot in any figure here: {}\n", escaped(&document.limits));
    out + &format!("\n{}", block(&document.command))
}

fn head_lines(document: &Document) -> String {
    let mut lines = format!("# {}\n\n**{}**\n", escaped(&document.experiment), escaped(&document.question));
    if let Some(source) = &document.source {
        lines += &format!("\nSource: {}\n", escaped(source));
    }
    if let Some(reason) = &document.cut_short {
        lines += &format!("\n> ⚠ **Cut short:** {}\n", escaped(reason));
    }
    if let Some(resumed) = &document.resumed {
        lines += &format!("\n> ⚠ {}\n", escaped(resumed));
    }
    if let Some(ControlText { is_off, said }) = &document.control {
        let said = escaped(said);
        lines += &if *is_off { format!("\n> ⚠ **{said}**\n") } else { format!("\n{said}\n") };
    }
    if let Some(gate) = &document.gate {
        lines += &format!("\n**{}**\n", escaped(gate));
    }
    lines
}

fn check_lines(checks: &ChecksText) -> String {
    let of = |sign: &str, checks: &[CheckText]| -> String {
        let line = |check: &CheckText| {
            let assert = check.assert.as_ref().map_or(String::new(), |assert| format!(": {}", code(assert)));
            let what: String = check.what.iter().map(|what| format!("  {}\\\n", escaped(what))).collect();
            let (title, id, because) = (escaped(&check.title), escaped(&check.id), escaped(&check.because));
            format!("- {sign} **{title}**\\\n{what}  {because}\\\n  Check {id}{assert}\n")
        };
        checks.iter().map(line).collect()
    };
    let mut lines = format!("\n## Checks\n\n{}\n", checks.tally);
    let told = of("✗ red:", &checks.red) + &of("– not tested:", &checks.not_tested);
    if !told.is_empty() {
        lines += &format!("\n{told}");
    }
    if !checks.green.is_empty() {
        let green = of("✓", &checks.green);
        lines += &format!("\n<details><summary>What is green</summary>\n\n{green}\n</details>\n");
    }
    lines
}

fn group_lines(group: &GroupTables) -> String {
    let mut lines = format!("\n### {}\n", escaped(&group.title));
    if let Some(Overview { title, sparse, table }) = &group.overview {
        let empty = if *sparse { " (empty: not planned)" } else { "" };
        lines += &format!("\n{}{empty}:\n\n{}", escaped(title), table_lines(table));
    }
    lines + &group.points.iter().map(point_lines).collect::<String>()
}

fn chapter_lines(point: &ChapterPoint) -> String {
    let mut lines = format!("\n### {}\n", escaped(&point.place));
    for Overview { title, table, .. } in &point.overviews {
        lines += &format!("\n{}:\n\n{}", escaped(title), table_lines(table));
    }
    lines += &point.note.map_or(String::new(), |note| format!("\n{}\n", escaped(note)));
    let table = point.table.as_ref().map(table_lines);
    lines
        + &match (table, point.summary) {
            (None, _) => String::new(),
            (Some(table), None) => format!("\n{table}"),
            (Some(table), Some(summary)) => {
                format!("\n<details><summary>{summary}</summary>\n\n{table}\n</details>\n")
            }
        }
}

fn failure_lines(failures: &Failures) -> String {
    let Failures { title, disturbances, failed, trials } = failures;
    if !failures.any() {
        return String::new();
    }
    let mut out = format!("\n## {title}\n");
    for disturbed in disturbances {
        out += &format!("\n### {}\n\n{}\n\n", escaped(&disturbed.title), escaped(&disturbed.what));
        out += &table_lines(&disturbed.table);
        if disturbed.bounded {
            out += &format!("\n{}\n", escaped(NOT_RECOVERED));
        }
    }
    if let Some(Failed { title, table: Some(table), .. }) = failed {
        out += &format!("\n### {title}\n\n{}", table_lines(table));
    }
    if !trials.is_empty() {
        out += "\n### Trials that do not count\n\n";
    }
    for lost in trials {
        out += &format!("- **{}**: {}\n", escaped(&lost.title), escaped(&lost.reason));
    }
    out
}

fn published_lines(published: &PublishedText) -> String {
    let mut out = format!("\n## What was published, beside ours\n\n**{FROM_ELSEWHERE}**\n");
    for paragraph in &published.note {
        out += &format!("\n{}\n", escaped(paragraph));
    }
    if let Some(ours) = &published.ours {
        out += &format!("\n{}\n", escaped(ours));
    }
    if let Some(alone) = &published.alone {
        out += &format!("\n{}\n", escaped(alone));
    }
    for beside in &published.metrics {
        out += &format!("\n### {}\n\n{}", escaped(&beside.title), table_lines(&beside.table));
    }
    if let Some(others) = &published.others {
        out += &format!(
            "\n<details><summary>The source's other rows</summary>\n\n{}\n</details>\n",
            table_lines(others)
        );
    }
    out
}

fn verdict_lines(verdict: &VerdictText) -> String {
    let mut lines = format!(
        "\n- {} **{}**\\\n  **{}**: {}\\\n",
        verdict.symbol,
        escaped(&verdict.title),
        escaped(&verdict.sentence),
        escaped(&verdict.why)
    );
    for more in verdict.scale.iter().chain(&verdict.parts) {
        lines += &format!("  {}\\\n", escaped(more));
    }
    if let Some(published) = &verdict.published {
        lines += &format!("  Published: {}\\\n", escaped(published));
    }
    let assert = verdict.assert.as_ref().map_or(String::new(), |assert| format!(": {}", code(assert)));
    lines + &format!("  Claim {}{assert}\n", escaped(&verdict.id))
}

fn point_lines(point: &PointTables) -> String {
    let mut lines = format!("\n#### {}\n\n", escaped(&point.place));
    if point.main.rows.is_empty() {
        return lines + "Nothing was measured here.\n";
    }
    if !point.order.is_empty() {
        lines += &format!("Rows {}.\n\n", escaped(&point.order));
    }
    lines += &table_lines(&point.main);
    if !point.source_lines.is_empty() {
        lines += &format!(
            "\n<details><summary>In the source's own form</summary>\n\n{}\n</details>\n",
            block(&point.source_lines.join("\n"))
        );
    }
    lines
}

fn table_lines(table: &Table) -> String {
    let heads: Vec<String> = table.columns.iter().map(|column| escaped(&column.name)).collect();
    let rules: Vec<&str> = table.columns.iter().map(|c| if c.numeric { "---:" } else { ":---" }).collect();
    let mut lines = format!("| {} |\n| {} |\n", heads.join(" | "), rules.join(" | "));
    for row in table.rows_flat() {
        let row: Vec<String> = row.iter().map(|text| escaped(text)).collect();
        let _ = writeln!(lines, "| {} |", row.join(" | "));
    }
    lines
}

/// The text, in which all characters are escaped that have a meaning in HTML or within a line of Markdown. Line breaks
/// become `<br>`, the only form that a table allows.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out += "<br>",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '#' | '@' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// The text in a paragraph in which nothing acts, not even what GitHub looks for after the Markdown was rendered: a
/// mention, a reference to an issue, an address. A space of no width breaks up what would become one of these.
pub(crate) fn inert(text: &str) -> String {
    const NOTHING: &str = "&ZeroWidthSpace;";
    let letters: Vec<char> = text.chars().collect();
    let mut out = String::new();
    for (at, &c) in letters.iter().enumerate() {
        let rest = &letters[at + 1..];
        let next = rest.first().copied().unwrap_or(' ');
        out += &escaped(&c.to_string());
        let begins = match c {
            '@' => next.is_alphanumeric(),
            '#' => next.is_ascii_digit(),
            '-' => next.is_ascii_digit() && ends_in(&letters[..at], "gh"),
            ':' => rest.starts_with(&['/', '/']),
            'w' | 'W' => next == '.' && ends_in(&letters[..=at], "www"),
            _ => false,
        };
        if begins {
            out += NOTHING;
        }
    }
    out
}

fn ends_in(text: &[char], end: &str) -> bool {
    let last = text.len().checked_sub(end.len()).map(|from| text[from..].iter().collect::<String>());
    last.is_some_and(|last| last.eq_ignore_ascii_case(end))
}

/// A code span, fenced by more backticks than the text has in a row; empty if the text is.
pub(crate) fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run_of_backticks(text) + 1);
    // The space keeps a backtick of the text apart from the fence; Markdown takes one off each end.
    let space = if text.contains('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A code block, fenced by more backticks than the text has in a row.
fn block(text: &str) -> String {
    let fence = "`".repeat(longest_run_of_backticks(text).max(2) + 1);
    format!("{fence}text\n{text}\n{fence}\n")
}

fn longest_run_of_backticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A table in Markdown, from its heads, each with true if its column holds figures, and its rows.
pub(crate) fn table((heads, rows): (Vec<(String, bool)>, Vec<Vec<String>>)) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let names = line(heads.iter().map(|(head, _)| escaped(head)).collect());
    let rules = heads.iter().map(|(_, figures)| if *figures { "---:" } else { ":---" }.to_owned());
    let rows = rows.iter().map(|row| line(row.iter().map(|cell| escaped(cell)).collect()));
    names + &line(rules.collect()) + &rows.collect::<String>()
}
