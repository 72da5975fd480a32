//! The checker of a server's answers: a program that is given one answer at a time, and says by its exit status whether
//! it is right.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kumite_load::{SampledAnswer, Sampling};
use kumite_process::{Spawn, how_it_ended, run};
use kumite_record::{AnswersChecked, RequestChecked};
use serde::Serialize;

use crate::error::{Error, chain};

/// The longest time that the checker may take for one answer.
const LIMIT: Duration = Duration::from_secs(10);
/// The most bytes of the checker's first line that are quoted.
const LINE: usize = 400;
/// The most answers that the checker is given.
const ANSWERS: usize = 20;

/// The choice of the answers that a load keeps for a checker: at most 20, chosen at random with this seed.
pub fn sampling(seed: u64) -> Sampling {
    Sampling { answers: ANSWERS, seed }
}

/// An answer as the checker reads it.
#[derive(Serialize)]
struct Given<'a> {
    request: &'a str,
    status: u16,
    /// The names, in lower case, and values, in the order in which they came.
    headers: Vec<[String; 2]>,
    /// The body, if it is UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
    /// The body in base64, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    body_base64: Option<String>,
}

/// Why the checker comes to no finding.
#[derive(Debug, thiserror::Error)]
enum NoFinding {
    /// The shell could not run it.
    #[error("it cannot be run{}", said(.0))]
    NotRun(Option<String>),
    /// A signal ended it.
    #[error("it {0}")]
    Signal(String),
    /// A file for it could not be made, it was not started, took longer than [`LIMIT`], or all was to stop.
    #[error("{}", chain(.0))]
    Error(Error),
}

fn said(line: &Option<String>) -> String {
    line.as_ref().map(|line| format!(": {line}")).unwrap_or_default()
}

/// Has a checker look at answers, one after the other. It runs through `sh -c` in `folder`, on these cores, for 10 s at
/// most, and reads the answer as JSON on standard input. Exit status 0 says that the answer is right, another that it
/// is wrong. The check ends at the first answer to which the checker comes to no finding: it cannot be run (exit status
/// 126 or 127), takes too long, or is ended by a signal. The reason is in `undecided` then.
pub fn check_answers(
    command: &str,
    folder: &Path,
    cores: &[usize],
    answers: &[SampledAnswer],
    stop: &AtomicBool,
) -> AnswersChecked {
    let mut checked = AnswersChecked { checker: command.to_owned(), ..AnswersChecked::default() };
    for answer in answers {
        match finding(command, folder, cores, answer, stop) {
            Ok(wrong) => count(&mut checked.requests, &answer.request, wrong),
            Err(why) => {
                checked.undecided = Some(format!("{}: {why}", answer.request));
                break;
            }
        }
    }
    checked.requests.sort_by(|one, other| one.name.cmp(&other.name));
    checked
}

/// Counts an answer, which is right if `wrong` is none.
fn count(requests: &mut Vec<RequestChecked>, name: &str, wrong: Option<String>) {
    let nth = requests.iter().position(|request| request.name == name).unwrap_or(requests.len());
    if nth == requests.len() {
        requests.push(RequestChecked { name: name.to_owned(), ..RequestChecked::default() });
    }
    let request = &mut requests[nth];
    match wrong {
        None => request.right += 1,
        Some(wrong) => {
            request.wrong += 1;
            request.first_wrong.get_or_insert(wrong);
        }
    }
}

