//! The end of a run, on one screen: the verdicts, one table, the doubts, and where the rest is.

use std::collections::BTreeMap;

use anstyle::AnsiColor;
use comfy_table::CellAlignment;
use kumite_record::{AxisValue, Cell, Claim, Doubt, Export, Mark, Reason, Run, standing};

use crate::document::Document;
use crate::gate::last_line;
use crate::grid::grid;
use crate::group::Groups;
use crate::number::plural;
use crate::reason::reason;
use crate::record::Record;
use crate::style::Style;
use crate::table::Table;
use crate::text::one_line;
use crate::verdict::{VerdictText, effect};

/// So many lines fit on most screens.
const LINES: usize = 40;
/// A table is cut to what is left of them, but not to less.
const LEAST_ROWS: usize = 5;

/// What a reader wants to know first, in at most 40 lines as far as there are not too many claims for that.
pub fn summary(export: &Export, style: &Style) -> String {
    let (record, groups, style) = (Record::of(export), Groups::of(export), *style);
    let document = Document::of(&record, &groups);
    let mut head = style.bold(&style.wrap(&format!("{}: {}", document.experiment, document.question), 0));
    head += &alarms(&document, style);
    head += &style.wrap(&document.tally, 0);
    let mut end = doubts(export, &document).iter().map(|doubt| style.wrap(doubt, 0)).collect::<String>();
    let id = &export.run.id;
    end += &style.wrap(
        &format!("All of it: `kumite report {id}`; with pictures: `kumite report {id} --html FILE`."),
        0,
    );

    let table = table(&document);
    // Beside the verdicts and the table's rows: the table's title and heads, and a line before each part.
    let fixed = head.lines().count() + end.lines().count() + 5;
    let rows = table.as_ref().map_or(0, |(_, table)| table.rows.len());
    let is_tight = fixed + 2 * export.claims.len() + rows > LINES;
    let said = verdict_lines(export, &document, style, if is_tight { 1 } else { 2 });
    let room = LINES.saturating_sub(fixed + said.lines().count()).max(LEAST_ROWS);
    let table = table.map_or(String::new(), |(title, table)| {
        format!("\n{}{}", style.bold(&style.wrap(&title, 0)), table_lines(table, room, style))
    });
    format!("{head}\n{said}{table}\n{end}{}", last_line(export, style))
}

/// Each claim on so many lines, one or two.
pub fn verdict_lines(export: &Export, document: &Document, style: Style, lines: usize) -> String {
    let verdicts = export.claims.iter().zip(&document.verdicts);
    verdicts.map(|(claim, text)| Line::of(&export.run, claim, text).written(style, lines)).collect()
}

/// One claim on two lines, as soon as it is decided.
pub fn decided(run: &Run, claim: &Claim, style: &Style) -> String {
    Line::of(run, claim, &VerdictText::of(run, claim)).written(*style, 2)
}

/// What is wrong with the run as a whole.
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
    cut_short.chain(red).collect()
}

/// A claim's sign, sentence, and effect at the point that decided.
struct Line<'a> {
    verdict: &'a VerdictText,
    effect: String,
    at: String,
    /// How much more would tell, of what is undecided.
    more: Option<String>,
    /// Whether the effect is none, but the reason why there is none.
    is_reason: bool,
}

