//! Service level objectives for servers, with two questions about a server: up to which rate it meets an objective, and
//! whether it meets one at a given rate.
//!
//! Nothing here opens a socket, reads a clock or waits: the caller offers the loads ([`Offers`]), with the real engine
//! or with a simulated server. The same seed and the same outcomes give the same rates, in the same order.
//!
//! - An objective is parsed once, and judges the outcome of a load ([`Slo`]).
//! - [`find_rate`] searches for the highest rate again and again, until the answers have an interval.
//! - [`capacity()`] draws one such answer, for callers that repeat the draw themselves.
//! - [`meets()`] offers the same load at one rate again and again, until it is decided whether more than half of such
//!   loads meet the objective.

mod capacity;
mod error;
mod find;
mod meets;
mod objective;
mod part;
mod search;
#[cfg(test)]
mod simulated;
mod slo;
mod trial;

pub use capacity::{CapacityRules, capacity};
pub use error::RateError;
pub use find::{RateRules, find_rate};
pub use meets::{SloRules, fewest_loads, meets};
pub use part::{PartError, Sessions};
pub use search::Capacity;
pub use slo::{Slo, SloError};
pub use trial::{Offers, is_of_sessions};
