//! Changes of a series in mean or variance, found by PELT.

/// The positions at which a series changes its mean or its variance, each the index of the first point after a
/// change. They minimize the sum of the segments' costs and of `penalty` for each change; every segment has at least
/// `shortest` points.
///
/// The cost of a segment is twice its negative Gaussian log likelihood, without constants, at its own mean and
/// variance. The variance is nowhere below `floor`, so that a few values that happen to be equal are no segment of
/// their own.
///
/// PELT finds the exact optimum: R. Killick, P. Fearnhead, I. A. Eckley, "Optimal Detection of Changepoints With a
/// Linear Computational Cost", Journal of the American Statistical Association 107(500), 2012. Time is linear in the
/// points where changes are many, and quadratic where there is none.
///
/// The result is empty if a value is not finite, if there are too few points for two segments, if `floor` is not
/// above 0, or if `penalty` is not 0 or more.
pub fn changes(series: &[f64], penalty: f64, shortest: usize, floor: f64) -> Vec<usize> {
    let (n, shortest) = (series.len(), shortest.max(1));
    let usable = series.iter().all(|value| value.is_finite()) && floor > 0.0 && penalty >= 0.0;
    if n < 2 * shortest || !usable {
        return Vec::new();
    }
    let costs = Costs::new(series, floor);
    // least[t] is the least cost of the first t points; last[t] is where their last segment begins.
    let mut least = vec![f64::INFINITY; n + 1];
    let mut last = vec![0; n + 1];
    least[0] = -penalty;
    let mut candidates = Vec::<Candidate>::new();
    for end in shortest..=n {
        let begin = end - shortest;
        if least[begin] < f64::INFINITY {
            candidates.push(Candidate { begin, useful_before: usize::MAX });
        }
        candidates.retain(|candidate| end < candidate.useful_before);
        for candidate in &candidates {
            let cost = least[candidate.begin] + costs.cost(candidate.begin, end) + penalty;
            if cost < least[end] {
                (least[end], last[end]) = (cost, candidate.begin);
            }
        }
        // To begin a segment at `end` is at least as good, but only where one that begins there is long enough.
        for candidate in &mut candidates {
            if least[candidate.begin] + costs.cost(candidate.begin, end) >= least[end] {
                candidate.useful_before = candidate.useful_before.min(end + shortest);
            }
        }
    }
    let begins = std::iter::successors(Some(last[n]), |&begin| (begin > 0).then(|| last[begin]));
    let mut changes: Vec<usize> = begins.filter(|&begin| begin > 0).collect();
    changes.reverse();
    changes
}

struct Candidate {
    begin: usize,
    useful_before: usize,
}

/// Costs of segments, computed from sums up to each point.
struct Costs {
    sums: Vec<(f64, f64)>,
    floor: f64,
}

impl Costs {
    fn new(series: &[f64], floor: f64) -> Costs {
        // Sums are taken about the mean, or the squares of a large level would drown the variance.
        let mean = series.iter().sum::<f64>() / series.len() as f64;
        let add = |(sum, squares): &mut (f64, f64), value: &f64| {
            (*sum, *squares) = (*sum + (value - mean), *squares + (value - mean).powi(2));
            Some((*sum, *squares))
        };
        let sums = std::iter::once((0.0, 0.0)).chain(series.iter().scan((0.0, 0.0), add)).collect();
        Costs { sums, floor }
    }

