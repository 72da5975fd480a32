//! `kumite doctor`: what this machine can and cannot give.

mod nodes;

use std::path::PathBuf;

use clap::Parser;
use clap::builder::styling::{AnsiColor, Style};
use kumite_host::{Finding, Fitness};
use kumite_lab::{Diagnosis, Equipment, NeedFound, doctor};
use kumite_nodes::{NodesWanted, On, findings};

use crate::exit::Failure;
use crate::nodes::{SlurmFlags, driver};
use crate::{output, stop};

/// Where what was found begins, behind the state and the name.
const INDENT: usize = 2 + STATE + 1 + NAME + 1;
const STATE: usize = 7;
const NAME: usize = 16;

#[derive(Parser)]
pub struct Args {
    /// Write it as JSON, to standard output if no file is named, in place of the text
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// Where: local; ssh:HOST,HOST or slurm, whose nodes are shown beside each other, what differs first
    #[arg(long, value_name = "WHERE", default_value = "local")]
    on: On,
    #[command(flatten)]
    slurm: SlurmFlags,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let stop = stop::flag()?;
    let found = match &args.on {
        On::Local => None,
        on => {
            let at = on.allocate(&args.slurm.options(), &NodesWanted::Nodes, "doctor", &driver(&stop))?;
            Some(findings(&at.nodes, crate::VERSION, &stop)?)
        }
    };
    if let Some(found) = found {
        return match &args.json {
            Some(file) => output::write(file, &output::json(&found)?),
            None => output::print(&nodes::text(&found)),
        };
    }
    let diagnosis = doctor();
    match &args.json {
        Some(file) => output::write(file, &output::json(&diagnosis)?),
        None => {
            let style = output::style();
            output::report(&Terminal { color: style.color, width: style.width.max(60) }.text(&diagnosis))
        }
    }
}

struct Terminal {
    color: bool,
    width: usize,
}

impl Terminal {
    fn text(&self, diagnosis: &Diagnosis) -> String {
        let mut text = String::new();
        let mut group = "";
        for finding in &diagnosis.findings {
            if finding.group != group {
                group = &finding.group;
                text += &self.heading(&group.to_uppercase());
            }
            text += &self.finding(finding);
        }
        let mut experiment = None;
        for equipment in &diagnosis.contenders {
            if experiment != Some(&equipment.experiment) {
                experiment = Some(&equipment.experiment);
                text += &self.heading(&format!("TOOLS of {}", equipment.experiment));
            }
            text += &self.equipment(equipment);
        }
        if diagnosis.contenders.is_empty() {
            text += &self.heading("TOOLS");
            text += &self.wrap("there are no experiments here or above", 2);
        }
        text + &tally(diagnosis)
    }

    fn finding(&self, finding: &Finding) -> String {
        let mut text = self.line(finding.state, &finding.name, &finding.found);
        text += &self.more(finding.consequence.as_deref(), finding.remedy.as_deref());
        text
    }

    fn equipment(&self, equipment: &Equipment) -> String {
        let names = equipment.contenders.join(", ");
        let what = match (&equipment.error, equipment.state) {
            (Some(error), _) => error.clone(),
            (None, Fitness::Ok) => format!("{names}: all tools are here"),
            (None, Fitness::Missing) => format!("{names}: a tool is missing, so a run skips it"),
            (None, _) => format!("{names}: not known whether all tools are here"),
        };
        let mut text = self.wrap(&what, 2);
        for need in &equipment.needs {
            text += &self.line(need.state, &need.need, &found(need));
        }
        text + &self.more(None, equipment.remedy.as_deref())
    }

    fn line(&self, state: Fitness, name: &str, found: &str) -> String {
        // Padded before it is painted: the codes for colours have no width.
        let word = format!("{:STATE$}", state.as_str());
        let style = match state {
            Fitness::Ok => AnsiColor::Green.on_default(),
            Fitness::Limited => AnsiColor::Yellow.on_default(),
            Fitness::Missing => AnsiColor::Red.on_default(),
            Fitness::Unknown => Style::new().dimmed(),
        };
        let first = format!("  {} {name:NAME$} ", self.paint(style, &word));
        let rest = self.wrap(found, INDENT);
        match name.chars().count() > NAME {
            true => format!("{}\n{rest}", first.trim_end()),
            false => first + rest.trim_start(),
        }
    }

    fn more(&self, consequence: Option<&str>, remedy: Option<&str>) -> String {
        let mut text = consequence.map_or(String::new(), |consequence| self.wrap(consequence, INDENT));
        if let Some(remedy) = remedy {
            text += &self.wrap(&format!("→ {remedy}"), INDENT);
        }
        text
    }

    fn heading(&self, text: &str) -> String {
        format!("\n{}\n", self.paint(Style::new().bold(), text))
    }

    fn wrap(&self, text: &str, indent: usize) -> String {
        let lines = textwrap::wrap(text, self.width - indent);
        lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
    }

    fn paint(&self, style: Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
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

fn tally(diagnosis: &Diagnosis) -> String {
    let count = |state| diagnosis.findings.iter().filter(|finding| finding.state == state).count();
    let states = [Fitness::Ok, Fitness::Limited, Fitness::Missing, Fitness::Unknown];
    let states = states.map(|state| format!("{} {}", count(state), state.as_str())).join(", ");
    let contenders = |of: &[&Equipment]| of.iter().map(|one| one.contenders.len()).sum::<usize>();
    let all: Vec<&Equipment> = diagnosis.contenders.iter().collect();
    let can: Vec<&Equipment> = all.iter().copied().filter(|one| one.state == Fitness::Ok).collect();
    format!("\n{states}; {} of {} contenders have their tools\n", contenders(&can), contenders(&all))
}
