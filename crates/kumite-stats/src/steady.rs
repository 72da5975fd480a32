//! Finds the steady part of a series, if it has one.

use crate::changepoint::changes;
use crate::median::median;

/// The direction in which the values of a series get better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The larger: rates.
    Larger,
    /// The smaller: times.
    Smaller,
}

/// The shape of a series: the classes of Barrett et al.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Steady from its beginning.
    Flat,
    /// Steady, and better than all that came before.
    WarmUp,
    /// Steady, and something that came before was better.
    Slowdown,
    /// It changed until too near its end.
    NoSteadyState,
}

/// The shape of a series and its steady part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steady {
    /// The shape of the whole.
    pub class: Class,
    /// The position from which it is steady; none if it never is.
    pub since: Option<usize>,
    /// The positions at which its level changes, those of excursions within the steady part among them.
    pub changes: Vec<usize>,
}

/// Series with fewer points are not classified.
pub const FEWEST: usize = 15;
/// Levels that differ by less than this share are the same, and so are the outer thirds of a steady part.
const TOLERANCE: f64 = 0.05;
/// No segment has fewer points: what is shorter cannot be told from an outlier.
const SHORTEST: usize = 3;
/// A steady part has at least this share of the points.
const LEAST_STEADY: f64 = 0.25;
/// So much of the steady part is at its level. The rest are excursions that came back, such as a long collection of
/// garbage: they belong to what the program does.
const AT_LEVEL: f64 = 0.8;
/// The price of one change, in log n. A change has three parameters, so 3 would be the Bayesian information
/// criterion.
const PENALTY: f64 = 4.0;
/// Levels that differ by less than so many standard errors are the same.
const LEVEL_ERRORS: f64 = 4.0;
/// A rise or fall of less than so many standard errors is none. It is asked for once and not for every pair of levels.
const SLOPE_ERRORS: f64 = 3.0;
/// Points on either side that tell whether one is an outlier.
const AROUND: usize = 2;
/// How many standard deviations away an outlier is.
const FAR: f64 = 6.0;
/// The prior correlation of neighbours, the number of points it counts for, and the most that is believed: a stronger
/// correlation cannot be told from a change.
const CORRELATION: f64 = 0.4;
const CORRELATION_POINTS: f64 = 20.0;
const MOST_CORRELATED: f64 = 0.7;
/// How many points the noise of the whole series counts for in that of a segment.
const NOISE_POINTS: f64 = 10.0;
/// The share of the smallest squares that noise is estimated from, and their mean if the deviates are standard normal.
const CALM_SHARE: f64 = 0.9;
const CALM_SQUARE: f64 = 0.6225;
/// Of a normal deviate: the standard deviation by the median of the absolute values.
const BY_MEDIAN: f64 = 1.4826;
/// Of more points, neighbours are put together, so that the time is bounded.
const MOST: usize = 5_000;

/// Classifies an evenly sampled series, oldest first. None if it has fewer than [`FEWEST`] points, or one that is not
/// finite.
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

/// A stretch of one level.
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
        // From neighbours, for a segment may have a slope; and no less than elsewhere, for it may be few points.
        let steps: f64 = points.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
        let own = steps / (2.0 * (1.0 - noise.correlation));
        let variance = (own + NOISE_POINTS * noise.variance) / (n - 1.0 + NOISE_POINTS);
        let error = (variance.max(noise.variance) * noise.inflation() / n).sqrt();
        Segment { begin, end, level: points.iter().sum::<f64>() / n, error }
    }

    fn len(&self) -> usize {
        self.end - self.begin
    }

    /// How far apart the levels are, in standard errors.
    fn apart(&self, other: &Segment) -> f64 {
        (self.level - other.level).abs() / self.error.hypot(other.error)
    }

    fn is_like(&self, other: &Segment) -> bool {
        let is_small = (self.level - other.level).abs() <= TOLERANCE * other.level.abs();
        is_small || self.apart(other) <= LEVEL_ERRORS
    }
}

/// The segments between changes; those that are alike are put together, the most alike first.
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

/// The variance and the correlation of neighbouring points, without the changes of level.
struct Noise {
    variance: f64,
    /// How much of a deviation the next point has too.
    correlation: f64,
    level: f64,
}

impl Noise {
    /// From differences of neighbours and of their neighbours, which a few changes of level hardly touch: Chakar et al.,
    /// with means of the smaller squares for their medians.
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

    /// By how much the variance of a mean is larger than that of as many independent points.
    fn inflation(&self) -> f64 {
        (1.0 + self.correlation) / (1.0 - self.correlation)
    }

    /// The least variance of a segment: with less, a few points that happen to be alike would be one.
    fn floor(&self) -> f64 {
        let of_level = (TOLERANCE / 10.0 * self.level).powi(2);
        (self.variance / 4.0).max(of_level).max(f64::MIN_POSITIVE)
    }
}

/// A line through the points rises or falls by more than the tolerance from the middle of their first third to that
/// of the last, as a step by the tolerance would do, and by more than noise would make it.
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

/// The series without what stands out for a moment: a point that is far from the median of those around it becomes that
/// median. Unlike a mean, it keeps the edges of steps.
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

    /// Levels with a small ripple.
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
