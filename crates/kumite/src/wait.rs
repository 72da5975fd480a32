//! `--wait`: the waiting for the lock of the machine, in place of an end with status 3.

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

    /// The flag as a word of a command line; none if it is not given.
    pub fn word(self) -> Option<String> {
        self.most.map(|most| format!("--wait={}ms", most.as_millis()))
    }

    /// Takes the lock of this machine, and waits for it as long as --wait says. An error if another kumite still has
    /// it then, or if `stop` is set.
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

    /// Takes the lock of this machine if --wait is given. Without --wait the command measures beside others, and the
    /// lock is `None`. An error if another kumite has the lock for longer, or `stop` is set.
    pub fn turn(self, stop: &AtomicBool) -> Result<Option<Lock>, Failure> {
        self.most.map(|_| self.lock(stop)).transpose()
    }
}
