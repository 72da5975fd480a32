//! The log of a contender. Its last lines say why the contender failed, and it must not fill the disk.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

pub(crate) use kumite_process::last_lines;

/// The most bytes of a contender's log. The log of a server, a worker or a player is looked at ten times a second or
/// more: a disk must have room for what can be written in that time. The log of a command or a benchmark is only cut
/// at the end.
const LIMIT: u64 = 64 << 20;
/// The number of bytes at the end of a longer log that are kept.
const KEPT: u64 = 64 << 10;

/// A sentence about a log that has become too long. None if it has not.
pub(crate) fn check_size(log: &Path) -> Option<String> {
    let length = std::fs::metadata(log).map_or(0, |file| file.len());
    (length > LIMIT).then(|| {
        format!("it wrote more than {} MiB to its log, whose end is: {}", LIMIT >> 20, last_lines(log))
    })
}

/// Cuts a log that has become too long down to its end. A log that cannot be cut stays as it is.
pub(crate) fn trim(log: &Path) {
    let cut = || -> std::io::Result<()> {
        let mut file = File::options().read(true).write(true).open(log)?;
        let length = file.metadata()?.len();
        if length <= LIMIT {
            return Ok(());
        }
        let mut end = Vec::new();
        file.seek(SeekFrom::Start(length - KEPT))?;
        Read::by_ref(&mut file).take(KEPT).read_to_end(&mut end)?;
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "kumite kept the last {KEPT} of {length} bytes:")?;
        file.write_all(&end)
    };
    // A log that cannot be cut is too long, and nothing worse.
    let _ = cut();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_is_cut_to_its_end_and_a_short_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("x.log");
        std::fs::write(&log, "short\n").unwrap();
        assert_eq!(check_size(&log), None);
        trim(&log);
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "short\n");

        let file = File::options().write(true).open(&log).unwrap();
        file.set_len(LIMIT).unwrap();
        (&file).seek(SeekFrom::End(0)).unwrap();
        (&file).write_all(b"the end\n").unwrap();
        let end = last_lines(&log);
        let fault = format!("it wrote more than 64 MiB to its log, whose end is: {end}");
        assert_eq!(check_size(&log), Some(fault));
        trim(&log);
        let kept = std::fs::read(&log).unwrap();
        assert!(kept.len() < 70_000 && kept.ends_with(b"the end\n"));
    }
}
