//! The flag `-S` of both hyperfines: in 1.x the shell follows it (`-S 'bash --norc'`), and in 2.0 it may stand alone
//! for the default shell.

use std::ffi::{OsStr, OsString};
use std::path::Path;

const SHELLS: &[&str] = &[
    "none", "default", "sh", "ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "nu", "pwsh", "tcsh",
    "yash", "zsh",
];

/// The command line as `compare` reads it: an `-S` without a shell behind it becomes `--shell=default`. The command
/// lines of other commands are not changed.
pub fn as_meant(typed: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = typed.into_iter().collect();
    if words.get(1).is_none_or(|command| command != "compare") {
        return words;
    }
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    for at in 2..end {
        // Behind the last word there is no command to run, so that word is one.
        let is_shell = words.get(at + 1).is_some_and(|word| at + 2 < words.len() && is_shell(word));
        if words[at] == "-S" && !is_shell {
            words[at] = "--shell=default".into();
        }
    }
    words
}

/// True if the word is a shell, with nothing but flags behind it.
fn is_shell(word: &OsStr) -> bool {
    let mut words =
        word.to_string_lossy().split_whitespace().map(str::to_owned).collect::<Vec<_>>().into_iter();
    let program = words.next().unwrap_or_default();
    let name = Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    SHELLS.contains(&&*name) && words.all(|flag| flag.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_taken_and_a_command_is_not() {
        let meant = |typed: &[&str]| {
            let words = ["kumite", "compare"].iter().chain(typed).map(OsString::from);
            as_meant(words)
                .into_iter()
                .skip(2)
                .map(|word| word.into_string().unwrap())
                .collect::<Vec<_>>()
                .join("|")
        };
        for (typed, is) in [
            (&["-S", "bash", "a"][..], "-S|bash|a"),
            (&["-S", "/bin/bash --norc", "a"], "-S|/bin/bash --norc|a"),
            (&["-S", "none", "a"], "-S|none|a"),
            (&["-S", "a", "b"], "--shell=default|a|b"),
            (&["-S", "bash script.sh", "b"], "--shell=default|bash script.sh|b"),
            (&["a", "-S"], "a|--shell=default"),
            (&["-S", "bash"], "--shell=default|bash"),
            (&["-S", "--runs", "3", "a"], "--shell=default|--runs|3|a"),
            (&["--", "-S"], "--|-S"),
        ] {
            assert_eq!(meant(typed), is);
        }
        let other = ["kumite", "load", "-S", "x"].map(OsString::from);
        assert_eq!(as_meant(other.clone()), other);
    }
}
