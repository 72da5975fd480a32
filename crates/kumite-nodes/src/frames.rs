//! The output of a run that an agent has started: frames on standard output, which the agent passes on to its driver.
//!
//! Such a run is told so by flags that nobody else gives. It writes nothing but frames there, notes and relayed questions; its
//! report comes to nobody, for the driver prints one of its own. A note that cannot be written is dropped: an agent that
//! ends, ends the run, too.

use std::io::Write;

use kumite_agent::{Tell, encode};

/// The flag that makes all output frames.
pub const IN_FRAMES: &str = "--in-frames";
/// Begins the flag with the nodes that the driver reaches for this run, as JSON.
pub const RELAYED: &str = "--relayed=";

/// Writes a frame for whoever started this process.
pub(crate) fn tell(what: &Tell) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    output.write_all(&encode(what))?;
    output.flush()
}

/// A note for the agent that started this process, in a frame for each line.
pub fn tell_note(text: &str) {
    // An agent that is gone needs no words.
    text.lines().for_each(|line| drop(tell(&Tell::Note { text: line.to_owned() })));
}
