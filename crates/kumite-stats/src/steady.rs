//! The search for the steady part of a series.

use crate::changepoint::changes;
use crate::median::median;

/// The direction in which the values of a series are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Larger values are better, as with rates.
    Larger,
    /// Smaller values are better, as with times.
    Smaller,
}

/// The shape of a series, as Barrett et al. classify it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The series is steady from its beginning.
    Flat,
    /// The series becomes steady, and was never better before.
    WarmUp,
    /// The series becomes steady, and something before was better.
    Slowdown,
    /// The series has no steady part: it changes until too near its end, or drifts.
    NoSteadyState,
}

/// The shape of a series and its steady part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steady {
    /// The shape of the whole series.
    pub class: Class,
    /// The index of the first point of the steady part. None if the series never is steady.
    pub since: Option<usize>,
    /// The indices of the points at which the level changes, ascending. They include the changes of excursions within
    /// the steady part.
    pub changes: Vec<usize>,
}

/// The fewest points of a series that is classified.
pub const FEWEST: usize = 15;
/// The share by which levels must differ in order not to be the same. The same holds for the outer thirds of a steady
/// part.
const TOLERANCE: f64 = 0.05;
/// The fewest points of a segment. A shorter one cannot be told from an outlier.
const SHORTEST: usize = 3;
/// The smallest share of the series that a steady part may be.
const LEAST_STEADY: f64 = 0.25;
/// The smallest share of a steady part that must be at its level. The rest are excursions that came back, such as a
/// long collection of garbage: they belong to what the program does.
const AT_LEVEL: f64 = 0.8;
/// The penalty for one change, as a multiple of log n. A change has three parameters, so 3 would be the Bayesian
/// information criterion.
const PENALTY: f64 = 4.0;
/// The number of standard errors by which levels must differ in order not to be the same.
const LEVEL_ERRORS: f64 = 4.0;
/// The number of standard errors that a line through the steady part must rise or fall in order to count as a drift.
/// It is tested once and not for every pair of levels, so it is less than [`LEVEL_ERRORS`].
const SLOPE_ERRORS: f64 = 3.0;
/// The number of points on either side that a point is compared with in order to find outliers.
const AROUND: usize = 2;
/// The distance from the median around it, in standard deviations, from which a point is an outlier.
const FAR: f64 = 6.0;
/// The prior correlation of neighbouring points. `CORRELATION_POINTS` is its weight as a number of points, and
/// `MOST_CORRELATED` the largest correlation that is believed: a stronger one cannot be told from a change.
const CORRELATION: f64 = 0.4;
const CORRELATION_POINTS: f64 = 20.0;
const MOST_CORRELATED: f64 = 0.7;
/// The weight of the whole series' noise in the noise of a segment, as a number of points.
const NOISE_POINTS: f64 = 10.0;
/// The share of the squares, smallest first, that noise is estimated from. `CALM_SQUARE` is their mean for standard
/// normal deviates.
const CALM_SHARE: f64 = 0.9;
const CALM_SQUARE: f64 = 0.6225;
/// The ratio of a normal deviate's standard deviation to the median of its absolute value.
const BY_MEDIAN: f64 = 1.4826;
/// The most points that are analysed. Neighbours of a longer series are averaged, so that the time is bounded.
const MOST: usize = 5_000;

/// Classifies an evenly sampled series, oldest value first. None if the series has fewer than [`FEWEST`] points, or a
/// value is not finite. If the series has more than 5,000 points, neighbours are averaged; an index in the result is
/// then that of the first point of an average.
///
/// The method and its hits and misses are in the documentation of this crate.
pub fn steady(series: &[f64], better: Better) -> Option<Steady> {
    if series.len() < FEWEST || series.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let merged = series.len().div_ceil(MOST);
    let means: Vec<f64> =
        series.chunks(merged).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64).collect();
    let Steady { class, since, changes } = classify(&without_outliers(&means), better);
    let at = |position: usize| position * merged;
    Some(Steady { class, since: since.map(at), changes: changes.into_iter().map(at).collect() })
}

