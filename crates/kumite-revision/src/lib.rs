//! Revisions of the user's git repository: each gets a tree of its own in kumite's cache, and is built there once.
//!
//! The user's repository is only read: no worktree is added to it, and nothing is fetched into it. A tree is made by
//! `git clone --shared`, which copies no history, at a path that is as long for each revision as for any other. What
//! was built is found again by all that it depends on ([`Trees`]).
//!
//! git is the `git` program, and no library: it alone reads each repository as the user's own git does (worktrees,
//! shallow and partial clones, filters, `core.autocrlf`, the rules of what is ignored), and it is there wherever
//! somebody has a repository.

mod base;
mod error;
mod git;
mod inputs;
mod repository;
mod revision;
mod submodules;
mod tree;
mod trees;
mod working_tree;

pub use error::Error;
pub use repository::Repository;
pub use revision::Revision;
pub use tree::Tree;
pub use trees::{Build, Trees};
