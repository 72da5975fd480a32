//! `--wait`: a command waits for the lock of the machine, and does not end with status 3 at once.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_host::{Lock, LockError};
use kumite_report::length;

use crate::exit::Failure;
use crate::{duration, output};

#[derive(Clone, Copy, Default, clap::Args)]
pub struct Wait {
    /// Longest time to wait while another kumite measures on this machine, e.g. 10m [default: none]
    #[arg(long = "wait", value_name = "TIME", value_parser = duration::parse)]
    most: Option<Duration>,
}

impl Wait {
    /// This wait; if --wait is not given, a wait for at most `most`.
    pub fn or(self, most: Duration) -> Wait {
        Wait { most: self.most.or(Some(most)) }
    }

    /// The flag as a word of a command line; `None` if it was not given.
    pub fn word(self) -> Option<String> {
        self.most.map(|most| format!("--wait={}ms", most.as_millis()))
    }

    /// Takes the lock of this machine. If another kumite has it, waits as long as --wait says, and not at all without
    /// --wait. An error if another kumite still has the lock then, if the lock cannot be used, or if `stop` is set
    /// meanwhile.
    pub fn lock(self, stop: &AtomicBool) -> Result<Lock, Failure> {
        let Some(most) = self.most else {
            let taken = |error| match error {
                error @ LockError::Taken { .. } => format!("{error}, as --wait TIME does"),
                error => error.to_string(),
            };
            return Lock::of_machine().map_err(|error| Failure::Incomplete(taken(error)));
        };
        let taken = Lock::of_machine_within(most, stop, &mut |holder| {
            let most = length(most.as_secs_f64());
            output::note(&format!(
                "waits for another kumite ({holder}), which is measuring on this machine: at most {most}"
            ));
        });
        taken.map_err(|error| {
            Failure::Incomplete(match error {
                LockError::Taken { holder, .. } => format!(
                    "another kumite ({holder}) was still measuring on this machine after --wait {most:?}"
                ),
                error => error.to_string(),
            })
        })
    }

    /// Takes the lock of this machine if --wait is given, as [`lock`](Self::lock) does. Without --wait the command
    /// measures beside others, and the result is `None`.
    pub fn turn(self, stop: &AtomicBool) -> Result<Option<Lock>, Failure> {
        self.most.map(|_| self.lock(stop)).transpose()
    }
}
