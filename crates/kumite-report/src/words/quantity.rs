//! Values with their units, as people read them.

use kumite_record::{Estimate, Metric, Unit};

use crate::words::bound::Bound;
use crate::words::number::{count, digits_apart, plural, significant};

/// A quantity, which decides how its values are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A time, with the seconds in one unit of the value.
    Time(f64),
    /// Bytes, written in powers of 1024.
    Bytes,
    /// A part of a whole, written in percent.
    Share,
    /// A count, written in full.
    Count,
    /// A plain number, written with significant digits and without a unit.
    Plain,
}

/// A metric or unit whose values are written in the unit that suits their size: times, bytes and shares. Counts,
/// rates, cores and plain numbers are written without a unit.
pub trait Measured {
    /// The quantity of the values, which decides how they are written.
    fn quantity(&self) -> Quantity;

    /// A value with its unit, in three digits, or in full if it is a count.
    fn text(&self, value: f64) -> String {
        let (factor, unit) = self.fitting(value);
        format!("{}{unit}", self.digits(value / factor, 3))
    }

    /// A value with its unit, in at most three digits, for the ticks of an axis.
    fn tick(&self, value: f64) -> String {
        self.at_most(value, 3)
    }

    /// A value with its unit, in at most six digits, for figures that others gave.
    fn as_given(&self, value: f64) -> String {
        self.at_most(value, 6)
    }

    /// A value with its unit, in at most `digits` digits, without zeros at the end of its decimals.
    fn at_most(&self, value: f64, digits: usize) -> String {
        let (factor, unit) = self.fitting(value);
        let number = significant(value / factor, digits);
        let short =
            if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { &number };
        format!("{short}{unit}")
    }

    /// An estimate with its unit; and its interval in the same unit, or the remark that it has no interval. The second
    /// text is None if both ends of the interval look the same.
    fn estimate(&self, estimate: &Estimate) -> (String, Option<String>) {
        self.bounded(estimate, Bound::default())
    }

    /// An estimate and its interval, parts of which may be lower bounds: `> 5.20 s` and `4.90 or more`.
    fn bounded(&self, estimate: &Estimate, bound: Bound) -> (String, Option<String>) {
        let value = estimate.estimate;
        let sign = if bound.estimate { "> " } else { "" };
        let (Some(low), Some(high)) = (estimate.low, estimate.high) else {
            return (
                format!("{sign}{}", self.text(value)),
                Some(format!("no interval: {}", plural(estimate.n, "block"))),
            );
        };
        let (factor, unit) = self.fitting(value);
        let digits = digits_apart(&[low / factor, high / factor]);
        let show = |value: f64| self.digits(value / factor, digits);
        let interval = match bound.high {
            true => Some(format!("{} or more", show(low))),
            false => (show(low) != show(high)).then(|| format!("{}–{}", show(low), show(high))),
        };
        (format!("{sign}{}{unit}", show(value)), interval)
    }

    /// A number in `digits` digits, or in full if it is a count. The caller has divided it by the divisor that
    /// `fitting` gives.
    fn digits(&self, value: f64, digits: usize) -> String {
        match self.quantity() {
            Quantity::Count => count(value),
            _ => significant(value, digits),
        }
    }

    /// The divisor for a value of this size, and the symbol of the unit that it then has, with a space before it;
    /// empty if there is none.
    fn fitting(&self, value: f64) -> (f64, &'static str) {
        let quantity = self.quantity();
        let steps: &[(f64, &str)] = match quantity {
            Quantity::Time(_) => &[(1.0, " s"), (1e-3, " ms"), (1e-6, " µs"), (1e-9, " ns")],
            Quantity::Bytes => {
                &[(1_073_741_824.0, " GiB"), (1_048_576.0, " MiB"), (1024.0, " KiB"), (1.0, " B")]
            }
            Quantity::Share => &[(0.01, " %")],
            Quantity::Count | Quantity::Plain => &[(1.0, "")],
        };
        let base = if let Quantity::Time(seconds) = quantity { seconds } else { 1.0 };
        let size = (value * base).abs();
        // Zero has no size of its own; it is shown in the metric's own unit.
        let size = if size == 0.0 { base } else { size };
        let (factor, unit) =
            steps.iter().find(|(step, _)| size >= *step).or(steps.last()).copied().unwrap_or((1.0, ""));
        (factor / base, unit)
    }
}

impl Measured for Unit {
    fn quantity(&self) -> Quantity {
        match self {
            Unit::Nanoseconds | Unit::Microseconds | Unit::Milliseconds | Unit::Seconds => {
                Quantity::Time(self.scale())
            }
            Unit::Bytes => Quantity::Bytes,
            Unit::Count => Quantity::Count,
            Unit::RequestsPerSecond | Unit::PerSecond | Unit::Cores | Unit::Ratio | Unit::Number => {
                Quantity::Plain
            }
        }
    }
}