impl Line<'_> {
    fn of<'a>(run: &Run, claim: &Claim, verdict: &'a VerdictText) -> Line<'a> {
        let said = effect(run, claim).unwrap_or_default();
        let (effect, bound) = said.split_once(" (").unwrap_or((said.as_str(), ""));
        // The level is in the report.
        let bound = bound.trim_end_matches(')').rsplit(" %: ").next().unwrap_or_default();
        let effect = effect.trim_start_matches("ratio ").trim_start_matches("difference ").to_owned();
        if effect.is_empty() {
            // What was not tested has a reason in place of an effect.
            let why = claim.reason.as_ref().map_or_else(|| verdict.why.clone(), reason);
            return Line { verdict, effect: one_line(&why), at: String::new(), more: None, is_reason: true };
        }
        let effect = if ["", "no bound"].contains(&bound) { effect } else { format!("{effect} ({bound})") };
        let comparison = claim.decided_by.as_ref().map(|decider| one_line(&decider.comparison));
        let at = comparison.as_deref().and_then(point).unwrap_or_default();
        let more = matches!(
            claim.reason,
            Some(Reason::MoreBlocks { blocks: Some(_), .. } | Reason::MoreNodes { nodes: Some(_), .. })
        );
        Line {
            verdict,
            effect,
            at,
            more: claim.reason.as_ref().filter(|_| more).map(reason),
            is_reason: false,
        }
    }

    /// On at most so many lines.
    fn written(&self, style: Style, lines: usize) -> String {
        let color = match self.verdict.key {
            "holds" => AnsiColor::Green,
            "fails" => AnsiColor::Red,
            "undecided" => AnsiColor::Yellow,
            _ => AnsiColor::BrightBlack,
        };
        let color = color.on_default().bold();
        let width = style.width.max(40) - 2;
        let word = self.verdict.sentence.split(':').next().unwrap_or_default();
        let said = match (self.effect.is_empty(), self.at.is_empty() || lines == 1) {
            (true, _) => word.to_owned(),
            (false, true) => format!("{word}: {}", self.effect),
            (false, false) => format!("{word}: {}, {}", self.effect, self.at),
        };
        let symbol = style.paint(color, &self.verdict.symbol.to_string());
        let is_cut_reason = self.is_reason && said.chars().count() > width / 2;
        match lines {
            1 if !is_cut_reason => {
                let said = cut(&said, width / 2);
                let title = cut(&self.verdict.title, width.saturating_sub(said.chars().count() + 1));
                let gap = width.saturating_sub(title.chars().count() + said.chars().count());
                format!("{symbol} {title}{}{}\n", " ".repeat(gap), style.paint(color, &said))
            }
            _ => {
                let title = cut(&self.verdict.title, width);
                let said = match &self.more {
                    Some(more) => self.with(more, &said, word, width),
                    None if self.at.is_empty() => said,
                    None => cut(&said, width),
                };
                // A reason says what would help: it is broken into lines, and never cut.
                let lines = textwrap::wrap(&said, width);
                let lines = lines.iter().map(|line| format!("  {}\n", style.paint(color, line.trim_end())));
                format!("{symbol} {title}\n{}", lines.collect::<String>())
            }
        }
    }

    /// With how much more would tell, and as much of the rest as there is room for.
    fn with(&self, more: &str, said: &str, word: &str, width: usize) -> String {
        let effect = self.effect.split(" (").next().unwrap_or_default();
        let forms = [said.to_owned(), format!("{word}: {}", self.effect), format!("{word}: {effect}")];
        let forms = forms.map(|form| format!("{form}; {more}"));
        let fits = |form: &&String| form.chars().count() <= width;
        forms.iter().find(fits).unwrap_or(&forms[2]).clone()
    }
}

/// What a comparison says of its place, after its sides: `at n=1`, `contender a at n=1`.
fn point(comparison: &str) -> Option<String> {
    let rest = comparison.rsplit_once(')').map_or(comparison, |(_, rest)| rest);
    let by_contender = rest.split_once(", ").map(|(_, place)| place);
    let place = by_contender.or_else(|| rest.split_once(" at ").map(|(_, place)| place))?;
    Some(if by_contender.is_some() { place.to_owned() } else { format!("at {place}") })
}

/// The beginning and the end of it: claims that differ often do so at the end.
fn cut(text: &str, width: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let (begin, end) = (&letters[..kept - kept / 3], &letters[letters.len() - kept / 3..]);
    let (begin, end): (String, String) = (begin.iter().collect(), end.iter().collect());
    format!("{}…{}", begin.trim_end_matches([' ', ',', '.', ';']), end.trim_start())
}

/// The first metric of the group that has most contenders, and what the table is of.
fn table(document: &Document) -> Option<(String, &Table)> {
    let tables = document.groups.iter().filter_map(|group| match (&group.overview, group.points.first()) {
        (Some(overview), _) => Some((overview.title.clone(), &overview.table)),
        (None, Some(point)) if !point.main.rows.is_empty() => Some((point.place.clone(), &point.main)),
        (None, _) => None,
    });
    // Of several, the first.
    tables.rev().max_by_key(|(_, table)| table.rows.len())
}

