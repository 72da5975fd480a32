//! A result as annotations of GitHub Actions: lines on standard output that the runner shows beside a change.
//!
//! GitHub shows ten annotations of each kind for a step. If there are more, the last one says how many are left out.

use super::{Part, Review};

/// The most annotations of a kind that GitHub shows for a step.
const MOST: usize = 10;

/// The result as annotations: an error for each thing that is worse or did not run, a warning for each that could not
/// be told and for each doubt, and a notice with the answer. Each is a line; a kind has at most ten.
pub fn annotations(review: &Review) -> String {
    let of = |part| -> Vec<(String, String)> {
        review.of(part).into_iter().map(|case| (case.name(review), case.sentence.clone())).collect()
    };
    let doubts = review.doubts.iter().map(|doubt| ("doubt".to_owned(), doubt.clone()));
    let warnings: Vec<_> = doubts.chain(of(Part::Untold)).collect();
    let answer = review.gate.as_ref().map_or_else(|| review.counts(), |gate| gate.line.clone());
    [
        lines("error", review, of(Part::Wrong)),
        lines("warning", review, warnings),
        format!("::notice title={}::{}\n", property(&review.title), message(&answer)),
    ]
    .concat()
}

fn lines(kind: &str, review: &Review, mut all: Vec<(String, String)>) -> String {
    if all.len() > MOST {
        let more = all.len() - (MOST - 1);
        all.truncate(MOST - 1);
        all.push((
            format!("and {more} more"),
            "the report in the log of this step has all of them".to_owned(),
        ));
    }
    let line = |(what, said): (String, String)| {
        format!("::{kind} title={}::{}\n", property(&format!("{}: {what}", review.title)), message(&said))
    };
    all.into_iter().map(line).collect()
}

/// A message of a workflow command: its percent signs and line ends are encoded, as the runner documents it.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a workflow command, in which colons and commas are encoded, too.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_property_or_a_line_is_encoded_and_percent_signs_first() {
        assert_eq!(property("100 %: a,b\r\nc"), "100 %25%3A a%2Cb%0D%0Ac");
        assert_eq!(message("100 %: a,b\r\nc"), "100 %25: a,b%0D%0Ac");
        assert_eq!(message("%0A"), "%250A");
    }
}
