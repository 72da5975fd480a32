//! The number of a run of a command.

use std::fmt;

/// The variable with the number of a run, which hyperfine gives to a run and its hooks.
pub(super) const ITERATION: &str = "HYPERFINE_ITERATION";

/// The number of a run of a command, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nth {
    /// A warm-up run, before the first block; it is in no figure.
    WarmUp(usize),
    /// A run in a block.
    Run(usize),
    /// A run under valgrind, after the last block; it is in no time.
    Counted(usize),
}

impl Nth {
    /// The number as hyperfine writes it into `HYPERFINE_ITERATION`: `warmup-0` or `0`; or `count-0`.
    pub(crate) fn as_hyperfine_says(self) -> String {
        match self {
            Nth::WarmUp(nth) => format!("warmup-{nth}"),
            Nth::Run(nth) => nth.to_string(),
            Nth::Counted(nth) => format!("count-{nth}"),
        }
    }
}

/// Shows the number counted from 1, as people count: `its run 1`.
impl fmt::Display for Nth {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Nth::WarmUp(nth) => write!(f, "its warm-up run {}", nth + 1),
            Nth::Run(nth) => write!(f, "its run {}", nth + 1),
            Nth::Counted(nth) => write!(f, "its counted run {}", nth + 1),
        }
    }
}
