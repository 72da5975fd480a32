//! Roles of a run that other nodes have.

mod given;
mod linked;
mod placed;
mod relayed;

pub use given::{Given, GivenRoles};
pub use placed::Placed;
pub use relayed::Relayed;
