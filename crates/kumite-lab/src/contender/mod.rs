//! Contenders: from a folder with a `contender.toml` to a program that can be started.

mod build;
mod drawn;
mod entries;
mod install;
mod manifest;
mod need;
mod npm;
mod ready;
mod tools;

pub(crate) use build::{Builds, Receipt};
pub use build::{Origin, source_digest};
pub use drawn::Drawn;
pub use install::tool_on_path;
pub(crate) use install::{Obtaining, install_apt, is_any_missing, remedy};
pub use manifest::{Answers, Contender, Deps, Install, Reads, Variant};
pub(crate) use manifest::{ContenderFile, MEMORY_MB, read_needs};
pub use need::Need;
pub use ready::Ready;
pub(crate) use tools::{Tools, Versions};
