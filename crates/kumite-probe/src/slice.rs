//! Timed portions of work, and the median of their times.

use std::time::{Duration, Instant};

/// Does portion after portion until `time` is over, at least one, and returns how long each took.
pub(crate) fn portions(time: Duration, mut portion: impl FnMut()) -> Vec<Duration> {
    let began = Instant::now();
    let (mut last, mut took) = (began, Vec::new());
    loop {
        portion();
        let now = Instant::now();
        took.push(now - last);
        last = now;
        if now - began >= time {
            return took;
        }
    }
}

/// The median of some times; `None` if there is none.
pub(crate) fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    let last = times.len().checked_sub(1)?;
    Some((times[last / 2] + times[last.div_ceil(2)]) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_median_lies_in_the_middle() {
        assert_eq!(median(vec![MS * 9, MS, MS * 3]), Some(MS * 3));
        assert_eq!(median(vec![MS * 9, MS, MS * 3, MS * 5]), Some(MS * 4));
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn no_time_is_enough_for_one_portion() {
        let mut done = 0;
        assert_eq!(portions(Duration::ZERO, || done += 1).len(), 1);
        assert_eq!(done, 1);
    }
}
