//! A run that an agent has started: the flags that only it is given, and what it says to the agent, which are frames on its
//! standard output.

use std::io::Write;

use kumite_agent::{Tell, encode};

/// To say all in frames.
pub const IN_FRAMES: &str = "--in-frames";
/// To work with nodes that whoever asked for the run reaches: these follow, as JSON.
pub const RELAYED: &str = "--relayed=";

/// Writes a frame for whoever started this process.
pub(crate) fn tell(what: &Tell) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    output.write_all(&encode(what))?;
    output.flush()
}

/// Tells the agent that started this process, in a frame for each line.
pub fn tell_note(text: &str) {
    // An agent that is gone needs no words.
    text.lines().for_each(|line| drop(tell(&Tell::Note { text: line.to_owned() })));
}
