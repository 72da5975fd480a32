//! The schedule of a macro: states, and how long each is held.

use std::time::Duration;

use crate::PadState;

/// Frames a second of the console: its measured rate.
pub const FPS: f64 = 59.94;

/// A state, and how many frames it is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// At least 1.
    pub frames: u32,
    /// The controls that are pressed meanwhile.
    pub state: PadState,
}

/// States in the order in which they are played. After the last one all is released.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule(pub Vec<Held>);

impl Schedule {
    /// The frames of all states together.
    pub fn frames(&self) -> u64 {
        self.0.iter().map(|held| u64::from(held.frames)).sum()
    }

    /// When each state is due, from the start, at so many frames a second; and last, when all is to be released.
    pub fn due(&self, fps: f64) -> impl Iterator<Item = (Duration, PadState)> {
        let mut frames = 0_u64;
        let states = self.0.iter().map(move |held| {
            let before = frames;
            frames += u64::from(held.frames);
            (before, held.state)
        });
        let end = std::iter::once((self.frames(), PadState::RELEASED));
        // From the total of frames, so that errors do not add up.
        states.chain(end).map(move |(frames, state)| (Duration::from_secs_f64(frames as f64 / fps), state))
    }
}
