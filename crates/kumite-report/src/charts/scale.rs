//! Scales that place values on an axis, and the round values that label it.

use crate::words::quantity::Measured;

/// An axis is logarithmic if the greatest value is at least this many times the least.
const DECADES: f64 = 30.0;

/// The least size of a value that a chart shows: a smaller one is drawn as 0. A value beyond `LARGEST` is drawn as
/// `LARGEST`. Between the two, no sum or quotient of values overflows or loses its digits.
const SMALLEST: f64 = 1e-150;
const LARGEST: f64 = 1e150;

/// A scale from a range of values to a range of places at which they are drawn, in a chart's units.
pub struct Scale {
    pub log: bool,
    /// The size of the unit in which ticks are round, such as 1,000 for milliseconds of a value in µs.
    unit: f64,
    low: f64,
    pub high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale from the least of `values` to the greatest, drawn at `ends`. It is logarithmic if all of them are
    /// positive and the greatest is at least 30 times the least. None if no value is finite.
    pub fn exact(values: impl Iterator<Item = f64>, ends: (f64, f64)) -> Option<Scale> {
        let (low, high) = range(values)?;
        Some(Scale::between(low, high, low > 0.0 && high / low >= DECADES, 1.0, ends))
    }

    /// A scale whose ends are round in the unit that suits the size of `values`. It is logarithmic on the same
    /// condition as a scale of [`Scale::exact`]; otherwise it includes zero. None if no value is finite.
    pub fn rounded(of: &impl Measured, values: impl Iterator<Item = f64>, ends: (f64, f64)) -> Option<Scale> {
        let (low, high) = range(values)?;
        if low > 0.0 && high / low >= DECADES {
            let unit = of.fitting(low).0;
            let (low, high) = (round_below(low / unit) * unit, round_above(high / unit) * unit);
            return Some(Scale::between(low, high, true, unit, ends));
        }
        let (low, high) = (low.min(0.0), high.max(0.0));
        let unit = of.fitting(low.abs().max(high)).0;
        let step = step((high - low) / unit) * unit;
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        Some(Scale::between(low, high, false, unit, ends))
    }

    /// A logarithmic scale with round ends. Values that are not positive are left out; none if nothing is left.
    pub fn logarithmic(values: impl Iterator<Item = f64>, ends: (f64, f64)) -> Option<Scale> {
        let (low, high) = range(values.filter(|value| *value >= SMALLEST))?;
        Some(Scale::between(round_below(low), round_above(high), true, 1.0, ends))
    }

    /// A linear scale from `low` to `high`, drawn at `ends`. If `high` is not above `low`, the scale ends at a value
    /// above `low`.
    pub fn linear(low: f64, high: f64, ends: (f64, f64)) -> Scale {
        Scale::between(low, high, false, 1.0, ends)
    }

    fn between(low: f64, high: f64, log: bool, unit: f64, (from, to): (f64, f64)) -> Scale {
        let (low, high) = (drawable(low), drawable(high));
        let high = if high > low { high } else { low + low.abs().max(1.0) };
        Scale { log, unit, low, high, from, to }
    }

    /// The place of a value, to a tenth. A value beyond an end is drawn at that end.
    pub fn at(&self, value: f64) -> f64 {
        let place = if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let at = self.from + place.clamp(0.0, 1.0) * (self.to - self.from);
        (at * 10.0).round() / 10.0
    }

    /// Round values from one end of the scale to the other, at most about a dozen.
    pub fn ticks(&self) -> Vec<f64> {
        if self.log {
            let mut ticks: Vec<f64> = Vec::new();
            let mut tick = self.low;
            while tick <= self.high * 1.001 {
                ticks.push(tick);
                let next = round_above(tick * 1.001 / self.unit) * self.unit;
                // Rounding may give the same tick again, and the loop must end.
                tick = next.max(tick * 1.5);
            }
            // Powers of ten alone where 1, 2 and 5 of each are too many.
            let each = if ticks.len() <= 8 { 1 } else { 3 * (ticks.len() / 36 + 1) };
            let power = |tick: &f64| (tick / self.unit).log10();
            let first = ticks.iter().position(|tick| (power(tick) - power(tick).round()).abs() < 1e-6);
            return ticks
                .into_iter()
                .skip(if each == 1 { 0 } else { first.unwrap_or(0) })
                .step_by(each)
                .collect();
        }
        let step = step((self.high - self.low) / self.unit) * self.unit;
        let first = (self.low / step - 1e-6).ceil();
        let count = ((self.high / step + 1e-6).floor() - first).clamp(0.0, 12.0) as usize;
        (0..=count).map(|nth| (first + nth as f64) * step).collect()
    }
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).map(drawable).fold(None, |range, value| {
        Some(range.map_or((value, value), |(low, high): (f64, f64)| (low.min(value), high.max(value))))
    })
}

fn drawable(value: f64) -> f64 {
    if value.abs() < SMALLEST { 0.0 } else { value.clamp(-LARGEST, LARGEST) }
}

const ROUND: [f64; 4] = [1.0, 2.0, 5.0, 10.0];

/// The smallest of 1, 2 and 5 times a power of ten that is at least `value`, which must be positive; a value 0.01 %
/// above it still counts.
fn round_above(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    power * ROUND.into_iter().find(|round| round * power >= value * 0.9999).unwrap_or(10.0)
}

/// The largest of 1, 2 and 5 times a power of ten that is at most `value`, which must be positive; a value 0.01 %
/// below it still counts.
fn round_below(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    power * ROUND.into_iter().rev().find(|round| round * power <= value * 1.0001).unwrap_or(1.0)
}

/// A round step (1, 2 or 5 times a power of ten) that divides `range` into at most about five; 1 if the range is
/// empty or infinite.
fn step(range: f64) -> f64 {
    if range <= 0.0 || !range.is_finite() {
        return 1.0;
    }
    round_above(range / 5.0)
}

#[cfg(test)]
mod tests {
    use kumite_record::Unit;

    use super::*;

    #[test]
    fn any_values_have_a_scale_with_few_ticks_that_places_them_between_its_ends() {
        const ODD: [f64; 16] = [
            5e-324,
            1e-320,
            1e-308,
            1e-200,
            1e-150,
            1e-20,
            1e-3,
            0.0,
            1.0,
            7.0,
            1e15,
            1e150,
            1e200,
            f64::MAX,
            -1e-320,
            -1e300,
        ];
        for a in ODD {
            for b in ODD {
                let values = || [a, b, f64::NAN, f64::INFINITY].into_iter();
                let mut scales = vec![Scale::linear(a, b, (0.0, 100.0))];
                scales.extend(Scale::exact(values(), (0.0, 100.0)));
                scales.extend(Scale::logarithmic(values(), (0.0, 100.0)));
                for unit in [Unit::Seconds, Unit::Nanoseconds, Unit::Bytes, Unit::Ratio, Unit::Number] {
                    scales.extend(Scale::rounded(&unit, values(), (0.0, 100.0)));
                }
                for scale in scales {
                    let ticks = scale.ticks();
                    assert!(ticks.len() < 40, "{a:e} {b:e}: {} ticks", ticks.len());
                    for value in ticks.into_iter().chain([a, b]) {
                        let at = scale.at(value);
                        assert!((0.0..=100.0).contains(&at), "{a:e} {b:e}: {value:e} is at {at}");
                    }
                }
            }
        }
    }
}
