//! Sums of times from clocks that others may have changed.

use std::time::Duration;

/// The sum of these times, or the longest `Duration` if the sum would be longer. (A clock that is set, or faked by a
/// preloaded library, may show CPU times of centuries; the sum must not panic then.)
pub fn total(times: impl IntoIterator<Item = Duration>) -> Duration {
    times.into_iter().fold(Duration::ZERO, Duration::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_has_an_end() {
        let [short, long] = [Duration::from_secs(2), Duration::MAX];
        assert_eq!(total([short, short]), Duration::from_secs(4));
        assert_eq!(total([short, long, long]), long);
        assert_eq!(total([]), Duration::ZERO);
    }
}
