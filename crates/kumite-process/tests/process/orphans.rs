//! The orphans of a killed kumite.

use kumite_testing::process::in_a_namespace;

#[test]
fn orphans_are_ended_and_nobody_else() {
    in_a_namespace("end-orphans");
}

#[test]
fn frozen_groups_without_a_guardian_are_ended_and_removed() {
    if crate::group::freezes() {
        in_a_namespace("end-frozen");
    }
}
