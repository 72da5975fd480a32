use crate::percentiles::rank;

const NS_PER_S: f64 = 1e9;
/// The start and the end of a run are cut: connections are opened, and the last answers awaited.
const HEAD_NS: f64 = 0.5 * NS_PER_S;
const TAIL_NS: f64 = 0.3 * NS_PER_S;
const FEWEST: usize = 100;

/// How arrivals lie beside an ideal grid, in the middle of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Arrivals a second.
    pub rate_per_s: f64,
    /// Distance from the grid, median.
    pub error_p50_us: f64,
    /// 99th percentile.
    pub error_p99_us: f64,
    /// By how much the distance has grown from the first to the last arrival.
    pub drift_us: f64,
}

impl Grid {
    /// The k-th arrival belongs to the k-th point of a grid of this rate, which is laid so that half of the arrivals come
    /// before their points: the phase is theirs to choose, the rate is not, so a wrong one makes the error grow. None if
    /// there are fewer than 100.
    pub fn of(stamps_ns: &[u64], rate_per_s: u32) -> Option<Grid> {
        let (first, last) = (*stamps_ns.first()?, *stamps_ns.last()?);
        // Of differences, which a float holds exactly; stamps it does not.
        let all: Vec<f64> = stamps_ns.iter().map(|stamp| (stamp - first) as f64).collect();
        let end = (last - first) as f64 - TAIL_NS;
        let middle: Vec<f64> = all.into_iter().filter(|at| (HEAD_NS..=end).contains(at)).collect();
        if middle.len() < FEWEST {
            return None;
        }
        let distances = distances_ns(&middle, rate_per_s);
        let mut errors: Vec<f64> = distances.iter().map(|distance| distance.abs() / 1e3).collect();
        errors.sort_unstable_by(f64::total_cmp);
        Some(Grid {
            rate_per_s: (middle.len() - 1) as f64 / (middle[middle.len() - 1] - middle[0]) * NS_PER_S,
            error_p50_us: rank(&errors, 0.5)?,
            error_p99_us: rank(&errors, 0.99)?,
            drift_us: growth(&distances) / 1e3,
        })
    }
}

/// From each arrival's point on the grid of the best phase, in order.
pub(crate) fn distances_ns(arrivals_ns: &[f64], rate_per_s: u32) -> Vec<f64> {
    let interval = NS_PER_S / f64::from(rate_per_s);
    let from_grid: Vec<f64> =
        arrivals_ns.iter().enumerate().map(|(point, at)| at - point as f64 * interval).collect();
    let phase = median(&from_grid);
    from_grid.iter().map(|distance| distance - phase).collect()
}

fn median(values: &[f64]) -> f64 {
    kumite_stats::median(values).unwrap_or_default()
}

/// By how much they grow from the first to the last: twice the difference of the medians of the two halves, which are
/// half the way apart. A burst of late ones does not look like a drift.
fn growth(values: &[f64]) -> f64 {
    let (early, late) = values.split_at(values.len() / 2);
    2.0 * (median(late) - median(early))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 5 s at 1,000/s, each that much after its point.
    fn run(late_ns: impl Fn(u64) -> u64) -> Grid {
        let stamps: Vec<u64> =
            (0..5000).map(|point| 1 << 60 | (point * 1_000_000 + late_ns(point))).collect();
        Grid::of(&stamps, 1000).unwrap()
    }

    #[test]
    fn a_perfect_grid_has_no_error_whatever_its_phase() {
        for late in [0, 123_456] {
            let grid = run(|_| late);
            assert_eq!((grid.error_p50_us, grid.error_p99_us, grid.drift_us), (0.0, 0.0, 0.0));
            assert!((grid.rate_per_s - 1000.0).abs() < 1e-6, "{grid:?}");
        }
    }

    #[test]
    fn the_error_is_the_distance_from_the_middle_phase() {
        // Nine in ten on time, one 300 µs late.
        let grid = run(|point| if point % 10 == 3 { 300_000 } else { 0 });
        assert_eq!((grid.error_p50_us, grid.error_p99_us), (0.0, 300.0));
        // Half of them 40 µs late: 20 µs from the middle, all of them.
        let grid = run(|point| point % 2 * 40_000);
        assert!((grid.error_p50_us - 20.0).abs() < 1e-6, "{grid:?}");
    }

    #[test]
    fn a_wrong_rate_drifts() {
        // 1 ‰ too slow, so 4.2 s of it are 4.2 ms; the median is a quarter of that.
        let grid = run(|point| point * 1000);
        assert!((grid.drift_us - 4200.0).abs() < 10.0, "{grid:?}");
        assert!((grid.error_p50_us - 1050.0).abs() < 10.0, "{grid:?}");
        assert!((grid.rate_per_s - 1000.0 / 1.001).abs() < 1e-6, "{grid:?}");
    }

    #[test]
    fn a_burst_of_late_ones_is_no_drift() {
        let grid = run(|point| if (4000..4100).contains(&point) { 5_000_000 } else { 0 });
        assert_eq!((grid.drift_us, grid.error_p99_us), (0.0, 5000.0));
    }

    #[test]
    fn the_ends_do_not_count_and_too_little_is_nothing() {
        let grid = run(|point| if !(500..4700).contains(&point) { 400_000 } else { 0 });
        assert_eq!((grid.error_p50_us, grid.error_p99_us), (0.0, 0.0));
        assert_eq!(Grid::of(&[1, 2, 3], 1000), None);
        assert_eq!(Grid::of(&[], 1000), None);
    }
}
