//! The output of a run that an agent started: frames on standard output, which the agent passes on to its driver.
//!
//! Flags that only an agent gives tell the run so. The run then writes nothing but frames to standard output: notes
//! and relayed questions. It shows no report, since the driver prints one of its own. A note that cannot be written
//! is dropped: when an agent ends, it ends the run, too.

use std::io::Write;

use kumite_agent::{Tell, encode};

/// The flag that makes a run write all its output in frames.
pub const IN_FRAMES: &str = "--in-frames";
/// The beginning of the flag that names the nodes to which the driver relays this run's questions. The rest of the flag
/// is a `Relayed` as JSON.
pub const RELAYED: &str = "--relayed=";

/// Writes a frame for the agent that started this process.
pub(crate) fn tell(what: &Tell) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    output.write_all(&encode(what))?;
    output.flush()
}

/// Writes a note for the agent that started this process, with a frame for each line. A line that cannot be written is
/// dropped.
pub fn tell_note(text: &str) {
    // An agent that is gone needs no words.
    text.lines().for_each(|line| drop(tell(&Tell::Note { text: line.to_owned() })));
}
