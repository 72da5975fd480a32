//! Parameters: `{name}` in commands, and the values that are put in its place.

use std::collections::BTreeMap;

/// The most values of a parameter, and the most combinations. More are a slip in a step.
const MOST_VALUES: u64 = 1_000;
/// The most digits behind the decimal point. With more, the digits before it would not fit in the number.
const MOST_DECIMALS: usize = 9;

/// The reason why a parameter cannot be made from what was typed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// The parameter's name is empty.
    #[error("a parameter has no name")]
    NoName,
    /// An end of the range, or the step, is no decimal number, or has too many digits. The field is its text.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// The step is not above 0.
    #[error("the step of a parameter must be above 0")]
    NoStep,
    /// The range ends below its beginning. The field is the parameter's name.
    #[error("the range of parameter {0} is empty: it ends below its beginning")]
    Empty(String),
    /// The range has more than 1,000 values. The field is the parameter's name.
    #[error("parameter {0} has more than {MOST_VALUES} values")]
    TooManyValues(String),
    /// Two parameters have this name.
    #[error("parameter {0} is given twice")]
    Twice(String),
    /// All parameters together have more than 1,000 combinations.
    #[error("there are more than {MOST_VALUES} combinations of parameters")]
    TooManyCombinations,
}

/// A parameter: a name in commands, and the values that are put in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name without its braces.
    pub name: String,
    /// The values, in the order in which they are used.
    pub values: Vec<String>,
}

impl Parameter {
    /// A parameter with the values in `a,b,c`. A comma or a backslash that follows a backslash is part of a value. An
    /// error if the name or the values cannot be used ([`ParameterError`]).
    pub fn list(name: &str, values: &str) -> Result<Parameter, ParameterError> {
        let mut split = vec![String::new()];
        let mut characters = values.chars();
        while let Some(c) = characters.next() {
            let last = split.last_mut().expect("there is a first one");
            match c {
                '\\' => match characters.next() {
                    Some(c @ (',' | '\\')) => last.push(c),
                    other => last.extend(['\\'].into_iter().chain(other)),
                },
                ',' => split.push(String::new()),
                c => last.push(c),
            }
        }
        Parameter { name: name.to_owned(), values: split }.checked()
    }

    /// A parameter with numbers: `from`, and on in exact decimal steps of `step` (1 if there is none), up to and
    /// including `to` if a step meets it. An error if one of the three is no number, `step` is not above 0, `to` is
    /// below `from`, or there are too many values.
    pub fn scan(name: &str, from: &str, to: &str, step: Option<&str>) -> Result<Parameter, ParameterError> {
        let number =
            |text: &str| Decimal::parse(text).ok_or_else(|| ParameterError::NotANumber(text.to_owned()));
        let (from, to, step) = (number(from)?, number(to)?, number(step.unwrap_or("1"))?);
        let decimals = from.decimals.max(to.decimals).max(step.decimals);
        let [first, last, step] = [from, to, step].map(|number| number.units(decimals));
        if step <= 0 {
            return Err(ParameterError::NoStep);
        }
        if last < first {
            return Err(ParameterError::Empty(name.to_owned()));
        }
        if (last - first) / step >= i128::from(MOST_VALUES) {
            return Err(ParameterError::TooManyValues(name.to_owned()));
        }
        let values = (0..=(last - first) / step).map(|nth| decimal(first + nth * step, decimals));
        Parameter { name: name.to_owned(), values: values.collect() }.checked()
    }

    fn checked(self) -> Result<Parameter, ParameterError> {
        match self.name.is_empty() {
            true => Err(ParameterError::NoName),
            false => Ok(self),
        }
    }
}

#[derive(Clone, Copy)]
struct Decimal {
    /// The number's digits without the decimal point, with its sign.
    digits: i64,
    decimals: usize,
}

impl Decimal {
    fn parse(text: &str) -> Option<Decimal> {
        let decimals = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let digits = text.replacen('.', "", 1);
        let plain = digits.strip_prefix('-').unwrap_or(&digits);
        let is_number = !plain.is_empty() && plain.chars().all(|c| c.is_ascii_digit());
        (is_number && decimals <= MOST_DECIMALS)
            .then(|| Some(Decimal { digits: digits.parse().ok()?, decimals }))?
    }

