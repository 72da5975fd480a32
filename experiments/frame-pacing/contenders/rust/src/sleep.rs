//! A thread that sleeps.

use std::io;
use std::thread;
use std::time::Instant;

use crate::play::{self, Failure, State};

/// Plays on the main thread.
pub fn serve() -> Result<(), Failure> {
    play::serve(play)
}

fn play(states: &[State]) -> io::Result<()> {
    let start = Instant::now();
    for state in states {
        // For what is left until a deadline that counts from the start: so late wake-ups do not add up.
        thread::sleep((start + state.due).saturating_duration_since(Instant::now()));
        state.write()?;
    }
    Ok(())
}
