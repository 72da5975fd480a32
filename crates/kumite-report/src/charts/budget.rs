//! Limits to the number of marks in a page's charts.

/// The limits for each chart of a page, so that a page with many charts stays small.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The most marks in a chart; above this number, neighbours are merged.
    pub marks: usize,
    /// The largest number of marks that each have a title. In a chart with more marks, all marks of one look are one
    /// path.
    pub told: usize,
}

impl Budget {
    /// Shares a page's marks among `charts` charts. However many charts there are, each may have at least 100 marks; a
    /// chart of a page with very many charts may have no titles. A mark with a title takes about 100 bytes of the page,
    /// a mark without a title about 20.
    pub fn new(charts: usize) -> Budget {
        let share = |page: usize| page / charts.max(1);
        Budget { marks: share(60_000).clamp(100, 2_000), told: share(20_000).min(800) }
    }
}
