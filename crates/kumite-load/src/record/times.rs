//! Response times by when the answers came. Each part of the window has the count of each time, so that the times of
//! any later part can be had afterwards. A part is a tenth of a second, and longer late in a long window.

use hdrhistogram::Histogram;

/// The length of an interval in ns. Threads give away their counts once in each.
pub(crate) const INTERVAL_NS: u64 = 100_000_000;
pub(crate) const INTERVAL_MS: u64 = 100;
/// The divisor that limits a part: it is at most a hundredth of the time before it, or one interval. So a load of an
/// hour has some hundreds of parts.
const SHARE: u64 = 100;

/// The times (response times or service times) of the right answers in a window, by when the answers came. They are
/// kept in parts: one interval each at first, later a hundredth of the time before the part.
#[derive(Debug, Clone, Default)]
pub struct Times {
    parts: Vec<Stretch>,
    intervals: u64,
}

#[derive(Debug, Clone)]
struct Stretch {
    /// The number of intervals before this part.
    begin: u64,
    /// Each value that was recorded, with its count. Most values of a histogram do not occur.
    counts: Vec<(u64, u64)>,
}

impl Times {
    /// Adds the histogram, in ns, of the next 100 ms of the window.
    pub fn add(&mut self, interval: &Histogram<u64>) {
        match self.parts.last_mut() {
            Some(part) if (self.intervals - part.begin) * SHARE < part.begin => part.merge(interval),
            _ => self.parts.push(Stretch { begin: self.intervals, counts: counts(interval).collect() }),
        }
        self.intervals += 1;
    }

    /// The times from `ms` milliseconds after the window's opening on, and the instant in ms at which they really
    /// begin. That is the next multiple of 100 or, in a long window, later by at most a hundredth of the time before.
    /// If `ms` lies after the beginning of the last part, the instant is the window's end, and there are no times.
    pub fn from_ms(&self, ms: u64) -> (u64, Histogram<u64>) {
        let first = self.parts.partition_point(|part| part.begin * INTERVAL_MS < ms);
        let begin = self.parts.get(first).map_or(self.intervals, |part| part.begin);
        let mut times = Histogram::new(3).expect("3 is a precision that hdrhistogram has");
        for (value, count) in self.parts[first..].iter().flat_map(|part| &part.counts) {
            times.record_n(*value, *count).expect("a histogram that grows takes any value");
        }
        (begin * INTERVAL_MS, times)
    }
}

impl Stretch {
    fn merge(&mut self, interval: &Histogram<u64>) {
        let before = std::mem::take(&mut self.counts);
        let (mut before, mut new) = (before.into_iter().peekable(), counts(interval).peekable());
        loop {
            let next = match (before.peek(), new.peek()) {
                (Some(a), Some(b)) if a.0 == b.0 => {
                    before.next().zip(new.next()).map(|(a, b)| (a.0, a.1 + b.1))
                }
                (Some(a), Some(b)) if a.0 > b.0 => new.next(),
                (Some(_), _) => before.next(),
                (None, _) => new.next(),
            };
            match next {
                Some(count) => self.counts.push(count),
                None => return,
            }
        }
    }
}

fn counts(interval: &Histogram<u64>) -> impl Iterator<Item = (u64, u64)> {
    interval.iter_recorded().map(|bin| (bin.value_iterated_to(), bin.count_at_value()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An interval with one answer of its own and one that all have.
    fn interval(nth: u64) -> Histogram<u64> {
        let mut interval = Histogram::new(3).unwrap();
        interval.record(1_000 + nth % 50).unwrap();
        interval.record_n(500, 2).unwrap();
        interval
    }

    fn times(intervals: u64) -> Times {
        let mut times = Times::default();
        for nth in 0..intervals {
            times.add(&interval(nth));
        }
        times
    }

    #[test]
    fn what_is_added_comes_back_from_any_interval_on() {
        let times = times(40);
        for first in 0..=40 {
            let mut expected = Histogram::<u64>::new(3).unwrap();
            for nth in first..40 {
                expected.add(interval(nth)).unwrap();
            }
            assert_eq!(times.from_ms(first * 100), (first * 100, expected.clone()));
            assert_eq!(
                times.from_ms((first * 100).saturating_sub(99)).1,
                expected,
                "the next one begins at {first}"
            );
        }
        assert_eq!(times.from_ms(9_999), (4_000, Histogram::new(3).unwrap()));
        assert_eq!(Times::default().from_ms(0).1.len(), 0);
    }

    #[test]
    fn a_long_load_has_few_parts_that_lose_nothing() {
        let times = times(36_000);
        assert!(times.parts.len() < 800, "{}", times.parts.len());
        assert_eq!(times.from_ms(0).1.len(), 3 * 36_000);
        let (begin, rest) = times.from_ms(1_800_000);
        assert!((1_800_000..1_818_100).contains(&begin), "{begin}");
        assert_eq!(rest.len(), 3 * (36_000 - begin / 100));
    }
}
