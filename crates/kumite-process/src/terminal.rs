//! The terminal, and lending it to a command that wants it.
//!
//! A process that is not in the foreground of a terminal and reads from it or sets it is stopped, with all of its
//! process group. Each of our commands is in a group of its own, so that a signal to all of its group does not mean
//! us, and that Ctrl-C means us and not it. So one that is stopped for the terminal is put into the foreground there
//! and then, and goes on: as from a shell. Commands that want no terminal are not touched.

use std::fs::File;

use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg};
use nix::unistd::{Pid, tcgetpgrp, tcsetpgrp};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// The signal stops a process that wanted the terminal.
pub(crate) fn is_wanted(signal: Signal) -> bool {
    matches!(signal, Signal::SIGTTIN | Signal::SIGTTOU)
}

/// A terminal whose foreground is ours to give.
#[derive(Debug)]
pub(crate) struct Terminal {
    tty: File,
    /// The group that has it, and is to have it again.
    owner: Pid,
    modes: Option<Termios>,
}

impl Terminal {
    /// `None` if there is none, or this group is not in its foreground.
    pub(crate) fn held_by(owner: Pid) -> Option<Terminal> {
        let tty = File::options().read(true).write(true).open("/dev/tty").ok()?;
        let modes = tcgetattr(&tty).ok();
        (tcgetpgrp(&tty).ok()? == owner).then_some(Terminal { tty, owner, modes })
    }

    pub(crate) fn is_lent(&self) -> bool {
        tcgetpgrp(&self.tty).is_ok_and(|group| group != self.owner)
    }

    /// Puts a group that was stopped for it into the foreground, and lets it go on. Whether it could be.
    pub(crate) fn lend(&self, group: Pid) -> bool {
        self.give(group) && killpg(group, Signal::SIGCONT).is_ok()
    }

    /// As it was. The modes too, if who had it was `killed`, and so could not see to that itself.
    pub(crate) fn take_back(&self, killed: bool) {
        self.give(self.owner);
        if let Some(modes) = self.modes.as_ref().filter(|_| killed) {
            unstopped(|| _ = tcsetattr(&self.tty, OptionalActions::Drain, modes));
        }
    }

    fn give(&self, group: Pid) -> bool {
        unstopped(|| tcsetpgrp(&self.tty, group).is_ok())
    }
}

/// Sets the terminal with the signal blocked that would stop us: a process in the background gets it for that.
fn unstopped<T>(set: impl FnOnce() -> T) -> T {
    let old = SigSet::from(Signal::SIGTTOU).thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let done = set();
    if let Ok(old) = old {
        let _ = old.thread_set_mask();
    }
    done
}
