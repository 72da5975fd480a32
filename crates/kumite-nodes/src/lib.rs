//! A run on several machines: parts of it have nodes of their own (`roles`), nodes have a share of its blocks each
//! (`shares`, `array`, `shard`), and shares become one run again (`merge`).
//!
//! The driver's store is the only one that counts. Results stay on a node until they have arrived whole. So a node, a
//! network or a driver that dies costs only what was not measured yet, and the same command with the same seed goes
//! on with the rest. Nothing is left on a node but a cache: no process, no job, and no files once they have arrived.
//!
//! Nothing here prints: news goes to the [`Driver`]'s `note`, and the reason why something failed is a [`Failure`].
//! The exceptions are [`agent()`], and the run that it starts (`frames`): their standard output is the way to the
//! driver.

mod agent;
mod apart;
mod array;
mod away;
mod driver;
mod failure;
mod findings;
mod frames;
mod fresh_key;
mod image;
mod manifest;
mod merge;
mod misuse;
mod node_flags;
mod on;
mod roles;
mod shard;
mod shares;
mod slurm;
mod slurm_error;

pub use agent::agent;
pub use apart::apart;
pub use array::array;
pub use away::Away;
pub use driver::Driver;
pub use failure::Failure;
pub use findings::findings;
pub use frames::{IN_FRAMES, RELAYED, tell_note};
pub use image::{Image, NoImage};
pub use manifest::{Manifest, Memory, NoMemory};
pub use merge::{MergeOptions, merged, with_logs};
pub use misuse::Misuse;
pub use node_flags::NodeFlags;
pub use on::{NotAPlace, On};
pub use roles::{Given, GivenRoles, NotAGiven, Placed, Relayed};
pub use shard::{NotAShare, Share, some_for_each};
pub use shares::shares;
pub use slurm::{
    Allocation, Error as SlurmError, NodesWanted, SbatchWords, SlurmOptions, TaskEnd, UnclosedQuote, own_job,
};
