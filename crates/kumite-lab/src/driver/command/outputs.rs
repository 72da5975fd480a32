//! The standard output of a trial's runs, and its check.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use kumite_load::Json;
use serde_json::Value;

use crate::driver::Answer;
use crate::driver::answer_check::{AnswerCheck, Finding, unlike};
use crate::driver::line_process::shown;
use crate::driver::own_metrics::own_metrics;
use crate::error::{Error, Fault};
use crate::halt::Halt;

/// The different outputs of a trial's runs.
pub(super) struct Outputs {
    /// The file that each run writes to.
    pub file: PathBuf,
    /// The digest and the file of each different output.
    kept: Vec<(blake3::Hash, PathBuf)>,
}

/// The output of one run.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Output {
    /// The length of the output in bytes, without the line of metrics.
    pub bytes: u64,
    /// The metrics that the experiment declares, by name, as far as the output's last line has them.
    pub metrics: BTreeMap<String, f64>,
}

impl Outputs {
    /// Makes an empty collection whose files will be in this folder.
    pub fn new(folder: &Path) -> Outputs {
        Outputs { file: folder.join("output"), kept: Vec::new() }
    }

    /// The digest and the file of each different output.
    pub fn kept(&self) -> &[(blake3::Hash, PathBuf)] {
        &self.kept
    }

    /// Takes the output of the last run. If metrics are named, they are read from the output's last line, which is then
    /// cut off; a metric that the line does not have is left out. An error if that line is no JSON object, or a named
    /// metric is no number.
    pub fn take<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Result<Output, Error> {
        let unread = unread(&self.file);
        let metrics = self.take_metrics(names)?;
        let mut hasher = blake3::Hasher::new();
        let bytes =
            File::open(&self.file).and_then(|mut file| io::copy(&mut file, &mut hasher)).map_err(unread)?;
        let digest = hasher.finalize();
        if self.kept.iter().all(|(known, _)| *known != digest) {
            let kept = self.file.with_extension(self.kept.len().to_string());
            std::fs::rename(&self.file, &kept).map_err(unread)?;
            self.kept.push((digest, kept));
        }
        Ok(Output { bytes, metrics })
    }

