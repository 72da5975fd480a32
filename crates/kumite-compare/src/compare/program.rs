//! The program of a command: the file that its first word names.

use std::path::Path;

use kumite_process::{CommandLine, CommandLineError, Shell};

/// The first word of a command, if this word is the path of the program that runs. `None` if the command needs a shell,
/// which may start anything, or if the word has no slash, so that the program is looked for on PATH.
pub fn program(command: &str) -> Option<String> {
    let word = words(command)?.into_iter().next()?;
    word.contains('/').then_some(word)
}

/// The command with another program in place of its own. A command that needs a shell has no program of its own, and is
/// left as it is.
pub(crate) fn with_program(command: &str, program: &Path) -> Result<String, CommandLineError> {
    let Some(mut words) = words(command) else { return Ok(command.to_owned()) };
    words[0] = program.to_string_lossy().into_owned();
    CommandLine { shell: None, words }.typed()
}

/// The words of a command that needs no shell.
fn words(command: &str) -> Option<Vec<String>> {
    let line = CommandLine::new(command, &Shell::IfNeeded).ok()?;
    line.shell.is_none().then_some(line.words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_command_is_a_path_that_no_shell_stands_before() {
        for (command, word) in [
            ("./tool file", Some("./tool")),
            ("'./my tool' x", Some("./my tool")),
            ("exec build/tool", Some("build/tool")),
            ("/usr/bin/gzip -5 file", Some("/usr/bin/gzip")),
            ("gzip -5 file", None),
            ("sh tool", None),
            ("./tool | ./other", None),
            ("./tool < file", None),
            ("./tool; ./tool", None),
            ("A=1 ./tool", None),
            ("'./tool", None),
        ] {
            assert_eq!(program(command).as_deref(), word, "{command}");
        }
    }

    #[test]
    fn another_program_gets_the_same_words() {
        let with = |command: &str| with_program(command, Path::new("/kept/my tool")).unwrap();
        let words = |command: &str| CommandLine::new(command, &Shell::IfNeeded).unwrap();
        for command in ["./tool", "  ./tool 'a b' \\$x \"\"", "exec ./tool a"] {
            let (other, same) = (words(&with(command)), words(command));
            assert_eq!(other.shell, None, "{command}");
            assert_eq!(other.words[0], "/kept/my tool");
            assert_eq!(other.words[1..], same.words[1..], "{command}");
        }
    }
}
