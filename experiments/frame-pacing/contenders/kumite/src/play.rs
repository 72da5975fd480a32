//! What is to be played, read from standard input.

use std::error::Error;
use std::io::{self, BufRead};

use kumite_play::{Held, PadState, Schedule};

/// Any error; its text goes to the log.
pub type Failure = Box<dyn Error>;

/// Of the schedules: the offsets of states are in ns, and so are the frames of a schedule at so many a second.
pub const FPS: f64 = 1e9;

/// Plays one play after another, until standard input ends: `play` is given when lines are due, and the lines.
pub fn serve(play: impl Fn(Schedule, Vec<String>) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut input = io::stdin().lock().lines();
    println!("ready");
    while let Some(head) = input.next() {
        let head = head?;
        let count = head.strip_prefix("play absolute ").and_then(|count| count.parse().ok());
        let count: usize = count.ok_or_else(|| format!("'{head}' is not 'play absolute N'"))?;
        let states: Vec<(u64, String)> =
            input.by_ref().take(count).map(|line| parse(&line?)).collect::<Result<_, Failure>>()?;
        if states.len() < count {
            return Err(format!("{} states of {count}, and the input has ended", states.len()).into());
        }
        let (due, lines): (Vec<u64>, Vec<String>) = states.into_iter().unzip();
        play(schedule(&due)?, lines)?;
    }
    Ok(())
}

/// Of when its states are due, in ns. The last is the release, which every schedule has.
fn schedule(due: &[u64]) -> Result<Schedule, Failure> {
    let held = due.windows(2).map(|pair| {
        let held = pair[1].checked_sub(pair[0]).and_then(|held| u32::try_from(held).ok());
        let frames = held.ok_or("a state is due before the one before it, or more than 4 s after it")?;
        Ok(Held { frames, state: PadState::RELEASED })
    });
    Ok(Schedule(held.collect::<Result<_, Failure>>()?))
}

/// When a line is due, in ns, and the line.
fn parse(line: &str) -> Result<(u64, String), Failure> {
    let parts = line.split_once(' ').and_then(|(due, state)| Some((due.parse().ok()?, state)));
    let (due, state) = parts.ok_or_else(|| format!("'{line}' is not 'OFFSET_NS STATE'"))?;
    Ok((due, format!("{state}\n")))
}
