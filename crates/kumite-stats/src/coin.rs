//! Exact probabilities for a fair coin that is thrown again and again.

/// The probability that a fair coin ever reaches a state within `throws` throws. `is_reached` gets the number of
/// heads and the number of throws so far, from the first throw on. Every number of heads is followed, so the result
/// is exact.
pub fn ever(throws: usize, is_reached: impl Fn(usize, usize) -> bool) -> f64 {
    let mut alive = vec![1.0];
    let mut reached = 0.0;
    for n in 1..=throws {
        let mut next = vec![0.0; n + 1];
        for (heads, share) in alive.iter().enumerate() {
            next[heads] += share / 2.0;
            next[heads + 1] += share / 2.0;
        }
        for (heads, share) in next.iter_mut().enumerate() {
            if is_reached(heads, n) {
                reached += *share;
                *share = 0.0;
            }
        }
        alive = next;
    }
    reached
}
