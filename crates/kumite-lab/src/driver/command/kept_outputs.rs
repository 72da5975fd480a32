//! The outputs of contenders, kept so that they can be compared with each other.

use std::path::{Path, PathBuf};

use kumite_record::{Point, Written};

use super::outputs::Outputs;
use crate::driver::own_folder::carry;
use crate::error::{Error, Fault};

/// The outputs at each point, each kept once. It is known which of them is right only when all contenders have
/// written.
#[derive(Default)]
pub(super) struct KeptOutputs(Vec<(Point, Written)>);

impl KeptOutputs {
    /// Keeps the output of a trial's runs beside its `log`, unless the same output is kept at the point already, and
    /// returns the kept one. An inner error if the trial's runs wrote different outputs.
    pub fn keep(
        &mut self,
        point: &Point,
        outputs: &Outputs,
        log: &Path,
    ) -> Result<Result<Written, Fault>, Error> {
        let keep = |file: &Path, ending: &str| -> Result<PathBuf, Error> {
            let kept = log.with_extension(ending);
            let done = carry(file, &kept);
            done.map_err(Error::cannot("keep its output as", &kept))?;
            Ok(kept)
        };
        match outputs.kept() {
            [] => Err(Fault::new("it has no output").into()),
            [(digest, file)] => {
                let digest = digest.to_string();
                let known = self.0.iter().find(|(at, known)| at == point && known.digest == digest);
                if let Some((_, known)) = known {
                    return Ok(Ok(known.clone()));
                }
                let file = keep(file, "out")?.display().to_string();
                let written = Written { digest, file };
                self.0.push((point.clone(), written.clone()));
                Ok(Ok(written))
            }
            [(_, one), (_, other), ..] => Ok(Err(Fault::new(format!(
                "not all of its own runs wrote the same: compare {} with {}",
                keep(one, "out")?.display(),
                keep(other, "other.out")?.display()
            )))),
        }
    }
}

#[cfg(test)]
mod tests {
    use kumite_record::AxisValue;

    use super::*;

    #[test]
    fn each_output_of_a_point_is_kept_once_beside_the_log_of_who_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut same = KeptOutputs::default();
        let mut keep = |n: i64, contender: &str, texts: &[&str]| {
            let mut outputs = Outputs::new(folder.path());
            for text in texts {
                std::fs::write(&outputs.file, text).unwrap();
                outputs.take(std::iter::empty()).unwrap();
            }
            let point = Point([("n".to_owned(), AxisValue::Int(n))].into());
            same.keep(&point, &outputs, &folder.path().join(format!("{contender}.log"))).unwrap()
        };
        let text = |written: &Written| std::fs::read_to_string(&written.file).unwrap();
        let [a, b, c, d] = [
            keep(1, "a", &["x\n"]),
            keep(1, "b", &["x\n", "x\n"]),
            keep(1, "c", &["y\n"]),
            keep(2, "d", &["x\n"]),
        ]
        .map(Result::unwrap);
        assert_eq!(a, b, "the same bytes are the same file");
        assert_eq!((text(&a), text(&c), text(&d)), ("x\n".to_owned(), "y\n".to_owned(), "x\n".to_owned()));
        assert_eq!(a.digest, d.digest);
        assert_ne!(a.digest, c.digest);
        assert_ne!(a.file, d.file, "another point");
        let why = keep(3, "e", &["1", "2"]).unwrap_err().to_string();
        assert_eq!(
            why.replace(folder.path().to_str().unwrap(), "FOLDER"),
            "not all of its own runs wrote the same: compare FOLDER/e.out with FOLDER/e.other.out"
        );
        let kept = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!((kept("e.out"), kept("e.other.out")), ("1".to_owned(), "2".to_owned()));
    }
}