/// The rows and columns that there is room for.
fn table_lines(table: &Table, room: usize, style: Style) -> String {
    let texts = |row: &Vec<crate::table::Entry>| row.iter().map(|entry| entry.text.clone()).collect();
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

/// At most three lines: lost trials, marked ones, and what else there is.
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
    for mark in standing(&export.trials).flat_map(|trial| &trial.marks) {
        *marks.entry(*mark).or_default() += 1;
    }
    let mut marks: Vec<(Mark, usize)> = marks.into_iter().collect();
    marks.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    if let Some(((most, count), others)) = marks.split_first() {
        let first = of_mark(*most, *count).replacen(&count.to_string(), "", 1);
        let mut words = format!("{count} of {}{first}", plural(all, "trial"));
        words += &others
            .iter()
            .take(1)
            .map(|(mark, count)| format!(", {}", of_mark(*mark, *count)))
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

/// Whether all trials of a cell that it rests on are marked.
fn rests_on_marked_alone(export: &Export, claim: &Claim) -> bool {
    let is_all_marked = |cell: &Cell| {
        let standing = cell.trials - cell.disqualified - cell.failed;
        standing > 0 && cell.marked == standing
    };
    claim.doubts.iter().any(|doubt| {
        let Doubt::Marked { cell: name, .. } = doubt else { return false };
        export.cells.iter().find(|cell| is_named(&export.run, cell, name)).is_some_and(is_all_marked)
    })
}

/// Whether this is the name of a cell, or of a part of its trials.
fn is_named(run: &Run, cell: &Cell, name: &str) -> bool {
    let of_part = |axis: &str, value: &AxisValue| {
        let mut point = cell.point.clone();
        point.0.insert(axis.to_owned(), value.clone());
        run.cell(&cell.contender, &point) == name
    };
    run.cell(&cell.contender, &cell.point) == name
        || run
            .within
            .as_ref()
            .is_some_and(|within| within.values.iter().any(|value| of_part(&within.axis, value)))
}

/// `1 was disturbed by other processes`
fn of_mark(mark: Mark, count: usize) -> String {
    let words = words(mark);
    match words.strip_prefix("were ").filter(|_| count == 1) {
        Some(rest) => format!("{count} was {rest}"),
        None => format!("{count} {words}"),
    }
}

/// What a mark says of trials.
fn words(mark: Mark) -> &'static str {
    match mark {
        Mark::GeneratorBound => "left the load engine no room",
        Mark::SharedCores => "shared their CPUs with kumite",
        Mark::IdleConnections => "had connections that waited for nothing",
        Mark::Unsteady => "were not steady",
        Mark::NotRecovered => "had not recovered at the end",
        Mark::TimesDisagree => "told times that kumite's clock does not confirm",
        Mark::NotThrottled => "ran without their limits",
        Mark::MemoryUncounted => "had more memory than was seen, perhaps",
        Mark::RecorderLate => "were recorded late",
        Mark::Stolen => "lost CPU time to the hypervisor",
        Mark::OtherProcesses => "were disturbed by other processes",
        Mark::ClockJumped => "saw the clock jump",
        Mark::Throttled => "were slowed down from outside",
        Mark::FrequencyChanged => "saw a CPU change its speed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_comparison_is_what_follows_its_sides() {
        let cases = [
            ("p_us(a at m=1) <= p_us(b at m=1) at n=200", Some("at n=200")),
            (
                "t_ms(contender at f=s) <= 1.15 * $r * $d, contender java at cores=1",
                Some("contender java at cores=1"),
            ),
            ("slope(p_us(a) over n) within 10% of 1", None),
            ("5 * d_ns(a) <= d_ns(b) at items=100 names=ascii", Some("at items=100 names=ascii")),
        ];
        for (comparison, place) in cases {
            assert_eq!(point(comparison).as_deref(), place, "{comparison}");
        }
    }

    #[test]
    fn a_reason_is_broken_into_lines_and_never_cut() {
        let run = Run::default();
        let title =
            Some("a title that is long enough to be cut where there is little room for it".to_owned());
        let claim = Claim { title, ..Claim::default() };
        let verdict = VerdictText::of(&run, &claim);
        let why = "a p99 takes 1,000 requests and the windows have 312: make duration_s = 4 or more, or claim a p90 in place of it";
        let line = |reason: &str, is_reason, more: Option<String>| Line {
            verdict: &verdict,
            effect: reason.to_owned(),
            at: String::new(),
            more,
            is_reason,
        };
        for lines in [1, 2] {
            let said = line(why, true, None).written(Style { color: false, width: 60 }, lines);
            let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(why), "{said}");
            assert!(said.lines().all(|line| line.chars().count() <= 60), "{said}");
        }
        let said = line("1.002 (at least 0.98)", false, Some(why.to_owned()))
            .written(Style { color: false, width: 60 }, 2);
        assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").ends_with(why), "{said}");
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(cut("abc def", 7), "abc def");
        assert_eq!(cut("abcdefghij, on all cores", 16), "abcdefghij…cores");
        assert_eq!(cut("abc, defghi", 6), "abc…i");
    }
}