    fn cost(&self, begin: usize, end: usize) -> f64 {
        let ((sum_begin, squares_begin), (sum_end, squares_end)) = (self.sums[begin], self.sums[end]);
        let n = (end - begin) as f64;
        let mean = (sum_end - sum_begin) / n;
        let variance = ((squares_end - squares_begin) / n - mean * mean).max(0.0);
        let at = variance.max(self.floor);
        n * (at.ln() + variance / at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A series that anybody can make again: each part has a number of points, a level and a spread.
    fn series(parts: &[(usize, f64, f64)]) -> Vec<f64> {
        let points = parts.iter().flat_map(|part| std::iter::repeat_n(part, part.0));
        let ripple = |at: usize| (at * 7919 % 1009) as f64 / 1009.0 - 0.5;
        points.enumerate().map(|(at, (_, level, spread))| level + spread * ripple(at + 1)).collect()
    }

    /// Changes and total cost agree with Python's ruptures 1.1.10: with the minimum over 0 to 6 changes of its
    /// exhaustive `Dynp`, with this cost as a `custom_cost`, `min_size=5, jump=1`. Its `Pelt` finds the same, with
    /// this cost and with its own `model="normal"`, `add_small_diag=False`.
    #[test]
    fn changes_are_those_of_ruptures() {
        let stairs = [(15, 50.0, 6.0), (12, 70.0, 6.0), (33, 90.0, 6.0), (40, 100.0, 6.0)];
        let dip = [(30, 100.0, 4.0), (6, 60.0, 4.0), (30, 100.0, 4.0)];
        type Case<'a> = (&'a [(usize, f64, f64)], f64, &'a [usize], f64);
        let cases: [Case; 12] = [
            (&[(60, 100.0, 4.0)], 4.0, &[], 77.43075589),
            (&[(60, 100.0, 4.0)], 15.0, &[], 77.43075589),
            (&[(20, 80.0, 6.0), (60, 100.0, 4.0)], 4.0, &[20], 137.088440563),
            (&[(20, 80.0, 6.0), (60, 100.0, 4.0)], 15.0, &[20], 185.290733544),
            (&stairs, 4.0, &[15, 27, 60], 265.233144725),
            (&stairs, 15.0, &[15, 27, 60], 417.203760862),
            (&[(40, 100.0, 2.0), (40, 100.0, 16.0)], 4.0, &[40], 176.265065924),
            (&[(40, 100.0, 2.0), (40, 100.0, 16.0)], 15.0, &[40], 224.467358906),
            (&dip, 4.0, &[30, 36], 117.795906614),
            (&dip, 15.0, &[30, 36], 209.968310939),
            (&[(40, 100.0, 4.0), (40, 101.5, 4.0)], 4.0, &[39], 118.680129185),
            (&[(40, 100.0, 4.0), (40, 101.5, 4.0)], 15.0, &[], 129.433711126),
        ];
        for (parts, by_log, expected, cost) in cases {
            let series = series(parts);
            let penalty = by_log * (series.len() as f64).ln();
            let found = changes(&series, penalty, 5, 0.01);
            assert_eq!(found, expected, "{parts:?}");
            let ours = total(&series, &found, penalty, 0.01);
            assert!((ours - cost).abs() < 1e-6, "{parts:?}: {ours} for {cost}");
        }
    }

    #[test]
    fn what_cannot_be_used_has_no_changes() {
        let step = series(&[(10, 1.0, 0.1), (10, 9.0, 0.1)]);
        assert_eq!(changes(&step, 5.0, 3, 0.01), [10]);
        assert!(changes(&step, 5.0, 11, 0.01).is_empty(), "no room for two segments");
        assert!(changes(&step, 5.0, 3, 0.0).is_empty(), "no floor");
        assert!(changes(&step, f64::NAN, 3, 0.01).is_empty());
        assert!(changes(&[1.0, f64::NAN, 9.0, 9.0], 1.0, 1, 0.01).is_empty());
        assert!(changes(&[], 1.0, 1, 0.01).is_empty());
    }

    /// The least cost over every possible segmentation, by optimal partitioning without pruning and with sums of its
    /// own.
    fn exhaustive(series: &[f64], penalty: f64, shortest: usize, floor: f64) -> f64 {
        let mut least = vec![f64::INFINITY; series.len() + 1];
        least[0] = -penalty;
        for end in shortest..=series.len() {
            for begin in 0..=end - shortest {
                least[end] = least[end].min(least[begin] + cost(&series[begin..end], floor) + penalty);
            }
        }
        least[series.len()]
    }

    fn cost(segment: &[f64], floor: f64) -> f64 {
        let n = segment.len() as f64;
        let mean = segment.iter().sum::<f64>() / n;
        let variance = segment.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
        let at = variance.max(floor);
        n * (at.ln() + variance / at)
    }

    fn total(series: &[f64], changes: &[usize], penalty: f64, floor: f64) -> f64 {
        let begins = std::iter::once(0).chain(changes.iter().copied());
        let ends = changes.iter().copied().chain([series.len()]);
        let costs: f64 = begins.zip(ends).map(|(begin, end)| cost(&series[begin..end], floor)).sum();
        costs + penalty * changes.len() as f64
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn no_other_segmentation_costs_less(
            noise in proptest::collection::vec(-1.0..1.0f64, 2..90),
            steps in proptest::collection::vec((0..90usize, -6.0..6.0f64, 0.1..5.0f64), 0..5),
            penalty in 0.0..30.0f64,
            shortest in 1..8usize,
        ) {
            let level = |at: usize| steps.iter().filter(|step| step.0 <= at).map(|step| step.1).sum::<f64>();
            let spread = |at: usize| steps.iter().filter(|step| step.0 <= at).map(|step| step.2).product::<f64>();
            let series: Vec<f64> =
                noise.iter().enumerate().map(|(at, noise)| 100.0 + level(at) + noise * spread(at)).collect();
            let found = changes(&series, penalty, shortest, 0.01);
            if series.len() >= 2 * shortest {
                let ends = found.iter().copied().chain([series.len()]);
                let lengths = ends.scan(0, |begin, end| Some(end - std::mem::replace(begin, end)));
                prop_assert!(lengths.into_iter().all(|length| length >= shortest), "{found:?}");
                let (ours, least) = (total(&series, &found, penalty, 0.01), exhaustive(&series, penalty, shortest, 0.01));
                prop_assert!((ours - least).abs() <= 1e-9 * least.abs().max(1.0), "{ours} for {least}: {found:?}");
            } else {
                prop_assert!(found.is_empty());
            }
        }
    }
}
