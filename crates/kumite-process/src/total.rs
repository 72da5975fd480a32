//! Sums of times that clocks tell which others may have changed.

use std::time::Duration;

/// The sum, or the longest time there is. What a clock says is not ours to believe: one that is faked by a preloaded library,
/// or set, has CPU times of centuries, and must not end us.
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
