//! How much may be drawn.

/// How much may be drawn of each chart, so that a page stays small however many it has.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// More marks are merged.
    pub marks: usize,
    /// More are not told one by one.
    pub told: usize,
}

impl Budget {
    /// For a page with so many charts: about 100 bytes a mark that is told, 20 one that is not.
    pub fn new(charts: usize) -> Budget {
        let share = |page: usize| page / charts.max(1);
        Budget { marks: share(60_000).clamp(100, 2_000), told: share(20_000).min(800) }
    }
}
