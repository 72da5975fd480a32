//! The percentiles of a time that its number of requests supports, as metrics.

use std::collections::BTreeMap;

use kumite_load::{Histogram, percentile};
use kumite_record::Needs;

/// Puts these percentiles of a time among the metrics; or, where it takes more requests, among the needs.
pub(crate) fn percentiles(
    of: &str,
    times: &Histogram<u64>,
    which: &[(&str, u64)],
    metrics: &mut BTreeMap<String, f64>,
    needs: &mut Needs,
) {
    for (name, one_in) in which {
        let name = format!("{of}_{name}_us");
        match percentile(times, *one_in) {
            Ok(us) => {
                metrics.insert(name, us);
            }
            Err(missing) => {
                needs.insert(name, missing);
            }
        }
    }
}
