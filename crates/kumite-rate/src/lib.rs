//! Objectives for servers, and what is asked of a server by them: up to which rate it meets one, and whether it meets
//! one at a rate.
//!
//! Nothing here opens a socket, reads a clock or waits: whoever asks offers the loads ([`Offers`]), by the real engine
//! or by a simulated server. The same seed and the same outcomes give the same rates, in the same order.
//!
//! - An objective is parsed once, and judges the outcome of a load ([`Slo`]).
//! - [`find_rate`] searches for the highest rate again and again, until the answers have an interval.
//! - [`capacity()`] draws one such answer, for those that repeat it themselves.
//! - [`meets()`] offers the same load at one rate again and again, until it is decided whether more than half of such
//!   loads meet the objective.

mod capacity;
mod error;
mod find;
mod meets;
mod search;
#[cfg(test)]
mod simulated;
mod slo;
mod trial;

pub use capacity::{CapacityRules, capacity};
pub use error::RateError;
pub use find::{RateRules, find_rate};
pub use meets::{SloRules, fewest_loads, meets};
pub use search::Capacity;
pub use slo::{Slo, SloError};
pub use trial::{Offers, is_of_sessions};
