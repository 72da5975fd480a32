//! A player that has been started: getting ready, and playing.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::recorder::{Awake, Stamp, next_line};
use super::workload::{Due, Keeping};
use crate::driver::line_process::{LineProcess, shown};
use crate::error::{Error, Fault};
use crate::halt::Halt;
use kumite_process::Spawn;

/// The longest time for which a state may stay away after the recorder expected it, and for which the player may
/// leave the request for a play unread.
const LIMIT: Duration = Duration::from_secs(10);
const READY: &[u8] = b"ready";

/// A started player.
pub(super) struct Player {
    pub process: LineProcess,
}

/// A stamp for each expected state. The error is the fault of a player that sent another state, or wrote a line
/// before it was asked to play.
pub(super) type Recorded = Result<Vec<Stamp>, Fault>;

impl Player {
    pub fn start(spawn: &Spawn) -> Result<Player, Error> {
        Ok(Player { process: LineProcess::start(spawn)? })
    }

    /// Waits until the player is ready. Returns the time since its start. An error if it has not said so after
    /// `limit`, or says anything else.
    pub fn ready(&mut self, limit: Duration, stop: &AtomicBool) -> Result<Duration, Halt> {
        let until = Instant::now() + limit;
        let (line, _) = self.process.line(until, limit, "getting ready", stop)?;
        match line == READY {
            true => Ok(self.process.since_start()),
            false => Err(Halt::fault(format!("it wrote {} and not 'ready'", shown(&line)))),
        }
    }

    /// Has the player play these states, the first of which is due at once. This thread records them. An error if the
    /// player does not read the request within [`LIMIT`], if a state stays away for longer than that, or if the player
    /// ends.
    pub fn play(&mut self, keeping: Keeping, states: &[Due], stop: &AtomicBool) -> Result<Recorded, Halt> {
        if let Some(unasked) = self.process.unasked() {
            return Ok(Err(Fault::new(unasked)));
        }
        let all = states.len();
        let mut text = format!("play {} {all}\n", keeping.as_str());
        for due in states {
            let _ = writeln!(text, "{} {}", due.at.as_nanos(), due.state);
        }
        self.process.write(text.as_bytes(), LIMIT, "the play", stop)?;
        let mut awake = Awake::at_once();
        let mut started = None::<Instant>;
        let mut stamps = Vec::<Stamp>::with_capacity(all);
        for (nth, due) in states.iter().enumerate() {
            let doing = format!("state {} of {all}", nth + 1);
            let (line, stamp) = next_line(&mut self.process, awake, LIMIT, &doing, stop)?;
            if line != due.state.as_bytes() {
                let line = shown(&line);
                return Ok(Err(Fault::new(format!("{doing} is not what it should be: {line}"))));
            }
            stamps.push(stamp);
            // The player's start is not known: as in the sample, it is taken from the most punctual state.
            let by_this = stamp.came - due.at;
            let start = *started.insert(started.map_or(by_this, |by_others| by_this.min(by_others)));
            if let Some(next) = states.get(nth + 1) {
                awake = Awake::around(start + next.at, stamp.came + next.at.saturating_sub(due.at));
            }
        }
        Ok(Ok(stamps))
    }
}
