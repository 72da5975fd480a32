//! Checks of answers that are JSON: against `[answer]`, and by the experiment's checker if there is one.
//!
//! An answer is right, or wrong for a reason that goes into the record. An error is a third outcome: the answer could
//! not be checked, and the trial has failed.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_load::Json;
use kumite_process::Spawn;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::parameter_of;
use super::worker::Worker;
use super::{Draft, Wrong};
use crate::driver::Answer;
use crate::error::Error;
use crate::halt::Halt;

/// The longest wait for the checker's first hello, and for its answer about one result.
const LIMIT: Duration = Duration::from_secs(60);

#[derive(Debug, PartialEq)]
pub(crate) enum Finding {
    Right,
    /// The answer is wrong, for this reason.
    Wrong(String),
}

/// A check of answers, by `[answer]` and by the checker if there is one.
pub(crate) struct AnswerCheck<'a> {
    answer: &'a Answer,
    checker: Option<Checker>,
}

/// A running checker: a program that says whether an answer is right. It speaks the task protocol.
struct Checker {
    worker: Worker,
    asked: u64,
}

#[derive(Serialize)]
struct Question<'q> {
    params: &'q Value,
    result: &'q Json,
    folder: &'q str,
}

#[derive(Deserialize)]
struct Verdict {
    right: bool,
    why: Option<String>,
}

