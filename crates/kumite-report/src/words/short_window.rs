//! A window that is too short for a percentile that a claim compares.

use kumite_record::Enough;

use crate::words::number::{count, significant};

/// A window with too few answers, and the claim that needs more.
#[derive(Clone, Copy, Debug)]
pub struct ShortWindow<'a> {
    /// The profiles in which it is so.
    pub profiles: &'a [&'a str],
    /// The claim's id.
    pub claim: &'a str,
    /// The contender and the point, as people read them.
    pub cell: &'a str,
    /// The percentile.
    pub metric: &'a str,
    /// The answers that it takes.
    pub needs: u64,
    /// The answers that come a second.
    pub per_s: f64,
    /// The length of the window.
    pub window_s: f64,
    /// The parameter that would do, and its value; none if no window would.
    pub enough: Option<&'a Enough>,
}

/// The fault in a sentence, with its remedy.
pub fn short_window(of: &ShortWindow) -> String {
    let ShortWindow { claim, cell, metric, window_s, .. } = of;
    let (profiles, needs) = (in_profiles(of.profiles), count(of.needs as f64));
    let per_s = significant(of.per_s, 2);
    let remedy = match of.enough {
        Some(Enough { have, parameter, value }) => {
            let have = count(*have as f64);
            format!("has about {have}: set {parameter} = {value}, or claim a lower percentile")
        }
        None => "has none, and no window is long enough: claim a lower percentile".to_owned(),
    };
    format!(
        "{profiles}: {metric} of claim {claim} needs {needs} answers in a window; {cell} gives {per_s}/s, so a window of \
         {window_s} s {remedy}"
    )
}

/// `profile quick`, `profiles quick, full`.
pub fn in_profiles(profiles: &[&str]) -> String {
    let word = if profiles.len() == 1 { "profile" } else { "profiles" };
    format!("{word} {}", profiles.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_is_too_short_says_which_would_do() {
        let of = ShortWindow {
            profiles: &["quick"],
            claim: "tail",
            cell: "threads at connections=50",
            metric: "response_p99_9_us",
            needs: 10_000,
            per_s: 1204.0,
            window_s: 1.0,
            enough: Some(&Enough { have: 1200, parameter: "duration_s".to_owned(), value: 10.0 }),
        };
        assert_eq!(
            short_window(&of),
            "profile quick: response_p99_9_us of claim tail needs 10,000 answers in a window; threads at connections=50 gives 1,200/s, so a window of 1 s has about 1,200: set duration_s = 10, or claim a lower percentile"
        );
        let never = ShortWindow { enough: None, profiles: &["quick", "full"], ..of };
        assert_eq!(
            short_window(&never),
            "profiles quick, full: response_p99_9_us of claim tail needs 10,000 answers in a window; threads at connections=50 gives 1,200/s, so a window of 1 s has none, and no window is long enough: claim a lower percentile"
        );
    }
}
