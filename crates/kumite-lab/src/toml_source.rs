//! TOML files with their text, so that an error has the line and column of what is wrong.

use std::path::{Path, PathBuf};

use kumite_record::{Run, near};
use serde::de::DeserializeOwned;
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The reason why a file of an experiment, a choice of the user, or a kept run cannot be used as it is.
#[derive(Debug, Error)]
pub enum SpecError {
    /// The file has a fault at this place.
    #[error("{}:{line}:{column}: {what}", .file.display())]
    At {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1, in characters.
        column: usize,
        /// The fault and its remedy, as a sentence without a full stop.
        what: String,
    },
    /// A file or folder could not be read.
    #[error("cannot read {}: {source}", .file.display())]
    Read {
        /// The file or folder.
        file: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// There is no experiment of that name.
    #[error("no experiment '{name}': {looked}; `kumite list` shows those that are there")]
    NoExperiment {
        /// The name that was asked for.
        name: String,
        /// The places where the experiment was looked for, in words; or another reason why there is none.
        looked: String,
    },
    /// The experiment asks for more CPUs than kumite may give to a contender.
    #[error(transparent)]
    Cores(#[from] kumite_host::CoresError),
    /// Another fault, in words: of an option, of an experiment as a whole, or of kept runs that are to be judged,
    /// merged or joined.
    #[error("{0}")]
    Usage(String),
}

/// A TOML file with its text, so that errors can point into it.
pub(crate) struct TomlSource {
    pub file: PathBuf,
    pub text: String,
}

impl TomlSource {
    /// Reads a file. An error if the file cannot be read, or is not UTF-8.
    pub fn read(file: &Path) -> Result<TomlSource, SpecError> {
        let text = std::fs::read_to_string(file)
            .map_err(|source| SpecError::Read { file: file.to_owned(), source })?;
        Ok(TomlSource { file: file.to_owned(), text })
    }

    /// The experiment's file as it was when a run began.
    pub fn of_run(run: &Run) -> TomlSource {
        TomlSource { file: format!("experiment.toml of run {}", run.id).into(), text: run.spec.clone() }
    }

    /// Reads the whole text. An error has the place of the first fault.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, SpecError> {
        toml::from_str(&self.text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            self.error(offset, plainly(error.message().trim()))
        })
    }

    /// Reads the table at a key, without the key `without` of that table. An error comes with the byte offset of the
    /// fault.
    pub fn parse_at<T: DeserializeOwned>(&self, path: &[&str], without: &str) -> Result<T, (usize, String)> {
        let missing = || (0, format!("there is no {}", path.join(".")));
        let (key, mut value) = self.find(path).ok_or_else(missing)?;
        if let DeValue::Table(table) = value.get_mut() {
            table.remove(without);
        }
        T::deserialize(toml::de::ValueDeserializer::from(value))
            .map_err(|error| (error.span().map_or(key, |span| span.start), plainly(error.message().trim())))
    }

    /// An error at a byte offset of the text.
    pub fn error(&self, offset: usize, what: impl Into<String>) -> SpecError {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        SpecError::At {
            file: self.file.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            what: what.into(),
        }
    }

    /// An error at a key, which is given by the names and indices that lead to it: `["claim", "0", "assert"]`.
    pub fn error_at(&self, path: &[&str], what: impl Into<String>) -> SpecError {
        self.error(self.offset(path), what)
    }

    /// An error in a text that is the value of a key, at a column of that text, counted from 1. If the text is not
    /// written in the file as it is read (it has escapes, or several lines), the error is at the key, and its message
    /// names the column.
    pub fn error_in(&self, path: &[&str], text: &str, column: usize, what: &str) -> SpecError {
        let place = self.find(path).and_then(|(_, value)| {
            let value = value.span();
            let written = self.text.get(value.start + 1..value.end.saturating_sub(1))?;
            let before: usize = text.chars().take(column - 1).map(char::len_utf8).sum();
            (written == text).then_some(value.start + 1 + before)
        });
        match place {
            Some(offset) => self.error(offset, what),
            None => self.error_at(path, format!("column {column} of its text: {what}")),
        }
    }