impl Measured for Metric {
    /// The quantity of the metric's unit. A ratio is a part of a whole only if the metric's name ends in `_share`.
    fn quantity(&self) -> Quantity {
        match self.unit {
            Unit::Ratio if Unit::of_name(&self.name) == Some(Unit::Ratio) => Quantity::Share,
            unit => unit.quantity(),
        }
    }
}

/// The text behind a figure of `unit`: `fitting`, which has its own space (`" ms"`), or, if that is empty, a space and
/// the unit's symbol. Empty if the unit has no symbol either.
pub fn with_symbol(unit: Unit, fitting: &str) -> String {
    match (fitting, unit.symbol()) {
        ("", "") => String::new(),
        ("", symbol) => format!(" {symbol}"),
        (fitting, _) => fitting.to_owned(),
    }
}

/// A number of bytes, in the unit that suits its size: `16.0 KiB`.
pub fn bytes(bytes: f64) -> String {
    Unit::Bytes.text(bytes)
}

/// A time given in µs, in the unit that suits its size: `120 µs`, `2.50 ms`.
pub fn time_us(us: f64) -> String {
    Unit::Microseconds.text(us)
}

/// A length of time in a sentence, to about two digits: `850 ms`, `8.3 s`, `24 min`.
pub fn length(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => Unit::Seconds.text(s),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_get_the_unit_that_fits() {
        let check = |unit: Unit, value, text: &str| assert_eq!(unit.text(value), text);
        check(Unit::Microseconds, 24.0, "24.0 µs");
        check(Unit::Microseconds, 91_260.0, "91.3 ms");
        check(Unit::Microseconds, 0.0, "0 µs");
        check(Unit::Milliseconds, 3_512.0, "3.51 s");
        check(Unit::Milliseconds, 14_800.0, "14.8 s");
        check(Unit::Milliseconds, f64::NAN, "– ns");
        check(Unit::Nanoseconds, 0.5, "0.500 ns");
        check(Unit::Nanoseconds, 30_538.7, "30.5 µs");
        check(Unit::Bytes, 100.0 * 1024.0 * 1024.0, "100 MiB");
        check(Unit::Count, 12_345.0, "12,345");
        check(Unit::Count, 0.0, "0");
        check(Unit::RequestsPerSecond, 12_345.0, "12,300");
        check(Unit::PerSecond, 5.0, "5.00");
    }

    #[test]
    fn a_length_of_time_has_two_digits_or_so() {
        let check = |seconds, text: &str| assert_eq!(length(seconds), text);
        check(0.85, "850 ms");
        check(9.2, "9.2 s");
        check(42.0, "42 s");
        check(780.0, "13 min");
        check(9_000.0, "2.5 h");
    }

    #[test]
    fn a_share_is_in_percent_and_another_ratio_is_a_number() {
        let text = |name: &str, value| Metric { unit: Unit::Ratio, ..Metric::named(name) }.text(value);
        assert_eq!(text("cpu_share", 0.0723), "7.23 %");
        assert_eq!(text("cpu_share", 0.0), "0 %");
        assert_eq!(text("efficiency", 0.98), "0.980");
    }

    #[test]
    fn what_others_published_is_not_rounded() {
        let check = |unit: Unit, value, text: &str| assert_eq!(unit.as_given(value), text);
        check(Unit::Count, 308_443.0, "308,443");
        check(Unit::Microseconds, 82_584.0, "82.584 ms");
        check(Unit::Microseconds, 51.0, "51 µs");
        check(Unit::RequestsPerSecond, 21_677.0 / 30.0, "722.567");
    }

    #[test]
    fn what_may_be_more_says_so() {
        let of = Estimate {
            estimate: 5_200.0,
            low: Some(4_900.0),
            high: Some(5_300.0),
            unit: Unit::Milliseconds,
            n: 8,
            lower_bounds: 0,
        };
        let check = |estimate, high, text: &str, interval: &str| {
            let shown = of.unit.bounded(&of, Bound { estimate, high });
            assert_eq!(shown, (text.to_owned(), Some(interval.to_owned())));
        };
        check(false, false, "5.20 s", "4.90–5.30");
        check(false, true, "5.20 s", "4.90 or more");
        check(true, true, "> 5.20 s", "4.90 or more");
    }

    #[test]
    fn an_interval_shares_its_estimates_unit() {
        let of = |low, high| Estimate {
            estimate: 1_001.0,
            low,
            high,
            unit: Unit::Microseconds,
            n: 2,
            lower_bounds: 0,
        };
        let check = |low, high, interval: Option<&str>| {
            assert_eq!(Unit::Microseconds.estimate(&of(low, high)).1.as_deref(), interval);
        };
        check(Some(900.0), Some(1_100.0), Some("0.900–1.10"));
        check(Some(1_000.9), Some(1_001.1), Some("1.0009–1.0011"));
        check(Some(1_001.0), Some(1_001.0), None);
        check(Some(1_001.0), Some(1_001.0 + 1e-9), None);
        check(None, None, Some("no interval: 2 blocks"));
    }
}
