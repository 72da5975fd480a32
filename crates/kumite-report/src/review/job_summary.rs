//! A result as the summary of a job of GitHub Actions: what a reviewer needs, and the whole report folded below it.

use super::Review;
use super::comment::body;

/// The most bytes of the summary of a step. GitHub shows nothing of a longer one; this leaves room for others.
const MOST: usize = 900_000;

/// The summary in Markdown, with the whole `report` folded below it. An empty `report` is left out. If both together
/// have more than 900,000 bytes, a sentence stands in place of the report.
pub fn job_summary(review: &Review, report: &str) -> String {
    let short = body(review);
    if report.is_empty() {
        return short + "\n";
    }
    let whole = format!("{short}\n<details><summary>The whole report</summary>\n\n{report}\n</details>\n\n");
    if whole.len() <= MOST {
        whole
    } else {
        format!("{short}\nThe whole report is too long for this place.\n\n")
    }
}
