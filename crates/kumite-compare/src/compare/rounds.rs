//! The ratios of the reference to one that is judged, by one metric, in each block.

use super::reading::{Log, Reading};

/// The ratios by one metric, as logarithms. Each list that is used has one ratio for each block in which no run of the
/// reference or of the one that is judged was left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rounds {
    /// The ratios of the reference's first run to the one that is judged.
    pub first: Vec<Log>,
    /// The ratios of the reference's second run to the one that is judged; empty if the reference stands in each
    /// block once.
    pub second: Vec<Log>,
    /// The ratios of the reference's first run to its second; empty if the reference stands in each block once.
    pub itself: Vec<Log>,
}

/// The parts of a block that make a ratio: those of the one that is judged, of the reference, and of the reference's
/// second run. `of` gives the part at a position; if it gives `None` for one of them, because a run was left out, the
/// result is `None`, too.
pub(crate) fn parts<T>(
    of: impl Fn(usize) -> Option<T>,
    other: usize,
    reference: usize,
    again: Option<usize>,
) -> Option<(T, T, Option<T>)> {
    let again = again.map(|at| of(at).ok_or(())).transpose().ok()?;
    Some((of(other)?, of(reference)?, again))
}

impl Rounds {
    /// Adds a block: the readings of the one that is judged, of the reference, and of the reference's second run.
    pub(crate) fn add(&mut self, other: Reading, reference: Reading, again: Option<Reading>) {
        self.first.push(Log::ratio(other, reference));
        if let Some(again) = again {
            self.second.push(Log::ratio(other, again));
            self.itself.push(Log::ratio(again, reference));
        }
    }

    /// The ratios by each run of the reference: one list, or two.
    pub(crate) fn by_reference(&self) -> impl Iterator<Item = &[Log]> {
        let second = Some(&*self.second).filter(|second| !second.is_empty());
        std::iter::once(&*self.first).chain(second)
    }

    /// The ratios of the first `blocks` blocks alone.
    pub(crate) fn until(&self, blocks: usize) -> Rounds {
        let first = |logs: &[Log]| logs.iter().take(blocks).copied().collect();
        Rounds { first: first(&self.first), second: first(&self.second), itself: first(&self.itself) }
    }
}
