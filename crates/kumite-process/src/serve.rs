//! The work of the helper process of a [`crate::Runner`].

use std::io::{self, BufReader, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use nix::unistd::Pid;

use crate::helper::{Together, jobs, orders};
use crate::timing::{Timer, rss_floor};
use crate::wire::{Failure, Message, Stage, Wire, encode};

/// Serves as the helper process of a [`crate::Runner`], over standard input, until the input ends. Call it before
/// anything else: memory that the program took before is in the floor of every command's peak.
pub fn runner_main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        // Whom we serve has gone, which is no news to anybody.
        Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
            ExitCode::FAILURE
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: the process that runs commands cannot go on: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> io::Result<()> {
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut back = stream.try_clone()?;
    let mut requests = BufReader::new(stream);
    let owner = Pid::from_raw(requests.number()? as i32);
    let mut timer = Timer::new(jobs(&mut requests)?, owner)?;
    let mut all_passed = true;
    let mut hello = Message::new();
    hello.number(rss_floor());
    back.write_all(hello.bytes())?;
    while let Some(Together { begins, passes, from_shell, runs }) = orders(&mut requests)? {
        if runs.iter().any(|order| order.job >= timer.jobs.len()) {
            return Err(ErrorKind::InvalidData.into());
        }
        let answers = match begins || all_passed {
            true => timer.execute(&runs, from_shell),
            false => runs.iter().map(|_| Err(Failure { stage: Stage::Skipped, errno: 0 })).collect(),
        };
        all_passed = answers.iter().all(|answer| passes.lets_pass(answer));
        let mut message = Message::new();
        for answer in answers {
            encode(answer).into_iter().for_each(|number| message.number(number));
        }
        back.write_all(message.bytes())?;
    }
    Ok(())
}
