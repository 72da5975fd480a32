//! The findings of a program that looked at some of a load's answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The findings of a checker, a program of the user's, on answers that had passed all other checks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswersChecked {
    /// The command of the checker.
    pub checker: String,
    /// The findings for each request of which at least one answer was looked at.
    pub requests: Vec<RequestChecked>,
    /// The reason, in words, why the checker came to no finding on an answer, and looked at none after it. None if it
    /// came to a finding on each answer that it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<String>,
}

/// The findings of a checker on the answers to one request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestChecked {
    /// The name of the request.
    pub name: String,
    /// The number of answers that the checker found right.
    pub right: u64,
    /// The number of answers that the checker found wrong. The load counts them as right.
    pub wrong: u64,
    /// The checker's words on the first wrong answer: the first line of its standard error, or its exit status if it
    /// wrote nothing there. None if no answer was wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_wrong: Option<String>,
}

impl AnswersChecked {
    /// The number of answers on which there is a finding.
    pub fn answers(&self) -> u64 {
        self.requests.iter().map(|request| request.right + request.wrong).sum()
    }

    /// The number of answers that were found wrong.
    pub fn wrong(&self) -> u64 {
        self.requests.iter().map(|request| request.wrong).sum()
    }
}
