//! Dimensions of expressions, so that a time is never compared with a rate.

use std::fmt;

use kumite_record::Unit;

use super::{Arithmetic, ClaimError, Expr, Number};

/// A product of powers of seconds, bytes and cores. If all powers are 0 it is a plain number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    time: i32,
    bytes: i32,
    cores: i32,
    plain: Plain,
}

/// The origin of a plain number. A count cannot be compared with a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plain {
    /// The origin is unknown, so that the number can be compared with any other.
    Any,
    Count,
    Ratio,
}

impl Dimension {
    pub(crate) const ANY: Dimension = Dimension { time: 0, bytes: 0, cores: 0, plain: Plain::Any };
    pub(crate) const RATIO: Dimension = Dimension { plain: Plain::Ratio, ..Dimension::ANY };
    const COUNT: Dimension = Dimension { plain: Plain::Count, ..Dimension::ANY };
    const TIME: Dimension = Dimension { time: 1, ..Dimension::ANY };
    const RATE: Dimension = Dimension { time: -1, ..Dimension::ANY };
    const BYTES: Dimension = Dimension { bytes: 1, ..Dimension::ANY };
    const CORES: Dimension = Dimension { cores: 1, ..Dimension::ANY };

    fn powers(self) -> [i32; 3] {
        [self.time, self.bytes, self.cores]
    }

    pub(crate) fn is_plain(self) -> bool {
        self.powers() == [0; 3]
    }

    /// True if figures of both dimensions may be compared or added.
    pub(crate) fn meets(self, other: Dimension) -> bool {
        self.powers() == other.powers()
            && (self.plain == other.plain || [self.plain, other.plain].contains(&Plain::Any))
    }

    /// The dimension of two figures that may be compared or added: the one whose origin is known.
    pub(crate) fn or(self, other: Dimension) -> Dimension {
        if self == Dimension::ANY { other } else { self }
    }

    fn times(self, other: Dimension) -> Dimension {
        let plain = match (self.plain, other.plain) {
            (Plain::Any, plain) | (plain, Plain::Any) => plain,
            (Plain::Ratio, Plain::Ratio) => Plain::Ratio,
            _ => Plain::Count,
        };
        self.with(other, 1, plain)
    }

    fn over(self, other: Dimension) -> Dimension {
        let plain = match (self.plain, other.plain) {
            _ if !self.is_plain() => Plain::Ratio,
            (plain, Plain::Any | Plain::Ratio) => plain,
            (Plain::Any, Plain::Count) => Plain::Any,
            _ => Plain::Ratio,
        };
        self.with(other, -1, plain)
    }

    fn with(self, other: Dimension, sign: i32, plain: Plain) -> Dimension {
        let product = Dimension {
            time: self.time + sign * other.time,
            bytes: self.bytes + sign * other.bytes,
            cores: self.cores + sign * other.cores,
            plain,
        };
        if product.is_plain() { product } else { Dimension { plain: Plain::Any, ..product } }
    }
}

impl From<Unit> for Dimension {
    fn from(unit: Unit) -> Dimension {
        match unit {
            Unit::Nanoseconds | Unit::Microseconds | Unit::Milliseconds | Unit::Seconds => Dimension::TIME,
            Unit::Bytes => Dimension::BYTES,
            Unit::RequestsPerSecond | Unit::PerSecond => Dimension::RATE,
            Unit::Cores => Dimension::CORES,
            Unit::Ratio => Dimension::RATIO,
            Unit::Count => Dimension::COUNT,
            Unit::Number => Dimension::ANY,
        }
    }
}

impl From<Dimension> for Unit {
    /// The unit in which figures of a dimension are shown, such as seconds or bytes. `Unit::Number` if the dimension
    /// has no unit of its own, as bytes per second.
    fn from(dimension: Dimension) -> Unit {
        match dimension {
            Dimension::TIME => Unit::Seconds,
            Dimension::RATE => Unit::PerSecond,
            Dimension::BYTES => Unit::Bytes,
            Dimension::CORES => Unit::Cores,
            Dimension::RATIO => Unit::Ratio,
            Dimension::COUNT => Unit::Count,
            _ => Unit::Number,
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Dimension::ANY => "a plain number",
            Dimension::COUNT => "a count",
            Dimension::RATIO => "a ratio",
            Dimension::TIME => "a time",
            Dimension::RATE => "a rate",
            Dimension::BYTES => "a number of bytes",
            Dimension::CORES => "a number of cores",
            _ => {
                let powers = [("s", self.time), ("B", self.bytes), ("cores", self.cores)];
                let power = |(symbol, power): &(&str, i32)| match power {
                    1 => (*symbol).to_owned(),
                    n => format!("{symbol}^{n}"),
                };
                let powers: Vec<String> = powers.iter().filter(|(_, power)| *power != 0).map(power).collect();
                return write!(f, "in {}", powers.join(" "));
            }
        })
    }
}

/// The suffixes of numbers, each with its factor to seconds, bytes or plain numbers, and its dimension.
const UNITS: [(&str, f64, Dimension); 15] = [
    ("%", 0.01, Dimension::RATIO),
    ("ns", 1e-9, Dimension::TIME),
    ("us", 1e-6, Dimension::TIME),
    ("µs", 1e-6, Dimension::TIME),
    ("ms", 1e-3, Dimension::TIME),
    ("s", 1.0, Dimension::TIME),
    ("min", 60.0, Dimension::TIME),
    ("B", 1.0, Dimension::BYTES),
    ("kB", 1e3, Dimension::BYTES),
    ("MB", 1e6, Dimension::BYTES),
    ("GB", 1e9, Dimension::BYTES),
    ("KiB", 1024.0, Dimension::BYTES),
    ("MiB", 1024.0 * 1024.0, Dimension::BYTES),
    ("GiB", 1024.0 * 1024.0 * 1024.0, Dimension::BYTES),
    ("cores", 1.0, Dimension::CORES),
];

