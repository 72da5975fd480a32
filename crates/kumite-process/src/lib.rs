//! Process trees: start, pin, limit, account, pause, end. Outside of tests, only this crate of kumite starts or kills
//! processes. Linux only.
//!
//! A [`Tree`] is a command and everything it started. [`Tree::start`] puts the command in a process group of its own,
//! on the cores that it is given. [`Tree::usage`] says what the whole tree has used. [`Tree::listeners`] says whether
//! the tree is what listens on a port. [`Tree::pause`] and [`Tree::resume`] stop the tree where it is and let it go
//! on. [`Tree::stop`], and dropping the tree, end it so that no member stays alive. [`Tree::start_talking`] starts a
//! tree that is spoken with, line by line, through a [`Talk`]. [`run()`] starts a command that is to run to its end,
//! such as a build, and then ends its tree.
//!
//! A [`Group`] limits the CPU time and memory of a tree, counts them, and freezes the tree, by cgroups, as far as
//! [`Control::look`] says that this machine lets us.
//!
//! A [`Runner`] runs commands that are to be timed, thousands of times if need be. It does so from a helper process,
//! which is a tree of its own and does nothing else: little time is spent between two runs (some 12 µs, if they are
//! queued), and no command inherits our peak memory. `bench/compare` measures both.
//!
//! [`Stops`] finds those of our descendants that somebody else has stopped.
//!
//! The members of a tree are its root, and every process that has a member as its parent, or is in a member's process
//! group or session, or carries the root's `KUMITE_TREE` in its environment, or its mark. The mark is the limit on
//! file locks (`RLIMIT_LOCKS`), which Linux does not use, and which a process inherits from the one that starts it.
//! So a daemon that forked twice, left group and session and cleared its environment is found, too. Only a process
//! that also sets just this limit anew escapes.
//!
//! When *this* process ends without having stopped its trees, even by SIGKILL, they are ended all the same. A shell,
//! the guardian, waits for our end from the first tree or group on, and then ends them at once. (There is one for the
//! whole process; it is a child of ours and of no tree, and is gone some milliseconds after us.) [`end_orphans`],
//! which the next kumite calls, ends what the guardian could not find. Both also end all processes in a group of
//! ours, frozen or not, and remove the group.
//!
//! `KUMITE_TREE`, and a group's name after `kumite-`, is `NAMESPACE-PID-STARTED-COUNT`: the inode of our pid
//! namespace, our process id, our start (clock ticks after boot, as in `/proc/PID/stat`), and a number for the tree
//! or group. PR_SET_PDEATHSIG is not used: it would need unsafe code, and would end the first process only.

mod command_line;
mod cores;
mod counters;
mod ending;
mod error;
mod group;
mod guardian;
mod helper;
mod listen;
mod mark;
mod members;
mod orphans;
mod owner;
mod pause;
mod proc_fs;
mod run;
mod runner;
mod serve;
mod stops;
mod stuck;
mod talk;
mod terminal;
mod timing;
mod token;
mod total;
mod tree;
mod unavailable;
mod waits;
mod wire;

pub use command_line::{CommandLine, CommandLineError, Shell};
pub use cores::{available_cores, pin_thread};
pub use counters::{Counter, Counts, NoCounters, try_counters};
pub use ending::{how_it_ended, last_lines, last_lines_of, shell_status};
pub use error::Error;
pub use group::{Control, Group, Version};
pub use helper::{HELPER, Passes};
pub use listen::Listener;
pub use mark::spawn_unmarked;
pub use members::Usage;
pub use orphans::{Orphan, end_orphans};
pub use owner::MARKER;
pub use run::{Finished, STDOUT_LIMIT, run, run_leaving};
pub use runner::{Job, MOST_QUEUED, Output, Runner, Stdin, TimedRun};
pub use serve::runner_main;
pub use stops::Stops;
pub use talk::{Heard, Talk};
pub use total::total;
pub use tree::{Spawn, Tree, TreeEnd, become_subreaper};
pub use unavailable::Unavailable;
pub use waits::{Waited, Waits};
