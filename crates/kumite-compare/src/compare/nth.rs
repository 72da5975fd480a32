//! The number of a run.

use std::fmt;

/// A run of a command, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nth {
    /// Before the first block; no figure is of it.
    WarmUp(usize),
    /// In a block.
    Run(usize),
}

impl Nth {
    /// The value of `HYPERFINE_ITERATION`.
    pub(crate) fn as_hyperfine_says(self) -> String {
        match self {
            Nth::WarmUp(nth) => format!("warmup-{nth}"),
            Nth::Run(nth) => nth.to_string(),
        }
    }
}

/// Counted from 1, as people do.
impl fmt::Display for Nth {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Nth::WarmUp(nth) => write!(f, "its warm-up run {}", nth + 1),
            Nth::Run(nth) => write!(f, "its run {}", nth + 1),
        }
    }
}
