//! The limits of a recording and its scenario.

/// The size in bytes of the largest recording that is read: 100 MiB. A recording with all answers, images too, has some
/// 10 million bytes.
pub const LARGEST: usize = 100 << 20;
/// The longest pause before a request, in ms. A longer pause is cut to this length, because a person who goes away is
/// no load.
pub const LONGEST_PAUSE_MS: f64 = 10_000.0;
/// The largest number of requests that the session may have, because results are kept for each request.
pub const MOST_REQUESTS: usize = 1_000;
