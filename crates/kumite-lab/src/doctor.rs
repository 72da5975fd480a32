//! The abilities of this machine, and the contenders whose tools are here.

mod tools;

use std::collections::BTreeMap;

use kumite_host::facts;
use kumite_record::{Diagnosis, Finding, Fitness};

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
        schema: Diagnosis::SCHEMA,
        kumite: env!("CARGO_PKG_VERSION").to_owned(),
        findings: facts().into_iter().chain(dead_disks()).collect(),
        contenders: tools::equipment(),
    }
}
