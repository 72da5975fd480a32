//! The fault of a window that is too short for a percentile that a claim compares.

use kumite_record::Enough;

use crate::words::number::{count, significant};

/// A window that has too few answers, or sessions, for a claim.
#[derive(Clone, Copy, Debug)]
pub struct ShortWindow<'a> {
    /// The profiles that have this window.
    pub profiles: &'a [&'a str],
    /// The id of the claim.
    pub claim: &'a str,
    /// The contender and its point, in words, and the request if the percentile is that of a single request.
    pub cell: &'a str,
    /// The name of the percentile's metric.
    pub metric: &'a str,
    /// The number of values that the percentile needs: sessions for a metric of sessions, otherwise answers.
    pub needs: u64,
    /// The number of such values a second that the contender gives.
    pub per_s: f64,
    /// The length of the window, in seconds.
    pub window_s: f64,
    /// The parameter that would give enough values, and the value that it needs; none if no window is long enough.
    pub enough: Option<&'a Enough>,
}

/// The fault in a sentence, with its remedy.
pub fn short_window(of: &ShortWindow) -> String {
    let ShortWindow { claim, cell, metric, window_s, .. } = of;
    let (profiles, needs) = (in_profiles(of.profiles), count(of.needs as f64));
    let per_s = significant(of.per_s, 2);
    let values = if metric.starts_with("session_") { "sessions" } else { "answers" };
    let remedy = match of.enough {
        Some(Enough { have, parameter, value }) => {
            let have = count(*have as f64);
            format!("has about {have}: set {parameter} = {value}, or claim a lower percentile")
        }
        None => "has none, and no window is long enough: claim a lower percentile".to_owned(),
    };
    format!(
        "{profiles}: {metric} of claim {claim} needs {needs} {values} in a window; {cell} gives {per_s}/s, so a window of \
         {window_s} s {remedy}"
    )
}

/// The names of profiles behind the word `profile` or `profiles`: `profile quick`, `profiles quick, full`.
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
