//! Numbers as people read them: with significant digits and thousands separators. Every format but CSV uses them.

/// `value` with this many significant digits, at least 1; `–` if it is infinite or no number. A size of 1e15 or more,
/// or below 1e-6, is written as `1.23e15`.
pub fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    // The exponent after rounding, so that 9.996 becomes 10.0 and not 10.00.
    let exponent = scientific.split_once('e').and_then(|(_, e)| e.parse::<i32>().ok()).unwrap_or(0);
    if !(-6..15).contains(&exponent) {
        return scientific;
    }
    let rounded: f64 = scientific.parse().unwrap_or(value);
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    separated(&format!("{rounded:.decimals$}"))
}

/// A count in full. Half a count, as a median can be, keeps its half. Any other fraction, and a value of 1e15 or more,
/// gets three digits. `–` if it is infinite or no number.
pub fn count(value: f64) -> String {
    if value.is_finite() && (value * 2.0).fract() == 0.0 && value.abs() < 1e15 {
        separated(&if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") })
    } else {
        significant(value, 3)
    }
}

/// The fewest digits, from 3 to 6, at which all values that differ look different; 3 if 6 are too few.
pub fn digits_apart(values: &[f64]) -> usize {
    let tells_apart = |digits: &usize| {
        values.iter().enumerate().all(|(i, a)| {
            values[..i].iter().all(|b| a == b || significant(*a, *digits) != significant(*b, *digits))
        })
    };
    (3..=6).find(tells_apart).unwrap_or(3)
}

fn separated(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = number.find('.').map_or((number, ""), |dot| number.split_at(dot));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{fraction}")
}

/// A count with its word: `1 block`, `2 blocks`.
pub fn plural(count: usize, word: &str) -> String {
    format!("{} {word}{}", self::count(count as f64), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_kept_and_no_more() {
        let check = |value, text: &str| assert_eq!(significant(value, 3), text);
        check(0.0, "0");
        check(0.024_31, "0.0243");
        check(1.0, "1.00");
        check(9.996, "10.0");
        check(25.0, "25.0");
        check(999.6, "1,000");
        check(308_443.0, "308,000");
        check(-1_234.5, "-1,230");
        check(1.5e-9, "1.50e-9");
        check(2e18, "2.00e18");
        check(f64::NAN, "–");
        check(f64::INFINITY, "–");
    }

    #[test]
    fn counts_are_not_rounded() {
        assert_eq!(count(1_234_567.0), "1,234,567");
        assert_eq!(count(100.0), "100");
        assert_eq!(count(2.5), "2.5");
        assert_eq!(count(30_456.5), "30,456.5");
    }

    #[test]
    fn close_values_get_the_digits_that_tell_them_apart() {
        assert_eq!(digits_apart(&[1.31, 1.55]), 3);
        assert_eq!(digits_apart(&[1.0, 1.001]), 4);
        assert_eq!(digits_apart(&[2.0, 2.0]), 3);
        assert_eq!(digits_apart(&[1.0, 1.0 + 1e-12]), 3);
        assert_eq!(digits_apart(&[1.0, 1.000_01]), 6);
    }
}
