//! The parameters that a claim's cells have at other values than the claim's source.

use std::collections::BTreeMap;

use kumite_record::AxisValue;

use super::Evidence;
use super::expand::Reach;
use crate::claim::ClaimSpec;

impl Evidence<'_> {
    /// The parameters whose value at the source is that of no cell of the claim, each with the values that the cells
    /// have. Empty if the run has no source.
    pub fn scale(&self, spec: &ClaimSpec) -> BTreeMap<String, Vec<AxisValue>> {
        let Some(source) = &self.grid.run.question.source else { return BTreeMap::new() };
        let mut scale = BTreeMap::<String, Vec<AxisValue>>::new();
        for (comparison, scope) in self.parts(spec, Reach::Measurable).iter().flatten() {
            for reference in self.of_comparison(comparison, scope).unwrap_or_default() {
                for name in source.workload.keys() {
                    let point = &self.grid.points[reference.point];
                    let Some(value) = point.get(name).or_else(|| self.grid.run.parameter(name)) else {
                        continue;
                    };
                    let values = scale.entry(name.clone()).or_default();
                    if !values.contains(value) {
                        values.push(value.clone());
                    }
                }
            }
        }
        scale.retain(|name, values| !values.contains(&source.workload[name]));
        scale
    }
}
