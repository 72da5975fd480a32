//! A machine as `kumite doctor` found it: facts group by group, then the tools of contenders.

mod nodes;

use anstyle::{AnsiColor, Style as Paint};
use kumite_record::{Diagnosis, Equipment, Finding, Fitness, NeedFound};

use crate::style::Style;

pub use nodes::diagnoses;

/// The column at which a line's text begins, behind the state and the name.
const INDENT: usize = 2 + STATE + 1 + NAME + 1;
const STATE: usize = 7;
const NAME: usize = 16;
/// The least width of lines in columns: narrower, the text would have no room.
const NARROWEST: usize = 60;

/// The text that `kumite doctor` prints.
pub fn diagnosis(of: &Diagnosis, style: &Style) -> String {
    let style = Style { width: style.width.max(NARROWEST), ..*style };
    let mut text = String::new();
    let mut group = "";
    for finding in &of.findings {
        if finding.group != group {
            group = &finding.group;
            text += &heading(&group.to_uppercase(), style);
        }
        text += &of_finding(finding, style);
    }
    let mut experiment = None;
    for equipment in &of.contenders {
        if experiment != Some(&equipment.experiment) {
            experiment = Some(&equipment.experiment);
            text += &heading(&format!("TOOLS of {}", equipment.experiment), style);
        }
        text += &of_equipment(equipment, style);
    }
    if of.contenders.is_empty() {
        text += &heading("TOOLS", style);
        text += &style.wrap("there are no experiments here or above", 2);
    }
    text + &tally(of)
}

fn of_finding(finding: &Finding, style: Style) -> String {
    let line = line(finding.state, &finding.name, &finding.found, style);
    line + &more(finding.consequence.as_deref(), finding.remedy.as_deref(), style)
}

fn of_equipment(equipment: &Equipment, style: Style) -> String {
    let names = equipment.contenders.join(", ");
    let what = match (&equipment.error, equipment.state) {
        (Some(error), _) => error.clone(),
        (None, Fitness::Ok) => format!("{names}: all tools are here"),
        (None, Fitness::Missing) => format!("{names}: a tool is missing, so a run skips it"),
        (None, _) => format!("{names}: not known whether all tools are here"),
    };
    let mut text = style.wrap(&what, 2);
    for need in &equipment.needs {
        text += &line(need.state, &need.need, &found(need), style);
    }
    text + &more(None, equipment.remedy.as_deref(), style)
}

fn line(state: Fitness, name: &str, found: &str, style: Style) -> String {
    // Padded before it is painted: the codes for colours have no width.
    let word = format!("{:STATE$}", state.as_str());
    let paint = match state {
        Fitness::Ok => AnsiColor::Green.on_default(),
        Fitness::Limited => AnsiColor::Yellow.on_default(),
        Fitness::Missing => AnsiColor::Red.on_default(),
        Fitness::Unknown => Paint::new().dimmed(),
    };
    let first = format!("  {} {name:NAME$} ", style.paint(paint, &word));
    let rest = style.wrap(found, INDENT);
    match name.chars().count() > NAME {
        true => format!("{}\n{rest}", first.trim_end()),
        false => first + rest.trim_start(),
    }
}

fn more(consequence: Option<&str>, remedy: Option<&str>, style: Style) -> String {
    let mut text = consequence.map_or(String::new(), |consequence| style.wrap(consequence, INDENT));
    if let Some(remedy) = remedy {
        text += &style.wrap(&format!("→ {remedy}"), INDENT);
    }
    text
}

fn heading(text: &str, style: Style) -> String {
    format!("\n{}\n", style.bold(text))
}

fn found(need: &NeedFound) -> String {
    let path = need.path.as_ref().map(|path| path.display().to_string());
    match (&need.missing, &need.version, path) {
        (Some(missing), ..) => missing.clone(),
        (None, Some(version), Some(path)) => format!("{version} in {path}"),
        (None, None, Some(path)) => path,
        _ => "it did not say its version in time".to_owned(),
    }
}

fn tally(of: &Diagnosis) -> String {
    let count = |state| of.findings.iter().filter(|finding| finding.state == state).count();
    let states = [Fitness::Ok, Fitness::Limited, Fitness::Missing, Fitness::Unknown];
    let states = states.map(|state| format!("{} {}", count(state), state.as_str())).join(", ");
    let equipped = of.contenders.iter().filter(|one| one.state == Fitness::Ok);
    let (can, all) = (contenders(equipped), contenders(of.contenders.iter()));
    format!("\n{states}; {can} of {all} contenders have their tools\n")
}

fn contenders<'a>(of: impl Iterator<Item = &'a Equipment>) -> usize {
    of.map(|one| one.contenders.len()).sum()
}
