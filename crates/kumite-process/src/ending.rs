//! Words for how a command ended, and for what it printed last.

use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use nix::sys::signal::Signal;

/// A phrase for the end of a command, to stand behind the command's name: `ended with status 3`.
pub fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with status {code}"),
        // A tree gives this signal as the status of a command that it has ended because the command wanted the
        // terminal.
        (None, Some(signal)) if signal == Signal::SIGTTIN as i32 || signal == Signal::SIGTTOU as i32 => {
            "wanted the terminal, which it cannot have here, and was ended".to_owned()
        }
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// The status of a command as a shell counts it: if a signal ended the command, 128 and the signal's number. `None`
/// if the status is not that of an end.
pub fn shell_status(status: ExitStatus) -> Option<i32> {
    status.code().or(status.signal().map(|signal| 128 + signal))
}

/// `true` if the command was ended by Ctrl-C: by its signal, or with the status that a shell makes of that signal.
pub(crate) fn is_interrupt(status: ExitStatus) -> bool {
    shell_status(status) == Some(128 + Signal::SIGINT as i32)
}

/// The last five lines in the last 4 KiB of a log that are not empty, joined to one line. `it printed nothing` if
/// there are none, or the log cannot be read.
pub fn last_lines(log: &Path) -> String {
    const TAIL: u64 = 4096;
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut tail = Vec::new();
        file.take(TAIL).read_to_end(&mut tail)?;
        Ok(tail)
    };
    last_lines_of(&String::from_utf8_lossy(&read().unwrap_or_default()))
}

/// The last five lines of a text that are not empty, joined to one line. `it printed nothing` if there are none.
pub fn last_lines_of(text: &str) -> String {
    let mut lines: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).rev().take(5).collect();
    lines.reverse();
    if lines.is_empty() { "it printed nothing".to_owned() } else { lines.join(" ⏎ ") }
}
