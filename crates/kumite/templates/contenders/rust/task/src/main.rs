//! A job brings all parameters: `job.number("things")?`. What is returned is the result.

use kumite_kit::Answer;
use serde_json::json;

fn main() {
    kumite_kit::serve("rust", |job| {
        Ok(Answer { result: json!({ "not written yet": *job.params }), ..Answer::default() })
    });
}
