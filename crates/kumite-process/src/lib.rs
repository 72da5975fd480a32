//! Process trees: start, pin, account, end. The only crate of ours that starts or kills anything. Linux only.
//!
//! A [`Tree`] is a command and everything it started. [`Tree::start`] puts it in a process group of its own, on the
//! cores it is given; [`Tree::usage`] says what the whole tree has used; [`Tree::stop`], and dropping it, end it so
//! that no member stays alive. [`run`] does all of it for a command that is to run to its end: a build, a version.
//!
//! A member is the root, and whatever has a member as its parent, leads its process group or its session, or carries
//! the root's `KUMITE_TREE` in its environment: a daemon that forked twice and left group and session is found by the
//! last. What escapes is a process that does all this *and* clears its environment, before it is first looked for.
//!
//! What cannot be had without unsafe code: the tree does not end when *this* process is killed by SIGKILL.

mod cores;
mod error;
mod guardian;
mod listen;
mod members;
mod orphans;
mod owner;
mod pause;
mod proc_fs;
mod run;
mod tree;

pub use cores::{available_cores, pin_thread};
pub use error::Error;
pub use listen::Listener;
pub use members::Usage;
pub use orphans::{Orphan, end_orphans};
pub use run::{Finished, STDOUT_LIMIT, run};
pub use tree::{Ended, Spawn, Tree, become_subreaper};
