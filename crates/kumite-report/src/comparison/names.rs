//! The names of commands and servers in a comparison. If any is too long for a table, all of them become letters.

use std::collections::BTreeMap;

use kumite_record::Comparison;

use crate::words::letters::letters;
use crate::words::text::one_line;

/// The most characters of a name that fits into a sentence and a table.
const LONGEST: usize = 40;

/// The short names of commands and servers: their own, or letters if any of those is too long.
pub(super) struct Names {
    by_name: BTreeMap<String, String>,
    /// Each letter and the name it stands for; empty if names are their own.
    pub legend: Vec<(String, String)>,
}

impl Names {
    pub(super) fn of_all(comparison: &Comparison) -> Names {
        let commands = comparison.commands.iter().map(|command| &command.name);
        let all: Vec<&String> =
            commands.chain(comparison.servers.iter().map(|server| &server.name)).collect();
        let too_long = all.iter().any(|name| name.chars().count() > LONGEST);
        let called = |(at, name): (usize, &&String)| match too_long {
            true => ((*name).clone(), letters(at)),
            false => ((*name).clone(), one_line(name)),
        };
        let legend = all.iter().enumerate().map(|(at, name)| (letters(at), one_line(name)));
        Names {
            legend: if too_long { legend.collect() } else { Vec::new() },
            by_name: all.iter().enumerate().map(called).collect(),
        }
    }

    /// The names as they are, however long.
    pub(super) fn in_full() -> Names {
        Names { by_name: BTreeMap::new(), legend: Vec::new() }
    }

    pub(super) fn of(&self, name: &str) -> String {
        self.by_name.get(name).cloned().unwrap_or_else(|| one_line(name))
    }
}
