//! A result as JUnit XML: one suite, with a case for each thing that was asked.
//!
//! A case that is shown to be worse is a failure, and one that did not run to its end an error. One that could not be
//! told, or that `--gate-allow` names, is skipped with the reason. The cases were measured together, so each has an
//! equal part of the time: a reader that adds them up has the whole.

use std::time::Duration;

use chrono::DateTime;
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::{Case, Outcome, Review};

/// The result as JUnit XML. An error if a text in it cannot be written as XML.
pub fn junit(review: &Review) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(&review.title);
    let time = Duration::try_from_secs_f64(review.seconds).unwrap_or_default();
    let started = DateTime::from_timestamp(review.started.as_second(), 0).unwrap_or_default().fixed_offset();
    let each = time.checked_div(review.cases.len() as u32).unwrap_or_default();
    suite.set_timestamp(started).set_time(time);
    suite.add_test_cases(review.cases.iter().map(|case| test_case(review, case, each)));
    let said: Vec<&str> = review
        .gate
        .iter()
        .map(|gate| &*gate.line)
        .chain(review.doubts.iter().map(|doubt| &**doubt))
        .collect();
    if !said.is_empty() {
        suite.set_system_out(said.join("\n"));
    }
    let mut report = Report::new("kumite");
    report.set_timestamp(started).set_time(time).add_test_suite(suite);
    report.to_string()
}

fn test_case(review: &Review, case: &Case, time: Duration) -> TestCase {
    let mut status = match case.outcome {
        Outcome::Passed => TestCaseStatus::success(),
        Outcome::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Outcome::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
        Outcome::Undecided | Outcome::NotTested | Outcome::Allowed => TestCaseStatus::skipped(),
    };
    status.set_message(&case.sentence).set_type(case.outcome.as_str());
    if matches!(case.outcome, Outcome::Failed | Outcome::Error) {
        status.set_description(format!(
            "{}: {}\nagain: {}",
            case.name(review),
            case.sentence,
            review.command
        ));
    }
    let mut of = TestCase::new(case.name(review), status);
    of.set_classname(&review.title).set_time(time);
    if case.outcome == Outcome::Passed {
        of.set_system_out(&case.sentence);
    }
    of
}
