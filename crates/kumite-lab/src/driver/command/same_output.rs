//! Whether all contenders write the same at a point.

use std::path::{Path, PathBuf};

use kumite_record::Point;

use super::outputs::Outputs;

/// The first output at each point, which all others are to be like. Nobody knows whether it is right: whoever differs from it
/// is not compared with who wrote it, and so no figure of a wrong one stands beside one of a right one.
#[derive(Default)]
pub(super) struct SameOutput(Vec<(Point, First)>);

struct First {
    by: String,
    digest: blake3::Hash,
    kept: PathBuf,
}

impl SameOutput {
    /// What is wrong with what a contender wrote, if anything is. What it may be compared with is kept beside `log`.
    pub fn check(
        &mut self,
        point: &Point,
        contender: &str,
        outputs: &Outputs,
        log: &Path,
    ) -> Result<Option<String>, String> {
        let is_first = self.0.iter().all(|(other, _)| other != point);
        if is_first && outputs.kept().len() > 1 {
            return Ok(Some("not all of its own runs wrote the same".to_owned()));
        }
        for (digest, file) in outputs.kept() {
            let keep = |ending: &str| {
                let kept = log.with_extension(ending);
                let done = std::fs::rename(file, &kept);
                done.map_err(|error| format!("cannot keep its output as {}: {error}", kept.display()))?;
                Ok::<_, String>(kept)
            };
            match self.0.iter().find(|(other, _)| other == point) {
                Some((_, first)) if first.digest == *digest => {}
                Some((_, First { by, kept, .. })) => {
                    return Ok(Some(format!(
                        "it is not what {by} wrote first at this point: compare {} with {}",
                        keep("other.out")?.display(),
                        kept.display()
                    )));
                }
                None => {
                    let first = First { by: contender.to_owned(), digest: *digest, kept: keep("out")? };
                    self.0.push((point.clone(), first));
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use kumite_record::AxisValue;

    use super::*;

    #[test]
    fn the_first_output_at_a_point_is_what_others_are_compared_with() {
        let folder = tempfile::tempdir().unwrap();
        let mut same = SameOutput::default();
        let mut check = |n: i64, contender: &str, texts: &[&str]| {
            let mut outputs = Outputs::new(folder.path());
            for text in texts {
                std::fs::write(&outputs.file, text).unwrap();
                outputs.take(std::iter::empty()).unwrap();
            }
            let point = Point([("n".to_owned(), AxisValue::Int(n))].into());
            same.check(&point, contender, &outputs, &folder.path().join(format!("{contender}.log"))).unwrap()
        };
        assert_eq!(check(1, "a", &["x\n"]), None);
        assert_eq!(check(1, "b", &["x\n", "x\n"]), None);
        assert_eq!(check(2, "b", &["y\n"]), None, "another point");
        let found = check(1, "c", &["x\n", "z\n"]).unwrap();
        assert!(found.starts_with("it is not what a wrote first at this point: compare "), "{found}");
        let kept = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!((kept("a.out"), kept("c.other.out")), ("x\n".to_owned(), "z\n".to_owned()));
        assert_eq!(check(3, "d", &["1", "2"]).unwrap(), "not all of its own runs wrote the same");
        assert_eq!(check(3, "e", &["3"]), None, "who is wrong by itself is nobody's measure");
    }
}
