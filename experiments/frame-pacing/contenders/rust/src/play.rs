//! What is to be played, read from standard input.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::time::Duration;

/// Any error; its text goes to the log.
pub type Failure = Box<dyn Error>;

/// A line to write, and when.
pub struct State {
    /// From the start of the play.
    pub due: Duration,
    line: String,
}

impl State {
    /// In one write: standard output is line-buffered, and empty before.
    pub fn write(&self) -> io::Result<()> {
        io::stdout().write_all(self.line.as_bytes())
    }
}

/// Plays one play after another, until standard input ends.
pub fn serve(play: impl Fn(&[State]) -> io::Result<()>) -> Result<(), Failure> {
    let mut lines = io::stdin().lock().lines();
    println!("ready");
    while let Some(head) = lines.next() {
        let head = head?;
        let count = head.strip_prefix("play absolute ").and_then(|count| count.parse().ok());
        let count: usize = count.ok_or_else(|| format!("'{head}' is not 'play absolute N'"))?;
        let states: Vec<State> =
            lines.by_ref().take(count).map(|line| parse(&line?)).collect::<Result<_, Failure>>()?;
        if states.len() < count {
            return Err(format!("{} states of {count}, and the input has ended", states.len()).into());
        }
        play(&states)?;
    }
    Ok(())
}

fn parse(line: &str) -> Result<State, Failure> {
    let parts = line.split_once(' ').and_then(|(due, state)| Some((due.parse().ok()?, state)));
    let (due, state) = parts.ok_or_else(|| format!("'{line}' is not 'OFFSET_NS STATE'"))?;
    Ok(State { due: Duration::from_nanos(due), line: format!("{state}\n") })
}
