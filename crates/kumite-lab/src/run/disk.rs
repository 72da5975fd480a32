//! The room on disk for the files of an experiment's workers.

use std::path::Path;

use rustix::fs::statvfs;

use crate::driver::scratch::ScratchPlace;
use crate::error::Error;
use crate::spec::Experiment;

/// Returns an error if the disk that trials write to has less room than a trial at some point needs, or if its free
/// room cannot be found out. Nothing is looked at if the experiment does not say how much room it needs.
pub fn check_disk(experiment: &Experiment, state: &Path) -> Result<(), Error> {
    let needed = experiment.disk_bytes();
    if needed == 0.0 {
        return Ok(());
    }
    let folder = ScratchPlace::for_store(state)?.folder;
    let unknown = || format!("cannot tell how much room {} has", folder.display());
    let disk = statvfs(&folder).map_err(|error| Error::step(unknown())(error))?;
    let free = disk.f_bavail as f64 * disk.f_frsize as f64;
    if needed <= free {
        return Ok(());
    }
    Err(Error::NoRoom { profile: experiment.profile.clone(), folder, needed, free })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(records: u64) -> Result<(), Error> {
        let text = format!(
            "question = 'x'\nkind = 'task'\ndisk = '$records * 1 GB'\n[workload]\nrecords = 1\n[axes]\nrecords = [1, {records}]"
        );
        let experiment = Experiment::from_text(&text, "quick", &["a"]).unwrap();
        check_disk(&experiment, Path::new("."))
    }

    #[test]
    fn the_largest_trial_counts() {
        let refused = check(10_000_000_000);
        assert!(matches!(&refused, Err(Error::NoRoom { needed, .. }) if *needed == 1e19), "{refused:?}");
    }

    #[test]
    fn none_is_needed_unless_it_is_said() {
        let experiment = Experiment::from_text("question = 'x'\nkind = 'task'", "quick", &["a"]).unwrap();
        assert_eq!(check_disk(&experiment, Path::new("/no such folder")).ok(), Some(()));
    }
}