fn classify(series: &[f64], better: Better) -> Steady {
    let noise = Noise::new(series);
    let penalty = PENALTY * (series.len() as f64).ln();
    let segments = distinct(series, &changes(series, penalty, SHORTEST, noise.floor()), &noise);
    let changes = segments.iter().skip(1).map(|segment| segment.begin).collect();
    let last = &segments[segments.len() - 1];
    let is_steady_from = |first: &usize| {
        let (from, begin) = (&segments[*first..], segments[*first].begin);
        let length = (series.len() - begin) as f64;
        let at_level: usize = from.iter().filter(|segment| segment.is_like(last)).map(Segment::len).sum();
        from[0].is_like(last)
            && length >= LEAST_STEADY * series.len() as f64
            && at_level as f64 >= AT_LEVEL * length
            && !drifts(&series[begin..], &noise)
    };
    let Some(first) = (0..segments.len()).find(is_steady_from) else {
        return Steady { class: Class::NoSteadyState, since: None, changes };
    };
    let is_better = |segment: &Segment| match better {
        Better::Larger => segment.level > last.level,
        Better::Smaller => segment.level < last.level,
    };
    let class = match &segments[..first] {
        [] => Class::Flat,
        before if before.iter().any(|segment| !segment.is_like(last) && is_better(segment)) => {
            Class::Slowdown
        }
        _ => Class::WarmUp,
    };
    Steady { class, since: Some(segments[first].begin), changes }
}

/// A stretch of a series at one level.
struct Segment {
    begin: usize,
    end: usize,
    level: f64,
    /// The standard error of the level.
    error: f64,
}

impl Segment {
    fn new(series: &[f64], begin: usize, end: usize, noise: &Noise) -> Segment {
        let points = &series[begin..end];
        let n = points.len() as f64;
        // The variance is estimated from neighbours, because a segment may have a slope. It is no less than the whole
        // series', because a segment may be few points.
        let steps: f64 = points.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
        let own = steps / (2.0 * (1.0 - noise.correlation));
        let variance = (own + NOISE_POINTS * noise.variance) / (n - 1.0 + NOISE_POINTS);
        let error = (variance.max(noise.variance) * noise.inflation() / n).sqrt();
        Segment { begin, end, level: points.iter().sum::<f64>() / n, error }
    }

    fn len(&self) -> usize {
        self.end - self.begin
    }

    /// The distance between two levels, in standard errors.
    fn apart(&self, other: &Segment) -> f64 {
        (self.level - other.level).abs() / self.error.hypot(other.error)
    }

    fn is_like(&self, other: &Segment) -> bool {
        let is_small = (self.level - other.level).abs() <= TOLERANCE * other.level.abs();
        is_small || self.apart(other) <= LEVEL_ERRORS
    }
}

/// The segments between changes. Neighbouring segments of the same level are joined, the most alike first.
fn distinct(series: &[f64], changes: &[usize], noise: &Noise) -> Vec<Segment> {
    let mut bounds = vec![0];
    bounds.extend(changes);
    bounds.push(series.len());
    loop {
        let segment = |ends: &[usize]| Segment::new(series, ends[0], ends[1], noise);
        let segments: Vec<Segment> = bounds.windows(2).map(segment).collect();
        let alike = segments.windows(2).enumerate().filter(|(_, pair)| pair[0].is_like(&pair[1]));
        let apart = |pair: &[Segment]| pair[0].apart(&pair[1]);
        match alike.min_by(|(_, a), (_, b)| apart(a).total_cmp(&apart(b))) {
            Some((at, _)) => bounds.remove(at + 1),
            None => return segments,
        };
    }
}

/// The noise of a series: the variance of its points and the correlation of neighbours, without changes of level.
struct Noise {
    variance: f64,
    /// The correlation of neighbouring points: the share of a point's deviation that the next point is expected to
    /// have.
    correlation: f64,
    level: f64,
}

