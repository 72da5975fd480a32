//! Histograms of times in ns.

use hdrhistogram::Histogram;

pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new(3).expect("3 is a precision that hdrhistogram has")
}

pub(crate) fn add(to: &mut Histogram<u64>, other: &Histogram<u64>) {
    to.add(other).expect("a histogram that grows takes any other");
}
