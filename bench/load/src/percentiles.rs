/// Response times by a generator's own account, in microseconds; none where it gives none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Percentiles {
    /// Median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p99_9: Option<f64>,
    /// The longest.
    pub max: Option<f64>,
}

/// A percentile as the tables name it, and where it is.
pub type Named = (&'static str, fn(&Percentiles) -> Option<f64>);

impl Percentiles {
    /// All of them.
    pub const NAMED: [Named; 5] = [
        ("p50", |all| all.p50),
        ("p95", |all| all.p95),
        ("p99", |all| all.p99),
        ("p99.9", |all| all.p99_9),
        ("max", |all| all.max),
    ];

    /// Of these values, in any order.
    pub fn of(mut values: Vec<f64>) -> Percentiles {
        values.sort_unstable_by(f64::total_cmp);
        let at = |share| rank(&values, share);
        Percentiles { p50: at(0.5), p95: at(0.95), p99: at(0.99), p99_9: at(0.999), max: at(1.0) }
    }
}

/// The smallest value that at least this share of all do not exceed (nearest rank).
pub fn rank(sorted: &[f64], share: f64) -> Option<f64> {
    // 0.999 of 20,000 is to be 19,980, whatever floats make of it.
    let at = (sorted.len() as f64 * share - 1e-6).ceil() as usize;
    sorted.get(at.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_ranks() {
        let all = Percentiles::of((1..=1000).rev().map(f64::from).collect());
        assert_eq!(
            Percentiles::NAMED.map(|(_, of)| of(&all)),
            [500.0, 950.0, 990.0, 999.0, 1000.0].map(Some)
        );
        assert_eq!(Percentiles::of(vec![7.0]).p99_9, Some(7.0));
        assert_eq!(Percentiles::of(vec![]), Percentiles::default());
    }
}
