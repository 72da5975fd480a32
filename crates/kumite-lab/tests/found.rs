//! The runs that experiments tell of, judged anew.

use std::fs::File;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use kumite_record::Export;

/// The folder of each experiment that has such a run, with its record.
fn found() -> Vec<(PathBuf, Export)> {
    let experiments = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let folders = std::fs::read_dir(&experiments).unwrap().map(|entry| entry.unwrap().path());
    let record = |folder: PathBuf| {
        let file = File::open(folder.join("found/standard.json.gz")).ok()?;
        let read = serde_json::from_reader(std::io::BufReader::new(GzDecoder::new(file)));
        Some((folder.clone(), read.unwrap_or_else(|error| panic!("{}: {error}", folder.display()))))
    };
    folders.filter_map(record).collect()
}

#[test]
fn a_found_record_judged_anew_equals_itself() {
    let found = found();
    assert!(found.len() >= 11, "{} are there", found.len());
    for (folder, record) in found {
        let anew = kumite_lab::rejudge(&record).unwrap();
        for (then, now) in record.claims.iter().zip(&anew.claims) {
            assert_eq!(now, then, "{}", folder.display());
        }
        assert!(anew == record, "{}: the same claims, and something else differs", folder.display());
    }
}
