//! The roles of a run that other nodes have: as they are given, the nodes that have them, and the way to those.

mod given;
mod linked;
mod placed;
mod relayed;

pub use given::{Given, GivenRoles, NotAGiven};
pub use placed::Placed;
pub use relayed::Relayed;
