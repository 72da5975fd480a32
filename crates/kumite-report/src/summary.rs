//! The end of a run, on one screen: the verdicts, one table, the doubts, and the command that shows the rest.

use std::collections::BTreeMap;

use anstyle::AnsiColor;
use comfy_table::CellAlignment;
use kumite_record::{Cell, CellName, Claim, Doubt, Export, Mark, Reason, Run, standing};

use crate::document::Document;
use crate::record::Record;
use crate::style::{Style, color};
use crate::tables::cells::Table;
use crate::tables::grid::grid;
use crate::tables::group::Groups;
use crate::words::effect::EffectText;
use crate::words::gate::last_line;
use crate::words::number::plural;
use crate::words::reason::reason;
use crate::words::sittings::stood;
use crate::words::text::{cut, one_line};
use crate::words::verdict::VerdictText;

/// The number of lines that fit on most screens.
const LINES: usize = 40;
/// The least number of rows that a table gets, however few lines are left.
const LEAST_ROWS: usize = 5;

/// A run on one screen: at most 40 lines, and the line of the gate if one was asked for. Claims with long reasons may
/// take more.
pub fn summary(export: &Export, style: &Style) -> String {
    let (record, groups, style) = (Record::new(export), Groups::new(export), *style);
    let document = Document::new(&record, &groups);
    let mut head = style.bold(&style.wrap(&format!("{}: {}", document.experiment, document.question), 0));
    head += &alarms(&document, style);
    let control = document.control.iter().filter(|control| !control.is_off);
    head += &control.map(|control| style.wrap(&control.said, 0)).collect::<String>();
    head += &style.wrap(&document.tally, 0);
    let mut end = doubts(export, &document).iter().map(|doubt| style.wrap(doubt, 0)).collect::<String>();
    let id = &export.run.id;
    end += &style.wrap(
        &format!("All of it: `kumite report {id}`; with pictures: `kumite report {id} --html FILE`."),
        0,
    );

    let table = table(&document);
    let title_lines = table.as_ref().map_or(0, |(title, _)| style.wrap(title, 0).lines().count());
    // The lines of everything but the verdicts and the table's rows. The four that are added are the table's line of
    // heads and three empty lines: before the verdicts, before the table and before the end.
    let fixed = head.lines().count() + end.lines().count() + title_lines + 4;
    let rows = table.as_ref().map_or(0, |(_, table)| table.rows.len());
    let verdicts_in = |room| lines_of(export, &document, style, room);
    let fits = |verdicts: &String, rows: usize| fixed + verdicts.lines().count() + rows <= LINES;
    let verdicts = match verdicts_in(Room::Ample) {
        ample if fits(&ample, rows.min(LEAST_ROWS)) => ample,
        _ => Some(verdicts_in(Room::Two))
            .filter(|two| fits(two, rows))
            .unwrap_or_else(|| verdicts_in(Room::One)),
    };
    let room = LINES.saturating_sub(fixed + verdicts.lines().count()).max(LEAST_ROWS);
    let table = table.map_or(String::new(), |(title, table)| {
        format!("\n{}{}", style.bold(&style.wrap(&title, 0)), table_lines(table, room, style))
    });
    format!("{head}\n{verdicts}{table}\n{end}{}", last_line(export, style))
}

/// A run's claims, each with its title and its result, in as many lines as they take.
pub fn verdict_lines(export: &Export, document: &Document, style: Style) -> String {
    lines_of(export, document, style, Room::Ample)
}

fn lines_of(export: &Export, document: &Document, style: Style, room: Room) -> String {
    let verdicts = export.claims.iter().zip(&document.verdicts);
    verdicts.map(|(claim, text)| Line::new(&export.run, claim, text).written(style, room)).collect()
}

/// The lines on one claim, printed as soon as it is decided.
pub fn decided(run: &Run, claim: &Claim, style: &Style) -> String {
    Line::new(run, claim, &VerdictText::new(run, claim)).written(*style, Room::Ample)
}

/// The faults of the run as a whole: that it was cut short, a control that is off, red checks.
fn alarms(document: &Document, style: Style) -> String {
    let alarm = |text: String| {
        let text = style.wrap(&text, 2);
        style.paint(AnsiColor::Red.on_default().bold(), text.trim()) + "\n"
    };
    let red = document.checks.iter().flat_map(|checks| &checks.red);
    let red = red.map(|check| {
        let first = check.what.first().map_or(String::new(), |what| format!(": {what}"));
        alarm(format!("✗ check {} is red: {}{first}", check.id, check.title))
    });
    let cut_short = document.cut_short.iter().map(|reason| alarm(format!("! cut short: {reason}")));
    let off = document.control.iter().filter(|control| control.is_off);
    let off = off.map(|control| alarm(format!("! {}", control.said)));
    cut_short.chain(off).chain(red).collect()
}

