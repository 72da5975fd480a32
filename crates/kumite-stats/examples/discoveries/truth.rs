//! Claims with their known truth, and so the verdicts that are false.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    NoDifference,
    Holds,
    Fails,
}

/// On which side of its border a comparison says that the ratio lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Above,
    Below,
}

impl Side {
    pub fn is_met(self, value: f64, border: f64) -> bool {
        match self {
            Side::Above => value > border,
            Side::Below => value < border,
        }
    }
}

/// The claim that the ratio of two contenders lies on one side of a border.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// The true one.
    pub ratio: f64,
    pub side: Side,
    pub border: f64,
    /// It is true at the border.
    pub or_equal: bool,
}

impl Comparison {
    /// `ratio > 1`.
    pub fn above_one(ratio: f64) -> Comparison {
        Comparison { ratio, side: Side::Above, border: 1.0, or_equal: false }
    }

    fn is_true(&self, border: f64) -> bool {
        self.side.is_met(self.ratio, border) || self.or_equal && self.ratio == border
    }

    /// The border made easier to meet by a margin, such as 1.05, and made harder.
    pub fn borders(&self, margin: f64) -> (f64, f64) {
        let (down, up) = (self.border / margin, self.border * margin);
        match self.side {
            Side::Above => (down, up),
            Side::Below => (up, down),
        }
    }
}

/// A claim: that all its comparisons are true.
#[derive(Clone, Debug)]
pub struct Claim {
    pub comparisons: Vec<Comparison>,
    /// Ratios so near to each other are no difference, such as 1.05.
    pub margin: Option<f64>,
}

impl Claim {
    /// Without a margin.
    pub fn new(comparisons: Vec<Comparison>) -> Claim {
        Claim { comparisons, margin: None }
    }

    pub fn is_false(&self, verdict: Verdict) -> bool {
        let margin = self.margin.unwrap_or(1.0);
        let is_true = |border: fn(&Comparison, f64) -> f64| {
            self.comparisons.iter().all(|one| one.is_true(border(one, margin)))
        };
        let (is_true_loosened, is_true_tightened) =
            (is_true(|one, margin| one.borders(margin).0), is_true(|one, margin| one.borders(margin).1));
        match verdict {
            Verdict::Holds => !is_true(|one, _| one.border),
            Verdict::Fails => is_true(|one, _| one.border),
            Verdict::NoDifference => !is_true_loosened || is_true_tightened,
        }
    }
}

#[test]
fn a_claim_at_equality_is_true_only_if_it_says_or_equal() {
    let mut claim = Claim::new(vec![Comparison::above_one(2.0), Comparison::above_one(1.0)]);
    assert!(claim.is_false(Verdict::Holds) && !claim.is_false(Verdict::Fails));
    claim.comparisons[1].or_equal = true;
    assert!(!claim.is_false(Verdict::Holds) && claim.is_false(Verdict::Fails));
    claim.comparisons[0].side = Side::Below;
    assert!(claim.is_false(Verdict::Holds) && !claim.is_false(Verdict::Fails));
}

#[test]
fn no_difference_at_the_margin_is_true_where_the_claim_is_false_of_the_margin_itself() {
    let claim = |ratio, or_equal| Claim {
        comparisons: vec![Comparison { or_equal, ..Comparison::above_one(ratio) }],
        margin: Some(1.05),
    };
    let is_false = |ratio, or_equal| claim(ratio, or_equal).is_false(Verdict::NoDifference);
    assert!(!is_false(1.0, false) && !is_false(1.05, false) && !is_false(1.0 / 1.05, true));
    assert!(
        is_false(1.05, true) && is_false(1.0 / 1.05, false) && is_false(1.06, false) && is_false(0.95, true)
    );
}