/// The list of all suffixes, for a message.
pub(super) fn known_units() -> String {
    let units: Vec<&str> = UNITS.iter().map(|(unit, ..)| *unit).filter(|unit| *unit != "µs").collect();
    format!("{}, /s", units.join(", "))
}

/// The factor and the dimension of a suffix: one of [`UNITS`], or one followed by `/s`. None if it is unknown.
pub(super) fn unit(text: &str) -> Option<(f64, Dimension)> {
    let (base, per) = match text.strip_suffix("/s") {
        Some(base) => (base, Dimension::TIME),
        None => (text, Dimension::ANY),
    };
    if base.is_empty() {
        return Some((1.0, Dimension::ANY.over(per)));
    }
    let (_, factor, dimension) = UNITS.iter().find(|(unit, ..)| *unit == base)?;
    Some((*factor, dimension.over(per)))
}

/// Two expressions that meet in a comparison or a sum, with their dimensions.
pub(super) struct Meeting<'a> {
    pub sides: [(&'a Expr, Dimension); 2],
    /// The verb for the error message: "compared" or "added".
    pub how: &'static str,
    /// The column of the sign between the two, in characters from 1.
    pub column: usize,
}

impl Meeting<'_> {
    /// The dimension of both expressions; an error if they differ. `symbol` gives the unit in which an expression's
    /// figures would be written, for the error's remedy.
    pub fn check(&self, symbol: &dyn Fn(&Expr) -> Option<&'static str>) -> Result<Dimension, ClaimError> {
        let [(left, of_left), (right, of_right)] = self.sides;
        if of_left.meets(of_right) {
            return Ok(of_left.or(of_right));
        }
        for (literal, other, dimension) in [(left, right, of_right), (right, left, of_left)] {
            if let Expr::Number(Number { dimension: found, digits, column, .. }) = literal {
                let remedy = match symbol(other).or(symbol_of(dimension)) {
                    Some(symbol) => format!("write {digits} {symbol}"),
                    None => "leave out its unit".to_owned(),
                };
                let what = format!("{digits} is {found}, and it is {} with {dimension}: {remedy}", self.how);
                return Err(ClaimError { column: *column, what });
            }
        }
        let what = format!(
            "{of_left} is {} with {of_right}: both sides must be of one kind; a number gets a unit as in 500 ms, 64 MiB, \
             1,000 /s, 1.1 cores, 5 %",
            self.how
        );
        Err(ClaimError { column: self.column, what })
    }
}

/// The symbol for figures of this dimension, if nothing suggests a better one. None if they have none.
fn symbol_of(dimension: Dimension) -> Option<&'static str> {
    match dimension {
        Dimension::TIME => Some("ms"),
        Dimension::RATE => Some("/s"),
        Dimension::BYTES => Some("B"),
        Dimension::CORES => Some("cores"),
        Dimension::RATIO => None,
        _ => None,
    }
}

/// The dimension of an expression that has passed the check.
pub(crate) fn dimension(expr: &Expr, unit: &dyn Fn(&str) -> Unit) -> Dimension {
    match expr {
        Expr::Number(number) => number.dimension,
        Expr::Parameter(name) | Expr::Own(name) => unit(&name.text).into(),
        Expr::Metric(metric) => unit(&metric.name.text).into(),
        Expr::Binary(left, operator, _, right) => {
            let (left, right) = (dimension(left, unit), dimension(right, unit));
            match operator {
                Arithmetic::Add | Arithmetic::Subtract => left.or(right),
                _ => combined(left, *operator, right),
            }
        }
        Expr::Fold(fold, ..) if fold.is_ratio() => Dimension::RATIO,
        Expr::Fold(_, inner, _) => dimension(inner, unit),
    }
}

pub(super) fn combined(left: Dimension, operator: Arithmetic, right: Dimension) -> Dimension {
    match operator {
        Arithmetic::Divide => left.over(right),
        _ => left.times(right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_number_has_the_dimension_of_what_it_meets() {
        for known in [Dimension::TIME, Dimension::RATE, Dimension::BYTES, Dimension::COUNT, Dimension::RATIO]
        {
            assert_eq!((known.or(Dimension::ANY), Dimension::ANY.or(known)), (known, known));
        }
    }

    #[test]
    fn units_have_a_factor_and_a_dimension() {
        assert_eq!(unit("ms"), Some((1e-3, Dimension::TIME)));
        assert_eq!(unit("/s"), Some((1.0, Dimension::RATE)));
        assert_eq!(unit("MB/s"), Some((1e6, Dimension::BYTES.over(Dimension::TIME))));
        assert_eq!(unit("%"), Some((0.01, Dimension::RATIO)));
        assert_eq!(unit("parsecs"), None);
        assert_eq!(unit("ms/h"), None);
    }

    #[test]
    fn products_and_quotients_of_dimensions() {
        let (time, any, count) = (Dimension::TIME, Dimension::ANY, Dimension::COUNT);
        assert_eq!(count.over(time), Dimension::RATE);
        assert_eq!(any.over(Dimension::RATE), time);
        assert_eq!(time.over(time), Dimension::RATIO);
        assert_eq!(count.over(count), Dimension::RATIO);
        assert_eq!(any.times(count), count);
        assert_eq!(Dimension::RATIO.times(count), count);
        assert_eq!(time.times(time).to_string(), "in s^2");
        assert_eq!(Dimension::BYTES.over(time).to_string(), "in s^-1 B");
        assert!(!count.meets(Dimension::RATIO) && count.meets(any) && !any.meets(time));
    }
}
