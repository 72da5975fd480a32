//! The two sides of a comparison, in each round.

use kumite_record::{AxisValue, Reason};

use super::Evidence;
use super::expand::{Reference, Scope};
use crate::claim::{Expr, scale_of_name};

/// The two sides of a comparison, in seconds, bytes or plain numbers.
pub(super) struct Sides<'a> {
    pub evidence: &'a Evidence<'a>,
    pub left: &'a Expr,
    pub right: &'a Expr,
    pub scope: &'a Scope,
    /// What the values of a round are of.
    pub references: &'a [Reference],
}

impl Sides<'_> {
    /// Both, in each round.
    pub fn pairs(&self, rounds: &[Vec<f64>]) -> Result<Vec<(f64, f64)>, Reason> {
        let of_round = |values: &Vec<f64>| {
            let side = |expr| {
                let value = self.value(expr, self.scope, values);
                value.filter(|value| value.is_finite()).ok_or(Reason::NoValue)
            };
            Ok((side(self.left)?, side(self.right)?))
        };
        rounds.iter().map(of_round).collect()
    }

    /// Whether a ratio of them says something: of an exponent and its value it would not.
    pub fn can_be_a_ratio(&self) -> bool {
        let is_plain = |expr: &Expr| matches!(expr, Expr::Fold(fold, ..) if fold.is_ratio());
        !is_plain(self.left) && !is_plain(self.right)
    }

    pub fn value(&self, expr: &Expr, scope: &Scope, values: &[f64]) -> Option<f64> {
        match expr {
            Expr::Number(number) => Some(number.value),
            // No claim that was checked has one.
            Expr::Own(_) => None,
            Expr::Parameter(name) => {
                let value = scope.axes.get(&name.text).or_else(|| self.evidence.grid.parameter(&name.text));
                Some(value?.number()? * scale_of_name(&name.text))
            }
            Expr::Metric(metric) => {
                let point = self.evidence.point(metric, scope).ok()?;
                let contender = scope.name(&metric.contender.text);
                let nth = self.references.iter().position(|reference| {
                    reference.point == point
                        && reference.contender == contender
                        && reference.metric == metric.name.text
                })?;
                Some(values.get(nth)? * scale_of_name(&metric.name.text))
            }
            Expr::Binary(left, operator, _, right) => {
                let (left, right) = (self.value(left, scope, values)?, self.value(right, scope, values)?);
                Some(operator.apply(left, right))
            }
            Expr::Fold(fold, inner, axis) => {
                let points: Vec<(AxisValue, f64)> = self
                    .evidence
                    .fold_values(inner, axis, scope)
                    .into_iter()
                    .map(|value| {
                        let of_value = self.value(inner, &scope.with(&axis.text, &value), values)?;
                        Some((value, of_value))
                    })
                    .collect::<Option<_>>()?;
                fold.of(&points)
            }
        }
    }
}
