//! The flags of baselines, and the flags that a baseline keeps.

use kumite_compare::{Allowed, Bench, Setting, Shell, Stdin};
use serde::{Deserialize, Serialize};

use crate::compare::Around;

#[derive(clap::Args)]
#[command(next_help_heading = "Baselines of another day")]
pub struct BaselineArgs {
    /// Keep the command, to be measured again by --baseline: its revision (--rev), or else a copy of its program (the first
    /// word, if that is the path of a program). A baseline of this name is replaced
    #[arg(long, value_name = "NAME", value_parser = name, conflicts_with = "baseline")]
    pub(super) save_baseline: Option<String>,
    /// Compare with this baseline. It is measured again beside the command and is the reference. What is left out is as the
    /// baseline has it: the command, its hooks, --env, --shell, --input, --ignore-failure and --build; with a baseline of a
    /// revision --rev is `.`
    #[arg(long, value_name = "NAME", value_parser = name, conflicts_with_all = ["reference", "import"])]
    pub(super) baseline: Option<String>,
}

impl BaselineArgs {
    pub fn saves(&self) -> bool {
        self.save_baseline.is_some()
    }

    pub fn is_given(&self) -> bool {
        self.baseline.is_some()
    }
}

/// The flags around a command, with which its baseline is measured again.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptFlags {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    setup: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prepare: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conclude: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cleanup: Option<String>,
    /// Variables, as `--env` takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    env: Option<String>,
    /// The shell, as `--shell` takes it. None for one where it is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shell: Option<String>,
    /// The file of `--input`. None for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    /// The exit codes of `--ignore-failure`. None if all but 0 are failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ignore_failure: Option<String>,
}

impl KeptFlags {
    pub fn of(bench: &Bench, setting: &Setting) -> KeptFlags {
        let joined = |words: &[String]| shlex::try_join(words.iter().map(String::as_str)).ok();
        let env: Vec<String> = bench.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        KeptFlags {
            setup: bench.setup.clone(),
            prepare: bench.prepare.clone(),
            conclude: bench.conclude.clone(),
            cleanup: bench.cleanup.clone(),
            env: joined(&env).filter(|text| !text.is_empty()),
            shell: match &setting.shell {
                Shell::IfNeeded => None,
                Shell::Never => Some("none".to_owned()),
                Shell::Always(words) => joined(words),
            },
            input: match &setting.stdin {
                Stdin::Null => None,
                Stdin::File(file) => Some(file.to_string_lossy().into_owned()),
            },
            ignore_failure: match &setting.allowed {
                Allowed::None => None,
                Allowed::All => Some("all-non-zero".to_owned()),
                Allowed::Codes(codes) => Some(codes.iter().map(i32::to_string).collect::<Vec<_>>().join(",")),
            },
        }
    }

    /// Fills in the flags that were not typed.
    pub fn fill(&self, around: &mut Around) {
        let either = |typed: &mut Option<String>, kept: &Option<String>| {
            if typed.is_none() {
                typed.clone_from(kept);
            }
        };
        either(&mut around.setup, &self.setup);
        either(&mut around.cleanup, &self.cleanup);
        either(&mut around.input, &self.input);
        let each = |typed: &mut Vec<String>, kept: &Option<String>| {
            if typed.is_empty() {
                typed.extend(kept.clone());
            }
        };
        each(&mut around.prepare, &self.prepare);
        each(&mut around.conclude, &self.conclude);
        each(&mut around.env, &self.env);
        if around.shell.is_none() && !around.no_shell {
            around.shell = self.shell.as_ref().and_then(|text| Shell::parse(text).ok());
        }
        if around.ignore_failure.is_none() {
            around.ignore_failure = self.ignore_failure.as_ref().and_then(|text| Allowed::parse(text).ok());
        }
    }

    /// The texts in which a user may have typed a secret: hooks and variables. The file of the baseline shows them to
    /// everybody who can read it.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        [&self.setup, &self.prepare, &self.conclude, &self.cleanup, &self.env].into_iter().flatten()
    }
}

/// A name that is a folder's name on every system. The error is a message for clap.
fn name(text: &str) -> Result<String, &'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_right = (1..=100).contains(&text.len()) && !text.starts_with(['.', '-']) && text.chars().all(fits);
    is_right
        .then(|| text.to_owned())
        .ok_or("use letters, digits, -, _ and ., at most 100 of them, and begin with neither . nor -")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_out_of_no_folder() {
        for right in ["main", "v1.2.3", "2026-11-26", "_x", "a".repeat(100).as_str()] {
            assert_eq!(name(right).as_deref(), Ok(right));
        }
        for wrong in ["", ".", "..", "../x", "a/b", "/x", "a b", "-x", "é", "a\0", "a".repeat(101).as_str()]
        {
            assert!(name(wrong).is_err(), "{wrong:?}");
        }
    }
}
