//! A future that waits for tokio's timer.

use std::io;

use tokio::runtime::Builder;
use tokio::time::{Instant, sleep_until};

use crate::play::{self, Failure, State};

/// Plays on the current-thread runtime.
pub fn serve() -> Result<(), Failure> {
    let runtime = Builder::new_current_thread().enable_time().build()?;
    play::serve(|states| runtime.block_on(play(states)))
}

async fn play(states: &[State]) -> io::Result<()> {
    let start = Instant::now();
    for state in states {
        // The first is to be written at once, and "now" would be rounded up to the next millisecond, too.
        if !state.due.is_zero() {
            sleep_until(start + state.due).await;
        }
        state.write()?;
    }
    Ok(())
}