    /// Cuts the last line off the output, and reads these metrics from it, as far as it has them. Leaves the output
    /// as it is if no metric is named.
    fn take_metrics<'n>(&self, names: impl Iterator<Item = &'n str>) -> Result<BTreeMap<String, f64>, Error> {
        let mut names = names.peekable();
        if names.peek().is_none() {
            return Ok(BTreeMap::new());
        }
        let unread = unread(&self.file);
        let text = std::fs::read(&self.file).map_err(unread)?;
        let text = text.trim_ascii_end();
        let (above, line) =
            text.split_at(text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
        let wrong = |why: String| {
            let line = shown(line);
            Fault::new(format!("the last line of its output, {line}, is no object with metrics: {why}"))
        };
        if !line.starts_with(b"{") {
            return Err(wrong("it does not begin with {".to_owned()).into());
        }
        let metrics = own_metrics(line, names).map_err(|why| wrong(why.into()))?;
        let file = File::options().write(true).open(&self.file).map_err(unread)?;
        file.set_len(above.len() as u64).map_err(unread)?;
        Ok(metrics)
    }

    /// The reason why any of the outputs is wrong. None if all are right; an error if an output or the checker cannot
    /// be used. `folder` is where the command was run.
    pub fn check(
        &self,
        answer: &Answer,
        checker: &mut AnswerCheck,
        params: &Value,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<Option<String>, Halt> {
        for (_, file) in &self.kept {
            if let Some(why) = wrong(answer, file)? {
                return Ok(Some(why));
            }
            let path = Json::from(&Value::from(file.to_string_lossy()));
            if let Finding::Wrong(why) = checker.ask(params, &path, folder, stop)? {
                return Ok(Some(why));
            }
        }
        Ok(None)
    }
}

fn unread(file: &Path) -> impl Fn(io::Error) -> Error + Copy {
    move |error| Error::step("its output cannot be read")(Error::at(file)(error))
}

/// The reason why an output is wrong by `[answer]`, without the checker. None if it is not.
fn wrong(answer: &Answer, file: &Path) -> Result<Option<String>, Error> {
    let read = || std::fs::read(file).map_err(unread(file));
    Ok(match (&answer.equals, &answer.equals_json) {
        (Some(text), _) => {
            let output = read()?;
            if output == text.as_bytes() {
                None
            } else {
                let json = |text: &str| Json::from(&Value::from(text));
                let words = unlike(&json(&String::from_utf8_lossy(&output)), &json(text));
                words.or_else(|| Some("it is not UTF-8".to_owned()))
            }
        }
        (None, Some(value)) => match Json::parse(&read()?) {
            Ok(output) => unlike(&output, &Json::from(value)),
            Err(error) => Some(format!("it is no JSON: {error}")),
        },
        (None, None) => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn taken(text: &str, names: &[&str]) -> (Result<Output, Error>, String) {
        let folder = tempfile::tempdir().unwrap();
        let mut outputs = Outputs::new(folder.path());
        std::fs::write(&outputs.file, text).unwrap();
        let taken = outputs.take(names.iter().copied());
        let left = outputs.kept.first().map(|(_, kept)| std::fs::read_to_string(kept).unwrap());
        (taken, left.unwrap_or_default())
    }

    #[test]
    fn metrics_are_the_last_line_and_no_part_of_the_answer() {
        let output = |bytes, metrics: &[(&str, f64)]| Output {
            bytes,
            metrics: metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        };
        let (found, left) = taken("a\nb\n{\"x\":2,\"y\":3}\n", &["x"]);
        assert_eq!((found.unwrap(), left.as_str()), (output(4, &[("x", 2.0)]), "a\nb\n"));
        let (found, left) = taken("{\"x\":2}", &["x"]);
        assert_eq!((found.unwrap(), left.as_str()), (output(0, &[("x", 2.0)]), ""));
        let (found, left) = taken("a\n{\"x\":2}\n", &[]);
        assert_eq!((found.unwrap(), left.as_str()), (output(10, &[]), "a\n{\"x\":2}\n"), "none is declared");
    }

    #[test]
    fn a_last_line_that_is_no_object_with_numbers_is_shown() {
        for (text, expected) in [
            (
                "a\n7\n",
                "the last line of its output, '7', is no object with metrics: it does not begin with {",
            ),
            ("", "the last line of its output, '', is no object"),
            ("{\"x\":", "it is no JSON: EOF"),
            ("{\"x\":\"2\"}", "its 'x' is \"2\", and [metrics]"),
        ] {
            let found = taken(text, &["x"]).0.unwrap_err().to_string();
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn each_output_is_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut outputs = Outputs::new(folder.path());
        for text in ["a", "b", "a"] {
            std::fs::write(&outputs.file, text).unwrap();
            outputs.take(std::iter::empty()).unwrap();
        }
        let kept: Vec<String> =
            outputs.kept.iter().map(|(_, kept)| std::fs::read_to_string(kept).unwrap()).collect();
        assert_eq!(kept, ["a", "b"]);
    }

    #[test]
    fn an_output_is_equal_byte_for_byte_or_as_json() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("output");
        std::fs::write(&file, "{ \"a\": 1 }\n").unwrap();
        let text = |text: &str| Answer { equals: Some(text.to_owned()), ..Answer::default() };
        assert_eq!(wrong(&text("{ \"a\": 1 }\n"), &file).unwrap(), None);
        let found = wrong(&text("{\"a\": 1}\n"), &file).unwrap().unwrap();
        assert_eq!(found, r#"it is "{ \"a\": 1 }\n", not "{\"a\": 1}\n""#);
        let json = |value: Value| Answer { equals_json: Some(value), ..Answer::default() };
        assert_eq!(wrong(&json(json!({"a": 1})), &file).unwrap(), None);
        assert_eq!(wrong(&json(json!(1)), &file).unwrap(), Some(r#"it is {"a":1}, not 1"#.to_owned()));
        std::fs::write(&file, "a").unwrap();
        assert_eq!(
            wrong(&json(json!(1)), &file).unwrap(),
            Some("it is no JSON: expected value at line 1 column 1".to_owned())
        );
        assert_eq!(wrong(&Answer::default(), &file).unwrap(), None, "anything where nothing is expected");
    }
}