impl Noise {
    /// Estimates the noise from differences of points at a distance of one and two, which a few changes of level
    /// hardly affect. The method is that of Chakar et al., with means of the smaller squares in place of medians.
    fn new(series: &[f64]) -> Noise {
        let steps: Vec<f64> = series.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let slope = median(&steps).unwrap_or(0.0);
        let square = |by: usize| {
            let rise = by as f64 * slope;
            let mut squares: Vec<f64> =
                series.windows(by + 1).map(|points| (points[by] - points[0] - rise).powi(2)).collect();
            squares.sort_unstable_by(f64::total_cmp);
            squares.truncate((squares.len() as f64 * CALM_SHARE) as usize);
            squares.iter().sum::<f64>() / squares.len().max(1) as f64 / CALM_SQUARE
        };
        let (one, two) = (square(1), square(2));
        let seen = if one > 0.0 { two / one - 1.0 } else { 0.0 };
        let n = series.len() as f64;
        let correlation = (seen * n + CORRELATION * CORRELATION_POINTS) / (n + CORRELATION_POINTS);
        let correlation = correlation.clamp(0.0, MOST_CORRELATED);
        // The difference of two neighbours varies with 2 (1 - correlation) times the variance of one.
        let variance = one / (2.0 * (1.0 - correlation));
        Noise { variance, correlation, level: median(series).unwrap_or(0.0).abs() }
    }

    /// The variance of a mean, as a multiple of that of as many independent points.
    fn inflation(&self) -> f64 {
        (1.0 + self.correlation) / (1.0 - self.correlation)
    }

    /// The least variance of a segment. Without it, a few points that happen to be alike would be a segment of their
    /// own.
    fn floor(&self) -> f64 {
        let of_level = (TOLERANCE / 10.0 * self.level).powi(2);
        (self.variance / 4.0).max(of_level).max(f64::MIN_POSITIVE)
    }
}

/// True if a line through the points rises or falls by more than the tolerance between the middles of their outer
/// thirds, and by more than noise would make it.
fn drifts(series: &[f64], noise: &Noise) -> bool {
    let n = series.len() as f64;
    let from_middle = |at: usize| at as f64 - (n - 1.0) / 2.0;
    let mean = series.iter().sum::<f64>() / n;
    let sum = |of: &dyn Fn(usize, f64) -> f64| {
        series.iter().enumerate().map(|(at, value)| of(at, value - mean)).sum::<f64>()
    };
    let spread = sum(&|at, _| from_middle(at).powi(2));
    let slope = sum(&|at, value| from_middle(at) * value) / spread;
    let variance = sum(&|at, value| (value - slope * from_middle(at)).powi(2)) / n;
    let error = (variance.max(noise.variance) * noise.inflation() / spread).sqrt();
    (slope * n * 2.0 / 3.0).abs() > TOLERANCE * mean.abs() && slope.abs() > SLOPE_ERRORS * error
}

