//! The median of values, and its bootstrap interval. If a value is not finite there is neither: no value is dropped.

use std::cell::RefCell;
use std::rc::Rc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::bootstrap::{RESAMPLES, bounds, expanded_tail};
use crate::{Error, Interval};

/// The middle value, or the mean of the two middle values. None if there are no values, or one is not finite.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values).ok()?;
    (!sorted.is_empty()).then(|| at(&sorted, middle(sorted.len())))
}

/// The bootstrap interval of the median of the distribution that the blocks are drawn from, in the unit of the
/// values; `values` has one value for each block. An error if there are too few blocks, a value is not finite, or the
/// confidence is not between 0 and 1.
pub fn median_interval(values: &[f64], confidence: f64, seed: u64) -> Result<Interval, Error> {
    let n = values.len();
    let tail = expanded_tail(n, confidence)?;
    let sorted = sorted(values)?;
    Ok(interval(&sorted, &resampled_middles(n, RESAMPLES, seed), tail))
}

pub(crate) fn interval(sorted: &[f64], middles: &[(usize, usize)], tail: f64) -> Interval {
    let mut medians: Vec<f64> = middles.iter().map(|&middle| at(sorted, middle)).collect();
    let (low, high) = bounds(&mut medians, tail);
    let estimate = at(sorted, middle(sorted.len()));
    Interval { estimate, low: low.min(estimate), high: high.max(estimate), n: sorted.len() }
}

/// The positions of the two middle values in resamples of n sorted values; the values themselves do not matter. Every
/// resample comes with its mirror image, so that neither end of the interval is favoured.
///
/// The positions are the same for all metrics of a run, so the last ones are kept: drawing them is nearly all the
/// work.
pub(crate) fn resampled_middles(n: usize, resamples: usize, seed: u64) -> Rc<[(usize, usize)]> {
    thread_local!(static LAST: RefCell<Option<Drawn>> = const { RefCell::new(None) });
    LAST.with_borrow_mut(|last| match last {
        Some(drawn) if drawn.of == (n, resamples, seed) => Rc::clone(&drawn.middles),
        _ => {
            let middles = draw_middles(n, resamples, seed);
            *last = Some(Drawn { of: (n, resamples, seed), middles: Rc::clone(&middles) });
            middles
        }
    })
}

struct Drawn {
    of: (usize, usize, u64),
    middles: Rc<[(usize, usize)]>,
}

fn draw_middles(n: usize, resamples: usize, seed: u64) -> Rc<[(usize, usize)]> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = vec![0; n];
    let (lower, upper) = middle(n);
    let draw = |_| {
        drawn.fill_with(|| rng.random_range(0..n));
        drawn.sort_unstable();
        let (a, b) = (drawn[lower], drawn[upper]);
        [(a, b), (n - 1 - b, n - 1 - a)]
    };
    (0..resamples / 2).flat_map(draw).collect()
}

fn middle(n: usize) -> (usize, usize) {
    ((n - 1) / 2, n / 2)
}

fn at(sorted: &[f64], (lower, upper): (usize, usize)) -> f64 {
    sorted[lower].midpoint(sorted[upper])
}

fn sorted(values: &[f64]) -> Result<Vec<f64>, Error> {
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        return Err(Error::NotFinite { at });
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Ok(sorted)
}
