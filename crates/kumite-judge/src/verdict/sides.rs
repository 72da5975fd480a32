//! The values of a comparison's two sides in each round.

use kumite_record::{AxisValue, Op, Reason, Side};

use super::Evidence;
use super::expand::{Reference, Scope};
use crate::claim::{Arithmetic, Expr, MetricOf, dimension, scale_of_name};

/// The two sides of a comparison. Their values are in seconds, bytes or plain numbers.
pub(super) struct Sides<'a> {
    pub evidence: &'a Evidence<'a>,
    pub left: &'a Expr,
    pub right: &'a Expr,
    pub scope: &'a Scope,
    /// The metrics for which a round has values, in the order of these values.
    pub references: &'a [Reference],
}

impl Sides<'_> {
    /// The values of both sides in each round. An error if one of them is not finite.
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

    /// True if a quotient of the sides means something: neither of them is an exponent or a spread.
    pub fn can_be_a_ratio(&self) -> bool {
        let is_plain = |expr: &Expr| matches!(expr, Expr::Fold(fold, ..) if fold.is_ratio());
        !is_plain(self.left) && !is_plain(self.right)
    }

    /// Both sides by the record's names, without figures.
    pub fn named(&self, op: Op) -> kumite_record::Sides {
        let of = |name: &str| self.evidence.grid.run.unit(name);
        let unit = dimension(self.left, &of).or(dimension(self.right, &of)).into();
        kumite_record::Sides { left: self.side(self.left), op, right: self.side(self.right), unit }
    }

    fn side(&self, expr: &Expr) -> Side {
        if let Some(value) = self.number(expr) {
            return Side::Number { value };
        }
        let named = self.multiple(expr).and_then(|(times, metric)| {
            let point = self.evidence.point(metric, self.scope).ok()?;
            Some(Side::Metric {
                contender: self.scope.name(&metric.contender.text).to_owned(),
                point: self.evidence.grid.points[point].clone(),
                metric: metric.name.text.clone(),
                times,
                value: None,
            })
        });
        named.unwrap_or(Side::Expression { value: None })
    }

    /// The value of an expression of numbers and parameters alone. None for any other expression.
    fn number(&self, expr: &Expr) -> Option<f64> {
        fn is_number(expr: &Expr) -> bool {
            match expr {
                Expr::Number(_) | Expr::Parameter(_) => true,
                Expr::Binary(left, _, _, right) => is_number(left) && is_number(right),
                Expr::Own(_) | Expr::Metric(_) | Expr::Fold(..) => false,
            }
        }
        is_number(expr).then(|| self.value(expr, self.scope, &[])).flatten().filter(|value| value.is_finite())
    }

    /// The metric of which an expression is a multiple, with the factor. The factor is a plain number above 0, since
    /// the figure would have another unit otherwise. None for any other expression.
    fn multiple<'a>(&self, expr: &'a Expr) -> Option<(f64, &'a MetricOf)> {
        let factor = |expr: &Expr| {
            let unit = |name: &str| self.evidence.grid.run.unit(name);
            self.number(expr).filter(|factor| *factor > 0.0 && dimension(expr, &unit).is_plain())
        };
        match expr {
            Expr::Metric(metric) => Some((1.0, metric)),
            Expr::Binary(left, Arithmetic::Multiply, _, right) => {
                let of = |number, other| Some((factor(number)?, self.multiple(other)?));
                let (factor, (times, metric)) = of(left, right).or_else(|| of(right, left))?;
                Some((factor * times, metric))
            }
            Expr::Binary(left, Arithmetic::Divide, _, right) => {
                let (times, metric) = self.multiple(left)?;
                Some((times / factor(right)?, metric))
            }
            _ => None,
        }
    }

    pub fn value(&self, expr: &Expr, scope: &Scope, values: &[f64]) -> Option<f64> {
        match expr {
            Expr::Number(number) => Some(number.value),
            // No claim that was checked has such an expression.
            Expr::Own(_) => None,
            Expr::Parameter(name) => {
                let value =
                    scope.axes.get(&name.text).or_else(|| self.evidence.grid.run.parameter(&name.text));
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
                fold.value(&points)
            }
        }
    }
}
