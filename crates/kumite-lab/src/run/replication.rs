//! The comparison of two runs, with the differences of their experiments' files.

use kumite_record::{Differing, Replication, RunDifference, RunParts};

use crate::spec::Asked;
use crate::toml_source::SpecError;

/// Compares two runs, which are called by these names. Of their experiments only the text that the runs keep is read;
/// an error if that is not possible.
pub fn replication(names: [&str; 2], runs: [RunParts; 2]) -> Result<Replication, SpecError> {
    let [first, second] = [Asked::of_run(runs[0].run)?, Asked::of_run(runs[1].run)?];
    let differences = first.differences(&second).into_iter();
    let specification = differences
        .map(|of| RunDifference { of: Differing::Specification { key: of.key }, values: of.values });
    Ok(Replication::new(names, runs, specification.collect()))
}
