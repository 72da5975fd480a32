//! The threshold for many verdicts at once, which bounds how many of them are false.

/// The error that α bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorRate {
    /// The mean share of false verdicts among those that are given (e-BH: R. Wang, A. Ramdas, "False discovery rate
    /// control with e-values", JRSS B 84(3), 2022, section 3).
    FalseDiscovery,
    /// The probability that any verdict is false.
    FamilyWise,
}

/// The decided claims of a run. No more is bet on a decided claim, so the number of decided claims only grows.
///
/// All false verdicts of a claim come from one bet that is a fair game. So `claims` is the number of claims, not of
/// bets.
#[derive(Clone, Debug, PartialEq)]
pub struct Decisions {
    rate: ErrorRate,
    alpha: f64,
    claims: usize,
    /// The wealths of the decided claims.
    decided: Vec<f64>,
}

impl Decisions {
    /// The decisions of a run before its first round: none. `alpha` is the bound on the error, above 0 and below 1.
    /// `claims` is the number of all claims that may be decided, fixed before the run; 0 is taken as 1.
    pub fn new(rate: ErrorRate, alpha: f64, claims: usize) -> Decisions {
        Decisions { rate, alpha, claims, decided: Vec::new() }
    }

    /// The wealth at which a verdict is given, if the undecided claims have these wealths: `claims / (d α)` for the
    /// largest d such that d claims, decided ones included, have at least that wealth. If there is no such d, and for
    /// [`ErrorRate::FamilyWise`], it is `claims / α`.
    pub fn threshold(&self, undecided: &[f64]) -> f64 {
        let alone = self.claims.max(1) as f64 / self.alpha;
        if self.rate == ErrorRate::FamilyWise {
            return alone;
        }
        let mut all = [&self.decided, undecided].concat();
        all.sort_unstable_by(|a, b| b.total_cmp(a));
        let given = (1..=all.len()).rev().find(|&given| all[given - 1] >= alone / given as f64);
        alone / given.unwrap_or(1) as f64
    }

    /// The wealth at which one more claim would be decided: `claims / ((d + 1) α)` if d claims are decided, and
    /// `claims / α` for [`ErrorRate::FamilyWise`].
    pub fn next_threshold(&self) -> f64 {
        let alone = self.claims.max(1) as f64 / self.alpha;
        match self.rate {
            ErrorRate::FamilyWise => alone,
            ErrorRate::FalseDiscovery => alone / (self.decided.len() + 1).min(self.claims.max(1)) as f64,
        }
    }

    /// Records that one more claim is decided, with this wealth. Whether the wealth is enough is not checked.
    pub fn decide(&mut self, wealth: f64) {
        self.decided.push(wealth);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_verdicts_are_given_the_less_each_must_have() {
        let mut decisions = Decisions::new(ErrorRate::FalseDiscovery, 0.05, 6);
        assert_eq!(decisions.threshold(&[]), 120.0);
        assert_eq!(decisions.threshold(&[119.0, 1.0]), 120.0, "none is given");
        assert_eq!(decisions.threshold(&[120.0, 59.0]), 120.0);
        assert_eq!(decisions.threshold(&[60.0, 1.0, 61.0]), 60.0, "neither would be given alone");
        assert_eq!(decisions.threshold(&[20.0; 6]), 20.0);
        assert_eq!(decisions.threshold(&[f64::INFINITY, 1.0]), 120.0);
        assert_eq!(decisions.next_threshold(), 120.0);
        decisions.decide(120.0);
        assert_eq!((decisions.threshold(&[60.0]), decisions.next_threshold()), (60.0, 60.0));
        assert_eq!(decisions.threshold(&[59.0]), 120.0);
    }

    #[test]
    fn family_wise_each_has_its_share_of_the_chance() {
        let mut decisions = Decisions::new(ErrorRate::FamilyWise, 0.05, 6);
        decisions.decide(500.0);
        assert_eq!((decisions.threshold(&[60.0, 61.0]), decisions.next_threshold()), (120.0, 120.0));
        assert_eq!(Decisions::new(ErrorRate::FamilyWise, 0.05, 0).threshold(&[]), 20.0);
    }
}
