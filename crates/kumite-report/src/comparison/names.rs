//! The names of commands and servers in a comparison. If any is too long for a table, all of them become letters.

use std::collections::BTreeMap;

use kumite_record::Comparison;

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

    pub(super) fn of(&self, name: &str) -> String {
        self.by_name.get(name).cloned().unwrap_or_else(|| one_line(name))
    }
}

/// The letters for number `at`, counted from 0: A to Z, then AA and so on.
fn letters(at: usize) -> String {
    let last = char::from(b'A' + (at % 26) as u8);
    if at < 26 { last.to_string() } else { letters(at / 26 - 1) + &last.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 25, 26, 51, 52, 701, 702].map(letters), ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }
}