/// The series without outliers: a point that is far from the median of the points around it is replaced by that
/// median. Unlike a mean, this keeps the edges of steps.
fn without_outliers(series: &[f64]) -> Vec<f64> {
    let around = |at: usize| &series[at.saturating_sub(AROUND)..(at + AROUND + 1).min(series.len())];
    let medians: Vec<f64> = (0..series.len()).map(|at| median(around(at)).unwrap_or(series[at])).collect();
    let off: Vec<f64> = series.iter().zip(&medians).map(|(value, median)| (value - median).abs()).collect();
    let level = median(series).unwrap_or(0.0).abs();
    let far = (FAR * BY_MEDIAN * median(&off).unwrap_or(0.0)).max(TOLERANCE * level);
    let calm = |(&value, &median): (&f64, &f64)| if (value - median).abs() > far { median } else { value };
    series.iter().zip(&medians).map(calm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A series of levels with a small ripple: each part has a number of points and a level.
    fn series(parts: &[(usize, f64)]) -> Vec<f64> {
        let levels = parts.iter().flat_map(|(points, level)| std::iter::repeat_n(*level, *points));
        levels.enumerate().map(|(at, level)| level * (1.0 + 0.01 * (at * 7919 % 13) as f64 / 13.0)).collect()
    }

    fn found(parts: &[(usize, f64)], better: Better) -> (Class, Option<usize>, Vec<usize>) {
        let Steady { class, since, changes } = steady(&series(parts), better).unwrap();
        (class, since, changes)
    }

    #[test]
    fn rates_that_rise_and_times_that_fall_are_a_warm_up() {
        let parts = [(8, 50.0), (32, 100.0)];
        assert_eq!(found(&parts, Better::Larger), (Class::WarmUp, Some(8), vec![8]));
        assert_eq!(found(&parts, Better::Smaller), (Class::Slowdown, Some(8), vec![8]));
    }

    #[test]
    fn what_differs_by_less_than_the_tolerance_is_flat() {
        assert_eq!(found(&[(20, 100.0), (20, 104.0)], Better::Larger), (Class::Flat, Some(0), vec![]));
        assert_eq!(found(&[(20, 100.0), (20, 107.0)], Better::Larger), (Class::WarmUp, Some(20), vec![20]));
    }

    #[test]
    fn an_excursion_that_comes_back_belongs_to_what_is_steady() {
        let dip = [(20, 100.0), (4, 60.0), (20, 100.0)];
        assert_eq!(found(&dip, Better::Larger), (Class::Flat, Some(0), vec![20, 24]));
        let long = [(10, 100.0), (20, 60.0), (20, 100.0)];
        assert_eq!(found(&long, Better::Larger), (Class::WarmUp, Some(30), vec![10, 30]));
    }

    #[test]
    fn a_change_near_the_end_leaves_no_steady_state() {
        let late = found(&[(40, 100.0), (10, 150.0)], Better::Larger);
        assert_eq!(late, (Class::NoSteadyState, None, vec![40]));
        let ramp: Vec<f64> =
            series(&[(60, 100.0)]).iter().zip(0..).map(|(x, at)| x + f64::from(at)).collect();
        assert_eq!(steady(&ramp, Better::Larger).unwrap().class, Class::NoSteadyState);
    }

    #[test]
    fn the_unit_does_not_matter() {
        let rates = series(&[(30, 0.002), (60, 0.003)]);
        for unit in [1e-6, 1.0, 1e9] {
            let scaled: Vec<f64> = rates.iter().map(|rate| rate * unit).collect();
            assert_eq!(steady(&scaled, Better::Larger), steady(&rates, Better::Larger), "{unit}");
        }
    }

    #[test]
    fn what_does_not_vary_is_flat() {
        for value in [0.0, 500.0, 1e300] {
            let of = steady(&[value; 40], Better::Larger).unwrap();
            assert_eq!(of, Steady { class: Class::Flat, since: Some(0), changes: vec![] });
        }
        // One connection to a server that takes its time: now and then an interval without an answer.
        let rare: Vec<f64> = (0..40).map(|at| if at % 7 == 3 { 0.0 } else { 1.0 }).collect();
        assert_eq!(steady(&rare, Better::Larger).unwrap().class, Class::Flat);
    }

    #[test]
    fn what_cannot_be_judged_has_no_class() {
        assert_eq!(steady(&[1.0; FEWEST - 1], Better::Larger), None);
        let mut broken = [1.0; 20];
        broken[7] = f64::NAN;
        assert_eq!(steady(&broken, Better::Larger), None);
    }

    #[test]
    fn a_long_series_takes_no_more_than_its_time() {
        let long = series(&[(12_000, 80.0), (36_000, 100.0)]);
        let Steady { class, since, .. } = steady(&long, Better::Larger).unwrap();
        assert_eq!((class, since), (Class::WarmUp, Some(12_000)));
    }
}
