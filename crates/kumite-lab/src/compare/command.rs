//! From a command line to a program and its arguments, through a shell only where one is needed.

/// What runs a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shell {
    /// `sh`, if the command has something that only a shell understands; else nothing.
    IfNeeded,
    /// Nothing: the words of the command are the program and its arguments.
    Never,
    /// This shell with its arguments, which gets `-c` and the command.
    Always(Vec<String>),
}

impl Shell {
    /// Of `--shell`: `none`, `default`, or a command line such as `bash --norc`.
    pub fn parse(text: &str) -> Result<Shell, String> {
        match text {
            "none" => Ok(Shell::Never),
            "default" => Ok(Shell::Always(vec!["sh".to_owned()])),
            _ => match words(text).map_err(|error| format!("the shell {error}"))? {
                Words::Plain(words) | Words::ForShell(words) if !words.is_empty() => Ok(Shell::Always(words)),
                _ => Err("the name of the shell is empty".to_owned()),
            },
        }
    }
}

/// How a command is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// The shell, as one would type it, if there is one.
    pub shell: Option<Vec<String>>,
    /// The program and its arguments.
    pub words: Vec<String>,
}

impl CommandLine {
    /// Through the shell, or without one.
    pub fn new(command: &str, shell: &Shell) -> Result<CommandLine, String> {
        let through = |shell: &[String]| CommandLine {
            shell: Some(shell.to_vec()),
            words: shell.iter().cloned().chain(["-c".to_owned(), command.to_owned()]).collect(),
        };
        let direct = |words: Vec<String>| match words.is_empty() {
            true => Err("a command is empty".to_owned()),
            false => Ok(CommandLine { shell: None, words }),
        };
        match shell {
            Shell::Always(shell) => Ok(through(shell)),
            Shell::Never => match words(command).map_err(|error| format!("`{command}` {error}"))? {
                Words::Plain(words) | Words::ForShell(words) => direct(words),
            },
            Shell::IfNeeded => match words(command) {
                Ok(Words::Plain(words)) => direct(words),
                Ok(Words::ForShell(_)) => Ok(through(&["sh".to_owned()])),
                Err(error) => Err(format!("`{command}` {error}")),
            },
        }
    }

    /// To be typed in `sh`.
    pub(crate) fn typed(&self) -> String {
        self.words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// One word, for `sh`.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

enum Words {
    Plain(Vec<String>),
    /// What only a shell understands is in them, here as plain text.
    ForShell(Vec<String>),
}

/// Those that are no programs.
const BUILT_IN: &[&str] = &[
    "!", ".", ":", "alias", "bg", "break", "case", "cd", "command", "continue", "eval", "exec", "exit",
    "export", "fc", "fg", "for", "getopts", "hash", "if", "jobs", "local", "read", "readonly", "return",
    "set", "shift", "source", "times", "trap", "type", "ulimit", "umask", "unalias", "unset", "until",
    "wait", "while",
];

/// Words as a shell would split them. Special are, outside of quotes, the characters that make takes for a shell's;
/// in double quotes, `$` and the backquote.
fn words(text: &str) -> Result<Words, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut special = false;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\n' if word.is_some() || !words.is_empty() => {
                special |= !characters.as_str().trim().is_empty();
                words.extend(word.take());
            }
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next().ok_or("has a single quote without its end")? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next().ok_or("has a double quote without its end")? {
                        '"' => break,
                        '\\' => match characters.next().ok_or("has a double quote without its end")? {
                            c @ ('"' | '\\' | '$' | '`') => word.push(c),
                            '\n' => {}
                            c => word.extend(['\\', c]),
                        },
                        c => {
                            special |= matches!(c, '$' | '`');
                            word.push(c);
                        }
                    }
                }
            }
            '\\' => match characters.next().ok_or("ends with a backslash")? {
                '\n' => {}
                c => word.get_or_insert_default().push(c),
            },
            c => {
                // An assignment before the command.
                special |= "#;*?[]&|<>(){}$`^~!".contains(c) || (c == '=' && words.is_empty());
                word.get_or_insert_default().push(c);
            }
        }
    }
    words.extend(word);
    special |= words.first().is_some_and(|first| BUILT_IN.contains(&first.as_str()));
    Ok(if special { Words::ForShell(words) } else { Words::Plain(words) })
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
        for command in ["'a", "\"a", "\"a\\", "a\\", "", "  "] {
            for shell in [Shell::IfNeeded, Shell::Never] {
                assert!(CommandLine::new(command, &shell).is_err(), "{command:?}");
            }
        }
    }
}
