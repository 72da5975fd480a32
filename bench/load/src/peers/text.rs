/// The first word after `before`, in the first line that has it.
pub fn number_after<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.contains(before))?;
    line.split_once(before)?.1.split_whitespace().next()
}

/// `471.00us`, `0.89ms`, `1.00s`, `1.50m` in microseconds.
pub fn duration_us(text: &str) -> Option<f64> {
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(at);
    let scale = match unit {
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        "m" => 60e6,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        assert_eq!(duration_us("471.00us"), Some(471.0));
        assert_eq!(duration_us("0.5ms"), Some(500.0));
        assert_eq!(duration_us("1.25s"), Some(1_250_000.0));
        assert_eq!(duration_us("2.00m"), Some(120_000_000.0));
        assert_eq!(duration_us("3h"), None);
        assert_eq!(duration_us("12"), None);
    }

    #[test]
    fn numbers() {
        assert_eq!(number_after("a: 1\nbb: 2 c\n", "b:"), Some("2"));
        assert_eq!(number_after("a: 1\n", "b:"), None);
    }
}
