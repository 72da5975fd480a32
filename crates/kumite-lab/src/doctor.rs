//! The abilities of this machine, and the contenders whose tools are here.

mod tools;

use std::collections::BTreeMap;

use kumite_host::{Finding, Fitness, facts};
use schemars::JsonSchema;
use serde::Serialize;

pub use tools::{Equipment, NeedFound};

/// The version of [`Diagnosis`]. It grows when a reader of the old form would misread the new one.
const SCHEMA: u32 = 1;

/// The findings that `kumite doctor` shows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// The version of this form.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The version of kumite that looked.
    pub kumite: String,
    /// The findings, group by group.
    pub findings: Vec<Finding>,
    /// The contenders of the experiments here, with their tools.
    pub contenders: Vec<Equipment>,
}

/// A disk of a kumite that was killed is unmounted by the next run if it was a service's; one of `kumite disk` by nobody.
fn dead_disks() -> impl Iterator<Item = Finding> {
    kumite_disk::dead().into_iter().map(|mount_point| {
        let at = mount_point.display();
        Finding {
            group: "disks".to_owned(),
            name: at.to_string(),
            state: Fitness::Limited,
            found: "a dead mount is there, left by a kumite that was killed".to_owned(),
            figures: BTreeMap::new(),
            consequence: Some("reading it gives an error".to_owned()),
            remedy: Some(format!("`umount -l {at}`, or `fusermount3 -u {at}` if you are not root")),
        }
    })
}

/// Looks at this machine; takes a second or two, most of it asking tools for their versions.
pub fn doctor() -> Diagnosis {
    Diagnosis {
        schema: SCHEMA,
        kumite: env!("CARGO_PKG_VERSION").to_owned(),
        findings: facts().into_iter().chain(dead_disks()).collect(),
        contenders: tools::equipment(),
    }
}