    fn units(self, decimals: usize) -> i128 {
        i128::from(self.digits) * 10_i128.pow((decimals - self.decimals) as u32)
    }
}

fn decimal(units: i128, decimals: usize) -> String {
    let one = 10_i128.pow(decimals as u32);
    let sign = if units < 0 { "-" } else { "" };
    let (whole, fraction) = (units.abs() / one, units.abs() % one);
    if decimals == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction:0decimals$}") }
}

/// Every combination of the parameters' values, as values by name. The last parameter changes first.
pub(crate) fn combinations(
    parameters: &[Parameter],
) -> Result<Vec<BTreeMap<String, String>>, ParameterError> {
    let mut all = vec![BTreeMap::new()];
    for Parameter { name, values } in parameters {
        if all.iter().any(|combination| combination.contains_key(name)) {
            return Err(ParameterError::Twice(name.clone()));
        }
        if all.len() * values.len() > MOST_VALUES as usize {
            return Err(ParameterError::TooManyCombinations);
        }
        let with = |combination: &BTreeMap<String, String>, value: &String| {
            let mut more = combination.clone();
            more.insert(name.clone(), value.clone());
            more
        };
        all = all
            .iter()
            .flat_map(|combination| values.iter().map(move |value| with(combination, value)))
            .collect();
    }
    Ok(all)
}

/// The text with each `{name}` replaced by its value, in one pass: braces in a value are not looked at again. Unknown
/// names stay.
pub(crate) fn filled(text: &str, values: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        out += before;
        let value = from[1..].split_once('}').and_then(|(name, after)| Some((values.get(name)?, after)));
        match value {
            Some((value, after)) => {
                out += value;
                rest = after;
            }
            None => {
                out.push('{');
                rest = &from[1..];
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(from: &str, to: &str, step: Option<&str>) -> Result<Vec<String>, ParameterError> {
        Parameter::scan("n", from, to, step).map(|parameter| parameter.values)
    }

    #[test]
    fn a_scan_with_decimal_steps_has_exact_values() {
        assert_eq!(scan("1", "4", None).unwrap(), ["1", "2", "3", "4"]);
        assert_eq!(scan("0.3", "0.7", Some("0.2")).unwrap(), ["0.3", "0.5", "0.7"]);
        assert_eq!(scan("-1", "1", Some("0.75")).unwrap(), ["-1.00", "-0.25", "0.50"]);
        assert_eq!(scan("2", "2", None).unwrap(), ["2"]);
        assert_eq!(scan("0", "1", Some("0.1")).unwrap().last().unwrap(), "1.0");
    }

    #[test]
    fn a_scan_that_makes_no_sense_is_an_error() {
        for (from, to, step) in [
            ("x", "1", None),
            ("1", "", None),
            ("2", "1", None),
            ("1", "2", Some("0")),
            ("1", "2", Some("-1")),
            ("0", "1000000", None),
            ("0", "1", Some("0.0000000001")),
        ] {
            assert!(scan(from, to, step).is_err(), "{from} {to} {step:?}");
        }
        assert!(Parameter::scan("", "1", "2", None).is_err());
    }

    #[test]
    fn lists_are_split_at_commas() {
        let values = |text| Parameter::list("x", text).unwrap().values;
        assert_eq!(values("a,b,c"), ["a", "b", "c"]);
        assert_eq!(values("a\\,b,\\\\,,\\n"), ["a,b", "\\", "", "\\n"]);
    }

    #[test]
    fn parameters_are_combined_and_filled_in() {
        let parameters = [Parameter::list("a", "1,2").unwrap(), Parameter::list("b", "{a},y").unwrap()];
        let all = combinations(&parameters).unwrap();
        let filled: Vec<String> = all.iter().map(|values| filled("{b}{{a}}{c}{", values)).collect();
        assert_eq!(filled, ["{a}{1}{c}{", "y{1}{c}{", "{a}{2}{c}{", "y{2}{c}{"]);
        assert!(combinations(&[parameters[0].clone(), parameters[0].clone()]).is_err());
        assert_eq!(combinations(&[]).unwrap(), [BTreeMap::new()]);
    }
}
