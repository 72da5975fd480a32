//! Many verdicts at once: of those that are given, few are false.

/// The wealth that a bet must have for its verdict to be given, among `bets` of which these are the wealths: `bets / (d α)`
/// for the largest d such that d of them have that much; `bets / α` where none has. Of all verdicts that are given, a
/// share of at most α is false on average, however the bets depend on one another and whenever they were stopped.
///
/// e-BH: R. Wang, A. Ramdas, "False discovery rate control with e-values", JRSS B 84(3), 2022, section 3.
pub fn discovery_threshold(wealths: &[f64], bets: usize, alpha: f64) -> f64 {
    let mut sorted = wealths.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let threshold = |given: usize| bets as f64 / given as f64 / alpha;
    let given = (1..=sorted.len()).rev().find(|&given| sorted[given - 1] >= threshold(given));
    threshold(given.unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_verdicts_are_given_the_less_each_must_have() {
        let threshold = |wealths: &[f64]| discovery_threshold(wealths, 6, 0.05);
        assert_eq!(threshold(&[]), 6.0 / 0.05);
        assert_eq!(threshold(&[119.0, 1.0]), 120.0, "none is given");
        assert_eq!(threshold(&[120.0, 59.0]), 120.0);
        assert_eq!(threshold(&[60.0, 1.0, 61.0]), 60.0, "neither would be given alone");
        assert_eq!(threshold(&[20.0; 6]), 20.0);
        assert_eq!(threshold(&[f64::INFINITY, 1.0]), 120.0);
    }
}
