//! The way from a command line to a program and its arguments, through a shell only if one is needed.

use shlex::QuoteError;

/// The error that a text is no command line. Its message may stand behind the name of a flag or a contender.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandLineError {
    /// The value of `--shell` has no word: it is empty, or a comment.
    #[error("the name of the shell is empty")]
    NoShell,
    /// The command has no word (it is empty, or a comment), or its first word is empty.
    #[error("a command is empty")]
    Empty,
    /// The text has an open quote, or ends in a backslash, and so cannot be split into words.
    #[error("`{0}` has a quote without its end, or a backslash with nothing after it: close or remove it")]
    Unclosed(String),
    /// The words cannot be typed in a shell: one has a NUL byte.
    #[error(transparent)]
    Quote(#[from] QuoteError),
}

/// The shell that runs a command, if any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shell {
    /// `sh` if the command has something that only a shell understands; otherwise no shell.
    IfNeeded,
    /// No shell: the words of the command are the program and its arguments.
    Never,
    /// This shell with its arguments, to which `-c` and the command are added.
    Always(Vec<String>),
}

impl Shell {
    /// Parses the value of `--shell`: `none`, `default`, or a command line such as `bash --norc`. An error if the
    /// command line is empty or has an open quote.
    pub fn parse(text: &str) -> Result<Shell, CommandLineError> {
        match text {
            "none" => Ok(Shell::Never),
            "default" => Ok(Shell::Always(vec!["sh".to_owned()])),
            _ => match split(text)? {
                words if words.is_empty() => Err(CommandLineError::NoShell),
                words => Ok(Shell::Always(words)),
            },
        }
    }
}

/// A command, split into a program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// The shell and its arguments, without `-c` and the command; `None` if no shell runs the command.
    pub shell: Option<Vec<String>>,
    /// The program and its arguments; those of the shell, with `-c` and the command, if there is one.
    pub words: Vec<String>,
}

impl CommandLine {
    /// Splits a command into words, or hands it to a shell, as `shell` says. An error if the command is empty, or
    /// cannot be split although no shell is to read it.
    pub fn new(command: &str, shell: &Shell) -> Result<CommandLine, CommandLineError> {
        // A comment, too, is nothing. What cannot be split may be right for a shell that is not sh.
        if shlex::split(command).is_some_and(|words| words.first().is_none_or(String::is_empty)) {
            return Err(CommandLineError::Empty);
        }
        let through = |shell: &[String]| CommandLine {
            shell: Some(shell.to_vec()),
            words: shell.iter().cloned().chain(["-c".to_owned(), command.to_owned()]).collect(),
        };
        if let Shell::Always(shell) = shell {
            return Ok(through(shell));
        }
        let words = split(command)?;
        if *shell == Shell::IfNeeded {
            let program = without_exec(&words);
            return Ok(match needs_shell(command, program) {
                true => through(&["sh".to_owned()]),
                false => CommandLine { shell: None, words: program.to_vec() },
            });
        }
        Ok(CommandLine { shell: None, words })
    }

    /// The command as a line that `sh` understands. An error if a word has a NUL byte.
    pub fn typed(&self) -> Result<String, CommandLineError> {
        Ok(shlex::try_join(self.words.iter().map(String::as_str))?)
    }
}

/// Words at the beginning of a command that a shell executes itself, so that no program is found for them.
const BUILT_IN: &[&str] = &[
    "!", ".", ":", "alias", "bg", "break", "case", "cd", "command", "continue", "eval", "exec", "exit",
    "export", "fc", "fg", "for", "getopts", "hash", "if", "jobs", "local", "read", "readonly", "return",
    "set", "shift", "source", "times", "trap", "type", "ulimit", "umask", "unalias", "unset", "until",
    "wait", "while",
];

/// Splits a text into words, as a shell would.
fn split(text: &str) -> Result<Vec<String>, CommandLineError> {
    shlex::split(text).ok_or_else(|| CommandLineError::Unclosed(text.to_owned()))
}

/// The words of a command without a leading `exec`, which changes nothing for a command that is started without a
/// shell.
fn without_exec(words: &[String]) -> &[String] {
    match words {
        [exec, program @ ..] if exec == "exec" && program.first().is_some_and(|it| !it.starts_with('-')) => {
            program
        }
        words => words,
    }
}