    fn offset(&self, path: &[&str]) -> usize {
        (0..=path.len()).rev().find_map(|steps| self.find(&path[..steps])).map_or(0, |(key, _)| key)
    }

    /// The byte offset at which a key begins, and its value. None if it is not there.
    fn find(&self, path: &[&str]) -> Option<(usize, Spanned<DeValue<'_>>)> {
        let table = DeTable::parse(&self.text).ok()?;
        let whole = table.span();
        let mut found = (whole.start, Spanned::new(whole, DeValue::Table(table.into_inner())));
        for step in path {
            let next = match found.1.get_ref() {
                DeValue::Table(table) => {
                    let entry = table.iter().find(|(key, _)| key.get_ref() == step);
                    entry.map(|(key, value)| (key.span().start, value.clone()))
                }
                DeValue::Array(array) => {
                    let value = step.parse::<usize>().ok().and_then(|index| array.get(index));
                    value.map(|value| (value.span().start, value.clone()))
                }
                _ => None,
            };
            found = next?;
        }
        Some(found)
    }
}

/// A message of serde in the words of TOML: it suggests near keys for an unknown one, and speaks of lists and tables.
fn plainly(what: &str) -> String {
    let unknown = what.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    if let Some((key, expected)) = unknown {
        let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        let without_s = || known.iter().copied().find(|known| key.strip_suffix('s') == Some(*known));
        let meant = near(key, known.iter().copied()).or_else(without_s);
        let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
        let known: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
        return format!("unknown key `{key}`{meant} (known: {})", known.join(", "));
    }
    let words = [
        ("missing field", "missing key"),
        ("expected a sequence", "expected a list, as in [1, 2]"),
        ("invalid type: sequence", "invalid type: a list"),
        ("invalid type: map", "invalid type: a table"),
        ("expected a map", "expected a table"),
    ];
    words.iter().fold(what.to_owned(), |what, (theirs, ours)| what.replace(theirs, ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_at_its_line_and_column() {
        let source =
            TomlSource { file: "x.toml".into(), text: "a = 1\n[b]\nc = [1, 2]\n[[d]]\n  e = 'é'\n".into() };
        let place = |path: &[&str]| source.error_at(path, "wrong").to_string();
        assert_eq!(place(&["a"]), "x.toml:1:1: wrong");
        assert_eq!(place(&["b", "c"]), "x.toml:3:1: wrong");
        assert_eq!(place(&["b", "c", "1"]), "x.toml:3:9: wrong");
        assert_eq!(place(&["d", "0", "e"]), "x.toml:5:3: wrong");
        assert_eq!(place(&["b", "missing"]), "x.toml:2:2: wrong");
    }

    #[test]
    fn an_unknown_key_is_told_with_the_one_that_may_be_meant() {
        for (what, expected) in [
            (
                "unknown field `blokcs`, expected one of `kind`, `blocks`",
                "unknown key `blokcs`; did you mean `blocks`? (known: `kind`, `blocks`)",
            ),
            (
                "unknown field `claims`, expected `claim`",
                "unknown key `claims`; did you mean `claim`? (known: `claim`)",
            ),
            ("unknown field `joy`, expected `a` or `b`", "unknown key `joy` (known: `a`, `b`)"),
            (
                "invalid type: integer `50`, expected a sequence",
                "invalid type: integer `50`, expected a list, as in [1, 2]",
            ),
        ] {
            assert_eq!(plainly(what), expected);
        }
    }

    #[test]
    fn an_error_within_a_text_has_its_very_place() {
        let text = "a = \"é + 1\"\nb = \"\\u00e9 + 1\"\n";
        let source = TomlSource { file: "x.toml".into(), text: text.into() };
        let place = |key: &str| source.error_in(&[key], "é + 1", 5, "wrong").to_string();
        assert_eq!(place("a"), "x.toml:1:10: wrong");
        assert_eq!(place("b"), "x.toml:2:1: column 5 of its text: wrong");
    }
}
