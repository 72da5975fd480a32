use anyhow::Result;
use kumite_stats::{median, sequential_ratio};

use crate::Point;

/// The results of trials: for each point and generator, by round.
#[derive(Debug)]
pub struct Cells<T> {
    /// As they were asked for.
    pub points: Vec<Point>,
    /// All generators, also those that took no part.
    pub names: Vec<&'static str>,
    outcomes: Vec<Vec<Vec<Option<T>>>>,
    /// In words.
    pub failures: Vec<String>,
}

impl<T> Cells<T> {
    /// Of nothing yet.
    pub fn new(points: &[Point], names: Vec<&'static str>) -> Cells<T> {
        let outcomes = points.iter().map(|_| names.iter().map(|_| Vec::new()).collect()).collect();
        Cells { points: points.to_vec(), names, outcomes, failures: Vec::new() }
    }

    /// Keeps what came of a trial; its failure in words, if it was one. Rounds come in order.
    pub fn keep(&mut self, point: usize, generator: usize, round: u32, outcome: Result<T>) -> Option<&str> {
        let cell = &mut self.outcomes[point][generator];
        cell.resize_with(round as usize, || None);
        match outcome {
            Ok(trial) => {
                cell.push(Some(trial));
                None
            }
            Err(error) => {
                cell.push(None);
                let Point { connections, .. } = self.points[point];
                let name = self.names[generator];
                self.failures
                    .push(format!("{name} at {connections} connections, round {}: {error:#}", round + 1));
                self.failures.last().map(String::as_str)
            }
        }
    }

    fn cell(&self, point: usize, name: &str) -> &[Option<T>] {
        let generator = self.names.iter().position(|other| *other == name);
        generator.map_or(&[], |generator| &self.outcomes[point][generator])
    }

    /// Those of a generator at a point that came to an end.
    pub fn of(&self, point: usize, name: &str) -> Vec<&T> {
        self.cell(point, name).iter().flatten().collect()
    }

    /// The generators that have any at a point.
    pub fn present(&self, point: usize) -> Vec<&'static str> {
        self.names.iter().copied().filter(|name| !self.of(point, name).is_empty()).collect()
    }

    /// Of each of these trials.
    pub fn values(&self, point: usize, name: &str, value: impl Fn(&T) -> Option<f64>) -> Vec<f64> {
        self.of(point, name).into_iter().filter_map(value).collect()
    }

    /// Over the rounds.
    pub fn median(&self, point: usize, name: &str, value: impl Fn(&T) -> Option<f64>) -> Option<f64> {
        median(&self.values(point, name, value))
    }

    /// Of one generator's median to another's.
    pub fn ratio(
        &self,
        point: usize,
        (a, b): (&str, &str),
        value: impl Fn(&T) -> Option<f64> + Copy,
    ) -> Option<f64> {
        Some(self.median(point, a, value)? / self.median(point, b, value)?)
    }

    /// The same from pairs of the same round, with its interval; a dash if there are too few for one.
    pub fn paired(
        &self,
        point: usize,
        (a, b): (&str, &str),
        value: impl Fn(&T) -> Option<f64> + Copy,
    ) -> String {
        let pairs = self.cell(point, a).iter().zip(self.cell(point, b));
        let pairs: Vec<_> =
            pairs.filter_map(|(a, b)| Some((value(a.as_ref()?)?, value(b.as_ref()?)?))).collect();
        match sequential_ratio(&pairs, 0.05) {
            Ok(ratio) => format!("{:.3} ({:.3}–{:.3})", ratio.estimate, ratio.low, ratio.high),
            Err(kumite_stats::Error::TooFew { .. }) => "–".to_owned(),
            Err(error) => error.to_string(),
        }
    }
}

/// Median and range, in a table.
pub fn spread(values: &[f64], decimals: usize) -> String {
    let Some(middle) = median(values) else { return "–".to_owned() };
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match values.len() {
        1 => format!("{middle:.decimals$}"),
        _ => format!("{middle:.decimals$} ({low:.decimals$}–{high:.decimals$})"),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;
    use crate::Shape;

    #[test]
    fn medians_ratios_and_pairs_of_the_same_round() {
        let point = Point::new(10, Shape::Closed);
        let mut cells = Cells::new(&[point], vec!["a", "b", "c"]);
        for (round, value) in [1.0, 4.0, 2.0, 8.0, 3.0, 5.0, 6.0].into_iter().enumerate() {
            assert_eq!(cells.keep(0, 0, round as u32, Ok(value)), None);
            if round == 1 {
                let failure = cells.keep(0, 1, 1, (|| bail!("it broke"))()).unwrap().to_owned();
                assert_eq!(failure, "b at 10 connections, round 2: it broke");
            } else {
                cells.keep(0, 1, round as u32, Ok(2.0 * value));
            }
        }
        let value = |value: &f64| Some(*value);
        assert_eq!(cells.present(0), ["a", "b"]);
        assert_eq!(cells.median(0, "a", value), Some(4.0));
        assert_eq!(cells.median(0, "b", value), Some(8.0));
        assert_eq!(cells.ratio(0, ("a", "b"), value), Some(0.5));
        assert_eq!(cells.paired(0, ("a", "b"), value), "0.500 (0.500–0.500)");
        assert_eq!(cells.ratio(0, ("a", "c"), value), None);
        assert_eq!(cells.paired(0, ("a", "c"), value), "–");
    }

    #[test]
    fn spreads() {
        assert_eq!(spread(&[3.0, 1.0, 2.0], 1), "2.0 (1.0–3.0)");
        assert_eq!(spread(&[3.0], 0), "3");
        assert_eq!(spread(&[], 0), "–");
    }
}
