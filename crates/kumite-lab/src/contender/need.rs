//! A tool that is needed, and its versions: how they are written, printed and compared.

use crate::unfit::Unfit;
use std::fmt;
use std::str::FromStr;

/// A tool, and the oldest version that will do: `go >= 1.22`, or `npm` for any.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// The command that is looked for, on PATH and in the other places that `tools.rs` knows.
    pub tool: String,
    /// The parts of the oldest version that will do, such as 1 and 22. None if any version will.
    pub at_least: Option<Vec<u64>>,
}

impl FromStr for Need {
    type Err = Unfit;

    fn from_str(text: &str) -> Result<Need, Unfit> {
        let (tool, version) = match text.split_once(">=") {
            Some((tool, version)) => (tool.trim(), Some(version.trim())),
            None => (text.trim(), None),
        };
        let is_tool =
            !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c));
        let at_least = version.map(parse_version);
        if !is_tool || at_least == Some(None) {
            return Err(Unfit::new(format!("'{text}' is not a need: write a command, or 'command >= 1.2'")));
        }
        Ok(Need { tool: tool.to_owned(), at_least: at_least.flatten() })
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tool)?;
        match &self.at_least {
            Some(version) => write!(f, " >= {}", dotted(version)),
            None => Ok(()),
        }
    }
}

/// The version in what a tool printed: on a line that begins with the tool's own name, if there is one (Elixir prints
/// Erlang's version first); else the first number with a dot in it, else one in quotes or right after the name (the
/// first release of a Java). None if there is none.
pub(super) fn version_said(tool: &str, said: &str) -> Option<Vec<u64>> {
    let named =
        said.lines().find(|line| line.to_lowercase().starts_with(&format!("{} ", tool.to_lowercase())));
    let numbers = |text: &str| {
        text.split(|c: char| !c.is_ascii_digit() && c != '.')
            .map(|part| part.trim_matches('.'))
            .find(|part| part.contains('.'))
            .and_then(parse_version)
    };
    let quoted = || said.split('"').nth(1).and_then(parse_version);
    let alone = || named?.split_whitespace().nth(1).and_then(parse_version);
    named.and_then(numbers).or_else(|| numbers(said)).or_else(quoted).or_else(alone)
}

/// True if `found` is an older version than `wanted`. `1.24` and `1.24.0` are the same.
pub(super) fn is_older(found: &[u64], wanted: &[u64]) -> bool {
    let part = |version: &[u64], nth: usize| version.get(nth).copied().unwrap_or(0);
    let mut parts = (0..found.len().max(wanted.len())).map(|nth| (part(found, nth), part(wanted, nth)));
    parts.find(|(found, wanted)| found != wanted).is_some_and(|(found, wanted)| found < wanted)
}

/// The parts of a version, such as `1.22`. None if one of them is no whole number.
pub(super) fn parse_version(text: &str) -> Option<Vec<u64>> {
    text.split('.').map(|part| part.parse().ok()).collect()
}

pub(super) fn dotted(version: &[u64]) -> String {
    version.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_read_and_written() {
        for text in ["npm", "go >= 1.22", "dpkg-deb", "g++ >= 12"] {
            assert_eq!(text.parse::<Need>().unwrap().to_string(), text);
        }
        for text in ["", ">= 1", "go >= new", "rm -rf /", "a;b"] {
            assert!(text.parse::<Need>().is_err(), "{text}");
        }
    }

    #[test]
    fn versions_are_found_in_what_tools_print() {
        let cases: [(&str, &str, &[u64]); 10] = [
            ("go", "go version go1.26.8 linux/amd64\n", &[1, 26, 8]),
            ("node", "v20.20.2\n", &[20, 20, 2]),
            ("npm", "11.19.1\n", &[11, 19, 1]),
            ("cargo", "cargo 1.95.0 (f2d3ce0bd 2026-03-21)\n", &[1, 95, 0]),
            ("java", "openjdk version \"17.0.15\" 2025-04-15\n", &[17, 0, 15]),
            ("java", "openjdk version \"25\" 2025-09-16\n", &[25]),
            ("javac", "javac 25\n", &[25]),
            ("mvn", "Apache Maven 3.8.7\n", &[3, 8, 7]),
            (
                "elixir",
                "Erlang/OTP 25 [erts-13.1.5] [64-bit]\n\nElixir 1.14.0 (compiled with Erlang/OTP 24)\n",
                &[1, 14, 0],
            ),
            (
                "dpkg-deb",
                "Debian 'dpkg-deb' package archive backend version 1.21.22 (amd64).\n",
                &[1, 21, 22],
            ),
        ];
        for (tool, said, version) in cases {
            assert_eq!(version_said(tool, said).as_deref(), Some(version), "{tool}");
        }
        assert_eq!(version_said("x", "no number here 12\n"), None);
    }

    #[test]
    fn versions_are_compared_part_by_part() {
        for (found, wanted, older) in
            [("1.24", "1.24.0", false), ("1.9", "1.10", true), ("2", "1.99", false), ("1", "1.0.1", true)]
        {
            let (found, wanted) = (parse_version(found).unwrap(), parse_version(wanted).unwrap());
            assert_eq!(is_older(&found, &wanted), older, "{found:?} {wanted:?}");
        }
    }
}
