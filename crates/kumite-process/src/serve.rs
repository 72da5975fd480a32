//! The helper process of a [`crate::Runner`] at work.

use std::io::{self, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use crate::helper::{jobs, orders};
use crate::timing::{Timer, rss_floor};
use crate::wire::{Message, encode};

/// What the helper process of a [`crate::Runner`] does, speaking over its standard input; returns when that ends. To be
/// called before anything else, for what has taken memory by then is in the floor of every command's peak.
pub fn runner_main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: the process that runs commands cannot go on: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> io::Result<()> {
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut answers = stream.try_clone()?;
    let mut requests = BufReader::new(stream);
    let mut timer = Timer::new(jobs(&mut requests)?)?;
    let mut hello = Message::new();
    hello.number(rss_floor());
    answers.write_all(hello.bytes())?;
    while let Some(orders) = orders(&mut requests)? {
        if orders.iter().any(|order| order.job >= timer.jobs.len()) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut message = Message::new();
        for answer in timer.execute(&orders) {
            encode(answer).into_iter().for_each(|number| message.number(number));
        }
        answers.write_all(message.bytes())?;
    }
    Ok(())
}
