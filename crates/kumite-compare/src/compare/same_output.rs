//! Whether all runs of all commands write the same.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::bench::{Bench, CompareError};

/// What is shown of a line that differs.
const SHOWN: usize = 200;

/// The first output, which all others must be like.
pub(crate) struct SameOutput {
    /// Where every run writes.
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

    /// Looks at what a run has written.
    pub(crate) fn check(&mut self, bench: &Bench) -> Result<(), CompareError> {
        let cannot = |error: io::Error| {
            CompareError::Failed(format!("cannot look at the output of `{}`: {error}", bench.command))
        };
        let digest = digest(&self.file).map_err(cannot)?;
        match &self.first {
            Some(first) if first.digest == digest => Ok(()),
            Some(first) => {
                let differs = first_difference(&first.kept, &self.file).map_err(cannot)?;
                Err(CompareError::Differs(match differs {
                    Some((line, one, other)) => format!(
                        "outputs differ, first in line {line}: `{}` wrote {one}, `{}` wrote {other}",
                        first.by, bench.name
                    ),
                    None => format!("outputs differ: those of `{}` and `{}`", first.by, bench.name),
                }))
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

/// The number of the first line that differs, and what either has there.
fn first_difference(one: &Path, other: &Path) -> io::Result<Option<(u64, String, String)>> {
    let mut files = [BufReader::new(File::open(one)?), BufReader::new(File::open(other)?)];
    for line in 1.. {
        let [mut first, mut second] = [Vec::new(), Vec::new()];
        let read = files[0].read_until(b'\n', &mut first)? + files[1].read_until(b'\n', &mut second)?;
        if first != second {
            return Ok(Some((line, shown(&first), shown(&second))));
        }
        if read == 0 {
            break;
        }
    }
    Ok(None)
}

fn shown(line: &[u8]) -> String {
    if line.is_empty() {
        return "nothing".to_owned();
    }
    let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]).into_owned();
    let more = if line.len() > SHOWN { " …" } else { "" };
    format!("{text:?}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(outputs: &[&str]) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let mut same = SameOutput::new(folder.path().join("out"));
        outputs.iter().enumerate().try_for_each(|(at, output)| {
            std::fs::write(&same.file, output).unwrap();
            same.check(&Bench { name: format!("c{at}"), ..Bench::default() })
                .map_err(|error| error.to_string())
        })
    }

    #[test]
    fn the_first_line_that_differs_is_shown() {
        assert_eq!(checked(&["a\nb\n", "a\nb\n", "a\nb\n"]), Ok(()));
        assert_eq!(
            checked(&["a\nb\n", "a\nc\n"]),
            Err("outputs differ, first in line 2: `c0` wrote \"b\\n\", `c1` wrote \"c\\n\"".to_owned())
        );
        assert_eq!(
            checked(&["a\n", "a\n", "a\nb"]),
            Err("outputs differ, first in line 2: `c0` wrote nothing, `c2` wrote \"b\"".to_owned())
        );
        let long = "x".repeat(1000);
        assert!(checked(&["", &long]).unwrap_err().len() < 400);
    }
}
