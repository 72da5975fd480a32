//! A run on several machines: parts of it have nodes of their own (`roles`), nodes have a share of its blocks each (`shares`,
//! `array`, `shard`), and shares become one run again (`merge`).
//!
//! Nothing here prints: whoever is to be told gives a [`Driver`].

mod agent;
mod apart;
mod array;
mod away;
mod driver;
mod failure;
mod frames;
mod fresh_key;
mod manifest;
mod merge;
mod on;
mod roles;
mod shard;
mod shares;
mod slurm;

pub use agent::agent;
pub use apart::apart;
pub use array::array;
pub use away::Away;
pub use driver::Driver;
pub use failure::Failure;
pub use frames::{IN_FRAMES, RELAYED, tell_note};
pub use manifest::{Image, Manifest, Memory};
pub use merge::{Wanted, merged};
pub use on::On;
pub use roles::{Given, GivenRoles, Placed, Relayed};
pub use shard::{Share, some_for_each};
pub use shares::shares;
pub use slurm::{Allocation, NodesWanted, SbatchWords, SlurmOptions, own_job};
