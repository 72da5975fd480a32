//! Figures: numbers in the keys of a service that may be a parameter of the workload.

use kumite_record::AxisValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parameter::Parameters;
use crate::unfit::Unfit;

/// A number, or the name of the parameter that has it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "AxisValue", into = "AxisValue")]
#[schemars(with = "AxisValue")]
pub(super) enum Figure {
    Number(f64),
    Parameter(String),
}

impl Figure {
    pub fn zero() -> Figure {
        Figure::Number(0.0)
    }

    pub fn one() -> Figure {
        Figure::Number(1.0)
    }

    /// The number with these parameters. An error if the parameter is no number, or the number is below 0 or above
    /// 10^12.
    pub fn value(&self, parameters: &Parameters) -> Result<f64, Unfit> {
        let value = match self {
            Figure::Number(number) => *number,
            Figure::Parameter(name) => {
                let value = parameters.get(name);
                let number = value.and_then(AxisValue::number);
                number.ok_or_else(|| Unfit::new(format!("takes ${name}, which is no number")))?
            }
        };
        let sensible = (0.0..=1e12).contains(&value);
        if sensible { Ok(value) } else { Err(Unfit::new(format!("cannot do with {value}"))) }
    }
}

impl TryFrom<AxisValue> for Figure {
    type Error = Unfit;

    fn try_from(value: AxisValue) -> Result<Figure, Unfit> {
        match &value {
            AxisValue::Text(text) => match text.strip_prefix('$') {
                Some(parameter) => Ok(Figure::Parameter(parameter.to_owned())),
                None => {
                    Err(Unfit::new(format!("write a number from 0 on or \"$parameter\", not \"{text}\"")))
                }
            },
            value => match value.number() {
                Some(number) if number >= 0.0 => Ok(Figure::Number(number)),
                _ => Err(Unfit::new(format!("write a number from 0 on or \"$parameter\", not {value}"))),
            },
        }
    }
}

impl From<Figure> for AxisValue {
    fn from(figure: Figure) -> AxisValue {
        match figure {
            Figure::Number(number) => AxisValue::Float(number),
            Figure::Parameter(name) => AxisValue::Text(format!("${name}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_may_be_a_parameter() {
        let figure = Figure::try_from(AxisValue::Text("$delay_ms".into())).unwrap();
        assert_eq!(figure, Figure::Parameter("delay_ms".into()));
        assert_eq!(figure.value(&[("delay_ms".to_owned(), AxisValue::Float(1.5))].into()), Ok(1.5));
        assert_eq!(
            figure.value(&Parameters::new()).unwrap_err().to_string(),
            "takes $delay_ms, which is no number"
        );
    }
}
