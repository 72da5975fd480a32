//! A run from a file that `--json` wrote, compressed by gzip or not.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde::Deserialize;
use thiserror::Error;

use crate::{Export, SCHEMA};

/// The longest document that is read, in bytes after decompression. No run's document is as long, but compressed data
/// may grow to any length.
const LIMIT: u64 = 1 << 30;

/// The reason that no run could be read from a file.
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
    /// The file is no JSON or another document, or has a value that this kumite does not know.
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
    /// The file is a run in another version of the form.
    #[error(
        "{}: it has format {schema}, and this kumite reads format {SCHEMA}: report it with the kumite that wrote it, or measure again", file.display()
    )]
    OtherForm {
        /// The path of the file.
        file: PathBuf,
        /// The version of the form that the file has.
        schema: u32,
    },
}

/// The version of the form, which is read before anything else.
#[derive(Deserialize)]
struct Form {
    schema: u32,
}

impl Export {
    /// Reads a run from a file that `--json` wrote, compressed by gzip or not.
    pub fn read(file: &Path) -> Result<Export, ReadError> {
        let path = || file.to_owned();
        let unread = |source| ReadError::Unread { file: path(), source };
        let mut text = std::fs::read(file).map_err(unread)?;
        if text.starts_with(&[0x1f, 0x8b]) {
            let packed = std::mem::take(&mut text);
            let unpacked = GzDecoder::new(&packed[..]).take(LIMIT).read_to_end(&mut text);
            unpacked.map_err(|source| ReadError::Packed { file: path(), source })?;
        }
        let no_run = |source| ReadError::NoRun { file: path(), source };
        let Form { schema } = serde_json::from_slice(&text).map_err(no_run)?;
        if schema != SCHEMA {
            return Err(ReadError::OtherForm { file: path(), schema });
        }
        serde_json::from_slice(&text).map_err(no_run)
    }
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
    fn what_is_packed_and_breaks_off_is_no_run() {
        assert!(matches!(refused(&[0x1f, 0x8b, 8, 0]), ReadError::Packed { .. }));
    }
}