/// What the checker says against an answer; none if the answer is right.
fn finding(
    command: &str,
    folder: &Path,
    cores: &[usize],
    answer: &SampledAnswer,
    stop: &AtomicBool,
) -> Result<Option<String>, NoFinding> {
    let scratch = tempfile::tempdir().map_err(Error::step("cannot make a temporary folder"));
    let scratch = scratch.map_err(NoFinding::Error)?;
    let [input, errors, log] = ["answer.json", "stderr", "stdout"].map(|name| scratch.path().join(name));
    std::fs::write(&input, given(answer))
        .map_err(Error::cannot("write", &input))
        .map_err(NoFinding::Error)?;
    let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
    let command = format!("exec < {} 2> {}\n{command}", quoted(&input), quoted(&errors));
    let spawn =
        Spawn { command: &command, dir: folder, env: &[], keeps: None, cores, log: &log, group: None };
    let ended = run(&spawn, LIMIT, stop).map_err(|error| {
        NoFinding::Error(match error {
            // The error's own words show the command with its redirections, and a log that is gone.
            kumite_process::Error::TimedOut { limit, .. } => {
                crate::error::Fault::new(format!("it took longer than {} s", limit.as_secs())).into()
            }
            error => error.into(),
        })
    })?;
    let line = first_line(&errors);
    match ended.status.code() {
        Some(0) => Ok(None),
        Some(126 | 127) => Err(NoFinding::NotRun(line)),
        Some(_) => Ok(Some(line.unwrap_or_else(|| how_it_ended(ended.status)))),
        None => Err(NoFinding::Signal(how_it_ended(ended.status))),
    }
}

fn given(answer: &SampledAnswer) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let header = |(name, value): &(Vec<u8>, Vec<u8>)| [text(name).to_ascii_lowercase(), text(value)];
    let body = std::str::from_utf8(&answer.body).ok();
    let given = Given {
        request: &answer.request,
        status: answer.status,
        headers: answer.headers.iter().map(header).collect(),
        body,
        body_base64: body.is_none().then(|| STANDARD.encode(&answer.body)),
    };
    serde_json::to_string(&given).expect("texts and numbers are written as JSON") + "\n"
}

/// The first line of a file that is not blank; none if there is none.
fn first_line(file: &Path) -> Option<String> {
    let mut text = Vec::new();
    File::open(file).ok()?.take(1 << 16).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line[..line.floor_char_boundary(LINE)].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(request: &str, body: &[u8]) -> SampledAnswer {
        let headers = vec![(b"Content-Type".to_vec(), b"text/plain".to_vec())];
        SampledAnswer { request: request.to_owned(), status: 200, headers, body: body.to_vec() }
    }

    fn checked(command: &str, answers: &[SampledAnswer]) -> AnswersChecked {
        let folder = tempfile::tempdir().unwrap();
        check_answers(command, folder.path(), &[], answers, &AtomicBool::new(false))
    }

    #[test]
    fn a_checker_reads_an_answer_as_json() {
        assert_eq!(
            given(&answer("GET /", b"p\"ong")),
            "{\"request\":\"GET /\",\"status\":200,\"headers\":[[\"content-type\",\"text/plain\"]],\"body\":\"p\\\"ong\"}\n"
        );
        assert!(given(&answer("GET /", b"\xff")).ends_with("\"body_base64\":\"/w==\"}\n"));
    }

    #[test]
    fn its_exit_status_is_its_finding_and_its_first_line_is_quoted() {
        let answers = [answer("GET /b", b"no"), answer("GET /a", b"yes"), answer("GET /b", b"yes")];
        let found = checked("grep -q yes || { printf '\\n  no yes \\nmore\\n' >&2; exit 7; }", &answers);
        let request = |name: &str, right, wrong, first: Option<&str>| RequestChecked {
            name: name.to_owned(),
            right,
            wrong,
            first_wrong: first.map(str::to_owned),
        };
        let expected = [request("GET /a", 1, 0, None), request("GET /b", 1, 1, Some("no yes"))];
        assert_eq!((found.requests.as_slice(), &found.undecided), (&expected[..], &None));
        assert_eq!((found.answers(), found.wrong()), (3, 1));
        let silent = checked("exit 3", &answers[..1]);
        assert_eq!(silent.requests[0].first_wrong.as_deref(), Some("ended with status 3"));
    }

    #[test]
    fn a_checker_that_comes_to_no_finding_is_asked_no_more() {
        let answers = [answer("GET /", b"a"), answer("GET /", b"b")];
        let missing = checked("./no-such-checker", &answers);
        let said = missing.undecided.unwrap();
        assert!(said.starts_with("GET /: it cannot be run: ") && said.contains("no-such-checker"), "{said}");
        assert_eq!(missing.requests, []);
        let killed = checked("kill -9 $$", &answers);
        assert!(killed.undecided.unwrap().starts_with("GET /: it was ended by signal 9"));
    }
}
