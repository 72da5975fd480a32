//! The course of effects along a variable: whether they went with it, and from one side of a border to another.
//!
//! An effect that follows the time, or the state of a machine, is not drawn from one box. It can have changed a verdict
//! only if it ends up on another side of the border, so both are asked for: a correlation that is no chance, and
//! medians on different sides at both ends of the variable.

use crate::{Correlation, median, spearman};

/// The fewest rounds for which a correlation is tested.
const FEWEST_ROUNDS: usize = 12;

/// The course of an effect along a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// The correlation of the effect with the variable.
    pub correlation: Correlation,
    /// The median effect in the third of the rounds with the lowest values of the variable.
    pub low: f64,
    /// The median effect in the third of the rounds with the highest values of the variable.
    pub high: f64,
}

/// The variable that the effects followed, with the course of the effects along it. Each variable comes with a pair for
/// every round: the value of the variable, and the effect. A variable qualifies if its correlation with the effects has
/// a p of at most `level`, and if `side` is different for the median effects at its two ends. If several qualify, the
/// one with the smallest p is returned; of equal ones, that with the strongest correlation; then the first. `seed` is
/// for the permutations of the test.
///
/// `None` if no variable qualifies. One with fewer than 12 rounds never does.
pub fn followed<V, S: PartialEq>(
    variables: impl IntoIterator<Item = (V, Vec<(f64, f64)>)>,
    level: f64,
    side: impl Fn(f64) -> S,
    seed: u64,
) -> Option<(V, Course)> {
    let courses = variables.into_iter().filter_map(|(variable, pairs)| {
        let course = course(pairs, &side, seed).filter(|course| course.correlation.p <= level)?;
        Some((variable, course))
    });
    courses.min_by(|(_, a), (_, b)| {
        let (a, b) = (a.correlation, b.correlation);
        a.p.total_cmp(&b.p).then(b.rho.abs().total_cmp(&a.rho.abs()))
    })
}

/// The course of effects along a variable, from pairs of both. None if there are fewer than 12 rounds, if the medians
/// at both ends lie on one side, or if the variable or the effect is the same in all rounds.
fn course<S: PartialEq>(mut pairs: Vec<(f64, f64)>, side: &impl Fn(f64) -> S, seed: u64) -> Option<Course> {
    if pairs.len() < FEWEST_ROUNDS {
        return None;
    }
    pairs.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let third = pairs.len() / 3;
    let middle = |of: &[(f64, f64)]| median(&of.iter().map(|(_, effect)| *effect).collect::<Vec<_>>());
    let (low, high) = middle(&pairs[..third]).zip(middle(&pairs[pairs.len() - third..]))?;
    if side(low) == side(high) {
        return None;
    }
    let (variable, effects): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    Some(Course { correlation: spearman(&variable, &effects, seed)?, low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Effects of so many rounds that rise from -1 to 1, beside a variable that does, too.
    fn rising(rounds: usize) -> Vec<(f64, f64)> {
        let at = |nth: usize| nth as f64 / (rounds - 1) as f64;
        (0..rounds).map(|nth| (at(nth), 2.0 * at(nth) - 1.0)).collect()
    }

    fn side(border: f64) -> impl Fn(f64) -> bool {
        move |effect| effect > border
    }

    #[test]
    fn an_effect_that_crosses_the_border_with_a_variable_followed_it() {
        let (which, course) = followed([("time", rising(12))], 0.01, side(0.0), 1).unwrap();
        assert_eq!((which, course.correlation.rho), ("time", 1.0));
        // The medians of the first and the last four of twelve.
        assert!((course.low + 8.0 / 11.0).abs() < 1e-9 && (course.high - 8.0 / 11.0).abs() < 1e-9);
    }

    #[test]
    fn an_effect_on_one_side_followed_nothing_and_so_did_one_of_few_rounds() {
        assert_eq!(followed([((), rising(12))], 1.0, side(0.9), 1), None);
        assert_eq!(followed([((), rising(11))], 1.0, side(0.0), 1), None);
        assert!(followed([((), rising(11)), ((), rising(12))], 1.0, side(0.0), 1).is_some());
    }

    #[test]
    fn of_several_variables_it_is_the_one_with_the_least_p_and_none_above_the_level() {
        let mut weaker = rising(24);
        for nth in (0..24).step_by(5) {
            weaker[nth].1 = -weaker[nth].1;
        }
        let both = || [("weaker", weaker.clone()), ("stronger", rising(24)), ("later", rising(24))];
        let found = followed(both(), 0.01, side(0.0), 1).map(|(which, _)| which);
        assert_eq!(found, Some("stronger"));
        assert_eq!(followed(both(), 0.000_09, side(0.0), 1), None, "less than one of 10,001");
    }
}
