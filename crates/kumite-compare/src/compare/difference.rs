//! The first difference between two outputs that should be the same.

/// The most bytes that are shown of a line that differs.
const SHOWN: usize = 200;

/// The error that two runs wrote different outputs, although they were to write the same.
#[derive(Debug, thiserror::Error)]
#[error(
    "outputs differ{}",
    line.as_ref().map_or_else(
        || format!(": those of `{first}` and `{second}`"),
        |line| format!(
            ", first in line {}: `{first}` wrote {}, `{second}` wrote {}",
            line.number, shown(&line.first), shown(&line.second)
        )
    )
)]
pub struct Difference {
    /// The name of the command that wrote the first output, which all others must equal.
    pub first: String,
    /// The name of the command whose output differs from the first. It may be the same command, in another run.
    pub second: String,
    /// The first line that differs. `None` if all lines are the same and only the digests differ, because the file
    /// was written to meanwhile.
    pub line: Option<DifferentLine>,
}

/// The first line that two outputs do not have in common.
#[derive(Debug, PartialEq, Eq)]
pub struct DifferentLine {
    /// The number of the line, from 1.
    pub number: u64,
    /// The line in the first output, with its end; empty if that output has fewer lines.
    pub first: Vec<u8>,
    /// The line in the second output, with its end; empty if that output has fewer lines.
    pub second: Vec<u8>,
}

fn shown(line: &[u8]) -> String {
    if line.is_empty() {
        return "nothing".to_owned();
    }
    let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]).into_owned();
    let more = if line.len() > SHOWN { " …" } else { "" };
    format!("{text:?}{more}")
}