/// The number of lines that a claim may take. A reason is never cut, and may take more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    /// All lines that are needed.
    Ample,
    /// One line for the title, and one for the result, which may be cut.
    Two,
    /// One line.
    One,
}

/// A claim's verdict, and what is said beside it.
struct Line<'a> {
    verdict: &'a VerdictText,
    /// The reason why the claim has no effect to show. None if it has an effect.
    reason: Option<String>,
    /// In how many sittings the verdict stood. For an undecided claim it also says how many more blocks, nodes or
    /// sittings would decide it, or that the control is off. None if nothing of this is known.
    more: Option<String>,
}

impl Line<'_> {
    fn new<'a>(run: &Run, claim: &Claim, verdict: &'a VerdictText) -> Line<'a> {
        let tells = |reason: &&Reason| {
            if matches!(reason, Reason::ControlIsOff { .. }) {
                return true;
            }
            let (Reason::MoreBlocks { blocks: count, .. }
            | Reason::MoreNodes { nodes: count, .. }
            | Reason::MoreSittings { sittings: count }) = reason
            else {
                return false;
            };
            count.is_some()
        };
        let said = |of: &Reason| one_line(&reason(run, of));
        match (&verdict.effect, &claim.reason) {
            (Some(_), reason) => {
                let tells = reason.as_ref().filter(tells).map(said);
                let more: Vec<String> = stood(claim).into_iter().chain(tells).collect();
                Line { verdict, reason: None, more: (!more.is_empty()).then(|| more.join("; ")) }
            }
            // A claim that was not tested has a reason in place of an effect.
            (None, Some(reason)) => Line { verdict, reason: Some(said(reason)), more: None },
            (None, None) => Line { verdict, reason: None, more: None },
        }
    }

    fn written(&self, style: Style, room: Room) -> String {
        let color = color(self.verdict.key);
        let width = style.width.max(40) - 2;
        let word = &self.verdict.word;
        let said = |of: fn(&EffectText) -> String| {
            let came_to = self.verdict.effect.as_ref().map(of).or_else(|| self.reason.clone());
            came_to.map_or_else(|| word.clone(), |came_to| format!("{word}: {came_to}"))
        };
        let with_more = |said: String| match &self.more {
            Some(more) => format!("{said}; {more}"),
            None => said,
        };
        let symbol = style.paint(color, &self.verdict.symbol.to_string());
        let short = said(EffectText::short);
        // A reason says what to do, so it is wrapped and never cut.
        let is_cut_reason = self.reason.is_some() && short.chars().count() > width / 2;
        if room == Room::One && !is_cut_reason {
            let said = cut(&short, width / 2);
            let title = cut(&self.verdict.title, width.saturating_sub(said.chars().count() + 1));
            let gap = width.saturating_sub(title.chars().count() + said.chars().count());
            return format!("{symbol} {title}{}{}\n", " ".repeat(gap), style.paint(color, &said));
        }
        let line = with_more(said(EffectText::line));
        let fits = |text: &&String| text.chars().count() <= width;
        let said = match room {
            Room::Two if self.reason.is_none() => {
                let forms = [line, with_more(said(EffectText::short)), said(EffectText::short)];
                cut(forms.iter().find(fits).unwrap_or(&forms[2]), width)
            }
            _ => line,
        };
        let lines = textwrap::wrap(&said, width);
        let lines = lines.iter().map(|line| format!("  {}\n", style.paint(color, line.trim_end())));
        format!("{symbol} {}\n{}", cut(&self.verdict.title, width), lines.collect::<String>())
    }
}

/// The title and the table of the group with the most rows; none if no group has a table.
fn table(document: &Document) -> Option<(String, &Table)> {
    let tables = document.groups.iter().filter_map(|group| match (&group.overview, group.points.first()) {
        (Some(overview), _) => Some((overview.title.clone(), &overview.table)),
        (None, Some(point)) if !point.main.rows.is_empty() => Some((point.place.clone(), &point.main)),
        (None, _) => None,
    });
    // Reversed, because `max_by_key` returns the last of several that are equal.
    tables.rev().max_by_key(|(_, table)| table.rows.len())
}

/// The table cut to `room` rows, and to the columns that fit on a line.
fn table_lines(table: &Table, room: usize, style: Style) -> String {
    let texts = |row: &Vec<crate::tables::cells::Entry>| row.iter().map(|entry| entry.text.clone()).collect();
    let mut rows: Vec<Vec<String>> = table.rows.iter().map(texts).collect();
    let cut = rows.len().saturating_sub(room);
    let more = if cut > 0 { cut + 1 } else { 0 };
    rows.truncate(rows.len() - more);
    let mut columns = Vec::new();
    let mut width = 0;
    for (nth, column) in table.columns.iter().enumerate() {
        let entries = rows.iter().map(|row| row[nth].chars().count());
        width += entries.chain([column.name.chars().count()]).max().unwrap_or(0) + 2;
        if width > style.width.max(40) + 2 && columns.len() > 1 {
            break;
        }
        let align = if column.numeric { CellAlignment::Right } else { CellAlignment::Left };
        columns.push((column.name.as_str(), align));
    }
    for row in &mut rows {
        row.truncate(columns.len());
    }
    let more = if more > 0 { format!("… and {more} more\n") } else { String::new() };
    grid(&columns, &rows, style) + &more
}

