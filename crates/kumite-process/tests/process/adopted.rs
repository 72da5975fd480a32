//! As a subreaper, which is a property of the whole process: so it is another one.

use std::process::Command;

use kumite_testing::process::{helper, output};

#[test]
fn orphans_come_to_a_subreaper_count_and_are_reaped() {
    let ended = output(Command::new(helper()).arg("adopt")).unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}
