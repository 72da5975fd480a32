//! The margin of a comparison, as the user writes it.

use std::str::FromStr;

use thiserror::Error;

/// The share by which two may differ and still count as no difference: at least 0, below 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin(pub f64);

/// The reason why a text is no margin.
#[derive(Debug, PartialEq, Error)]
pub enum MarginError {
    /// The text is no number, with or without `%`.
    #[error("expected a share such as 0.25% or 0.0025")]
    NoShare,
    /// The number is 1 or more without `%`, and would be a share with `%`.
    #[error("{0} is more than all: write {0}% or {share}", share = .0 / 100.0)]
    NoPercent(f64),
    /// The share is below 0, or is 100 % or more.
    #[error("it must be at least 0 and below 100%")]
    Beyond,
}

impl FromStr for Margin {
    type Err = MarginError;

    fn from_str(text: &str) -> Result<Margin, MarginError> {
        let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
        let number: f64 = number.trim().parse().map_err(|_| MarginError::NoShare)?;
        let share = number * unit;
        if (0.0..1.0).contains(&share) {
            Ok(Margin(share))
        } else if unit == 1.0 && (1.0..100.0).contains(&number) {
            Err(MarginError::NoPercent(number))
        } else {
            Err(MarginError::Beyond)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_a_share_or_a_percentage() {
        assert_eq!("0.25%".parse(), Ok(Margin(0.0025)));
        assert_eq!("0".parse(), Ok(Margin(0.0)));
        assert_eq!("2".parse::<Margin>(), Err(MarginError::NoPercent(2.0)));
        assert_eq!(MarginError::NoPercent(2.0).to_string(), "2 is more than all: write 2% or 0.02");
        for (text, error) in
            [("x", MarginError::NoShare), ("-1%", MarginError::Beyond), ("100%", MarginError::Beyond)]
        {
            assert_eq!(text.parse::<Margin>(), Err(error), "{text}");
        }
    }
}
