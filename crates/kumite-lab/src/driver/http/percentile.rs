//! The percentiles of a time as metrics, as far as there are enough requests for them.

use std::collections::BTreeMap;

use kumite_load::{Histogram, percentile};
use kumite_record::{Enough, Needs};

/// Puts these percentiles of a time into `metrics`. A percentile that takes more requests goes into `needs` with the
/// number that is missing.
pub(crate) fn percentiles(
    of: &str,
    times: &Histogram<u64>,
    which: &[(&str, u64)],
    metrics: &mut BTreeMap<String, f64>,
    needs: &mut Needs,
) {
    for (name, one_in) in which {
        let name = format!("{of}_{name}_us");
        match percentile(times, *one_in) {
            Ok(us) => {
                metrics.insert(name, us);
            }
            Err(missing) => {
                needs.insert(name, missing);
            }
        }
    }
}

/// The share by which a recommended window is longer than needed, because trials differ.
const RESERVE: f64 = 0.2;
const MOST_S: f64 = 86_400.0;

/// The length of window that would give a percentile enough values, if `have` values came in `duration_s` seconds and
/// `missing` more are needed. None if no value came, or if no allowed window is long enough.
pub(super) fn long_enough(have: u64, missing: u64, duration_s: f64) -> Option<Enough> {
    let exact_s = duration_s * (have + missing) as f64 / have as f64 * (1.0 + RESERVE);
    // Rounded up to two digits.
    let digit = 10_f64.powf(exact_s.log10().floor() - 1.0);
    let value = (exact_s / digit - 1e-9).ceil() * digit;
    let value = (value * 1e3).round() / 1e3;
    let parameter = "duration_s".to_owned();
    (have > 0 && value <= MOST_S).then_some(Enough { have, parameter, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_long_enough_with_a_fifth_in_reserve() {
        let value_s = |have, missing, seconds| long_enough(have, missing, seconds).map(|it| it.value);
        // 538 in 2 s: 1,000 take 3.72 s.
        assert_eq!(value_s(538, 462, 2.0), Some(4.5));
        assert_eq!(value_s(500, 500, 5.0), Some(12.0));
        assert_eq!(value_s(20, 980, 0.1), Some(6.0));
        assert_eq!(value_s(999, 1, 0.1), Some(0.13));
        assert_eq!((value_s(0, 20, 5.0), value_s(1, 9999, 60.0)), (None, None));
    }
}
