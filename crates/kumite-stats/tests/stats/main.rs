//! What is promised of each figure, by known answers and by properties.

mod known;
mod properties;