/// `true` if the text has something that only a shell understands: outside of quotes, a line break or one of the
/// characters that make takes for a shell's; in double quotes, `$` or a backquote; in the first word `=`, as in an
/// assignment; or as the first word a built-in command of shells.
fn needs_shell(text: &str, words: &[String]) -> bool {
    let mut quote = None;
    let mut characters = text.trim().chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => _ = characters.next(),
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (Some('"'), '$' | '`') => return true,
            (None, _) if "#;*?[]&|<>(){}$`^~!\n".contains(c) => return true,
            _ => {}
        }
    }
    words.first().is_some_and(|first| first.contains('=') || BUILT_IN.contains(&first.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direct(command: &str) -> Vec<String> {
        let line = CommandLine::new(command, &Shell::IfNeeded).unwrap();
        assert_eq!(line.shell, None, "{command}");
        line.words
    }

    #[test]
    fn plain_commands_need_no_shell() {
        assert_eq!(direct("sleep 0.2"), ["sleep", "0.2"]);
        assert_eq!(direct("  grep -i 'a b' \"c d\"e\\ f  "), ["grep", "-i", "a b", "c de f"]);
        assert_eq!(direct("awk '{print $1}' \"\\$x\" ''"), ["awk", "{print $1}", "$x", ""]);
        assert_eq!(direct("dd if=/dev/zero of=x"), ["dd", "if=/dev/zero", "of=x"]);
        assert_eq!(direct("true\n"), ["true"]);
        assert_eq!(direct("exec true x"), ["true", "x"]);
        assert_eq!(direct("echo \"'\" '\"$x' \\; a\\\nb"), ["echo", "'", "\"$x", ";", "ab"]);
    }

    #[test]
    fn what_only_a_shell_understands_goes_through_one() {
        for command in [
            "a | b",
            "a; b",
            "a && b",
            "a > b",
            "echo $HOME",
            "echo \"$HOME\"",
            "echo `a`",
            "ls *.rs",
            "(a)",
            "X=1 a",
            "cd /",
            "exit 3",
            "a\nb",
            "echo ~",
            "a # b",
            "a # it's",
            "echo \"\\\"$HOME\"",
            "for i in 1; do a; done",
        ] {
            let line = CommandLine::new(command, &Shell::IfNeeded).unwrap();
            assert_eq!(line.words, ["sh", "-c", command]);
            assert_eq!(line.shell, Some(vec!["sh".to_owned()]));
        }
    }

    #[test]
    fn the_shell_is_that_which_was_asked_for() {
        let bash = Shell::parse("bash --norc").unwrap();
        assert_eq!(CommandLine::new("true", &bash).unwrap().words, ["bash", "--norc", "-c", "true"]);
        let none = Shell::parse("none").unwrap();
        assert_eq!(CommandLine::new("echo $HOME; x", &none).unwrap().words, ["echo", "$HOME;", "x"]);
        assert_eq!(Shell::parse("default"), Ok(Shell::Always(vec!["sh".to_owned()])));
        assert!(Shell::parse(" ").is_err());
    }

    #[test]
    fn a_quote_without_its_end_and_nothing_at_all_are_errors() {
        for command in ["'a", "\"a", "\"a\\", "a\\"] {
            for shell in [Shell::IfNeeded, Shell::Never] {
                assert!(CommandLine::new(command, &shell).is_err(), "{command:?}");
            }
        }
        for command in ["", "  ", "\n", "# x", " # x\n\t# y", "''", "\"\" a"] {
            for shell in [Shell::IfNeeded, Shell::Never, Shell::Always(vec!["bash".to_owned()])] {
                assert_eq!(CommandLine::new(command, &shell), Err(CommandLineError::Empty), "{command:?}");
            }
        }
    }

    #[test]
    fn what_is_typed_is_split_into_the_same_words_and_a_nul_is_an_error() {
        let words = ["a", "", "it's", "\"$HOME\" `a` \\", "*", "a\nb", "ü", "x=1", "!^"].map(str::to_owned);
        let typed = CommandLine { shell: None, words: words.to_vec() }.typed().unwrap();
        assert_eq!(split(&typed).unwrap(), words);
        assert!(CommandLine { shell: None, words: vec!["a\0b".to_owned()] }.typed().is_err());
    }
}
