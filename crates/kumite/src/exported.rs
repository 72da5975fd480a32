//! The run or the comparison in a file that somebody gave: an export, a results store, or a file of `kumite compare
//! --json`. The file is data, and is only read.

use std::io::Read;
use std::path::Path;

use kumite_lab::export;
use kumite_record::{Document, Export, ReadError, Store};

use crate::exit::Failure;

/// The beginning of every SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// True of a name that can only mean a document or a path, because no run, and nothing that --save keeps, can have such
/// a name.
pub fn is_name_of_file(name: &str) -> bool {
    name.contains('/') || name.ends_with(".json") || name.ends_with(".gz")
}

/// Reads a run from a file. An export has one run; of a results store it is the run that is named, or else the last
/// one. An error if the file cannot be read, if the store has no such run, or if a run is named and the file is no
/// store.
pub fn read(file: &Path, run: Option<&str>) -> Result<Export, Failure> {
    if is_store(file) {
        let store = Store::open_read_only(file)?;
        return Ok(export(&store, &store.find(run.unwrap_or("last"))?)?);
    }
    match run {
        Some(run) => Err(Failure::Usage(format!(
            "--run {run}: {} is no results store, and an export has one run",
            file.display()
        ))),
        None => Export::read(file).map_err(unread),
    }
}

/// The run or the comparison in a file; if the file is a results store, its last run. An error if the file cannot be
/// read, or the store has no run.
pub fn document(file: &Path) -> Result<Document, Failure> {
    if is_store(file) {
        return read(file, None).map(|export| Document::Run(Box::new(export)));
    }
    Document::read(file).map_err(unread)
}

fn unread(error: ReadError) -> Failure {
    Failure::Usage(error.to_string())
}

/// True if the file begins as a SQLite file does; false if it does not, or cannot be read.
pub fn is_store(file: &Path) -> bool {
    let mut head = [0; SQLITE.len()];
    std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *SQLITE
}
