//! Contenders whose difference is known, and claims about them whose right verdicts are.

use kumite_record::Verdict;

/// A contender that takes exactly so much longer than the first one.
pub struct Contender {
    /// As claims have it.
    pub name: &'static str,
    /// How much longer.
    pub more_percent: f64,
}

/// Those of the scripted and of the real runs.
pub const CONTENDERS: [Contender; 5] = [
    Contender { name: "base", more_percent: 0.0 },
    Contender { name: "same", more_percent: 0.0 },
    Contender { name: "half", more_percent: 0.5 },
    Contender { name: "two", more_percent: 2.0 },
    Contender { name: "twenty", more_percent: 20.0 },
];

/// A claim whose right verdicts are known.
#[derive(Clone)]
pub struct Known {
    /// As reports have it.
    pub id: String,
    /// In the claim grammar.
    pub assert: String,
    /// The true difference that it depends on.
    pub percent: f64,
    /// The verdicts that are right. "Undecided" always is.
    pub right: &'static [Verdict],
}

impl Known {
    fn new(id: &str, assert: &str, percent: f64, right: &'static [Verdict]) -> Known {
        Known { id: id.to_owned(), assert: assert.to_owned(), percent, right }
    }

    /// True if this verdict of it is false.
    pub fn is_wrong(&self, verdict: Verdict) -> bool {
        is_given(verdict) && !self.right.contains(&verdict)
    }
}

/// True if it says anything.
pub fn is_given(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Holds | Verdict::Fails | Verdict::NoDifference => true,
        Verdict::Undecided | Verdict::DependsOnSitting | Verdict::NotTested | Verdict::Other(_) => false,
    }
}

/// Six claims about [`CONTENDERS`], for a margin of 1 %.
pub fn six() -> Vec<Known> {
    use Verdict::{Fails, Holds, NoDifference};
    vec![
        Known::new("true", "elapsed_ms(twenty) > elapsed_ms(base)", 20.0, &[Holds]),
        Known::new("false", "elapsed_ms(two) < elapsed_ms(base)", 2.0, &[Fails]),
        Known::new("within", "elapsed_ms(twenty) within 5 % of elapsed_ms(base)", 20.0, &[Fails]),
        // It is true, and less than what makes a difference.
        Known::new("near", "elapsed_ms(half) > elapsed_ms(base)", 0.5, &[Holds, NoDifference]),
        Known::new("equal", "elapsed_ms(same) > elapsed_ms(base)", 0.0, &[NoDifference]),
        // All are true but that of the same one, which is neither.
        Known::new(
            "several",
            "every contender except base: elapsed_ms(contender) > elapsed_ms(base)",
            0.0,
            &[NoDifference],
        ),
    ]
}

/// Claims that each of so many pairs of the same contender, `a` and `b`, differs.
pub fn same_pairs(pairs: usize) -> Vec<Known> {
    let claim = |pair| {
        let assert = format!("elapsed_ms(a at pair={pair}) > elapsed_ms(b at pair={pair})");
        Known::new(&format!("pair-{pair}"), &assert, 0.0, &[Verdict::NoDifference])
    };
    (1..=pairs).map(claim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_contenders_any_difference_is_wrong_and_no_verdict_is_not() {
        let [pair] = &same_pairs(1)[..] else { panic!("one is asked for") };
        assert!(pair.is_wrong(Verdict::Holds) && pair.is_wrong(Verdict::Fails));
        assert!(!pair.is_wrong(Verdict::NoDifference));
        assert!(!pair.is_wrong(Verdict::Undecided) && !pair.is_wrong(Verdict::NotTested));
    }
}
