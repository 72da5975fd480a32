//! Expressions of a claim that can have no value at some point of the plan, found before anything is measured.

use kumite_record::{AxisValue, Point};

use super::Evidence;
use super::expand::{Reach, Scope};
use super::sides::Sides;
use crate::claim::{Arithmetic, ClaimError, ClaimSpec, Expr, Fold, Test, measures};

impl Evidence<'_> {
    /// The error for the first expression of a claim that can have no value at some point. None if every expression can
    /// have a value.
    pub fn without_value(&self, spec: &ClaimSpec) -> Option<ClaimError> {
        let parts = self.parts(spec, Reach::Planned);
        parts.iter().flatten().find_map(|(comparison, scope)| match &comparison.test {
            Test::Compare(left, _, right) | Test::Within(left, _, right) => {
                self.lacks_value(left, scope).or_else(|| self.lacks_value(right, scope))
            }
            Test::Disqualified(_) => None,
        })
    }

    fn lacks_value(&self, expr: &Expr, scope: &Scope) -> Option<ClaimError> {
        match expr {
            Expr::Number(_) | Expr::Parameter(_) | Expr::Own(_) | Expr::Metric(_) => None,
            Expr::Fold(fold, inner, axis) => {
                let values = self.fold_values(inner, axis, scope);
                let has_no_logarithm = |value: &&AxisValue| value.number().is_none_or(|value| value <= 0.0);
                if let (Fold::Slope, Some(value)) = (fold, values.iter().find(has_no_logarithm)) {
                    let what = format!("a slope is over values above 0, and {} has {value}", axis.text);
                    return Some(ClaimError { column: axis.column, what });
                }
                values.iter().find_map(|value| self.lacks_value(inner, &scope.with(&axis.text, value)))
            }
            Expr::Binary(left, operator, column, right) => {
                let inside = self.lacks_value(left, scope).or_else(|| self.lacks_value(right, scope));
                let what = if *operator == Arithmetic::Divide && self.constant(right, scope) == Some(0.0) {
                    "it divides by 0"
                } else if self.constant(expr, scope).is_some_and(|value| !value.is_finite()) {
                    "it is more than a number can be"
                } else {
                    return inside;
                };
                inside.or_else(|| {
                    let at = match scope.axes.is_empty() {
                        true => String::new(),
                        false => format!(" at {}", Point(scope.axes.clone())),
                    };
                    Some(ClaimError { column: *column, what: what.to_owned() + &at })
                })
            }
        }
    }

    /// The value of an expression that depends on no measurement. None if it depends on one, or has no value.
    fn constant(&self, expr: &Expr, scope: &Scope) -> Option<f64> {
        let sides = Sides { evidence: self, left: expr, right: expr, scope, references: &[] };
        if measures(expr) { None } else { sides.value(expr, scope, &[]) }
    }
}