impl<'a> AnswerCheck<'a> {
    /// Starts the answer's checker, if it has one, in the experiment's folder. A fault if the checker does not start or
    /// does not answer its first hello; an interruption if `stop` is set.
    pub fn new(
        answer: &'a Answer,
        folder: &Path,
        cores: &[usize],
        log: PathBuf,
        stop: &AtomicBool,
    ) -> Result<AnswerCheck<'a>, Halt> {
        let start = |command: &String| {
            let spawn = Spawn { command, dir: folder, env: &[], keeps: None, cores, log: &log, group: None };
            let step = || format!("the checker `{command}`");
            let mut worker = Worker::start(&spawn).map_err(Error::step(step()))?;
            match worker.hello(LIMIT, stop) {
                Ok(_) => Ok(Checker { worker, asked: 0 }),
                Err(halt) => Err(halt.in_step(step())),
            }
        };
        Ok(AnswerCheck { answer, checker: answer.checker.as_ref().map(start).transpose()? })
    }

    /// Checks a result. `params` are the parameters of the job, and `folder` is the folder in which the contender runs.
    /// An error if it cannot be told whether the result is right.
    pub fn check(
        &mut self,
        params: &Value,
        result: &str,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<Finding, Halt> {
        let cannot = |error: serde_json::Error| Error::step("its result cannot be read")(error);
        let result = Json::parse(result.as_bytes()).map_err(cannot)?;
        if let Some(why) = self.compare(params, &result).map_err(cannot)? {
            return Ok(Finding::Wrong(why));
        }
        self.ask(params, &result, folder, stop)
    }

    /// The reason why a result is wrong by `[answer]`, without the checker. None if it is not.
    fn compare(&self, params: &Value, result: &Json) -> Result<Option<String>, serde_json::Error> {
        let equals = match (&self.answer.equals, &self.answer.equals_json) {
            (Some(text), _) => Some(Json::parse(text.as_bytes())?),
            (None, value) => value.as_ref().map(Json::from),
        };
        if let Some(why) = equals.and_then(|equals| unlike(result, &equals)) {
            return Ok(Some(why));
        }
        for (pointer, expected) in &self.answer.at {
            let parameter = expected.as_str().and_then(parameter_of);
            let expected = parameter.map(|name| params.get(name).unwrap_or(&Value::Null)).unwrap_or(expected);
            let expected = Json::from(expected);
            match result.at(pointer) {
                Some(found) if found.is_like(&expected) => {}
                Some(found) => {
                    return Ok(Some(format!("{pointer} is {}, not {}", short(&found), short(&expected))));
                }
                None => return Ok(Some(format!("it has no {pointer}: {}", short(result)))),
            }
        }
        Ok(None)
    }

    /// Asks the checker about a result. Without a checker every result is right. A fault if the checker fails or breaks
    /// the protocol; an interruption if `stop` is set.
    pub fn ask(
        &mut self,
        params: &Value,
        result: &Json,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<Finding, Halt> {
        match &mut self.checker {
            None => Ok(Finding::Right),
            Some(checker) => checker.check(params, result, folder, stop),
        }
    }
}

impl Checker {
    fn check(
        &mut self,
        params: &Value,
        result: &Json,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<Finding, Halt> {
        self.asked += 1;
        const UNCHECKED: &str = "the answer could not be checked";
        // The result's digits go as they came: a checker may know more of numbers than a double.
        // Where a run has a control, the contender runs by a link of a drawn length: the folder's own name is no draw. A
        // folder of another node is told as it is.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let params = Question { params, result, folder: &folder.to_string_lossy() };
        let asked =
            self.worker.give(self.asked, &params, LIMIT, stop).map_err(|halt| halt.in_step(UNCHECKED))?;
        let taken = self.worker.take(&[(self.asked, asked)].into(), LIMIT, stop);
        let done = taken
            .map_err(|halt| halt.in_step(UNCHECKED))?
            .answer
            .done
            .map_err(Error::step("the checker failed"))
            .map_err(Error::step(UNCHECKED))?;
        let verdict: Verdict = serde_json::from_str(done.result.get())
            .map_err(Error::step("the checker's result is no verdict"))
            .map_err(Error::step(UNCHECKED))?;
        Ok(match verdict {
            Verdict { right: true, .. } => Finding::Right,
            Verdict { right: false, why } => {
                Finding::Wrong(why.unwrap_or_else(|| "the checker says so".into()))
            }
        })
    }
}

/// Refuses an `[answer]` whose `equals` is no JSON, whose `at` has a key that is neither empty nor begins with `/`, or
/// whose `at` has a `$name` that is no workload parameter.
pub(crate) fn check_answer(draft: &Draft) -> Result<(), Wrong> {
    if let Some(equals) = &draft.answer.equals
        && let Err(error) = Json::parse(equals.as_bytes())
    {
        let what =
            format!("the result of a task and the answer of a function are JSON, and this is none: {error}");
        return Err((&["answer", "equals"], what));
    }
    let at = |what: String| Err::<(), Wrong>((&["answer", "at"], what));
    for (pointer, expected) in &draft.answer.at {
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return at(format!("'{pointer}' is no JSON pointer: it begins with /"));
        }
        if let Some(parameter) = expected.as_str().and_then(parameter_of)
            && !draft.parameters.contains(parameter)
        {
            return at(format!("no workload parameter '{parameter}'"));
        }
    }
    Ok(())
}

/// A sentence on how a result differs from the expected one. None if they are equal.
pub(crate) fn unlike(result: &Json, expected: &Json) -> Option<String> {
    (!result.is(expected)).then(|| format!("it is {}, not {}", short(result), short(expected)))
}

/// A value as JSON, cut to a length that people can read.
fn short(value: &Json) -> String {
    const MOST: usize = 120;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(answer: Answer, result: &str) -> Finding {
        let stop = AtomicBool::new(false);
        let check = AnswerCheck::new(&answer, Path::new("."), &[], PathBuf::new(), &stop);
        check.ok().unwrap().check(&json!({ "students": 30 }), result, Path::new("."), &stop).unwrap()
    }

    fn wrong(why: &str) -> Finding {
        Finding::Wrong(why.to_owned())
    }

    #[test]
    fn a_whole_result() {
        let answer = || Answer { equals: Some(r#"{"a":[1,2]}"#.into()), ..Answer::default() };
        assert_eq!(check(answer(), r#"{ "a": [1, 2] }"#), Finding::Right);
        assert_eq!(check(answer(), r#"{"a":[2,1]}"#), wrong(r#"it is {"a":[2,1]}, not {"a":[1,2]}"#));
        let value = || Answer { equals_json: Some(json!({ "a": [1, 2] })), ..Answer::default() };
        assert_eq!(check(value(), r#"{ "a": [1, 2] }"#), Finding::Right);
        assert_eq!(check(value(), r#"{"a":[1.0,2]}"#), wrong(r#"it is {"a":[1.0,2]}, not {"a":[1,2]}"#));
    }

    #[test]
    fn an_integer_is_right_to_its_last_digit() {
        let equals = || Answer { equals: Some("354224848179261915075".into()), ..Answer::default() };
        assert_eq!(check(equals(), "354224848179261915075"), Finding::Right);
        assert_eq!(
            check(equals(), "354224848179261915000"),
            wrong("it is 354224848179261915000, not 354224848179261915075")
        );
        let at =
            || Answer { at: [("".to_owned(), json!(9_007_199_254_740_993_i64))].into(), ..Answer::default() };
        assert_eq!(check(at(), "9007199254740993"), Finding::Right);
        assert_eq!(check(at(), "9007199254740992"), wrong(" is 9007199254740992, not 9007199254740993"));
    }

    #[test]
    fn parts_of_a_result() {
        let at = [("/n/0", json!("$students")), ("/lost", json!(0))];
        let answer = || Answer {
            at: at.iter().map(|(p, v)| ((*p).to_owned(), v.clone())).collect(),
            ..Answer::default()
        };
        assert_eq!(check(answer(), r#"{"n":[30.0],"lost":0}"#), Finding::Right);
        assert_eq!(check(answer(), r#"{"n":[29],"lost":0}"#), wrong("/n/0 is 29, not 30"));
        assert_eq!(check(answer(), r#"{"n":[30]}"#), wrong(r#"it has no /lost: {"n":[30]}"#));
    }

    #[test]
    fn anything_where_nothing_is_expected() {
        assert_eq!(check(Answer::default(), "null"), Finding::Right);
    }
}
