use std::fmt::{self, Display, Write};

/// The rounds from which a median is believed.
pub const ENOUGH: u32 = 10;

/// One thing that is asked of the engine, and what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The quantity, with its unit.
    pub what: String,
    /// None if it was not.
    pub measured: Option<f64>,
    /// Where it must lie.
    pub limit: Limit,
    /// Of which it is the median.
    pub rounds: u32,
    /// Fewer are not enough.
    pub needs: u32,
}

/// A bound, itself allowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Not above.
    Most(f64),
    /// Not below.
    Least(f64),
}

impl Line {
    /// Computed, of what was measured.
    pub fn verdict(&self) -> &'static str {
        let Some(measured) = self.measured else { return "not measured" };
        let within = match self.limit {
            Limit::Most(most) => measured <= most,
            Limit::Least(least) => measured >= least,
        };
        match (within, self.rounds >= self.needs) {
            (_, false) => "undecided: too few rounds",
            (true, true) => "met",
            (false, true) => "not met",
        }
    }
}

impl Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Limit::Most(most) => write!(f, "≤ {most}"),
            Limit::Least(least) => write!(f, "≥ {least}"),
        }
    }
}

/// The Markdown.
pub fn list(lines: &[Line]) -> String {
    let mut text =
        String::from("| asked | limit | measured | rounds | |\n| --- | ---: | ---: | ---: | --- |\n");
    for line in lines {
        let measured = line.measured.map_or("–".to_owned(), |measured| format!("{measured:.3}"));
        let Line { what, limit, rounds, .. } = line;
        let _ = writeln!(text, "| {what} | {limit} | {measured} | {rounds} | {} |", line.verdict());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        let line = |measured, limit, rounds| Line { what: "x".into(), measured, limit, rounds, needs: 10 };
        for (measured, limit, rounds, verdict) in [
            (Some(0.75), Limit::Most(0.75), 10, "met"),
            (Some(0.76), Limit::Most(0.75), 10, "not met"),
            (Some(1.1), Limit::Least(1.1), 12, "met"),
            (Some(1.0), Limit::Least(1.1), 12, "not met"),
            (Some(0.1), Limit::Most(0.75), 9, "undecided: too few rounds"),
            (Some(f64::NAN), Limit::Most(0.75), 10, "not met"),
            (None, Limit::Most(0.75), 10, "not measured"),
        ] {
            assert_eq!(line(measured, limit, rounds).verdict(), verdict, "{measured:?} {limit}");
        }
        let text = list(&[line(Some(0.7), Limit::Most(0.75), 10)]);
        assert!(text.ends_with("| x | ≤ 0.75 | 0.700 | 10 | met |\n"), "{text}");
    }
}
