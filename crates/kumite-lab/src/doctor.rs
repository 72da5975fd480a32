//! The diagnosis of this machine: its abilities, and the tools of contenders.

mod tools;

use std::collections::BTreeMap;

use kumite_host::facts;
use kumite_record::{Diagnosis, Finding, Fitness};

/// Findings about dead mounts of slow disks, whose kumite was killed. The next run unmounts one that was a service's;
/// nobody unmounts one of `kumite disk`.
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

/// Diagnoses this machine. It takes a second or two, mostly for asking tools for their versions, and some ten seconds
/// if a tool hangs.
pub fn doctor() -> Diagnosis {
    Diagnosis {
        schema: Diagnosis::SCHEMA,
        kumite: env!("CARGO_PKG_VERSION").to_owned(),
        findings: facts().into_iter().chain(dead_disks()).collect(),
        contenders: tools::equipment(),
    }
}
