//! An entry of `answer_at`, as the file has it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::points::OneOrMore;
use crate::driver::Answer;

/// The right answer where some axes have some values.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "AnswerAt")]
pub(crate) struct AnswerAt {
    /// The right answer there. Its keys take the place of those of `[answer]`, or join them.
    #[serde(default)]
    pub answer: Answer,
    /// The values of axes, as an entry of `points` has them.
    #[serde(flatten)]
    pub(super) axes: BTreeMap<String, OneOrMore>,
}
