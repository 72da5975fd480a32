//! The text of `kumite --help`: commands in groups by their purpose, each group with an example.

use clap::Command;
use clap::builder::StyledStr;

/// The groups: a heading, an example, and the commands below it.
const GROUPS: [(&str, &str, &[&str]); 4] = [
    (
        "Measure",
        "kumite run compress --profile quick",
        &["run", "resume", "again", "replicate", "merge", "manifest", "compare", "load"],
    ),
    ("Look", "kumite report last --html report.html", &["list", "report", "export", "doctor", "selfcheck"]),
    ("Build", "kumite init mine --kind http", &["init", "check", "build", "task", "kit-test", "schema"]),
    ("Host and play", "kumite stub --delay 5ms -p 3000", &["function", "stub", "disk", "play"]),
];

/// The same command with another help text, which lists its subcommands in groups.
pub fn grouped(command: Command) -> Command {
    let template =
        format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{}{{options}}{{after-help}}\n", list(&command));
    command.help_template(StyledStr::from(template))
}

fn list(command: &Command) -> String {
    let mut out = String::new();
    for (heading, example, names) in GROUPS {
        out += &format!("{heading}:\n");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let first = format!("  {name:<11}");
            let options =
                textwrap::Options::new(100).initial_indent(&first).subsequent_indent("             ");
            out += &(textwrap::fill(&about, options) + "\n");
        }
        out += &format!("  e.g. {example}\n\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let command = crate::Cli::command();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let all: BTreeSet<&str> = shown.map(Command::get_name).collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, _, names)| names.iter().copied()).collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), all);
        assert_eq!(grouped.len(), all.len());
    }
}
