//! The check that all runs of all commands write the same.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::bench::Bench;
use super::difference::{Difference, DifferentLine};
use super::error::CompareError;

/// The first output, which all others must equal.
pub(crate) struct SameOutput {
    /// The file that every run writes into.
    pub(crate) file: PathBuf,
    first: Option<First>,
}

struct First {
    by: String,
    digest: blake3::Hash,
    kept: PathBuf,
}

impl SameOutput {
    pub(crate) fn new(file: PathBuf) -> SameOutput {
        SameOutput { file, first: None }
    }

    /// Compares the output of the last run with the first output, or keeps it if it is the first. An error if they
    /// differ.
    pub(crate) fn check(&mut self, bench: &Bench) -> Result<(), CompareError> {
        let cannot = |source| CompareError::Unread { command: bench.called(), source };
        let digest = digest(&self.file).map_err(cannot)?;
        match &self.first {
            Some(first) if first.digest == digest => Ok(()),
            Some(first) => {
                let line = first_difference(&first.kept, &self.file).map_err(cannot)?;
                let (first, second) = (first.by.clone(), bench.name.clone());
                Err(Difference { first, second, line }.into())
            }
            None => {
                let kept = self.file.with_extension("first");
                std::fs::copy(&self.file, &kept).map_err(cannot)?;
                self.first = Some(First { by: bench.name.clone(), digest, kept });
                Ok(())
            }
        }
    }
}

fn digest(file: &Path) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut File::open(file)?, &mut hasher)?;
    Ok(hasher.finalize())
}

fn first_difference(one: &Path, other: &Path) -> io::Result<Option<DifferentLine>> {
    let mut files = [BufReader::new(File::open(one)?), BufReader::new(File::open(other)?)];
    for number in 1.. {
        let [mut first, mut second] = [Vec::new(), Vec::new()];
        let read = files[0].read_until(b'\n', &mut first)? + files[1].read_until(b'\n', &mut second)?;
        if first != second {
            return Ok(Some(DifferentLine { number, first, second }));
        }
        if read == 0 {
            break;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(outputs: &[&str]) -> Result<(), CompareError> {
        let folder = tempfile::tempdir().unwrap();
        let mut same = SameOutput::new(folder.path().join("out"));
        outputs.iter().enumerate().try_for_each(|(at, output)| {
            std::fs::write(&same.file, output).unwrap();
            same.check(&Bench { name: format!("c{at}"), ..Bench::default() })
        })
    }

    #[test]
    fn the_first_line_that_differs_is_shown() {
        checked(&["a\nb\n", "a\nb\n", "a\nb\n"]).unwrap();
        let words = |outputs: &[&str]| checked(outputs).unwrap_err().to_string();
        assert_eq!(
            words(&["a\nb\n", "a\nc\n"]),
            "outputs differ, first in line 2: `c0` wrote \"b\\n\", `c1` wrote \"c\\n\""
        );
        assert_eq!(
            words(&["a\n", "a\n", "a\nb"]),
            "outputs differ, first in line 2: `c0` wrote nothing, `c2` wrote \"b\""
        );
        let long = "x".repeat(1000);
        assert!(words(&["", &long]).len() < 400);
    }
}
