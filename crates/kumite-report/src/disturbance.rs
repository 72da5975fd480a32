//! What was done to contenders to see how they take it.

use serde::Serialize;

use crate::chart::{RowChart, Timelines};
use crate::table::Table;

/// What was done to the contenders at a point, and how they took it.
#[derive(Debug, Serialize)]
pub struct Disturbed {
    pub title: String,
    /// What was done, in a sentence.
    pub what: String,
    pub order: String,
    pub table: Table,
    /// Whether a figure is the least it can be.
    pub bounded: bool,
}

/// What lower bounds mean.
pub const NOT_RECOVERED: &str = "“>” and “or more”: in some trials answers were not steady again when watching ended, so the figure is the least it can be.";

/// How long recovery took, and one trial of each contender over time.
#[derive(Debug, Serialize)]
pub struct DisturbedPictures {
    pub rows: Option<RowChart>,
    pub timelines: Timelines,
}
