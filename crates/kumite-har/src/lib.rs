//! Recordings of browsers (HAR 1.2), made into scenarios: text in, text out. No file is read, and no secret is kept.
//!
//! A recording has whatever a person did, with the passwords and cookies of that person. [`scenario()`] takes the
//! requests to one server, in order, with their pauses, and leaves out what is secret by its name.

mod body;
mod error;
mod form;
mod json;
mod limits;
mod origin;
mod recording;
mod scenario;
mod secret;

pub use error::Error;
pub use limits::{LARGEST, LONGEST_PAUSE_MS, MOST_REQUESTS};
pub use origin::Origin;
pub use scenario::{NotTaken, Scenario, scenario};
pub use secret::Secret;
