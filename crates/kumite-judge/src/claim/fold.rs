//! Folds: functions over the values of an axis. A new fold is a variant of [`Fold`], its word in `FOLDS`, and an arm
//! of `value`.

use kumite_record::AxisValue;

/// A function from the figures at all values of an axis to one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Min,
    Max,
    /// `max / min - 1`.
    Spread,
    /// The exponent of the power law: least squares of ln(value) over ln(axis).
    Slope,
}

/// The folds with their words in the claim grammar.
const FOLDS: [(&str, Fold); 4] =
    [("min", Fold::Min), ("max", Fold::Max), ("spread", Fold::Spread), ("slope", Fold::Slope)];

impl Fold {
    pub(crate) fn named(word: &str) -> Option<Fold> {
        FOLDS.iter().find(|(name, _)| *name == word).map(|(_, fold)| *fold)
    }

    /// True if the result is a ratio whatever the fold is over. Otherwise it has the dimension of the values.
    pub(crate) fn is_ratio(self) -> bool {
        matches!(self, Fold::Spread | Fold::Slope)
    }

    /// The result over these values of the axis, each with its figure. None if there is no value, or if a slope is over
    /// values that are no numbers. The result may be infinite or NaN: a spread whose least figure is 0, or a slope over
    /// a single value.
    pub(crate) fn value(self, points: &[(AxisValue, f64)]) -> Option<f64> {
        let values = || points.iter().map(|(_, value)| *value);
        let (min, max) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
        match self {
            Fold::Min => Some(min),
            Fold::Max => Some(max),
            Fold::Spread => Some(max / min - 1.0),
            Fold::Slope => slope(points),
        }
    }
}

fn slope(points: &[(AxisValue, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> =
        points.iter().map(|(x, y)| Some((x.number()?.ln(), y.ln()))).collect::<Option<_>>()?;
    let n = logs.len() as f64;
    let (mean_x, mean_y) =
        (logs.iter().map(|(x, _)| x).sum::<f64>() / n, logs.iter().map(|(_, y)| y).sum::<f64>() / n);
    let covariance: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    Some(covariance / variance)
}
