//! The comparison of two runs, with the differences of their experiments' files.

use kumite_record::{Differing, Replication, RunDifference, RunParts};

use crate::spec::Asked;
use crate::toml_source::SpecError;

/// Compares two runs, to which the comparison gives these names. Of their experiments only the texts that the runs keep
/// are read. An error if one of these texts cannot be read.
pub fn replication(names: [&str; 2], runs: [RunParts; 2]) -> Result<Replication, SpecError> {
    let [first, second] = [Asked::of_run(runs[0].run)?, Asked::of_run(runs[1].run)?];
    let differences = first.differences(&second).into_iter();
    let specification = differences
        .map(|of| RunDifference { of: Differing::Specification { key: of.key }, values: of.values });
    Ok(Replication::new(names, runs, specification.collect()))
}
