//! What tests share; a crate uses it as a dev-dependency only.

mod capability;

pub use capability::{Capability, lacks};