/// At most three lines: on trials that do not count, on marked trials, and on checks, absent contenders and warnings.
pub(crate) fn doubts(export: &Export, document: &Document) -> Vec<String> {
    let mut said = Vec::new();
    let sum = |of: fn(&Cell) -> u32| export.cells.iter().map(of).sum::<u32>() as usize;
    let (all, wrong, failed) =
        (sum(|cell| cell.trials), sum(|cell| cell.disqualified), sum(|cell| cell.failed));
    if wrong + failed > 0 {
        let verb = if wrong + failed == 1 { "does" } else { "do" };
        said.push(format!(
            "{} of {} {verb} not count: {wrong} for wrong answers, {failed} failed.",
            wrong + failed,
            plural(all, "trial")
        ));
    }
    let mut marks: BTreeMap<Mark, usize> = BTreeMap::new();
    let of_contenders = standing(&export.trials).filter(|trial| !trial.control);
    for mark in of_contenders.flat_map(|trial| &trial.marks) {
        *marks.entry(*mark).or_default() += 1;
    }
    let mut marks: Vec<(Mark, usize)> = marks.into_iter().collect();
    marks.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    if let Some(((most, count), others)) = marks.split_first() {
        let mut words = format!("{count} of {} {}", plural(all, "trial"), most.predicate(*count));
        words += &others
            .iter()
            .take(1)
            .map(|(mark, count)| format!(", {count} {}", mark.predicate(*count)))
            .collect::<String>();
        let others = others.len().saturating_sub(1);
        words += &if others > 0 { format!(", and {} more", plural(others, "doubt")) } else { String::new() };
        let alone = export.claims.iter().filter(|claim| rests_on_marked_alone(export, claim)).count();
        let alone = match alone {
            0 => "no verdict rests on such trials alone".to_owned(),
            1 => "1 verdict rests on such trials alone".to_owned(),
            several => format!("{several} verdicts rest on such trials alone"),
        };
        said.push(format!("{words}; {alone}."));
    }
    let mut rest: Vec<String> = document.checks.iter().map(|checks| checks.tally.clone()).collect();
    if !document.absent.is_empty() {
        rest.push(format!("{} did not take part.", plural(document.absent.len(), "contender")));
    }
    if !document.warnings.is_empty() {
        rest.push(format!("{} in the report.", plural(document.warnings.len(), "warning")));
    }
    if !rest.is_empty() {
        said.push(rest.join(" "));
    }
    said
}

/// True if the claim rests on at least one cell whose trials are all marked.
fn rests_on_marked_alone(export: &Export, claim: &Claim) -> bool {
    let is_all_marked = |cell: &Cell| {
        let standing = cell.trials - cell.disqualified - cell.failed;
        standing > 0 && cell.marked == standing
    };
    let within = export.run.within.as_ref();
    let is_of = |cell: &Cell, name: &CellName| {
        let mut point = name.point.clone();
        // A claim about a part of a trial gets the marks of the whole trial.
        if let Some(within) = within {
            point.0.remove(&within.axis);
        }
        cell.contender == name.contender && cell.point == point
    };
    claim.doubts.iter().any(|doubt| {
        let Doubt::Marked { cell: name, .. } = doubt else { return false };
        export.cells.iter().find(|cell| is_of(cell, name)).is_some_and(is_all_marked)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_broken_into_lines_and_never_cut() {
        let run = Run::default();
        let title =
            Some("a title that is long enough to be cut where there is little room for it".to_owned());
        let claim = Claim { title, ..Claim::default() };
        let verdict = VerdictText::new(&run, &claim);
        let why = "a p99 takes 1,000 requests and the windows have 312: make duration_s = 4 or more, or claim a p90 in place of it";
        let line = Line { verdict: &verdict, reason: Some(why.to_owned()), more: None };
        for room in [Room::One, Room::Two, Room::Ample] {
            let said = line.written(Style { color: false, width: 60 }, room);
            let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(why), "{said}");
            assert!(said.lines().all(|line| line.chars().count() <= 60), "{said}");
        }
        let line = Line { verdict: &verdict, reason: None, more: Some(why.to_owned()) };
        let said = line.written(Style { color: false, width: 60 }, Room::Ample);
        assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").ends_with(why), "{said}");
    }
}
