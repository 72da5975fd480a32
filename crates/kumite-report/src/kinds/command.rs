//! The report's part on commands that run to their end.

use super::KindReport;

pub(super) struct Command;

impl KindReport for Command {
    fn name(&self) -> &'static str {
        "command"
    }

    fn reading(&self) -> Option<&'static str> {
        Some(
            "A trial is one run of a command or several, one after the other, and its figures are their medians. Wall is from just before the start of the process to its end, with that of a shell where the command needs one. CPU time and peak memory are those of the process and of the descendants it waited for; peak memory is that of any one of them.",
        )
    }

    fn limits(&self) -> Option<&'static str> {
        Some(
            "how a command does with files that are not in the page cache; what a library does without the start of a process",
        )
    }
}
