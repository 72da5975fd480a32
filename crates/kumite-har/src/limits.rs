//! What bounds a recording and its scenario.

/// The size in bytes of the largest recording that is read. One with all answers in it, images too, has some ten
/// million.
pub const LARGEST: usize = 100 << 20;
/// The longest pause before a request, in ms. A person who goes away is no load; a longer pause is cut to this.
pub const LONGEST_PAUSE_MS: f64 = 10_000.0;
/// The most requests of a session. Results are kept by request.
pub const MOST_REQUESTS: usize = 1_000;
