//! What tests share; a crate uses it as a dev-dependency only.

mod capability;
mod example;
mod patience;
pub mod process;

pub use capability::{Capability, lacks};
pub use example::example;
pub use patience::{LONG, eventually};
