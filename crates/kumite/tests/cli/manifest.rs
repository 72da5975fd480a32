//! `kumite manifest`: the whole document that a cluster is given, and flags that make none.

use crate::place::Place;
use crate::printed::printed;

const MANIFEST: [&str; 6] = ["manifest", "fake", "--shards", "2", "--image", "registry.example/kumite:1"];

#[test]
fn the_objects_of_a_run_in_shards() {
    let place = Place::new("", &[("a", "pong"), ("b", "slow")]);
    printed!(place.kumite(&MANIFEST).ended(0).report());
    let more = [
        "--profile=quick",
        "--only=a",
        "--control",
        "--blocks=4",
        "--seed=7",
        "--cpus=3",
        "--memory=512Mi",
        "--deadline=90s",
    ];
    printed!(place.kumite(&[&MANIFEST[..], &more].concat()).ended(0).report());
    assert_eq!(place.begun(), 0, "nothing is measured");
}

#[test]
fn flags_that_make_no_manifest() {
    let place = Place::new("", &[("a", "pong")]);
    let wrong: [&[&str]; 8] = [
        &["manifest", "fake", "--shards", "2"],
        &["manifest", "fake", "--shards", "0", "--image", "i"],
        &["manifest", "fake", "--shards", "7", "--image", "i"],
        &["manifest", "fake", "--shards", "2", "--image", "an image"],
        &["manifest", "fake", "--shards", "2", "--image", "i", "--memory", "much"],
        &["manifest", "fake", "--shards", "2", "--image", "i", "--only", "b"],
        &["manifest", "fake", "--shards", "2", "--image", "i", "--control=b"],
        &["manifest", "fake", "--shards", "2", "--image", "i", "--sittings", "3"],
    ];
    let said = wrong.map(|words| place.kumite(words).ended(2).notes());
    printed!(said.join("\n"));
}
