//! The tools a contender needs: whether they are here, in which version, and how to get them.

mod tools;

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{Spawn, run};
pub(crate) use kumite_process::{how_it_ended as ended, last_lines, last_lines_of};

use tools::runs;
pub(crate) use tools::{Tools, Versions};

use crate::contender::Install;

const INSTALL_LIMIT: Duration = Duration::from_secs(20 * 60);
const QUERY_LIMIT: Duration = Duration::from_secs(60);

/// A tool, and the oldest version that will do: `go >= 1.22`, or `npm` for any.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// Its command.
    pub tool: String,
    /// The parts of its oldest version, none for any.
    pub at_least: Option<Vec<u64>>,
}

impl FromStr for Need {
    type Err = String;

    fn from_str(text: &str) -> Result<Need, String> {
        let (tool, version) = match text.split_once(">=") {
            Some((tool, version)) => (tool.trim(), Some(version.trim())),
            None => (text.trim(), None),
        };
        let is_tool =
            !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c));
        let at_least = version.map(parse_version);
        if !is_tool || at_least == Some(None) {
            return Err(format!("'{text}' is not a need: write a command, or 'command >= 1.2'"));
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

/// Installs the packages through the system's package manager, as root or through sudo. It is not broken off: a package
/// manager that is killed leaves the system half done.
pub(crate) fn install(packages: &Install, log: &Path) -> Result<(), String> {
    if !is_on_path("apt-get") {
        return Err("this system has no apt-get, the package manager that --install knows".into());
    }
    let sudo = if is_root() { "" } else { "sudo -n " };
    let names = packages.apt.join(" ");
    let command = format!(
        "{sudo}apt-get -q update && {sudo}env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends {names}"
    );
    let spawn = Spawn { command: &command, dir: Path::new("."), env: &[], cores: &[], log, group: None };
    let finished = run(&spawn, INSTALL_LIMIT, &AtomicBool::new(false)).map_err(|error| error.to_string())?;
    if finished.status.success() {
        return Ok(());
    }
    let how = ended(finished.status);
    Err(format!("`{command}` {how}: {}; as root: apt-get update && apt-get install {names}", last_lines(log)))
}

/// Whether one of them is not installed, where Debian's package manager knows that.
pub(crate) fn is_any_missing(packages: &Install, log: &Path) -> bool {
    let (names, count) = (packages.apt.join(" "), packages.apt.len());
    let installed = format!("dpkg-query -W -f '${{db:Status-Status}}\\n' {names} | grep -cx installed");
    let command = format!("test $({installed}) -eq {count}");
    let spawn = Spawn { command: &command, dir: Path::new("."), env: &[], cores: &[], log, group: None };
    let all = || run(&spawn, QUERY_LIMIT, &AtomicBool::new(false)).is_ok_and(|asked| asked.status.success());
    count > 0 && is_on_path("dpkg-query") && !all()
}

fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|status| status.lines().any(|line| line.starts_with("Uid:\t0\t")))
}

fn is_on_path(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| runs(&folder.join(tool)))
}

/// The version in what a tool printed: after its own name where it names itself (Elixir prints Erlang's first), else the
/// first number with a dot in it, else one in quotes or right after its name (the first release of a Java).
fn version_said(tool: &str, said: &str) -> Option<Vec<u64>> {
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

/// `1.24` and `1.24.0` are the same.
fn is_older(found: &[u64], wanted: &[u64]) -> bool {
    let part = |version: &[u64], nth: usize| version.get(nth).copied().unwrap_or(0);
    let mut parts = (0..found.len().max(wanted.len())).map(|nth| (part(found, nth), part(wanted, nth)));
    parts.find(|(found, wanted)| found != wanted).is_some_and(|(found, wanted)| found < wanted)
}

fn parse_version(text: &str) -> Option<Vec<u64>> {
    text.split('.').map(|part| part.parse().ok()).collect()
}

fn dotted(version: &[u64]) -> String {
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
