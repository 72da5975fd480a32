//! Measurements as rows and columns of text, before they get a format. No table knows a kind of workload or a chart.

pub mod cells;
pub mod facts;
pub mod failure;
pub mod grid;
pub mod group;
pub mod noise;
pub mod published;
pub mod trials;
