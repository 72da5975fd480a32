//! What is promised of each figure, by known answers, by properties, and by how often it is right.

mod hits;
mod known;
mod properties;
