//! Helpers that tests of several crates share. Crates have this one as a dev-dependency only.
//!
//! Every wait for a condition here has a limit, and ends in a panic that says what was missing; none depends on how
//! fast the machine is. A program that is run to its end is waited for as long as it runs.

mod capability;
mod example;
mod patience;
pub mod process;

pub use capability::{Capability, lacks};
pub use example::{build_example, example};
pub use patience::{LONG, eventually};
