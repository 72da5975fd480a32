//! One answer of a comparison, as it is shown first.

/// The answer on a pair, by one metric.
pub(super) struct Answer {
    pub is_decided: bool,
    pub text: String,
}
