//! The promises of each figure, by known answers and by properties.

mod bets;
mod known;
mod properties;
