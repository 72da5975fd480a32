//! The user's cache of builds, which all checkouts of a user share.
//!
//! A [`Place`] in the [`Cache`] is named by a key of all that its content is made from. [`Place::filled`] makes the
//! content if it is not there, one kumite at a time, and returns it [`Held`]: nobody removes or replaces it meanwhile.
//! Content without a mark that is written last is half a build, and is made anew. Nothing here starts a process.

mod cache;
mod content;
mod entry;
mod error;
mod place;
mod tree;
mod user_cache;

pub use cache::Cache;
pub use content::{add, content, copy};
pub use entry::Held;
pub use error::Error;
pub use place::{Filled, Filling, Place};
pub use tree::remove;
pub use user_cache::user_cache;
