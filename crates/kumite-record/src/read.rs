//! A run, or a comparison, from a file that `--json` wrote, compressed by gzip or not.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde::de::{Error as _, IgnoredAny, Unexpected};
use thiserror::Error;

use crate::{Comparison, Export, SCHEMA};

/// The most bytes of a compressed document, after decompression, that are read. No run's document is as long, but
/// compressed data may grow to any length. A longer one is cut off here, and so is no JSON.
const LIMIT: u64 = 1 << 30;

/// A document that `--json` wrote.
pub enum Document {
    /// The document of a run.
    Run(Box<Export>),
    /// The document of `kumite compare`.
    Comparison(Box<Comparison>),
}

/// The reason why no run, or no comparison, could be read from a file.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The system could not open or read the file.
    #[error("{}: cannot be read: {source}", file.display())]
    Unread {
        /// The path of the file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file begins like gzip, and cannot be decompressed to its end.
    #[error("{}: cannot be unpacked: {source}", file.display())]
    Packed {
        /// The path of the file.
        file: PathBuf,
        /// The error of the decompression.
        source: io::Error,
    },
    /// The file is not JSON, or is another document than a run, or has a value that this kumite does not know.
    #[error(
        "{}: not a run that --json wrote: {source}; if another version of kumite wrote it, report it with that one",
        file.display()
    )]
    NoRun {
        /// The path of the file.
        file: PathBuf,
        /// The error of the parser, with line and column.
        source: serde_json::Error,
    },
    /// The file has `pairs`, as only a comparison has, and a value that this kumite does not know.
    #[error(
        "{}: not a comparison that --json wrote: {source}; if another version of kumite wrote it, report it with that one",
        file.display()
    )]
    NoComparison {
        /// The path of the file.
        file: PathBuf,
        /// The error of the parser, with line and column.
        source: serde_json::Error,
    },
    /// The file has a version of the form that this kumite does not read.
    #[error(
        "{}: it has format {schema}, and this kumite reads format {SCHEMA}: report it with the kumite that wrote it, or measure again", file.display()
    )]
    OtherForm {
        /// The path of the file.
        file: PathBuf,
        /// The version of the form that the file says it has.
        schema: u32,
    },
}

/// The version of the form, which is read before anything else, and what tells a comparison from a run.
#[derive(Deserialize)]
struct Form {
    schema: u32,
    pairs: Option<IgnoredAny>,
}

impl Document {
    /// Reads a run or a comparison from a file that `--json` wrote, compressed by gzip or not. A file without `pairs`
    /// is read as a run, and is an error if it is none. So is a compressed file of which more than 1 GiB is unpacked.
    pub fn read(file: &Path) -> Result<Document, ReadError> {
        let text = text(file)?;
        let document = match form(file, &text)?.pairs {
            None => serde_json::from_slice(&text).map(Document::Run),
            Some(IgnoredAny) => {
                let read = serde_json::from_slice(&text).map(Document::Comparison);
                return read.map_err(|source| ReadError::NoComparison { file: file.to_owned(), source });
            }
        };
        document.map_err(no_run(file))
    }
}

impl Export {
    /// Reads a run from a file that `--json` wrote, compressed by gzip or not. A comparison is an error,
    /// [`ReadError::NoRun`].
    pub fn read(file: &Path) -> Result<Export, ReadError> {
        let text = text(file)?;
        form(file, &text)?;
        serde_json::from_slice(&text).map_err(no_run(file))
    }
}

/// The text of a file, unpacked.
fn text(file: &Path) -> Result<Vec<u8>, ReadError> {
    let path = || file.to_owned();
    let unread = |source| ReadError::Unread { file: path(), source };
    let mut text = std::fs::read(file).map_err(unread)?;
    if text.starts_with(&[0x1f, 0x8b]) {
        let packed = std::mem::take(&mut text);
        let unpacked = GzDecoder::new(&packed[..]).take(LIMIT).read_to_end(&mut text);
        unpacked.map_err(|source| ReadError::Packed { file: path(), source })?;
    }
    Ok(text)
}

fn form(file: &Path, text: &[u8]) -> Result<Form, ReadError> {
    // serde would take the members of a list for the fields of a struct.
    if text.trim_ascii_start().starts_with(b"[") {
        return Err(no_run(file)(serde_json::Error::invalid_type(Unexpected::Seq, &"a run")));
    }
    let form: Form = serde_json::from_slice(text).map_err(no_run(file))?;
    match form.schema {
        SCHEMA => Ok(form),
        schema => Err(ReadError::OtherForm { file: file.to_owned(), schema }),
    }
}

fn no_run(file: &Path) -> impl Fn(serde_json::Error) -> ReadError {
    move |source| ReadError::NoRun { file: file.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::RunGate;

    fn refused(document: &[u8]) -> ReadError {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), document).unwrap();
        let error = Export::read(file.path()).unwrap_err();
        let said = error.to_string();
        assert!(said.starts_with(&format!("{}: ", file.path().display())), "{said}");
        error
    }

    #[test]
    fn a_state_of_a_gate_that_is_unknown_is_refused_with_the_file_and_a_remedy() {
        let gate = json!({"passes": "fails", "state": "ajar", "because": []});
        let unknown = serde_json::from_value::<RunGate>(gate.clone()).unwrap_err().to_string();
        assert_eq!(unknown, "unknown variant `ajar`, expected one of `open`, `shut`, `undecided`");
        let run = Export {
            schema: SCHEMA,
            run: Default::default(),
            machine: Default::default(),
            contenders: vec![],
            cells: vec![],
            parts: vec![],
            claims: vec![],
            checks: vec![],
            gate: None,
            warnings: vec![],
            trials: vec![],
        };
        let mut document = serde_json::to_value(run).unwrap();
        document["gate"] = gate;
        let error = refused(document.to_string().as_bytes());
        let ReadError::NoRun { file, .. } = &error else { panic!("{error}") };
        assert_eq!(
            error.to_string().replace(file.to_str().unwrap(), "FILE"),
            "FILE: not a run that --json wrote: unknown variant `ajar`, expected one of `open`, `shut`, `undecided` at line 1 column 92; if another version of kumite wrote it, report it with that one"
        );
    }

    #[test]
    fn another_form_is_refused_by_its_version_and_not_by_what_it_lacks() {
        assert!(matches!(refused(br#"{"schema": 99}"#), ReadError::OtherForm { schema: 99, .. }));
    }

    #[test]
    fn what_has_pairs_is_read_as_a_comparison_and_nothing_else() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!(r#"{{"schema": {SCHEMA}, "pairs": []}}"#)).unwrap();
        assert!(matches!(Document::read(file.path()), Err(ReadError::NoComparison { .. })));
        std::fs::write(file.path(), format!(r#"{{"schema": {SCHEMA}}}"#)).unwrap();
        assert!(matches!(Document::read(file.path()), Err(ReadError::NoRun { .. })));
    }

    #[test]
    fn a_list_is_no_run_whatever_it_begins_with() {
        for list in ["[99, 1]", " \n[5, null]", "[]"] {
            assert!(matches!(refused(list.as_bytes()), ReadError::NoRun { .. }), "{list}");
        }
    }

    #[test]
    fn what_is_packed_and_breaks_off_is_no_run() {
        assert!(matches!(refused(&[0x1f, 0x8b, 8, 0]), ReadError::Packed { .. }));
    }
}
