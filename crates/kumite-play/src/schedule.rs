//! The schedule of a macro: states, and how long each is held.

use std::io::{self, Write};
use std::time::Duration;

use crate::PadState;

/// The frames a second of the console, as measured.
pub const FPS: f64 = 59.94;

/// A state, and the number of frames for which it is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The number of frames, at least 1.
    pub frames: u32,
    /// The controls that are pressed in these frames.
    pub state: PadState,
}

/// The states in the order in which they are played. After the last one everything is released.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule(pub Vec<Held>);

impl Schedule {
    /// The number of frames of all states together.
    pub fn frames(&self) -> u64 {
        self.0.iter().map(|held| u64::from(held.frames)).sum()
    }

    /// The time at which each state is due, counted from the start, at `fps` frames a second. The last one is the
    /// release of everything.
    pub fn due(&self, fps: f64) -> impl Iterator<Item = (Duration, PadState)> {
        let mut frames = 0_u64;
        let states = self.0.iter().map(move |held| {
            let before = frames;
            frames += u64::from(held.frames);
            (before, held.state)
        });
        let end = std::iter::once((self.frames(), PadState::RELEASED));
        // Times are made from the total of frames, so that errors do not add up.
        states.chain(end).map(move |(frames, state)| (Duration::from_secs_f64(frames as f64 / fps), state))
    }

    /// Writes a table. It has a line for each state (when the state is due in ms, for how many frames it is held, and
    /// its keys), and one for the release. The error is that of writing to `to`.
    pub fn write_table(&self, fps: f64, to: &mut impl Write) -> io::Result<()> {
        writeln!(to, "{:>12} {:>7}  keys", "when (ms)", "frames")?;
        let frames = self.0.iter().map(|held| Some(held.frames)).chain([None]);
        for ((due, state), frames) in self.due(fps).zip(frames) {
            let ms = due.as_secs_f64() * 1e3;
            match frames {
                Some(frames) => writeln!(to, "{ms:12.3} {frames:7}  {state}")?,
                None => writeln!(to, "{ms:12.3} {:7}  released", "")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::Macro;

    #[test]
    fn a_row_for_each_state_and_the_release() {
        let schedule = Macro::parse(b"2,mk 8\n3 1\n6,lp 1").unwrap().schedule();
        let mut table = Vec::new();
        schedule.write_table(50.0, &mut table).unwrap();
        let lines = [
            "   when (ms)  frames  keys",
            "       0.000       8  2,mk",
            "     160.000       1  3",
            "     180.000       1  6,lp",
            "     200.000          released",
            "",
        ];
        assert_eq!(String::from_utf8(table).unwrap(), lines.join("\n"));
    }
}
