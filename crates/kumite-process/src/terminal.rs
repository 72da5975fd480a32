//! The terminal, and lending it to a command that wants it.
//!
//! A process that is not in the foreground of a terminal, and reads from it or sets it, is stopped with all of its
//! process group. Each of our commands is in a process group of its own, so that a signal to that group does not
//! reach us, and Ctrl-C reaches us and not the command. If a command is stopped for the terminal, its group is put
//! into the foreground there and then, and goes on, as from a shell. Commands that want no terminal are not touched.

use std::fs::File;

use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg};
use nix::unistd::{Pid, tcgetpgrp, tcsetpgrp};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// `true` if this is a signal that stops a process because it wanted the terminal.
pub(crate) fn is_wanted(signal: Signal) -> bool {
    matches!(signal, Signal::SIGTTIN | Signal::SIGTTOU)
}

/// The terminal, as long as its foreground is ours to give.
#[derive(Debug)]
pub(crate) struct Terminal {
    tty: File,
    /// The process group that had the terminal first, and gets it back.
    owner: Pid,
    modes: Option<Termios>,
}

impl Terminal {
    /// The terminal of this process; `None` if there is none, or the group `owner` is not in its foreground.
    pub(crate) fn held_by(owner: Pid) -> Option<Terminal> {
        let tty = File::options().read(true).write(true).open("/dev/tty").ok()?;
        let modes = tcgetattr(&tty).ok();
        (tcgetpgrp(&tty).ok()? == owner).then_some(Terminal { tty, owner, modes })
    }

    pub(crate) fn is_lent(&self) -> bool {
        tcgetpgrp(&self.tty).is_ok_and(|group| group != self.owner)
    }

    /// Puts a group that was stopped for the terminal into its foreground, and lets the group go on. `false` if that
    /// failed.
    pub(crate) fn lend(&self, group: Pid) -> bool {
        self.give(group) && killpg(group, Signal::SIGCONT).is_ok()
    }

    /// Gives the terminal back to its owner. If the borrower was `killed`, and so could not restore the terminal's
    /// modes itself, those are restored too.
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

/// Calls `set`, which sets the terminal, with SIGTTOU blocked: a process in the background would be stopped by that
/// signal.
fn unstopped<T>(set: impl FnOnce() -> T) -> T {
    let old = SigSet::from(Signal::SIGTTOU).thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let done = set();
    if let Ok(old) = old {
        let _ = old.thread_set_mask();
    }
    done
}
